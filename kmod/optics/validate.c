// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The independent validator of new paths. It walks the graph itself and calls nothing of
 * the router or the ledger, so that it finds their errors.
 */
#include "internal.h"

/* Ignore leaks this far below the isolation limit of the weakest signal. */
#define FLOOR_MDB	20000

struct judge {
	const struct optics_view *view;
	const struct optics_graph *graph;
	const struct optics_path *path;
	u32 owner;
	bool transit_own;
	u32 effort;		/* so far: guides that light and strays have passed */
	struct optics_refusal *refusal;
};

/* Leaks into one receiver from accelerators of other owners. */
struct victim {
	const struct optics_view *view;
	u32 owner;
	u64 lanes;
	s32 sum_mdbm;
};

/* The search for receivers of other owners that a path leaks into, in ascending order. */
struct victims {
	const struct optics_view *view;
	u32 owner;
	u64 first;	/* the least receive port of this search */
	u64 found;	/* the least one found */
};

static int refuse(const struct judge *judge, u32 reason, u32 part, u32 index, s64 have, s64 need)
{
	return optics_refuse(judge->refusal, reason, part, index, have, need);
}

static int refuse_end(const struct judge *judge, u32 reason, u32 part, u32 end, s64 have, s64 need)
{
	return optics_refuse_end(judge->graph, judge->refusal, reason, part, end, have, need);
}

/* Check one end of the path: it exists, belongs to the owner, and has no dead lanes. */
static int judge_end(const struct judge *judge, u32 part, u32 end, u64 dead)
{
	const struct optics_graph *graph = judge->graph;
	u32 place = optics_end_place(graph, end), owner = judge->view->owner[place];
	u64 lanes = judge->path->lanes;

	if (owner != judge->owner && optics_end_is_edge(graph, end))
		return refuse_end(judge, OPTICS_BAD_PORT, part, end, owner, judge->owner);
	if (owner != judge->owner)
		return refuse(judge, OPTICS_BAD_PORT, OPTICS_PART_ACCELERATOR, place, owner,
			      judge->owner);
	if (lanes & dead)
		return refuse_end(judge, OPTICS_UNUSABLE, part, end, optics_weight64(lanes & ~dead),
				  optics_weight64(lanes));
	return 0;
}

static int judge_ends(const struct judge *judge)
{
	const struct optics_graph *graph = judge->graph;
	const struct optics_path *path = judge->path;
	u32 from;
	int error;

	if (path->tx >= graph->ends_count)
		return refuse(judge, OPTICS_BAD_PORT, OPTICS_PART_LASER, path->tx, path->tx,
			      graph->ends_count);
	if (path->rx >= graph->ends_count)
		return refuse(judge, OPTICS_BAD_PORT, OPTICS_PART_RECEIVER, path->rx, path->rx,
			      graph->ends_count);
	/* A path between two edges is no circuit of this fabric. */
	from = optics_end_place(graph, path->tx);
	if (from == optics_end_place(graph, path->rx) ||
	    (optics_end_is_edge(graph, path->tx) && optics_end_is_edge(graph, path->rx)))
		return refuse_end(judge, OPTICS_BAD_PORT, OPTICS_PART_ACCELERATOR,
				  optics_end_is_edge(graph, path->tx) ? path->tx : from, 0, 0);
	if (!path->lanes || path->lanes & ~graph->all_lanes)
		return refuse_end(judge, OPTICS_LANES, OPTICS_PART_LASER, path->tx,
				  optics_weight64(path->lanes & graph->all_lanes),
				  path->lanes ? optics_weight64(path->lanes) : 1);
	error = judge_end(judge, OPTICS_PART_LASER, path->tx, judge->view->tx_dead[path->tx]);
	if (error)
		return error;
	return judge_end(judge, OPTICS_PART_RECEIVER, path->rx, judge->view->rx_dead[path->rx]);
}

/* Whether the end of the last guide is the end of the path. */
static bool path_ends_at(const struct judge *judge, const struct optics_end *end)
{
	return (end->type == MORPH_END_RX || end->type == MORPH_END_EDGE) &&
	       optics_circuit_end(judge->graph, end) == judge->path->rx;
}

/* Check the element at the far end of a hop; set *next to the guide that must follow. */
static int judge_element(const struct judge *judge, const struct optics_hop *hop,
			 const struct optics_end *end, u32 *next)
{
	const struct optics_graph *graph = judge->graph;
	const struct optics_view *view = judge->view;
	const struct optics_element *element;
	const struct optics_kind *kind;
	u32 index = hop->element;
	u8 joined;

	if (end->type != MORPH_END_ELEMENT || end->index != index)
		return refuse(judge, OPTICS_BAD_PATH, OPTICS_PART_GUIDE, hop->guide >> 1,
			      end->type == MORPH_END_ELEMENT ? end->index : OPTICS_NONE, index);
	element = &graph->elements[index];
	kind = &graph->kinds[element->kind];
	if (hop->state >= kind->states)
		return refuse(judge, OPTICS_BAD_PATH, OPTICS_PART_ELEMENT, index, hop->state,
			      kind->states);
	joined = graph->states[kind->first_state + hop->state].joins[end->port];
	if (joined == MORPH_PORT_NONE)
		return refuse(judge, OPTICS_BAD_PATH, OPTICS_PART_ELEMENT, index, joined,
			      end->port);
	if (view->element_state[index] != hop->state)
		return refuse(judge, OPTICS_ELEMENT_PINNED, OPTICS_PART_ELEMENT, index,
			      view->element_state[index], hop->state);
	if (view->element_marks[index] & ~view->tolerated)
		return refuse(judge, OPTICS_UNUSABLE, OPTICS_PART_ELEMENT, index, 0, 0);
	if (judge->transit_own && element->tile != OPTICS_NONE &&
	    view->owner[element->tile] &&
	    view->owner[element->tile] != judge->owner)
		return refuse(judge, OPTICS_TRANSIT, OPTICS_PART_ELEMENT, index, 0, 0);
	*next = graph->port_guide[element->first_port + joined];
	return 0;
}

/* Walk the path from its transmitter: the light must take each of its guides. */
static int judge_hops(const struct judge *judge)
{
	const struct optics_graph *graph = judge->graph;
	const struct optics_path *path = judge->path;
	const struct optics_hop *hop = path->hops, *last;
	const u8 *marks = judge->view->guide_marks;
	u8 bad = (u8)~judge->view->tolerated;
	u32 expected = graph->tx_guide[path->tx];

	if (!path->hops_count || path->hops_count > OPTICS_MAX_HOPS)
		return refuse(judge, OPTICS_BAD_PATH, OPTICS_PART_NONE, OPTICS_NONE,
			      path->hops_count, OPTICS_MAX_HOPS);
	last = &path->hops[path->hops_count - 1];
	for (;; hop++) {
		const struct optics_end *end;
		int error;

		if (hop->guide != expected || expected == OPTICS_NONE)
			return refuse(judge, OPTICS_BAD_PATH, OPTICS_PART_GUIDE, hop->guide >> 1,
				      hop->guide, expected);
		if (marks[hop->guide >> 1] & bad)
			return refuse(judge, OPTICS_UNUSABLE, OPTICS_PART_GUIDE, hop->guide >> 1,
				      0, 0);
		end = optics_far_end(graph, hop->guide);
		if (hop == last)
			break;
		error = judge_element(judge, hop, end, &expected);
		if (error)
			return error;
	}
	if (hop->element != OPTICS_NONE || !path_ends_at(judge, optics_far_end(graph, hop->guide)))
		return refuse_end(judge, OPTICS_BAD_PATH, OPTICS_PART_RECEIVER, path->rx,
				  path->hops_count - 1, path->hops_count);
	return 0;
}

/*
 * No two paths use the same lane of a guide. Comparing transmitters suffices: all paths
 * agree with one view, in which each element has one state, each state joins ports in
 * pairs, and each port has one guide. So all light in a guide comes from one transmitter,
 * goes to one receiver, and passes the guide once.
 */
static int judge_overlap(const struct judge *judge)
{
	const struct optics_path *path = judge->path;
	u64 *judged = &judge->view->tx_judged[path->tx];
	u64 lanes = path->lanes & *judged;

	*judged |= path->lanes;
	if (!lanes)
		return 0;
	return refuse_end(judge, OPTICS_PORT_BUSY, OPTICS_PART_LASER, path->tx,
			  optics_weight64(path->lanes & ~lanes), optics_weight64(path->lanes));
}

/*
 * The power at a receiver is between sensitivity plus margin, and overload. At an edge it is
 * within the limits of the edge; the peer checks the margin.
 */
static int judge_power(const struct judge *judge, struct optics_verdict *verdict)
{
	const struct optics_graph *graph = judge->graph;
	u32 rx = judge->path->rx, edge = rx - graph->ports_count;
	bool leaves = optics_end_is_edge(graph, rx);
	s32 least = leaves ? optics_edge_least(graph, edge) : graph->params.sensitivity_mdbm;
	s32 most = leaves ? optics_edge_most(graph, edge) : graph->params.overload_mdbm;
	s32 margin = leaves ? 0 : (s32)graph->params.margin_mdb, brightest;

	verdict->power_mdbm = optics_path_power(graph, judge->path);
	verdict->spread_mdb = optics_path_spread(graph, judge->path);
	verdict->margin_mdb = verdict->power_mdbm - least;
	brightest = verdict->power_mdbm + (s32)verdict->spread_mdb;
	if (verdict->margin_mdb < margin)
		return refuse_end(judge, OPTICS_MARGIN, OPTICS_PART_RECEIVER, rx,
				  verdict->margin_mdb, margin);
	if (brightest > most)
		return refuse_end(judge, OPTICS_OVERLOAD, OPTICS_PART_RECEIVER, rx, brightest,
				  most);
	return 0;
}

static s32 leak_floor(const struct optics_params *params)
{
	return params->sensitivity_mdbm - (s32)params->isolation_mdb - FLOOR_MDB;
}

static void victim_add(void *context, const struct optics_leak *leak)
{
	struct victim *victim = context;
	const struct optics_view *view = victim->view;

	if (view->owner[optics_end_place(view->graph, leak->tx)] == victim->owner)
		return;
	if (view->tx_lanes[leak->tx] & victim->lanes)
		victim->sum_mdbm = optics_power_sum(victim->sum_mdbm, leak->power_mdbm);
}

/*
 * Check the isolation of a signal at @rx from light of other owners. Every leak that
 * shares a lane counts in full, so the sum is never too small.
 */
static int judge_victim(struct judge *judge, u32 rx, u64 lanes, s32 signal_mdbm,
			struct optics_verdict *verdict)
{
	const struct optics_params *params = &judge->graph->params;
	struct victim victim = {
		.view = judge->view,
		.owner = judge->view->owner[optics_end_place(judge->graph, rx)],
		.lanes = lanes,
		.sum_mdbm = -OPTICS_MAX_MDB,
	};
	s32 isolation;

	judge->effort += optics_leaks_at(judge->graph, judge->view->element_state, rx, lanes,
					 leak_floor(params), victim_add, &victim);
	if (victim.sum_mdbm == -OPTICS_MAX_MDB)
		return 0;
	isolation = signal_mdbm - victim.sum_mdbm;
	if (isolation < verdict->isolation_mdb)
		verdict->isolation_mdb = isolation;
	if (isolation < (s32)params->isolation_mdb)
		return refuse_end(judge, OPTICS_ISOLATION, OPTICS_PART_RECEIVER, rx, isolation,
				  params->isolation_mdb);
	return 0;
}

static void victims_add(void *context, const struct optics_leak *leak)
{
	struct victims *victims = context;
	const struct optics_view *view = victims->view;

	if (leak->rx < victims->first || leak->rx >= victims->found ||
	    !(view->rx_lanes[leak->rx] & leak->lanes) ||
	    view->owner[optics_end_place(view->graph, leak->rx)] == victims->owner)
		return;
	victims->found = leak->rx;
}

/*
 * Check the path as victim, then each receiver of other owners that it leaks into. A
 * receiver without a joined, lit transmitter has no signal to protect.
 */
static int judge_isolation(struct judge *judge, struct optics_verdict *verdict)
{
	const struct optics_view *view = judge->view;
	struct victims victims = { .view = view, .owner = judge->owner };
	int error;

	verdict->isolation_mdb = OPTICS_MAX_MDB;
	if (view->alone)
		return 0;
	error = judge_victim(judge, judge->path->rx, judge->path->lanes, verdict->power_mdbm,
			     verdict);
	while (!error) {
		u32 rx, tx;
		s32 signal;

		victims.found = OPTICS_NONE;
		judge->effort += optics_leaks_from(judge->graph, view->element_state, judge->path,
						   leak_floor(&judge->graph->params), victims_add,
						   &victims);
		if (victims.found == OPTICS_NONE)
			break;
		rx = (u32)victims.found;
		victims.first = victims.found + 1;
		signal = optics_signal_at(judge->graph, view->element_state, rx, &tx);
		if (tx != OPTICS_NONE && view->tx_lanes[tx] & view->rx_lanes[rx])
			error = judge_victim(judge, rx, view->rx_lanes[rx], signal, verdict);
	}
	return error;
}

/* Judge a path alone, and as the last of @several. *judged counts entries of tx_judged. */
static int judge_path(struct judge *judge, const struct optics_path *path, bool several,
		      u32 *judged, struct optics_verdict *verdict)
{
	int error;

	judge->path = path;
	judge->effort += path->hops_count;
	error = judge_ends(judge);
	if (!error)
		error = judge_hops(judge);
	if (!error && several) {
		error = judge_overlap(judge);
		++*judged;
	}
	if (!error)
		error = judge_power(judge, verdict);
	if (!error)
		error = judge_isolation(judge, verdict);
	return error;
}

int optics_validate(const struct optics_view *view, const struct optics_path *paths, u32 count,
		    u32 owner, bool transit_own, struct optics_verdict *verdicts,
		    struct optics_refusal *refusal)
{
	struct judge judge = {
		.view = view, .graph = view->graph, .owner = owner, .transit_own = transit_own,
		.refusal = refusal,
	};
	struct optics_verdict verdict;
	int error = 0;
	u32 i, judged = 0;

	for (i = 0; i < count; i++) {
		error = judge_path(&judge, &paths[i], count > 1, &judged, &verdict);
		if (error)
			break;
		if (verdicts)
			verdicts[i] = verdict;
	}
	while (judged--)
		view->tx_judged[paths[judged].tx] = 0;
	if (error && refusal)
		refusal->item = i;
	return error;
}

/* Judge whether any two of the paths overlap. */
static int judge_all_overlaps(struct judge *judge, const struct optics_path *paths, u32 count,
			      u32 *item)
{
	int error = 0;
	u32 i, judged = 0;

	for (i = 0; i < count && !error; i++) {
		*item = i;
		judge->path = &paths[i];
		error = judge_ends(judge);
		if (error)
			break;
		error = judge_overlap(judge);
		judged++;
	}
	while (judged--)
		judge->view->tx_judged[paths[judged].tx] = 0;
	return error;
}

int optics_validate_part(const struct optics_view *view, const struct optics_path *paths,
			 u32 count, u32 *first, u32 effort, u32 owner, bool transit_own,
			 struct optics_verdict *verdicts, struct optics_refusal *refusal)
{
	struct judge judge = {
		.view = view, .graph = view->graph, .owner = owner, .transit_own = transit_own,
		.refusal = refusal,
	};
	struct optics_verdict verdict;
	u32 item = *first, unused = 0;
	int error = 0;

	if (!*first)
		error = judge_all_overlaps(&judge, paths, count, &item);
	while (!error && *first < count && judge.effort < effort) {
		item = *first;
		error = judge_path(&judge, &paths[item], false, &unused, &verdict);
		if (!error && verdicts)
			verdicts[item] = verdict;
		*first += !error;
	}
	if (error && refusal)
		refusal->item = item;
	return error;
}
