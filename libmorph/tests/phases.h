/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phases for tests. */
#ifndef PHASES_H
#define PHASES_H

#include "../bench/training.h"
#include "alone.h"

#define REFUSED(call, error, words)                                    \
	do {                                                           \
		assert_int_equal(call, -(error));                      \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

struct morph_phases *new_phases(uint32_t ranks, uint32_t mode);
struct morph_phases *phases_of(const struct training *of, uint32_t mode);
struct morph_phase_counts counts_of(const struct morph_phases *phases);
/* Read acts, and report changes as complete. Returns the number of groups that continue. */
uint32_t obey(struct morph_phases *phases, uint64_t now_ns);
/* Check that the next act is this change. */
void expect_change(struct morph_phases *phases, uint32_t group, uint32_t comes, uint32_t goes);

#endif /* PHASES_H */
