/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/light.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_LIGHT_H
#define LM_INTERNAL_LIGHT_H

#include <morph/plan.h>

/**
 * morph_schedule_choose_lit() - choose an algorithm and circuits that have paths
 * @schedule: the answer; its earlier content is lost
 * @collective: the rounds of the answer; its earlier content is lost
 * @wanted: as morph_schedule_choose()
 * @delay: as morph_schedule_choose()
 * @opts: as morph_schedule_choose()
 * @lit: where the circuits need paths
 * @steps: the steps of the answer; its earlier content is lost
 * @light: whether it has paths; verdict 0 if no feasible schedule exists
 * @choices: as morph_schedule_choose(); or NULL
 *
 * Returns the best schedule of morph_schedule_choose() if it has paths. Otherwise it returns the
 * first one of morph_schedule_candidates() with paths. The candidates include schedules on fewer
 * planes, starting from the first one. If no candidate has paths, @schedule is the best one,
 * without steps, and @light has the reason. It tries no candidate if none can help: too few ports
 * or lanes, or an unusable accelerator.
 *
 * Return: 0, whatever the verdicts, or as morph_schedule_choose() and morph_schedule_light().
 */
int morph_schedule_choose_lit(struct morph_schedule *schedule, struct morph_collective *collective,
			      const struct morph_collective_opts *wanted,
			      const struct morph_delay *delay,
			      const struct morph_schedule_opts *opts,
			      const struct morph_lit_opts *lit, struct morph_steps *steps,
			      struct morph_light *light, struct morph_choice *choices);

/**
 * morph_light_is_final() - whether a reason excludes all plans
 * @reason: enum morph_light_reason
 *
 * Return: true if there are too few ports or lanes, or an accelerator is unusable.
 */
bool morph_light_is_final(uint32_t reason);

#endif /* LM_INTERNAL_LIGHT_H */
