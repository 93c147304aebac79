// SPDX-License-Identifier: MIT
/*
 * From a collective to the steps that the driver loads: choose a schedule, find paths on the fabric
 * for its circuits, and try other schedules if there are none. Needs no kernel.
 *
 *	light PROFILE BYTES
 *
 * cc light.c $(pkg-config --cflags --libs libmorph-plan)
 */
#include <inttypes.h>
#include <morph/plan.h>
#include <stdio.h>
#include <stdlib.h>

#define RANKS 4u

struct planning {
	struct morph_ctx *ctx;
	struct morph_ledger *ledger;
	struct morph_delay *delay;
	struct morph_schedule *schedule;
	struct morph_collective *collective;
	struct morph_steps *steps;
	struct morph_collective_opts wanted;
	struct morph_schedule_opts opts;
};

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Find paths for the present schedule. */
static int light(struct planning *p, struct morph_light *found)
{
	static const uint32_t accelerators[RANKS] = { 0, 1, 2, 3 };
	MORPH_OPTS(morph_light_opts, how, .begin = MORPH_STEP_BARRIER, .loop = true);

	return morph_schedule_light(p->schedule, p->ledger, accelerators, RANKS, &how, p->steps,
				    found);
}

/* Try the next best schedules, until one has paths, or none can have any. */
static int choose(struct planning *p)
{
	struct morph_choice choices[MORPH_ALGORITHMS], list[2 * MORPH_CANDIDATES];
	struct morph_light found = { 0 };
	uint32_t count, at = 0;
	int error = morph_schedule_choose(p->schedule, p->collective, &p->wanted, p->delay,
					  &p->opts, choices);

	if (!error)
		error = light(p, &found);
	if (error || found.verdict == MORPH_FEASIBLE)
		return error;
	error = morph_schedule_candidates(p->schedule, p->collective, &p->wanted, p->delay,
					  &p->opts, choices, 0, list, &count);
	while (!error && found.verdict != MORPH_FEASIBLE && at < count && !found.final) {
		error = morph_schedule_take(p->schedule, p->collective, &p->wanted, p->delay,
					    &p->opts, &list[at++]);
		if (!error)
			error = light(p, &found);
	}
	return error;
}

static void print_steps(struct planning *p)
{
	MORPH_OPTS(morph_steps_info, info);

	/* The driver refuses steps that were planned for another state of the slice. */
	morph_steps_set_generation(p->steps, 1);
	if (morph_steps_info(p->steps, &info))
		return;
	printf("%" PRIu32 " steps, %" PRIu32 " circuits, %s\n", info.steps, info.circuits,
	       info.loop ? "a loop" : "once");
	printf("for generation %" PRIu64 " of a slice, profile %08" PRIx32 "\n", info.generation,
	       info.profile_checksum);
	/* Sealed steps can only be read and freed, by several threads. */
	printf("the steps take %s\n", morph_steps_seal(p->steps) ? "memory" : "none");
	printf("the ledger takes %s\n",
	       morph_ledger_write(p->ledger, NULL, 0) > 0 ? "memory" : "none");
}

static int plan(struct planning *p, struct morph_model *model, uint64_t bytes)
{
	MORPH_OPTS(morph_delay_opts, link, .mbps = 100000, .round_ns = 500, .hop_ns = 5,
		   .settle_ns = 3700);

	p->wanted = (struct morph_collective_opts){
		.sz = sizeof(p->wanted), .kind = MORPH_ALL_TO_ALL, .ranks = RANKS, .bytes = bytes
	};
	p->opts = (struct morph_schedule_opts){ .sz = sizeof(p->opts), .planes = 2 };
	p->delay = morph_delay_new(p->ctx);
	p->schedule = morph_schedule_new(p->ctx);
	p->collective = morph_collective_new(p->ctx);
	p->steps = morph_steps_new(p->ctx);
	if (!p->delay || !p->schedule || !p->collective || !p->steps ||
	    morph_delay_set(p->delay, &link) || morph_ledger_new(p->ctx, model, &p->ledger) ||
	    choose(p))
		return 1;
	print_steps(p);
	return 0;
}

int main(int argc, char **argv)
{
	struct planning p = { 0 };
	struct morph_model *model = NULL;
	int status = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: light PROFILE BYTES\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &p.ctx))
		return 1;
	if (morph_model_load(p.ctx, argv[1], &model) ||
	    plan(&p, model, strtoull(argv[2], NULL, 10)))
		status = fail(p.ctx, "light");
	morph_steps_free(p.steps);
	morph_collective_free(p.collective);
	morph_schedule_free(p.schedule);
	morph_delay_free(p.delay);
	morph_ledger_free(p.ledger);
	morph_model_put(model);
	morph_ctx_free(p.ctx);
	return status;
}
