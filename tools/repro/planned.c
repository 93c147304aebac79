// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan schedules and check them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../libmorph/check/check.h"
#include "../../libmorph/internal/planner.h"
#include "planned.h"
#include "repro.h"

static void try(const struct planned *planned, int ret)
{
	if (ret)
		repro_wrong("%s", morph_error_text(planned->ctx));
}

void planned_begin(struct planned *planned)
{
	*planned = (struct planned){ 0 };
	if (morph_ctx_new(NULL, &planned->ctx))
		repro_wrong("cannot create a context");
	planned->collective = morph_collective_new(planned->ctx);
	planned->delay = morph_delay_new(planned->ctx);
	planned->lit = morph_schedule_new(planned->ctx);
	planned->schedule = morph_schedule_new(planned->ctx);
	try(planned,
	    !planned->collective || !planned->delay || !planned->lit || !planned->schedule);
}

void planned_end(struct planned *planned)
{
	morph_schedule_free(planned->schedule);
	morph_schedule_free(planned->lit);
	morph_delay_free(planned->delay);
	morph_collective_free(planned->collective);
	morph_ctx_free(planned->ctx);
}

/* ------------------------------------------------------------------ checking */

/* Write one of the checker's three inputs. The caller frees it. */
static struct morph_check_bytes write_collective(const struct planned *planned)
{
	ssize_t bytes = morph_collective_write(planned->collective, NULL, 0);
	void *data = bytes > 0 ? malloc((size_t)bytes) : NULL;

	if (!data || morph_collective_write(planned->collective, data, (size_t)bytes) != bytes)
		repro_wrong("cannot write a collective");
	return (struct morph_check_bytes){ data, (size_t)bytes };
}

static struct morph_check_bytes write_delay(const struct planned *planned)
{
	uint32_t ranks = morph_collective_busy(planned->collective);
	ssize_t bytes = morph_delay_write(planned->delay, ranks, NULL, 0);
	void *data = bytes > 0 ? malloc((size_t)bytes) : NULL;

	if (!data || morph_delay_write(planned->delay, ranks, data, (size_t)bytes) != bytes)
		repro_wrong("cannot write a delay");
	return (struct morph_check_bytes){ data, (size_t)bytes };
}

static struct morph_check_bytes write_schedule(const struct morph_schedule *schedule)
{
	ssize_t bytes = morph_schedule_write(schedule, NULL, 0);
	void *data = bytes > 0 ? malloc((size_t)bytes) : NULL;

	if (!data || morph_schedule_write(schedule, data, (size_t)bytes) != bytes)
		repro_wrong("cannot write a schedule");
	return (struct morph_check_bytes){ data, (size_t)bytes };
}

static void check(const struct planned *planned, const struct morph_schedule *schedule,
		  const struct morph_schedule *after, uint32_t planes)
{
	struct morph_check_schedule_input input = {
		.collective = write_collective(planned),
		.delay = write_delay(planned),
		.planes = planes,
		.schedule = write_schedule(schedule),
	};
	char report[256];

	if (after)
		input.after = write_schedule(after);
	if (morph_check_schedule(&input, report, sizeof(report)))
		repro_wrong("a schedule is not valid: %s", report);
	free((void *)input.collective.data);
	free((void *)input.delay.data);
	free((void *)input.after.data);
	free((void *)input.schedule.data);
}

/* ------------------------------------------------------------------ planning */

#define BY_POLICY MORPH_BASELINES /* no baseline: use the options' policy */

static void plan(struct planned *planned, struct morph_schedule *schedule,
		 const struct morph_schedule_opts *opts, uint32_t baseline)
{
	if (baseline == BY_POLICY)
		try(planned,
		    morph_schedule_plan(schedule, planned->collective, planned->delay, opts));
	else
		try(planned, morph_schedule_baseline(schedule, planned->collective, planned->delay,
						     opts, baseline));
	if (morph_schedule_verdict(schedule) == MORPH_FEASIBLE)
		check(planned, schedule, opts->after, opts->planes);
}

void planned_dark(struct planned *planned)
{
	planned->is_lit = false;
}

void planned_light(struct planned *planned, uint32_t ports)
{
	const struct morph_schedule_opts opts = { .sz = sizeof(opts),
						  .policy = MORPH_POLICY_EACH_ROUND,
						  .planes = ports };

	try(planned, morph_delay_set_link(planned->delay, 0, 0, 1));
	plan(planned, planned->lit, &opts, BY_POLICY);
	if (morph_schedule_verdict(planned->lit) != MORPH_FEASIBLE)
		repro_wrong("%s", morph_schedule_why(planned->lit));
	planned->is_lit = true;
}

static uint64_t end_ns(struct planned *planned, const struct morph_collective_opts *how,
		       const struct planned_costs *costs, uint32_t policy, uint32_t baseline)
{
	const struct morph_schedule_opts opts = {
		.sz = sizeof(opts),
		.policy = policy,
		.planes = costs->ports,
		.after = planned->is_lit ? planned->lit : NULL,
	};

	try(planned, morph_collective_build(planned->collective, how));
	try(planned,
	    morph_delay_set_link(planned->delay, costs->round_ns, costs->hop_ns, costs->mbps));
	try(planned,
	    morph_delay_set_part(planned->delay, MORPH_DELAY_SETTLE, &costs->change_ns, 1));
	plan(planned, planned->schedule, &opts, baseline);
	return morph_schedule_verdict(planned->schedule) == MORPH_FEASIBLE ?
		       morph_schedule_ns(planned->schedule, NULL) :
		       0;
}

uint64_t planned_ns(struct planned *planned, const struct morph_collective_opts *how,
		    const struct planned_costs *costs, uint32_t policy)
{
	return end_ns(planned, how, costs, policy, BY_POLICY);
}

uint64_t planned_static_ns(struct planned *planned, const struct morph_collective_opts *how,
			   const struct planned_costs *costs)
{
	return end_ns(planned, how, costs, 0, MORPH_BASELINE_STATIC);
}
