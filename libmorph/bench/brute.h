/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Room made by rewiring, by brute force: every place of a request and every way of every circuit
 * that runs; and every order of moves. For what is small enough, and for all that planners say of it.
 */
#ifndef LM_BENCH_BRUTE_H
#define LM_BENCH_BRUTE_H

#include <morph/plan.h>

#define BRUTE_DEMANDS 64 /* circuits of a slice, or of all together, are fewer */

/*
 * The fewest circuits of the slices in @defrag that have to go another way so that the request fits
 * into a rack; UINT32_MAX: there are no ways.
 */
uint32_t brute_least(const struct morph_ledger *ledger, const struct morph_request *request,
		     const struct morph_defrag *defrag);

/* Can the request be made room for without any light going out? 1, 0, or -1: too much to try. */
int brute_hitless(const struct morph_ledger *ledger, const struct morph_request *request,
		  const struct morph_defrag *defrag);

#endif /* LM_BENCH_BRUTE_H */
