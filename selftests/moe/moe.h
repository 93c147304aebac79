/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes in the place of the blocks of a persistent kernel, one for each rank, as a fused
 * mixture-of-experts layer has them: tokens go to the ranks of their experts, and come back.
 *
 *   plan     which tokens there are, and which circuits each step holds
 *   medium   carries tokens, where receivers of the simulated hardware show light
 *   rank     what a rank does: wait for light, send, say that it has done; no call but to wake the ring
 *   moe      the tests
 *
 * FlashDMoE (arXiv 2506.04667) has the kernel; that circuits change inside it is ours.
 */
#ifndef MOE_H
#define MOE_H

#include <morph/device.h>

#include "fabric.h"

#define RANKS 8u
#define SHIFTS (RANKS - 1)
#define STEPS (2 * SHIFTS) /* tokens go out, and come back the other way round */
#define EXPERTS 64u
#define TOKENS 48u /* of a rank */
#define CHOICES 4u /* experts of a token */
#define ITEMS (TOKENS * CHOICES)
#define ENTRIES 16u
#define LANES 4u /* steps that follow each other have different ones */

/* A token on its way to one of its experts, and back. */
struct item {
	uint32_t source, number, choice, expert;
	uint64_t value;
};

/* What has arrived at a rank from another one. */
struct inbox {
	uint32_t count;
	struct item items[ITEMS];
};

/* Shared by all processes. */
struct world {
	struct sim sim;
	int slice;
	uint32_t schedule;
	uint32_t accelerator[RANKS];
	uint32_t iterations;
	bool absent[RANKS]; /* neither has tokens, nor experts that any token chose */
	bool hasty[RANKS]; /* sends without waiting for light */
	volatile uint64_t sent[RANKS][RANKS]; /* position up to which a rank has sent to another */
	uint32_t lost[RANKS]; /* items that a rank sent into the dark */
	uint32_t carried[RANKS];
	uint32_t wrong[RANKS]; /* tokens that came back wrong, or not at all */
	uint32_t stopped
		[RANKS]; /* position at which the schedule was seen to stand still; 0: it was not */
	struct inbox out[RANKS][RANKS]; /* by receiver, sender: at experts */
	struct inbox back[RANKS][RANKS]; /* and back at home */
};

/* --------------------------------------------------------------------- plan */

/* Every rank derives the same from the iteration's number. */
uint32_t expert_of(const struct world *world, uint32_t iteration, uint32_t source, uint32_t number,
		   uint32_t choice);
uint64_t value_of(uint32_t iteration, uint32_t source, uint32_t number);
uint64_t expert_does(uint32_t expert, uint64_t value);
/* Whom a rank sends to at a position, and hears from; RANKS: nobody. */
uint32_t sends_to(const struct world *world, uint32_t rank, uint64_t position);
uint32_t hears_from(const struct world *world, uint32_t rank, uint64_t position);
uint32_t lane_of(uint64_t position);
uint32_t plane_of(const struct world *world, uint32_t src);
/* Steps for all that is sent: who has nothing to send has no circuit, and is not waited for. */
int plan_load(struct world *world);

/* ------------------------------------------------------------------- medium */

/* Does the receiver of a rank see the light that this step's circuit brings? */
bool medium_shines(const struct world *world, uint32_t src, uint32_t dst, uint64_t position);
/* What is not carried over light is lost, and counted. */
void medium_carry(struct world *world, uint32_t src, uint32_t dst, uint64_t position,
		  struct inbox *into, const struct item *items, uint32_t count);

/* --------------------------------------------------------------------- rank */

/* A process: never returns. */
void rank_run(struct world *world, uint32_t rank) __attribute__((noreturn));

#endif /* MOE_H */
