// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl matchings check: check a file with libmorph's checker */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libmorph/check/check.h"

#include "morphctl/input/input.h"
#include "morphctl/matchings/matchings.h"

_Static_assert((int)MORPH_CHECK_DIRECTED == (int)MORPH_MATCHINGS_DIRECTED &&
		       (int)MORPH_CHECK_DUPLEX == (int)MORPH_MATCHINGS_DUPLEX &&
		       (int)MORPH_CHECK_PAIRS == (int)MORPH_MATCHINGS_PAIRS &&
		       (int)MORPH_CHECK_DEGREE == (int)MORPH_MATCHINGS_DEGREE &&
		       (int)MORPH_CHECK_CUT == (int)MORPH_MATCHINGS_CUT &&
		       (int)MORPH_CHECK_EXHAUSTIVE == (int)MORPH_MATCHINGS_EXHAUSTIVE,
	       "matchings_kinds and matchings_bounds name the values of the checker");

/* A file as the checker reads it. The arrays belong to this structure. */
struct checking {
	struct run *run;
	json_t *document;
	char *profile;
	uint32_t *tx, *rx, *targets, *failed, *stuck, *stuck_states, *lengths, *cut, *round_first,
		*elements;
	struct morph_check_matchings_circuit *circuits;
	uint16_t *states;
	struct morph_check_matchings_input input;
	char report[512];
};

static void checking_free(struct checking *checking)
{
	json_decref(checking->document);
	free(checking->profile);
	free(checking->tx);
	free(checking->rx);
	free(checking->targets);
	free(checking->failed);
	free(checking->stuck);
	free(checking->stuck_states);
	free(checking->lengths);
	free(checking->cut);
	free(checking->round_first);
	free(checking->elements);
	free(checking->circuits);
	free(checking->states);
}

/* ------------------------------------------------------------------------ the profile */

/* The profile of --profile, or the one that the file names, if it is the one of the file. */
static enum exit_code check_profile(struct checking *checking, const char *path)
{
	struct run *run = checking->run;
	struct morph_model *model = NULL;
	int error = morph_model_load(run->client->ctx, path, &model);
	uint64_t want = wide_of(checking->document, "profile-checksum");
	enum exit_code code = EXIT_CODE_OK;
	uint32_t found;

	if (error < 0)
		return client_error(run, error);
	found = profile_checksum(run, model);
	if (found != want) {
		warn_line(
			"%s: the checksum of %s is %u, not %llu; give the right profile with --profile",
			run->argv[0], path, found, (unsigned long long)want);
		code = EXIT_CODE_USAGE;
	}
	morph_model_put(model);
	return code;
}

static enum exit_code read_profile(struct checking *checking)
{
	const char *name = text_of_key(checking->document, "profile");
	char *path = NULL;
	enum exit_code code;

	if (!*name)
		return EXIT_CODE_OK;
	code = client_open(checking->run);
	if (!code && given(checking->run, OPTION_PROFILE))
		path = needed(strdup(checking->run->option[OPTION_PROFILE]));
	else if (!code)
		code = profile_file(name, &path);
	if (!code)
		code = check_profile(checking, path);
	if (!code)
		code = input_whole(path, &checking->profile, &checking->input.profile.bytes);
	checking->input.profile.data = checking->profile;
	free(path);
	return code;
}

/* -------------------------------------------------------------------------- the arrays */

/* Numbers of a list, or of the key of each record in it, which can be absent. */
static uint32_t *numbers_of(const json_t *list, const char *key)
{
	uint32_t *numbers = needed(calloc(json_array_size(list) + 1, sizeof(*numbers)));
	const json_t *it;
	size_t i;

	json_array_foreach((json_t *)list, i, it)
		numbers[i] = key ? number_of(it, key, MORPH_ANY) : (uint32_t)json_integer_value(it);
	return numbers;
}

static void take_problem(struct checking *checking)
{
	struct morph_check_matchings_input *input = &checking->input;
	const json_t *document = checking->document;
	const json_t *endpoints = json_object_get(document, "endpoints");
	const json_t *failed = json_object_get(document, "failed-elements");
	const json_t *stuck = json_object_get(document, "stuck-elements");
	const json_t *mesh = json_object_get(document, "mesh");

	input->kind = matchings_word(matchings_kinds, text_of_key(document, "kind"));
	input->width = number_of(mesh, "width", 0);
	input->height = number_of(mesh, "height", 0);
	input->endpoints = (uint32_t)json_array_size(endpoints);
	checking->tx = numbers_of(endpoints, input->kind == MORPH_CHECK_PAIRS ? "port" : "tx-port");
	checking->rx = numbers_of(endpoints, "rx-port");
	if (matchings_targets(document))
		checking->targets = numbers_of(endpoints, "dst-endpoint");
	checking->failed = numbers_of(failed, NULL);
	checking->stuck = numbers_of(stuck, "element");
	checking->stuck_states = numbers_of(stuck, "element-state");
	input->tx = checking->tx;
	input->rx = checking->rx;
	input->targets = checking->targets;
	input->failed = checking->failed;
	input->failed_count = json_array_size(failed);
	input->stuck = checking->stuck;
	input->stuck_states = checking->stuck_states;
	input->stuck_count = json_array_size(stuck);
	input->ports_chosen = flag_of(document, "ports-chosen");
	input->hops = number_of(document, "hops-limit", 0);
}

static void take_bound(struct checking *checking)
{
	struct morph_check_matchings_input *input = &checking->input;
	const json_t *document = checking->document;
	const json_t *lengths = json_object_get(document, "bound-lengths");
	const json_t *cut = json_object_get(document, "bound-elements");
	bool refusal = key_is(document, "verdict", "infeasible");

	checking->lengths = numbers_of(lengths, NULL);
	input->lengths = checking->lengths;
	input->lengths_count = json_array_size(lengths);
	checking->cut = numbers_of(cut, NULL);
	input->cut = checking->cut;
	input->cut_count = json_array_size(cut);
	input->bound = number_of(document, "rounds-bound-count", 0);
	input->bound_kind = matchings_word(matchings_bounds, text_of_key(document, "bound-kind"));
	input->distance = wide_of(document, "hops-bound-count");
	input->total = wide_of(document, "hops-count");
	input->longest = number_of(document, "longest-hops-count", 0);
	input->src = number_of(document, "src-endpoint", 0);
	input->dst = number_of(document, "dst-endpoint", 0);
	if (refusal && !json_object_get(document, "src-endpoint"))
		input->limit = number_of(document, "rounds-limit", 0);
}

/* Circuits and elements of all rounds. Both are counted first, and then written. */
static void take_circuits(struct checking *checking, const json_t *circuits, uint32_t *circuit,
			  uint32_t *element)
{
	const json_t *it;
	size_t i, hop;

	json_array_foreach((json_t *)circuits, i, it)
	{
		const json_t *elements = json_object_get(it, "elements");
		uint32_t count = (uint32_t)json_array_size(elements);

		if (checking->circuits)
			checking->circuits[*circuit] = (struct morph_check_matchings_circuit){
				.src = number_of(it, "src-endpoint", 0),
				.dst = number_of(it, "dst-endpoint", 0),
				.first = *element,
				.count = count,
			};
		for (hop = 0; hop < count && checking->elements; hop++)
			checking->elements[*element + hop] =
				(uint32_t)json_integer_value(json_array_get(elements, hop));
		(*circuit)++;
		*element += count;
	}
}

static void take_states(struct checking *checking, const json_t *states, size_t round)
{
	size_t count = json_array_size(states), i;
	const json_t *state;

	json_array_foreach((json_t *)states, i, state) checking->states[round * count + i] =
		json_is_null(state) ? MORPH_MATCHINGS_ANY : (uint16_t)json_integer_value(state);
}

static void take_rounds(struct checking *checking)
{
	const json_t *rounds = json_object_get(checking->document, "rounds"), *round;
	uint32_t elements = number_of(checking->document, "elements-count", 0);
	uint32_t circuit = 0, element = 0;
	size_t count = json_array_size(rounds), i;

	json_array_foreach((json_t *)rounds, i, round)
		take_circuits(checking, json_object_get(round, "circuits"), &circuit, &element);
	checking->round_first = needed(calloc(count + 1, sizeof(*checking->round_first)));
	checking->circuits = needed(calloc(circuit + 1UL, sizeof(*checking->circuits)));
	checking->elements = needed(calloc(element + 1UL, sizeof(*checking->elements)));
	checking->states = needed(calloc(count * elements + 1, sizeof(*checking->states)));
	circuit = 0;
	element = 0;
	json_array_foreach((json_t *)rounds, i, round)
	{
		checking->round_first[i] = circuit;
		take_circuits(checking, json_object_get(round, "circuits"), &circuit, &element);
		take_states(checking, json_object_get(round, "element-states"), i);
	}
	checking->round_first[count] = circuit;
	checking->input.rounds = (uint32_t)count;
	checking->input.round_first = checking->round_first;
	checking->input.circuits = checking->circuits;
	checking->input.elements = checking->elements;
	checking->input.states = checking->states;
}

/* --------------------------------------------------------------------------- the answer */

static void write_correct(const struct checking *checking)
{
	const struct morph_check_matchings_input *input = &checking->input;

	if (input->rounds && input->targets)
		say("correct: %u circuit%s lead%s to the targets in %u round%s; %u %s necessary\n",
		    input->round_first[input->rounds], PLURAL(input->round_first[input->rounds]),
		    input->round_first[input->rounds] == 1 ? "s" : "", input->rounds,
		    PLURAL(input->rounds), input->bound, input->bound == 1 ? "is" : "are");
	else if (input->rounds)
		say("correct: each pair of %u endpoints meets in one of %u round%s; %u %s necessary\n",
		    input->endpoints, input->rounds, PLURAL(input->rounds), input->bound,
		    input->bound == 1 ? "is" : "are");
	else if (input->limit)
		say("correct: %u round%s %s too few; %u are necessary\n", input->limit,
		    PLURAL(input->limit), input->limit == 1 ? "is" : "are", input->bound);
	else if (input->ports_chosen)
		say("correct: no ports of the mesh have routes for all pairs of %u endpoints\n",
		    input->endpoints);
	else if (input->kind == MORPH_CHECK_DUPLEX)
		say("correct: no round joins endpoints %u and %u both ways\n", input->src,
		    input->dst);
	else
		say("correct: endpoint %u has no route to endpoint %u\n", input->src, input->dst);
}

static enum exit_code answer(const struct checking *checking, bool correct)
{
	json_t *record = json_pack("{s:b}", "correct", correct);

	if (!correct)
		json_object_set_new(record, "text", json_string(checking->report));
	if (given(checking->run, OPTION_JSON))
		emit_document(record);
	else if (correct)
		write_correct(checking);
	else
		say("wrong: %s\n", checking->report);
	json_decref(record);
	return correct ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

static enum exit_code check(struct checking *checking)
{
	int error;

	progress_begin("checking the rounds");
	error = morph_check_matchings(&checking->input, checking->report, sizeof(checking->report));
	progress_end();
	if (!error || error == -EBADMSG)
		return answer(checking, !error);
	warn_line("%s: %s", checking->run->argv[0], checking->report);
	return error == -EINVAL ? EXIT_CODE_USAGE : exit_of_errno(-error);
}

enum exit_code matchings_check(struct run *run)
{
	struct checking checking = { .run = run };
	enum exit_code code = matchings_read(run->argv[0], &checking.document);

	if (!code && key_is(checking.document, "verdict", "undecided")) {
		warn_line("%s: nothing to check: the answer is undecided", run->argv[0]);
		code = EXIT_CODE_USAGE;
	}
	if (!code)
		code = read_profile(&checking);
	if (!code) {
		take_problem(&checking);
		take_bound(&checking);
		take_rounds(&checking);
		code = check(&checking);
	}
	checking_free(&checking);
	return code;
}
