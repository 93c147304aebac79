// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phases for tests, and a driver that obeys their acts. */
#include "../internal/client.h"
#include "phases.h"

struct morph_phases *new_phases(uint32_t ranks, uint32_t mode)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = mode);
	struct morph_phases *phases = morph_phases_new(ctx, ranks, &opts);

	assert_non_null(phases);
	return phases;
}

struct morph_phases *phases_of(const struct training *of, uint32_t mode)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = mode);
	struct morph_phases *phases = training_phases(ctx, of, &opts);

	assert_non_null(phases);
	return phases;
}

struct morph_phase_counts counts_of(const struct morph_phases *phases)
{
	struct morph_phase_counts counts;

	morph_phases_counts(phases, &counts);
	return counts;
}

uint32_t obey(struct morph_phases *phases, uint64_t now_ns)
{
	struct morph_phase_act act;
	uint32_t count = 0;

	while (morph_phases_next(phases, &act)) {
		count += act.kind == MORPH_PHASE_GO;
		if (act.kind == MORPH_PHASE_CHANGE)
			assert_int_equal(morph_phases_changed(phases, act.group, true, now_ns), 0);
	}
	return count;
}

void expect_change(struct morph_phases *phases, uint32_t group, uint32_t comes, uint32_t goes)
{
	struct morph_phase_act act;

	assert_true(morph_phases_next(phases, &act));
	assert_int_equal(act.kind, MORPH_PHASE_CHANGE);
	assert_int_equal(act.group, group);
	assert_int_equal(act.comes, comes);
	assert_int_equal(act.goes, goes);
}
