// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ports of a plane are programmed one after the other. Each changed circuit of a hold needs its
 * programming between the hold's begin and its light, minus the rest of a change. Earliest deadline
 * first meets all deadlines if any order does (Jackson 1955; Horn, Naval Research Logistics
 * Quarterly 21, 1974).
 */
#include "schedule.h"

struct job {
	uint32_t hold;
	uint64_t until; /* deadline */
	uint64_t left;
};

/* A heap by deadline. */
struct queue {
	struct job *jobs;
	uint32_t count;
	unsigned __int128 now;
};

static void swap(struct job *one, struct job *other)
{
	struct job kept = *one;

	*one = *other;
	*other = kept;
}

static void push(struct queue *queue, struct job job)
{
	uint32_t at = queue->count++;

	queue->jobs[at] = job;
	for (; at && queue->jobs[at].until < queue->jobs[(at - 1) / 2].until; at = (at - 1) / 2)
		swap(&queue->jobs[at], &queue->jobs[(at - 1) / 2]);
}

static void pop(struct queue *queue)
{
	struct job *jobs = queue->jobs;

	jobs[0] = jobs[--queue->count];
	for (uint32_t at = 0, least = 1; least < queue->count; at = least, least = 2 * at + 1) {
		least += least + 1 < queue->count && jobs[least + 1].until < jobs[least].until;
		if (jobs[at].until <= jobs[least].until)
			break;
		swap(&jobs[at], &jobs[least]);
	}
}

/* Work until this time, or until the queue is empty. */
static int work(struct schedule_check *it, struct queue *queue, unsigned __int128 until)
{
	while (queue->count && queue->now < until) {
		struct job *first = &queue->jobs[0];
		unsigned __int128 time = until - queue->now;

		if (time < first->left) {
			first->left -= (uint64_t)time;
			break;
		}
		queue->now += first->left;
		if (queue->now > first->until)
			return ck_wrong(&it->check, EBADMSG,
					"hold %u: plane %u programs other circuits at that time",
					first->hold, it->schedule.holds[first->hold].plane);
		pop(queue);
	}
	queue->now = until;
	return 0;
}

static int program(struct schedule_check *it, struct queue *queue, uint32_t plane)
{
	const struct schedule *schedule = &it->schedule;
	const struct delay *delay = &it->delay;
	int ret = 0;

	queue->now = 0;
	for (uint32_t at = schedule->residents; !ret && at < schedule->holds_count; at++) {
		const struct hold *hold = &schedule->holds[at];

		if (hold->plane != plane || !hold->changed)
			continue;
		ret = work(it, queue, hold->set);
		push(queue, (struct job){ .hold = at,
					  .until = hold->lit - delay->change_ps,
					  .left = delay->port_ps * hold->changed });
	}
	return ret ? ret : work(it, queue, (unsigned __int128)UINT64_MAX * UINT32_MAX);
}

int ck_schedule_ports(struct schedule_check *it)
{
	struct queue queue = { .jobs = calloc((size_t)it->schedule.holds_count + 1,
					      sizeof(*queue.jobs)) };
	int ret = 0;

	if (!queue.jobs)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	for (uint32_t plane = 0; !ret && plane < it->schedule.planes; plane++)
		ret = program(it, &queue, plane);
	free(queue.jobs);
	return ret;
}
