// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps: the builder. */
#include "steps.h"

#include "../util/words.h"

MORPH_API struct morph_steps *morph_steps_new(struct morph_ctx *ctx)
{
	struct morph_steps *steps = calloc(1, sizeof(*steps));

	if (!steps) {
		lm_no_memory(ctx, "begin steps");
		return NULL;
	}
	steps->ctx = ctx;
	steps->generation = MORPH_GENERATION_ANY;
	return steps;
}

MORPH_API void morph_steps_free(struct morph_steps *steps)
{
	if (!steps)
		return;
	free(steps->circuits.list);
	free(steps->steps.list);
	free(steps->guides.list);
	free(steps->held.list);
	free(steps->seen.list);
	free(steps);
}

MORPH_API void morph_steps_clear(struct morph_steps *steps)
{
	steps->circuits.count = 0;
	steps->steps.count = 0;
	steps->guides.count = 0;
	steps->held.count = 0;
	steps->seen.count = 0;
	steps->flags = 0;
	steps->profile_checksum = 0;
	steps->generation = MORPH_GENERATION_ANY;
}

static int check_circuit(struct morph_steps *steps, uint32_t src_rank, uint32_t dst_rank,
			 const struct morph_circuit_opts *opts)
{
	if (src_rank == dst_rank)
		return lm_fail(steps->ctx, EINVAL, "a circuit from rank %u to itself", src_rank);
	if ((src_rank | dst_rank) & MORPH_RANK_EDGE)
		return lm_fail(steps->ctx, EINVAL, "steps connect ranks only, not edges");
	if (steps->circuits.count >= MORPH_SCHEDULE_MOST_CIRCUITS)
		return lm_fail(steps->ctx, E2BIG, "steps have at most %u circuits",
			       MORPH_SCHEDULE_MOST_CIRCUITS);
	if (opts->guides_count > MORPH_SCHEDULE_MOST_GUIDES - steps->guides.count)
		return lm_fail(steps->ctx, E2BIG, "paths of steps have at most %u guides",
			       MORPH_SCHEDULE_MOST_GUIDES);
	return lm_circuit_opts_check(steps->ctx, opts);
}

MORPH_API int morph_steps_circuit(struct morph_steps *steps, uint32_t src_rank, uint32_t dst_rank,
				  const struct morph_circuit_opts *opts)
{
	static const char what[] = "add a circuit to steps";
	struct morph_schedule_circuit *circuit;
	struct morph_circuit_opts mine;
	int ret;

	ret = lm_opts_check(steps->ctx, opts, sizeof(mine), "morph_circuit_opts");
	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	ret = check_circuit(steps, src_rank, dst_rank, &mine);
	if (!ret)
		ret = ARRAY_GROW(steps->ctx, steps->guides, (uint32_t)mine.guides_count, what);
	if (!ret)
		ret = ARRAY_GROW(steps->ctx, steps->circuits, 1, what);
	if (!ret)
		ret = ARRAY_GROW(steps->ctx, steps->seen, 1, what);
	if (ret)
		return ret;
	circuit = &steps->circuits.list[steps->circuits.count];
	*circuit = (struct morph_schedule_circuit){
		.src_rank = src_rank,
		.dst_rank = dst_rank,
		.src_plane = MORPH_PLANE_ANY,
		.dst_plane = MORPH_PLANE_ANY,
		.lanes_count = mine.lanes_count,
		.lanes = mine.lanes,
		.first_guide = mine.guides_count ? steps->guides.count : 0,
		.guides_count = (uint32_t)mine.guides_count,
	};
	if (mine.flags & MORPH_CIRCUIT_SRC_PLANE)
		circuit->src_plane = (uint16_t)mine.src_plane;
	if (mine.flags & MORPH_CIRCUIT_DST_PLANE)
		circuit->dst_plane = (uint16_t)mine.dst_plane;
	for (size_t at = 0; at < mine.guides_count; at++)
		steps->guides.list[steps->guides.count++] = mine.guides[at];
	steps->seen.list[steps->seen.count++] = 0;
	return (int)steps->circuits.count++;
}

static int check_step(struct morph_steps *steps, const uint32_t *circuits, size_t count,
		      const struct morph_step_opts *opts)
{
	uint32_t mark = steps->steps.count + 1;

	if (steps->steps.count >= MORPH_SCHEDULE_MOST_STEPS ||
	    count > MORPH_SCHEDULE_MOST_HELD - steps->held.count)
		return lm_fail(steps->ctx, E2BIG, "at most %u steps with %u circuits in total",
			       MORPH_SCHEDULE_MOST_STEPS, MORPH_SCHEDULE_MOST_HELD);
	if (opts->begin > MORPH_STEP_TIME)
		return lm_fail(steps->ctx, EINVAL, "morph_step_opts.begin is %u: unknown",
			       opts->begin);
	if (opts->after_ns && opts->begin != MORPH_STEP_TIME)
		return lm_fail(steps->ctx, EINVAL,
			       "morph_step_opts.after_ns is only valid with MORPH_STEP_TIME");
	for (size_t at = 0; at < count; at++) {
		if (circuits[at] >= steps->circuits.count)
			return lm_fail(steps->ctx, EINVAL, "no circuit %u: there are %u",
				       circuits[at], steps->circuits.count);
		if (steps->seen.list[circuits[at]] == mark)
			return lm_fail(steps->ctx, EINVAL, "step %u lists circuit %u twice",
				       mark - 1, circuits[at]);
		steps->seen.list[circuits[at]] = mark;
	}
	return 0;
}

/* Reset the marks of a refused step. */
static void forget_seen(struct morph_steps *steps, const uint32_t *circuits, size_t count)
{
	for (size_t at = 0; at < count; at++)
		if (circuits[at] < steps->circuits.count)
			steps->seen.list[circuits[at]] = 0;
}

MORPH_API int morph_steps_add(struct morph_steps *steps, const uint32_t *circuits, size_t count,
			      const struct morph_step_opts *opts)
{
	struct morph_step_opts mine;
	int ret;

	ret = lm_opts_check(steps->ctx, opts, sizeof(mine), "morph_step_opts");
	if (ret)
		return ret;
	lm_opts_copy(&mine, opts, sizeof(mine));
	ret = check_step(steps, circuits, count, &mine);
	if (!ret)
		ret = ARRAY_GROW(steps->ctx, steps->held, (uint32_t)count, "add a step");
	if (!ret)
		ret = ARRAY_GROW(steps->ctx, steps->steps, 1, "add a step");
	if (ret) {
		forget_seen(steps, circuits, count);
		return ret;
	}
	steps->steps.list[steps->steps.count] = (struct morph_schedule_step){
		.first = steps->held.count,
		.count = (uint32_t)count,
		.advance = mine.begin,
		.after_ns = mine.after_ns,
		.deadline_ns = mine.deadline_ns,
	};
	for (size_t at = 0; at < count; at++)
		steps->held.list[steps->held.count++] = circuits[at];
	return (int)steps->steps.count++;
}

void morph_steps_set_loop(struct morph_steps *steps, bool loop)
{
	steps->flags = loop ? MORPH_SCHEDULE_LOOP : 0;
}

MORPH_API void morph_steps_set_generation(struct morph_steps *steps, uint64_t generation)
{
	steps->generation = generation;
}

void morph_steps_set_profile(struct morph_steps *steps, uint32_t checksum)
{
	steps->profile_checksum = checksum;
}

MORPH_API int morph_steps_set_opts(struct morph_steps *steps, const struct morph_steps_opts *opts)
{
	struct morph_steps_opts mine;
	int error = lm_opts_check(steps->ctx, opts, sizeof(mine), "morph_steps_opts");

	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	morph_steps_set_loop(steps, mine.loop);
	morph_steps_set_profile(steps, mine.profile_checksum);
	return 0;
}

uint32_t morph_steps_count(const struct morph_steps *steps, uint32_t *circuits)
{
	if (circuits)
		*circuits = steps->circuits.count;
	return steps->steps.count;
}

static void write_circuit(struct words *words, const struct morph_schedule_circuit *circuit)
{
	words_put(words, circuit->src_rank);
	words_put(words, circuit->dst_rank);
	words_put(words, circuit->src_plane);
	words_put(words, circuit->dst_plane);
	words_put(words, circuit->lanes_count);
	words_put_long(words, circuit->lanes);
	words_put(words, circuit->first_guide);
	words_put(words, circuit->guides_count);
}

static void write_step(struct words *words, const struct morph_schedule_step *step)
{
	words_put(words, step->first);
	words_put(words, step->count);
	words_put(words, step->advance);
	words_put_long(words, step->after_ns);
	words_put_long(words, step->deadline_ns);
}

ssize_t morph_steps_write(const struct morph_steps *steps, void *buffer, size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_STEPS, steps->profile_checksum);

	words_put(&words, steps->flags & MORPH_SCHEDULE_LOOP);
	words_put_long(&words, steps->generation);
	words_put(&words, steps->circuits.count);
	words_put(&words, steps->steps.count);
	words_put(&words, steps->guides.count);
	words_put(&words, steps->held.count);
	for (uint32_t at = 0; at < steps->circuits.count; at++)
		write_circuit(&words, &steps->circuits.list[at]);
	for (uint32_t at = 0; at < steps->steps.count; at++)
		write_step(&words, &steps->steps.list[at]);
	for (uint32_t at = 0; at < steps->guides.count; at++)
		words_put(&words, steps->guides.list[at]);
	for (uint32_t at = 0; at < steps->held.count; at++)
		words_put(&words, steps->held.list[at]);
	return words_end(&words);
}

MORPH_API uint64_t morph_steps_seal(struct morph_steps *steps)
{
	steps->ctx = NULL;
	return sizeof(*steps) + ARRAY_TRIM(steps->circuits) + ARRAY_TRIM(steps->steps) +
	       ARRAY_TRIM(steps->guides) + ARRAY_TRIM(steps->held) + ARRAY_TRIM(steps->seen);
}
