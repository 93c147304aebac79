/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A corner of rack64, reduced until everything in it can be tried, with random slices and circuits.
 * Deterministic for a seed.
 */
#ifndef LM_BENCH_FENCED_H
#define LM_BENCH_FENCED_H

#include <stdbool.h>
#include <stdint.h>

#include <morph/plan.h>

#define FENCED_SERVERS 6

/* Servers of a block. Each is a neighbour of an earlier one. */
extern const uint32_t fenced_block[FENCED_SERVERS];

/*
 * Keep the first @servers of the block with @chips accelerators of each, and one fibre of some of
 * the links between them. Everything else becomes unusable.
 */
void fenced_leave(struct morph_ledger *ledger, uint32_t servers, uint64_t *seed, uint32_t chips,
		  uint32_t fibres);

/* Free all resources. */
void fenced_clear(struct morph_ledger *ledger);

/* A request of a few ranks. 0 or -ENOMEM. */
int fenced_ask(struct morph_request *request, uint64_t *seed);

/*
 * Reroute the circuits of a plan for one rack, not yet taken, over random free paths, as after a
 * long time of operation. A path has up to @detour additional hops, or any number for 0. Returns
 * false if a circuit has no path; the plan is then lost.
 */
bool fenced_scatter(struct morph_ledger *ledger, struct morph_plan *plan, uint32_t detour,
		    uint64_t *seed);

#endif /* LM_BENCH_FENCED_H */
