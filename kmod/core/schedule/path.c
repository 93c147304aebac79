// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of a schedule's circuits: find them, and judge the light of a step.
 *
 * Circuits that share no step may use the same lanes, and the same elements in different states. So
 * a path search only considers the circuits that share a step with the new one. The search writes
 * their paths into the ledger while the router runs, under one hold of fabric->lock. A repair
 * writes them into a draft of the ledger, without this lock.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/ledger/ledger.h"
#include "core/schedule/schedule.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

#define JUDGED_AT_ONCE	16u	/* circuits that are judged in one hold of fabric->lock */
/* A step of the router, in visited entries of schedules; see schedule->work. */
#define STEP_WORK	192u

/* -------------------------------------------------------------- path search */

static void write_lanes(struct morph_traces *traces, u64 *lanes, u64 bits)
{
	bits &= ~*lanes;
	if (!bits)
		return;
	*lanes |= bits;
	traces->entries[traces->count++] = (struct morph_trace){ .lanes = lanes, .bits = bits };
}

/* Set the element to the state of the path, or exclude it if steps need several states. */
static void write_element(struct morph_traces *traces, const struct optics_hop *hop)
{
	struct optics_state *ledger = traces->ledger;
	struct morph_trace trace = { .element = hop->element };

	trace.state = ledger->element_state[hop->element];
	trace.marked = ledger->element_pins[hop->element];
	if (trace.marked && (trace.state == hop->state ||
			     ledger->element_marks[hop->element] & OPTICS_HELD))
		return;
	if (trace.marked) {
		ledger->element_marks[hop->element] |= OPTICS_HELD;
	} else {
		ledger->element_pins[hop->element] = 1;
		optics_set_state(ledger, hop->element, hop->state);
	}
	traces->entries[traces->count++] = trace;
}

static void write_path(struct morph_traces *traces, const struct optics_path *path)
{
	struct optics_state *ledger = traces->ledger;
	u32 h;

	write_lanes(traces, &ledger->tx_lanes[path->tx], path->lanes);
	write_lanes(traces, &ledger->rx_lanes[path->rx], path->lanes);
	for (h = 0; h < path->hops_count; h++) {
		write_lanes(traces, &ledger->guide_lanes[path->hops[h].guide >> 1], path->lanes);
		if (path->hops[h].element != OPTICS_NONE)
			write_element(traces, &path->hops[h]);
	}
}

static void erase(struct morph_traces *traces)
{
	struct optics_state *ledger = traces->ledger;

	while (traces->count) {
		const struct morph_trace *trace = &traces->entries[--traces->count];

		if (trace->lanes) {
			*trace->lanes &= ~trace->bits;
		} else if (trace->marked) {
			ledger->element_marks[trace->element] &= ~OPTICS_HELD;
		} else {
			ledger->element_pins[trace->element] = 0;
			optics_set_state(ledger, trace->element, trace->state);
		}
	}
}

/*
 * Write the paths of all circuits that share a step with one. The first call only counts them; the
 * second has memory for the entries: two for each hop, and two for the ports.
 */
static u32 write_others(struct morph_schedule *schedule, u32 circuit, bool write)
{
	struct morph_traces *traces = &schedule->traces;
	u32 mark, room = 0, use, i;

	if (!traces->mark)
		memset(schedule->stamps, 0, array_size(schedule->circuits_count, sizeof(u32)));
	mark = ++traces->mark;
	schedule->stamps[circuit] = mark;
	for (use = schedule->uses[circuit]; use < schedule->uses[circuit + 1]; use++) {
		const struct morph_step *step = &schedule->steps[schedule->used_in[use]];

		schedule->work += step->count;
		for (i = 0; i < step->count; i++) {
			u32 other = schedule->held[step->held + i];
			const struct morph_circuit *beside = schedule->circuits[other];

			/* The circuit does not exist yet, or has no path of its own. */
			if (!beside || !beside->route || circuit_scheduling(beside)->astray ||
			    schedule->stamps[other] == mark)
				continue;
			schedule->stamps[other] = mark;
			room += 2 * beside->route->path.hops_count + 2;
			if (write)
				write_path(traces, &beside->route->path);
		}
	}
	return room;
}

/* The effort of the router in the rest of this hold of fabric->lock. */
static u32 next_effort(const struct morph_schedule *schedule)
{
	u64 left = MORPH_SCHEDULE_MOST_WORK - min_t(u64, schedule->work, MORPH_SCHEDULE_MOST_WORK);

	return max_t(u32, (u32)left / STEP_WORK, 1) * MORPH_STEP_EFFORT;
}

/* Return whether there is memory for the entries. */
static bool has_room(struct morph_schedule *schedule, u32 room)
{
	struct morph_traces *traces = &schedule->traces;

	traces->wanted = max(room, 1u);
	return traces->wanted <= traces->room;
}

int morph_schedule_alloc_traces(struct morph_schedule *schedule, gfp_t gfp)
{
	struct morph_traces *traces = &schedule->traces;

	kvfree(traces->entries);
	traces->room = traces->wanted + traces->wanted / 2;
	traces->entries = kvmalloc_array(traces->room, sizeof(*traces->entries), gfp);
	return traces->entries ? 0 : -ENOMEM;
}

void morph_schedule_free_traces(struct morph_schedule *schedule)
{
	kvfree(schedule->traces.entries);
	schedule->traces = (struct morph_traces){};
}

int morph_schedule_route(struct morph_schedule *schedule, struct morph_txn *scratch, u32 index)
{
	struct morph_circuit *circuit = schedule->circuits[index];
	struct morph_slice *slice = schedule->slice;
	struct morph_item *item = &scratch->items[0];
	struct morph_path_search *search = schedule->search;
	struct optics_refusal why = {};
	u64 steps;
	u32 room;
	int ret;

	lockdep_assert_held(&slice->fabric->lock);
	room = write_others(schedule, index, false);
	schedule->work += 6 * room;	/* written, and erased */
	if (!has_room(schedule, room))
		return -EINPROGRESS;
	schedule->traces.ledger = ledger_of(slice->fabric)->state;
	write_others(schedule, index, true);
	item->new_src = morph_end_place(slice, circuit->src_rank);
	item->new_dst = morph_end_place(slice, circuit->dst_rank);
	item->new = NULL;
	steps = morph_route_steps(slice->fabric);
	ret = morph_txn_find_path(scratch, item, search->work ? search : NULL,
				  next_effort(schedule), &why);
	schedule->work += STEP_WORK * (morph_route_steps(slice->fabric) - steps);
	erase(&schedule->traces);
	if (ret == -ENOMEM || ret == -EDQUOT || ret == -EINPROGRESS)
		return ret;
	if (ret)
		return morph_refuse_optics(&scratch->refusal, ret, &why);
	item->new->circuit = circuit;
	circuit->route = item->new;
	circuit->lanes_count = optics_weight64(item->new->path.lanes);
	item->new = NULL;
	return 0;
}

/* Readers of the circuit hold fabric->lock. */
static void replace_route(struct morph_circuit *circuit, struct morph_route *route)
{
	struct morph_fabric *fabric = circuit->slice->fabric;
	struct morph_route *old = circuit->route;

	route->circuit = circuit;
	mutex_lock(&fabric->lock);
	if (old)
		morph_route_unlist(old);
	circuit->route = route;
	circuit->lanes_count = optics_weight64(route->path.lanes);
	mutex_unlock(&fabric->lock);
	morph_route_free(old);
}

int morph_schedule_reroute(struct morph_schedule *schedule, struct morph_draft *draft,
			   const struct morph_change *change, u32 index)
{
	struct morph_circuit *circuit = schedule->circuits[index];
	struct morph_slice *slice = schedule->slice;
	const struct morph_path_request request = {
		.slice = slice,
		.change = change,
		.src = morph_end_place(slice, circuit->src_rank),
		.dst = morph_end_place(slice, circuit->dst_rank),
		.gfp = MORPH_GFP_REPAIR,
		.draft = draft,
	};
	struct optics_refusal why = {};
	struct morph_route *route;
	int ret;

	if (!has_room(schedule, write_others(schedule, index, false)))
		morph_schedule_alloc_traces(schedule, MORPH_GFP_REPAIR);
	schedule->traces.ledger = draft->state;
	write_others(schedule, index, true);
	ret = morph_path_find(&request, &route, NULL, &why);
	erase(&schedule->traces);
	if (!ret)
		replace_route(circuit, route);
	return ret;
}

/* -------------------------------------------------------------------- judge */

/* The present conditions. A step of another schedule that returns to its states restores them. */
static struct morph_judged conditions(const struct morph_schedule *schedule)
{
	const struct morph_ledger *ledger = ledger_of(schedule->slice->fabric);

	return (struct morph_judged){
		.others = ledger->light_seq - schedule->own_light,
		.beside = ledger->light_hash - schedule->stance,
		.stance = schedule->stance,
	};
}

static bool holds(const struct morph_judged *judged, const struct morph_schedule *schedule)
{
	struct morph_judged now = conditions(schedule);

	return judged->others == now.others && judged->beside == now.beside &&
	       judged->stance == now.stance;
}

/* Set elements to the states of the circuits; save the old states. Return their number. */
static u32 set_states(struct morph_schedule *schedule, const u32 *list, u32 count,
		      struct morph_element_setting *before)
{
	struct optics_state *ledger = ledger_of(schedule->slice->fabric)->state;
	u32 n = 0, i, h;

	for (i = 0; i < count; i++) {
		const struct morph_route *route = schedule->circuits[list[i]]->route;

		for (h = 0; h < route->path.hops_count; h++) {
			u32 element = route->hops[h].element;

			if (element == OPTICS_NONE ||
			    ledger->element_state[element] == route->hops[h].state)
				continue;
			before[n].element = element;
			before[n++].state = ledger->element_state[element];
			optics_set_state(ledger, element, route->hops[h].state);
		}
	}
	return n;
}

/* Ignore the marks that exclude other users while the judge runs. */
static void lift_marks(struct morph_schedule *schedule, bool lift)
{
	u8 *marks = ledger_of(schedule->slice->fabric)->state->element_marks;
	const struct morph_hold *hold = &schedule->hold;
	u32 i;

	for (i = 0; i < hold->elements_count; i++) {
		if (!hold->elements[i].marked)
			continue;
		if (lift)
			marks[hold->elements[i].element] &= ~OPTICS_HELD;
		else
			marks[hold->elements[i].element] |= OPTICS_HELD;
	}
}

/* A verdict on several circuits, in one or several holds of fabric->lock. */
struct judging {
	const u32 *lit, *list;	/* circuits whose elements are in their states; those to judge */
	u32 lit_count, count;
	u32 judged;		/* of @list, without an error */
	u32 effort;		/* of each hold */
	struct optics_refusal why;
};

/* Judge circuits of @list in this hold. */
static int judge_some(struct morph_schedule *schedule, struct judging *judging)
{
	struct morph_slice *slice = schedule->slice;
	struct optics_state *ledger = ledger_of(slice->fabric)->state;
	struct optics_view view = optics_state_view(ledger);
	u32 states, i, first = judging->judged, count = judging->count;
	struct morph_txn *txn = schedule->txn;
	bool own = slice->transit == MORPH_TRANSIT_OWN;
	int ret;

	lockdep_assert_held(&slice->fabric->lock);
	states = set_states(schedule, judging->lit, judging->lit_count, txn->settings);
	lift_marks(schedule, true);
	/* Accept cordoned hardware: a schedule that was loaded before a cordon may continue. */
	view.tolerated = OPTICS_CORDONED;
	view.alone = morph_slice_is_alone(slice);
	for (i = 0; i < count; i++)
		txn->paths[i] = schedule->circuits[judging->list[i]]->route->path;
	if (count <= JUDGED_AT_ONCE) {
		ret = optics_validate(&view, txn->paths, count, slice->number, own, txn->verdicts,
				      &judging->why);
		judging->judged = ret ? 0 : count;
	} else {
		ret = optics_validate_part(&view, txn->paths, count, &judging->judged,
					   judging->effort, slice->number, own, txn->verdicts,
					   &judging->why);
	}
	for (i = first; i < judging->judged; i++)
		schedule->circuits[judging->list[i]]->route->verdict = txn->verdicts[i];
	lift_marks(schedule, false);
	while (states--)
		optics_set_state(ledger, txn->settings[states].element,
				 txn->settings[states].state);
	return ret;
}

/* Drop fabric->lock for a while. A load may have to stop. */
static int judge_pause(struct morph_schedule *schedule)
{
	if (schedule->search)
		return morph_schedule_yield(schedule, &schedule->txn->refusal);
	morph_schedule_relock(schedule);
	return 0;
}

/*
 * Judge all circuits of @judging. If light of other slices changes meanwhile, judge them again;
 * after MORPH_MOST_RESTARTS, in one hold.
 */
static int judge(struct morph_schedule *schedule, struct judging *judging, u32 *wrong)
{
	struct morph_judged began = conditions(schedule);
	u32 restarts = 0;
	int ret;

	judging->effort = MORPH_JUDGE_EFFORT / 2;
	for (;;) {
		ret = judge_some(schedule, judging);
		if (ret || judging->judged == judging->count)
			break;
		ret = judge_pause(schedule);
		if (ret)
			return ret;
		if (holds(&began, schedule))
			continue;
		judging->judged = 0;
		began = conditions(schedule);
		if (++restarts > MORPH_MOST_RESTARTS)
			judging->effort = U32_MAX;
	}
	if (!ret)
		return 0;
	*wrong = judging->why.item < judging->count ? judging->list[judging->why.item] : MORPH_ANY;
	return morph_refuse_optics(&schedule->txn->refusal, ret, &judging->why);
}

int morph_schedule_judge(struct morph_schedule *schedule, u32 number, u32 *wrong)
{
	struct morph_step *step = &schedule->steps[number];
	struct judging judging = {
		.lit = schedule->held + step->held, .lit_count = step->count,
		.list = schedule->held + step->held, .count = step->count,
	};
	int ret = judge(schedule, &judging, wrong);

	if (!ret)
		step->judged = conditions(schedule);
	return ret;
}

int morph_schedule_judge_again(struct morph_schedule *schedule, u32 number)
{
	const struct morph_step *step = &schedule->steps[number];
	u32 wrong;

	if (holds(&step->judged, schedule))
		return 0;
	morph_stat(schedule->slice->fabric, MORPH_STAT_STEPS_JUDGED);
	return morph_schedule_judge(schedule, number, &wrong);
}

int morph_schedule_judge_ahead(struct morph_schedule *schedule, u32 number)
{
	const struct morph_step *now = &schedule->steps[schedule->step];
	struct morph_step *step = &schedule->steps[number];
	u32 *list = schedule->stamps, wrong;
	struct judging judging = {
		/* The elements of the lit circuits already have their states. */
		.lit = list, .lit_count = step->ahead,
		.list = list, .count = step->ahead + now->count,
	};
	int ret;

	if (holds(&step->judged_ahead, schedule))
		return 0;
	memcpy(list, schedule->changes + step->light, array_size(step->ahead, sizeof(u32)));
	memcpy(list + step->ahead, schedule->held + now->held, array_size(now->count, sizeof(u32)));
	/* The deadline of the step must wait. */
	schedule->changing = true;
	ret = judge(schedule, &judging, &wrong);
	schedule->changing = false;
	if (!ret)
		step->judged_ahead = conditions(schedule);
	return ret;
}

void morph_schedule_unjudge(struct morph_schedule *schedule)
{
	const struct morph_judged never = { .others = MORPH_NEVER_JUDGED };
	u32 i;

	for (i = 0; i < schedule->steps_count; i++) {
		schedule->steps[i].judged = never;
		schedule->steps[i].judged_ahead = never;
	}
}
