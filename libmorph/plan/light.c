// SPDX-License-Identifier: LGPL-2.1-or-later
/* From a plan to a transaction: the ways inside servers, by the router and judge of the driver. */
#include "place.h"

#define LIGHT_STEPS OPTICS_ROUTE_STEPS
#define LIGHT_TRIES 64 /* orders of circuits */
#define LIGHT_FAITHFUL 3 /* times that a circuit is stuck before it may take other fibres */
#define LIGHT_OWNER (UINT32_MAX - 1) /* whose slice has no number yet */

/* The circuits of a plan, on their way to light. */
struct lighting {
	struct morph_ledger *ledger;
	struct morph_plan *plan;
	uint32_t *order; /* in which circuits are routed */
	uint8_t *stuck; /* by circuit: how often it had no way */
	struct optics_path *paths; /* by circuit; without hops: none is claimed */
	struct optics_hop *hops;
	uint8_t *states; /* of elements, as they were before */
	void *work; /* of the router */
};

/* ------------------------------------------------------------------------ room */

static void lighting_free(struct lighting *lighting)
{
	free(lighting->work);
	free(lighting->paths);
	free(lighting->hops);
	free(lighting->order);
	free(lighting->stuck);
	free(lighting->states);
}

static int lighting_room(struct lighting *lighting)
{
	uint32_t count = lighting->plan->circuits_count;

	lighting->work = malloc(optics_route_bytes(LIGHT_STEPS));
	lighting->paths = calloc(count + 1UL, sizeof(*lighting->paths));
	lighting->hops = calloc(count + 1UL, OPTICS_MAX_HOPS * sizeof(*lighting->hops));
	lighting->order = calloc(count + 1UL, sizeof(*lighting->order));
	lighting->stuck = calloc(count + 1UL, sizeof(*lighting->stuck));
	lighting->states = malloc(lighting->ledger->graph->elements_count + 1UL);
	if (!lighting->work || !lighting->paths || !lighting->hops || !lighting->order ||
	    !lighting->stuck || !lighting->states)
		return lm_fail(lighting->ledger->ctx, ENOMEM, "light a plan: out of memory");
	for (uint32_t at = 0; at < count; at++)
		lighting->order[at] = at;
	return 0;
}

/* ----------------------------------------------------------------------- state */

/* What the ledger says of the fabric, with all fibres closed: each circuit has its own opened. */
static void state_begin(const struct lighting *lighting)
{
	const struct morph_ledger *ledger = lighting->ledger;
	const struct optics_graph *graph = ledger->graph;
	struct optics_state *state = ledger->state;

	for (uint32_t at = 0; at < graph->guides_count; at++) {
		bool closed = ledger->guide_marked[at] ||
			      graph->guides[at].class >= MORPH_GUIDE_FIBRE;

		state->guide_marks[at] = closed ? OPTICS_CORDONED : 0;
		state->guide_lanes[at] = ledger->guide_lanes[at];
	}
	for (uint32_t at = 0; at < graph->elements_count; at++)
		state->element_marks[at] = ledger->element_marked[at] ? OPTICS_UNHEALTHY : 0;
	memcpy(lighting->states, state->element_state, graph->elements_count);
	/* A port is in use as far as the guide at it is. */
	for (uint32_t at = 0; at < graph->ends_count; at++) {
		uint32_t tx = graph->tx_guide[at], rx = graph->rx_guide[at];

		state->tx_lanes[at] = tx == OPTICS_NONE ? 0 : ledger->guide_lanes[tx >> 1];
		state->rx_lanes[at] = rx == OPTICS_NONE ? 0 : ledger->guide_lanes[rx >> 1];
	}
	for (uint32_t at = 0; at < graph->accelerators_count; at++)
		state->owner[at] = ledger->owner[at];
	for (uint32_t rank = 0; rank < lighting->plan->ranks; rank++)
		state->owner[lighting->plan->accelerators[rank]] = LIGHT_OWNER;
}

/* The ledger says again what it did. */
static void state_end(struct lighting *lighting)
{
	struct optics_state *state = lighting->ledger->state;

	for (uint32_t at = 0; at < lighting->ledger->graph->elements_count; at++)
		if (state->element_state[at] != lighting->states[at])
			optics_set_state(state, at, lighting->states[at]);
}

/* May a circuit take other fibres than the plan's? Not where light goes over circuit switches. */
static bool loose(const struct lighting *lighting, uint32_t circuit)
{
	const struct circuit_way *way = &lighting->plan->ways[circuit];

	for (uint32_t at = way->first; at < way->first + way->count; at++)
		if (lighting->plan->strands[at].guides_count > 1)
			return false;
	return lighting->stuck[circuit] == LIGHT_FAITHFUL;
}

static void open_strand(const struct morph_ledger *ledger, const struct strand *strand, bool open)
{
	for (uint32_t hop = 0; hop < strand->guides_count; hop++) {
		uint32_t guide = strand->guides[hop] >> 1;

		ledger->state->guide_marks[guide] =
			open && !ledger->guide_marked[guide] ? 0 : OPTICS_CORDONED;
	}
}

/*
 * Open the fibres of a circuit, as far as they are sound, or close them again; and perhaps the
 * others that lead from the same servers to the same.
 */
static void open_way(const struct lighting *lighting, uint32_t circuit, bool open)
{
	const struct circuit_way *way = &lighting->plan->ways[circuit];
	const struct morph_ledger *ledger = lighting->ledger;
	const struct sites *sites = &ledger->sites;
	bool others = loose(lighting, circuit);

	for (uint32_t at = way->first; at < way->first + way->count; at++) {
		const struct strand *strand = &lighting->plan->strands[at];

		open_strand(ledger, strand, open);
		for (uint32_t other = sites->strands_first[strand->from];
		     others && other < sites->strands_first[strand->from + 1]; other++)
			if (sites->strands[other].to == strand->to &&
			    sites->strands[other].guides_count == 1 &&
			    lm_strand_free(ledger, &sites->strands[other]))
				open_strand(ledger, &sites->strands[other], open);
	}
}

/* ----------------------------------------------------------------------- route */

/* Planes of which no lane is in use: a port sends to one place only. */
static uint64_t free_planes(const struct optics_graph *graph, uint32_t accelerator,
			    const u64 *lanes, const u64 *dead)
{
	uint32_t first = accelerator * graph->params.planes;
	uint64_t planes = 0;

	for (uint32_t plane = 0; plane < graph->params.planes; plane++)
		if (!lanes[first + plane] && !dead[first + plane])
			planes |= 1ULL << plane;
	return planes;
}

static int route(struct lighting *lighting, uint32_t circuit)
{
	const struct morph_plan *plan = lighting->plan;
	const struct optics_graph *graph = lighting->ledger->graph;
	struct optics_state *state = lighting->ledger->state;
	struct optics_path *path = &lighting->paths[circuit];
	uint32_t src = plan->accelerators[plan->circuits[circuit].src];
	uint32_t dst = plan->accelerators[plan->circuits[circuit].dst];
	struct optics_route_request request = {
		.tx_accelerator = src,
		.rx_accelerator = dst,
		.tx_planes = free_planes(graph, src, state->tx_lanes, state->tx_dead),
		.rx_planes = free_planes(graph, dst, state->rx_lanes, state->rx_dead),
		.lanes_allowed = lm_way_lanes(graph, plan, &plan->ways[circuit]),
		.lanes_count = plan->lanes,
		.owner = LIGHT_OWNER,
		.transit_own = plan->transit == MORPH_TRANSIT_OWN,
		.steps = LIGHT_STEPS,
	};
	struct optics_refusal refusal;
	int error = -EBUSY;

	path->hops = &lighting->hops[(size_t)circuit * OPTICS_MAX_HOPS];
	path->hops_count = 0;
	open_way(lighting, circuit, true);
	if (request.tx_planes && request.rx_planes)
		error = optics_route(state, &request, lighting->work, path, NULL, &refusal);
	if (!error)
		error = optics_claim(state, path, &refusal);
	open_way(lighting, circuit, false);
	if (error)
		path->hops_count = 0;
	return error;
}

static void release_all(struct lighting *lighting)
{
	for (uint32_t at = 0; at < lighting->plan->circuits_count; at++) {
		struct optics_path *path = &lighting->paths[at];

		if (path->hops_count)
			optics_release(lighting->ledger->state, path);
		path->hops_count = 0;
	}
}

/* Route all in their order. Returns the place of the first that has no way; else how many. */
static uint32_t route_all(struct lighting *lighting)
{
	uint32_t at = 0;

	while (at < lighting->plan->circuits_count && !route(lighting, lighting->order[at]))
		at++;
	return at;
}

static int no_way(const struct lighting *lighting, uint32_t circuit)
{
	const struct morph_plan *plan = lighting->plan;
	const struct rank_pair *pair = &plan->circuits[circuit];

	return lm_fail(
		lighting->ledger->ctx, EBUSY,
		"circuit %u, from rank %u on accelerator %u to rank %u on accelerator %u: no way was found inside the servers to its %u fibres",
		circuit, pair->src, plan->accelerators[pair->src], pair->dst,
		plan->accelerators[pair->dst], plan->ways[circuit].count);
}

static int find_ways(struct lighting *lighting)
{
	uint32_t *order = lighting->order;

	for (uint32_t tries = 0; tries < LIGHT_TRIES; tries++) {
		uint32_t stuck = route_all(lighting), circuit = order[stuck];

		if (stuck == lighting->plan->circuits_count)
			return 0;
		release_all(lighting);
		lighting->stuck[circuit] += lighting->stuck[circuit] < LIGHT_FAITHFUL;
		/* First of all in the next try; the others keep their order. */
		memmove(&order[1], &order[0], stuck * sizeof(*order));
		order[0] = circuit;
	}
	return no_way(lighting, order[0]);
}

/* The strand of a fibre that leaves a host. */
static const struct strand *strand_of(const struct sites *sites, uint32_t host, uint32_t guide)
{
	uint32_t at = sites->strands_first[host];

	while (sites->strands[at].guides_count > 1 || sites->strands[at].guides[0] >> 1 != guide)
		at++;
	return &sites->strands[at];
}

/* The plan says which fibres its circuits have, also where these are others than before. */
static void note_fibres(const struct lighting *lighting)
{
	const struct morph_ledger *ledger = lighting->ledger;
	struct morph_plan *plan = lighting->plan;

	for (uint32_t circuit = 0; circuit < plan->circuits_count; circuit++) {
		const struct optics_path *path = &lighting->paths[circuit];
		uint32_t at = plan->ways[circuit].first;

		if (!loose(lighting, circuit))
			continue;
		for (uint32_t hop = 0; hop < path->hops_count; hop++) {
			uint32_t guide = path->hops[hop].guide >> 1;

			if (ledger->graph->guides[guide].class != MORPH_GUIDE_FIBRE)
				continue;
			plan->strands[at] =
				*strand_of(&ledger->sites, plan->strands[at].from, guide);
			at++;
		}
	}
}

/* ----------------------------------------------------------------------- judge */

static int judge(struct lighting *lighting)
{
	const struct morph_plan *plan = lighting->plan;
	struct optics_view view = optics_state_view(lighting->ledger->state);
	struct optics_refusal refusal;
	int error;

	for (uint32_t at = 0; at < plan->circuits_count; at++)
		open_way(lighting, at, true);
	error = optics_validate(&view, lighting->paths, plan->circuits_count, LIGHT_OWNER,
				plan->transit == MORPH_TRANSIT_OWN, NULL, &refusal);
	if (!error)
		return 0;
	return lm_fail(lighting->ledger->ctx, -error, "circuit %u of the plan: %s (%lld of %lld)",
		       refusal.item, optics_reason_text(refusal.reason), (long long)refusal.have,
		       (long long)refusal.need);
}

/* --------------------------------------------------------------- wavelengths */

static bool passes(const struct strand *strand, uint32_t guide)
{
	for (uint32_t at = 0; at < strand->guides_count; at++)
		if (strand->guides[at] >> 1 == guide)
			return true;
	return false;
}

/*
 * Elements lead all wavelengths the same way: profiles have no others. Light that shares a fibre
 * with another circuit's would end where that does, so a plan is lit as far as it shares none.
 */
static int check_shared(const struct morph_ledger *ledger, const struct morph_plan *plan)
{
	for (uint32_t at = 0; plan->bands > 1 && at < plan->strands_count; at++) {
		const struct strand *strand = &plan->strands[at];
		uint32_t guide = strand->guides[0] >> 1;

		if (ledger->guide_lanes[guide])
			return lm_fail(
				ledger->ctx, EOPNOTSUPP,
				"fibre %u has others' light in other wavelengths: this profile has no elements that part wavelengths",
				guide);
		for (uint32_t other = 0; other < at; other++)
			if (passes(&plan->strands[other], guide))
				return lm_fail(
					ledger->ctx, EOPNOTSUPP,
					"two circuits share fibre %u in different wavelengths: this profile has no elements that part them",
					guide);
	}
	return 0;
}

/* ----------------------------------------------------------------- transaction */

static int add_circuit(struct morph_txn *txn, const struct lighting *lighting, uint32_t circuit)
{
	const struct rank_pair *pair = &lighting->plan->circuits[circuit];
	const struct optics_path *path = &lighting->paths[circuit];
	uint32_t guides[OPTICS_MAX_HOPS];
	MORPH_OPTS(morph_circuit_opts, opts, .guides = guides, .guides_count = path->hops_count,
		   .lanes = path->lanes, .lanes_count = lighting->plan->lanes);

	for (uint32_t hop = 0; hop < path->hops_count; hop++)
		guides[hop] = path->hops[hop].guide >> 1;
	return morph_txn_add(txn, pair->src, pair->dst, &opts);
}

/* Ways for all circuits, legal together; then changes of the transaction. */
static int light(struct lighting *lighting, struct morph_txn *txn)
{
	int error;

	state_begin(lighting);
	error = find_ways(lighting);
	if (!error) {
		note_fibres(lighting);
		error = judge(lighting);
	}
	for (uint32_t at = 0; at < lighting->plan->circuits_count && error >= 0; at++)
		error = add_circuit(txn, lighting, at);
	release_all(lighting);
	state_end(lighting);
	return error < 0 ? error : 0;
}

MORPH_API int morph_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan,
				 struct morph_ledger *ledger)
{
	struct lighting lighting = { .ledger = ledger, .plan = plan };
	size_t before = morph_txn_count(txn);
	int error = lm_plan_check(ledger, plan);

	if (!error && before + plan->circuits_count > LM_MAX_CHANGES)
		error = lm_fail(ledger->ctx, E2BIG,
				"the plan has %u circuits, the transaction %zu changes: at most %d",
				plan->circuits_count, before, LM_MAX_CHANGES);
	if (!error)
		error = check_shared(ledger, plan);
	if (error)
		return error;
	error = lm_ledger_state(ledger);
	if (!error)
		error = lighting_room(&lighting);
	if (!error)
		error = light(&lighting, txn);
	if (error)
		lm_txn_cut(txn, before);
	lighting_free(&lighting);
	return error;
}
