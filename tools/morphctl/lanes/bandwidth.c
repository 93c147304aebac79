// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl bandwidth plan: assign lanes to communication groups */
#include <stdlib.h>

#include "morphctl/client/client.h"
#include "morphctl/lanes/lanes.h"
#include "morphctl/output/output.h"

#define GROUPS \
	"name,lanes-count,least-lanes-count,most-lanes-count,short-of,guide-name,index,have,need"
#define HOPS "group,src-accelerator,dst-accelerator,guide-names,wavelengths"
#define GUIDES "guide-name,fibres-count,capacity-lanes-count,lanes-count"
#define MOST_FIBRES 4096

static void bandwidth_free(struct bandwidth *bandwidth)
{
	for (uint32_t at = 0; at < bandwidth->guides_count; at++)
		free(bandwidth->guides[at].name);
	free(bandwidth->guides);
	free(bandwidth->hops);
	json_decref(bandwidth->document);
	morph_bandwidth_free(bandwidth->problem);
}

/* ---------------------------------------------------------------------- a profile */

/* Free fibres between two servers, under the names of both, as "0-1". */
static int add_links(struct bandwidth *bandwidth, const struct morph_ledger *ledger)
{
	struct morph_traffic *links = needed(morph_traffic_new(bandwidth->run->client->ctx));
	int count = morph_traffic_add_servers(links, ledger);

	for (int at = 0; at < count; at++) {
		MORPH_OPTS(morph_traffic_link, link);
		double fibres;
		char name[32];

		morph_traffic_link(links, (uint32_t)at, &link);
		fibres = link.capacity / bandwidth->wavelengths;
		snprintf(name, sizeof(name), "%u-%u", link.src_host, link.dst_host);
		add_bandwidth_guide(bandwidth, name,
				    fibres < MOST_FIBRES ? (uint32_t)fibres : MOST_FIBRES);
	}
	morph_traffic_free(links);
	return count < 0 ? count : 0;
}

static enum exit_code take_model(struct bandwidth *bandwidth, struct morph_model *model,
				 uint32_t fabric)
{
	struct run *run = bandwidth->run;
	struct morph_ledger *ledger = NULL;
	struct morph_object *info = NULL;
	json_t *record = NULL;
	int error = morph_model_info(run->client->ctx, model, &info);
	enum exit_code code = client_reply(run, error, info, &record);

	if (code)
		return code;
	bandwidth->of_profile = true;
	bandwidth->accelerators = number_of(record, "accelerators-count", 0);
	bandwidth->wavelengths = number_of(record, "wavelengths-count", 1);
	bandwidth->transmit = number_of(record, "planes-count", 1);
	bandwidth->receive = bandwidth->transmit;
	json_decref(record);
	code = profile_ledger(run, fabric, 0, model, &ledger);
	if (!code) {
		error = add_links(bandwidth, ledger);
		code = error ? client_error(run, error) : EXIT_CODE_OK;
	}
	morph_ledger_free(ledger);
	return code;
}

static enum exit_code take_profile(struct bandwidth *bandwidth)
{
	struct run *run = bandwidth->run;
	struct morph_model *model = NULL;
	enum exit_code code;
	uint32_t fabric;

	if (!given(run, OPTION_FABRIC) && !given(run, OPTION_PROFILE))
		return client_open(run);
	code = profile_model(run, &fabric, &model);
	if (!code)
		code = take_model(bandwidth, model, fabric);
	morph_model_put(model);
	return code;
}

/* --------------------------------------------------------------------- the answer */

static const char *proof_word(enum morph_bandwidth_proof proof)
{
	return proof == MORPH_BANDWIDTH_LEXIMIN ? "leximin" :
	       proof == MORPH_BANDWIDTH_FAIR	? "fair" :
						  "legal";
}

static const char *part_word(enum morph_bandwidth_part part)
{
	switch (part) {
	case MORPH_BANDWIDTH_WISH:
		return "most";
	case MORPH_BANDWIDTH_TRANSMIT:
		return "transmit";
	case MORPH_BANDWIDTH_RECEIVE:
		return "receive";
	case MORPH_BANDWIDTH_GUIDE:
		return "guide";
	case MORPH_BANDWIDTH_WAVELENGTHS:
		return "wavelengths";
	default:
		return "unknown";
	}
}

/* Lanes and shortage of a group. With MORPH_ANY, the shortage of an infeasible problem. */
static struct morph_bandwidth_group group_info(const struct bandwidth *bandwidth, uint32_t group)
{
	MORPH_OPTS(morph_bandwidth_group, info, .index = MORPH_ANY);

	morph_bandwidth_group(bandwidth->problem, group, &info);
	return info;
}

static void add_stop(const struct bandwidth *bandwidth, const struct morph_bandwidth_group *stop,
		     json_t *record)
{
	json_object_set_new(record, "short-of", json_string(part_word(stop->part)));
	if (stop->part == MORPH_BANDWIDTH_NOTHING)
		return;
	if (stop->part == MORPH_BANDWIDTH_GUIDE && stop->index < bandwidth->guides_count)
		json_object_set_new(record, "guide-name",
				    json_string(bandwidth->guides[stop->index].name));
	else if (stop->index != MORPH_ANY)
		json_object_set_new(record, "index", json_integer(stop->index));
	json_object_set_new(record, "have", json_integer((json_int_t)stop->have));
	json_object_set_new(record, "need", json_integer((json_int_t)stop->need));
}

/* The name of a group, or its number. */
static json_t *group_name(const struct bandwidth *bandwidth, uint32_t group)
{
	json_t *name = json_object_get(json_array_get(bandwidth->groups, group), "name");
	char number[16];

	if (name)
		return json_incref(name);
	snprintf(number, sizeof(number), "%u", group);
	return json_string(number);
}

static json_t *group_records(const struct bandwidth *bandwidth)
{
	json_t *records = json_array(), *it;
	size_t i;

	json_array_foreach(bandwidth->groups, i, it)
	{
		uint32_t group = (uint32_t)i;
		struct morph_bandwidth_group info = group_info(bandwidth, group);
		json_t *record = json_pack("{s:o, s:I, s:I}", "name", group_name(bandwidth, group),
					   "lanes-count", (json_int_t)info.lanes,
					   "least-lanes-count",
					   (json_int_t)number_of(it, "least-lanes-count", 0));

		if (number_of(it, "most-lanes-count", 0))
			json_object_set_new(record, "most-lanes-count",
					    json_integer(number_of(it, "most-lanes-count", 0)));
		if (bandwidth->result.verdict == MORPH_FEASIBLE)
			add_stop(bandwidth, &info, record);
		json_array_append_new(records, record);
	}
	return records;
}

static json_t *wavelengths_of(const struct bandwidth *bandwidth, uint32_t hop)
{
	size_t count = morph_bandwidth_lanes(bandwidth->problem, hop, NULL, 0);
	uint32_t *wavelengths = needed(calloc(count + 1, sizeof(*wavelengths)));
	json_t *list = json_array();

	morph_bandwidth_lanes(bandwidth->problem, hop, wavelengths, count);
	for (size_t at = 0; at < count; at++)
		json_array_append_new(list, json_integer(wavelengths[at]));
	free(wavelengths);
	return list;
}

static json_t *hop_records(const struct bandwidth *bandwidth)
{
	json_t *records = json_array();

	for (uint32_t at = 0; at < bandwidth->hops_count; at++) {
		const struct bandwidth_hop *hop = &bandwidth->hops[at];

		json_array_append_new(
			records,
			json_pack("{s:o, s:I, s:I, s:o, s:o}", "group",
				  group_name(bandwidth, hop->group), "src-accelerator",
				  (json_int_t)hop->src, "dst-accelerator", (json_int_t)hop->dst,
				  "guide-names",
				  hop->guides ? json_copy((json_t *)hop->guides) : json_array(),
				  "wavelengths", wavelengths_of(bandwidth, at)));
	}
	return records;
}

/* The guides that a hop uses. */
static json_t *guide_records(const struct bandwidth *bandwidth)
{
	json_t *records = json_array();

	for (uint32_t at = 0; at < bandwidth->guides_count; at++) {
		uint64_t load = morph_bandwidth_load(bandwidth->problem, MORPH_BANDWIDTH_GUIDE, at);
		uint32_t fibres = bandwidth->guides[at].fibres;

		if (!load)
			continue;
		json_array_append_new(records,
				      json_pack("{s:s, s:I, s:I, s:I}", "guide-name",
						bandwidth->guides[at].name, "fibres-count",
						(json_int_t)fibres, "capacity-lanes-count",
						(json_int_t)fibres * bandwidth->wavelengths,
						"lanes-count", (json_int_t)load));
	}
	return records;
}

static json_t *plan_record(const struct bandwidth *bandwidth)
{
	bool feasible = bandwidth->result.verdict == MORPH_FEASIBLE;
	json_t *record = json_pack("{s:s}", "verdict", verdict_word(bandwidth->result.verdict));

	if (feasible) {
		json_object_set_new(record, "proof",
				    json_string(proof_word(bandwidth->result.proof)));
		json_object_set_new(record, "circuits-count",
				    json_integer((json_int_t)bandwidth->result.circuits));
	} else {
		const struct morph_bandwidth_group all = group_info(bandwidth, MORPH_ANY);

		add_stop(bandwidth, &all, record);
	}
	json_object_set_new(record, "wavelengths-count", json_integer(bandwidth->wavelengths));
	json_object_set_new(record, "groups", group_records(bandwidth));
	if (!feasible)
		return record;
	json_object_set_new(record, "hops", hop_records(bandwidth));
	json_object_set_new(record, "guide-loads", guide_records(bandwidth));
	return record;
}

static void write_table(const struct bandwidth *bandwidth, const char *columns, json_t *records)
{
	if (!json_array_size(records))
		return;
	say("\n");
	emit_table(bandwidth->run, columns, records);
}

/* The part of which there is too little, for people. */
static const char *part_sentence(const char *word)
{
	return !strcmp(word, "transmit") ? "transmit ports of accelerator" :
	       !strcmp(word, "receive")	 ? "receive ports of accelerator" :
					   word;
}

static void write_stop(const json_t *record)
{
	const json_t *index = json_object_get(record, "index");
	char *number = format_value("index", index);

	if (json_object_get(record, "have"))
		say("not enough lanes: %s%s%s: %" JSON_INTEGER_FORMAT
		    " requested, %" JSON_INTEGER_FORMAT " available\n",
		    part_sentence(text_of_key(record, "short-of")), index ? " " : "",
		    index ? number : "", json_integer_value(json_object_get(record, "need")),
		    json_integer_value(json_object_get(record, "have")));
	free(number);
}

static void write_plan(const struct bandwidth *bandwidth, const json_t *record)
{
	if (bandwidth->result.verdict != MORPH_FEASIBLE) {
		say("%s\n", verdict_word(bandwidth->result.verdict));
		write_stop(record);
		return;
	}
	say("feasible: %llu circuits (proof: %s)\n", (unsigned long long)bandwidth->result.circuits,
	    proof_word(bandwidth->result.proof));
	write_table(bandwidth, GROUPS, json_object_get(record, "groups"));
	write_table(bandwidth, HOPS, json_object_get(record, "hops"));
	write_table(bandwidth, GUIDES, json_object_get(record, "guide-loads"));
}

static enum exit_code solve(struct bandwidth *bandwidth)
{
	MORPH_OPTS(morph_bandwidth_opts, opts, .steps = 0);
	int error;

	if (!option_u64(bandwidth->run, OPTION_LANE_STEPS, &opts.steps))
		return EXIT_CODE_USAGE;
	bandwidth->result.sz = sizeof(bandwidth->result);
	progress_begin("planning lanes");
	error = morph_bandwidth_solve(bandwidth->problem, &opts, &bandwidth->result);
	progress_end();
	return error ? client_error(bandwidth->run, error) : EXIT_CODE_OK;
}

enum exit_code bandwidth_plan(struct run *run)
{
	struct bandwidth bandwidth = { .run = run, .wavelengths = 1 };
	enum exit_code code = take_profile(&bandwidth);

	if (!code)
		code = read_bandwidth(&bandwidth);
	if (!code)
		code = solve(&bandwidth);
	if (!code) {
		json_t *record = plan_record(&bandwidth);

		if (given(run, OPTION_JSON))
			emit_document(record);
		else
			write_plan(&bandwidth, record);
		json_decref(record);
		code = bandwidth.result.verdict == MORPH_FEASIBLE ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	}
	bandwidth_free(&bandwidth);
	return code;
}
