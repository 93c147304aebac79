/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of coverage share: what is lit, what is down, and what came of it. */
#ifndef LM_PLAN_COVERAGE_H
#define LM_PLAN_COVERAGE_H

#include "../model/hosts.h"

#define COVER_NONE UINT32_MAX

/* Between ranks, which are numbered through all slices. */
struct cover_circuit {
	uint32_t src, dst;
	uint32_t lanes;
	uint32_t fibres; /* that it crosses, or crossed when it was last lit */
	bool held; /* its way is claimed */
	bool lit; /* and light passes */
	struct optics_path path; /* its hops are the next */
	struct optics_hop hops[OPTICS_MAX_HOPS];
};

struct cover_rank {
	uint32_t slice;
	uint32_t accelerator;
	uint32_t home; /* the accelerator that it had first */
	bool failed; /* its accelerator is down, and was not replaced */
};

struct cover_chip {
	uint32_t rank; /* COVER_NONE: it has none */
	uint16_t causes; /* of it being down */
	bool spare; /* may take a rank over, if it has none */
};

/* Something that fails as one. */
struct cover_thing {
	uint32_t part; /* enum morph_coverage_part */
	uint32_t index; /* accelerator, port, server, supply or bundle */
	bool down;
	double next; /* when it fails or is repaired */
};

struct cover_rate {
	double active, repair; /* mean, 0: never fails */
};

enum cover_outcome {
	COVER_REPLACED,
	COVER_NO_SPARE,
	COVER_NO_ROUTE,
	COVER_NO_MARGIN,
	COVER_GAVE_UP,
	COVER_OUTCOMES,
};

/* What happened; shares of time are integrals still. */
struct cover_tally {
	uint64_t outcomes[COVER_OUTCOMES];
	uint64_t failures, counted, rerouted, dark, moved;
	int64_t extra_fibres;
	double time, waiting, counted_waiting, bandwidth;
};

/* What changes while things fail, each array in one block of its own. */
struct cover_block {
	void *now;
	void *first; /* as it is when all is sound */
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
	struct cover_block blocks[COVER_BLOCKS]; /* these four */
	uint32_t *slices; /* first rank of each, and one past the last */
	uint32_t slices_count, ranks_count, circuits_count, circuits_room;
	struct cover_rate rates[MORPH_COVERAGE_PARTS];
	uint32_t *supplies; /* first of its servers, and one past the last */
	uint32_t *supplied; /* servers */
	uint32_t supplies_count;

	/* Made anew by a run when something was added. */
	bool ready;
	uint32_t *first_circuit; /* by rank, and one past the last */
	uint32_t *of_rank; /* circuits, by rank */
	uint32_t spares_count, ends_count; /* spares kept; circuits that one rank has at most */
	uint64_t wanted; /* lanes of all circuits */
	struct optics_path *paths;
	struct cover_rank *kept_ranks; /* while all go back, if they can */
	struct cover_circuit *kept_circuits;
	uint32_t *hit_ranks, *hit_circuits; /* by an event */
	uint32_t *distances, *queue; /* by node */
	struct cover_thing *things;
	uint32_t things_count;
	uint32_t *heap; /* things, the next one first */
	uint16_t *host_causes;

	void *work; /* of the router */
	uint32_t steps, work_steps;

	/* The present. */
	bool revertive;
	uint32_t down; /* accelerators that are in slices, or spares */
	uint64_t lit; /* lanes */
	int32_t least_margin;
	struct cover_tally tally;
};

/* coverage_state.c: light */

/* Fibres that a circuit crosses; noted in it. */
uint32_t lm_cover_count_fibres(const struct morph_coverage *coverage,
			       struct cover_circuit *circuit);
/* Whether both ranks of a circuit have sound accelerators. */
bool lm_cover_has_ends(const struct morph_coverage *coverage, const struct cover_circuit *circuit);
/* Whether an accelerator may take a rank over now. */
bool lm_cover_is_idle(const struct morph_coverage *coverage, uint32_t accelerator);
/* See whether light passes the way that a circuit holds. */
void lm_cover_look(struct morph_coverage *coverage, struct cover_circuit *circuit);
/* Claim the way that is noted in a circuit; give back what it holds; note the way of another. */
int lm_cover_claim(struct morph_coverage *coverage, struct cover_circuit *circuit,
		   struct optics_refusal *refusal);
void lm_cover_let_go(struct morph_coverage *coverage, struct cover_circuit *circuit);
void lm_cover_set_way(struct cover_circuit *circuit, const struct cover_circuit *like);
/* Take back what @kept held, and what has been given back since and taken by none. */
void lm_cover_reclaim(struct morph_coverage *coverage, struct cover_circuit *circuit,
		      const struct cover_circuit *kept);
/* Route and claim a circuit that holds nothing, through @planes of both ends. */
int lm_cover_route(struct morph_coverage *coverage, struct cover_circuit *circuit, uint64_t planes,
		   struct optics_refusal *refusal);
int lm_cover_judge(struct morph_coverage *coverage, const struct optics_path *paths, uint32_t count,
		   uint32_t slice, struct optics_refusal *refusal);
/* Route, claim and judge; nothing is held on failure. 0 or what optics says. */
int lm_cover_light(struct morph_coverage *coverage, struct cover_circuit *circuit, uint64_t planes,
		   struct optics_refusal *refusal);
/* Another way for a circuit whose ends are sound, or it stays as it is. */
bool lm_cover_lead_round(struct morph_coverage *coverage, struct cover_circuit *circuit);
/* Give a rank another accelerator. */
void lm_cover_set_accelerator(struct morph_coverage *coverage, uint32_t rank, uint32_t accelerator);
/* Have a spare take over a rank whose accelerator failed, or all stays as it is. */
enum cover_outcome lm_cover_replace(struct morph_coverage *coverage, uint32_t rank);

/* coverage_state.c: reversion */

/* Have all ranks whose first accelerators are sound, and all circuits, go back where they can. */
void lm_cover_revert(struct morph_coverage *coverage);

/* coverage_state.c: failures */

/* Something goes down or comes up, with all that follows from it. */
void lm_cover_change(struct morph_coverage *coverage, struct cover_thing *thing, bool down);

#endif /* LM_PLAN_COVERAGE_H */
