// SPDX-License-Identifier: LGPL-2.1-or-later
/* From traces of messages to collectives. */
#include "trace.h"

/* One end of a message. */
struct end {
	uint32_t src, dst;
	uint64_t tag;
	uint32_t number; /* of the operation, over all ranks */
};

/* A message with both ends. */
struct message {
	uint32_t send, receive;
	uint32_t round;
};

struct convert {
	const struct why *why;
	const struct morph_trace *trace;
	uint32_t first[MOST_RANKS + 1]; /* operations of ranks, over all of them */
	uint32_t count; /* operations */
	const struct operation **operations;
	LIST_OF(struct edge) edges;
	LIST_OF(struct end) sends;
	LIST_OF(struct end) receives;
	LIST_OF(struct message) messages;
	uint32_t *message_of; /* by operation */
	uint32_t *order;
	uint32_t *late_receive,
		*late_send; /* by operation: first rounds of the operations that wait for it */
};

static int gather_operation(struct convert *convert, const struct rank *rank, uint32_t number,
			    uint32_t own)
{
	const struct operation *operation = convert->operations[number];
	const struct end end = { operation->src, operation->dst, operation->tag, number };
	bool sends = operation->kind == MORPH_TRACE_SEND;
	int ret = 0;

	for (uint32_t at = 0; at < operation->count; at++) {
		if (GROW(convert->edges))
			return lm_format_no_memory(convert->why);
		convert->edges.list[convert->edges.count++] = (struct edge){
			convert->first[own] + rank->dependencies.list[operation->first + at], number
		};
	}
	if (operation->kind == MORPH_TRACE_COLLECTIVE)
		return lm_format_fail(
			convert->why, EINVAL,
			"rank %u, byte %u: operation %llu is a collective of %llu bytes, not a message; plan the collective by name",
			own, operation->byte, (unsigned long long)operation->id,
			(unsigned long long)operation->bytes);
	if (!sends && operation->kind != MORPH_TRACE_RECEIVE)
		return 0;
	if (end.src == end.dst || end.src >= convert->trace->ranks ||
	    end.dst >= convert->trace->ranks)
		return lm_format_fail(
			convert->why, EINVAL,
			"rank %u, byte %u: no file of the other rank of operation %llu", own,
			operation->byte, (unsigned long long)operation->id);
	ret = sends ? GROW(convert->sends) : GROW(convert->receives);
	if (ret)
		return lm_format_no_memory(convert->why);
	if (sends)
		convert->sends.list[convert->sends.count++] = end;
	else
		convert->receives.list[convert->receives.count++] = end;
	return 0;
}

static int gather(struct convert *convert)
{
	const struct morph_trace *trace = convert->trace;
	uint64_t count = 0;
	int ret = 0;

	for (uint32_t rank = 0; rank < trace->ranks; rank++) {
		convert->first[rank] = (uint32_t)count;
		count += lm_trace_count(trace, rank);
		if (count > UINT32_MAX / 2)
			return lm_format_fail(convert->why, E2BIG, "too many operations");
	}
	convert->count = (uint32_t)count;
	convert->operations = calloc(count + 1, sizeof(*convert->operations));
	convert->message_of = calloc(count + 1, sizeof(*convert->message_of));
	convert->order = calloc(count + 1, sizeof(*convert->order));
	convert->late_receive = calloc(count + 1, sizeof(*convert->late_receive));
	convert->late_send = calloc(count + 1, sizeof(*convert->late_send));
	if (!convert->operations || !convert->message_of || !convert->order ||
	    !convert->late_receive || !convert->late_send)
		return lm_format_no_memory(convert->why);
	for (uint32_t rank = 0; !ret && rank < trace->ranks; rank++) {
		for (uint32_t at = 0; !ret && at < lm_trace_count(trace, rank); at++) {
			uint32_t number = convert->first[rank] + at;

			convert->operations[number] = &trace->list[rank]->operations.list[at];
			ret = gather_operation(convert, trace->list[rank], number, rank);
		}
	}
	return ret;
}

/* ---------------------------------------------------------------------- matching */

/* Messages with the same ends and tag stay in the order of the files. */
static int by_message(const void *one, const void *other, bool order)
{
	const struct end *a = one, *b = other;

	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	if (!order || a->number == b->number)
		return 0;
	return a->number < b->number ? -1 : 1;
}

static int in_order(const void *one, const void *other)
{
	return by_message(one, other, true);
}

static int unmatched(const struct convert *convert, const struct end *end, const char *act,
		     const char *other)
{
	const struct operation *operation = convert->operations[end->number];

	return lm_format_fail(
		convert->why, EBADMSG,
		"rank %u, byte %u: operation %llu %s from rank %u to %u with tag %llu data that no operation %s",
		operation->kind == MORPH_TRACE_SEND ? end->src : end->dst, operation->byte,
		(unsigned long long)operation->id, act, end->src, end->dst,
		(unsigned long long)end->tag, other);
}

static int add_message(struct convert *convert, const struct end *send, const struct end *receive)
{
	const struct operation *sent = convert->operations[send->number];
	const struct operation *received = convert->operations[receive->number];

	if (sent->bytes != received->bytes)
		return lm_format_fail(
			convert->why, EBADMSG,
			"rank %u, byte %u: operation %llu sends %llu bytes from rank %u to %u, the receiver expects %llu",
			send->src, sent->byte, (unsigned long long)sent->id,
			(unsigned long long)sent->bytes, send->src, send->dst,
			(unsigned long long)received->bytes);
	if (GROW(convert->messages) || GROW(convert->edges))
		return lm_format_no_memory(convert->why);
	convert->message_of[send->number] = convert->message_of[receive->number] =
		convert->messages.count;
	convert->messages.list[convert->messages.count++] =
		(struct message){ .send = send->number, .receive = receive->number };
	convert->edges.list[convert->edges.count++] =
		(struct edge){ send->number, receive->number };
	return 0;
}

static int match(struct convert *convert)
{
	uint32_t at = 0, there = 0;
	int ret = 0;

	if (convert->sends.count)
		qsort(convert->sends.list, convert->sends.count, sizeof(struct end), in_order);
	if (convert->receives.count)
		qsort(convert->receives.list, convert->receives.count, sizeof(struct end),
		      in_order);
	while (!ret && at < convert->sends.count && there < convert->receives.count) {
		const struct end *send = &convert->sends.list[at++];
		const struct end *receive = &convert->receives.list[there++];
		int order = by_message(send, receive, false);

		if (order < 0)
			return unmatched(convert, send, "sends", "receives");
		if (order > 0)
			return unmatched(convert, receive, "receives", "sends");
		ret = add_message(convert, send, receive);
	}
	if (!ret && at < convert->sends.count)
		return unmatched(convert, &convert->sends.list[at], "sends", "receives");
	if (!ret && there < convert->receives.count)
		return unmatched(convert, &convert->receives.list[there], "receives", "sends");
	return ret;
}

/* ------------------------------------------------------------------------ rounds */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/*
 * Find the rounds of an operation's messages after its dependencies. Sent data is present at the
 * end of a round.
 */
static void do_operation(struct convert *convert, uint32_t number, uint32_t own)
{
	const struct operation *operation = convert->operations[number];
	const uint32_t *waits = convert->trace->list[own]->dependencies.list + operation->first;
	struct message *message = NULL;
	uint32_t receive = 0, send = 0;

	for (uint32_t at = 0; at < operation->count; at++) {
		receive = larger(receive, convert->late_receive[convert->first[own] + waits[at]]);
		send = larger(send, convert->late_send[convert->first[own] + waits[at]]);
	}
	if (convert->messages.list)
		message = &convert->messages.list[convert->message_of[number]];
	if (message && operation->kind == MORPH_TRACE_SEND) {
		message->round = receive = send;
		send++;
	} else if (message && operation->kind == MORPH_TRACE_RECEIVE) {
		message->round = larger(message->round, receive);
		receive = send = larger(send, message->round + 1);
	}
	convert->late_receive[number] = receive;
	convert->late_send[number] = send;
}

static int find_rounds(struct convert *convert)
{
	int ret = lm_format_order(convert->count, convert->edges.list, convert->edges.count,
				  convert->order);

	if (ret == -ENOMEM)
		return lm_format_no_memory(convert->why);
	for (uint32_t at = 0; at < (ret ? 1 : convert->count); at++) {
		const struct operation *operation = convert->operations[convert->order[at]];
		uint32_t own = 0, high = convert->trace->ranks;

		while (high - own > 1) {
			uint32_t middle = own + (high - own) / 2;

			if (convert->first[middle] <= convert->order[at])
				own = middle;
			else
				high = middle;
		}
		if (ret == -ELOOP)
			return lm_format_fail(
				convert->why, EBADMSG,
				"rank %u, byte %u: operation %llu waits for itself through messages",
				own, operation->byte, (unsigned long long)operation->id);
		do_operation(convert, convert->order[at], own);
	}
	return ret;
}

static int by_round(const void *one, const void *other)
{
	const struct message *a = one, *b = other;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return a->send < b->send ? -1 : a->send > b->send;
}

static int fill(struct convert *convert, struct morph_collective *collective)
{
	const struct message *messages = convert->messages.list;
	uint32_t count = convert->messages.count;
	int ret = morph_collective_begin(collective, convert->trace->ranks);

	if (count)
		qsort(convert->messages.list, count, sizeof(*messages), by_round);
	for (uint32_t at = 0; ret >= 0 && at < count; at++) {
		const struct operation *send = convert->operations[messages[at].send];

		ret = morph_collective_add_chunk(collective, send->src, send->dst, send->bytes);
		if (ret >= 0 && (!at || messages[at].round != messages[at - 1].round))
			ret = morph_collective_add_round(collective);
		if (ret >= 0)
			ret = morph_collective_add_transfer(collective, send->src, send->dst,
							    false);
		if (ret >= 0)
			ret = morph_collective_add_run(collective, at, 1);
	}
	return lm_format_added(convert->why, ret < 0 ? ret : 0);
}

MORPH_API int morph_trace_convert(const struct morph_trace *trace,
				  struct morph_collective *collective, char *why, size_t room)
{
	const struct why told = { why, room };
	struct convert *convert = calloc(1, sizeof(*convert));
	int ret;

	if (!convert)
		return lm_format_no_memory(&told);
	convert->why = &told;
	convert->trace = trace;
	ret = gather(convert);
	if (!ret)
		ret = match(convert);
	if (!ret)
		ret = find_rounds(convert);
	if (!ret)
		ret = fill(convert, collective);
	free(convert->operations);
	free(convert->edges.list);
	free(convert->sends.list);
	free(convert->receives.list);
	free(convert->messages.list);
	free(convert->message_of);
	free(convert->order);
	free(convert->late_receive);
	free(convert->late_send);
	free(convert);
	return ret;
}
