// SPDX-License-Identifier: GPL-2.0-only
/* The plan of failures, drawn from the seed, its progress, and the events of each failure. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define RETRY_MS 300
#define SNAPSHOT_EVERY 5u

struct entry {
	uint32_t recipe;
	long long due_ms;
};

static struct entry plan[FAILURES_MAX];
static uint32_t next;

static void shuffle(void)
{
	uint32_t i;

	for (i = demo.planned - 1; i; i--) {
		uint32_t other = chance(i + 1), recipe = plan[i].recipe;

		plan[i].recipe = plan[other].recipe;
		plan[other].recipe = recipe;
	}
}

/* No failure occurs in the first eighth of the time, so that the fabric fills. */
void failures_plan(void)
{
	long long from = demo.length_ms / 8, step;
	uint32_t i, k;

	for (i = 0; i < recipes_count; i++)
		for (k = 0; k < recipes[i].times && demo.planned < FAILURES_MAX; k++)
			plan[demo.planned++].recipe = i;
	shuffle();
	step = (demo.length_ms * 15 / 16 - from) / demo.planned;
	for (i = 0; i < demo.planned; i++)
		plan[i].due_ms = demo.begin_ms + from + i * step + chance(step / 2 + 1);
	printf("demo: seed %llu: %u failures and killed owners planned\n",
	       (unsigned long long)demo.seed, demo.planned);
}

uint32_t failures_left(void)
{
	return demo.planned - next;
}

bool failures_step(void)
{
	long long now = now_ms();
	const struct recipe *recipe;

	if (next == demo.planned || now < plan[next].due_ms || !demo.measured_from_ms)
		return false;
	recipe = &recipes[plan[next].recipe];
	if (!recipe->run(recipe->name)) {
		plan[next].due_ms = now + RETRY_MS;
		return false;
	}
	next++;
	mend();
	light_check_fabric();
	if (next % SNAPSHOT_EVERY == 0) {
		gate();
		light_snapshot();
		ungate();
	}
	return true;
}

/* ------------------------------------------------------------------- events */

static void add_failover(const struct job *job, const struct morph_event *event)
{
	struct failover *failover = &demo.failovers[demo.failovers_count];

	if (demo.failovers_count == FAILOVERS_MAX)
		return;
	demo.failovers_count++;
	failover->job = job - demo.jobs;
	failover->failure = demo.now ? demo.now - demo.failures : NO_JOB;
	failover->type = event->type;
	failover->times = event->times;
	failover->dark_ns = event->dark_ns;
}

void failures_event(struct job *job, const struct morph_event *event)
{
	struct failure *failure = demo.now;
	uint32_t number = job - demo.jobs;

	if (event->type == MORPH_EVENT_REPLACED || event->type == MORPH_EVENT_CIRCUIT_MOVED)
		add_failover(job, event);
	if (!failure) {
		if (event->type == MORPH_EVENT_FAILING || event->type == MORPH_EVENT_DEGRADED)
			violation("job %u: event %u, although nothing was broken", number,
				  event->type);
		return;
	}
	if (failure->job != number) {
		failure->bystanders += event->type == MORPH_EVENT_REPLACED ||
				       event->type == MORPH_EVENT_CIRCUIT_MOVED;
		return;
	}
	switch (event->type) {
	case MORPH_EVENT_REPLACED:
		failure->replaced++;
		failure->old_accelerator = event->old_accelerator;
		failure->new_accelerator = event->new_accelerator;
		failure->took_ns = event->time_ns - failure->injected_ns;
		break;
	case MORPH_EVENT_CIRCUIT_MOVED:
		failure->moved++;
		failure->took_ns = event->time_ns - failure->injected_ns;
		break;
	case MORPH_EVENT_DEGRADED:
		failure->degraded++;
		failure->part = event->part;
		failure->index = event->index;
		failure->left_mbps = event->bandwidth_mbps;
		failure->took_ns = event->time_ns - failure->injected_ns;
		break;
	case MORPH_EVENT_RECOVERED:
		failure->recovered++;
		if (!failure->took_ns)
			failure->took_ns = event->time_ns - failure->injected_ns;
		break;
	case MORPH_EVENT_TXN:
		failure->revoked += event->outcome == MORPH_OUTCOME_REVOKED;
		break;
	}
}

/* ------------------------------------------------------------------- records */

struct failure *failure_begin(const char *kind, struct job *job)
{
	struct failure *failure = &demo.failures[demo.failures_count++];

	if (demo.failures_count > FAILURES_MAX) {
		fprintf(stderr, "more than %u failures\n", FAILURES_MAX);
		exit(1);
	}
	*failure = (struct failure){ .kind = kind, .job = NO_JOB };
	failure->injected_ns = boottime_ns();
	if (job) {
		failure->job = job - demo.jobs;
		job->held = true;
	}
	demo.now = failure;
	return failure;
}

/* Cancel a failure that did not occur. */
void failure_drop(struct failure *failure)
{
	if (failure->job != NO_JOB)
		demo.jobs[failure->job].held = false;
	demo.failures_count--;
	demo.now = NULL;
}

void failure_end(struct failure *failure, bool survived, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure->end, sizeof(failure->end), format, args);
	va_end(args);
	failure->accounted = true;
	failure->survived = survived;
	if (failure->job != NO_JOB)
		demo.jobs[failure->job].held = false;
	printf("  %-34s %-22s %s\n", failure->kind, failure->target, failure->end);
	fflush(stdout);
}
