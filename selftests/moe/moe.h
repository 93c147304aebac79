/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One process for each rank, like the blocks of a persistent kernel in a fused mixture-of-experts
 * layer: tokens go to the ranks of their experts, and come back.
 *
 *	plan	the tokens, and the circuits of each step
 *	medium	transfers tokens if receivers of the simulated hardware show light
 *	rank	waits for light, sends, and reports the end; its only call wakes the queue's thread
 *	moe	the tests
 *
 * The kernel follows FlashDMoE (arXiv 2506.04667), which does not change circuits.
 */
#ifndef MOE_H
#define MOE_H

#include <morph/device.h>

#include "fabric.h"

#define RANKS 8u
#define SHIFTS (RANKS - 1)
#define STEPS (2 * SHIFTS) /* tokens go out, and return in the opposite direction */
#define EXPERTS 64u
#define TOKENS 48u /* tokens of a rank */
#define CHOICES 4u /* experts of a token */
#define ITEMS (TOKENS * CHOICES)
#define ENTRIES 16u
#define LANES 4u /* consecutive steps have different ones */

/* A token on its way to one of its experts and back. */
struct item {
	uint32_t source, number, choice, expert;
	uint64_t value;
};

/* Items that a rank has received from another one. */
struct inbox {
	uint32_t count;
	struct item items[ITEMS];
};

/* Memory that all processes share. */
struct world {
	struct sim sim;
	int slice;
	uint32_t schedule;
	uint32_t accelerator[RANKS];
	uint32_t iterations;
	bool absent[RANKS]; /* has no tokens, and no expert that any token chose */
	bool hasty[RANKS]; /* sends without waiting for light */
	volatile uint64_t sent[RANKS][RANKS]; /* position up to which a rank has sent to another */
	uint32_t lost[RANKS]; /* items that a rank sent without light */
	uint32_t carried[RANKS];
	uint32_t wrong[RANKS]; /* tokens that came back wrong, or not at all */
	uint32_t stopped[RANKS]; /* position at which the rank saw a stopped schedule; 0: never */
	struct inbox out[RANKS][RANKS]; /* by receiver, sender: at experts */
	struct inbox back[RANKS][RANKS]; /* and back at the sender */
};

/* --------------------------------------------------------------------- plan */

/* Every rank derives the same tokens from the number of the iteration. */
uint32_t expert_of(const struct world *world, uint32_t iteration, uint32_t source, uint32_t number,
		   uint32_t choice);
uint64_t value_of(uint32_t iteration, uint32_t source, uint32_t number);
uint64_t expert_does(uint32_t expert, uint64_t value);
/* Return the peer that a rank sends to, or receives from, at a position; RANKS: none. */
uint32_t sends_to(const struct world *world, uint32_t rank, uint64_t position);
uint32_t hears_from(const struct world *world, uint32_t rank, uint64_t position);
uint32_t lane_of(uint64_t position);
uint32_t plane_of(const struct world *world, uint32_t src);
/*
 * Load steps for all transfers. A rank with nothing to send has no circuit, and no rank waits for
 * it.
 */
int plan_load(struct world *world);

/* ------------------------------------------------------------------- medium */

/* Does the receiver of a rank see the light of this step's circuit? */
bool medium_shines(const struct world *world, uint32_t src, uint32_t dst, uint64_t position);
/* Items without light are lost and counted. */
void medium_carry(struct world *world, uint32_t src, uint32_t dst, uint64_t position,
		  struct inbox *into, const struct item *items, uint32_t count);

/* --------------------------------------------------------------------- rank */

/* Run a rank's process; never returns. */
void rank_run(struct world *world, uint32_t rank) __attribute__((noreturn));

#endif /* MOE_H */
