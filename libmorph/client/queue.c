// SPDX-License-Identifier: LGPL-2.1-or-later
/* Queues: set up, map, and use them from the host. */
#include <morph/device.h>

#include "internal.h"

#define ENTRIES 64
#define LOOKS 1024 /* before the thread yields */

struct morph_queue {
	struct morph_slice *slice;
	struct morph_device_ring end;
	uint32_t number;
	size_t bytes; /* mapped bytes; 0: the memory belongs to the caller */
};

/* ------------------------------------------------------------------ opening */

static int opts_check(struct morph_ctx *ctx, const struct morph_queue_open_opts *opts)
{
	if (opts->reserved)
		return lm_fail(ctx, EINVAL, "morph_queue_open_opts.reserved is not 0");
	if (opts->entries < MORPH_RING_LEAST || opts->entries > MORPH_RING_MOST ||
	    (opts->entries & (opts->entries - 1)))
		return lm_fail(
			ctx, EINVAL,
			"the number of entries of a queue must be a power of two from %u to %u, not %u",
			MORPH_RING_LEAST, MORPH_RING_MOST, opts->entries);
	if (opts->memory ? opts->memory_bytes < MORPH_RING_BYTES(opts->entries) :
			   opts->memory_bytes != 0)
		return lm_fail(ctx, EINVAL,
			       "a queue of %u entries requires %u bytes, not %zu at %p",
			       opts->entries, MORPH_RING_BYTES(opts->entries), opts->memory_bytes,
			       opts->memory);
	return 0;
}

static int ring_setup(struct morph_queue *ring, uint32_t schedule,
		      const struct morph_queue_open_opts *opts)
{
	struct morph_slice *slice = ring->slice;
	struct morph_ring_setup setup;
	int error;

	memset(&setup, 0, sizeof(setup));
	setup.head.flags = opts->memory ? MORPH_RING_USER : 0;
	setup.schedule = schedule;
	setup.entries = opts->entries;
	setup.idle_ns = opts->idle_ns;
	setup.rate = opts->rate;
	setup.user_ptr = (uintptr_t)opts->memory;
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_RING_SETUP, &setup, sizeof(setup),
			 "open a queue for schedule %u of slice %u", schedule, slice->number);
	ring->number = setup.out_ring;
	return error;
}

static int ring_map(struct morph_queue *ring, const struct morph_queue_open_opts *opts)
{
	struct morph_ctx *ctx = ring->slice->ctx;
	size_t bytes = MORPH_RING_BYTES(opts->entries);
	int error;

	ring->end.entries = opts->entries;
	ring->end.base = opts->memory;
	if (opts->memory)
		return 0;
	error = ctx->transport->ops->map(ctx->transport, ring->slice->fd,
					 MORPH_RING_OFFSET(ring->number), bytes, true,
					 &ring->end.base);
	if (error)
		return lm_fail(ctx, -error, "map queue %u of slice %u: %s", ring->number,
			       ring->slice->number, strerror(-error));
	ring->bytes = bytes;
	return 0;
}

/* Notes no failure, because the caller closes the queue. */
static void ring_end(struct morph_queue *ring)
{
	struct morph_ctx *ctx = ring->slice->ctx;
	struct morph_ring_act act;

	memset(&act, 0, sizeof(act));
	act.head.size = sizeof(act);
	act.ring = ring->number;
	act.verb = MORPH_RING_CLOSE;
	ctx->transport->ops->ioctl(ctx->transport, ring->slice->fd, MORPH_RING_ACT, &act);
}

MORPH_API int morph_slice_open_queue(struct morph_slice *slice, uint32_t schedule,
				     const struct morph_queue_open_opts *opts,
				     struct morph_queue **out)
{
	struct morph_queue_open_opts mine;
	struct morph_queue *ring;
	int error;

	*out = NULL;
	error = lm_opts_check(slice->ctx, opts, sizeof(mine), "morph_queue_open_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (!mine.entries)
		mine.entries = ENTRIES;
	error = opts_check(slice->ctx, &mine);
	if (error)
		return error;
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return lm_no_memory(slice->ctx, "open a ring");
	ring->slice = slice;
	error = ring_setup(ring, schedule, &mine);
	if (!error) {
		error = ring_map(ring, &mine);
		if (error)
			ring_end(ring);
	}
	if (error)
		free(ring);
	else
		*out = ring;
	return error;
}

MORPH_API void morph_queue_close(struct morph_queue *ring)
{
	struct lm_transport *transport;

	if (!ring)
		return;
	transport = ring->slice->ctx->transport;
	ring_end(ring);
	if (ring->bytes)
		transport->ops->unmap(transport, ring->end.base, ring->bytes);
	free(ring);
}

/* -------------------------------------------------------------------- state */

static int ring_act(struct morph_queue *ring, uint32_t verb, const char *what,
		    struct morph_ring_act *act)
{
	struct morph_slice *slice = ring->slice;

	memset(act, 0, sizeof(*act));
	act->ring = ring->number;
	act->verb = verb;
	return lm_ioctl(slice->ctx, slice->fd, MORPH_RING_ACT, act, sizeof(*act),
			"%s queue %u of slice %u", what, ring->number, slice->number);
}

MORPH_API int morph_queue_wake(struct morph_queue *ring)
{
	struct morph_ring_act act;

	return ring_act(ring, MORPH_RING_WAKE, "wake", &act);
}

MORPH_API int morph_queue_state(struct morph_queue *ring, struct morph_queue_status *status)
{
	struct morph_queue_status mine = { 0 };
	struct morph_ring_act act;
	int error = ring_act(ring, MORPH_RING_QUERY, "read", &act);

	if (error)
		return error;
	mine.state = act.out_state;
	mine.error = act.out_error;
	mine.taken = act.out_taken;
	mine.sleeps = act.out_sleeps;
	mine.base = ring->end.base;
	mine.entries = ring->end.entries;
	if (status)
		lm_answer_copy(status, &mine, sizeof(mine));
	return (int)act.out_state;
}

/* ---------------------------------------------------------------- ask, answer */

static int ask_check(struct morph_ctx *ctx, uint32_t op, uint32_t rank, uint64_t position,
		     uint32_t tag)
{
	if (op > MORPH_RING_JUMP)
		return lm_fail(ctx, EINVAL, "unknown request %u for a queue", op);
	if (rank && op != MORPH_RING_ARRIVE && op != MORPH_RING_JUMP)
		return lm_fail(
			ctx, EINVAL,
			"a rank is only valid with MORPH_RING_ARRIVE, a step with MORPH_RING_JUMP");
	if (position >= MORPH_RING_POSITIONS || tag >= MORPH_RING_TAGS)
		return lm_fail(ctx, EINVAL, "position %llu or tag %u is too large for a queue",
			       (unsigned long long)position, tag);
	/* Invalid entries stop the queue. */
	if (op == MORPH_RING_NOP ? position != 0 : op == MORPH_RING_ARRIVE && !position)
		return lm_fail(ctx, EINVAL, "position %llu is not valid for this request",
			       (unsigned long long)position);
	return 0;
}

MORPH_API int morph_queue_ask(struct morph_queue *ring, uint32_t op, uint32_t rank,
			      uint64_t position, uint32_t tag)
{
	struct morph_ctx *ctx = ring->slice->ctx;
	int error = ask_check(ctx, op, rank, position, tag);

	if (error)
		return error;
	if (morph_device_submit(&ring->end, op, tag, rank, position))
		return lm_fail(ctx, EAGAIN, "queue %u is full: all %u entries are in use",
			       ring->number, ring->end.entries);
	return morph_device_asleep(&ring->end) ? morph_queue_wake(ring) : 0;
}

/*
 * Whether an answer can come: 0, or a noted failure. It wakes a sleeping kernel thread at the first
 * look and after LOOKS only, because a thread with a rate limit sleeps often.
 */
static int waiting_check(struct morph_queue *ring, uint32_t look)
{
	bool wakes = (!look || look >= LOOKS) && morph_device_asleep(&ring->end);
	struct morph_ctx *ctx = ring->slice->ctx;

	switch (*lm_device_half(&ring->end, 0)) {
	case MORPH_RING_RUNNING:
		return wakes ? morph_queue_wake(ring) : 0;
	case MORPH_RING_STOPPED:
		return lm_fail(ctx, EPROTO, "queue %u has stopped at an invalid entry",
			       ring->number);
	default:
		return lm_fail(ctx, ENODEV, "queue %u was removed", ring->number);
	}
}

/* 1, 0 or a noted failure. An available answer has precedence over a failure. */
static int answer_await(struct morph_queue *ring, int64_t timeout_ns,
			struct morph_device_answer *answer)
{
	int64_t end_ns = timeout_ns > 0 ? lm_now_ns() + timeout_ns : 0;
	int error = 0;

	for (uint32_t look = 0;; look++) {
		if (morph_device_answered(&ring->end, answer))
			return 1;
		if (error || ring->end.submitted == ring->end.seen)
			return error;
		error = waiting_check(ring, look);
		if (error)
			continue;
		if (timeout_ns >= 0 && (!timeout_ns || lm_now_ns() >= end_ns))
			return 0;
		/* The answer comes at once, or after light has settled. */
		if (look >= LOOKS)
			lm_pause();
	}
}

MORPH_API int morph_queue_answer(struct morph_queue *ring, int64_t timeout_ns,
				 struct morph_queue_answer *answer)
{
	struct morph_queue_answer mine = { 0 };
	struct morph_device_answer got = { 0 };
	int result = answer_await(ring, timeout_ns, &got);

	if (result <= 0)
		return result;
	mine.tag = got.tag;
	mine.error = -(int32_t)got.error;
	mine.position = got.position;
	lm_answer_copy(answer, &mine, sizeof(mine));
	return 1;
}
