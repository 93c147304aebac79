// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acts of a tenant on queues. The log has each entry before its submission and each answer after it
 * was read, and proof.py compares them. The log marks invalid entries.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

#define MOST_ENTRIES 8
#define WORST_OP 77

static int ring_act(int slice, unsigned int number, unsigned int verb, unsigned int *state)
{
	struct morph_ring_act args = {
		.head = HEAD(morph_ring_act),
		.ring = number,
		.verb = verb,
	};
	int ret = ioctl(slice, MORPH_RING_ACT, &args);

	if (state)
		*state = args.out_state;
	return ret;
}

static void forget(struct tenant_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, ring->bytes);
	*ring = (struct tenant_ring){};
}

/*
 * Closing the file ends the queues, unless another process shares the file. A tenant that gives a
 * slice away closes the queues in its own memory first.
 */
void rings_drop(struct tenant *t)
{
	unsigned int i;

	for (i = 0; i < MOST_RINGS; i++) {
		if (t->rings[i].slice && t->shared)
			ring_act(t->slice, t->rings[i].number, MORPH_RING_CLOSE, NULL);
		forget(&t->rings[i]);
	}
}

/* ---------------------------------------------------------------------- make */

static void *own_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Make a queue for a schedule of the tenant's own slice. It ends with that file. */
int ring_new(void *who)
{
	struct tenant *t = who;
	struct tenant_ring *ring = &t->rings[draw(t, MOST_RINGS)];
	struct morph_ring_setup args = { .head = HEAD(morph_ring_setup) };
	struct morph_schedule_info schedule;
	struct morph_slice_info slice;
	int error;

	if (slice_info(t->slice, &slice))
		return errno;
	if (ring->slice) {
		error = log_call(t, "ring-close",
				 ring_act(t->slice, ring->number, MORPH_RING_CLOSE, NULL));
		forget(ring);
		return error;
	}
	/* A schedule that has not started, or has stopped, serves as well. */
	if (any_schedule(t, t->slice, &schedule)) {
		error = -running_schedule(t, t->slice, &schedule);
		if (error)
			return error;
	}
	args.schedule = schedule.schedule;
	args.entries = MORPH_RING_LEAST << draw(t, 3);
	args.idle_ns = draw(t, 2) ? 0 : 1 + draw(t, 2000000);
	args.rate = draw(t, 3) ? 0 : 1000;
	ring->bytes = MORPH_RING_BYTES(args.entries);
	ring->user = draw(t, 2);
	if (ring->user) {
		ring->memory = own_memory(ring->bytes);
		args.user_ptr = (uintptr_t)ring->memory;
		args.head.flags = MORPH_RING_USER;
	}
	error = log_call(t, "ring-new", ioctl(t->slice, MORPH_RING_SETUP, &args));
	if (error) {
		forget(ring);
		return error;
	}
	ring->slice = slice.slice;
	ring->number = args.out_ring;
	ring->steps = schedule.steps.count;
	ring->device.entries = args.entries;
	actor_log(&t->actor, "ring %u %u", ring->slice, ring->number);
	if (!ring->user) {
		ring->memory = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t->slice,
				    (off_t)MORPH_RING_OFFSET(ring->number));
		if (ring->memory == MAP_FAILED)
			ring->memory = NULL;
		error = log_call(t, "map-ring", ring->memory ? 0 : -1);
	}
	ring->device.base = ring->memory;
	if (!ring->memory)
		forget(ring);
	return error;
}

/* --------------------------------------------------------------------- entries */

/* Return one of the tenant's queues, or NULL. */
static struct tenant_ring *any_ring(struct tenant *t)
{
	unsigned int first = draw(t, MOST_RINGS), i;

	for (i = 0; i < MOST_RINGS; i++)
		if (t->rings[(first + i) % MOST_RINGS].slice)
			return &t->rings[(first + i) % MOST_RINGS];
	return NULL;
}

static struct tenant_ring *ring_or_new(struct tenant *t)
{
	struct tenant_ring *ring = any_ring(t);

	if (ring)
		return ring;
	ring_new(t);
	return any_ring(t);
}

static void read_answers(struct tenant *t, struct tenant_ring *ring)
{
	struct morph_device_answer answer;

	while (morph_device_answered(&ring->device, &answer))
		actor_log(&t->actor, "answered %u %u %u %s", ring->slice, ring->number, answer.tag,
			  answer.error ? strerrorname_np(answer.error) : "0");
}

static bool is_full(const struct tenant_ring *ring)
{
	const struct morph_device_ring *device = &ring->device;

	return device->submitted - *lm_device_half(device, MORPH_DEVICE_TAKEN) >= device->entries;
}

static void submit(struct tenant *t, struct tenant_ring *ring, unsigned int op, unsigned int which,
		   uint64_t position)
{
	const char *word = op == WORST_OP ? "corrupt" : "submitted";

	if (is_full(ring) || ring->corrupt)
		return;
	actor_log(&t->actor, "%s %u %u %u", word, ring->slice, ring->number, ring->tag);
	ring->corrupt = op == WORST_OP;
	morph_device_submit(&ring->device, op, ring->tag++, which, position);
}

static void wake(struct tenant *t, struct tenant_ring *ring)
{
	if (morph_device_asleep(&ring->device))
		log_call(t, "ring-wake", ring_act(t->slice, ring->number, MORPH_RING_WAKE, NULL));
}

/* Guess positions: the driver accepts or rejects them, and the log has its answer. */
int ring_submit(void *who)
{
	struct tenant *t = who;
	struct tenant_ring *ring = ring_or_new(t);
	struct morph_schedule_info info;
	unsigned int count = 1 + draw(t, MOST_ENTRIES);
	int error;

	if (!ring)
		return ENOENT;
	error = -running_schedule(t, t->slice, &info);
	if (error)
		return error;
	while (count--) {
		unsigned int op = draw(t, 4), which = 0;
		uint64_t position = op == MORPH_RING_NOP ? 0 : info.position + 1;

		if (op == MORPH_RING_ARRIVE) {
			which = draw(t, t->ranks);
			position = info.position ? info.position : 1;
		}
		if (op == MORPH_RING_JUMP)
			which = draw(t, ring->steps);
		if (op == MORPH_RING_GO && draw(t, 2))
			position = 0;
		submit(t, ring, op, which, position);
		if (op == MORPH_RING_GO || op == MORPH_RING_JUMP)
			info.position++;
	}
	wake(t, ring);
	if (draw(t, 2))
		usleep(draw(t, 2000));
	read_answers(t, ring);
	return 0;
}

/* An invalid entry stops its queue and nothing else. */
int ring_corrupt(void *who)
{
	struct tenant *t = who;
	struct tenant_ring *ring = ring_or_new(t);

	if (!ring)
		return ENOENT;
	submit(t, ring, MORPH_RING_NOP, 0, 0);
	if (draw(t, 2)) {
		unsigned int second = draw(t, 5);

		submit(t, ring, WORST_OP, draw(t, 5), second);
	}
	wake(t, ring);
	return 0;
}

/* Act on a queue by number in any slice, also in slices of other tenants. */
int ring_touch(void *who)
{
	struct tenant *t = who;
	struct morph_slice_info info;
	unsigned int number = 1 + draw(t, 6), kind = draw(t, 6);
	int slice = borrow_slice(t, &info), error;

	if (slice < 0)
		return -slice;
	if (!kind)
		error = log_call(t, "ring-close", ring_act(slice, number, MORPH_RING_CLOSE, NULL));
	else if (kind < 4)
		error = log_call(t, "ring-wake", ring_act(slice, number, MORPH_RING_WAKE, NULL));
	else
		error = log_call(t, "ring-query", ring_act(slice, number, MORPH_RING_QUERY, NULL));
	close(slice);
	return error;
}

/* ------------------------------------------------------------------------ rest */

/* Return the state of a queue, or GONE if another process closed it. */
static unsigned int state_of(const struct tenant *t, const struct tenant_ring *ring)
{
	unsigned int state;

	return ring_act(t->slice, ring->number, MORPH_RING_QUERY, &state) ? MORPH_RING_GONE : state;
}

static bool has_answered(struct tenant *t, struct tenant_ring *ring)
{
	/*
	 * Read the state first: read_answers() then finds the answers to all earlier entries,
	 * unless the queue has stopped.
	 */
	unsigned int state = state_of(t, ring);

	wake(t, ring);
	read_answers(t, ring);
	return state != MORPH_RING_RUNNING ||
	       (!ring->corrupt && ring->device.seen == ring->device.submitted);
}

void rings_settle(struct tenant *t)
{
	unsigned int pages = 0, state, i;

	for (i = 0; i < MOST_RINGS; i++) {
		struct tenant_ring *ring = &t->rings[i];

		if (!ring->slice)
			continue;
		WAIT_UNTIL(has_answered(t, ring));
		state = state_of(t, ring);
		if (state == MORPH_RING_GONE) {
			forget(ring);
			continue;
		}
		actor_log(&t->actor, "%s %u %u", state == MORPH_RING_RUNNING ? "drained" : "halted",
			  ring->slice, ring->number);
		if (ring->user)
			pages += ring->bytes / 4096;
	}
	actor_log(&t->actor, "pinned %u %u", t->actor.done / 1000000, pages);
}
