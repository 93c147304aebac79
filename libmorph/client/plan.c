// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans that concurrent changes can invalidate, and the most frequent one, the ring. */
#include <time.h>

#include "internal.h"

#define FIRST_PAUSE_NS 5000000L /* 5 ms, then twice as long each time */
#define LONGEST_PAUSE_NS 320000000L

static void pause_before(uint32_t attempt)
{
	long pause = FIRST_PAUSE_NS << (attempt < 6 ? attempt : 6);
	struct timespec wait = { .tv_nsec = pause < LONGEST_PAUSE_NS ? pause : LONGEST_PAUSE_NS };

	nanosleep(&wait, NULL);
}

/* One snapshot, one plan, one run. */
static int plan_once(struct morph_slice *slice, struct morph_txn *txn, morph_plan_fn plan,
		     void *arg, struct morph_object **out)
{
	struct morph_list *circuits;
	struct morph_object *info;
	int result = morph_slice_read(slice, &info, &circuits);

	if (result)
		return result;
	morph_txn_clear(txn);
	morph_txn_set_generation(txn, morph_object_uint(info, "generation"));
	result = plan(info, circuits, txn, arg);
	morph_object_free(info);
	morph_list_free(circuits);
	if (result)
		return result > 0 ? 0 : result;
	return morph_txn_run(slice, txn, out);
}

int morph_slice_replan(struct morph_slice *slice, morph_plan_fn plan, void *arg, uint32_t attempts,
		       struct morph_object **out)
{
	struct morph_txn *txn = morph_txn_new(slice->ctx);
	int result = -EAGAIN;

	if (out)
		*out = NULL;
	if (!txn)
		return -ENOMEM;
	if (!attempts)
		attempts = LM_RETRIES;
	for (uint32_t attempt = 0; attempt < attempts; attempt++) {
		if (attempt)
			pause_before(attempt - 1);
		if (out) {
			morph_object_free(*out);
			*out = NULL;
		}
		result = plan_once(slice, txn, plan, arg, out);
		if (result != -ESTALE && result != -EAGAIN)
			break;
	}
	morph_txn_free(txn);
	return result;
}

/* -------------------------------------------------------------------- ring */

struct ring {
	struct morph_ctx *ctx;
	const uint32_t *ranks; /* NULL: rank n is the nth */
	uint32_t count;
	uint32_t lanes_count;
	bool both_ways;
};

static bool circuit_is_there(const struct morph_list *circuits, uint32_t src, uint32_t dst,
			     uint32_t lanes_count)
{
	for (size_t at = 0; at < morph_list_count(circuits); at++) {
		const struct morph_object *circuit = morph_list_get(circuits, at);
		uint32_t state = morph_object_uint(circuit, "state");

		if (morph_object_uint(circuit, "src-rank") == src &&
		    morph_object_uint(circuit, "dst-rank") == dst &&
		    (state == MORPH_CIRCUIT_LIT || state == MORPH_CIRCUIT_CHANGING) &&
		    __builtin_popcountll(morph_object_uint(circuit, "lanes")) >= (int)lanes_count)
			return true;
	}
	return false;
}

static int ring_edge(const struct ring *ring, const struct morph_list *circuits,
		     struct morph_txn *txn, uint32_t src, uint32_t dst)
{
	MORPH_OPTS(morph_circuit_opts, opts, .lanes_count = ring->lanes_count);
	int number;

	if (circuit_is_there(circuits, src, dst, ring->lanes_count))
		return 0;
	number = morph_txn_add(txn, src, dst, &opts);
	return number < 0 ? number : 0;
}

static int ring_check(const struct ring *ring, uint32_t ranks, uint32_t count)
{
	if (count < 2)
		return lm_fail(ring->ctx, EINVAL, "a ring requires at least 2 ranks, not %u",
			       count);
	for (uint32_t at = 0; ring->ranks && at < count; at++) {
		if (ring->ranks[at] >= ranks)
			return lm_fail(ring->ctx, ENOENT, "no rank %u: the slice has %u ranks",
				       ring->ranks[at], ranks);
		for (uint32_t before = 0; before < at; before++)
			if (ring->ranks[at] == ring->ranks[before])
				return lm_fail(ring->ctx, EINVAL,
					       "rank %u is listed twice in the ring",
					       ring->ranks[at]);
	}
	return 0;
}

static int ring_plan(const struct morph_object *info, const struct morph_list *circuits,
		     struct morph_txn *txn, void *arg)
{
	const struct ring *ring = arg;
	uint32_t ranks = morph_object_uint(info, "ranks-count");
	uint32_t count = ring->ranks ? ring->count : ranks;
	int error = ring_check(ring, ranks, count);

	for (uint32_t at = 0; !error && at < count; at++) {
		uint32_t next = at + 1 < count ? at + 1 : 0;
		uint32_t src = ring->ranks ? ring->ranks[at] : at;
		uint32_t dst = ring->ranks ? ring->ranks[next] : next;

		error = ring_edge(ring, circuits, txn, src, dst);
		/* a ring of two ranks has both directions already */
		if (!error && ring->both_ways && count > 2)
			error = ring_edge(ring, circuits, txn, dst, src);
	}
	if (error)
		return error;
	return morph_txn_count(txn) ? 0 : 1;
}

MORPH_API int morph_slice_light_ring(struct morph_slice *slice, const struct morph_ring_opts *opts,
				     struct morph_object **out)
{
	struct morph_ring_opts mine;
	struct ring ring;
	int error;

	if (out)
		*out = NULL;
	error = lm_opts_check(slice->ctx, opts, sizeof(mine), "morph_ring_opts");
	if (error)
		return error;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if ((mine.flags & ~MORPH_RING_BOTH_WAYS) || mine.reserved ||
	    mine.ranks_count > LM_MAX_CHANGES)
		return lm_fail(slice->ctx, EINVAL,
			       "morph_ring_opts has an unknown flag, or %zu ranks",
			       mine.ranks_count);
	ring.ctx = slice->ctx;
	ring.ranks = mine.ranks;
	ring.count = (uint32_t)mine.ranks_count;
	ring.lanes_count = mine.lanes_count ? mine.lanes_count : 1;
	ring.both_ways = mine.flags & MORPH_RING_BOTH_WAYS;
	return morph_slice_replan(slice, ring_plan, &ring, mine.attempts, out);
}
