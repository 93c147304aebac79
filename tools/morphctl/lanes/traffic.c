// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl traffic: lanes between servers that several controllers share. All controllers compute
 * the same solution.
 */
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/lanes/lanes.h"
#include "morphctl/output/output.h"

#define LEAST 1e-6 /* fewer lanes than lanes-count are useless */
#define DEMANDS "src-host,dst-host,controller,amount-lanes,flow-lanes,lanes-count"
#define LINKS "src-host,dst-host,capacity-lanes,load-lanes,lanes-count,price"
#define CONTROLLERS \
	"controller,lanes-count,reserved-lanes-count,missing-lanes-count,surplus-lanes-count,difference-percent"
#define DIFFERENCES "controller,src-host,dst-host,lanes-count,reserved-lanes-count"

void traffic_free(struct traffic *traffic)
{
	json_decref(traffic->reservations);
	free(traffic->lanes);
	free(traffic->last);
	free(traffic->demands);
	json_decref(traffic->document);
	morph_traffic_free(traffic->problem);
	morph_ledger_free(traffic->ledger);
	morph_model_put(traffic->model);
}

/* ------------------------------------------------------------------ the problem */

static int add_demand(struct traffic *traffic, struct demand *demand, uint32_t *paths)
{
	int number = morph_traffic_add_demand(traffic->problem, demand->amount, demand->weight),
	    ways;

	if (number < 0)
		return number;
	ways = morph_traffic_add_ways(traffic->problem, (uint32_t)number, demand->src_host,
				      demand->dst_host, traffic->ways);
	if (ways < 0)
		return ways;
	demand->first = *paths;
	demand->paths = (uint32_t)ways;
	*paths += demand->paths;
	return 0;
}

/* ---------------------------------------------------------- what was decided last */

/* Lanes that a controller has reserved on the fibres of a link. */
static uint32_t reserved_lanes(const struct traffic *traffic, uint32_t link, uint32_t controller)
{
	json_t *record;
	uint32_t sum = 0;
	size_t i;

	json_array_foreach(traffic->reservations, i, record)
	{
		if (number_of(record, "controller", 0) == controller &&
		    morph_traffic_guide_link(traffic->problem,
					     number_of(record, "guide", NUMBER_NONE)) == (int)link)
			sum += number_of(record, "lanes-count", 0);
	}
	return sum;
}

/*
 * Recover a controller's paths from its reservations. A controller without reservations has no
 * earlier decision.
 */
static int64_t recall(struct traffic *traffic, uint32_t controller)
{
	uint32_t *demands = needed(calloc(traffic->demands_count, sizeof(*demands)));
	uint32_t *held = needed(calloc(traffic->links + 1UL, sizeof(*held)));
	uint32_t count = 0, sum = 0;
	int64_t ret = 0;

	for (uint32_t link = 0; link < traffic->links; link++) {
		held[link] = reserved_lanes(traffic, link, controller);
		sum += held[link];
	}
	for (size_t i = 0; i < traffic->demands_count; i++)
		if (traffic->demands[i].controller == controller)
			demands[count++] = (uint32_t)i;
	if (sum)
		ret = morph_traffic_recall(traffic->problem, NULL, demands, count, held,
					   traffic->last);
	free(held);
	free(demands);
	return ret;
}

/* Check whether an earlier entry has the same controller. Demands precede reservations. */
static bool met(const struct traffic *traffic, size_t i, uint32_t controller)
{
	for (size_t k = 0; k < traffic->demands_count && k < i; k++)
		if (traffic->demands[k].controller == controller)
			return true;
	for (size_t k = traffic->demands_count; k < i; k++)
		if (number_of(json_array_get(traffic->reservations, k - traffic->demands_count),
			      "controller", 0) == controller)
			return true;
	return false;
}

/*
 * Read the earlier decisions of all controllers, so that every controller starts from the same
 * state.
 */
static int recall_all(struct traffic *traffic)
{
	int64_t ret = 0;

	for (size_t i = 0; i < traffic->demands_count && ret >= 0; i++) {
		uint32_t controller = traffic->demands[i].controller;

		if (!met(traffic, i, controller))
			ret = recall(traffic, controller);
	}
	return ret < 0 ? (int)ret : 0;
}

static enum exit_code solve(struct traffic *traffic)
{
	MORPH_OPTS(morph_traffic_opts, opts, .lambda = traffic->lambda);
	struct run *run = traffic->run;
	uint32_t paths = 0;
	int ret;

	traffic->problem = needed(morph_traffic_new(run->client->ctx));
	ret = morph_traffic_add_servers(traffic->problem, traffic->ledger);
	traffic->links = ret < 0 ? 0 : (uint32_t)ret;
	for (size_t i = 0; i < traffic->demands_count && ret >= 0; i++)
		ret = add_demand(traffic, &traffic->demands[i], &paths);
	traffic->result.sz = sizeof(traffic->result);
	progress_begin("dividing lanes between the demands");
	if (ret >= 0)
		ret = morph_traffic_solve(traffic->problem, &opts, &traffic->result);
	progress_end();
	if (ret < 0)
		return client_error(run, ret);
	traffic->lanes = needed(calloc(paths + 1UL, sizeof(*traffic->lanes)));
	traffic->last = needed(calloc(paths + 1UL, sizeof(*traffic->last)));
	for (uint32_t path = 0; path < paths; path++)
		traffic->last[path] = MORPH_ANY;
	ret = recall_all(traffic);
	if (!ret)
		ret = morph_traffic_round(traffic->problem, NULL, traffic->epoch, traffic->last,
					  traffic->lanes);
	return ret ? client_error(run, ret) : EXIT_CODE_OK;
}

enum exit_code solve_traffic(struct traffic *traffic)
{
	enum exit_code code = read_traffic(traffic);

	if (!code)
		code = profile_model(traffic->run, &traffic->fabric, &traffic->model);
	if (!code)
		code = profile_ledger(traffic->run, traffic->fabric, 0, traffic->model,
				      &traffic->ledger);
	if (!code && traffic->fabric != MORPH_ANY)
		code = client_dump(traffic->run, MORPH_OBJECT_RESERVATION, traffic->fabric,
				   &traffic->reservations);
	return code ? code : solve(traffic);
}

/* ------------------------------------------------------------------- the answer */

static struct morph_traffic_path path_info(const struct traffic *traffic, uint32_t path)
{
	MORPH_OPTS(morph_traffic_path, info);

	morph_traffic_path(traffic->problem, path, &info);
	return info;
}

uint32_t traffic_link_lanes(const struct traffic *traffic, uint32_t link, uint32_t controller)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < traffic->demands_count; i++) {
		const struct demand *demand = &traffic->demands[i];

		if (controller != MORPH_ANY && demand->controller != controller)
			continue;
		for (uint32_t path = demand->first; path < demand->first + demand->paths; path++) {
			struct morph_traffic_path info = path_info(traffic, path);

			for (uint32_t hop = 0; hop < info.count; hop++)
				sum += info.links[hop] == link ? traffic->lanes[path] : 0;
		}
	}
	return sum;
}

static json_t *demand_records(const struct traffic *traffic)
{
	json_t *records = json_array();

	for (size_t i = 0; i < traffic->demands_count; i++) {
		const struct demand *demand = &traffic->demands[i];
		uint32_t lanes = 0;
		double flow = 0;

		for (uint32_t path = demand->first; path < demand->first + demand->paths; path++) {
			flow += path_info(traffic, path).flow;
			lanes += traffic->lanes[path];
		}
		json_array_append_new(records,
				      json_pack("{s:I, s:I, s:I, s:f, s:f, s:I}", "src-host",
						(json_int_t)demand->src_host, "dst-host",
						(json_int_t)demand->dst_host, "controller",
						(json_int_t)demand->controller, "amount-lanes",
						demand->amount, "flow-lanes", flow, "lanes-count",
						(json_int_t)lanes));
	}
	return records;
}

/* The servers of a path, in order. */
static json_t *path_hosts(const struct traffic *traffic, uint32_t path)
{
	json_t *hosts = json_array();
	struct morph_traffic_path info = path_info(traffic, path);

	for (uint32_t hop = 0; hop < info.count; hop++) {
		MORPH_OPTS(morph_traffic_link, link);

		morph_traffic_link(traffic->problem, info.links[hop], &link);
		if (!hop)
			json_array_append_new(hosts, json_integer(link.src_host));
		json_array_append_new(hosts, json_integer(link.dst_host));
	}
	return hosts;
}

static json_t *path_record(const struct traffic *traffic, size_t demand, uint32_t path)
{
	json_t *record = json_pack("{s:I, s:o, s:f, s:I}", "demand", (json_int_t)demand, "hosts",
				   path_hosts(traffic, path), "flow-lanes",
				   path_info(traffic, path).flow, "lanes-count",
				   (json_int_t)traffic->lanes[path]);

	if (traffic->last[path] != MORPH_ANY)
		json_object_set_new(record, "last-lanes-count", json_integer(traffic->last[path]));
	return record;
}

static json_t *path_records(const struct traffic *traffic)
{
	json_t *records = json_array();

	for (size_t i = 0; i < traffic->demands_count; i++) {
		const struct demand *demand = &traffic->demands[i];

		for (uint32_t path = demand->first; path < demand->first + demand->paths; path++)
			json_array_append_new(records, path_record(traffic, i, path));
	}
	return records;
}

static json_t *link_records(const struct traffic *traffic)
{
	json_t *records = json_array();

	for (uint32_t link = 0; link < traffic->links; link++) {
		MORPH_OPTS(morph_traffic_link, info);

		if (morph_traffic_link(traffic->problem, link, &info) || info.load < LEAST)
			continue;
		json_array_append_new(
			records, json_pack("{s:I, s:I, s:f, s:f, s:I, s:f}", "src-host",
					   (json_int_t)info.src_host, "dst-host",
					   (json_int_t)info.dst_host, "capacity-lanes",
					   info.capacity, "load-lanes", info.load, "lanes-count",
					   (json_int_t)traffic_link_lanes(traffic, link, MORPH_ANY),
					   "price", info.price));
	}
	return records;
}

enum exit_code traffic_solve(struct run *run)
{
	struct traffic traffic = { .run = run };
	enum exit_code code = solve_traffic(&traffic);

	if (!code) {
		json_t *report = json_pack("{s:I, s:f, s:f, s:f, s:I, s:o, s:o, s:o}",
					   "decision-epoch", (json_int_t)traffic.epoch,
					   "throughput-lanes", traffic.result.throughput, "lambda",
					   traffic.result.lambda, "residual",
					   traffic.result.residual, "iterations-count",
					   (json_int_t)traffic.result.iterations, "demands",
					   demand_records(&traffic), "paths",
					   path_records(&traffic), "links", link_records(&traffic));

		if (given(run, OPTION_JSON)) {
			emit_document(report);
		} else {
			say("%.6g lanes in all; residual %.2g after %u steps\n\n",
			    traffic.result.throughput, traffic.result.residual,
			    traffic.result.iterations);
			emit_table(run, DEMANDS, json_object_get(report, "demands"));
			say("\n");
			emit_table(run, LINKS, json_object_get(report, "links"));
		}
		json_decref(report);
	}
	traffic_free(&traffic);
	return code;
}

/* ------------------------------------------------------------------- divergence */

static json_t *compare(const struct traffic *traffic, uint32_t controller, json_t *differences)
{
	uint32_t want = 0, have = 0, missing = 0, surplus = 0;

	for (uint32_t link = 0; link < traffic->links; link++) {
		uint32_t planned = traffic_link_lanes(traffic, link, controller);
		uint32_t held = reserved_lanes(traffic, link, controller);
		MORPH_OPTS(morph_traffic_link, ends);

		want += planned;
		have += held;
		missing += planned > held ? planned - held : 0;
		surplus += held > planned ? held - planned : 0;
		if (planned == held)
			continue;
		morph_traffic_link(traffic->problem, link, &ends);
		json_array_append_new(
			differences,
			json_pack("{s:I, s:I, s:I, s:I, s:I}", "controller", (json_int_t)controller,
				  "src-host", (json_int_t)ends.src_host, "dst-host",
				  (json_int_t)ends.dst_host, "lanes-count", (json_int_t)planned,
				  "reserved-lanes-count", (json_int_t)held));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "controller", (json_int_t)controller,
			 "lanes-count", (json_int_t)want, "reserved-lanes-count", (json_int_t)have,
			 "missing-lanes-count", (json_int_t)missing, "surplus-lanes-count",
			 (json_int_t)surplus, "difference-percent",
			 want + have ? 100.0 * (missing + surplus) / (want + have) : 0);
}

static json_t *report_divergence(const struct traffic *traffic)
{
	json_t *controllers = json_array(), *differences = json_array();
	size_t count = traffic->demands_count + json_array_size(traffic->reservations);

	for (size_t i = 0; i < count; i++) {
		size_t at = i - traffic->demands_count;
		uint32_t controller = i < traffic->demands_count ?
					      traffic->demands[i].controller :
					      number_of(json_array_get(traffic->reservations, at),
							"controller", 0);

		if (!met(traffic, i, controller))
			json_array_append_new(controllers,
					      compare(traffic, controller, differences));
	}
	return json_pack("{s:I, s:o, s:o}", "decision-epoch", (json_int_t)traffic->epoch,
			 "controllers", controllers, "differences", differences);
}

enum exit_code traffic_divergence(struct run *run)
{
	struct traffic traffic = { .run = run };
	json_t *report, *differences;
	enum exit_code code;

	if (given(run, OPTION_PROFILE) && !given(run, OPTION_FABRIC))
		return usage_error(run,
				   "--profile requires --fabric: the kernel has the reservations");
	code = solve_traffic(&traffic);
	if (!code) {
		report = report_divergence(&traffic);
		differences = json_object_get(report, "differences");
		if (given(run, OPTION_JSON)) {
			emit_document(report);
		} else {
			emit_table(run, CONTROLLERS, json_object_get(report, "controllers"));
			if (json_array_size(differences)) {
				say("\n");
				emit_table(run, DIFFERENCES, differences);
			}
		}
		json_decref(report);
	}
	traffic_free(&traffic);
	return code;
}
