/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures that the search, the description and the keeping of protections share. */
#ifndef LM_PLAN_PROTECT_H
#define LM_PLAN_PROTECT_H

#include "../place/place.h"

/* A circuit of a rank, and the hops by which it reaches the spare. */
struct spare_way {
	uint32_t circuit;
	uint32_t first, count; /* in the list of hops */
};

struct spare_strand {
	struct strand strand;
	bool own; /* the rank's own circuits use it */
};

/* The reason against a spare. */
struct spare_refusal {
	uint32_t spare;
	uint32_t reason; /* enum morph_wire_spare */
	/* Sets of servers: more circuits leave @departs to end outside @arrives than can pass. */
	uint64_t departs, arrives;
};

struct protected_rank {
	uint32_t verdict, spare;
	bool crossing; /* it has circuits to other racks */
	uint32_t ways_first, ways_count;
	uint32_t strands_first, strands_count;
	uint32_t refusals_first, refusals_count;
};

/* A guide and the element behind it, before the failed accelerator's light went out. */
struct spare_lifted {
	uint32_t guide, element; /* OPTICS_NONE: no element */
	uint64_t lanes;
	uint16_t held;
};

struct morph_protection {
	struct morph_ctx *ctx;
	struct morph_ledger *keeper; /* the ledger that keeps it, or NULL */
	uint32_t verdict, ranks_count;
	uint32_t checksum; /* of the profile */
	struct protected_rank ranks[MOST_RANKS];
	ARRAY_OF(struct spare_way) ways;
	ARRAY_OF(struct spare_strand) strands;
	ARRAY_OF(struct spare_refusal) refusals;
	ARRAY_OF(struct spare_lifted) lifted; /* during the search of a rank */
	const uint32_t *first; /* by rank: a spare to try before nearer ones; or NULL */
	char why[256];
};

/* The failure of one rank's accelerator. */
struct failure {
	struct morph_ledger *ledger;
	const struct morph_plan *plan;
	struct morph_protection *protection;
	struct protected_rank *rank;
	uint32_t number; /* of the rank */
	uint32_t slice, rack;
	uint32_t spare; /* under trial */
	/*
	 * Light that reaches a server that it must not cross ends there. Such a server has two
	 * sites: one where light departs, and one where it arrives. The latter have the numbers
	 * after the servers.
	 */
	uint8_t arrives_at[NET_SITES]; /* by server; NET_SITES: no site was left */
	uint32_t hosts[NET_SITES]; /* by site */
	bool blurred; /* more sites than the search supports */
};

/* The ends of a circuit with the spare. */
struct spare_ends {
	uint32_t src, dst; /* accelerators; at the tile of one a circuit leaves its rack */
	uint32_t from, to; /* sites */
};

/*
 * The part that a circuit to another rack keeps: the hop that leaves this rack, and all hops
 * beyond.
 */
struct spare_rest {
	uint32_t first, count; /* 0: the circuit ends in the rack */
};

struct spare_rest lm_protect_rest(const struct failure *failure, uint32_t way);

struct spare_ends lm_protect_ends(const struct failure *failure, uint32_t way);

/* The rack without the failed accelerator's light: capacities and distances, in ledger->search. */
void lm_protect_net(struct failure *failure);

/* A route for each circuit to the spare under trial, in order, without those within a server. */
enum stitch_verdict lm_protect_route(struct failure *failure);

/* Sets of servers that prove that no routes exist. False if none do. */
bool lm_protect_cut(const struct failure *failure, struct spare_refusal *refusal);

#endif /* LM_PLAN_PROTECT_H */
