// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl te: lanes between servers that several controllers share, as all of them compute them */
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "profile.h"
#include "value.h"

#define WAYS 4
#define LEAST 1e-6 /* lanes: what is less is none */
#define DEMANDS "src-host,dst-host,controller,amount,flow,lanes-count"
#define LINKS "src-host,dst-host,capacity,load,lanes-count,price"
#define CONTROLLERS "controller,lanes-count,reserved,missing,surplus,percent"
#define DIFFERENCES "controller,src-host,dst-host,lanes-count,reserved"

struct demand {
	uint32_t src_host, dst_host, controller;
	double amount, weight;
	uint32_t first, paths; /* of the problem */
};

/* A file of demands, solved on a fabric. */
struct traffic {
	struct run *run;
	uint32_t fabric; /* MORPH_ANY: an empty one */
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_te *te;
	uint32_t links;
	json_t *document;
	uint64_t epoch;
	uint32_t ways;
	double lambda;
	struct demand *demands;
	size_t demands_count;
	uint32_t *lanes; /* by path, whole */
	struct morph_te_result result;
};

static void traffic_free(struct traffic *traffic)
{
	free(traffic->lanes);
	free(traffic->demands);
	json_decref(traffic->document);
	morph_te_free(traffic->te);
	morph_ledger_free(traffic->ledger);
	morph_model_put(traffic->model);
}

/* -------------------------------------------------------------------- the file */

static enum exit_code wrong(const struct traffic *traffic, const char *where, const char *what)
{
	warn_line("%s: %s%s", traffic->run->argv[0], where, what);
	return EXIT_CODE_USAGE;
}

/* Every key is one of those that are known, divided by commas. */
static enum exit_code check_keys(const struct traffic *traffic, const json_t *object,
				 const char *where, const char *known)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		const char *word = known;

		while (*word && (strncmp(word, key, strcspn(word, ",")) ||
				 strlen(key) != strcspn(word, ",")))
			word += strcspn(word, ",") + (word[strcspn(word, ",")] == ',');
		if (*word)
			continue;
		warn_line("%s: %sthere is no key '%s'; there are %s", traffic->run->argv[0], where,
			  key, known);
		return EXIT_CODE_USAGE;
	}
	return EXIT_CODE_OK;
}

/* A whole number of the file; what is absent stays as it was. */
static bool whole(const json_t *object, const char *key, uint64_t most, uint64_t *value)
{
	const json_t *it = json_object_get(object, key);

	if (!it)
		return true;
	if (!json_is_integer(it) || json_integer_value(it) < 0 ||
	    (uint64_t)json_integer_value(it) > most)
		return false;
	*value = (uint64_t)json_integer_value(it);
	return true;
}

static bool real(const json_t *object, const char *key, double *value)
{
	const json_t *it = json_object_get(object, key);

	if (it && json_is_number(it))
		*value = json_number_value(it);
	return !it || json_is_number(it);
}

static enum exit_code read_demand(const struct traffic *traffic, size_t number, const json_t *it,
				  struct demand *demand)
{
	uint64_t from = UINT64_MAX, to = UINT64_MAX, controller = 0;
	enum exit_code code;
	char where[32];

	snprintf(where, sizeof(where), "demand %zu: ", number);
	if (!json_is_object(it))
		return wrong(traffic, where, "wants an object");
	code = check_keys(traffic, it, where, "from,to,lanes,weight,controller");
	if (code)
		return code;
	*demand = (struct demand){ .amount = -1, .weight = 1 };
	if (!whole(it, "from", UINT32_MAX - 1, &from) || !whole(it, "to", UINT32_MAX - 1, &to) ||
	    from == UINT64_MAX || to == UINT64_MAX)
		return wrong(traffic, where, "'from' and 'to' must be numbers of hosts");
	if (!real(it, "lanes", &demand->amount) || demand->amount < 0)
		return wrong(traffic, where, "'lanes' must be a number, 0 or more");
	if (!real(it, "weight", &demand->weight) || demand->weight <= 0)
		return wrong(traffic, where, "'weight' must be a number above 0");
	if (!whole(it, "controller", UINT32_MAX - 1, &controller))
		return wrong(traffic, where, "'controller' must be the number of one");
	demand->src_host = (uint32_t)from;
	demand->dst_host = (uint32_t)to;
	demand->controller = (uint32_t)controller;
	return EXIT_CODE_OK;
}

static enum exit_code read_file(struct traffic *traffic)
{
	enum exit_code code = document_read(traffic->run->argv[0], &traffic->document);
	uint64_t ways = WAYS;
	json_t *list, *it;
	size_t i;

	if (code)
		return code;
	if (!json_is_object(traffic->document))
		return wrong(traffic, "", "wants an object with 'demands'");
	code = check_keys(traffic, traffic->document, "", "demands,epoch,ways,lambda");
	if (code)
		return code;
	list = json_object_get(traffic->document, "demands");
	if (!json_is_array(list) || !json_array_size(list))
		return wrong(traffic, "", "wants a list 'demands' with at least one");
	if (!whole(traffic->document, "epoch", INT64_MAX, &traffic->epoch))
		return wrong(traffic, "", "'epoch' must be a number, 0 or more");
	if (!whole(traffic->document, "ways", 64, &ways) || !ways)
		return wrong(traffic, "", "'ways' must be 1 to 64");
	if (!real(traffic->document, "lambda", &traffic->lambda) || traffic->lambda < 0)
		return wrong(traffic, "", "'lambda' must be a number, 0 or more");
	traffic->ways = (uint32_t)ways;
	traffic->demands_count = json_array_size(list);
	traffic->demands = needed(calloc(traffic->demands_count, sizeof(*traffic->demands)));
	json_array_foreach(list, i, it)
	{
		code = read_demand(traffic, i, it, &traffic->demands[i]);
		if (code)
			return code;
	}
	return EXIT_CODE_OK;
}

/* ------------------------------------------------------------------ the problem */

static int add_demand(struct traffic *traffic, struct demand *demand, uint32_t *paths)
{
	int number = morph_te_add_demand(traffic->te, demand->amount, demand->weight), ways;

	if (number < 0)
		return number;
	ways = morph_te_add_ways(traffic->te, (uint32_t)number, demand->src_host, demand->dst_host,
				 traffic->ways);
	if (ways < 0)
		return ways;
	demand->first = *paths;
	demand->paths = (uint32_t)ways;
	*paths += demand->paths;
	return 0;
}

static enum exit_code solve(struct traffic *traffic)
{
	MORPH_OPTS(morph_te_opts, opts, .lambda = traffic->lambda);
	struct run *run = traffic->run;
	uint32_t paths = 0;
	int ret;

	traffic->te = needed(morph_te_new(run->client->ctx));
	ret = morph_te_add_servers(traffic->te, traffic->ledger);
	traffic->links = ret < 0 ? 0 : (uint32_t)ret;
	for (size_t i = 0; i < traffic->demands_count && ret >= 0; i++)
		ret = add_demand(traffic, &traffic->demands[i], &paths);
	traffic->result.sz = sizeof(traffic->result);
	if (ret >= 0)
		ret = morph_te_solve(traffic->te, &opts, &traffic->result);
	if (ret < 0)
		return client_error(run, ret);
	traffic->lanes = needed(calloc(paths + 1UL, sizeof(*traffic->lanes)));
	ret = morph_te_round(traffic->te, NULL, traffic->epoch, NULL, traffic->lanes);
	return ret ? client_error(run, ret) : EXIT_CODE_OK;
}

static enum exit_code prepare(struct traffic *traffic)
{
	enum exit_code code = read_file(traffic);

	if (!code)
		code = profile_model(traffic->run, &traffic->fabric, &traffic->model);
	if (!code)
		code = profile_ledger(traffic->run, traffic->fabric, 0, traffic->model,
				      &traffic->ledger);
	return code ? code : solve(traffic);
}

/* ------------------------------------------------------------------- the answer */

/* Whole lanes of a link, of one controller's demands or of all. */
static uint32_t link_lanes(const struct traffic *traffic, uint32_t link, uint32_t controller)
{
	const uint32_t *links;
	uint32_t sum = 0;

	for (size_t i = 0; i < traffic->demands_count; i++) {
		const struct demand *demand = &traffic->demands[i];

		if (controller != MORPH_ANY && demand->controller != controller)
			continue;
		for (uint32_t path = demand->first; path < demand->first + demand->paths; path++) {
			uint32_t hops = morph_te_path_links(traffic->te, path, &links);

			for (uint32_t hop = 0; hop < hops; hop++)
				sum += links[hop] == link ? traffic->lanes[path] : 0;
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
			flow += morph_te_flow(traffic->te, path);
			lanes += traffic->lanes[path];
		}
		json_array_append_new(
			records, json_pack("{s:I, s:I, s:I, s:f, s:f, s:I}", "src-host",
					   (json_int_t)demand->src_host, "dst-host",
					   (json_int_t)demand->dst_host, "controller",
					   (json_int_t)demand->controller, "amount", demand->amount,
					   "flow", flow, "lanes-count", (json_int_t)lanes));
	}
	return records;
}

/* Servers, one after the other. */
static json_t *path_hosts(const struct traffic *traffic, uint32_t path)
{
	json_t *hosts = json_array();
	uint32_t from = 0, to = 0;
	const uint32_t *links;
	uint32_t hops = morph_te_path_links(traffic->te, path, &links);

	for (uint32_t hop = 0; hop < hops; hop++) {
		morph_te_link_ends(traffic->te, links[hop], &from, &to);
		if (!hop)
			json_array_append_new(hosts, json_integer(from));
		json_array_append_new(hosts, json_integer(to));
	}
	return hosts;
}

static json_t *path_records(const struct traffic *traffic)
{
	json_t *records = json_array();

	for (size_t i = 0; i < traffic->demands_count; i++) {
		const struct demand *demand = &traffic->demands[i];

		for (uint32_t path = demand->first; path < demand->first + demand->paths; path++)
			json_array_append_new(
				records, json_pack("{s:I, s:o, s:f, s:I}", "demand", (json_int_t)i,
						   "host", path_hosts(traffic, path), "flow",
						   morph_te_flow(traffic->te, path), "lanes-count",
						   (json_int_t)traffic->lanes[path]));
	}
	return records;
}

static json_t *link_records(const struct traffic *traffic)
{
	json_t *records = json_array();
	uint32_t from = 0, to = 0;

	for (uint32_t link = 0; link < traffic->links; link++) {
		double load = morph_te_load(traffic->te, link);

		if (load < LEAST)
			continue;
		morph_te_link_ends(traffic->te, link, &from, &to);
		json_array_append_new(records,
				      json_pack("{s:I, s:I, s:f, s:f, s:I, s:f}", "src-host",
						(json_int_t)from, "dst-host", (json_int_t)to,
						"capacity", morph_te_capacity(traffic->te, link),
						"load", load, "lanes-count",
						(json_int_t)link_lanes(traffic, link, MORPH_ANY),
						"price", morph_te_price(traffic->te, link)));
	}
	return records;
}

enum exit_code te_solve(struct run *run)
{
	struct traffic traffic = { .run = run };
	enum exit_code code = prepare(&traffic);

	if (!code) {
		json_t *report = json_pack("{s:I, s:f, s:f, s:f, s:I, s:o, s:o, s:o}", "epoch",
					   (json_int_t)traffic.epoch, "throughput",
					   traffic.result.throughput, "lambda",
					   traffic.result.lambda, "residual",
					   traffic.result.residual, "iterations",
					   (json_int_t)traffic.result.iterations, "demands",
					   demand_records(&traffic), "paths",
					   path_records(&traffic), "links", link_records(&traffic));

		if (given(run, OPTION_JSON)) {
			emit_document(report);
		} else {
			printf("%.6g lanes in all; residual %.2g after %u steps\n\n",
			       traffic.result.throughput, traffic.result.residual,
			       traffic.result.iterations);
			emit_table(run, DEMANDS, json_object_get(report, "demands"));
			printf("\n");
			emit_table(run, LINKS, json_object_get(report, "links"));
		}
		json_decref(report);
	}
	traffic_free(&traffic);
	return code;
}

/* ------------------------------------------------------------------- divergence */

/* Lanes that a controller has reserved on the fibres of a link. */
static uint32_t reserved_lanes(const struct traffic *traffic, json_t *reservations, uint32_t link,
			       uint32_t controller)
{
	json_t *record;
	uint32_t sum = 0;
	size_t i;

	json_array_foreach(reservations, i, record)
	{
		if (number_of(record, "controller", 0) == controller &&
		    morph_te_guide_link(traffic->te, number_of(record, "guide", NUMBER_NONE)) ==
			    (int)link)
			sum += number_of(record, "lanes-count", 0);
	}
	return sum;
}

static json_t *compare(const struct traffic *traffic, json_t *reservations, uint32_t controller,
		       json_t *differences)
{
	uint32_t want = 0, have = 0, missing = 0, surplus = 0, from = 0, to = 0;

	for (uint32_t link = 0; link < traffic->links; link++) {
		uint32_t planned = link_lanes(traffic, link, controller);
		uint32_t held = reserved_lanes(traffic, reservations, link, controller);

		want += planned;
		have += held;
		missing += planned > held ? planned - held : 0;
		surplus += held > planned ? held - planned : 0;
		if (planned == held)
			continue;
		morph_te_link_ends(traffic->te, link, &from, &to);
		json_array_append_new(
			differences, json_pack("{s:I, s:I, s:I, s:I, s:I}", "controller",
					       (json_int_t)controller, "src-host", (json_int_t)from,
					       "dst-host", (json_int_t)to, "lanes-count",
					       (json_int_t)planned, "reserved", (json_int_t)held));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "controller", (json_int_t)controller,
			 "lanes-count", (json_int_t)want, "reserved", (json_int_t)have, "missing",
			 (json_int_t)missing, "surplus", (json_int_t)surplus, "percent",
			 want + have ? 100.0 * (missing + surplus) / (want + have) : 0);
}

static int dump_reservations(struct morph_ctx *ctx, uint32_t fabric, struct morph_list **list)
{
	return morph_controller_reservations(ctx, fabric, MORPH_ANY, list);
}

/* Has the controller of entry @i been met before it? Of demands first, then of reservations. */
static bool met(const struct traffic *traffic, json_t *reservations, size_t i, uint32_t controller)
{
	for (size_t k = 0; k < traffic->demands_count && k < i; k++)
		if (traffic->demands[k].controller == controller)
			return true;
	for (size_t k = traffic->demands_count; k < i; k++)
		if (number_of(json_array_get(reservations, k - traffic->demands_count),
			      "controller", 0) == controller)
			return true;
	return false;
}

static json_t *report_divergence(const struct traffic *traffic, json_t *reservations)
{
	json_t *controllers = json_array(), *differences = json_array();
	size_t count = traffic->demands_count + json_array_size(reservations);

	for (size_t i = 0; i < count; i++) {
		size_t at = i - traffic->demands_count;
		uint32_t controller =
			i < traffic->demands_count ?
				traffic->demands[i].controller :
				number_of(json_array_get(reservations, at), "controller", 0);

		if (!met(traffic, reservations, i, controller))
			json_array_append_new(controllers, compare(traffic, reservations,
								   controller, differences));
	}
	return json_pack("{s:I, s:o, s:o}", "epoch", (json_int_t)traffic->epoch, "controllers",
			 controllers, "differences", differences);
}

enum exit_code te_divergence(struct run *run)
{
	struct traffic traffic = { .run = run };
	json_t *reservations = NULL, *report, *differences;
	enum exit_code code;

	if (given(run, OPTION_PROFILE) && !given(run, OPTION_FABRIC))
		return usage_error(run, "wants --fabric beside --profile: the kernel has what is "
					"reserved");
	code = prepare(&traffic);
	if (!code)
		code = client_dump(run, dump_reservations, traffic.fabric, &reservations);
	if (!code) {
		report = report_divergence(&traffic, reservations);
		differences = json_object_get(report, "differences");
		if (given(run, OPTION_JSON)) {
			emit_document(report);
		} else {
			emit_table(run, CONTROLLERS, json_object_get(report, "controllers"));
			if (json_array_size(differences)) {
				printf("\n");
				emit_table(run, DIFFERENCES, differences);
			}
		}
		json_decref(report);
	}
	json_decref(reservations);
	traffic_free(&traffic);
	return code;
}
