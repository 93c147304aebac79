// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The sequence of stages of each rank. Two equal iterations become the rank's pattern. The position
 * in the pattern follows from (group, counter), so a missing or additional stage does not affect
 * later ones.
 */
#include "../util/sort.h"
#include "phases.h"

/* ---------------------------------------------------------------- recording */

int lm_phase_count(const struct morph_phases *phases, uint32_t rank, struct member *member,
		   uint32_t group, uint64_t counter)
{
	uint64_t iteration = phases->list[rank].number;

	if (member->iteration == iteration && counter <= member->counter)
		return lm_fail(phases->ctx, EINVAL,
			       "counter %llu of group %u does not follow %llu at rank %u",
			       (unsigned long long)counter, group,
			       (unsigned long long)member->counter, rank);
	if (member->iteration != iteration)
		member->base = counter;
	member->iteration = iteration;
	member->counter = counter;
	return 0;
}

static void record(struct iteration *now, uint32_t room, struct stage stage)
{
	struct stage *last = now->count ? &now->stages[now->count - 1] : NULL;

	if (last && last->group == stage.group && last->first + last->count == stage.first)
		last->count++;
	else if (now->count < room)
		now->stages[now->count++] = stage;
	else
		now->whole = false;
}

/* The stage of an operation, mostly the present one of the rank or the next. */
static uint32_t find(const struct rank *rank, uint32_t group, uint64_t number)
{
	uint32_t count = rank->pattern.count, from = rank->at == NOTHING ? 0 : rank->at;

	for (uint32_t more = 0; more < count; more++) {
		uint32_t at = (from + more) % count;
		const struct stage *stage = &rank->pattern.stages[at];

		if (stage->group == group && number - stage->first < stage->count)
			return at;
	}
	return NOTHING;
}

void lm_phase_record(struct morph_phases *phases, uint32_t number, const struct member *member,
		     uint32_t group, uint64_t window_ns)
{
	struct rank *rank = &phases->list[number];
	struct stage stage = { .group = group,
			       .first = member->counter - member->base,
			       .count = 1,
			       .window_ns = window_ns };

	if (rank->recording)
		record(&rank->now, phases->stages, stage);
	rank->at = find(rank, group, stage.first);
}

uint32_t lm_phase_follows(const struct morph_phases *phases, uint32_t number,
			  const struct member *member, uint32_t group)
{
	const struct rank *rank = &phases->list[number];
	const struct stage *stage;

	if (rank->at == NOTHING)
		return NOTHING;
	stage = &rank->pattern.stages[rank->at];
	if (stage->group != group ||
	    member->counter - member->base != stage->first + stage->count - 1)
		return NOTHING;
	return rank->pattern.stages[(rank->at + 1) % rank->pattern.count].group;
}

/* ----------------------------------------------------------------- learning */

static bool alike(const struct iteration *one, const struct iteration *other)
{
	if (!one->whole || !other->whole || one->count != other->count)
		return false;
	for (uint32_t at = 0; at < one->count; at++) {
		const struct stage *a = &one->stages[at], *b = &other->stages[at];

		if (a->group != b->group || a->first != b->first || a->count != b->count)
			return false;
	}
	return true;
}

static void see_windows(struct rank *rank, const struct iteration *seen)
{
	for (uint32_t at = 0; at < seen->count; at++) {
		struct windows *windows = &rank->windows[at];

		if (seen->stages[at].window_ns == NEVER)
			continue;
		windows->ns[windows->seen % WINDOWS] = seen->stages[at].window_ns;
		windows->seen++;
	}
}

/* Equal iterations, the last and the one before, become the pattern. */
static void believe(struct morph_phases *phases, struct rank *rank)
{
	struct iteration *pattern = &rank->pattern;

	pattern->count = rank->now.count;
	pattern->whole = true;
	memcpy(pattern->stages, rank->now.stages, pattern->count * sizeof(*pattern->stages));
	memset(rank->windows, 0, pattern->count * sizeof(*rank->windows));
	see_windows(rank, &rank->last);
	see_windows(rank, &rank->now);
	rank->at = NOTHING;
	phases->counts.learned++;
}

static void begin_iteration(struct rank *rank)
{
	rank->now.count = 0;
	rank->now.whole = true;
	rank->number++;
}

static void iterate(struct morph_phases *phases, struct rank *rank)
{
	if (rank->recording) {
		struct iteration last = rank->last;

		if (alike(&rank->pattern, &rank->now))
			see_windows(rank, &rank->now);
		else if (alike(&rank->last, &rank->now))
			believe(phases, rank);
		rank->last = rank->now;
		rank->now = last;
	}
	rank->recording = true;
	begin_iteration(rank);
}

int morph_phases_iterate(struct morph_phases *phases, uint32_t rank)
{
	int ret = lm_phase_check_rank(phases, rank);

	if (!ret)
		iterate(phases, &phases->list[rank]);
	return ret;
}

/* ------------------------------------------------------------------- traces */

static int learn_one(struct morph_phases *phases, const struct morph_phase_trace *seen)
{
	struct rank *rank;
	struct member *member;
	struct group *group;
	int ret = lm_phase_check_member(phases, seen->rank, seen->group);

	if (!ret && seen->end_ns < seen->begin_ns)
		ret = lm_fail(phases->ctx, EINVAL,
			      "an operation of group %u ends at rank %u before it begins",
			      seen->group, seen->rank);
	if (ret)
		return ret;
	rank = &phases->list[seen->rank];
	group = &phases->groups.list[seen->group];
	member = lm_phase_member(group, seen->rank);
	if (seen->begin_ns < rank->began_ns)
		return lm_fail(phases->ctx, EINVAL,
			       "operations of rank %u are not in the order in which they began",
			       seen->rank);
	rank->began_ns = seen->begin_ns;
	ret = lm_phase_count(phases, seen->rank, member, seen->group, seen->counter);
	if (ret || !group->links.count)
		return ret;
	lm_phase_record(phases, seen->rank, member, seen->group,
			lm_phase_idle_ns(rank, seen->begin_ns));
	if (rank->ended_ns == NEVER || seen->end_ns > rank->ended_ns)
		rank->ended_ns = seen->end_ns;
	return 0;
}

static int check_all_idle(const struct morph_phases *phases)
{
	for (uint32_t at = 0; at < phases->groups.count; at++) {
		const struct group *group = &phases->groups.list[at];

		if (group->begun || group->running)
			return lm_fail(phases->ctx, EBUSY, "an operation of group %u is under way",
				       at);
	}
	return 0;
}

/*
 * Stop the record of a running stage. The iteration is incomplete unless the stage had not begun.
 */
static void begin_trace(struct rank *rank)
{
	rank->before.ended_ns = rank->ended_ns;
	rank->before.at = rank->at;
	rank->before.recording = rank->recording && !rank->now.count;
	rank->recording = true;
	rank->began_ns = 0;
	begin_iteration(rank);
}

/* Discard the trace. */
static void refuse_trace(struct rank *rank)
{
	rank->ended_ns = rank->before.ended_ns;
	rank->at = rank->before.at;
	rank->recording = rank->before.recording;
	begin_iteration(rank);
}

int morph_phases_learn(struct morph_phases *phases, const struct morph_phase_trace *trace,
		       size_t count)
{
	int ret = check_all_idle(phases);

	if (ret)
		return ret;
	for (uint32_t rank = 0; rank < phases->ranks; rank++)
		begin_trace(&phases->list[rank]);
	for (size_t at = 0; !ret && at < count; at++)
		ret = learn_one(phases, &trace[at]);
	for (uint32_t rank = 0; rank < phases->ranks; rank++)
		if (ret)
			refuse_trace(&phases->list[rank]);
		else
			iterate(phases, &phases->list[rank]);
	return ret;
}

/* ------------------------------------------------------------------ reading */

uint32_t morph_phases_stages(const struct morph_phases *phases, uint32_t rank)
{
	return rank < phases->ranks ? phases->list[rank].pattern.count : 0;
}

/* The circuits at a rank's ports by plane, as it goes through its stages. */
struct held {
	uint32_t sends[MOST_PLANES], receives[MOST_PLANES]; /* links */
};

/* Set the stage's circuits. Returns whether any was missing. */
static bool hold(const struct morph_phases *phases, uint32_t rank, const struct stage *stage,
		 struct held *held)
{
	const struct group *group = &phases->groups.list[stage->group];
	bool changed = false;

	for (uint32_t at = 0; at < group->links.count; at++) {
		uint32_t number = group->links.list[at], *port = NULL;
		const struct morph_phase_circuit *ends = &phases->links.list[number].ends;

		if (ends->src == rank)
			port = &held->sends[ends->plane];
		else if (ends->dst == rank)
			port = &held->receives[ends->plane];
		if (!port || *port == number)
			continue;
		*port = number;
		changed = true;
	}
	return changed;
}

/* The circuits after the last stage, if iterations follow each other. */
static struct held held_at_first(const struct morph_phases *phases, uint32_t rank)
{
	const struct iteration *pattern = &phases->list[rank].pattern;
	struct held held;

	memset(&held, 0xff, sizeof(held));
	for (uint32_t at = 0; at < pattern->count; at++)
		hold(phases, rank, &pattern->stages[at], &held);
	return held;
}

static int by_size(const void *one, const void *other, void *context)
{
	const uint64_t *a = one, *b = other;

	(void)context;
	return *a < *b ? -1 : *a > *b;
}

static uint64_t quantile_ns(const struct windows *windows, bool least)
{
	uint32_t kept = windows->seen < WINDOWS ? (uint32_t)windows->seen : WINDOWS;
	uint64_t ns[WINDOWS];

	if (!kept)
		return 0;
	memcpy(ns, windows->ns, sizeof(ns));
	lm_sort(ns, kept, sizeof(*ns), by_size, NULL);
	return ns[least ? 0 : (kept - 1) / 2];
}

int morph_phases_stage(const struct morph_phases *phases, uint32_t rank, uint32_t number,
		       struct morph_stage *out)
{
	const struct stage *stages;
	struct held held;
	int ret = lm_phase_check_rank(phases, rank);

	if (ret)
		return ret;
	if (number >= phases->list[rank].pattern.count)
		return lm_fail(phases->ctx, ENOENT, "rank %u has no stage %u, but %u of them", rank,
			       number, phases->list[rank].pattern.count);
	stages = phases->list[rank].pattern.stages;
	held = held_at_first(phases, rank);
	for (uint32_t at = 0; at < number; at++)
		hold(phases, rank, &stages[at], &held);
	*out = (struct morph_stage){
		.group = stages[number].group,
		.first = stages[number].first,
		.count = stages[number].count,
		.switches = hold(phases, rank, &stages[number], &held),
		.windows = phases->list[rank].windows[number].seen,
		.window_least_ns = quantile_ns(&phases->list[rank].windows[number], true),
		.window_ns = quantile_ns(&phases->list[rank].windows[number], false),
	};
	return 0;
}

uint64_t morph_phases_stall_ns(const struct morph_phases *phases, uint32_t rank, uint64_t change_ns,
			       uint32_t *switches)
{
	const struct iteration *pattern;
	uint64_t stall_ns = 0;
	uint32_t count = 0;
	struct held held;

	if (switches)
		*switches = 0;
	if (rank >= phases->ranks)
		return 0;
	pattern = &phases->list[rank].pattern;
	held = held_at_first(phases, rank);
	for (uint32_t at = 0; at < pattern->count; at++) {
		uint64_t window_ns = quantile_ns(&phases->list[rank].windows[at], true);

		if (!hold(phases, rank, &pattern->stages[at], &held))
			continue;
		count++;
		if (change_ns > window_ns)
			stall_ns = lm_sum(stall_ns, change_ns - window_ns);
	}
	if (switches)
		*switches = count;
	return stall_ns;
}
