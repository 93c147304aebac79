/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A corner of a rack64, fenced in until it is small enough to try all that can be done there; slices and
 * circuits in it by chance. The same for a seed everywhere.
 */
#ifndef LM_BENCH_FENCED_H
#define LM_BENCH_FENCED_H

#include <stdbool.h>
#include <stdint.h>

#include <morph/plan.h>

#define FENCED_SERVERS 6

/* Servers of a block, of which each is beside one before it. */
extern const uint32_t fenced_block[FENCED_SERVERS];

/*
 * Leave the first @servers of the block with @chips accelerators of each, and one fibre to so many
 * of each link between them; all else is unusable.
 */
void fenced_leave(struct morph_ledger *ledger, uint32_t servers, uint64_t *seed, uint32_t chips,
		  uint32_t fibres);

/* Nobody holds anything any more. */
void fenced_clear(struct morph_ledger *ledger);

/* A request of a few ranks. 0 or -ENOMEM. */
int fenced_ask(struct morph_request *request, uint64_t *seed);

/*
 * The circuits of a plan for one rack, not yet taken, go ways by chance over what is free, as after
 * a long time of coming and going: up to @detour hops longer than they went, or any way for 0.
 * False: they do not all have one, and the plan is none any more.
 */
bool fenced_scatter(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t detour,
		    uint64_t *seed);

#endif /* LM_BENCH_FENCED_H */
