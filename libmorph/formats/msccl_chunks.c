// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MSCCL's XML: from followed values to a collective. For each rank and chunk, the arrivals are
 * checked round by round, as the collective will execute them. Each sent value, and each output,
 * must be what the rank then has of the chunk. Finally the rounds are executed, because sums can
 * have an input in common.
 */
#include "msccl_follow.h"

/* ----------------------------------------------------------------------- chunks */

static int by_gpu(const void *one, const void *other, void *context)
{
	const struct origin *list = context;
	const struct origin *a = &list[*(const uint32_t *)one],
			    *b = &list[*(const uint32_t *)other];

	if (a->gpu != b->gpu)
		return a->gpu < b->gpu ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Add an input of a chunk, in the order of gpus. */
static int add_part(struct follow *follow, const struct origin *origin, struct chunk *chunk)
{
	if (chunk->parts && chunk->last == origin->gpu)
		return lm_format_fail(
			follow->why, EBADMSG,
			"line %u: the algorithm sums input %u and another input of gpu %u",
			origin->line, origin->index, origin->gpu);
	if (chunk->parts && follow->program->coll != CUSTOM && chunk->index != origin->index)
		return lm_format_fail(
			follow->why, EBADMSG,
			"line %u: the algorithm sums input %u of gpu %u and input %u of gpu %u",
			origin->line, origin->index, origin->gpu, chunk->index, chunk->begins);
	if (!chunk->parts) {
		chunk->begins = origin->gpu;
		chunk->index = origin->index;
		chunk->line = origin->line;
	}
	chunk->parts++;
	chunk->last = origin->gpu;
	return 0;
}

/* Number chunks in the order of their first inputs. */
static int find_chunks(struct follow *follow)
{
	uint32_t count = follow->origins.count;
	uint32_t *sorted = calloc((size_t)count + 1, sizeof(*sorted));
	int ret = sorted ? 0 : lm_format_no_memory(follow->why);

	for (uint32_t at = 0; !ret && at < count; at++) {
		sorted[at] = at;
		follow->origins.list[at].chunk = NONE;
	}
	if (!ret)
		qsort_r(sorted, count, sizeof(*sorted), by_gpu, follow->origins.list);
	for (uint32_t at = 0; !ret && at < count; at++) {
		struct origin *origin = &follow->origins.list[sorted[at]];
		struct origin *first =
			&follow->origins.list[lm_follow_representative(follow, sorted[at])];

		if (first->chunk == NONE) {
			if (GROW(follow->chunks)) {
				ret = lm_format_no_memory(follow->why);
				break;
			}
			first->chunk = follow->chunks.count;
			follow->chunks.list[follow->chunks.count++] = (struct chunk){ 0 };
		}
		origin->chunk = first->chunk;
		ret = add_part(follow, origin, &follow->chunks.list[first->chunk]);
	}
	free(sorted);
	return ret;
}

static int check_parts(const struct follow *follow)
{
	uint32_t gpus = follow->program->gpus_count;

	for (uint32_t at = 0; at < follow->chunks.count; at++) {
		struct chunk *chunk = &follow->chunks.list[at];

		if (chunk->parts != 1 && chunk->parts != gpus)
			return lm_format_fail(
				follow->why, EBADMSG,
				"line %u: the sum of input %u of gpu %u has the input of %u of the other %u gpus",
				chunk->line, chunk->index, chunk->begins, chunk->parts - 1,
				gpus - 1);
		if (chunk->parts == gpus && gpus > 1)
			chunk->begins = MORPH_EACH_RANK;
		chunk->last = NONE;
	}
	return 0;
}

/* Whether an output is what the collective of this name requires. */
static bool is_promised(const struct follow *follow, const struct chunk *chunk, uint32_t gpu,
			uint32_t index)
{
	uint32_t each = follow->program->gpus_count > 1 ? MORPH_EACH_RANK : 0;
	uint32_t share = follow->share;

	switch (follow->program->coll) {
	case ALL_REDUCE:
		return chunk->begins == each && chunk->index == index;
	case REDUCE_SCATTER:
		return chunk->begins == each && chunk->index == gpu * share + index;
	case ALL_GATHER:
		return chunk->begins == index / share && chunk->index == index % share;
	case ALL_TO_ALL:
		return chunk->begins == index / share &&
		       chunk->index == gpu * share + index % share;
	case BROADCAST:
		return chunk->parts == 1 && chunk->index == index &&
		       chunk->begins == follow->chunks.list[0].begins;
	default:
		return true;
	}
}

/* Find the final value at a place of a gpu's output. */
static int find_output(struct follow *follow, uint32_t gpu, uint32_t index)
{
	const struct gpu *about = lm_follow_gpu_of(follow, gpu);
	int64_t found =
		lm_follow_read_value(follow, gpu, follow->starts[OUTPUT][gpu] + index, about->line);
	const struct value *value = &follow->values.list[found > 0 ? found : 0];
	struct event event = { .rank = gpu,
			       .origin = value->origin,
			       .round = NONE,
			       .base = value->base,
			       .merged = value->merged,
			       .line = about->line };

	if (found < 0)
		return (int)found;
	if (!found && follow->program->coll == CUSTOM)
		return 0;
	if (!found)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: output %u of gpu %u is empty at the end",
				      about->line, index, gpu);
	return lm_follow_add_event(follow, &event);
}

/* Output events state where chunks end. They are sorted by gpu. */
static int find_ends(struct follow *follow, uint32_t first)
{
	const uint32_t *starts = follow->starts[OUTPUT];

	for (uint32_t at = first; at < follow->events.count; at++) {
		const struct event *event = &follow->events.list[at];
		struct chunk *chunk =
			&follow->chunks.list[follow->origins.list[event->origin].chunk];

		if (chunk->last != event->rank) {
			chunk->copies++;
			chunk->ends = chunk->last = event->rank;
		}
	}
	if (follow->program->coll == CUSTOM)
		return 0;
	for (uint32_t gpu = 0; gpu < follow->program->gpus_count; gpu++) {
		for (uint32_t index = 0; index < follow->outputs; index++) {
			uint32_t value = follow->places[starts[gpu] + index];
			uint32_t origin = follow->values.list[value].origin;
			uint32_t chunk = follow->origins.list[origin].chunk;

			if (!is_promised(follow, &follow->chunks.list[chunk], gpu, index))
				return lm_format_fail(
					follow->why, EBADMSG,
					"line %u: output %u of gpu %u has wrong data at the end",
					lm_follow_gpu_of(follow, gpu)->line, index, gpu);
		}
	}
	return 0;
}

static int check_ends(const struct follow *follow)
{
	uint32_t gpus = follow->program->gpus_count;

	for (uint32_t at = 0; at < follow->chunks.count; at++) {
		struct chunk *chunk = &follow->chunks.list[at];

		if (chunk->copies != 1 && chunk->copies != gpus)
			return lm_format_fail(follow->why, EBADMSG,
					      "line %u: input %u of gpu %u ends at %u of %u gpus",
					      chunk->line, chunk->index,
					      chunk->begins == MORPH_EACH_RANK ? 0 : chunk->begins,
					      chunk->copies, gpus);
		if (chunk->copies == gpus && gpus > 1)
			chunk->ends = MORPH_EACH_RANK;
	}
	return 0;
}

static int follow_outputs(struct follow *follow)
{
	uint32_t first = follow->events.count;
	int ret = 0;

	for (uint32_t gpu = 0; !ret && gpu < follow->program->gpus_count; gpu++)
		for (uint32_t index = 0; !ret && index < lm_follow_outputs_of(follow, gpu); index++)
			ret = find_output(follow, gpu, index);
	if (!ret)
		ret = find_chunks(follow);
	if (!ret)
		ret = check_parts(follow);
	if (!ret)
		ret = find_ends(follow, first);
	return ret ? ret : check_ends(follow);
}

/* --------------------------------------------------- one of each chunk at a rank */

static uint32_t chunk_of(const struct follow *follow, const struct event *event)
{
	return follow->origins.list[event->origin].chunk;
}

/* By chunk, rank and round. A round sends what was present before it. */
static int by_holder(const void *one, const void *other, void *context)
{
	const struct event *a = one, *b = other;
	uint32_t left[] = { chunk_of(context, a), a->rank, a->round, a->arrives, a->base };
	uint32_t right[] = { chunk_of(context, b), b->rank, b->round, b->arrives, b->base };

	for (size_t at = 0; at < sizeof(left) / sizeof(*left); at++)
		if (left[at] != right[at])
			return left[at] < right[at] ? -1 : 1;
	return 0;
}

/* The state of a chunk at a rank. */
struct held {
	uint32_t base, merged; /* base 0: its own input */
	uint32_t replaced, changed; /* the last rounds of these changes, or NONE */
};

static int hold_event(const struct follow *follow, const struct event *event, struct held *held)
{
	const struct value *base = &follow->values.list[event->base];
	bool clash;

	if (!event->arrives) {
		if (held->base == (base->arrived ? event->base : 0) &&
		    held->merged == event->merged)
			return 0;
		return lm_format_fail(
			follow->why, EBADMSG,
			"line %u: gpu %u has this chunk in another buffer with another sum",
			event->line, event->rank);
	}
	clash = base->summed ? held->replaced == event->round : held->changed == event->round;
	if (clash)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: gpu %u gets this chunk a second time in a round",
				      event->line, event->rank);
	held->changed = event->round;
	held->merged++;
	if (!base->summed)
		*held = (struct held){ .base = event->base,
				       .replaced = event->round,
				       .changed = event->round };
	return 0;
}

static int check_holders(struct follow *follow)
{
	const struct held none = { .replaced = NONE, .changed = NONE };
	struct event *events = follow->events.list;
	struct held held = none;
	int ret = 0;

	if (follow->events.count)
		qsort_r(events, follow->events.count, sizeof(*events), by_holder, follow);
	for (uint32_t at = 0; !ret && at < follow->events.count; at++) {
		if (at && (events[at].rank != events[at - 1].rank ||
			   chunk_of(follow, &events[at]) != chunk_of(follow, &events[at - 1])))
			held = none;
		ret = hold_event(follow, &events[at], &held);
	}
	return ret;
}

/* ------------------------------------------------------------------- collectives */

/* By round, sender, whether it is summed, and chunk. */
static int by_transfer(const void *one, const void *other, void *context)
{
	const struct follow *follow = context;
	const struct event *a = one, *b = other;
	uint32_t left[] = { a->round, a->block, follow->values.list[a->base].summed,
			    chunk_of(follow, a), a->base };
	uint32_t right[] = { b->round, b->block, follow->values.list[b->base].summed,
			     chunk_of(follow, b), b->base };

	for (size_t at = 0; at < sizeof(left) / sizeof(*left); at++)
		if (left[at] != right[at])
			return left[at] < right[at] ? -1 : 1;
	return 0;
}

/* Drop sends and outputs, and keep arrivals. */
static void keep_arrivals(struct follow *follow)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < follow->events.count; at++)
		if (follow->events.list[at].arrives)
			follow->events.list[kept++] = follow->events.list[at];
	follow->events.count = kept;
	if (kept)
		qsort_r(follow->events.list, kept, sizeof(*follow->events.list), by_transfer,
			follow);
}

/* Add one transfer of the events from *at on, and move *at behind them. */
static int add_transfer(const struct follow *follow, struct morph_collective *collective,
			uint32_t *at)
{
	const struct event *events = follow->events.list, *first = &events[*at];
	bool summed = follow->values.list[first->base].summed;
	int ret = morph_collective_add_transfer(collective, first->src, first->rank, summed);

	while (ret >= 0 && *at < follow->events.count) {
		const struct event *event = &events[*at];
		uint32_t chunk = chunk_of(follow, event), run = 1;

		if (event->round != first->round || event->block != first->block ||
		    follow->values.list[event->base].summed != summed)
			break;
		while (*at + run < follow->events.count &&
		       events[*at + run].round == first->round &&
		       events[*at + run].block == first->block &&
		       follow->values.list[events[*at + run].base].summed == summed &&
		       chunk_of(follow, &events[*at + run]) == chunk + run)
			run++;
		ret = morph_collective_add_run(collective, chunk, run);
		*at += run;
	}
	return ret;
}

/*
 * Chunk sizes from the largest buffer, which has @bytes. Other statements of the file scale each
 * chunk.
 */
static int find_shares(const struct follow *follow, uint32_t *shares)
{
	const struct program *program = follow->program;

	*shares = 1;
	for (uint32_t at = 0; at < program->gpus_count; at++) {
		const struct gpu *gpu = lm_follow_gpu_of(follow, at);

		*shares = larger(*shares, larger(gpu->chunks[INPUT], gpu->chunks[OUTPUT]));
	}
	if (!program->chunks_per_loop || program->chunks_per_loop == *shares)
		return 0;
	return lm_format_fail(follow->why, EINVAL,
			      "line %u: nchunksperloop=\"%u\", the largest buffer has %u chunk%s",
			      program->line, program->chunks_per_loop, *shares,
			      *shares == 1 ? "" : "s");
}

static int fill(const struct follow *follow, struct morph_collective *collective, uint64_t bytes)
{
	const struct program *program = follow->program;
	uint32_t shares, at = 0;
	uint64_t share;
	int ret = find_shares(follow, &shares);

	if (ret)
		return ret;
	share = bytes / shares + (bytes % shares != 0);
	ret = morph_collective_begin(collective, program->gpus_count);
	for (uint32_t chunk = 0; ret >= 0 && chunk < follow->chunks.count; chunk++)
		ret = morph_collective_add_chunk(collective, follow->chunks.list[chunk].begins,
						 follow->chunks.list[chunk].ends, share);
	while (ret >= 0 && at < follow->events.count) {
		uint32_t round = follow->events.list[at].round;

		ret = morph_collective_add_round(collective);
		while (ret >= 0 && at < follow->events.count &&
		       follow->events.list[at].round == round)
			ret = add_transfer(follow, collective, &at);
	}
	return lm_format_added(follow->why, ret < 0 ? ret : 0);
}

/* The reason why the rounds cannot contain an arrival. */
static int refuse_arrival(const struct follow *follow, const struct event *event)
{
	if (follow->values.list[event->base].summed)
		return lm_format_fail(
			follow->why, EBADMSG,
			"line %u: gpu %u adds data of gpu %u to a sum that already contains it",
			event->line, event->rank, event->src);
	return lm_format_fail(follow->why, EBADMSG,
			      "line %u: data of gpu %u replaces a sum of which it lacks a part",
			      event->line, event->src);
}

/* Values have the number of added arrivals, but not their inputs. So the rounds are executed. */
static int check_sums(const struct follow *follow, const struct morph_collective *collective)
{
	const struct event *event = follow->events.list;
	struct morph_collective_fault fault;
	int ret = morph_collective_run(collective, &fault);

	if (ret != -EBADMSG)
		return ret ? lm_format_no_memory(follow->why) : 0;
	for (uint32_t at = 0; at < follow->events.count; at++, event++)
		if (event->round == fault.round && event->src == fault.src &&
		    event->rank == fault.dst && chunk_of(follow, event) == fault.chunk)
			return refuse_arrival(follow, event);
	return lm_format_fail(follow->why, EBADMSG,
			      "line %u: gpu %u ends with a sum of input %u that lacks parts",
			      lm_follow_gpu_of(follow, fault.dst)->line, fault.dst,
			      follow->chunks.list[fault.chunk].index);
}

int lm_follow_collect(struct follow *follow, struct morph_collective *collective, uint64_t bytes)
{
	int ret = follow_outputs(follow);

	if (!ret)
		ret = check_holders(follow);
	if (ret)
		return ret;
	keep_arrivals(follow);
	ret = fill(follow, collective, bytes);
	return ret ? ret : check_sums(follow, collective);
}
