/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The least number of circuits of a schedule that change after the loss of ports: from its wire
 * form, by flows and enumeration.
 */
#ifndef LM_BENCH_REPLAN_EXACT_H
#define LM_BENCH_REPLAN_EXACT_H

#include "lossy.h"

struct replan_least {
	uint32_t changed; /* UINT32_MAX: a circuit has no path, or out of memory */
	bool apart; /* no circuit can replace two at once, so that the sum is the optimum */
};

/*
 * The least number as <morph/schedule.h> counts it: for each circuit alone, so that a set circuit
 * does not help another one, but planes are exclusive.
 */
struct replan_least replan_exact(const struct lossy *lossy);

#endif /* LM_BENCH_REPLAN_EXACT_H */
