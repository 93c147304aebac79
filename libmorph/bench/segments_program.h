/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of topologies as an integer program. The topology of each round is binary. If all
 * changes cost the same, a change before a round is at least the gain of each topology. Otherwise a
 * change from one topology to another is a flow between the choices of two rounds.
 */
#ifndef LM_BENCH_SEGMENTS_PROGRAM_H
#define LM_BENCH_SEGMENTS_PROGRAM_H

#include "../schedule/segments.h"

struct segments_effort {
	double seconds; /* limit of processor time */
	const uint16_t *start; /* an initial plan, the topology of each round, or NULL */
	uint64_t enough_ps; /* stop at a plan that is not longer; 0: at the optimum */
};

struct segments_answer {
	bool found;
	bool proved; /* nothing is shorter; not set if a plan suffices */
	double ps; /* of CBC's plan; the first topology is free */
};

struct segments_answer segments_by_program(const struct segments_problem *problem,
					   const struct segments_effort *effort);

#endif /* LM_BENCH_SEGMENTS_PROGRAM_H */
