/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When topologies change, as an integer program. Which topology a round goes on is binary: each round goes on one. Where
 * changes are all alike, a change before a round is at least what any topology gains of it, and is what it takes. Else a
 * change from one to another is a flow between what two rounds go on.
 */
#ifndef LM_BENCH_SEGMENTS_PROGRAM_H
#define LM_BENCH_SEGMENTS_PROGRAM_H

#include "../schedule/segments.h"

struct segments_effort {
	double seconds; /* processor time */
	const uint16_t *start; /* a plan to begin with, by round its topology, or NULL */
	uint64_t enough_ps; /* stop at a plan that takes no longer; 0: at the least */
};

struct segments_answer {
	bool found;
	bool proved; /* nothing takes less; not where a plan is enough */
	double ps; /* of its plan, as CBC has it; the first topology is free */
};

struct segments_answer segments_by_program(const struct segments_problem *problem,
					   const struct segments_effort *effort);

#endif /* LM_BENCH_SEGMENTS_PROGRAM_H */
