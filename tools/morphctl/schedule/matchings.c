// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An all-to-all by matchings that have paths. If no algorithm's rounds have paths, this chooses the
 * rounds by what the fabric can light at one time.
 */
#include <errno.h>
#include <stdlib.h>

#include "morphctl/client/client.h"
#include "morphctl/matchings/matchings.h"
#include "morphctl/schedule/schedule.h"

#define MOVES 20000 /* some seconds for a mesh of 72 elements */

/* Whether the user leaves the rounds to the planner, on one plane. */
static bool applies(const struct planning *planning)
{
	return planning->wanted.kind == MORPH_ALL_TO_ALL && !planning->wanted.algorithm &&
	       !planning->matrix && !planning->rounds_given &&
	       planning->policy == MORPH_POLICY_BEST && planning->planes == 1 &&
	       planning->wanted.ranks <= MORPH_MATCHINGS_MOST_ENDPOINTS;
}

/* Find rounds for the accelerators of the plan, without the failed elements. */
static int find_rounds(struct planning *planning, struct morph_model *model,
		       const uint32_t *accelerators, const uint32_t *failed, size_t failed_count)
{
	struct morph_ctx *ctx = planning->run->client->ctx;
	struct matchings *matchings = &planning->matchings;
	uint32_t *ports, rank, planes, ranks = planning->wanted.ranks;
	struct morph_object *info = NULL;
	MORPH_OPTS(morph_matchings_problem, problem, .kind = MORPH_MATCHINGS_DIRECTED,
		   .model = model, .endpoints = ranks, .failed = failed,
		   .failed_count = failed_count, .seed = 1, .moves = MOVES);
	int error = morph_model_info(ctx, model, &info);

	if (error)
		return error;
	planes = (uint32_t)morph_object_uint(info, "planes");
	morph_object_free(info);
	ports = needed(calloc(ranks, sizeof(*ports)));
	for (rank = 0; rank < ranks; rank++)
		ports[rank] = accelerators[rank] * planes;
	problem.tx = ports;
	problem.rx = ports;
	matchings->search = needed(morph_matchings_new(ctx));
	error = morph_matchings_find(matchings->search, &problem, &matchings->answer);
	free(ports);
	return error;
}

/* Find rounds on the fabric of the plan. A slice's fabric can have failed elements. */
static enum exit_code find_on_fabric(struct planning *planning)
{
	uint32_t *accelerators = NULL, *failed = NULL;
	struct morph_model *model = NULL;
	enum exit_code code = plan_ground(planning, &model, &accelerators);
	size_t count = 0;
	int error;

	if (code)
		return code;
	if (planning->target.slice)
		code = matchings_unusable(planning->run, planning->target.fabric, &failed, &count);
	error = code ? 0 : find_rounds(planning, model, accelerators, failed, count);
	morph_model_put(model);
	free(accelerators);
	free(failed);
	return error ? plan_error(planning->run, error) : code;
}

/* Add the rounds, in which each rank sends directly. */
static int add_rounds(struct planning *planning)
{
	const struct morph_matchings_answer *answer = &planning->matchings.answer;
	uint32_t round, at, ranks = planning->wanted.ranks;
	const struct morph_matchings_circuit *circuit;
	int error = 0;

	for (round = 0; round < answer->rounds && error >= 0; round++) {
		error = morph_collective_add_round(planning->collective);
		for (at = answer->round_first[round];
		     at < answer->round_first[round + 1] && error >= 0; at++) {
			circuit = &answer->circuits[at];
			error = morph_collective_add_transfer(planning->collective, circuit->src,
							      circuit->dst, false);
			if (error >= 0)
				error = morph_collective_add_run(
					planning->collective, circuit->src * ranks + circuit->dst,
					1);
		}
	}
	return error < 0 ? error : 0;
}

static int make_collective(struct planning *planning)
{
	uint32_t src, dst, ranks = planning->wanted.ranks;
	uint64_t share = (planning->wanted.bytes + ranks - 1) / ranks;
	int error = morph_collective_begin(planning->collective, ranks);

	for (src = 0; src < ranks && error >= 0; src++) {
		for (dst = 0; dst < ranks && error >= 0; dst++)
			error = morph_collective_add_chunk(planning->collective, src, dst, share);
	}
	return error < 0 ? error : add_rounds(planning);
}

/* Plan the rounds: each has the circuits of its matching. */
static int make_schedule(struct planning *planning)
{
	const struct morph_matchings_answer *answer = &planning->matchings.answer;
	uint32_t count = answer->round_first[answer->rounds], at;
	struct morph_joint *joints = needed(calloc(count, sizeof(*joints)));
	struct morph_pool pool = { .sz = sizeof(pool),
				   .count = answer->rounds,
				   .firsts = answer->round_first,
				   .joints = joints,
				   .in_turn = true };
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1, .pool = &pool);
	int error;

	for (at = 0; at < count; at++)
		joints[at] = (struct morph_joint){ answer->circuits[at].src,
						   answer->circuits[at].dst, 1 };
	error = morph_schedule_plan(planning->schedule, planning->collective, planning->delay,
				    &opts);
	free(joints);
	return error;
}

enum exit_code plan_matchings(struct planning *planning, struct morph_choice *choice)
{
	struct matchings *matchings = &planning->matchings;
	enum exit_code code;
	int error;

	if (!applies(planning))
		return EXIT_CODE_OK;
	code = find_on_fabric(planning);
	if (code || matchings->answer.verdict != MORPH_FEASIBLE)
		return code;
	error = make_collective(planning);
	if (!error)
		error = make_schedule(planning);
	if (error)
		return plan_error(planning->run, error);
	if (schedule_result(planning->schedule).verdict != MORPH_FEASIBLE)
		return EXIT_CODE_OK;
	*choice = (struct morph_choice){ .algorithm = MORPH_DIRECT,
					 .policy = MORPH_POLICY_SEGMENTS,
					 .planes = 1,
					 .rounds = matchings->answer.rounds,
					 .ns = schedule_result(planning->schedule).ns };
	return plan_light(planning);
}

void plan_matchings_write(const struct planning *planning)
{
	const struct morph_matchings_answer *answer = &planning->matchings.answer;

	if (planning->matchings.chosen)
		say("the rounds are matchings that the fabric can light: %u rounds (lower bound %u)\n\n",
		    answer->rounds, answer->bound);
}

void plan_matchings_add(const struct planning *planning, json_t *report)
{
	const struct morph_matchings_answer *answer = &planning->matchings.answer;

	if (planning->matchings.chosen)
		json_object_set_new(report, "rounds-bound-count", json_integer(answer->bound));
}

void plan_matchings_free(struct planning *planning)
{
	morph_matchings_free(planning->matchings.search);
}
