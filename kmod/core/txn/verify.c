// SPDX-License-Identifier: GPL-2.0-only
/* Verification: read back the receivers of a change, and those that it might disturb. */
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/txn/txn.h"
#include "internal.h"

#define NEIGHBOUR_READINGS	3u
#define VISITED_IN_A_HOLD	256u	/* settings whose neighbours are collected at once */
#define MOST_NEIGHBOURS		128u	/* begin no setting with more; each is compared with all */

/* ------------------------------------------------ circuits of the transaction */

/* Read the receivers of the routes that a step has switched. */
static int read_items(struct exec *exec, enum laser_step step, u32 *count)
{
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = exec_read_route(exec, &txn->items[i], step);

		if (!route)
			continue;
		txn->reads[n++] = (struct morph_receiver_reading){
			.port = route->path.rx,
			.lanes = route->path.lanes,
		};
	}
	*count = n;
	return morph_hw_get_receivers(exec->fabric, &txn->session, txn->reads, n);
}

/* Return whether a receiver sees the expected light of a route. */
bool exec_reading_lit(struct morph_fabric *fabric, const struct morph_receiver_reading *reading,
		      const struct morph_route *route)
{
	s32 window = fabric->graph->params.window_mdb;

	return reading->lit == reading->lanes && reading->locked == reading->lanes &&
	       reading->min_mdbm >= route->verdict.power_mdbm - window &&
	       reading->max_mdbm <=
		       route->verdict.power_mdbm + (s32)route->verdict.spread_mdb + window;
}

/* Return the first item whose receiver is not in the expected state after a step, or MORPH_ANY. */
static u32 first_wrong(struct exec *exec, enum laser_step step, bool lit)
{
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = exec_read_route(exec, &txn->items[i], step);

		if (!route)
			continue;
		if (lit != exec_reading_lit(exec->fabric, &txn->reads[n], route) ||
		    (!lit && txn->reads[n].lit))
			return i;
		n++;
	}
	return MORPH_ANY;
}

/*
 * Read until every receiver of the step is lit, or dark, but at most for the profile's deadline:
 * late light counts as a fault. Return 0; 1 if item *wrong is not in the expected state; or a
 * negative errno if the receivers cannot be read.
 */
int exec_verify(struct exec *exec, enum laser_step step, bool lit, u32 *wrong)
{
	struct morph_hw_patience patience = {};
	u32 count;
	int ret;

	do {
		ret = read_items(exec, step, &count);
		if (ret)
			return ret;
		/* Read all half circuits in any case, because their state is recorded. */
		*wrong = first_wrong(exec, step, lit);
		if (exec->fabric->graph->edges_count)
			*wrong = min(*wrong, exec_first_wrong_half(exec, step, lit));
		if (*wrong == MORPH_ANY)
			return 0;
		ret = morph_hw_wait_more(exec->fabric, &patience);
	} while (!ret);
	return ret;
}

/* Record the power that was read for reports of the circuits. Caller holds fabric->lock. */
void exec_note_power(struct exec *exec, enum laser_step step)
{
	struct morph_txn *txn = exec->txn;
	u64 now = ktime_get_coarse_boottime_ns();
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (!item->new || item->unlit)
			continue;
		item->circuit->power_mdbm = item->new->verdict.power_mdbm;
		if (exec_read_route(exec, item, step))
			item->circuit->power_mdbm = txn->reads[n++].min_mdbm;
		else if (morph_route_comes_in(exec->fabric, item->new))
			continue;	/* the light of this route was not read */
		morph_hw_seen(exec->fabric, item->new->path.rx);
		item->circuit->last_verified_ns = now;
	}
}

/* --------------------------------------------------------------- neighbours */

/*
 * Return whether no change affects the light now. Light that comes in over an edge may go out at
 * any time, without an error of this fabric. Caller holds fabric->lock.
 */
static bool is_steady(struct morph_fabric *fabric, const struct morph_route *route)
{
	const struct morph_circuit *circuit = route->circuit;

	return route->role == MORPH_ROUTE_LIVE && !morph_route_comes_in(fabric, route) &&
	       circuit && !circuit_txns(circuit)->pending &&
	       circuit->state == MORPH_CIRCUIT_LIT && !circuit->slice->dying;
}

/*
 * Lanes of a receiver that must stay lit during this change, without those known to be dark since
 * before the time @dark_ns. Caller holds fabric->lock.
 */
static u64 steady_lanes(struct morph_fabric *fabric, u32 rx, u64 dark_ns)
{
	u32 guide = fabric->graph->rx_guide[rx] >> 1;
	struct morph_link *link;
	u64 lanes = 0;

	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node) {
		const struct morph_circuit *circuit = link->route->circuit;

		if (is_steady(fabric, link->route) &&
		    (!circuit->dark || circuit->alarm_since_ns >= dark_ns))
			lanes |= link->route->path.lanes;
	}
	return lanes;
}

/* Add a lit receiver of another circuit, whose light this change must not disturb. */
static void add_neighbour(struct exec *exec, u32 rx)
{
	u64 lanes = steady_lanes(exec->fabric, rx, exec->began_ns);
	struct morph_txn *txn = exec->txn;
	u32 first = 2 * txn->count, i;

	if (!lanes)
		return;
	for (i = 0; i < exec->neighbours; i++)
		if (txn->reads[first + i].port == rx)
			return;
	exec->full = first + exec->neighbours >= txn->reads_room;
	if (exec->full)
		return;
	txn->reads[first + exec->neighbours++] = (struct morph_receiver_reading){
		.port = rx,
		.lanes = lanes,
	};
}

/* The end at which light leaves a guide that it entered at the coded end. */
static const struct optics_end *far_end(const struct optics_graph *graph, u32 code)
{
	return &graph->guides[code >> 1].end[!(code & 1)];
}

/*
 * Return whether light in use continues behind this end, which is not the receiver. Joined ports
 * before the receiver of a circuit are part of the circuit's own path, whose elements are pinned.
 * Behind a turned element, the caller follows the light from that element.
 */
static bool goes_on(const struct optics_state *ledger, const struct optics_end *end)
{
	return end->type == MORPH_END_ELEMENT && ledger->element_pins[end->index] &&
	       !(ledger->element_marks[end->index] & MORPH_MARK_TURNED);
}

/* Follow light from the end of a guide that it has passed, to the receiver if there is one. */
static noinline void follow(struct exec *exec, const struct optics_end *end)
{
	const struct optics_graph *graph = exec->fabric->graph;
	const struct optics_state *ledger = ledger_of(exec->fabric)->state;
	u32 steps, code;
	u8 port;

	for (steps = 0; steps < OPTICS_MAX_HOPS && goes_on(ledger, end); steps++) {
		port = optics_joined(graph, end->index, ledger->element_state[end->index],
				     end->port);
		if (port == MORPH_PORT_NONE)
			return;
		code = graph->port_guide[graph->elements[end->index].first_port + port];
		if (code == OPTICS_NONE)
			return;
		end = far_end(graph, code);
	}
	if (end->type == MORPH_END_RX)
		add_neighbour(exec, end->index * graph->params.planes + end->port);
}

/*
 * Collect the lit receivers that a turned element reaches. Its light on the new route itself ends
 * at the receiver of that route, so only the other ports need a search.
 */
static void collect_from(struct exec *exec, u32 setting)
{
	const struct optics_graph *graph = exec->fabric->graph;
	const struct optics_state *ledger = ledger_of(exec->fabric)->state;
	const struct morph_turned *turned = &exec->txn->turned[setting];
	const struct optics_hop *hop = turned->hop;
	const struct optics_element *place = &graph->elements[hop->element];
	const u32 *code = &graph->port_guide[place->first_port];
	const u32 *last = code + graph->kinds[place->kind].ports;
	u32 back = hop[0].guide ^ 1, on = hop[1].guide;

	if ((!setting || turned[-1].route != turned->route) &&
	    !morph_route_leaves(exec->fabric, turned->route))
		add_neighbour(exec, turned->route->path.rx);
	for (; code < last; code++) {
		const struct optics_end *end;

		if (*code == OPTICS_NONE || *code == back || *code == on)
			continue;
		/* Most guides end at an element without light. */
		end = far_end(graph, *code);
		if (end->type != MORPH_END_RX && !goes_on(ledger, end))
			continue;
		if (exec->full)
			break;
		follow(exec, end);
	}
}

/*
 * Collect the lit receivers that turned elements reach; these elements are all marked. If there is
 * no space for those of an element, stop before it. Also stop when this has taken long. Caller
 * holds fabric->lock.
 */
void exec_collect_neighbours(struct exec *exec)
{
	u32 end = min(exec->early + exec->late, exec->visited + VISITED_IN_A_HOLD);
	u32 before;

	exec->neighbours = 0;
	/* The circuits of this change do not count as lit. */
	if (!ledger_of(exec->fabric)->lit_lanes) {
		exec->visited = exec->early + exec->late;
		return;
	}
	for (; exec->visited < end && exec->neighbours < MOST_NEIGHBOURS; exec->visited++) {
		before = exec->neighbours;
		exec->full = false;
		collect_from(exec, exec->visited);
		/* The space suffices for one element. */
		if (exec->full && before) {
			exec->neighbours = before;
			return;
		}
	}
}

/* Keep only neighbours whose light is missing and must still be on. No lock held. */
static void keep_missing(struct exec *exec, struct morph_receiver_reading *reads)
{
	u32 kept = 0, i;
	u64 missing = 0;

	for (i = 0; i < exec->neighbours; i++)
		missing |= reads[i].lanes & ~reads[i].locked;
	if (!missing) {
		exec->neighbours = 0;
		return;
	}
	morph_fabric_lock(exec->fabric);
	for (i = 0; i < exec->neighbours; i++) {
		u64 lanes = reads[i].lanes & ~reads[i].locked;

		/* This change itself may have caused an alarm since then. */
		lanes &= steady_lanes(exec->fabric, reads[i].port, 0);
		if (!lanes)
			continue;
		reads[kept++] = (struct morph_receiver_reading){
			.port = reads[i].port,
			.lanes = lanes,
		};
	}
	morph_fabric_unlock(exec->fabric);
	exec->neighbours = kept;
}

/* The steady route of a receiver with some of the lanes, or NULL. Caller holds fabric->lock. */
static struct morph_route *steady_route(struct morph_fabric *fabric, u32 rx, u64 lanes)
{
	u32 guide = fabric->graph->rx_guide[rx] >> 1;
	struct morph_link *link;

	hlist_for_each_entry(link, &ledger_of(fabric)->guide_routes[guide], node)
		if (is_steady(fabric, link->route) && link->route->path.lanes & lanes)
			return link->route;
	return NULL;
}

/*
 * Return whether accelerators or lasers of the neighbour itself cause the loss of its light. They
 * may fail at any time, including now, so this is no reason to roll back. Elements do not count,
 * because this change may have turned the wrong one. No lock held.
 */
static bool own_fault(struct exec *exec, u32 rx, u64 lanes)
{
	struct optics_hop hops[OPTICS_MAX_HOPS];
	struct morph_fabric *fabric = exec->fabric;
	const struct morph_route *route;
	struct optics_path path = {};
	struct morph_culprit culprit;
	bool own;

	morph_fabric_lock(fabric);
	route = steady_route(fabric, rx, lanes);
	if (route) {
		memcpy(hops, route->hops, array_size(route->path.hops_count, sizeof(*hops)));
		path = route->path;
		path.hops = hops;
	}
	morph_fabric_unlock(fabric);
	if (!route)
		return true;		/* the route is gone meanwhile */
	own = morph_hw_confess(fabric, &path, path.tx / fabric->graph->params.planes, &culprit) &&
	      culprit.part != MORPH_PART_ELEMENT;
	if (!own)
		return false;
	morph_fabric_lock(fabric);
	morph_report_finding(fabric, &culprit, MORPH_HEALTH_FAILED);
	morph_fabric_unlock(fabric);
	return true;
}

/* Read the collected neighbours. Return as the function below. No lock held. */
static int verify_collected(struct exec *exec)
{
	struct morph_receiver_reading *reads = exec->txn->reads + 2 * exec->txn->count;
	u32 reading, i;
	int ret;

	for (reading = 0; reading < NEIGHBOUR_READINGS && exec->neighbours; reading++) {
		ret = morph_hw_get_receivers(exec->fabric, &exec->txn->session, reads,
					     exec->neighbours);
		if (ret)
			return ret;
		keep_missing(exec, reads);
	}
	for (i = 0; i < exec->neighbours; i++)
		if (!own_fault(exec, reads[i].port, reads[i].lanes))
			return 1;
	return 0;
}

/* Collect the neighbours of further turned elements; return false if there are no such elements. */
static bool collect_more(struct exec *exec)
{
	u8 *marks = ledger_of(exec->fabric)->state->element_marks;
	u32 total = exec->early + exec->late, i;

	if (exec->visited == total)
		return false;
	morph_fabric_lock(exec->fabric);
	for (i = 0; i < total; i++)
		marks[exec->txn->settings[i].element] |= MORPH_MARK_TURNED;
	exec_collect_neighbours(exec);
	exec_unmark_turned(exec);
	morph_fabric_unlock(exec->fabric);
	return true;
}

/*
 * Return 1 if this change disturbed other circuits' light, or a negative errno if the receivers
 * cannot be read. The owner may just have removed or moved its circuit. So the function reads
 * missing light once more, and then checks whether the neighbour itself has failed. No lock held.
 */
int exec_verify_neighbours(struct exec *exec)
{
	int ret;

	do
		ret = verify_collected(exec);
	while (!ret && collect_more(exec));
	return ret;
}
