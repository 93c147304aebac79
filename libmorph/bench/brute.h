/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Defragmentation by brute force: every place of a request, every path of every running circuit,
 * and every order of moves. For small instances, and for all statements of the planners.
 */
#ifndef LM_BENCH_BRUTE_H
#define LM_BENCH_BRUTE_H

#include <morph/plan.h>

#define BRUTE_DEMANDS 64 /* limit of the circuits of a slice, and of all together */

/*
 * The fewest circuits of the slices in @defrag that must take another path so that the request fits
 * into a rack; UINT32_MAX: it does not fit.
 */
uint32_t brute_least(const struct morph_ledger *ledger, const struct morph_request *request,
		     const struct morph_defrag *defrag);

/* Whether the request fits without a dark circuit. 1, 0, or -1: too much to try. */
int brute_hitless(const struct morph_ledger *ledger, const struct morph_request *request,
		  const struct morph_defrag *defrag);

#endif /* LM_BENCH_BRUTE_H */
