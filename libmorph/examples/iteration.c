// SPDX-License-Identifier: MIT
/*
 * Learn the phases of an iteration from its trace: two groups of ranks, each with a ring of its own,
 * and the windows between them in which circuits can change. No kernel is needed.
 *
 *	iteration
 *
 * cc iteration.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>

#define RANKS 4u

/* Ranks 0 and 1, and ranks 0 to 3. */
static int add_groups(struct morph_phases *phases)
{
	static const uint32_t members[RANKS] = { 0, 1, 2, 3 };

	for (uint32_t group = 0; group < 2; group++) {
		int number = morph_phases_add_group(phases, members, group ? RANKS : 2);

		if (number < 0 || morph_phases_add_ring(phases, (uint32_t)number, 0, members))
			return 1;
	}
	return 0;
}

/* Ranks 0 and 1 take turns between both groups; the window of each is 5 us. */
static int learn(struct morph_phases *phases)
{
	struct morph_phase_trace trace[8];
	size_t count = 0;

	for (uint32_t rank = 0; rank < RANKS; rank++)
		for (uint32_t group = rank < 2 ? 0 : 1; group < 2; group++)
			trace[count++] = (struct morph_phase_trace){
				.rank = rank,
				.group = group,
				.begin_ns = 10000 * group,
				.end_ns = 10000 * group + 5000,
			};
	return morph_phases_learn(phases, trace, count);
}

static void print_stages(const struct morph_phases *phases)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		for (uint32_t number = 0; number < morph_phases_stages(phases, rank); number++) {
			struct morph_stage stage;

			if (morph_phases_stage(phases, rank, number, &stage))
				return;
			printf("rank %" PRIu32 ": %" PRIu64 " operations in group %" PRIu32 "%s\n",
			       rank, stage.count, stage.group,
			       stage.switches ? ", circuits change" : "");
		}
}

int main(void)
{
	MORPH_OPTS(morph_phases_opts, opts, .planes = 1, .mode = MORPH_PHASE_PROVISIONED);
	struct morph_phases *phases;
	struct morph_ctx *ctx;
	int status = 0;

	if (morph_ctx_new(NULL, &ctx))
		return 1;
	phases = morph_phases_new(ctx, RANKS, &opts);
	/* Two iterations that are alike are believed. */
	if (!phases || add_groups(phases) || learn(phases) || learn(phases)) {
		fprintf(stderr, "%s\n", morph_error_text(ctx));
		status = 1;
	} else {
		print_stages(phases);
	}
	morph_phases_free(phases);
	morph_ctx_free(ctx);
	return status;
}
