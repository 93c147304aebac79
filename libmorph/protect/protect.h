/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Protection, as its search, its written form and its keeping share it. */
#ifndef LM_PLAN_PROTECT_H
#define LM_PLAN_PROTECT_H

#include "../place/place.h"

/* A circuit of a rank, and the strands by which the spare would have it. */
struct spare_way {
	uint32_t circuit;
	uint32_t first, count; /* in strands */
};

struct spare_strand {
	struct strand strand;
	bool own; /* the rank's own circuits are lit there */
};

/* Why a spare does not do. */
struct spare_refusal {
	uint32_t spare;
	uint32_t reason; /* enum morph_wire_spare */
	/* Of seats: more would leave those where light departs, to arrive at none of the others, than can. */
	uint64_t departs, arrives;
};

struct protected_rank {
	uint32_t verdict, spare;
	bool crossing; /* circuits of it end in other racks */
	uint32_t ways_first, ways_count;
	uint32_t strands_first, strands_count;
	uint32_t refusals_first, refusals_count;
};

/* What a guide held before the failed accelerator's light went out, and the element behind it. */
struct spare_lifted {
	uint32_t guide, element; /* OPTICS_NONE: no element */
	uint64_t lanes;
	uint16_t held;
};

struct morph_protection {
	struct morph_ctx *ctx;
	struct morph_ledger *keeper; /* NULL: nobody keeps it */
	uint32_t verdict, ranks_count;
	uint32_t checksum; /* of the profile */
	struct protected_rank ranks[MOST_RANKS];
	ARRAY_OF(struct spare_way) ways;
	ARRAY_OF(struct spare_strand) strands;
	ARRAY_OF(struct spare_refusal) refusals;
	ARRAY_OF(struct spare_lifted) lifted; /* while a rank is looked at */
	const uint32_t *first; /* by rank: the spare that is tried before nearer ones; or NULL */
	char why[256];
};

/* One rank's accelerator has failed. */
struct failure {
	struct morph_ledger *ledger;
	const struct morph_plan *plan;
	struct morph_protection *protection;
	struct protected_rank *rank;
	uint32_t number; /* the rank's */
	uint32_t slice, rack;
	uint32_t spare; /* that is tried */
	/*
	 * Light that arrives in a server which it may not cross ends there; so that one is a site where
	 * light departs and another where it arrives. Those have the numbers after the seats.
	 */
	uint8_t arrives_at[NET_SITES]; /* by seat; NET_SITES: no site was left for it */
	uint32_t hosts[NET_SITES]; /* by site */
	bool blurred; /* there are more sites than can be looked at */
};

/* Where a circuit would begin and end with the spare. */
struct spare_ends {
	uint32_t src,
		dst; /* accelerators; of a circuit that ends in another rack one at whose tile it leaves this */
	uint32_t from, to; /* sites */
};

/* What a circuit keeps that ends in another rack: where it leaves this one, and all beyond. In plan.strands. */
struct spare_rest {
	uint32_t first, count; /* 0: the circuit ends in the rack */
};

struct spare_rest lm_protect_rest(const struct failure *failure, uint32_t way);

struct spare_ends lm_protect_ends(const struct failure *failure, uint32_t way);

/* The rack without the failed accelerator's light: rooms and distances, in ledger->search. */
void lm_protect_net(struct failure *failure);

/* A way for each circuit to the spare that is tried, in the order of ways, but for those within a server. */
enum stitch_verdict lm_protect_route(struct failure *failure);

/* Sets of seats that prove that there are no ways; false: none do. */
bool lm_protect_cut(const struct failure *failure, struct spare_refusal *refusal);

#endif /* LM_PLAN_PROTECT_H */
