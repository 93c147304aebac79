// SPDX-License-Identifier: MIT
/*
 * Load a schedule with two steps into a slice and step through it. Each step has its own circuits.
 *
 *	schedule SLICE ROUNDS
 *
 * cc schedule.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Ranks 0 and 1 exchange in the first step, 0 and 2 in the second one. */
static struct morph_steps *make_steps(struct morph_ctx *ctx)
{
	static const uint32_t pairs[][2] = { { 0, 1 }, { 1, 0 }, { 0, 2 }, { 2, 0 } };
	static const uint32_t steps_of[][2] = { { 0, 1 }, { 2, 3 } };
	MORPH_OPTS(morph_step_opts, begin, .begin = MORPH_STEP_CALL);
	MORPH_OPTS(morph_steps_opts, whole, .loop = true);
	struct morph_steps *steps = morph_steps_new(ctx);

	if (!steps)
		return NULL;
	/* A program can reuse the object for other steps. */
	morph_steps_clear(steps);
	for (size_t at = 0; at < 4; at++)
		if (morph_steps_circuit(steps, pairs[at][0], pairs[at][1], NULL) < 0)
			goto fail;
	for (size_t at = 0; at < 2; at++)
		if (morph_steps_add(steps, steps_of[at], 2, &begin) < 0)
			goto fail;
	if (morph_steps_set_opts(steps, &whole) < 0)
		goto fail;
	return steps;
fail:
	morph_steps_free(steps);
	return NULL;
}

/* Print the circuits of each step, as the driver will load them. */
static int print_steps(const struct morph_steps *steps)
{
	MORPH_OPTS(morph_steps_info, info);

	if (morph_steps_info(steps, &info))
		return 1;
	printf("%" PRIu32 " circuits\n", info.circuits);
	for (uint32_t step = 0; step < info.steps; step++) {
		const uint32_t *circuits;
		size_t count;

		if (morph_steps_get(steps, step, &circuits, &count, NULL))
			return 1;
		printf("step %" PRIu32 ":", step);
		for (size_t at = 0; at < count; at++) {
			MORPH_OPTS(morph_circuit_opts, how);
			uint32_t src, dst;

			if (morph_steps_get_circuit(steps, circuits[at], &src, &dst, &how))
				return 1;
			printf(" %" PRIu32 "-%" PRIu32, src, dst);
		}
		printf("\n");
	}
	return 0;
}

static int run(struct morph_slice *slice, uint32_t schedule, uint32_t rounds)
{
	MORPH_OPTS(morph_schedule_at, at);
	int error = morph_slice_schedule_start(slice, schedule, 0, &at);

	for (uint32_t round = 0; !error && round < rounds; round++) {
		/*
		 * After an interruption, repeat the call. It does nothing if that position is lit
		 * already.
		 */
		error = morph_slice_schedule_go(slice, schedule, MORPH_ANY, at.position + 1, &at);
		if (!error)
			error = morph_slice_schedule_wait(slice, schedule, at.position);
		if (!error)
			printf("position %" PRIu64 ": step %" PRIu32 "\n", at.position, at.step);
		/* If a barrier begins a step, each rank reports its arrival. */
		if (!error)
			error = morph_slice_schedule_arrive(slice, schedule, 0, at.position);
	}
	if (!error)
		error = morph_slice_schedule_go(slice, schedule, 0, at.position + 1, &at);
	return error;
}

static int print_all(struct morph_slice *slice, uint32_t schedule)
{
	struct morph_object *info;
	struct morph_list *list;
	int error = morph_slice_schedules(slice, &list);

	if (error)
		return error;
	printf("%zu schedules\n", morph_list_count(list));
	morph_list_free(list);
	error = morph_slice_schedule_info(slice, schedule, &info);
	if (error)
		return error;
	printf("schedule %" PRIu32 ": %zu steps\n", schedule, morph_object_values(info, "step"));
	morph_object_free(info);
	return 0;
}

int main(int argc, char **argv)
{
	struct morph_steps *steps;
	struct morph_slice *slice;
	struct morph_ctx *ctx;
	uint32_t schedule;
	int status = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: schedule SLICE ROUNDS\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	steps = make_steps(ctx);
	if (!steps || morph_slice_open(ctx, argv[1], &slice)) {
		fail(ctx, argv[1]);
		goto free_steps;
	}
	if (print_steps(steps) || morph_slice_schedule_load(slice, steps, &schedule)) {
		fail(ctx, "load");
		goto close_slice;
	}
	if (run(slice, schedule, (uint32_t)atoi(argv[2])) || print_all(slice, schedule) ||
	    morph_slice_schedule_stop(slice, schedule))
		fail(ctx, "run");
	else
		status = 0;
	if (morph_slice_schedule_unload(slice, schedule))
		status = fail(ctx, "unload");
close_slice:
	morph_slice_close(slice);
free_steps:
	morph_steps_free(steps);
	morph_ctx_free(ctx);
	return status;
}
