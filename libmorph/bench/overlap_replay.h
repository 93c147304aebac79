/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Independent replay of plans of overlapped rounds. */
#ifndef LM_BENCH_OVERLAP_REPLAY_H
#define LM_BENCH_OVERLAP_REPLAY_H

#include "../schedule/overlap.h"

/* NULL and the end of the last round, or the error. */
const char *overlap_replay(const struct overlap_problem *problem,
			   const struct overlap_share *shares, uint64_t *finish);

#endif /* LM_BENCH_OVERLAP_REPLAY_H */
