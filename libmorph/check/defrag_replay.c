// SPDX-License-Identifier: LGPL-2.1-or-later
/* Replay of the steps of an answer of defragmentation. */
#include "defrag.h"

enum step_kind {
	MOVE = 1,
	SWITCH = 2,
	BREAK = 3,
	MAKE = 4,
	PLACE = 5
};

/* Light a circuit over hops of the answer, in servers that it may cross. */
static int light(struct defrag *defrag, uint32_t slice, bool own, const uint8_t *change,
		 uint32_t from, uint32_t to)
{
	uint32_t first = word(change, 1), count = word(change, 2), host = from;

	if (first > defrag->answer.strands || count > defrag->answer.strands - first)
		return wrong(defrag, EBADMSG, "a change lists fibres beyond the end of the answer");
	for (uint32_t at = 0; at < count; at++) {
		if (own && at && ck_foreign(&defrag->check.fabric, host, slice))
			return wrong(
				defrag, EBADMSG,
				"circuit %u of slice %u crosses host %u, which another slice holds",
				word(change, 0), slice, host);
		host = ck_follow_strand(&defrag->check, &defrag->used,
					strand_at(defrag->answer.strand_words, first + at),
					first + at, host);
		if (host == NONE)
			return -EBADMSG;
	}
	if (host != to)
		return wrong(defrag, EBADMSG, "circuit %u of slice %u ends at host %u, not %u",
			     word(change, 0), slice, host, to);
	return 0;
}

static void leave(struct defrag *defrag, const uint8_t *strands, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		ck_leave_strand(&defrag->check, &defrag->used, strand_at(strands, at));
}

/* A circuit may cross a server again that it crosses already. */
static bool crossed_before(const struct defrag *defrag, const struct lit *lit, uint32_t host)
{
	uint32_t at_host = lit->src_host;

	for (uint32_t at = 0; at < lit->first_count; at++) {
		const uint8_t *strand = strand_at(lit->first_strands, at);
		uint32_t last = word(strand, 0) - 1;
		uint32_t code = word(strand, 1 + 3 * (size_t)last);
		struct end end = ck_guide_end(&defrag->check.fabric, code >> 1, !(code & 1));

		if (at_host == host)
			return true;
		at_host = ck_host(&defrag->check.fabric, ck_tile(&defrag->check.fabric, end.index));
	}
	return at_host == host;
}

/* As light(), but the circuit may also cross servers of other tenants that it crossed before. */
static int lead(struct defrag *defrag, struct lit *lit, const uint8_t *change)
{
	const struct slice *slice = &defrag->slices[lit->slice];
	int ret = light(defrag, slice->number, false, change, lit->src_host, lit->dst_host);
	uint32_t host = lit->src_host;

	if (ret)
		return ret;
	for (uint32_t at = 0; at < word(change, 2); at++) {
		const uint8_t *strand =
			strand_at(defrag->answer.strand_words, word(change, 1) + at);
		uint32_t code = word(strand, 1 + 3 * (size_t)(word(strand, 0) - 1));
		struct end end = ck_guide_end(&defrag->check.fabric, code >> 1, !(code & 1));

		if (slice->transit && at &&
		    ck_foreign(&defrag->check.fabric, host, slice->number) &&
		    !crossed_before(defrag, lit, host))
			return wrong(
				defrag, EBADMSG,
				"circuit %u of slice %u crosses host %u, which another slice holds",
				lit->circuit, slice->number, host);
		host = ck_host(&defrag->check.fabric, ck_tile(&defrag->check.fabric, end.index));
	}
	lit->strands = strand_at(defrag->answer.strand_words, word(change, 1));
	lit->count = word(change, 2);
	return 0;
}

/* Check that a rank has a port for a second path, besides all circuits that the step lights. */
static int check_ports(struct defrag *defrag, const struct slice *slice, const struct lit *mine,
		       uint32_t step)
{
	uint32_t out = 0, in = 0;

	for (uint32_t at = 0; at < slice->circuits; at++) {
		const struct lit *lit = &defrag->lit[slice->first_lit + at];
		uint32_t ways = 1 + (lit->step == step + 1);

		out += lit->src == mine->src ? ways : 0;
		in += lit->dst == mine->dst ? ways : 0;
	}
	if (out > defrag->check.fabric.planes || in > defrag->check.fabric.planes)
		return wrong(defrag, EBADMSG,
			     "step %u: circuit %u of slice %u has no port for a second path", step,
			     mine->circuit, slice->number);
	return 0;
}

static struct slice *find_slice(const struct defrag *defrag, uint32_t number)
{
	for (uint32_t at = 0; at < defrag->slices_count; at++)
		if (defrag->slices[at].number == number)
			return &defrag->slices[at];
	return NULL;
}

/* Check that each circuit of a step can move, and is lit or dark as the kind of step requires. */
static int name_circuits(struct defrag *defrag, const struct slice *slice, uint32_t step,
			 uint32_t kind, const uint8_t *changes, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++) {
		uint32_t circuit = word(changes, 3 * (size_t)at);
		struct lit *lit;

		if (circuit >= slice->circuits)
			return wrong(defrag, EBADMSG, "slice %u has no circuit %u", slice->number,
				     circuit);
		lit = &defrag->lit[slice->first_lit + circuit];
		if (!lit->may_move)
			return wrong(defrag, EBADMSG, "circuit %u of slice %u may not move",
				     circuit, slice->number);
		if (lit->step == step + 1)
			return wrong(defrag, EBADMSG, "step %u changes circuit %u twice", step,
				     circuit);
		if (lit->dark != (kind == MAKE))
			return wrong(defrag, EBADMSG, "step %u: circuit %u of slice %u is %s", step,
				     circuit, slice->number, lit->dark ? "dark" : "lit");
		lit->step = step + 1;
		lit->moved = true;
		lit->interrupted |= kind != MOVE;
	}
	return 0;
}

/* One change. Circuits that go dark first do so here. */
static int replay_change(struct defrag *defrag, struct slice *slice, uint32_t step, uint32_t kind,
			 const uint8_t *change)
{
	struct lit *lit = &defrag->lit[slice->first_lit + word(change, 0)];
	int ret = 0;

	if (kind == MOVE)
		ret = check_ports(defrag, slice, lit, step);
	if (kind == BREAK) {
		if (word(change, 2))
			return wrong(defrag, EBADMSG,
				     "a circuit that goes dark must have no fibres");
		lit->dark = true;
		return 0;
	}
	lit->dark = false;
	return ret ? ret : lead(defrag, lit, change);
}

/* Hops of circuits before a step changes them. */
struct before {
	const uint8_t *strands;
	uint32_t count;
};

static int replay_changes(struct defrag *defrag, struct slice *slice, uint32_t step, uint32_t kind,
			  const uint8_t *changes, uint32_t count)
{
	struct before *before = calloc((size_t)count + 1, sizeof(*before));
	int ret = 0;

	if (!before)
		return wrong(defrag, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < count; at++) {
		const struct lit *lit =
			&defrag->lit[slice->first_lit + word(changes, 3 * (size_t)at)];

		before[at] = (struct before){ lit->strands, kind == MAKE ? 0 : lit->count };
		if (kind == SWITCH || kind == BREAK)
			leave(defrag, before[at].strands, before[at].count);
	}
	for (uint32_t at = 0; at < count && !ret; at++)
		ret = replay_change(defrag, slice, step, kind, changes + 12 * (size_t)at);
	for (uint32_t at = 0; at < count && !ret && kind == MOVE; at++)
		leave(defrag, before[at].strands, before[at].count);
	free(before);
	return ret;
}

/* The last step lights the request. */
static int replay_place(struct defrag *defrag, const uint8_t *changes, uint32_t count)
{
	const struct request *request = &defrag->check.request;
	const uint8_t *ranks = defrag->check.plan.rank_words;
	int ret = 0;

	if (count != request->circuits)
		return wrong(defrag, EBADMSG, "the last step lights %u circuits, not %u", count,
			     request->circuits);
	for (uint32_t at = 0; at < count && !ret; at++) {
		const uint8_t *change = changes + 12 * (size_t)at;
		uint32_t src = word(ranks, 2 * (size_t)word(request->pairs, 2 * (size_t)at));
		uint32_t dst = word(ranks, 2 * (size_t)word(request->pairs, 2 * (size_t)at + 1));

		if (word(change, 0) != at)
			return wrong(defrag, EBADMSG,
				     "the last step lights circuit %u instead of %u",
				     word(change, 0), at);
		ret = light(defrag, 0, request->transit, change,
			    ck_host(&defrag->check.fabric, src),
			    ck_host(&defrag->check.fabric, dst));
	}
	return ret;
}

/* While a step lights circuits, dark circuits stay dark. */
static void pass_time(struct defrag *defrag, uint32_t kind, uint32_t step)
{
	for (uint32_t at = 0; at < defrag->lit_count; at++) {
		struct lit *lit = &defrag->lit[at];

		if (kind != BREAK && (lit->dark || (kind == SWITCH && lit->step == step + 1)))
			lit->dark_ns += defrag->light_ns;
	}
}

static int replay_step(struct defrag *defrag, uint32_t step, uint32_t *next)
{
	const struct answer_words *answer = &defrag->answer;
	const uint8_t *words = answer->step_words + 16 * (size_t)step;
	uint32_t kind = word(words, 0), first = word(words, 2), count = word(words, 3);
	const uint8_t *changes = answer->change_words + 12 * (size_t)first;
	struct slice *slice = find_slice(defrag, word(words, 1));
	int ret;

	if (first != *next || count > answer->changes - first)
		return wrong(defrag, EBADMSG, "step %u has changes of another step", step);
	*next += count;
	if ((kind == PLACE) != (step + 1 == answer->steps) || (kind == PLACE && word(words, 1)))
		return wrong(defrag, EBADMSG, "the last step alone must light the request");
	if (kind == PLACE) {
		pass_time(defrag, kind, step);
		return replay_place(defrag, changes, count);
	}
	if (kind < MOVE || kind > MAKE || !slice || !count)
		return wrong(defrag, EBADMSG, "step %u has an unknown kind or slice, or no changes",
			     step);
	ret = name_circuits(defrag, slice, step, kind, changes, count);
	if (ret)
		return ret;
	pass_time(defrag, kind, step);
	return replay_changes(defrag, slice, step, kind, changes, count);
}

int ck_replay(struct defrag *defrag)
{
	uint32_t next = 0;
	int ret = 0;

	if (!defrag->answer.steps)
		ret = wrong(defrag, EBADMSG, "the answer has no steps");
	for (uint32_t step = 0; step < defrag->answer.steps && !ret; step++)
		ret = replay_step(defrag, step, &next);
	if (!ret && next != defrag->answer.changes)
		ret = wrong(defrag, EBADMSG, "%u changes belong to no step",
			    defrag->answer.changes - next);
	for (uint32_t at = 0; at < defrag->lit_count && !ret; at++)
		if (defrag->lit[at].dark)
			ret = wrong(defrag, EBADMSG, "circuit %u of slice %u stays dark",
				    defrag->lit[at].circuit,
				    defrag->slices[defrag->lit[at].slice].number);
	return ret;
}
