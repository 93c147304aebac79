// SPDX-License-Identifier: LGPL-2.1-or-later
/* Judge a round with all of its circuits lit: power, margin, and isolation. */
#include "../model/model.h"
#include "matchings.h"

#define LANE 1u /* all circuits have the same wavelength, the worst case */
#define OWNER 1u /* of all accelerators */

/* Ignore light this far below the isolation that the weakest signal needs. */
#define FLOOR_MDB 20000

int lm_judge_lay(struct morph_ctx *ctx, struct judge *judge, const struct morph_model *model,
		 uint32_t endpoints, uint32_t stride)
{
	const struct optics_graph *graph = lm_model_graph(model);
	uint32_t places = graph->accelerators_count + graph->edges_count, i;
	const struct mesh_part parts[] = {
		{ &judge->tx_lanes, graph->ends_count * sizeof(u64) },
		{ &judge->rx_lanes, graph->ends_count * sizeof(u64) },
		{ &judge->dead, graph->ends_count * sizeof(u64) },
		{ &judge->judged, graph->ends_count * sizeof(u64) },
		{ &judge->paths, endpoints * sizeof(*judge->paths) },
		{ &judge->hops, (size_t)endpoints * (stride + 1) * sizeof(*judge->hops) },
		{ &judge->owner, places * sizeof(u32) },
		{ &judge->element_state, graph->elements_count },
		{ &judge->element_marks, graph->elements_count },
		{ &judge->guide_marks, graph->guides_count },
	};
	int error = lm_mesh_lay(ctx, &judge->block, parts, ARRAY_SIZE(parts));

	if (error)
		return error;
	judge->graph = graph;
	memset(judge->dead, 0, graph->ends_count * sizeof(u64));
	memset(judge->judged, 0, graph->ends_count * sizeof(u64));
	memset(judge->tx_lanes, 0, graph->ends_count * sizeof(u64));
	memset(judge->rx_lanes, 0, graph->ends_count * sizeof(u64));
	memset(judge->element_marks, 0, graph->elements_count);
	memset(judge->guide_marks, 0, graph->guides_count);
	for (i = 0; i < places; i++)
		judge->owner[i] = OWNER;
	return 0;
}

/* The guide at the port of an arc, entered from there. */
static u32 guide_at(const struct judge *judge, const struct mesh *mesh, uint32_t arc)
{
	uint32_t element = mesh->element[arc];
	uint32_t port = arc - mesh->arc_first[element];

	return judge->graph->port_guide[judge->graph->elements[element].first_port + port];
}

/* Add the path of a circuit, and the states of its elements. */
static void add_path(struct judge *judge, const struct rounds *rounds, uint32_t round, uint32_t src)
{
	uint32_t dst = round_target(rounds, round, src), i, element, state;
	size_t route = round_route(rounds, round, src);
	const struct mesh *mesh = &rounds->mesh;
	struct optics_path *path = &judge->paths[judge->count];
	const struct mesh_turn *turn;

	*path = (struct optics_path){
		.tx = rounds->tx[src],
		.rx = rounds->rx[dst],
		.lanes = LANE,
		.hops_count = rounds->counts[route] + 1,
		.hops = judge->hops + (size_t)judge->count * (rounds->stride + 1),
	};
	path->hops[0].guide = judge->graph->tx_guide[path->tx];
	for (i = 0; i < rounds->counts[route]; i++) {
		turn = &mesh->turn[round_turns(rounds, route)[i]];
		element = mesh->element[turn->out];
		state = turn->state - mesh->state_first[element];
		path->hops[i].element = element;
		path->hops[i].state = state;
		judge->element_state[element] = (u8)state;
		path->hops[i + 1].guide = guide_at(judge, mesh, turn->out);
	}
	path->hops[i].element = OPTICS_NONE;
	path->hops[i].state = 0;
	path->loss_mdb = optics_path_loss(judge->graph, path);
	judge->tx_lanes[path->tx] = LANE;
	judge->rx_lanes[path->rx] = LANE;
	judge->count++;
}

/* Light of other circuits of the round at the receiver of a path. */
struct stray {
	const struct judge *judge;
	const struct optics_path *path;
	s32 sum_mdbm;
};

static void add_stray(void *context, const struct optics_leak *leak)
{
	struct stray *stray = context;

	if (leak->tx != stray->path->tx && stray->judge->tx_lanes[leak->tx])
		stray->sum_mdbm = optics_power_sum(stray->sum_mdbm, leak->power_mdbm);
}

/*
 * The driver's validator isolates slices, but all circuits of a round may belong to one slice.
 * Light of its other circuits disturbs a signal as much as light of other slices, so demand the
 * same isolation.
 */
static bool is_disturbed(const struct judge *judge, const struct optics_path *path,
			 struct optics_refusal *refusal)
{
	const struct optics_params *params = &judge->graph->params;
	struct stray stray = { judge, path, -OPTICS_MAX_MDB };
	s32 floor_mdbm = params->sensitivity_mdbm - (s32)params->isolation_mdb - FLOOR_MDB;
	s32 isolation;

	optics_leaks_at(judge->graph, judge->element_state, path->rx, path->lanes, floor_mdbm,
			add_stray, &stray);
	isolation = optics_path_power(judge->graph, path) - stray.sum_mdbm;
	if (isolation >= (s32)params->isolation_mdb)
		return false;
	*refusal = (struct optics_refusal){
		.reason = OPTICS_ISOLATION,
		.part = OPTICS_PART_RECEIVER,
		.index = path->rx,
		.have = isolation,
		.need = (s32)params->isolation_mdb,
	};
	return true;
}

bool lm_judge_refuses(struct judge *judge, const struct rounds *rounds, uint32_t round,
		      struct optics_refusal *refusal)
{
	const struct optics_view view = {
		.graph = judge->graph,
		.element_state = judge->element_state,
		.element_marks = judge->element_marks,
		.guide_marks = judge->guide_marks,
		.tx_lanes = judge->tx_lanes,
		.rx_lanes = judge->rx_lanes,
		.tx_dead = judge->dead,
		.rx_dead = judge->dead,
		.owner = judge->owner,
		.tx_judged = judge->judged,
	};
	uint32_t i, src;
	bool refused;

	for (i = 0; i < judge->graph->elements_count; i++)
		judge->element_state[i] = (u8)optics_park_state(judge->graph, i);
	judge->count = 0;
	for (src = 0; src < rounds->endpoints; src++) {
		if (rounds->counts[round_route(rounds, round, src)])
			add_path(judge, rounds, round, src);
	}
	refused = optics_validate(&view, judge->paths, judge->count, OWNER, false, NULL, refusal);
	for (i = 0; i < judge->count && !refused; i++)
		refused = is_disturbed(judge, &judge->paths[i], refusal);
	for (i = 0; i < judge->count; i++) {
		judge->tx_lanes[judge->paths[i].tx] = 0;
		judge->rx_lanes[judge->paths[i].rx] = 0;
	}
	return refused;
}
