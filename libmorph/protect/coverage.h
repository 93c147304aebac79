/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures that the files of coverage share: light, failed parts, and results. */
#ifndef LM_PLAN_COVERAGE_H
#define LM_PLAN_COVERAGE_H

#include "../model/hosts.h"

#define COVER_NONE UINT32_MAX

/* Between ranks; numbers of ranks run through all slices. */
struct cover_circuit {
	uint32_t src, dst;
	uint32_t lanes;
	uint32_t fibres; /* that it crosses, or crossed when it was last lit */
	bool held; /* its path is claimed */
	bool lit; /* and light passes it */
	struct optics_path path; /* its hops are in @hops */
	struct optics_hop hops[OPTICS_MAX_HOPS];
};

struct cover_rank {
	uint32_t slice;
	uint32_t accelerator;
	uint32_t home; /* its first accelerator */
	bool failed; /* its accelerator is down and not replaced */
};

struct cover_chip {
	uint32_t rank; /* COVER_NONE: none */
	uint16_t causes; /* number of causes why it is down */
	bool spare; /* can replace another one if it has no rank */
};

/* A part that fails as a whole. */
struct cover_thing {
	uint32_t part; /* enum morph_coverage_part */
	uint32_t index; /* accelerator, port, server, supply or bundle */
	bool down;
	double next; /* time of its next failure or repair */
};

struct cover_rate {
	double active, repair; /* mean; 0: never fails */
};

enum cover_outcome {
	COVER_REPLACED,
	COVER_NO_SPARE,
	COVER_NO_ROUTE,
	COVER_NO_MARGIN,
	COVER_GAVE_UP,
	COVER_OUTCOMES,
};

/* Counts and sums of a run. Shares of time are integrals. */
struct cover_tally {
	uint64_t outcomes[COVER_OUTCOMES];
	uint64_t failures, counted, rerouted, dark, moved;
	int64_t extra_fibres;
	double time, waiting, counted_waiting, bandwidth;
};

/* An array that failures change, with its initial content. */
struct cover_block {
	void *now;
	void *first; /* content with all parts healthy */
	size_t bytes;
};

enum {
	COVER_STATE,
	COVER_RANKS,
	COVER_CIRCUITS,
	COVER_CHIPS,
	COVER_BLOCKS,
};

struct morph_coverage {
	struct morph_ctx *ctx;
	struct morph_model *model;
	const struct optics_graph *graph;
	struct hosts hosts;

	struct optics_state *state;
	struct cover_rank *ranks;
	struct cover_circuit *circuits;
	struct cover_chip *chips;
	struct cover_block blocks[COVER_BLOCKS]; /* the four arrays above */
	uint32_t *slices; /* first rank of each, and one past the last */
	uint32_t slices_count, ranks_count, circuits_count, circuits_room;
	struct cover_rate rates[MORPH_COVERAGE_PARTS];
	uint32_t *supplies; /* first of its servers, and one past the last */
	uint32_t *supplied; /* servers */
	uint32_t supplies_count;

	/* Rebuilt by the first run after an addition. */
	bool ready;
	uint32_t *first_circuit; /* by rank, and one past the last */
	uint32_t *of_rank; /* circuits, by rank */
	uint32_t spares_count, ends_count; /* spares kept; most circuits of one rank */
	uint64_t wanted; /* lanes of all circuits */
	struct optics_path *paths;
	struct cover_rank *kept_ranks; /* during reversion, which can fail */
	struct cover_circuit *kept_circuits;
	uint32_t *hit_ranks, *hit_circuits; /* by an event */
	uint32_t *distances, *queue; /* by node */
	struct cover_thing *things;
	uint32_t things_count;
	uint32_t *heap; /* things, the next one to change first */
	uint16_t *host_causes;

	void *work; /* of the router */
	uint32_t steps, work_steps;

	/* The present state. */
	bool revertive;
	uint32_t down; /* accelerators of slices, and spares */
	uint64_t lit; /* lanes */
	int32_t least_margin;
	struct cover_tally tally;
};

/* coverage_state.c: light */

/* Count the fibres that a circuit crosses, and note the number in it. */
uint32_t lm_cover_count_fibres(const struct morph_coverage *coverage,
			       struct cover_circuit *circuit);
/* Whether both ranks of a circuit have healthy accelerators. */
bool lm_cover_has_ends(const struct morph_coverage *coverage, const struct cover_circuit *circuit);
/* Whether an accelerator can replace another one now. */
bool lm_cover_is_idle(const struct morph_coverage *coverage, uint32_t accelerator);
/* Update whether light passes the claimed path of a circuit. */
void lm_cover_look(struct morph_coverage *coverage, struct cover_circuit *circuit);
/* Claim the path of a circuit; give it back; copy the path of another circuit. */
int lm_cover_claim(struct morph_coverage *coverage, struct cover_circuit *circuit,
		   struct optics_refusal *refusal);
void lm_cover_let_go(struct morph_coverage *coverage, struct cover_circuit *circuit);
void lm_cover_set_way(struct cover_circuit *circuit, const struct cover_circuit *like);
/* Claim again what @kept held. Its resources were released and not taken since. */
void lm_cover_reclaim(struct morph_coverage *coverage, struct cover_circuit *circuit,
		      const struct cover_circuit *kept);
/* Route and claim a circuit without resources, through @planes of both ends. */
int lm_cover_route(struct morph_coverage *coverage, struct cover_circuit *circuit, uint64_t planes,
		   struct optics_refusal *refusal);
int lm_cover_judge(struct morph_coverage *coverage, const struct optics_path *paths, uint32_t count,
		   uint32_t slice, struct optics_refusal *refusal);
/* Route, claim and validate. After an error nothing is claimed. 0 or an error of optics. */
int lm_cover_light(struct morph_coverage *coverage, struct cover_circuit *circuit, uint64_t planes,
		   struct optics_refusal *refusal);
/* Reroute a circuit with healthy ends, or leave it unchanged. */
bool lm_cover_reroute(struct morph_coverage *coverage, struct cover_circuit *circuit);
/* Give a rank another accelerator. */
void lm_cover_set_accelerator(struct morph_coverage *coverage, uint32_t rank, uint32_t accelerator);
/* Replace the accelerator of a rank by a spare, or leave everything unchanged. */
enum cover_outcome lm_cover_replace(struct morph_coverage *coverage, uint32_t rank);

/* coverage_state.c: reversion */

/*
 * Return ranks with healthy first accelerators, and all circuits, to their first places if
 * possible.
 */
void lm_cover_revert(struct morph_coverage *coverage);

/* coverage_state.c: failures */

/* Apply a failure or repair and its consequences. */
void lm_cover_change(struct morph_coverage *coverage, struct cover_thing *thing, bool down);

#endif /* LM_PLAN_COVERAGE_H */
