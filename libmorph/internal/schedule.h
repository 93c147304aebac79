/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/schedule.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_SCHEDULE_H
#define LM_INTERNAL_SCHEDULE_H

#include <morph/plan.h>

/**
 * morph_schedule_alternative() - what was tried
 * @schedule: the schedule
 * @policy: enum morph_policy
 * @out: where to put what it came to
 *
 * Return: 0, or -ENOENT where that policy was not tried.
 */
int morph_schedule_alternative(const struct morph_schedule *schedule, uint32_t policy,
			       struct morph_alternative *out);

#endif /* LM_INTERNAL_SCHEDULE_H */
