// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that sends use lit circuits, share none at different times, and last long enough for their
 * bytes.
 */
#include "schedule.h"

#define SCOPE_PORT 0
#define MOST_PASSES (1ULL << 23)

/* A transfer over a circuit. */
struct pass {
	uint32_t link, send;
	uint64_t from, until, bytes;
};

struct passes {
	struct pass *list;
	size_t count;
	uint64_t *sent; /* by transfer: bytes */
	bool *sends; /* by transfer: whether a send has it */
	uint64_t *fullest; /* by send: bytes */
};

/* Check that a circuit of a hold is lit during the whole send. */
static int lit(struct schedule_check *it, const struct send *send, uint32_t number,
	       const struct hold *hold, uint32_t place)
{
	bool stayed = it->delay.scope == SCOPE_PORT && it->schedule.stays[hold->link + place];

	if (send->from < (stayed ? hold->set : hold->lit) || send->until > hold->dark)
		return ck_wrong(&it->check, EBADMSG, "send %u uses a dark circuit", number);
	return 0;
}

static int walk(struct schedule_check *it, struct passes *passes, uint32_t number,
		const struct transfer *transfer)
{
	const struct schedule *schedule = &it->schedule;
	const struct send *send = &schedule->sends[number];
	uint32_t rank = transfer->src;

	for (uint32_t hop = 0; hop < send->hops.count; hop++) {
		const struct hold *hold = &schedule->holds[schedule->hops[send->hops.first + hop]];
		uint32_t place = ck_circuit_from(schedule, hold->matching, rank);
		int ret;

		if (place == NONE)
			return ck_wrong(&it->check, EBADMSG,
					"send %u has no circuit onward from rank %u", number, rank);
		ret = lit(it, send, number, hold, place);
		if (ret)
			return ret;
		passes->list[passes->count++] = (struct pass){ .link = hold->link + place,
							       .send = number,
							       .from = send->from,
							       .until = send->until,
							       .bytes = send->bytes };
		rank = schedule->circuits[schedule->matchings[hold->matching].first + place].dst;
	}
	if (rank != transfer->dst)
		return ck_wrong(&it->check, EBADMSG, "send %u ends at rank %u, not at rank %u",
				number, rank, transfer->dst);
	return 0;
}

static int walk_all(struct schedule_check *it, struct passes *passes)
{
	const struct collective *collective = &it->collective;

	for (uint32_t at = 0; at < it->schedule.sends_count; at++) {
		const struct send *send = &it->schedule.sends[at];
		const struct part *round;

		if (send->round >= collective->rounds_count)
			return ck_wrong(&it->check, EBADMSG, "send %u belongs to no round", at);
		round = &collective->rounds[send->round];
		if (send->transfers.first >= round->count ||
		    send->transfers.count > round->count - send->transfers.first)
			return ck_wrong(&it->check, EBADMSG, "send %u has no transfers", at);
		for (uint32_t next = 0; next < send->transfers.count; next++) {
			uint32_t transfer = round->first + send->transfers.first + next;
			int ret = walk(it, passes, at, &collective->transfers[transfer]);

			if (ret)
				return ret;
			if (send->bytes >
			    collective->transfers[transfer].bytes - passes->sent[transfer])
				return ck_wrong(&it->check, EBADMSG,
						"send %u exceeds the bytes of transfer %u", at,
						transfer);
			passes->sent[transfer] += send->bytes;
			passes->sends[transfer] = true;
		}
	}
	return 0;
}

static int by_link(const void *one, const void *other)
{
	const struct pass *a = one, *b = other;

	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->until < b->until ? -1 : a->until > b->until;
}

/* Sends over a circuit at the same times share it. */
static int share(struct schedule_check *it, struct passes *passes)
{
	size_t next;

	qsort(passes->list, passes->count, sizeof(*passes->list), by_link);
	for (size_t at = 0; at < passes->count; at = next) {
		const struct pass *first = &passes->list[at];
		uint64_t bytes = 0;

		for (next = at; next < passes->count && !by_link(first, &passes->list[next]);
		     next++)
			/* An overflow takes longer than any time. */
			bytes = bytes + passes->list[next].bytes < bytes ?
					UINT64_MAX :
					bytes + passes->list[next].bytes;
		for (size_t of = at; of < next; of++) {
			uint64_t *fullest = &passes->fullest[passes->list[of].send];

			*fullest = bytes > *fullest ? bytes : *fullest;
		}
		if (next < passes->count && passes->list[next].link == first->link &&
		    passes->list[next].from < first->until)
			return ck_wrong(
				&it->check, EBADMSG,
				"sends %u and %u overlap on one circuit, but at different times",
				first->send, passes->list[next].send);
	}
	return 0;
}

/* Nothing is sent over a plane during its change, or over the fabric, if changes stop these. */
static int undisturbed(struct schedule_check *it, uint32_t number)
{
	const struct schedule *schedule = &it->schedule;
	const struct send *send = &schedule->sends[number];
	uint64_t planes = 0;

	if (it->delay.scope == SCOPE_PORT)
		return 0;
	for (uint32_t hop = 0; hop < send->hops.count; hop++)
		planes |= 1ULL << schedule->holds[schedule->hops[send->hops.first + hop]].plane;
	for (uint32_t at = schedule->residents; at < schedule->holds_count; at++) {
		const struct hold *hold = &schedule->holds[at];

		if (hold->set >= send->until)
			break;
		if (hold->changed && hold->lit > send->from &&
		    (it->delay.scope > 1 || planes >> hold->plane & 1))
			return ck_wrong(&it->check, EBADMSG, "hold %u is set during send %u", at,
					number);
	}
	return 0;
}

static int in_time(struct schedule_check *it, const struct passes *passes)
{
	const struct delay *delay = &it->delay;
	uint64_t finish = 0;

	for (uint32_t at = 0; at < it->schedule.sends_count; at++) {
		const struct send *send = &it->schedule.sends[at];
		unsigned __int128 takes = ck_wire_ps(delay, passes->fullest[at]) + delay->round_ps +
					  (unsigned __int128)delay->hop_ps * send->hops.count;
		int ret;

		if (send->until - send->from < takes)
			return ck_wrong(&it->check, EBADMSG, "send %u takes %llu ps, not %llu", at,
					(unsigned long long)takes,
					(unsigned long long)(send->until - send->from));
		ret = undisturbed(it, at);
		if (ret)
			return ret;
		finish = send->until > finish ? send->until : finish;
	}
	if (finish != it->schedule.finish)
		return ck_wrong(&it->check, EBADMSG, "all data arrives after %llu ps, not %llu",
				(unsigned long long)finish,
				(unsigned long long)it->schedule.finish);
	return 0;
}

static int complete(struct schedule_check *it, const struct passes *passes)
{
	for (uint32_t at = 0; at < it->collective.transfers_count; at++)
		if (!passes->sends[at] || passes->sent[at] != it->collective.transfers[at].bytes)
			return ck_wrong(&it->check, EBADMSG,
					"transfer %u: %llu bytes sent, not %llu", at,
					(unsigned long long)passes->sent[at],
					(unsigned long long)it->collective.transfers[at].bytes);
	return 0;
}

static int send_all(struct schedule_check *it, struct passes *passes)
{
	int ret = walk_all(it, passes);

	if (!ret)
		ret = share(it, passes);
	if (!ret)
		ret = in_time(it, passes);
	return ret ? ret : complete(it, passes);
}

int ck_schedule_sends(struct schedule_check *it)
{
	struct passes passes = { 0 };
	uint64_t count = 0;
	int ret;

	for (uint32_t at = 0; at < it->schedule.sends_count && count <= MOST_PASSES; at++)
		count += (uint64_t)it->schedule.sends[at].transfers.count *
			 it->schedule.sends[at].hops.count;
	if (count > MOST_PASSES)
		return ck_wrong(&it->check, EINVAL, "too many bytes to send");
	passes.list = calloc(count + 1, sizeof(*passes.list));
	passes.sent = calloc((size_t)it->collective.transfers_count + 1, sizeof(*passes.sent));
	passes.sends = calloc((size_t)it->collective.transfers_count + 1, sizeof(*passes.sends));
	passes.fullest = calloc((size_t)it->schedule.sends_count + 1, sizeof(*passes.fullest));
	if (passes.list && passes.sent && passes.sends && passes.fullest)
		ret = send_all(it, &passes);
	else
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	free(passes.list);
	free(passes.sent);
	free(passes.sends);
	free(passes.fullest);
	return ret;
}
