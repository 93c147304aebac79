// SPDX-License-Identifier: LGPL-2.1-or-later
/* The new schedule: the order of sends in gaps, and all holds and sends with their times. */
#include "../util/sort.h"
#include "replan.h"

/* -------------------------------------------------------------- order in gaps */

/*
 * In a gap, a rank sends the data that it had before the round. If it receives the same chunks in
 * the round, as in an exchange of whole buffers, these arrive at the end of the gap: their send
 * lasts longer.
 */

static void index_coming(struct gapping *gapping)
{
	const struct morph_collective *collective = gapping->replan->collective;
	const struct round *round = &collective->rounds.list[gapping->round];

	if (gapping->coming_round == gapping->round)
		return;
	gapping->coming_round = gapping->round;
	memset(gapping->coming, 0xff, gapping->replan->old->ranks * sizeof(*gapping->coming));
	for (uint32_t at = round->count; at--;) {
		uint32_t dst = collective->transfers.list[round->first + at].dst;

		gapping->coming_next[at] = gapping->coming[dst];
		gapping->coming[dst] = at;
	}
}

static bool has_same_chunk(const struct morph_collective *collective, const struct transfer *one,
			   const struct transfer *other)
{
	for (uint32_t at = one->first; at < one->first + one->count; at++) {
		const struct chunk_run *a = &collective->runs.list[at];

		for (uint32_t next = other->first; next < other->first + other->count; next++) {
			const struct chunk_run *b = &collective->runs.list[next];

			if (a->first < b->first + b->count && b->first < a->first + a->count)
				return true;
		}
	}
	return false;
}

/* Does it arrive within the gap, and later than that? */
static bool comes_later(const struct gapping *gapping, uint32_t transfer, uint64_t later_ps)
{
	const struct replan *replan = gapping->replan;

	for (uint32_t at = gapping->first_resend; at < replan->resends.count; at++)
		if (replan->resends.list[at].transfer == transfer &&
		    replan->resends.list[at].until_ps > later_ps)
			return true;
	for (uint32_t at = replan->stretches.count; at--;) {
		const struct stretch *stretch = &replan->stretches.list[at];

		if (stretch->gap_ps != gapping->ps)
			break;
		if (stretch->transfer == transfer)
			return true;
	}
	return false;
}

/* Of the sends of a transfer that begin before the gap, the one that arrives last, or NOTHING. */
static uint32_t last_send(const struct replan *replan, uint32_t round, uint32_t transfer)
{
	uint32_t last = NOTHING;

	for (uint32_t at = replan->round_first[round]; at < replan->round_first[round + 1]; at++) {
		const struct send *send = &replan->old->sends.list[at];

		if (transfer - send->first < send->count &&
		    (last == NOTHING || send->until_ps > replan->old->sends.list[last].until_ps))
			last = at;
	}
	return last;
}

/* Does nothing that is set in the gap stop the plane of a send? */
static bool goes_on(const struct gapping *gapping, uint32_t plane)
{
	switch (gapping->replan->old->costs.scope) {
	case MORPH_DELAY_PORT_SCOPE:
		return true;
	case MORPH_DELAY_PLANE_SCOPE:
		return !(gapping->changed >> plane & 1);
	default:
		return !gapping->changed;
	}
}

/* Is the whole path lit throughout the gap, without other data on it? */
static bool can_last(struct gapping *gapping, const struct send *send, uint32_t number)
{
	const struct replan *replan = gapping->replan;
	uint32_t rank = replan_transfer(replan, send->round, number)->src;

	if (send->hops > replan->old->ranks || !lm_replan_way(replan, send, number, gapping->queue))
		return false;
	for (uint32_t hop = 0; hop < send->hops; hop++) {
		uint32_t ref = gapping->queue[hop];
		uint32_t plane = ref & PIECE ? replan->pieces.list[ref & ~PIECE].plane :
					       replan->old->holds.list[ref].plane;
		size_t port = replan_port(gapping, plane, rank);

		if (!goes_on(gapping, plane) || gapping->out[port].ref != ref ||
		    gapping->passed[port] == replan->gaps.count + 1 ||
		    !lm_replan_lit(gapping, &gapping->out[port], plane))
			return false;
		rank = gapping->out[port].other;
	}
	return true;
}

/* Are the circuits of a transfer marked? With @mark, mark them. */
static bool meets(struct gapping *gapping, const struct send *send, uint32_t number, bool mark)
{
	const struct morph_schedule *old = gapping->replan->old;
	uint32_t rank = replan_transfer(gapping->replan, send->round, number)->src;
	bool met = false;

	for (uint32_t hop = 0; hop < send->hops; hop++) {
		const struct hold *hold = &old->holds.list[old->hops.list[send->hops_first + hop]];
		uint32_t *lasting = &gapping->lasting[replan_port(gapping, hold->plane, rank)];

		met = met || *lasting == gapping->replan->gaps.count + 1;
		if (mark)
			*lasting = gapping->replan->gaps.count + 1;
		rank = lm_matching_leads(old, hold->matching, rank);
	}
	return met;
}

static int stretch(struct gapping *gapping, uint32_t number, uint32_t transfer)
{
	struct replan *replan = gapping->replan;
	const struct send *send = &replan->old->sends.list[number];
	int ret;

	if (!can_last(gapping, send, transfer))
		return lm_replan_refuse(
			replan, MORPH_UNDECIDED,
			"in round %u data for a rank cannot wait until the rank has sent",
			gapping->round);
	ret = REPLAN_GROW(replan, stretches, 1);
	if (ret)
		return ret;
	replan->stretches.list[replan->stretches.count++] =
		(struct stretch){ .send = number, .transfer = transfer, .gap_ps = gapping->ps };
	meets(gapping, send, transfer, true);
	return 0;
}

static bool is_stretched(const struct replan *replan, uint32_t send, uint32_t transfer)
{
	for (uint32_t at = replan->stretches.count; at--;)
		if (replan->stretches.list[at].send == send &&
		    replan->stretches.list[at].transfer == transfer)
			return true;
	return false;
}

/*
 * Transfers of a send that share a circuit with a longer one last as long. Return their number or a
 * noted error.
 */
static int stretch_sharing(struct gapping *gapping, uint32_t number)
{
	struct replan *replan = gapping->replan;
	const struct send *send = &replan->old->sends.list[number];
	int count = 0;

	for (uint32_t at = send->first; at < send->first + send->count; at++) {
		int ret;

		if (!meets(gapping, send, at, false) || is_stretched(replan, number, at) ||
		    !lm_replan_way(replan, send, at, gapping->queue))
			continue;
		ret = stretch(gapping, number, at);
		if (ret)
			return ret;
		count++;
	}
	return count;
}

/* Transfers that share a circuit have the same times. */
static int last_longer(struct gapping *gapping, uint32_t transfer)
{
	struct replan *replan = gapping->replan;
	const struct morph_schedule *old = replan->old;
	uint32_t number = last_send(replan, gapping->round, transfer);
	int more, ret;

	if (number == NOTHING)
		return 0;
	ret = stretch(gapping, number, transfer);
	do {
		more = 0;
		for (uint32_t at = replan->round_first[gapping->round];
		     !ret && at < replan->round_first[gapping->round + 1]; at++) {
			int count = old->sends.list[at].from_ps ==
							    old->sends.list[number].from_ps &&
						    old->sends.list[at].until_ps ==
							    old->sends.list[number].until_ps ?
					    stretch_sharing(gapping, at) :
					    0;

			ret = count < 0 ? count : 0;
			more += count;
		}
	} while (!ret && more);
	return ret;
}

int lm_replan_order(struct gapping *gapping)
{
	struct replan *replan = gapping->replan;
	int ret = 0;

	index_coming(gapping);
	for (uint32_t at = gapping->first_resend; !ret && at < replan->resends.count; at++) {
		const struct resend *resend = &replan->resends.list[at];
		const struct transfer *sent =
			replan_transfer(replan, gapping->round, resend->transfer);
		uint64_t from_ps = resend->from_ps;

		for (uint32_t next = gapping->coming[sent->src]; !ret && next != NOTHING;
		     next = gapping->coming_next[next])
			if (has_same_chunk(replan->collective, sent,
					   replan_transfer(replan, gapping->round, next)) &&
			    !comes_later(gapping, next, from_ps))
				ret = last_longer(gapping, next);
	}
	return ret;
}

/* --------------------------------------------------------------------- layout */

/* Build the new schedule: that of the old one, later by all earlier gaps, and the sends of gaps. */

/* A hold of the new schedule without a number yet. */
struct entry {
	uint64_t set_ps;
	uint32_t ref, late; /* not lit initially */
};

struct laying {
	struct replan *replan;
	struct entry *entries;
	uint32_t count;
	uint32_t *numbers; /* by hold of the old schedule */
	uint32_t *refs, *other; /* of a path */
	struct morph_rank_pair *circuits;
};

/* Called for each hold and send: step by numbers, because branches would be unpredictable. */
static uint64_t moved_ps(const struct replan *replan, uint64_t ps, bool after)
{
	uint64_t until_ps = after && ps < UINT64_MAX ? ps + 1 : ps;
	const struct gap *gap = replan->gaps.list;
	uint32_t left = replan->gaps.count;

	if (!left || gap->ps >= until_ps)
		return ps;
	/* The first is before that time. The last one before it is among those left. */
	while (left > 1) {
		uint32_t half = left / 2;

		gap += gap[half].ps < until_ps ? half : 0;
		left -= half;
	}
	return lm_sum(ps, lm_sum(gap->before_ps, gap->length_ps));
}

static uint64_t moment_ps(const struct replan *replan, const struct moment *moment)
{
	return lm_sum(moved_ps(replan, moment->ps, moment->after), moment->later_ps);
}

/* -------------------------------------------------------------------- holds */

static int by_set(const void *one, const void *other, void *context)
{
	const struct entry *a = one, *b = other;

	(void)context;
	if (a->late != b->late)
		return a->late < b->late ? -1 : 1;
	if (a->set_ps != b->set_ps)
		return a->set_ps < b->set_ps ? -1 : 1;
	return a->ref < b->ref ? -1 : a->ref > b->ref;
}

static uint32_t list_pieces(const struct replan *replan, struct entry *entries)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < replan->pieces.count; at++) {
		const struct piece *piece = &replan->pieces.list[at];
		bool resident = piece->hold < replan->old->residents && !piece->from_ps;

		if (!piece->absent)
			entries[count++] =
				(struct entry){ .set_ps = resident ? 0 :
								     moment_ps(replan, &piece->set),
						.ref = PIECE | at,
						.late = !resident };
	}
	lm_sort(entries, count, sizeof(*entries), by_set, NULL);
	return count;
}

/* Holds are in order; the few pieces are merged into them. */
static void list_holds(struct laying *laying)
{
	const struct replan *replan = laying->replan;
	const struct morph_schedule *old = replan->old;
	struct entry *pieces = laying->entries + old->holds.count + replan->pieces.count;
	uint32_t count = list_pieces(replan, pieces), next = 0;

	for (uint32_t at = 0; at < old->holds.count; at++) {
		const struct entry entry = {
			.set_ps = at < old->residents ?
					  0 :
					  moved_ps(replan, old->holds.list[at].set_ps, true),
			.ref = at,
			.late = at >= old->residents
		};

		while (next < count && by_set(&pieces[next], &entry, NULL) < 0)
			laying->entries[laying->count++] = pieces[next++];
		laying->entries[laying->count++] = entry;
	}
	while (next < count)
		laying->entries[laying->count++] = pieces[next++];
}

/* Circuits of a hold without the pieces. Return their matching, or NOTHING if none is left. */
static int matching_left(struct laying *laying, uint32_t number, uint32_t *out)
{
	const struct replan *replan = laying->replan;
	const struct morph_schedule *old = replan->old;
	const struct matching *matching = &old->matchings.list[old->holds.list[number].matching];
	uint32_t count = 0;

	*out = old->holds.list[number].matching;
	if (replan->pieces_of[number] == NOTHING)
		return 0;
	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		const struct morph_rank_pair *circuit = &old->circuits.list[at];

		if (lm_replan_piece(replan, number, circuit->src, UINT64_MAX) == NOTHING)
			laying->circuits[count++] = *circuit;
	}
	*out = NOTHING;
	if (!count)
		return 0;
	return lm_schedule_sorted_matching(replan->schedule, laying->circuits, count, out);
}

static int lay_hold(struct laying *laying, const struct entry *entry)
{
	struct replan *replan = laying->replan;
	const struct hold *hold = &replan->old->holds.list[entry->ref];
	uint64_t lit_ps = lm_sum(entry->set_ps, entry->late ? hold->lit_ps - hold->set_ps : 0);
	uint64_t dark_ps = moved_ps(replan, hold->dark_ps, true);
	uint32_t matching, *number = &laying->numbers[entry->ref];
	int ret = matching_left(laying, entry->ref, &matching);

	*number = NOTHING;
	if (ret || matching == NOTHING)
		return ret;
	ret = lm_schedule_hold(replan->schedule, hold->plane, matching, entry->set_ps, lit_ps,
			       number);
	if (ret)
		return ret;
	replan->schedule->holds.list[*number].dark_ps = dark_ps > lit_ps ? dark_ps : lit_ps;
	return 0;
}

static int lay_piece(struct laying *laying, const struct entry *entry)
{
	struct replan *replan = laying->replan;
	struct piece *piece = &replan->pieces.list[entry->ref & ~PIECE];
	uint64_t lit_ps = lm_sum(entry->set_ps, entry->late ? piece->takes_ps : 0);
	uint64_t dark_ps = moment_ps(replan, &piece->dark);
	uint32_t matching;
	int ret = lm_schedule_sorted_matching(replan->schedule, &piece->circuit, 1, &matching);

	if (!ret)
		ret = lm_schedule_hold(replan->schedule, piece->plane, matching, entry->set_ps,
				       lit_ps, &piece->number);
	if (ret)
		return ret;
	replan->schedule->holds.list[piece->number].dark_ps = dark_ps > lit_ps ? dark_ps : lit_ps;
	return 0;
}

static int lay_holds(struct laying *laying)
{
	struct morph_schedule *schedule = laying->replan->schedule;
	int ret = lm_schedule_take_matchings(schedule, laying->replan->old);

	list_holds(laying);
	for (uint32_t at = 0; !ret && at < laying->count; at++) {
		const struct entry *entry = &laying->entries[at];

		ret = entry->ref & PIECE ? lay_piece(laying, entry) : lay_hold(laying, entry);
		if (!entry->late)
			schedule->residents = schedule->holds.count;
	}
	return ret;
}

/* -------------------------------------------------------------------- sends */

/* Replace the path's references by holds of the new schedule. */
static int lay_send(struct laying *laying, const struct send *send, const uint32_t *way)
{
	const struct replan *replan = laying->replan;
	uint32_t *hops = laying->other;

	for (uint32_t hop = 0; hop < send->hops; hop++)
		hops[hop] = way[hop] & PIECE ? replan->pieces.list[way[hop] & ~PIECE].number :
					       laying->numbers[way[hop]];
	return lm_schedule_send(replan->schedule, send, hops);
}

/* Copy it, at a later time. */
static struct send later(const struct replan *replan, const struct send *old)
{
	struct send send = *old;

	send.from_ps = moved_ps(replan, old->from_ps, true);
	send.until_ps = moved_ps(replan, old->until_ps, false);
	if (send.until_ps < send.from_ps)
		send.until_ps = send.from_ps;
	return send;
}

/* Is a circuit of a send a piece, or does a part of it last longer? */
static bool is_plain(const struct replan *replan, uint32_t number)
{
	const struct send *send = &replan->old->sends.list[number];

	for (uint32_t hop = 0; hop < send->hops; hop++)
		if (replan->pieces_of[replan->old->hops.list[send->hops_first + hop]] != NOTHING)
			return false;
	for (uint32_t at = 0; at < replan->stretches.count; at++)
		if (replan->stretches.list[at].send == number)
			return false;
	return true;
}

/* Consecutive transfers that still use the same path are one send. */
static int lay_parts(struct laying *laying, uint32_t number)
{
	const struct replan *replan = laying->replan;
	const struct send *old = &replan->old->sends.list[number];
	const struct send whole = later(replan, old);
	uint32_t end = old->first + old->count;
	int ret = 0;

	for (uint32_t at = old->first, next; !ret && at < end; at = next) {
		struct send send = whole;
		bool stretched = is_stretched(replan, number, at);

		next = at + 1;
		if (!lm_replan_way(replan, old, at, laying->refs))
			continue;
		while (next < end && is_stretched(replan, number, next) == stretched &&
		       lm_replan_way(replan, old, next, laying->other) &&
		       !memcmp(laying->refs, laying->other, old->hops * sizeof(*laying->refs)))
			next++;
		send.first = at;
		send.count = next - at;
		for (uint32_t of = 0; stretched && of < replan->stretches.count; of++)
			if (replan->stretches.list[of].send == number)
				send.until_ps =
					moved_ps(replan, replan->stretches.list[of].gap_ps, true);
		ret = lay_send(laying, &send, laying->refs);
	}
	return ret;
}

/* A circuit of a hold that was used then may now be a piece that ends with the gap or later. */
static void find_refs(struct laying *laying, const struct resend *resend)
{
	const struct replan *replan = laying->replan;
	const struct morph_schedule *old = replan->old;
	uint32_t rank = replan_transfer(replan, resend->round, resend->transfer)->src;

	for (uint32_t hop = 0; hop < resend->hops; hop++) {
		uint32_t ref = replan->ways.list[resend->ways_first + hop], piece;

		laying->refs[hop] = ref;
		if (ref & PIECE) {
			rank = replan->pieces.list[ref & ~PIECE].circuit.dst;
			continue;
		}
		piece = lm_replan_piece(replan, ref, rank, resend->gap_ps - 1);
		if (piece != NOTHING)
			laying->refs[hop] = PIECE | piece;
		rank = lm_matching_leads(old, old->holds.list[ref].matching, rank);
	}
}

static int lay_resend(struct laying *laying, const struct resend *resend)
{
	const struct replan *replan = laying->replan;
	uint64_t begins = moved_ps(replan, resend->gap_ps, false);
	const struct send send = { .round = resend->round,
				   .first = resend->transfer,
				   .count = 1,
				   .hops = resend->hops,
				   .bytes = resend->bytes,
				   .from_ps = lm_sum(begins, resend->from_ps),
				   .until_ps = lm_sum(begins, resend->until_ps) };

	find_refs(laying, resend);
	/* Its references are freed with laying: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return lay_send(laying, &send, laying->refs);
}

static int lay_sends(struct laying *laying)
{
	const struct replan *replan = laying->replan;
	const struct morph_schedule *old = replan->old;
	uint32_t resend = 0;
	int ret = 0;

	for (uint32_t round = 0; !ret && round < replan->collective->rounds.count; round++) {
		for (uint32_t at = replan->round_first[round];
		     !ret && at < replan->round_first[round + 1]; at++) {
			const struct send *send = &old->sends.list[at];
			const struct send moved = later(replan, send);

			ret = is_plain(replan, at) ?
				      lay_send(laying, &moved, &old->hops.list[send->hops_first]) :
				      lay_parts(laying, at);
		}
		for (; !ret && resend < replan->resends.count &&
		       replan->resends.list[resend].round == round;
		     resend++)
			ret = lay_resend(laying, &replan->resends.list[resend]);
	}
	return ret;
}

int lm_replan_lay(struct replan *replan)
{
	struct laying laying = { .replan = replan };
	size_t holds = replan->old->holds.count, hops = lm_replan_most_hops(replan);
	int ret = 0;

	laying.entries =
		calloc(holds + 2 * (size_t)replan->pieces.count + 1, sizeof(*laying.entries));
	laying.numbers = calloc(holds + 2 * hops + 1, sizeof(*laying.numbers));
	laying.circuits = calloc(replan->old->ranks, sizeof(*laying.circuits));
	if (laying.entries && laying.numbers && laying.circuits) {
		laying.refs = laying.numbers + holds;
		laying.other = laying.refs + hops;
		ret = lay_holds(&laying);
		if (!ret)
			ret = lay_sends(&laying);
	} else {
		lm_no_memory(replan->schedule->ctx, "plan a schedule again");
		ret = -ENOMEM;
	}
	free(laying.entries);
	free(laying.numbers);
	free(laying.circuits);
	if (!ret)
		lm_schedule_end(replan->schedule);
	return ret;
}
