/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers of the search for matchings, as the checker reads them. */
#ifndef BENCH_MATCHINGS_CHECKED_H
#define BENCH_MATCHINGS_CHECKED_H

#include <morph/plan.h>

#include "../check/check.h"

/*
 * Check a feasible or infeasible answer to a problem. The profile is that of problem->model, or
 * empty. Returns as morph_check_matchings(). O(hops), and the check.
 */
int check_matchings(const struct morph_matchings_problem *problem,
		    const struct morph_matchings_answer *answer, struct morph_check_bytes profile,
		    char *report, size_t room);

#endif /* BENCH_MATCHINGS_CHECKED_H */
