// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing and reading schedules. */
#include <stdio.h>

#include "../util/mix.h"
#include "../util/sort.h"
#include "schedule.h"

#define GROW(schedule, array, more) \
	ARRAY_GROW((schedule)->ctx, (schedule)->array, more, "plan a schedule")

MORPH_API struct morph_schedule *morph_schedule_new(struct morph_ctx *ctx)
{
	struct morph_schedule *schedule = calloc(1, sizeof(*schedule));

	if (!schedule) {
		lm_no_memory(ctx, "begin a schedule");
		return NULL;
	}
	schedule->ctx = ctx;
	return schedule;
}

MORPH_API void morph_schedule_free(struct morph_schedule *schedule)
{
	if (!schedule)
		return;
	free(schedule->circuits.list);
	free(schedule->matchings.list);
	free(schedule->holds.list);
	free(schedule->sends.list);
	free(schedule->hops.list);
	free(schedule->places);
	free(schedule->ports);
	free(schedule);
}

/* ------------------------------------------------------------------ filling */

void lm_schedule_begin(struct morph_schedule *schedule, uint32_t ranks, uint32_t planes,
		       const struct costs *costs)
{
	schedule->ranks = ranks;
	schedule->planes = planes;
	schedule->costs = *costs;
	schedule->verdict = 0;
	schedule->policy = MORPH_POLICY_BEST;
	schedule->residents = 0;
	schedule->finish_ps = 0;
	schedule->changes = 0;
	schedule->set = 0;
	free(schedule->ports);
	schedule->ports = NULL;
	schedule->why[0] = '\0';
	schedule->circuits.count = 0;
	schedule->matchings.count = 0;
	schedule->holds.count = 0;
	schedule->sends.count = 0;
	schedule->hops.count = 0;
	if (schedule->places)
		memset(schedule->places, 0xff, schedule->places_room * sizeof(*schedule->places));
}

static int by_src(const void *one, const void *other, void *context)
{
	const struct morph_rank_pair *a = one, *b = other;

	(void)context;
	return a->src < b->src ? -1 : a->src > b->src;
}

static uint64_t digest_of(const struct morph_rank_pair *circuits, uint32_t count)
{
	uint64_t digest = count;

	for (uint32_t at = 0; at < count; at++)
		digest = mix(digest ^ ((uint64_t)circuits[at].src << 32 | circuits[at].dst));
	return digest;
}

/* The place of a matching, or a free one; there is always one. */
static uint32_t *place_of(struct morph_schedule *schedule, uint64_t digest,
			  const struct morph_rank_pair *circuits, uint32_t count)
{
	for (uint32_t at = (uint32_t)digest;; at++) {
		uint32_t *place = &schedule->places[at & (schedule->places_room - 1)];
		const struct matching *matching;

		if (*place == UINT32_MAX)
			return place;
		matching = &schedule->matchings.list[*place];
		if (matching->digest == digest && matching->count == count &&
		    !memcmp(&schedule->circuits.list[matching->first], circuits,
			    count * sizeof(*circuits)))
			return place;
	}
}

/* Twice as many places as matchings. */
static int make_places(struct morph_schedule *schedule)
{
	uint32_t room = schedule->places_room ? 2 * schedule->places_room : 64;
	uint32_t *places;

	if (2 * (schedule->matchings.count + 1) <= schedule->places_room)
		return 0;
	places = malloc(room * sizeof(*places));
	if (!places)
		return lm_no_memory(schedule->ctx, "plan a schedule");
	free(schedule->places);
	schedule->places = places;
	schedule->places_room = room;
	memset(places, 0xff, room * sizeof(*places));
	for (uint32_t at = 0; at < schedule->matchings.count; at++) {
		const struct matching *matching = &schedule->matchings.list[at];

		*place_of(schedule, matching->digest, &schedule->circuits.list[matching->first],
			  matching->count) = at;
	}
	return 0;
}

int lm_schedule_matching(struct morph_schedule *schedule, struct morph_rank_pair *circuits,
			 uint32_t count, uint32_t *out)
{
	lm_sort(circuits, count, sizeof(*circuits), by_src, NULL);
	return lm_schedule_sorted_matching(schedule, circuits, count, out);
}

int lm_schedule_sorted_matching(struct morph_schedule *schedule,
				const struct morph_rank_pair *circuits, uint32_t count,
				uint32_t *out)
{
	uint64_t digest = digest_of(circuits, count);
	uint32_t *place;
	int ret = make_places(schedule);

	if (ret)
		return ret;
	place = place_of(schedule, digest, circuits, count);
	if (*place == UINT32_MAX) {
		ret = GROW(schedule, matchings, 1);
		if (!ret)
			ret = GROW(schedule, circuits, count);
		if (ret)
			return ret;
		memcpy(&schedule->circuits.list[schedule->circuits.count], circuits,
		       count * sizeof(*circuits));
		*place = schedule->matchings.count;
		schedule->matchings.list[schedule->matchings.count++] = (struct matching){
			.first = schedule->circuits.count, .count = count, .digest = digest
		};
		schedule->circuits.count += count;
	}
	*out = *place;
	return 0;
}

int lm_schedule_take_matchings(struct morph_schedule *schedule, const struct morph_schedule *from)
{
	int ret = GROW(schedule, matchings, from->matchings.count);

	if (!ret)
		ret = GROW(schedule, circuits, from->circuits.count);
	if (ret)
		return ret;
	if (from->circuits.count)
		memcpy(schedule->circuits.list, from->circuits.list,
		       from->circuits.count * sizeof(*from->circuits.list));
	schedule->circuits.count = from->circuits.count;
	for (uint32_t at = 0; !ret && at < from->matchings.count; at++) {
		const struct matching *matching = &from->matchings.list[at];

		ret = make_places(schedule);
		if (ret)
			break;
		schedule->matchings.list[at] = *matching;
		*place_of(schedule, matching->digest, &schedule->circuits.list[matching->first],
			  matching->count) = at;
		schedule->matchings.count++;
	}
	return ret;
}

static int make_ports(struct morph_schedule *schedule)
{
	if (schedule->ports)
		return 0;
	schedule->ports =
		calloc((size_t)schedule->planes * schedule->ranks, sizeof(*schedule->ports));
	return schedule->ports ? 0 : lm_no_memory(schedule->ctx, "plan a schedule");
}

int lm_schedule_hold(struct morph_schedule *schedule, uint32_t plane, uint32_t matching,
		     uint64_t set_ps, uint64_t lit_ps, uint32_t *out)
{
	int ret = make_ports(schedule);

	if (!ret)
		ret = GROW(schedule, holds, 1);
	if (ret)
		return ret;
	*out = schedule->holds.count;
	schedule->holds.list[schedule->holds.count++] = (struct hold){ .plane = plane,
								       .matching = matching,
								       .set_ps = set_ps,
								       .lit_ps = lit_ps,
								       .dark_ps = UINT64_MAX };
	return 0;
}

int lm_schedule_send(struct morph_schedule *schedule, const struct send *send, const uint32_t *hops)
{
	int ret;

	if (send->until_ps > LONGEST_PS)
		return lm_fail(schedule->ctx, ERANGE,
			       "round %u ends after more than 2^62 picoseconds", send->round);
	ret = GROW(schedule, sends, 1);
	if (!ret)
		ret = GROW(schedule, hops, send->hops);
	if (ret)
		return ret;
	memcpy(&schedule->hops.list[schedule->hops.count], hops, send->hops * sizeof(*hops));
	schedule->sends.list[schedule->sends.count] = *send;
	schedule->sends.list[schedule->sends.count++].hops_first = schedule->hops.count;
	schedule->hops.count += send->hops;
	if (send->until_ps > schedule->finish_ps)
		schedule->finish_ps = send->until_ps;
	return 0;
}

uint32_t lm_schedule_left_lit(const struct morph_schedule *after, uint32_t plane,
			      struct morph_rank_pair *circuits)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < after->holds.count; at++) {
		const struct hold *hold = &after->holds.list[at];
		const struct matching *matching = &after->matchings.list[hold->matching];

		if (hold->plane != plane || hold->dark_ps < after->finish_ps ||
		    hold->lit_ps > after->finish_ps)
			continue;
		memcpy(&circuits[count], &after->circuits.list[matching->first],
		       matching->count * sizeof(*circuits));
		count += matching->count;
	}
	return count;
}

int lm_schedule_resume(struct morph_schedule *schedule, const struct morph_schedule *after)
{
	struct morph_rank_pair *circuits = calloc(schedule->ranks, sizeof(*circuits));
	int ret = 0;

	if (!circuits)
		return lm_no_memory(schedule->ctx, "plan a schedule");
	for (uint32_t plane = 0; !ret && plane < schedule->planes; plane++) {
		uint32_t count = lm_schedule_left_lit(after, plane, circuits), matching, hold;

		if (!count)
			continue;
		ret = lm_schedule_matching(schedule, circuits, count, &matching);
		if (!ret)
			ret = lm_schedule_hold(schedule, plane, matching, 0, 0, &hold);
		schedule->residents += !ret;
	}
	free(circuits);
	return ret;
}

/* Drop matchings that no hold uses. The table of places is then invalid. */
static void drop_idle(struct morph_schedule *schedule)
{
	uint32_t *numbers = schedule->places, kept = 0, circuits = 0;

	memset(numbers, 0xff, schedule->places_room * sizeof(*numbers));
	for (uint32_t at = 0; at < schedule->holds.count; at++)
		numbers[schedule->holds.list[at].matching] = 0;
	for (uint32_t at = 0; at < schedule->matchings.count; at++) {
		struct matching matching = schedule->matchings.list[at];

		if (numbers[at] == UINT32_MAX)
			continue;
		numbers[at] = kept;
		memmove(&schedule->circuits.list[circuits],
			&schedule->circuits.list[matching.first],
			matching.count * sizeof(*schedule->circuits.list));
		matching.first = circuits;
		circuits += matching.count;
		schedule->matchings.list[kept++] = matching;
	}
	for (uint32_t at = 0; at < schedule->holds.count; at++)
		schedule->holds.list[at].matching = numbers[schedule->holds.list[at].matching];
	schedule->matchings.count = kept;
	schedule->circuits.count = circuits;
}

static int end_without(struct morph_schedule *schedule, uint32_t verdict, const char *why)
{
	schedule->verdict = verdict;
	snprintf(schedule->why, sizeof(schedule->why), "%s", why);
	return 0;
}

int lm_schedule_refuse(struct morph_schedule *schedule, const char *why)
{
	return end_without(schedule, MORPH_INFEASIBLE, why);
}

int lm_schedule_give_up(struct morph_schedule *schedule, const char *why)
{
	return end_without(schedule, MORPH_UNDECIDED, why);
}

/* An iterator over a matching in the order of ranks. */
struct walk {
	uint32_t matching, next;
};

/* As lm_matching_leads(), for ascending ranks of the same matching. */
static uint32_t walk_to(const struct morph_schedule *schedule, struct walk *walk, uint32_t matching,
			uint32_t src)
{
	const struct matching *of = &schedule->matchings.list[matching];
	const struct morph_rank_pair *circuits = &schedule->circuits.list[of->first];

	if (walk->matching != matching)
		return lm_matching_leads(schedule, matching, src);
	while (walk->next < of->count && circuits[walk->next].src < src)
		walk->next++;
	return walk->next < of->count && circuits[walk->next].src == src ?
		       circuits[walk->next].dst :
		       UINT32_MAX;
}

/*
 * Count the circuits of a hold that were not there when it is set; its ports now have it. Usually
 * all of its ranks were in one hold before.
 */
static uint32_t take_ports(struct morph_schedule *schedule, uint32_t number)
{
	const struct hold *hold = &schedule->holds.list[number];
	const struct matching *matching = &schedule->matchings.list[hold->matching];
	uint32_t *ports = schedule->ports + (size_t)hold->plane * schedule->ranks, set = 0;
	struct walk walk = { .matching = NO_MATCHING };

	for (uint32_t at = matching->first; at < matching->first + matching->count; at++) {
		const struct morph_rank_pair *circuit = &schedule->circuits.list[at];
		uint32_t last = ports[circuit->src];
		const struct hold *before = last == NO_HOLD ? NULL : &schedule->holds.list[last];

		if (before && walk.matching == NO_MATCHING)
			walk.matching = before->matching;
		set += !before || before->dark_ps != hold->set_ps ||
		       walk_to(schedule, &walk, before->matching, circuit->src) != circuit->dst;
		ports[circuit->src] = number;
	}
	return set;
}

static void count_set(struct morph_schedule *schedule)
{
	uint64_t last_ps = UINT64_MAX;

	if (!schedule->ports)
		return;
	memset(schedule->ports, 0xff,
	       (size_t)schedule->planes * schedule->ranks * sizeof(*schedule->ports));
	for (uint32_t at = 0; at < schedule->holds.count; at++) {
		uint64_t set_ps = schedule->holds.list[at].set_ps;
		uint32_t set = take_ports(schedule, at);

		if (at < schedule->residents || !set)
			continue;
		schedule->set += set;
		schedule->changes += set_ps != last_ps;
		last_ps = set_ps;
	}
	free(schedule->ports);
	schedule->ports = NULL;
}

int lm_schedule_count(struct morph_schedule *schedule)
{
	int ret = make_ports(schedule);

	if (!ret)
		count_set(schedule);
	return ret;
}

void lm_schedule_end(struct morph_schedule *schedule)
{
	if (schedule->matchings.count)
		drop_idle(schedule);
	schedule->verdict = MORPH_FEASIBLE;
	for (uint32_t at = 0; at < schedule->holds.count; at++)
		if (schedule->holds.list[at].dark_ps == UINT64_MAX)
			schedule->holds.list[at].dark_ps = schedule->finish_ps;
	count_set(schedule);
}

uint32_t lm_matching_leads(const struct morph_schedule *schedule, uint32_t matching, uint32_t src)
{
	const struct matching *among = &schedule->matchings.list[matching];
	const struct morph_rank_pair *circuits = &schedule->circuits.list[among->first];
	uint32_t low = 0, high = among->count;

	/* If all ranks up to it have a circuit. */
	if (src < high && circuits[src].src == src)
		return circuits[src].dst;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (circuits[middle].src < src)
			low = middle + 1;
		else
			high = middle;
	}
	return low < among->count && circuits[low].src == src ? circuits[low].dst : UINT32_MAX;
}

/* ------------------------------------------------------------------ reading */

uint32_t morph_schedule_verdict(const struct morph_schedule *schedule)
{
	return schedule->verdict;
}

uint32_t morph_schedule_policy(const struct morph_schedule *schedule)
{
	return schedule->policy;
}

const char *morph_schedule_why(const struct morph_schedule *schedule)
{
	return schedule->why;
}

uint64_t morph_schedule_ns(const struct morph_schedule *schedule, uint64_t *bound)
{
	if (bound)
		*bound = schedule->bound_ps / PS_PER_NS;
	return lm_edge_ns(schedule->finish_ps);
}

uint32_t morph_schedule_changes(const struct morph_schedule *schedule, uint64_t *circuits)
{
	if (circuits)
		*circuits = schedule->set;
	return schedule->changes;
}

MORPH_API int morph_schedule_result(const struct morph_schedule *schedule,
				    struct morph_schedule_result *out)
{
	struct morph_schedule_result info = { .sz = sizeof(info) };
	int ret = lm_opts_check(schedule->ctx, out, sizeof(info), "morph_schedule_result");

	if (ret)
		return ret;
	info.verdict = schedule->verdict;
	info.policy = schedule->policy;
	info.why = schedule->why;
	info.ns = morph_schedule_ns(schedule, &info.bound_ns);
	info.bound_kind = schedule->bound_kind;
	info.changes = morph_schedule_changes(schedule, &info.circuits);
	info.holds = schedule->holds.count;
	info.sends = schedule->sends.count;
	lm_answer_copy(out, &info, sizeof(info));
	return 0;
}

int morph_schedule_alternative(const struct morph_schedule *schedule, uint32_t policy,
			       struct morph_alternative *out)
{
	const struct tried *tried;

	if (policy >= MORPH_POLICIES || !schedule->tried[policy].verdict)
		return lm_fail(schedule->ctx, ENOENT, "policy %u was not tried", policy);
	tried = &schedule->tried[policy];
	*out = (struct morph_alternative){ .policy = policy,
					   .verdict = tried->verdict,
					   .ns = lm_edge_ns(tried->finish_ps),
					   .changes = tried->changes,
					   .circuits = tried->circuits,
					   .why = tried->why };
	return 0;
}

uint32_t morph_schedule_holds(const struct morph_schedule *schedule)
{
	return schedule->holds.count;
}

MORPH_API int morph_schedule_hold(const struct morph_schedule *schedule, uint32_t number,
				  struct morph_hold *out)
{
	const struct matching *matching;
	const struct hold *hold;

	if (number >= schedule->holds.count)
		return lm_fail(schedule->ctx, ENOENT, "no hold %u: the schedule has %u", number,
			       schedule->holds.count);
	hold = &schedule->holds.list[number];
	matching = &schedule->matchings.list[hold->matching];
	*out = (struct morph_hold){ .plane = hold->plane,
				    .matching = hold->matching,
				    .circuits = matching->count,
				    .pairs = &schedule->circuits.list[matching->first],
				    .set_ns = lm_edge_ns(hold->set_ps),
				    .lit_ns = lm_edge_ns(hold->lit_ps),
				    .dark_ns = lm_edge_ns(hold->dark_ps) };
	return 0;
}

int morph_schedule_circuit(const struct morph_schedule *schedule, uint32_t hold, uint32_t number,
			   uint32_t *src, uint32_t *dst)
{
	const struct matching *matching;

	if (hold >= schedule->holds.count)
		return lm_fail(schedule->ctx, ENOENT, "no hold %u: the schedule has %u", hold,
			       schedule->holds.count);
	matching = &schedule->matchings.list[schedule->holds.list[hold].matching];
	if (number >= matching->count)
		return lm_fail(schedule->ctx, ENOENT, "hold %u has no circuit %u", hold, number);
	*src = schedule->circuits.list[matching->first + number].src;
	*dst = schedule->circuits.list[matching->first + number].dst;
	return 0;
}

uint32_t morph_schedule_sends(const struct morph_schedule *schedule)
{
	return schedule->sends.count;
}

MORPH_API int morph_schedule_send(const struct morph_schedule *schedule, uint32_t number,
				  struct morph_send *out)
{
	const struct send *send;

	if (number >= schedule->sends.count)
		return lm_fail(schedule->ctx, ENOENT, "no send %u: the schedule has %u", number,
			       schedule->sends.count);
	send = &schedule->sends.list[number];
	*out = (struct morph_send){ .round = send->round,
				    .first = send->first,
				    .count = send->count,
				    .bytes = send->bytes,
				    .from_ns = lm_edge_ns(send->from_ps),
				    .until_ns = lm_edge_ns(send->until_ps),
				    .hops = send->hops,
				    .holds = &schedule->hops.list[send->hops_first] };
	return 0;
}

uint32_t morph_schedule_hop(const struct morph_schedule *schedule, uint32_t send, uint32_t number)
{
	if (send >= schedule->sends.count || number >= schedule->sends.list[send].hops)
		return UINT32_MAX;
	return schedule->hops.list[schedule->sends.list[send].hops_first + number];
}
