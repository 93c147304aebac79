// SPDX-License-Identifier: MIT
/*
 * The phases of a job. A rank enters a phase, whose circuits are then lit, and announces the next
 * one before it leaves. So circuits change while no rank waits.
 *
 *	phases SLICE load ROUNDS        one process of the job, which loads the phases
 *	phases SLICE SCHEDULE ROUNDS    every other process
 *
 * cc phases.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ll
#define PHASES 2u

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* A step for each phase: a circuit in one direction, and one in the other. */
static int add_steps(struct morph_steps *steps)
{
	int error = 0;

	for (uint32_t phase = 0; error >= 0 && phase < PHASES; phase++) {
		error = morph_steps_circuit(steps, phase, 1 - phase, NULL);
		if (error >= 0)
			error = morph_steps_add(steps, &phase, 1, NULL);
	}
	return error < 0 ? error : 0;
}

static int run(struct morph_slice_phases *phasing, uint32_t rounds)
{
	int error = 0;

	for (uint32_t round = 0; !error && round < rounds; round++) {
		uint32_t phase = round % PHASES;

		/* Other ranks have waited for another phase for some time: yield to them. */
		if (morph_slice_phases_asked(phasing))
			continue;
		/* With calls instead of a timeout, a rank states what it waits for. */
		error = morph_slice_phases_ask(phasing, MORPH_ASK_LIGHT);
		if (!error)
			error = morph_slice_phases_enter(phasing, phase, SECOND_NS);
		if (error)
			break;
		error = morph_slice_phases_ask(phasing, MORPH_ASK_NOTHING);
		if (error)
			break;
		error = morph_slice_phases_announce(phasing, (phase + 1) % PHASES);
		if (!error)
			error = morph_slice_phases_leave(phasing, phase);
		if (!error)
			error = morph_slice_phases_provision(phasing, SECOND_NS);
	}
	return error;
}

int main(int argc, char **argv)
{
	struct morph_slice_phases *phasing = NULL;
	struct morph_slice_phases_info info;
	struct morph_slice *slice = NULL;
	struct morph_steps *steps;
	struct morph_ctx *ctx;
	bool loads;
	int status = 1, error;

	if (argc != 4) {
		fprintf(stderr, "usage: phases SLICE load|SCHEDULE ROUNDS\n");
		return 2;
	}
	loads = !strcmp(argv[2], "load");
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	steps = morph_steps_new(ctx);
	if (!steps || morph_slice_open(ctx, argv[1], &slice) || add_steps(steps)) {
		fail(ctx, argv[1]);
		goto out;
	}
	error = loads ? morph_slice_phases_load(slice, steps, NULL, &phasing) :
			morph_slice_phases_join(slice, (uint32_t)atoi(argv[2]), NULL, &phasing);
	if (error) {
		fail(ctx, "phases");
		goto out;
	}
	morph_slice_phases_info(phasing, &info);
	printf("schedule %" PRIu32 "\n", info.schedule);
	if (run(phasing, (uint32_t)atoi(argv[3]))) {
		fail(ctx, "phase");
		goto out;
	}
	morph_slice_phases_info(phasing, &info);
	printf("entered %" PRIu64 " times, lit ahead %" PRIu64 " times\n", info.entered,
	       info.provisioned);
	status = loads && morph_slice_phases_unload(phasing, SECOND_NS) ? fail(ctx, "unload") : 0;
out:
	morph_slice_phases_free(phasing);
	morph_slice_close(slice);
	morph_steps_free(steps);
	morph_ctx_free(ctx);
	return status;
}
