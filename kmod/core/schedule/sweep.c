// SPDX-License-Identifier: GPL-2.0-only
/*
 * The resources that the circuits of a schedule use, and conflicts among the circuits of a step.
 * Both need only the paths and memory of the schedule, so a load and a repair list and check them
 * without fabric->lock. Then hold.c checks each listed resource against other slices, once.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"

/* --------------------------------------------------------------------- list */

/* A hash table of entries by the number of their resource. A slot has 1 + entry, or 0. */
struct table {
	u32 *slots;
	u32 bits;
};

enum kind { GUIDES, ELEMENTS, TX, RX, KINDS };

/* The listing of a schedule. One block has the slots of all tables, then @first and @entries. */
struct listing {
	struct morph_schedule *schedule;
	struct table tables[KINDS];
	u32 most[KINDS];	/* limit of the entries */
	u32 *first;		/* by circuit: its first number in @entries */
	u32 *entries;		/* of the transmitter, the receiver, and each hop: guide, element */
	void *block;
};

static u32 *slot_of(const struct table *table, u32 hash)
{
	return &table->slots[hash & (BIT(table->bits) - 1)];
}

static u32 list_lanes(const struct table *table, struct morph_held_lanes *entries, u32 *count,
		      u32 index, u64 lanes)
{
	u32 hash = hash_32(index, table->bits), *slot = slot_of(table, hash);

	while (*slot && entries[*slot - 1].index != index)
		slot = slot_of(table, ++hash);
	if (!*slot) {
		entries[*count] = (struct morph_held_lanes){ .index = index };
		*slot = ++*count;
	}
	entries[*slot - 1].lanes |= lanes;
	return *slot - 1;
}

static u32 list_element(const struct table *table, struct morph_hold *hold,
			const struct optics_hop *hop)
{
	u32 hash = hash_32(hop->element, table->bits), *slot = slot_of(table, hash);
	struct morph_held_element *entry;

	while (*slot && hold->elements[*slot - 1].element != hop->element)
		slot = slot_of(table, ++hash);
	if (!*slot) {
		hold->elements[hold->elements_count] = (struct morph_held_element){
			.element = hop->element,
			.state = hop->state,
		};
		*slot = ++hold->elements_count;
	}
	entry = &hold->elements[*slot - 1];
	if (entry->state != hop->state)
		entry->alone = true;
	return *slot - 1;
}

static u32 list_path(struct listing *listing, const struct optics_path *path, u32 *entries)
{
	struct morph_hold *hold = &listing->schedule->hold;
	const struct table *tables = listing->tables;
	u32 n = 0, h;

	entries[n++] = list_lanes(&tables[TX], hold->tx, &hold->tx_count, path->tx, path->lanes);
	entries[n++] = list_lanes(&tables[RX], hold->rx, &hold->rx_count, path->rx, path->lanes);
	for (h = 0; h < path->hops_count; h++) {
		const struct optics_hop *hop = &path->hops[h];
		u32 guide = list_lanes(&tables[GUIDES], hold->guides, &hold->guides_count,
				       hop->guide >> 1, path->lanes);

		/* A hold that fails may not reach the guide, but its end removes it from a list. */
		INIT_HLIST_NODE(&hold->listed[guide].node);
		entries[n++] = guide;
		entries[n++] = hop->element == OPTICS_NONE ? OPTICS_NONE :
			       list_element(&tables[ELEMENTS], hold, hop);
	}
	return n;
}

/* Limits of the numbers of entries, and all hops. */
static size_t count_most(struct listing *listing)
{
	const struct morph_schedule *schedule = listing->schedule;
	const struct optics_graph *graph = schedule->slice->fabric->graph;
	size_t hops = 0;
	u32 i;

	for (i = 0; i < schedule->circuits_count; i++)
		hops += schedule->circuits[i]->route->path.hops_count;
	listing->most[GUIDES] = min_t(size_t, hops, graph->guides_count);
	listing->most[ELEMENTS] = min_t(size_t, hops, graph->elements_count);
	listing->most[TX] = min(schedule->circuits_count, graph->ports_count);
	listing->most[RX] = listing->most[TX];
	return hops;
}

static int listing_alloc(struct listing *listing, size_t hops, gfp_t gfp)
{
	size_t circuits = listing->schedule->circuits_count, slots = 0, numbers;
	u32 kind;

	for (kind = 0; kind < KINDS; kind++) {
		listing->tables[kind].bits = order_base_2(2 * (listing->most[kind] + 1));
		slots += BIT(listing->tables[kind].bits);
	}
	numbers = circuits + 2 * circuits + 2 * hops;
	listing->block = kvmalloc_array(slots + numbers, sizeof(u32), gfp);
	if (!listing->block)
		return -ENOMEM;
	memset(listing->block, 0, array_size(slots, sizeof(u32)));
	listing->tables[0].slots = listing->block;
	for (kind = 1; kind < KINDS; kind++)
		listing->tables[kind].slots = listing->tables[kind - 1].slots +
					      BIT(listing->tables[kind - 1].bits);
	listing->first = listing->block + array_size(slots, sizeof(u32));
	listing->entries = listing->first + circuits;
	return 0;
}

static int list_all(struct listing *listing, struct morph_refusal *refusal)
{
	gfp_t gfp = refusal ? GFP_KERNEL_ACCOUNT : MORPH_GFP_REPAIR;
	struct morph_schedule *schedule = listing->schedule;
	size_t hops = count_most(listing);
	u32 i, n = 0;
	int ret;

	ret = morph_schedule_hold_alloc(schedule, listing->most[GUIDES], listing->most[ELEMENTS],
					listing->most[TX], gfp, refusal);
	if (!ret)
		ret = listing_alloc(listing, hops, gfp);
	for (i = 0; i < schedule->circuits_count && !ret; i++) {
		listing->first[i] = n;
		n += list_path(listing, &schedule->circuits[i]->route->path, listing->entries + n);
		cond_resched();
	}
	return ret;
}

/* -------------------------------------------------------------------- sweep */

struct sweep {
	const struct listing *listing;
	struct morph_schedule *schedule;
	struct morph_schedule_wrong *wrong;
	struct optics_refusal *why;
	u32 mark;		/* stamp of circuits in the present step */
	u32 changes, ranks;	/* number of entries so far */
	bool repair;		/* other threads may read the ranks, which do not change */
};

static int conflict(struct sweep *sweep, u32 reason, u32 part, u32 index, s64 have, s64 need)
{
	*sweep->why = (struct optics_refusal){
		.reason = reason,
		.part = part,
		.index = index,
		.item = OPTICS_NONE,
		.have = have,
		.need = need,
	};
	if (part == OPTICS_PART_LASER || part == OPTICS_PART_RECEIVER)
		sweep->why->planes = sweep->schedule->slice->fabric->graph->params.planes;
	return optics_reason_errno(reason);
}

/* The lanes of @entry.ours are those of the circuits that are claimed now. */
static int claim_lanes(struct sweep *sweep, struct morph_held_lanes *entry, u64 lanes, u32 reason,
		       u32 part)
{
	if (entry->ours & lanes)
		return conflict(sweep, reason, part, entry->index,
				optics_weight64(lanes & ~entry->ours), optics_weight64(lanes));
	entry->ours |= lanes;
	return 0;
}

static int claim_element(struct sweep *sweep, struct morph_held_element *entry, u8 state)
{
	if (entry->users && entry->now != state)
		return conflict(sweep, OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT, entry->element,
				entry->now, state);
	entry->users++;
	entry->now = state;
	return 0;
}

static int claim_hop(struct sweep *sweep, const struct optics_hop *hop, const u32 *entries,
		     u64 lanes)
{
	struct morph_hold *hold = &sweep->schedule->hold;
	int ret;

	ret = claim_lanes(sweep, &hold->guides[entries[0]], lanes, OPTICS_LANES,
			  OPTICS_PART_GUIDE);
	if (ret || entries[1] == OPTICS_NONE)
		return ret;
	ret = claim_element(sweep, &hold->elements[entries[1]], hop->state);
	if (ret)
		hold->guides[entries[0]].ours &= ~lanes;
	return ret;
}

/* Release both ends and the first hops of a circuit. */
static void release_hops(struct sweep *sweep, u32 index, u32 hops)
{
	const u32 *entries = sweep->listing->entries + sweep->listing->first[index];
	u64 others = ~sweep->schedule->circuits[index]->route->path.lanes;
	struct morph_hold *hold = &sweep->schedule->hold;

	hold->tx[entries[0]].ours &= others;
	hold->rx[entries[1]].ours &= others;
	for (entries += 2; hops--; entries += 2) {
		hold->guides[entries[0]].ours &= others;
		if (entries[1] != OPTICS_NONE)
			hold->elements[entries[1]].users--;
	}
}

static void sweep_release(struct sweep *sweep, u32 index)
{
	release_hops(sweep, index, sweep->schedule->circuits[index]->route->path.hops_count);
}

static int sweep_claim(struct sweep *sweep, u32 step, u32 index)
{
	const struct optics_path *path = &sweep->schedule->circuits[index]->route->path;
	const u32 *entries = sweep->listing->entries + sweep->listing->first[index];
	struct morph_hold *hold = &sweep->schedule->hold;
	u32 h;
	int ret;

	ret = claim_lanes(sweep, &hold->tx[entries[0]], path->lanes, OPTICS_PORT_BUSY,
			  OPTICS_PART_LASER);
	if (ret)
		goto out;
	ret = claim_lanes(sweep, &hold->rx[entries[1]], path->lanes, OPTICS_PORT_BUSY,
			  OPTICS_PART_RECEIVER);
	if (ret) {
		hold->tx[entries[0]].ours &= ~path->lanes;
		goto out;
	}
	for (h = 0; h < path->hops_count; h++) {
		ret = claim_hop(sweep, &path->hops[h], entries + 2 + 2 * h, path->lanes);
		if (!ret)
			continue;
		release_hops(sweep, index, h);
		goto out;
	}
	return 0;
out:
	*sweep->wrong = (struct morph_schedule_wrong){ step, index };
	return ret;
}

/* Add a rank with a changed circuit, once. */
static void add_rank(struct sweep *sweep, struct morph_step *step, u32 rank)
{
	struct morph_schedule *schedule = sweep->schedule;

	if (sweep->repair || schedule->rank_stamps[rank] == sweep->mark)
		return;
	schedule->rank_stamps[rank] = sweep->mark;
	schedule->ranks[sweep->ranks++] = rank;
	step->ranks++;
}

static void add_change(struct sweep *sweep, struct morph_step *step, u32 index)
{
	const struct morph_circuit *circuit = sweep->schedule->circuits[index];

	sweep->schedule->changes[sweep->changes++] = index;
	add_rank(sweep, step, circuit->src_rank);
	add_rank(sweep, step, circuit->dst_rank);
}

/* Compare a step with its predecessor, whose circuits have the stamp, and list the changes. */
static void compare(struct sweep *sweep, const struct morph_step *before, struct morph_step *step)
{
	struct morph_schedule *schedule = sweep->schedule;
	u32 i, index;

	sweep->mark++;
	if (!sweep->repair) {
		step->rank = sweep->ranks;
		step->ranks = 0;
	}
	step->light = sweep->changes;
	for (i = 0; i < step->count; i++) {
		index = schedule->held[step->held + i];
		if (schedule->stamps[index] != sweep->mark - 1)
			add_change(sweep, step, index);
		schedule->stamps[index] = sweep->mark;
	}
	step->lights = sweep->changes - step->light;
	step->drop = sweep->changes;
	for (i = 0; i < before->count; i++) {
		index = schedule->held[before->held + i];
		if (schedule->stamps[index] != sweep->mark)
			add_change(sweep, step, index);
	}
	step->drops = sweep->changes - step->drop;
}

/*
 * Sort the circuits that fit beside the previous step first: they can be lit ahead, while it runs.
 */
static int sweep_step(struct sweep *sweep, u32 before, u32 number)
{
	struct morph_schedule *schedule = sweep->schedule;
	struct morph_step *step = &schedule->steps[number];
	u32 *light, i;
	int ret = 0;

	compare(sweep, &schedule->steps[before], step);
	light = schedule->changes + step->light;
	step->ahead = 0;
	for (i = 0; i < step->lights; i++) {
		if (sweep_claim(sweep, number, light[i]))
			continue;
		swap(light[i], light[step->ahead]);
		step->ahead++;
	}
	for (i = 0; i < step->drops; i++)
		sweep_release(sweep, schedule->changes[step->drop + i]);
	for (i = step->ahead; i < step->lights && !ret; i++)
		ret = sweep_claim(sweep, number, light[i]);
	step->info.changes = step->lights + step->drops;
	step->info.ahead = step->ahead;
	return ret;
}

static int sweep_first(struct sweep *sweep)
{
	struct morph_schedule *schedule = sweep->schedule;
	struct morph_step *step = &schedule->steps[0];
	u32 i, index;
	int ret = 0;

	step->info.changes = step->count;
	for (i = 0; i < step->count && !ret; i++) {
		index = schedule->held[step->held + i];
		schedule->stamps[index] = sweep->mark;
		ret = sweep_claim(sweep, 0, index);
	}
	return ret;
}

/* No entry is claimed any more. Count the lit circuits that use each element. */
static void sweep_end(struct sweep *sweep)
{
	const struct listing *listing = sweep->listing;
	struct morph_schedule *schedule = sweep->schedule;
	struct morph_hold *hold = &schedule->hold;
	u32 i, h;

	for (i = 0; i < hold->guides_count; i++)
		hold->guides[i].ours = 0;
	for (i = 0; i < hold->tx_count; i++)
		hold->tx[i].ours = 0;
	for (i = 0; i < hold->rx_count; i++)
		hold->rx[i].ours = 0;
	for (i = 0; i < hold->elements_count; i++)
		hold->elements[i].users = 0;
	for (i = 0; i < schedule->circuits_count; i++) {
		const struct morph_route *route = schedule->circuits[i]->route;
		const u32 *entries = listing->entries + listing->first[i] + 2;

		if (route->role != MORPH_ROUTE_LIVE)
			continue;
		for (h = 0; h < route->path.hops_count; h++)
			if (entries[2 * h + 1] != OPTICS_NONE)
				hold->elements[entries[2 * h + 1]].users++;
	}
}

static int sweep_all(struct sweep *sweep)
{
	struct morph_schedule *schedule = sweep->schedule;
	u32 i;
	int ret;

	memset(schedule->stamps, 0, array_size(schedule->circuits_count, sizeof(u32)));
	memset(schedule->rank_stamps, 0, array_size(schedule->slice->ranks_count, sizeof(u32)));
	ret = sweep_first(sweep);
	for (i = 1; i < schedule->steps_count && !ret; i++) {
		ret = sweep_step(sweep, i - 1, i);
		cond_resched();
	}
	if (!ret && schedule->flags & MORPH_SCHEDULE_LOOP)
		ret = sweep_step(sweep, schedule->steps_count - 1, 0);
	sweep_end(sweep);
	return ret;
}

/**
 * morph_schedule_list() - list the resources of all circuits, and check each step for conflicts
 * @schedule: all circuits have paths; the schedule holds nothing
 * @wrong: the step and the circuit of a conflict, or NULL
 * @refusal: filled on failure; NULL: a repair, which charges memory beyond the limit if necessary
 *
 * Also finds the changes of each step, and the circuits that can be lit ahead. The caller has
 * entered the slice. O(circuits of all steps * path).
 *
 * Context: no lock held.
 * Return: 0, a conflict, -EDQUOT or -ENOMEM.
 */
int morph_schedule_list(struct morph_schedule *schedule, struct morph_schedule_wrong *wrong,
			struct morph_refusal *refusal)
{
	struct listing listing = { .schedule = schedule };
	struct morph_schedule_wrong unused;
	struct optics_refusal why = {};
	struct sweep sweep = {
		.listing = &listing,
		.schedule = schedule,
		.wrong = wrong ?: &unused,
		.why = &why,
		.mark = 1,
		.repair = !refusal,
	};
	int ret;

	ret = list_all(&listing, refusal);
	if (!ret) {
		ret = sweep_all(&sweep);
		if (ret)
			morph_refuse_optics(refusal, ret, &why);
		else if (wrong)		/* of circuits that cannot be lit ahead */
			*wrong = (struct morph_schedule_wrong){ MORPH_ANY, MORPH_ANY };
	}
	kvfree(listing.block);
	return ret;
}
