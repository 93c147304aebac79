// SPDX-License-Identifier: GPL-2.0-or-later
/* Write matchings in the format of files, which 'matchings check' and 'matchings show' read. */
#include <string.h>

#include "morphctl/matchings/matchings.h"

const char *const matchings_kinds[] = { "directed", "duplex", "pairs", NULL };
const char *const matchings_bounds[] = { "degree",     "distance",   "cut",
					 "fractional", "exhaustive", NULL };

uint32_t matchings_word(const char *const *words, const char *word)
{
	uint32_t at = 0;

	while (words[at] && strcmp(words[at], word))
		at++;
	return at;
}

static json_t *numbers(const uint32_t *values, size_t count)
{
	json_t *list = json_array();

	for (size_t at = 0; at < count; at++)
		json_array_append_new(list, json_integer(values[at]));
	return list;
}

static void add_fabric(const struct matchings_search *search, json_t *document)
{
	static const char *const keys[] = { "profile", "profile-checksum", "planes-count" };

	if (!search->model) {
		json_object_set_new(document, "mesh",
				    json_pack("{s:I, s:I}", "width",
					      (json_int_t)search->problem.width, "height",
					      (json_int_t)search->problem.height));
		return;
	}
	for (size_t at = 0; at < sizeof(keys) / sizeof(keys[0]); at++)
		json_object_set(document, keys[at], json_object_get(search->fabric, keys[at]));
}

static void add_number(json_t *document, const char *key, uint64_t number)
{
	json_object_set_new(document, key, json_integer((json_int_t)number));
}

/* With targets, an endpoint can lack a port. */
static json_t *endpoint_record(const struct matchings_search *search, uint32_t at)
{
	const struct morph_matchings_answer *answer = &search->answer;
	const uint32_t *targets = search->problem.targets;
	json_t *record = json_object();

	if (search->problem.kind == MORPH_MATCHINGS_PAIRS) {
		add_number(record, "port", answer->tx[at]);
		return record;
	}
	if (answer->tx[at] != MORPH_ANY)
		add_number(record, "tx-port", answer->tx[at]);
	if (answer->rx[at] != MORPH_ANY)
		add_number(record, "rx-port", answer->rx[at]);
	if (targets && targets[at] != MORPH_ANY)
		add_number(record, "dst-endpoint", targets[at]);
	return record;
}

static json_t *endpoint_records(const struct matchings_search *search)
{
	json_t *records = json_array();

	for (uint32_t at = 0; at < search->problem.endpoints; at++)
		json_array_append_new(records, endpoint_record(search, at));
	return records;
}

static json_t *stuck_records(const struct morph_matchings_problem *problem)
{
	json_t *records = json_array();

	for (size_t at = 0; at < problem->stuck_count; at++)
		json_array_append_new(
			records, json_pack("{s:I, s:I}", "element", (json_int_t)problem->stuck[at],
					   "element-state", (json_int_t)problem->stuck_states[at]));
	return records;
}

static json_t *state_list(const struct morph_matchings_answer *answer, uint32_t round)
{
	const uint16_t *states = &answer->states[(size_t)round * answer->elements];
	json_t *list = json_array();

	for (uint32_t at = 0; at < answer->elements; at++)
		json_array_append_new(list, states[at] == MORPH_MATCHINGS_ANY ?
						    json_null() :
						    json_integer(states[at]));
	return list;
}

static json_t *circuit_records(const struct morph_matchings_answer *answer, uint32_t round)
{
	json_t *records = json_array();

	for (uint32_t at = answer->round_first[round]; at < answer->round_first[round + 1]; at++) {
		const struct morph_matchings_circuit *circuit = &answer->circuits[at];
		json_t *elements = json_array();

		for (uint32_t hop = 0; hop < circuit->count; hop++)
			json_array_append_new(
				elements, json_integer(answer->hops[circuit->first + hop].element));
		json_array_append_new(records,
				      json_pack("{s:I, s:I, s:o}", "src-endpoint",
						(json_int_t)circuit->src, "dst-endpoint",
						(json_int_t)circuit->dst, "elements", elements));
	}
	return records;
}

static json_t *round_records(const struct morph_matchings_answer *answer)
{
	json_t *records = json_array();

	for (uint32_t round = 0; round < answer->rounds; round++)
		json_array_append_new(records, json_pack("{s:o, s:o}", "element-states",
							 state_list(answer, round), "circuits",
							 circuit_records(answer, round)));
	return records;
}

/* The limits of the request, and the lower bound. An infeasible answer breaks one of them. */
static void add_bound(const struct matchings_search *search, json_t *document)
{
	const struct morph_matchings_answer *answer = &search->answer;

	if (search->problem.rounds)
		add_number(document, "rounds-limit", search->problem.rounds);
	if (answer->hops_most)
		add_number(document, "hops-limit", answer->hops_most);
	if (!answer->bound) {
		add_number(document, "src-endpoint", answer->src);
		add_number(document, "dst-endpoint", answer->dst);
	} else {
		add_number(document, "rounds-bound-count", answer->bound);
		json_object_set_new(document, "bound-kind",
				    json_string(matchings_bounds[answer->bound_kind]));
	}
	if (answer->lengths_count)
		json_object_set_new(document, "bound-lengths",
				    numbers(answer->lengths, answer->lengths_count));
	if (answer->cut_count)
		json_object_set_new(document, "bound-elements",
				    numbers(answer->cut, answer->cut_count));
}

static void add_rounds(const struct matchings_search *search, json_t *document)
{
	const struct morph_matchings_answer *answer = &search->answer;

	add_number(document, "rounds-count", answer->rounds);
	add_number(document, "longest-hops-count", answer->longest);
	add_number(document, "hops-count", answer->total);
	add_number(document, "hops-bound-count", answer->distance);
	add_number(document, "writes-count", answer->writes);
	json_object_set_new(document, "validated",
			    json_boolean(search->model && !search->problem.unjudged));
	if (search->model && search->problem.unjudged)
		json_object_set_new(document, "refused-rounds",
				    numbers(answer->refused, answer->refused_count));
	json_object_set_new(document, "rounds", round_records(answer));
}

json_t *matchings_document(const struct matchings_search *search)
{
	const struct morph_matchings_problem *problem = &search->problem;
	const struct morph_matchings_answer *answer = &search->answer;
	json_t *document = json_pack("{s:s, s:I, s:s, s:s}", "format", MATCHINGS_FORMAT, "version",
				     (json_int_t)MATCHINGS_VERSION, "verdict",
				     verdict_word(answer->verdict), "kind",
				     matchings_kinds[problem->kind]);

	add_fabric(search, document);
	add_number(document, "elements-count", answer->elements);
	json_object_set_new(document, "failed-elements",
			    numbers(problem->failed, problem->failed_count));
	json_object_set_new(document, "stuck-elements", stuck_records(problem));
	json_object_set_new(document, "ports-chosen", json_boolean(!problem->tx));
	json_object_set_new(document, "endpoints", endpoint_records(search));
	add_number(document, "seed", problem->seed);
	add_number(document, "moves-count", answer->moves);
	add_bound(search, document);
	if (answer->verdict == MORPH_FEASIBLE)
		add_rounds(search, document);
	return document;
}
