/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of overlapped rounds, gone through by what knows nothing of how they were made. */
#ifndef LM_BENCH_OVERLAP_REPLAY_H
#define LM_BENCH_OVERLAP_REPLAY_H

#include "../schedule/overlap.h"

/* NULL and when the last round ends, or what is wrong. */
const char *overlap_replay(const struct overlap_problem *problem,
			   const struct overlap_share *shares, uint64_t *finish);

#endif /* LM_BENCH_OVERLAP_REPLAY_H */
