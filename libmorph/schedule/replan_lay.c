// SPDX-License-Identifier: LGPL-2.1-or-later
/* The new schedule: what the old one has, later by all gaps before it, and what is sent in gaps. */
#include "../util/sort.h"
#include "replan.h"

/* A hold of the new schedule that is still to be numbered. */
struct entry {
	uint64_t set_ps;
	uint32_t ref, late; /* not lit at first */
};

struct laying {
	struct replan *replan;
	struct entry *entries;
	uint32_t count;
	uint32_t *numbers; /* by hold of the old schedule */
	uint32_t *refs, *other; /* of a way */
	struct joined *circuits;
};

/* It is asked of each hold and send: the search steps by numbers, not by jumps that nobody can foresee. */
static uint64_t moved_ps(const struct replan *replan, uint64_t ps, bool after)
{
	uint64_t until_ps = after && ps < UINT64_MAX ? ps + 1 : ps;
	const struct gap *gap = replan->gaps.list;
	uint32_t left = replan->gaps.count;

	if (!left || gap->ps >= until_ps)
		return ps;
	/* The first is before that time, and the last that is, is among those that are left. */
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

/* Holds are in order; pieces, which are few, come among them. */
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

/* Circuits of a hold that are no pieces; returns their matching, or NOTHING where none are left. */
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
		const struct joined *circuit = &old->circuits.list[at];

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

/* Holds of the new schedule in the place of what the way has. */
static int lay_send(struct laying *laying, const struct send *send, const uint32_t *way)
{
	const struct replan *replan = laying->replan;
	uint32_t *hops = laying->other;

	for (uint32_t hop = 0; hop < send->hops; hop++)
		hops[hop] = way[hop] & PIECE ? replan->pieces.list[way[hop] & ~PIECE].number :
					       laying->numbers[way[hop]];
	return lm_schedule_send(replan->schedule, send, hops);
}

static bool is_stretched(const struct replan *replan, uint32_t send, uint32_t transfer)
{
	for (uint32_t at = 0; at < replan->stretches.count; at++)
		if (replan->stretches.list[at].send == send &&
		    replan->stretches.list[at].transfer == transfer)
			return true;
	return false;
}

/* As it was, but later. */
static struct send later(const struct replan *replan, const struct send *old)
{
	struct send send = *old;

	send.from_ps = moved_ps(replan, old->from_ps, true);
	send.until_ps = moved_ps(replan, old->until_ps, false);
	if (send.until_ps < send.from_ps)
		send.until_ps = send.from_ps;
	return send;
}

/* Whether any of a send's circuits are pieces, or any of it lasts longer. */
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

/* Transfers that follow each other and still go the same way are one send. */
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

/* What was a circuit of a hold when it was sent may be a piece by now, which ends with the gap or later. */
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
		lm_fail(replan->schedule->ctx, ENOMEM, "plan a schedule again: out of memory");
		ret = -ENOMEM;
	}
	free(laying.entries);
	free(laying.numbers);
	free(laying.circuits);
	if (!ret)
		lm_schedule_end(replan->schedule);
	return ret;
}
