// SPDX-License-Identifier: LGPL-2.1-or-later
/* Does an algorithm pay that begins without a late rank? See morph_schedule_payoff(). */
#include "schedule.h"

static void weigh(const struct morph_schedule *schedule, const struct morph_schedule *other,
		  uint32_t round, struct morph_payoff *payoff)
{
	uint64_t late = lm_schedule_begins_ps(schedule, round), rest = schedule->finish_ps - late;
	uint64_t others = other->finish_ps - lm_schedule_begins_ps(other, 0);
	uint64_t pays = late + rest > others ? late + rest - others : 0;

	*payoff = (struct morph_payoff){ .late_ns = lm_edge_ns(late),
					 .rest_ns = lm_edge_ns(rest),
					 .other_ns = lm_edge_ns(others),
					 .pays_ns = rest < others ? lm_edge_ns(pays) : UINT64_MAX };
}

MORPH_API int
morph_schedule_payoff(struct morph_schedule *schedule, struct morph_collective *collective,
		      const struct morph_collective_opts *wanted, const struct morph_delay *delay,
		      const struct morph_schedule_opts *opts, struct morph_payoff *payoff)
{
	struct morph_collective *rounds = morph_collective_new(schedule->ctx);
	struct morph_schedule *other = morph_schedule_new(schedule->ctx);
	struct morph_collective_opts known;
	struct morph_schedule_opts how;
	int ret = rounds && other ? 0 : -ENOMEM;

	if (!ret)
		ret = lm_opts_check(schedule->ctx, wanted, sizeof(known), "morph_collective_opts");
	if (!ret)
		ret = lm_schedule_opts_check(schedule->ctx, opts);
	lm_opts_copy(&known, ret ? NULL : wanted, sizeof(known));
	known.sz = sizeof(known);
	known.kind = MORPH_ALL_REDUCE;
	known.algorithm = 0;
	lm_opts_copy(&how, ret ? NULL : opts, sizeof(how));
	how.sz = sizeof(how);
	/* Late enough for the initial circuits to be lit. */
	known.late_ns = MOST_NS;
	if (!ret)
		ret = lm_schedule_choose(other, rounds, &known, delay, &how, NULL, true);
	known.algorithm = MORPH_STRAGGLAR;
	if (!ret)
		ret = lm_schedule_choose(schedule, collective, &known, delay, &how, NULL, false);
	if (!ret && (schedule->verdict != MORPH_FEASIBLE || other->verdict != MORPH_FEASIBLE))
		ret = lm_fail(schedule->ctx, EINVAL, "the policy has no schedule: %s",
			      schedule->why[0] ? schedule->why : other->why);
	if (!ret)
		weigh(schedule, other, morph_collective_rounds_before(collective, known.ranks - 1),
		      payoff);
	morph_schedule_free(other);
	morph_collective_free(rounds);
	return ret;
}
