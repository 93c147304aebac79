// SPDX-License-Identifier: GPL-2.0-or-later
/* The circuits of a schedule: their paths on a fabric, and the next plan if they have none. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/schedule/schedule.h"

/* Check for a comma without a number before or after it. */
static bool has_gap(const char *list)
{
	size_t length = strlen(list);

	return !length || *list == ',' || list[length - 1] == ',' || strstr(list, ",,");
}

/* Take the accelerators of --at in their order, or all from the first one on. */
static enum exit_code ask_accelerators(struct run *run, uint32_t ranks, uint32_t *accelerators)
{
	char *copy, *place = NULL;
	enum exit_code code = EXIT_CODE_OK;
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < ranks; rank++)
		accelerators[rank] = rank;
	if (!given(run, OPTION_AT))
		return EXIT_CODE_OK;
	if (has_gap(run->option[OPTION_AT]))
		return usage_error(run, "--at must be a number on each side of a comma, not '%s'",
				   run->option[OPTION_AT]);
	copy = needed(strdup(run->option[OPTION_AT]));
	for (char *word = strtok_r(copy, ",", &place); word && !code && count <= ranks;
	     word = strtok_r(NULL, ",", &place), count++)
		if (count < ranks)
			code = resolve_number(run, "accelerator", word, &accelerators[count]);
	free(copy);
	if (!code && count != ranks)
		return usage_error(
			run, "--at must be the accelerators of %u rank%s, separated by commas",
			ranks, PLURAL(ranks));
	return code;
}

static enum exit_code light(struct planning *planning, struct morph_model *model)
{
	MORPH_OPTS(morph_light_opts, opts, .count_planes = true, .routes = plan_routes(planning));
	struct run *run = planning->run;
	uint32_t ranks = planning->wanted.ranks;
	uint32_t *accelerators = needed(calloc(ranks + 1UL, sizeof(*accelerators)));
	struct morph_ledger *ledger = NULL;
	enum exit_code code = ask_accelerators(run, ranks, accelerators);
	int error = 0;

	if (!code && (!option_u32(run, OPTION_LANES, &opts.lanes) ||
		      !option_word(run, OPTION_BEGIN, &opts.begin)))
		code = EXIT_CODE_USAGE;
	if (!code)
		code = profile_ledger(run, MORPH_ANY, 0, model, &ledger);
	if (!code)
		error = morph_schedule_light(planning->schedule, ledger, accelerators, ranks, &opts,
					     planning->steps, &planning->light);
	morph_ledger_free(ledger);
	free(accelerators);
	return error < 0 ? plan_error(run, error) : code;
}

enum exit_code plan_ground(struct planning *planning, struct morph_model **model,
			   uint32_t **accelerators)
{
	uint32_t ranks = planning->wanted.ranks, fabric = planning->target.fabric;
	enum exit_code code;

	code = planning->target.slice ? profile_of_fabric(planning->run, fabric, model) :
					profile_model(planning->run, &fabric, model);
	if (code)
		return code;
	*accelerators = needed(calloc(ranks + 1UL, sizeof(**accelerators)));
	if (planning->target.slice)
		memcpy(*accelerators, planning->target.accelerators,
		       ranks * sizeof(**accelerators));
	else
		code = ask_accelerators(planning->run, ranks, *accelerators);
	if (!code)
		return EXIT_CODE_OK;
	free(*accelerators);
	morph_model_put(*model);
	return code;
}

enum exit_code plan_light(struct planning *planning)
{
	struct run *run = planning->run;
	struct morph_model *model = NULL;
	uint32_t fabric;
	enum exit_code code;

	if (schedule_result(planning->schedule).verdict != MORPH_FEASIBLE)
		return EXIT_CODE_OK;
	if (planning->target.slice)
		return target_light(planning);
	if (!given(run, OPTION_PROFILE))
		return EXIT_CODE_OK;
	code = profile_model(run, &fabric, &model);
	if (!code)
		code = light(planning, model);
	morph_model_put(model);
	return code;
}

void plan_light_write(const struct morph_light *light)
{
	if (light->verdict == MORPH_FEASIBLE)
		say("all circuits have paths: %u step%s, %u circuit%s\n\n", light->steps,
		    PLURAL(light->steps), light->circuits, PLURAL(light->circuits));
	else if (light->verdict)
		say("%s: %s\n%s",
		    light->verdict == MORPH_INFEASIBLE ? "not all circuits have paths" :
							 "paths not found for all circuits",
		    light->why, light->planes ? "" : "\n");
	if (light->verdict && light->verdict != MORPH_FEASIBLE && light->planes == 1)
		say("only the first plane has paths\n\n");
	else if (light->verdict && light->verdict != MORPH_FEASIBLE && light->planes)
		say("the first %u planes have paths together\n\n", light->planes);
}

void plan_light_add(const struct morph_light *light, json_t *report)
{
	json_t *record;

	if (!light->verdict)
		return;
	record = json_pack("{s:s, s:i}", "verdict", verdict_word(light->verdict), "planes-count",
			   (int)light->planes);
	if (light->verdict == MORPH_FEASIBLE) {
		json_object_set_new(record, "steps-count", json_integer(light->steps));
		json_object_set_new(record, "circuits-count", json_integer(light->circuits));
	} else {
		json_object_set_new(record, "text", json_string(light->why));
		if (light->step != MORPH_ANY)
			json_object_set_new(record, "step", json_integer(light->step));
		json_object_set_new(record, "have", json_integer(light->have));
		json_object_set_new(record, "need", json_integer(light->need));
	}
	json_object_set_new(report, "light", record);
}

/*
 * morphctl schedule plan with --profile or --slice: if the circuits of the fastest plan have no
 * paths, try the next plans. Plans differ in algorithm, policy and number of planes, and are tried
 * in order of their end.
 */

/* Rounds of a file are fixed: there is no algorithm to choose. */
static const struct morph_collective_opts *wanted_of(const struct planning *planning)
{
	return planning->rounds_given ? NULL : &planning->wanted;
}

static int make(struct planning *planning, const struct morph_schedule_opts *opts,
		const struct morph_choice *candidate)
{
	planning->planes = candidate->planes;
	return morph_schedule_take(planning->schedule, planning->collective, wanted_of(planning),
				   planning->delay, opts, candidate);
}

static void note(struct planning *planning, const struct morph_choice *candidate)
{
	struct unlit *unlit = &planning->unlit[planning->unlit_count++];

	*unlit = (struct unlit){ candidate->algorithm, candidate->policy, candidate->planes,
				 candidate->ns, planning->light.verdict == MORPH_INFEASIBLE };
}

/* The payoff for a late rank belonged to the plan before. */
static void choose(struct planning *planning, const struct morph_choice *candidate)
{
	if (planning->rounds_given)
		return;
	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		planning->choices[at].chosen = false;
	planning->choices[candidate->algorithm] = *candidate;
	planning->choices[candidate->algorithm].chosen = true;
	if (candidate->algorithm != MORPH_STRAGGLAR)
		planning->payoff = (struct morph_payoff){ 0 };
}

/* The plan that was made first. */
static struct morph_choice present(const struct planning *planning)
{
	struct morph_choice choice = { .ns = schedule_result(planning->schedule).ns };

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++)
		if (planning->choices[at].chosen)
			choice = planning->choices[at];
	choice.policy = schedule_result(planning->schedule).policy;
	choice.planes = planning->planes;
	return choice;
}

static bool is_same(const struct morph_choice *one, const struct morph_choice *other)
{
	return one->algorithm == other->algorithm && one->policy == other->policy &&
	       one->planes == other->planes;
}

/*
 * Choose the first plan whose circuits have paths. If none has, keep the first plan and the reason
 * why its circuits have none.
 */
static enum exit_code ask_all(struct planning *planning, const struct morph_schedule_opts *opts,
			      const struct morph_choice *list, uint32_t count)
{
	const struct morph_light why = planning->light;
	struct morph_choice first = present(planning), by_matchings;
	enum exit_code code = EXIT_CODE_OK;
	int error;

	note(planning, &first);
	for (uint32_t at = 0; at < count && planning->unlit_count < MOST_UNLIT; at++) {
		if (is_same(&list[at], &first))
			continue;
		error = make(planning, opts, &list[at]);
		if (error)
			return plan_error(planning->run, error);
		code = plan_light(planning);
		if (code)
			return code;
		if (planning->light.verdict == MORPH_FEASIBLE) {
			choose(planning, &list[at]);
			return EXIT_CODE_OK;
		}
		note(planning, &list[at]);
	}
	planning->light = why;
	code = plan_matchings(planning, &by_matchings);
	if (code)
		return code;
	if (planning->light.verdict == MORPH_FEASIBLE) {
		planning->matchings.chosen = true;
		choose(planning, &by_matchings);
		return EXIT_CODE_OK;
	}
	planning->light = why;
	first.policy = opts->policy;
	error = make(planning, opts, &first);
	return error ? plan_error(planning->run, error) : EXIT_CODE_OK;
}

/* Find candidates. They are built in a collective of their own, so that the present rounds stay. */
static enum exit_code find(struct planning *planning, const struct morph_schedule_opts *opts,
			   struct morph_choice *list, uint32_t *count)
{
	struct morph_ctx *ctx = planning->run->client->ctx;
	struct morph_schedule *scratch = needed(morph_schedule_new(ctx));
	struct morph_collective *rounds =
		planning->rounds_given ? planning->collective : needed(morph_collective_new(ctx));
	uint32_t fewer = planning->light.planes < planning->planes ? planning->light.planes : 0;
	int error = morph_schedule_candidates(scratch, rounds, wanted_of(planning), planning->delay,
					      opts, planning->choices, fewer, list, count);

	if (!planning->rounds_given)
		morph_collective_free(rounds);
	morph_schedule_free(scratch);
	return error ? plan_error(planning->run, error) : EXIT_CODE_OK;
}

enum exit_code plan_other(struct planning *planning)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = planning->policy,
		   .planes = planning->planes, .budget = planning->budget);
	const struct run *run = planning->run;
	struct morph_choice *list;
	enum exit_code code;
	uint32_t count;

	if (!planning->light.verdict || planning->light.verdict == MORPH_FEASIBLE ||
	    planning->light.final || given(run, OPTION_COMBINE) || given(run, OPTION_LOST) ||
	    planning->topologies.count || (planning->payoff.rest_ns && !planning->wanted.late_ns))
		return EXIT_CODE_OK;
	list = needed(calloc(2UL * MORPH_CANDIDATES, sizeof(*list)));
	code = find(planning, &opts, list, &count);
	if (!code)
		code = ask_all(planning, &opts, list, count);
	free(list);
	return code;
}

void plan_other_write(const struct planning *planning)
{
	for (uint32_t at = 0; at < planning->unlit_count; at++) {
		const struct unlit *unlit = &planning->unlit[at];

		say("%s%s%s on %u plane%s, %s: %s\n",
		    unlit->algorithm ? morph_enum_name(MORPH_ENUM_ALGORITHM, unlit->algorithm) : "",
		    unlit->algorithm ? ", " : "", morph_enum_name(MORPH_ENUM_POLICY, unlit->policy),
		    unlit->planes, PLURAL(unlit->planes), amount_ns(unlit->ns).text,
		    unlit->proven ? "its circuits have no paths" :
				    "no paths found for its circuits");
	}
	if (planning->unlit_count)
		say("\n");
	plan_matchings_write(planning);
}

void plan_other_add(const struct planning *planning, json_t *report)
{
	json_t *list;

	plan_matchings_add(planning, report);
	if (!planning->unlit_count)
		return;
	list = json_array();
	for (uint32_t at = 0; at < planning->unlit_count; at++) {
		const struct unlit *unlit = &planning->unlit[at];
		json_t *record = json_pack("{s:s, s:i, s:I, s:b}", "policy",
					   morph_enum_name(MORPH_ENUM_POLICY, unlit->policy),
					   "planes-count", (int)unlit->planes, "finish-ns",
					   (json_int_t)unlit->ns, "proven", (int)unlit->proven);

		if (unlit->algorithm)
			json_object_set_new(record, "algorithm",
					    json_string(morph_enum_name(MORPH_ENUM_ALGORITHM,
									unlit->algorithm)));
		json_array_append_new(list, record);
	}
	json_object_set_new(report, "unlit", list);
}
