// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A slice's state in shared memory, which the kernel writes at any time. Its version is odd during
 * a write, and different after it.
 */
#include "internal.h"

#define LOOKS 64 /* before the thread yields, possibly to the writer */
#define PATIENCE_NS 1000000000LL /* then the read fails: no writer is interrupted this long */

struct morph_state {
	struct morph_ctx *ctx;
	const volatile struct morph_state_page *page;
	size_t bytes;
	uint32_t ranks;
};

/* ------------------------------------------------------------------ mapping */

/* Ranks never change, so one request is sufficient. */
static int ask_ranks(struct morph_slice *slice, uint32_t *ranks)
{
	struct morph_slice_info info;
	int error;

	memset(&info, 0, sizeof(info));
	error = lm_ioctl(slice->ctx, slice->fd, MORPH_SLICE_INFO, &info, sizeof(info),
			 "read slice %u", slice->number);
	*ranks = info.ranks.count;
	return error;
}

static int state_map(struct morph_state *state, struct morph_slice *slice)
{
	struct lm_transport *transport = slice->ctx->transport;
	uint64_t bytes = MORPH_STATE_BYTES((uint64_t)state->ranks * state->ranks);
	int error = -EOVERFLOW;
	uint32_t ranks;
	void *memory;

	state->bytes = (size_t)bytes;
	if (state->bytes == bytes)
		error = transport->ops->map(transport, slice->fd, 0, state->bytes, false, &memory);
	if (error)
		return lm_fail(slice->ctx, -error, "map the state of slice %u: %s", slice->number,
			       strerror(-error));
	state->page = memory;
	ranks = state->page->ranks;
	if (ranks == state->ranks)
		return 0;
	transport->ops->unmap(transport, memory, state->bytes);
	return lm_fail(slice->ctx, EPROTO,
		       "the shared state of slice %u has %u ranks, the slice has %u", slice->number,
		       ranks, state->ranks);
}

MORPH_API int morph_slice_state_map(struct morph_slice *slice, struct morph_state **out)
{
	struct morph_state *state = calloc(1, sizeof(*state));
	int error;

	*out = NULL;
	if (!state)
		return lm_no_memory(slice->ctx, "map the state of slice %u", slice->number);
	state->ctx = slice->ctx;
	error = ask_ranks(slice, &state->ranks);
	if (!error)
		error = state_map(state, slice);
	if (error)
		free(state);
	else
		*out = state;
	return error;
}

MORPH_API void morph_state_close(struct morph_state *state)
{
	if (!state)
		return;
	state->ctx->transport->ops->unmap(state->ctx->transport, (void *)state->page, state->bytes);
	free(state);
}

/* ------------------------------------------------------------------ reading */

/* The number of failed reads, and their time limit. */
struct reading {
	uint64_t version;
	uint32_t looks;
	int64_t end_ns;
};

/* Read the version. False if it is odd, because a write is running. */
static bool read_begin(const struct morph_state *state, struct reading *reading)
{
	reading->version = state->page->version;
	/* Later reads are not older than the version. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(reading->version & 1);
}

/* Whether no write happened since. */
static bool read_end(const struct morph_state *state, const struct reading *reading)
{
	/* Earlier reads are not newer than the next read of the version. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return state->page->version == reading->version;
}

/* Try again, unless the limit is reached. */
static bool read_again(struct reading *reading)
{
	int64_t now_ns;

	if (++reading->looks % LOOKS)
		return true;
	now_ns = lm_now_ns();
	if (!reading->end_ns)
		reading->end_ns = now_ns + PATIENCE_NS;
	lm_pause();
	return now_ns < reading->end_ns;
}

static int read_given_up(const struct morph_state *state)
{
	return lm_fail(state->ctx, EAGAIN,
		       "the driver was writing the slice's state during every read");
}

MORPH_API int morph_state_read(const struct morph_state *state, uint32_t src, uint32_t dst,
			       struct morph_state_pair *pair)
{
	const volatile struct morph_state_pair *pairs = (const volatile void *)(state->page + 1);
	struct reading reading = { 0 };

	if (src >= state->ranks || dst >= state->ranks)
		return lm_fail(state->ctx, ENOENT,
			       "no pair of ranks %u, %u: the slice has %u ranks", src, dst,
			       state->ranks);
	pairs += (size_t)src * state->ranks + dst;
	do {
		if (!read_begin(state, &reading))
			continue;
		pair->generation = pairs->generation;
		pair->hops = pairs->hops;
		pair->mbps = pairs->mbps;
		if (read_end(state, &reading))
			return 0;
	} while (read_again(&reading));
	return read_given_up(state);
}

MORPH_API int morph_state_slice(const struct morph_state *state, struct morph_state_slice *out)
{
	struct morph_state_slice mine = { .ranks = state->ranks };
	struct reading reading = { 0 };

	do {
		if (!read_begin(state, &reading))
			continue;
		mine.generation = state->page->generation;
		mine.position = state->page->position;
		mine.schedule = state->page->schedule;
		mine.step = state->page->step;
		mine.settle_ns = state->page->settle_ns;
		mine.relock_ns = state->page->relock_ns;
		if (!read_end(state, &reading))
			continue;
		lm_answer_copy(out, &mine, sizeof(mine));
		return 0;
	} while (read_again(&reading));
	return read_given_up(state);
}

const volatile void *morph_state_base(const struct morph_state *state, size_t *bytes)
{
	if (bytes)
		*bytes = state->bytes;
	return state->page;
}
