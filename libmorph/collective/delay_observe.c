// SPDX-License-Identifier: LGPL-2.1-or-later
/* Durations of changes as the driver measured them: see morph_delay_observe(). */
#include "../util/sort.h"
#include "delay.h"

static uint32_t count_of(const struct morph_delay *delay)
{
	return delay->observed < MOST_QUANTILES ? (uint32_t)delay->observed : MOST_QUANTILES;
}

static int ascending(const void *one, const void *other, void *context)
{
	const uint64_t *a = one, *b = other;

	(void)context;
	return *a < *b ? -1 : *a > *b;
}

/*
 * The time of each circuit: the slope of the least-squares line. It is 0 if the line falls, or if
 * all changes had equally many circuits. 64 numbers below 2^32 and times below 2^43 have sums of
 * products far below 2^127.
 */
static uint64_t slope(const struct morph_delay *delay)
{
	__int128 count = count_of(delay), xs = 0, ys = 0, xxs = 0, xys = 0, rise, run;

	for (uint32_t at = 0; at < count_of(delay); at++) {
		__int128 x = delay->observations[at].circuits;
		__int128 y = delay->observations[at].software_ns;

		xs += x;
		ys += y;
		xxs += x * x;
		xys += x * y;
	}
	rise = count * xys - xs * ys;
	run = count * xxs - xs * xs;
	return rise > 0 && run > 0 ? (uint64_t)(rise / run) : 0;
}

static void set_quantiles(struct morph_delay *delay, uint32_t part)
{
	delay->counts[part] = count_of(delay);
	lm_sort(delay->parts[part], delay->counts[part], sizeof(delay->parts[part][0]), ascending,
		NULL);
}

static void fit(struct morph_delay *delay)
{
	uint64_t each = slope(delay);

	for (uint32_t at = 0; at < count_of(delay); at++) {
		const struct observation *seen = &delay->observations[at];
		unsigned __int128 grown = (unsigned __int128)each * seen->circuits;

		delay->parts[MORPH_DELAY_SETTLE][at] = seen->settle_ns;
		delay->parts[MORPH_DELAY_RELOCK][at] = seen->relock_ns;
		delay->parts[MORPH_DELAY_PROGRAM][at] =
			seen->software_ns > grown ? (uint64_t)(seen->software_ns - grown) : 0;
	}
	set_quantiles(delay, MORPH_DELAY_SETTLE);
	set_quantiles(delay, MORPH_DELAY_RELOCK);
	set_quantiles(delay, MORPH_DELAY_PROGRAM);
	delay->parts[MORPH_DELAY_PORT][0] = each;
	delay->counts[MORPH_DELAY_PORT] = 1;
}

/* Planning, programming, verifying and publishing. */
#define SOFTWARE 4

/* The object has the sum over all runs of a step. The step's circuits were planned at loading. */
static void read_step(const struct morph_object *step, uint64_t runs, struct observation *seen,
		      uint64_t software[SOFTWARE])
{
	seen->settle_ns = morph_object_uint(step, "settle-ns") / runs;
	seen->relock_ns = morph_object_uint(step, "relock-ns") / runs;
	software[0] = morph_object_uint(step, "program-ns") / runs;
	software[1] = morph_object_uint(step, "verify-ns") / runs;
}

static void read_times(const struct morph_object *times, struct observation *seen,
		       uint64_t software[SOFTWARE])
{
	seen->settle_ns = morph_object_uint(times, "settle-ns");
	seen->relock_ns = morph_object_uint(times, "relock-ns");
	software[0] = morph_object_uint(times, "plan-ns");
	software[1] = morph_object_uint(times, "program-ns");
	software[2] = morph_object_uint(times, "verify-ns");
	software[3] = morph_object_uint(times, "notify-ns");
}

MORPH_API int morph_delay_observe(struct morph_delay *delay, const struct morph_object *times,
				  uint32_t circuits)
{
	bool is_step = morph_object_type(times) == MORPH_OBJECT_SCHEDULE_STEP;
	uint64_t runs = is_step ? morph_object_uint(times, "runs") : 1;
	struct observation seen = { .circuits = circuits };
	uint64_t software[SOFTWARE] = { 0 };

	if (!circuits)
		return lm_fail(delay->ctx, EINVAL, "a change requires at least one circuit");
	if (!runs)
		return lm_fail(delay->ctx, EINVAL, "the step was not lit yet");
	if (is_step)
		read_step(times, runs, &seen, software);
	else
		read_times(times, &seen, software);
	for (uint32_t at = 0; at < SOFTWARE; at++) {
		if (software[at] > MOST_NS)
			return lm_fail(delay->ctx, EINVAL, "a delay is at most %llu ns, not %llu",
				       MOST_NS, (unsigned long long)software[at]);
		seen.software_ns += software[at];
	}
	if (seen.settle_ns > MOST_NS || seen.relock_ns > MOST_NS)
		return lm_fail(delay->ctx, EINVAL,
			       "a delay is at most %llu ns, not %llu to settle and %llu to relock",
			       MOST_NS, (unsigned long long)seen.settle_ns,
			       (unsigned long long)seen.relock_ns);
	delay->observations[delay->observed++ % MOST_QUANTILES] = seen;
	fit(delay);
	return 0;
}
