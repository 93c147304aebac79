/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/light.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_LIGHT_H
#define LM_INTERNAL_LIGHT_H

#include <morph/plan.h>

/**
 * morph_schedule_choose_lit() - choose algorithm and circuits that have ways
 * @schedule: the answer; what was in it is forgotten
 * @collective: where to put its rounds; what was in it is forgotten
 * @wanted: as morph_schedule_choose()
 * @delay: as there
 * @opts: as there
 * @lit: where it is to have ways
 * @steps: where to put its steps; what was in it is forgotten
 * @light: whether it has ways; verdict 0 where there is no feasible schedule to begin with
 * @choices: as morph_schedule_choose(); or NULL
 *
 * What morph_schedule_choose() finds best, where that has ways; else the first of
 * morph_schedule_candidates() that has some, among them those on as many of the first planes as go
 * together. Where none of those that are tried has any, @schedule is what is best, without steps,
 * and @light says why it has none. Nothing else is tried where no plan could help: there are fewer
 * ports or lanes than are asked for, or an accelerator may not be used.
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
 * morph_light_is_final() - whether it is in the way of all plans alike
 * @reason: enum morph_light_reason
 *
 * Return: whether: there are fewer ports or lanes than are asked for, or an accelerator may not be
 * used.
 */
bool morph_light_is_final(uint32_t reason);

#endif /* LM_INTERNAL_LIGHT_H */
