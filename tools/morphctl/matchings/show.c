// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl matchings show: print the rounds of a file, or one of them */
#include <stdlib.h>

#include "morphctl/input/input.h"
#include "morphctl/matchings/matchings.h"

#define ROUNDS "round,circuits-count,longest-hops-count,writes-count"
#define CIRCUITS "src-endpoint,dst-endpoint,hops-count,elements"
#define FABRIC_CIRCUITS "src-accelerator,dst-accelerator,hops-count,elements"

/* ------------------------------------------------------------------------ sentences */

static bool is_fabric(const json_t *document)
{
	return json_object_get(document, "profile");
}

/* Endpoints of a fabric are ports of accelerators. */
static const char *endpoint_word(const json_t *document)
{
	return is_fabric(document) ? "accelerator" : "endpoint";
}

static uint32_t endpoint_number(const json_t *document, uint32_t endpoint)
{
	const json_t *record = json_array_get(json_object_get(document, "endpoints"), endpoint);

	if (!is_fabric(document))
		return endpoint;
	return number_of(record, "tx-port", number_of(record, "rx-port", 0)) /
	       number_of(document, "planes-count", 1);
}

/* The lower bound and its proof, in brackets. */
static void write_bound(const json_t *document)
{
	const char *proof = text_of_key(document, "bound-kind");

	if (key_is(document, "bound-kind", "fractional"))
		proof = "fractional flow";
	if (key_is(document, "bound-kind", "exhaustive"))
		proof = "exhaustive search";
	say("(lower bound %u%s, by %s)", number_of(document, "rounds-bound-count", 0),
	    flag_of(document, "ports-chosen") ? " for any ports" : "", proof);
}

static void write_place(const json_t *document)
{
	const json_t *mesh = json_object_get(document, "mesh");

	if (mesh)
		say("mesh %ux%u, %s: ", number_of(mesh, "width", 0), number_of(mesh, "height", 0),
		    text_of_key(document, "kind"));
	else
		say("%s, %s: ", text_of_key(document, "profile"), text_of_key(document, "kind"));
}

static void write_ports(const json_t *document)
{
	const json_t *endpoint;
	size_t i;

	say("the search chose these ports:");
	json_array_foreach(json_object_get(document, "endpoints"), i, endpoint)
	{
		if (key_is(document, "kind", "pairs"))
			say(" %u", number_of(endpoint, "port", 0));
		else
			say(" %u:%u", number_of(endpoint, "tx-port", 0),
			    number_of(endpoint, "rx-port", 0));
	}
	say("\n");
}

/* Circuits of all rounds. */
static size_t count_circuits(const json_t *document)
{
	const json_t *round;
	size_t count = 0, i;

	json_array_foreach(json_object_get(document, "rounds"), i, round)
		count += json_array_size(json_object_get(round, "circuits"));
	return count;
}

/* The judgement of the validator, if the rounds are those of a fabric. */
static void write_judgement(const json_t *document)
{
	const json_t *refused = json_object_get(document, "refused-rounds"), *it;
	size_t count = json_array_size(refused), i;

	if (flag_of(document, "validated") || (refused && !count))
		say("the driver's validator accepts power, margin and isolation of each round\n");
	if (!count)
		return;
	say("the driver's validator refuses %zu round%s:", count, PLURAL(count));
	json_array_foreach(refused, i, it)
		say("%s %lld", i ? "," : "", (long long)json_integer_value(it));
	say("\n");
}

static void write_feasible(const json_t *document)
{
	uint32_t endpoints = (uint32_t)json_array_size(json_object_get(document, "endpoints"));
	uint32_t rounds = number_of(document, "rounds-count", 0);
	size_t circuits = count_circuits(document);

	if (matchings_targets(document))
		say("%zu circuit%s lead%s to the targets in %u round%s ", circuits,
		    PLURAL(circuits), circuits == 1 ? "s" : "", rounds, PLURAL(rounds));
	else
		say("%u %ss meet in %u round%s ", endpoints, endpoint_word(document), rounds,
		    PLURAL(rounds));
	write_bound(document);
	say("\n");
	write_place(document);
	say("longest route %u elements, total %llu (lower bound %llu)\n",
	    number_of(document, "longest-hops-count", 0),
	    (unsigned long long)wide_of(document, "hops-count"),
	    (unsigned long long)wide_of(document, "hops-bound-count"));
	say("a cycle of all rounds writes %llu elements\n",
	    (unsigned long long)wide_of(document, "writes-count"));
	write_judgement(document);
	if (flag_of(document, "ports-chosen"))
		write_ports(document);
}

static void write_infeasible(const json_t *document)
{
	uint32_t hops = number_of(document, "hops-limit", 0);
	uint32_t rounds = number_of(document, "rounds-limit", 0);

	if (json_object_get(document, "src-endpoint")) {
		uint32_t src = endpoint_number(document, number_of(document, "src-endpoint", 0));
		uint32_t dst = endpoint_number(document, number_of(document, "dst-endpoint", 0));

		if (key_is(document, "kind", "duplex"))
			say("no: no round joins %ss %u and %u both ways", endpoint_word(document),
			    src, dst);
		else
			say("no: %s %u has no route to %s %u", endpoint_word(document), src,
			    endpoint_word(document), dst);
		if (hops)
			say(" within %u element%s", hops, PLURAL(hops));
		say("\n");
		return;
	}
	if (rounds)
		say("no: %u round%s requested, more are necessary ", rounds, PLURAL(rounds));
	else
		say("no: no ports of the mesh have routes for all pairs ");
	write_bound(document);
	say("\n");
}

static void write_undecided(const json_t *document)
{
	say("undecided: no rounds found in %llu moves",
	    (unsigned long long)wide_of(document, "moves-count"));
	if (json_object_get(document, "bound-kind")) {
		say(" ");
		write_bound(document);
	}
	say("; try more --steps%s\n",
	    json_object_get(document, "rounds-limit") ? " or --rounds" : "");
}

/* --------------------------------------------------------------------------- tables */

static uint32_t longest_of(const json_t *circuits)
{
	uint32_t longest = 0;
	const json_t *circuit;
	size_t i;

	json_array_foreach((json_t *)circuits, i, circuit)
	{
		size_t count = json_array_size(json_object_get(circuit, "elements"));

		if (count > longest)
			longest = (uint32_t)count;
	}
	return longest;
}

/* The state of an element before a round: it keeps its state until it is needed. */
static const json_t *state_before(const json_t *rounds, size_t round, size_t element)
{
	size_t count = json_array_size(rounds);
	const json_t *state = NULL;

	for (size_t back = 1; back <= count; back++) {
		const json_t *before = json_array_get(rounds, (round + count - back) % count);

		state = json_array_get(json_object_get(before, "element-states"), element);
		if (!json_is_null(state))
			break;
	}
	return state;
}

static uint32_t writes_of(const json_t *rounds, size_t round)
{
	const json_t *states = json_object_get(json_array_get(rounds, round), "element-states");
	const json_t *state;
	uint32_t writes = 0;
	size_t element;

	json_array_foreach((json_t *)states, element, state) writes +=
		!json_is_null(state) && !json_equal(state, state_before(rounds, round, element));
	return writes;
}

static json_t *round_records(const json_t *document)
{
	const json_t *rounds = json_object_get(document, "rounds"), *round;
	json_t *records = json_array();
	size_t i;

	json_array_foreach((json_t *)rounds, i, round)
	{
		const json_t *circuits = json_object_get(round, "circuits");

		json_array_append_new(
			records, json_pack("{s:I, s:I, s:I, s:I}", "round", (json_int_t)i,
					   "circuits-count", (json_int_t)json_array_size(circuits),
					   "longest-hops-count", (json_int_t)longest_of(circuits),
					   "writes-count", (json_int_t)writes_of(rounds, i)));
	}
	return records;
}

static json_t *circuit_records(const json_t *document, uint32_t number)
{
	const json_t *round = json_array_get(json_object_get(document, "rounds"), number);
	bool fabric = is_fabric(document);
	json_t *records = json_array();
	const json_t *circuit;
	size_t i;

	json_array_foreach(json_object_get(round, "circuits"), i, circuit)
	{
		json_t *elements = json_object_get(circuit, "elements");
		uint32_t src = number_of(circuit, "src-endpoint", 0);
		uint32_t dst = number_of(circuit, "dst-endpoint", 0);

		json_array_append_new(records,
				      json_pack("{s:I, s:I, s:I, s:O}",
						fabric ? "src-accelerator" : "src-endpoint",
						(json_int_t)endpoint_number(document, src),
						fabric ? "dst-accelerator" : "dst-endpoint",
						(json_int_t)endpoint_number(document, dst),
						"hops-count", (json_int_t)json_array_size(elements),
						"elements", elements));
	}
	return records;
}

void matchings_write(const struct run *run, json_t *document)
{
	json_t *records;

	if (key_is(document, "verdict", "undecided"))
		write_undecided(document);
	else if (!key_is(document, "verdict", "feasible"))
		write_infeasible(document);
	else
		write_feasible(document);
	records = round_records(document);
	if (json_array_size(records)) {
		say("\n");
		emit_table(run, ROUNDS, records);
	}
	json_decref(records);
}

static void write_round(const struct run *run, const json_t *document, uint32_t number)
{
	json_t *records = circuit_records(document, number);
	const json_t *rounds = json_object_get(document, "rounds");
	uint32_t writes = writes_of(rounds, number);
	size_t circuits = json_array_size(records);

	say("round %u (0-%zu): %zu circuit%s, %u element%s written before it\n\n", number,
	    json_array_size(rounds) - 1, circuits, PLURAL(circuits), writes, PLURAL(writes));
	emit_table(run, is_fabric(document) ? FABRIC_CIRCUITS : CIRCUITS, records);
	json_decref(records);
}

/* ----------------------------------------------------------------------------- show */

static enum exit_code round_given(const struct run *run, const json_t *document, uint32_t *round)
{
	size_t rounds = json_array_size(json_object_get(document, "rounds"));

	if (!option_u32(run, OPTION_ROUND, round))
		return EXIT_CODE_USAGE;
	if (!rounds && given(run, OPTION_ROUND))
		return usage_error(run, "%s has no rounds", run->argv[0]);
	if (*round >= rounds && given(run, OPTION_ROUND))
		return usage_error(run, "no round %u (0-%zu)", *round, rounds - 1);
	return EXIT_CODE_OK;
}

enum exit_code matchings_show(struct run *run)
{
	json_t *document = NULL;
	uint32_t round = 0;
	enum exit_code code = EXIT_CODE_OK;

	if (given(run, OPTION_JSON) && given(run, OPTION_ROUND))
		return usage_error(run, "--json and --round are mutually exclusive");
	code = matchings_read(run->argv[0], &document);
	if (!code)
		code = round_given(run, document, &round);
	if (!code && given(run, OPTION_JSON))
		emit_document(document);
	else if (!code && given(run, OPTION_ROUND))
		write_round(run, document, round);
	else if (!code)
		matchings_write(run, document);
	json_decref(document);
	return code;
}
