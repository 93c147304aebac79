// SPDX-License-Identifier: LGPL-2.1-or-later
/* Access to the content of steps. */
#include "internal.h"
#include "steps.h"

MORPH_API int morph_steps_get_circuit(const struct morph_steps *steps, uint32_t number,
				      uint32_t *src_rank, uint32_t *dst_rank,
				      struct morph_circuit_opts *opts)
{
	const struct morph_schedule_circuit *circuit;
	struct morph_circuit_opts mine;

	if (number >= steps->circuits.count)
		return -ENOENT;
	circuit = &steps->circuits.list[number];
	*src_rank = circuit->src_rank;
	*dst_rank = circuit->dst_rank;
	if (!opts)
		return 0;
	mine = (struct morph_circuit_opts){ .lanes_count = circuit->lanes_count,
					    .lanes = circuit->lanes,
					    .guides_count = circuit->guides_count };
	if (circuit->guides_count)
		mine.guides = &steps->guides.list[circuit->first_guide];
	if (circuit->src_plane != MORPH_PLANE_ANY) {
		mine.flags |= MORPH_CIRCUIT_SRC_PLANE;
		mine.src_plane = circuit->src_plane;
	}
	if (circuit->dst_plane != MORPH_PLANE_ANY) {
		mine.flags |= MORPH_CIRCUIT_DST_PLANE;
		mine.dst_plane = circuit->dst_plane;
	}
	lm_answer_copy(opts, &mine, sizeof(mine));
	return 0;
}

MORPH_API int morph_steps_get(const struct morph_steps *steps, uint32_t number,
			      const uint32_t **circuits, size_t *count,
			      struct morph_step_opts *opts)
{
	const struct morph_schedule_step *step;
	struct morph_step_opts mine;

	if (number >= steps->steps.count)
		return -ENOENT;
	step = &steps->steps.list[number];
	*circuits = step->count ? &steps->held.list[step->first] : NULL;
	*count = step->count;
	mine = (struct morph_step_opts){ .begin = step->advance,
					 .after_ns = step->after_ns,
					 .deadline_ns = step->deadline_ns };
	if (opts)
		lm_answer_copy(opts, &mine, sizeof(mine));
	return 0;
}

bool morph_steps_loop(const struct morph_steps *steps, uint64_t *generation, uint32_t *checksum)
{
	if (generation)
		*generation = steps->generation;
	if (checksum)
		*checksum = steps->profile_checksum;
	return steps->flags & MORPH_SCHEDULE_LOOP;
}

MORPH_API int morph_steps_info(const struct morph_steps *steps, struct morph_steps_info *out)
{
	struct morph_steps_info mine = { .sz = sizeof(mine) };
	int error = lm_opts_check(steps->ctx, out, sizeof(mine), "morph_steps_info");

	if (error)
		return error;
	mine.loop = morph_steps_loop(steps, &mine.generation, &mine.profile_checksum);
	mine.steps = morph_steps_count(steps, &mine.circuits);
	lm_answer_copy(out, &mine, sizeof(mine));
	return 0;
}
