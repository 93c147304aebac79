// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of ranks, and the acts that follow. See ../internal/phases.h. */
#include "phases.h"

static int check_time(const struct morph_phases *phases, uint64_t now_ns)
{
	if (now_ns >= phases->now_ns)
		return 0;
	return lm_fail(phases->ctx, EINVAL, "time goes back from %llu to %llu ns",
		       (unsigned long long)phases->now_ns, (unsigned long long)now_ns);
}

static int check_there(const struct morph_phases *phases, uint32_t rank)
{
	if (!phases->list[rank].gone)
		return 0;
	return lm_fail(phases->ctx, ENOTCONN, "rank %u has left", rank);
}

static int check_whole(const struct morph_phases *phases, uint32_t group)
{
	if (!phases->groups.list[group].gone)
		return 0;
	return lm_fail(phases->ctx, ENOTCONN, "%u members of group %u have left",
		       phases->groups.list[group].gone, group);
}

static int check_event(const struct morph_phases *phases, uint32_t rank, uint32_t group,
		       uint64_t now_ns)
{
	int ret = lm_phase_check_member(phases, rank, group);

	if (!ret)
		ret = check_time(phases, now_ns);
	return ret;
}

/* ------------------------------------------------------------------ waiting */

static void leave_list(uint32_t *list, uint32_t *count, uint32_t number)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < *count; at++)
		if (list[at] != number)
			list[kept++] = list[at];
	*count = kept;
}

static void leave_queue(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];

	if (group->queue == WANTED)
		leave_list(phases->wanted.list, &phases->wanted.count, number);
	if (group->queue == READY)
		leave_list(phases->ready.list, &phases->ready.count, number);
	group->queue = NO_QUEUE;
}

static void want(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];

	if (phases->mode != MORPH_PHASE_PROVISIONED || group->queue != NO_QUEUE ||
	    !group->links.count)
		return;
	group->queue = WANTED;
	phases->wanted.list[phases->wanted.count++] = number;
}

static bool is_ready(const struct group *group)
{
	if (group->begun < group->count)
		return false;
	for (uint32_t at = 1; at < group->count; at++)
		if (group->members[at].counter != group->members[0].counter)
			return false;
	return true;
}

/* One more member is near. */
static void come_near(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];

	if (is_ready(group)) {
		leave_queue(phases, number);
		group->queue = READY;
		group->ready_ns = phases->now_ns;
		group->looked = false;
		group->waited = false;
		phases->counts.operations++;
		phases->ready.list[phases->ready.count++] = number;
	} else if (group->near == group->count && !group->gone) {
		want(phases, number);
	}
}

/* A member is no longer near. */
static void go_away(struct morph_phases *phases, uint32_t number, struct member *member)
{
	struct group *group = &phases->groups.list[number];

	group->begun -= member->part == BEGUN;
	group->near--;
	member->part = AWAY;
	leave_queue(phases, number);
}

static void forget_next(struct morph_phases *phases, struct rank *rank)
{
	struct member *member;

	if (rank->next == NOTHING)
		return;
	member = lm_phase_member(&phases->groups.list[rank->next], (uint32_t)(rank - phases->list));
	go_away(phases, rank->next, member);
	rank->next = NOTHING;
}

static void announce(struct morph_phases *phases, struct rank *rank, uint32_t number)
{
	struct group *group = &phases->groups.list[number];
	struct member *member = lm_phase_member(group, (uint32_t)(rank - phases->list));

	if (rank->next == number)
		return;
	forget_next(phases, rank);
	if (group->gone || !group->links.count || member->part != AWAY)
		return;
	rank->next = number;
	member->part = ANNOUNCED;
	group->near++;
	come_near(phases, number);
}

/* ------------------------------------------------------------------- events */

static int check_begin(const struct morph_phases *phases, uint32_t rank, uint32_t number,
		       uint64_t counter, uint64_t now_ns)
{
	struct member *member;
	int ret = check_event(phases, rank, number, now_ns);

	if (!ret)
		ret = check_there(phases, rank);
	if (!ret)
		ret = check_whole(phases, number);
	if (ret)
		return ret;
	member = lm_phase_member(&phases->groups.list[number], rank);
	if (member->part == BEGUN || member->part == RUNNING)
		return lm_fail(phases->ctx, EBUSY,
			       "rank %u has operation %llu of group %u under way", rank,
			       (unsigned long long)member->counter, number);
	return lm_phase_count(phases, rank, member, number, counter);
}

/* The rank turns to a group. If the group was announced, the rank is near already. */
static void turn_to(struct morph_phases *phases, struct rank *rank, uint32_t number,
		    const struct member *member)
{
	uint64_t window_ns = rank->active ? 0 : lm_phase_idle_ns(rank, phases->now_ns);

	if (rank->next == number) {
		rank->next = NOTHING;
		phases->groups.list[number].near--;
	} else if (rank->next != NOTHING) {
		phases->counts.strays++;
		forget_next(phases, rank);
	}
	rank->active++;
	lm_phase_record(phases, (uint32_t)(rank - phases->list), member, number, window_ns);
}

int morph_phases_begin(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t counter,
		       uint64_t now_ns)
{
	int ret = check_begin(phases, rank, group, counter, now_ns);
	struct member *member;

	if (ret)
		return ret;
	phases->now_ns = now_ns;
	member = lm_phase_member(&phases->groups.list[group], rank);
	if (phases->groups.list[group].links.count)
		turn_to(phases, &phases->list[rank], group, member);
	member->part = BEGUN;
	phases->groups.list[group].begun++;
	phases->groups.list[group].near++;
	come_near(phases, group);
	lm_phase_settle(phases);
	return 0;
}

/* Returns whether a running operation has ended. */
static bool end_operation(struct morph_phases *phases, uint32_t number, struct member *member)
{
	struct group *group = &phases->groups.list[number];

	if (member->part == BEGUN) {
		go_away(phases, number, member);
		return false;
	}
	member->part = AWAY;
	if (!--group->running)
		lm_phase_release(phases, group);
	return true;
}

/*
 * Announce the next group, although other operations of the rank can still run; their circuits are
 * busy.
 */
static void end_activity(struct morph_phases *phases, struct rank *rank, uint32_t number,
			 const struct member *member, bool ended)
{
	uint32_t next = lm_phase_follows(phases, (uint32_t)(rank - phases->list), member, number);

	rank->active--;
	rank->ended_ns = phases->now_ns;
	if (ended && next != NOTHING && phases->mode == MORPH_PHASE_PROVISIONED)
		announce(phases, rank, next);
}

int morph_phases_end(struct morph_phases *phases, uint32_t rank, uint32_t group, uint64_t now_ns)
{
	int ret = check_event(phases, rank, group, now_ns);
	struct member *member;
	bool ended;

	if (ret)
		return ret;
	member = lm_phase_member(&phases->groups.list[group], rank);
	if (member->part != BEGUN && member->part != RUNNING)
		return lm_fail(phases->ctx, ENOENT,
			       "rank %u has no operation of group %u under way", rank, group);
	phases->now_ns = now_ns;
	ended = end_operation(phases, group, member);
	if (phases->groups.list[group].links.count)
		end_activity(phases, &phases->list[rank], group, member, ended);
	lm_phase_settle(phases);
	return 0;
}

int morph_phases_announce(struct morph_phases *phases, uint32_t rank, uint32_t group,
			  uint64_t now_ns)
{
	int ret = check_event(phases, rank, group, now_ns);

	if (!ret)
		ret = check_there(phases, rank);
	if (!ret)
		ret = check_whole(phases, group);
	if (ret)
		return ret;
	phases->now_ns = now_ns;
	if (phases->mode == MORPH_PHASE_PROVISIONED)
		announce(phases, &phases->list[rank], group);
	lm_phase_settle(phases);
	return 0;
}

int morph_phases_provision(struct morph_phases *phases, uint32_t group, uint64_t now_ns)
{
	int ret = lm_phase_check_group(phases, group);

	if (!ret)
		ret = check_time(phases, now_ns);
	if (!ret)
		ret = check_whole(phases, group);
	if (ret)
		return ret;
	phases->now_ns = now_ns;
	want(phases, group);
	lm_phase_settle(phases);
	return 0;
}

static void leave_group(struct morph_phases *phases, uint32_t number, struct member *member)
{
	phases->groups.list[number].gone++;
	if (member->part == BEGUN || member->part == RUNNING)
		end_operation(phases, number, member);
	leave_queue(phases, number);
}

int morph_phases_leave(struct morph_phases *phases, uint32_t rank, uint64_t now_ns)
{
	int ret = lm_phase_check_rank(phases, rank);

	if (!ret)
		ret = check_time(phases, now_ns);
	if (!ret)
		ret = check_there(phases, rank);
	if (ret)
		return ret;
	phases->now_ns = now_ns;
	forget_next(phases, &phases->list[rank]);
	for (uint32_t at = 0; at < phases->groups.count; at++) {
		struct member *member = lm_phase_member(&phases->groups.list[at], rank);

		if (member)
			leave_group(phases, at, member);
	}
	phases->list[rank].gone = true;
	lm_phase_settle(phases);
	return 0;
}

int morph_phases_changed(struct morph_phases *phases, uint32_t group, bool lit, uint64_t now_ns)
{
	int ret = lm_phase_check_group(phases, group);

	if (!ret)
		ret = check_time(phases, now_ns);
	if (ret)
		return ret;
	if (!phases->groups.list[group].changing ||
	    phases->groups.list[group].unread[MORPH_PHASE_CHANGE])
		return lm_fail(phases->ctx, ENOENT,
			       "no action requested to change circuits of group %u", group);
	phases->now_ns = now_ns;
	lm_phase_changed(phases, &phases->groups.list[group], lit);
	lm_phase_settle(phases);
	return 0;
}

/* --------------------------------------------------------------------- acts */

bool morph_phases_next(struct morph_phases *phases, struct morph_phase_act *out)
{
	struct phase_act act;
	struct group *group;

	if (!phases->acts.count)
		return false;
	act = phases->acts.list[0];
	memmove(phases->acts.list, &phases->acts.list[1], --phases->acts.count * sizeof(act));
	group = &phases->groups.list[act.group];
	group->unread[act.kind] = false;
	*out = (struct morph_phase_act){ .kind = act.kind, .group = act.group };
	if (act.kind == MORPH_PHASE_GO) {
		out->counter = group->counter;
	} else {
		out->comes = group->comes;
		out->goes = group->goes;
	}
	return true;
}

int morph_phases_change(const struct morph_phases *phases, uint32_t group, bool goes,
			uint32_t number, struct morph_phase_circuit *out)
{
	const struct group *of;
	int ret = lm_phase_check_group(phases, group);

	if (ret)
		return ret;
	of = &phases->groups.list[group];
	if (!of->changing || number >= (goes ? of->goes : of->comes))
		return lm_fail(phases->ctx, ENOENT,
			       "no circuit %u among those of group %u that change", number, group);
	*out = phases->links.list[goes ? of->going[number] : of->coming[number]].ends;
	return 0;
}

void morph_phases_counts(const struct morph_phases *phases, struct morph_phase_counts *out)
{
	*out = phases->counts;
}
