// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phases: ranks, groups, and their circuits. See ../internal/phases.h. */
#include "../util/sort.h"
#include "phases.h"

#define MOST_GROUPS 65536
#define MOST_LINKS (1U << 22)
#define MOST_STAGES 65536
#define USUAL_STAGES 64

#define GROW(phases, array, count, more)                                                        \
	array_grow((phases)->ctx, (void **)&(phases)->array.list, count, &(phases)->array.room, \
		   sizeof(*(phases)->array.list), more, "add to phases")

/* ------------------------------------------------------------------- making */

static int check_opts(struct morph_ctx *ctx, uint32_t ranks, struct morph_phases_opts *opts)
{
	opts->planes = opts->planes ? opts->planes : 1;
	opts->stages = opts->stages ? opts->stages : USUAL_STAGES;
	if (!ranks || ranks > MOST_RANKS)
		return lm_fail(ctx, EINVAL, "phases have 1 to %d ranks, not %u", MOST_RANKS, ranks);
	if (opts->planes > MOST_PLANES)
		return lm_fail(ctx, EINVAL, "a rank has at most %d ports, not %u", MOST_PLANES,
			       opts->planes);
	if (opts->stages > MOST_STAGES)
		return lm_fail(ctx, EINVAL, "an iteration has at most %d stages, not %u",
			       MOST_STAGES, opts->stages);
	if (opts->mode > MORPH_PHASE_UNCONTROLLED)
		return lm_fail(ctx, EINVAL, "mode %u must be one of 0 to %d", opts->mode,
			       MORPH_PHASE_UNCONTROLLED);
	if (opts->scope > MORPH_DELAY_FABRIC_SCOPE)
		return lm_fail(ctx, EINVAL, "scope %u must be one of 0 to %d", opts->scope,
			       MORPH_DELAY_FABRIC_SCOPE);
	return 0;
}

static bool make_rank(struct rank *rank, uint32_t stages)
{
	rank->next = NOTHING;
	rank->at = NOTHING;
	rank->ended_ns = NEVER;
	rank->number = 1;
	rank->now.stages = calloc(stages, sizeof(*rank->now.stages));
	rank->last.stages = calloc(stages, sizeof(*rank->last.stages));
	rank->pattern.stages = calloc(stages, sizeof(*rank->pattern.stages));
	rank->windows = calloc(stages, sizeof(*rank->windows));
	return rank->now.stages && rank->last.stages && rank->pattern.stages && rank->windows;
}

static bool make_all(struct morph_phases *phases)
{
	uint32_t ports = phases->planes * phases->ranks;

	phases->list = calloc(phases->ranks, sizeof(*phases->list));
	phases->ports = calloc(2 * (size_t)ports, sizeof(*phases->ports));
	phases->leaving = calloc(ports, sizeof(*phases->leaving));
	if (!phases->list || !phases->ports || !phases->leaving)
		return false;
	memset(phases->leaving, 0xff, ports * sizeof(*phases->leaving));
	for (uint32_t at = 0; at < 2 * ports; at++)
		phases->ports[at].link = NOTHING;
	for (uint32_t rank = 0; rank < phases->ranks; rank++)
		if (!make_rank(&phases->list[rank], phases->stages))
			return false;
	return true;
}

struct morph_phases *morph_phases_new(struct morph_ctx *ctx, uint32_t ranks,
				      const struct morph_phases_opts *opts)
{
	struct morph_phases *phases;
	struct morph_phases_opts mine;

	if (lm_opts_check(ctx, opts, sizeof(mine), "morph_phases_opts"))
		return NULL;
	lm_opts_copy(&mine, opts, sizeof(mine));
	if (check_opts(ctx, ranks, &mine))
		return NULL;
	phases = calloc(1, sizeof(*phases));
	if (phases) {
		phases->ctx = ctx;
		phases->ranks = ranks;
		phases->planes = mine.planes;
		phases->mode = mine.mode;
		phases->scope = mine.scope;
		phases->stages = mine.stages;
	}
	if (!phases || !make_all(phases)) {
		morph_phases_free(phases);
		lm_no_memory(ctx, "begin phases");
		return NULL;
	}
	return phases;
}

static void free_group(struct group *group)
{
	free(group->members);
	free(group->links.list);
	free(group->coming);
	free(group->going);
}

void morph_phases_free(struct morph_phases *phases)
{
	if (!phases)
		return;
	for (uint32_t rank = 0; phases->list && rank < phases->ranks; rank++) {
		free(phases->list[rank].now.stages);
		free(phases->list[rank].last.stages);
		free(phases->list[rank].pattern.stages);
		free(phases->list[rank].windows);
	}
	for (uint32_t at = 0; at < phases->groups.count; at++)
		free_group(&phases->groups.list[at]);
	free(phases->list);
	free(phases->ports);
	free(phases->leaving);
	free(phases->groups.list);
	free(phases->links.list);
	free(phases->ready.list);
	free(phases->wanted.list);
	free(phases->acts.list);
	free(phases);
}

/* ------------------------------------------------------------------- groups */

int lm_phase_check_rank(const struct morph_phases *phases, uint32_t rank)
{
	if (rank < phases->ranks)
		return 0;
	return lm_fail(phases->ctx, ENOENT, "no rank %u: there are %u ranks", rank, phases->ranks);
}

int lm_phase_check_group(const struct morph_phases *phases, uint32_t group)
{
	if (group < phases->groups.count)
		return 0;
	return lm_fail(phases->ctx, ENOENT, "no group %u: there are %u groups", group,
		       phases->groups.count);
}

int lm_phase_check_member(const struct morph_phases *phases, uint32_t rank, uint32_t group)
{
	int ret = lm_phase_check_rank(phases, rank);

	if (!ret)
		ret = lm_phase_check_group(phases, group);
	if (!ret && !lm_phase_member(&phases->groups.list[group], rank))
		ret = lm_fail(phases->ctx, ENOENT, "rank %u is not a member of group %u", rank,
			      group);
	return ret;
}

struct member *lm_phase_member(const struct group *group, uint32_t rank)
{
	uint32_t low = 0, high = group->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (group->members[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < group->count && group->members[low].rank == rank ? &group->members[low] : NULL;
}

static int by_rank(const void *one, const void *other, void *context)
{
	const struct member *a = one, *b = other;

	(void)context;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int check_members(const struct morph_phases *phases, const struct group *group)
{
	for (uint32_t at = 0; at < group->count; at++) {
		uint32_t rank = group->members[at].rank;
		int ret = lm_phase_check_rank(phases, rank);

		if (ret)
			return ret;
		if (at && group->members[at - 1].rank == rank)
			return lm_fail(phases->ctx, EINVAL, "rank %u is listed twice in a group",
				       rank);
	}
	return 0;
}

/* Reserve queues for all groups, at most two acts for each, so that nothing is allocated later. */
static int make_room(struct morph_phases *phases)
{
	uint32_t count = phases->groups.count;
	int ret = GROW(phases, groups, count, 1);

	if (!ret)
		ret = GROW(phases, ready, count, 1);
	if (!ret)
		ret = GROW(phases, wanted, count, 1);
	if (!ret)
		ret = GROW(phases, acts, 2 * count, 2);
	return ret;
}

int morph_phases_add_group(struct morph_phases *phases, const uint32_t *members, uint32_t count)
{
	struct group group = { .count = count };
	int ret;

	if (count < 2 || count > phases->ranks)
		return lm_fail(phases->ctx, EINVAL, "a group has 2 to %u members, not %u",
			       phases->ranks, count);
	if (phases->groups.count == MOST_GROUPS)
		return lm_fail(phases->ctx, E2BIG, "phases have at most %d groups", MOST_GROUPS);
	ret = make_room(phases);
	if (ret)
		return ret;
	group.members = calloc(count, sizeof(*group.members));
	if (!group.members)
		return lm_no_memory(phases->ctx, "add to phases");
	for (uint32_t at = 0; at < count; at++)
		group.members[at].rank = members[at];
	lm_sort(group.members, count, sizeof(*group.members), by_rank, NULL);
	ret = check_members(phases, &group);
	if (ret) {
		free_group(&group);
		return ret;
	}
	for (uint32_t at = 0; at < count; at++)
		group.gone += phases->list[group.members[at].rank].gone;
	phases->groups.list[phases->groups.count] = group;
	return (int)phases->groups.count++;
}

/* ----------------------------------------------------------------- circuits */

static int check_idle(const struct morph_phases *phases, uint32_t number)
{
	const struct group *group = &phases->groups.list[number];

	if (!group->near && !group->running && !group->changing && group->queue == NO_QUEUE)
		return 0;
	return lm_fail(phases->ctx, EBUSY, "group %u is in use; its circuits cannot change",
		       number);
}

/* Mark the ports of the group for this pass. */
static void mark_ports(struct morph_phases *phases, const struct group *group)
{
	phases->pass++;
	for (uint32_t at = 0; at < group->links.count; at++) {
		const struct link *link = &phases->links.list[group->links.list[at]];

		lm_phase_leaves(phases, link)->pass = phases->pass;
		lm_phase_reaches(phases, link)->pass = phases->pass;
	}
}

static int mark_circuit(const struct morph_phases *phases, uint32_t number, const struct link *link)
{
	uint32_t src = link->ends.src, dst = link->ends.dst, plane = link->ends.plane;
	int ret = lm_phase_check_member(phases, src, number);

	if (!ret)
		ret = lm_phase_check_member(phases, dst, number);
	if (ret)
		return ret;
	if (src == dst)
		return lm_fail(phases->ctx, EINVAL, "a circuit from rank %u to itself", src);
	if (lm_phase_leaves(phases, link)->pass == phases->pass ||
	    lm_phase_reaches(phases, link)->pass == phases->pass)
		return lm_fail(phases->ctx, EEXIST,
			       "plane %u has another circuit of group %u at rank %u or %u", plane,
			       number, src, dst);
	lm_phase_leaves(phases, link)->pass = phases->pass;
	lm_phase_reaches(phases, link)->pass = phases->pass;
	return 0;
}

static uint32_t *first_link(const struct morph_phases *phases, const struct link *link)
{
	return &phases->leaving[link->ends.plane * phases->ranks + link->ends.src];
}

/* The index of a circuit. Adds a new circuit; space is reserved. */
static uint32_t number_of(struct morph_phases *phases, struct link link)
{
	uint32_t *first = first_link(phases, &link);

	for (uint32_t at = *first; at != NOTHING; at = phases->links.list[at].next)
		if (phases->links.list[at].ends.dst == link.ends.dst)
			return at;
	link.next = *first;
	*first = phases->links.count;
	phases->links.list[phases->links.count] = link;
	return phases->links.count++;
}

static int room_for(struct morph_phases *phases, struct group *group, uint32_t more)
{
	uint32_t *coming, *going;
	int ret = GROW(phases, links, phases->links.count, more);

	if (!ret)
		ret = ARRAY_GROW(phases->ctx, group->links, more, "add to phases");
	if (ret)
		return ret;
	coming = reallocarray(group->coming, group->links.room, sizeof(*coming));
	if (coming)
		group->coming = coming;
	going = reallocarray(group->going, group->links.room, 2 * sizeof(*going));
	if (going)
		group->going = going;
	if (!coming || !going)
		return lm_no_memory(phases->ctx, "add to phases");
	return 0;
}

/* Add @count circuits, each from one rank to the next. */
static int join(struct morph_phases *phases, uint32_t number, uint32_t plane, const uint32_t *order,
		uint32_t members, uint32_t circuits)
{
	struct link link = { .ends = { .plane = plane }, .light = DARK };
	struct group *group;
	int ret = lm_phase_check_group(phases, number);

	if (!ret && plane >= phases->planes)
		ret = lm_fail(phases->ctx, ENOENT, "no plane %u: ranks have %u ports", plane,
			      phases->planes);
	if (!ret)
		ret = check_idle(phases, number);
	if (!ret && phases->links.count > MOST_LINKS - circuits)
		ret = lm_fail(phases->ctx, E2BIG, "phases have at most %u circuits", MOST_LINKS);
	if (ret)
		return ret;
	group = &phases->groups.list[number];
	mark_ports(phases, group);
	for (uint32_t at = 0; !ret && at < circuits; at++) {
		link.ends.src = order[at];
		link.ends.dst = order[(at + 1) % members];
		ret = mark_circuit(phases, number, &link);
	}
	if (!ret)
		ret = room_for(phases, group, circuits);
	for (uint32_t at = 0; !ret && at < circuits; at++) {
		link.ends.src = order[at];
		link.ends.dst = order[(at + 1) % members];
		group->links.list[group->links.count++] = number_of(phases, link);
	}
	return ret;
}

int morph_phases_add_circuit(struct morph_phases *phases, uint32_t group, uint32_t plane,
			     uint32_t src, uint32_t dst)
{
	const uint32_t order[] = { src, dst };

	return join(phases, group, plane, order, 2, 1);
}

/* A member that is twice in the ring would send twice. */
int morph_phases_add_ring(struct morph_phases *phases, uint32_t group, uint32_t plane,
			  const uint32_t *order)
{
	int ret = lm_phase_check_group(phases, group);

	if (!ret)
		ret = join(phases, group, plane, order, phases->groups.list[group].count,
			   phases->groups.list[group].count);
	return ret;
}
