// SPDX-License-Identifier: LGPL-2.1-or-later
/* MSCCL's XML: the receiving step of each sending step. */
#include "msccl.h"

/* Threadblocks by their end of a connection of a channel. */
struct end {
	uint32_t src, dst, channel;
	uint32_t block;
};

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_connection(const void *one, const void *other)
{
	const struct end *a = one, *b = other;
	int order = compare(a->src, b->src);

	if (!order)
		order = compare(a->dst, b->dst);
	return order ? order : compare(a->channel, b->channel);
}

/* The next step of a block, from *at on, with this part; or NONE. */
static uint32_t next_that(const struct program *program, const struct block *block, uint8_t act,
			  uint32_t *at)
{
	while (*at < block->count) {
		uint32_t step = block->first + (*at)++;

		if (program->steps.list[step].does & act)
			return step;
	}
	return NONE;
}

static int unmatched(const struct program *program, uint32_t step, const char *act,
		     const char *other, uint32_t peer)
{
	return lm_format_fail(&program->why, EBADMSG,
			      "line %u: the step %s data that gpu %u never %s on that channel",
			      program->steps.list[step].line, act, peer, other);
}

static int match_pair(struct program *program, const struct block *from, const struct block *to)
{
	uint32_t at = 0, there = 0;

	for (;;) {
		uint32_t send = from ? next_that(program, from, SENDS, &at) : NONE;
		uint32_t receive = to ? next_that(program, to, RECEIVES, &there) : NONE;
		struct step *steps = program->steps.list;

		if (send == NONE && receive == NONE)
			return 0;
		if (receive == NONE)
			return unmatched(program, send, "sends", "receives", from->send);
		if (send == NONE)
			return unmatched(program, receive, "receives", "sends", to->receive);
		if (steps[send].count != steps[receive].count)
			return lm_format_fail(
				&program->why, EBADMSG,
				"line %u: the step receives %u chunks, not the %u that line %u sends",
				steps[receive].line, steps[receive].count, steps[send].count,
				steps[send].line);
		steps[send].receiver = receive;
		steps[receive].sender = send;
	}
}

/* The ends of one side, sorted. 0, -ENOMEM or a noted -EINVAL. */
static int list_ends(const struct program *program, bool sends, struct end **out, uint32_t *count)
{
	struct end *ends = calloc((size_t)program->blocks.count + 1, sizeof(*ends));

	*out = ends;
	*count = 0;
	if (!ends)
		return lm_format_no_memory(&program->why);
	for (uint32_t at = 0; at < program->blocks.count; at++) {
		const struct block *block = &program->blocks.list[at];

		if ((sends ? block->send : block->receive) == NONE)
			continue;
		ends[(*count)++] = (struct end){ .src = sends ? block->gpu : block->receive,
						 .dst = sends ? block->send : block->gpu,
						 .channel = block->channel,
						 .block = at };
	}
	qsort(ends, *count, sizeof(*ends), by_connection);
	for (uint32_t at = 1; at < *count; at++)
		if (!by_connection(&ends[at - 1], &ends[at]))
			return lm_format_fail(
				&program->why, EINVAL,
				"line %u: another threadblock of gpu %u %s gpu %u on channel %u",
				program->blocks.list[ends[at].block].line,
				sends ? ends[at].src : ends[at].dst,
				sends ? "sends to" : "receives from",
				sends ? ends[at].dst : ends[at].src, ends[at].channel);
	return 0;
}

int lm_msccl_match(struct program *program)
{
	struct end *from = NULL, *to = NULL;
	uint32_t from_count, to_count, at = 0, there = 0;
	int ret = list_ends(program, true, &from, &from_count);

	if (!ret)
		ret = list_ends(program, false, &to, &to_count);
	while (!ret && (at < from_count || there < to_count)) {
		int order = at == from_count  ? 1 :
			    there == to_count ? -1 :
						by_connection(&from[at], &to[there]);
		const struct block *blocks = program->blocks.list;

		ret = match_pair(program, order <= 0 ? &blocks[from[at].block] : NULL,
				 order >= 0 ? &blocks[to[there].block] : NULL);
		at += order <= 0;
		there += order >= 0;
	}
	free(from);
	free(to);
	return ret;
}
