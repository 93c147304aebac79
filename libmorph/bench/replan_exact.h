/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How few circuits of a schedule have to change when ports are lost: from its wire form, by flows and by trying all. */
#ifndef LM_BENCH_REPLAN_EXACT_H
#define LM_BENCH_REPLAN_EXACT_H

#include "lossy.h"

struct replan_least {
	uint32_t changed; /* UINT32_MAX: a circuit has no way, or memory is short */
	bool apart; /* at no moment are circuits set in the place of two, so that it is the least of all together */
};

/*
 * The least, as <morph/schedule.h> counts them: of each circuit alone, so that what one sets is of no use to another, but for planes, which are
 * for one of them.
 */
struct replan_least replan_exact(const struct lossy *lossy);

#endif /* LM_BENCH_REPLAN_EXACT_H */
