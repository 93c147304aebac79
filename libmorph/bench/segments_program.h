/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When topologies change, as an integer program. Which topology a round goes on is binary: each round goes on one. Where
 * changes are all alike, a change before a round is at least what any topology gains of it, and is what it takes. Else a
 * change from one to another is a flow between what two rounds go on.
 */
#ifndef LM_BENCH_SEGMENTS_PROGRAM_H
#define LM_BENCH_SEGMENTS_PROGRAM_H

#include "../schedule/segments.h"

/* What is least of it in picoseconds, as CBC has it; the first topology is free. Negative: it has proven nothing. */
double segments_by_program(const struct segments_problem *problem);

#endif /* LM_BENCH_SEGMENTS_PROGRAM_H */
