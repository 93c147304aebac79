// SPDX-License-Identifier: LGPL-2.1-or-later
/* From a plan to a transaction: paths inside servers, by the driver's router and validator. */
#include "light.h"
#include "../model/router.h"

#define LIGHT_STEPS OPTICS_ROUTE_STEPS
#define LIGHT_TRIES 12 /* stuck attempts of a circuit before the search gives up */
#define LIGHT_FAITHFUL 3 /* stuck attempts before a circuit can take other fibres */
#define LIGHT_PATIENT 6 /* stuck attempts before a lit circuit goes dark first */

/* ------------------------------------------------------------------------ room */

void lm_light_free(struct lighting *lighting)
{
	free(lighting->work);
	free(lighting->paths);
	free(lighting->hops);
	free(lighting->order);
	free(lighting->stuck);
}

int lm_light_room(struct lighting *lighting, uint32_t most)
{
	lighting->work = router_work(LIGHT_STEPS);
	lighting->paths = calloc(most + 1UL, sizeof(*lighting->paths));
	lighting->hops = calloc(most + 1UL, OPTICS_MAX_HOPS * sizeof(*lighting->hops));
	lighting->order = calloc(most + 1UL, sizeof(*lighting->order));
	lighting->stuck = calloc(most + 1UL, sizeof(*lighting->stuck));
	if (!lighting->work || !lighting->paths || !lighting->hops || !lighting->order ||
	    !lighting->stuck) {
		lm_no_memory(lighting->ledger->ctx, "light a plan");
		return -ENOMEM;
	}
	return 0;
}

/* ----------------------------------------------------------------------- state */

int lm_light_begin_at(struct morph_ledger *ledger, const uint32_t *accelerators, uint32_t ranks,
		      struct light_before *before)
{
	const struct optics_graph *graph = ledger->graph;
	struct optics_state *state = ledger->state;

	before->states = malloc(graph->elements_count + 1UL);
	before->pins = malloc((graph->elements_count + 1UL) * sizeof(*before->pins));
	if (!before->states || !before->pins) {
		free(before->states);
		free(before->pins);
		lm_no_memory(ledger->ctx, "light a plan");
		return -ENOMEM;
	}
	memcpy(before->states, state->element_state, graph->elements_count);
	memcpy(before->pins, state->element_pins, graph->elements_count * sizeof(*before->pins));
	for (uint32_t at = 0; at < graph->guides_count; at++) {
		state->guide_marks[at] = ledger->guide_marked[at] ? OPTICS_CORDONED : 0;
		state->guide_lanes[at] = ledger->guide_lanes[at];
	}
	for (uint32_t at = 0; at < graph->elements_count; at++)
		state->element_marks[at] = ledger->element_marked[at] ? OPTICS_UNHEALTHY : 0;
	/* A port is in use if its guide is. */
	for (uint32_t at = 0; at < graph->ends_count; at++) {
		uint32_t tx = graph->tx_guide[at], rx = graph->rx_guide[at];

		state->tx_lanes[at] = tx == OPTICS_NONE ? 0 : ledger->guide_lanes[tx >> 1];
		state->rx_lanes[at] = rx == OPTICS_NONE ? 0 : ledger->guide_lanes[rx >> 1];
	}
	for (uint32_t at = 0; at < graph->accelerators_count; at++)
		state->owner[at] = ledger->owner[at];
	for (uint32_t rank = 0; rank < ranks; rank++)
		state->owner[accelerators[rank]] = LIGHT_OWNER;
	return 0;
}

int lm_light_begin(struct morph_ledger *ledger, const struct morph_plan *plan,
		   struct light_before *before)
{
	const struct optics_graph *graph = ledger->graph;
	int error = lm_light_begin_at(ledger, plan->accelerators, plan->ranks, before);

	for (uint32_t at = 0; at < graph->guides_count && !error; at++)
		if (graph->guides[at].class >= MORPH_GUIDE_FIBRE)
			ledger->state->guide_marks[at] = OPTICS_CORDONED;
	return error;
}

void lm_light_end(struct morph_ledger *ledger, struct light_before *before)
{
	struct optics_state *state = ledger->state;

	for (uint32_t at = 0; at < ledger->graph->elements_count; at++)
		if (state->element_state[at] != before->states[at])
			optics_set_state(state, at, before->states[at]);
	memcpy(state->element_pins, before->pins,
	       ledger->graph->elements_count * sizeof(*before->pins));
	free(before->states);
	free(before->pins);
}

/* Whether a circuit can take other fibres than the plan's. */
static bool loose(const struct lighting *lighting, uint32_t circuit)
{
	return lighting->stuck[circuit] >= LIGHT_FAITHFUL;
}

static void open_strand(const struct morph_ledger *ledger, const struct strand *strand, bool open)
{
	for (uint32_t hop = 0; hop < strand->guides_count; hop++) {
		uint32_t guide = strand->guides[hop] >> 1;

		ledger->state->guide_marks[guide] =
			open && !ledger->guide_marked[guide] ? 0 : OPTICS_CORDONED;
	}
}

/* No light in any wavelength, and not kept for a spare. */
static bool dark(const struct morph_ledger *ledger, const struct strand *strand)
{
	for (uint32_t at = 0; at < strand->guides_count; at++)
		if (ledger->state->guide_lanes[strand->guides[at] >> 1])
			return false;
	return lm_strand_unkept(ledger, strand);
}

/*
 * Open the healthy fibres of a circuit for the router, or close them again. A loose circuit also
 * gets the other dark fibres between the same servers, if both pass a switch or neither does.
 */
static void open_way(const struct lighting *lighting, uint32_t circuit, bool open)
{
	const struct wanted *wanted = &lighting->wanted[circuit];
	const struct morph_ledger *ledger = lighting->ledger;
	const struct sites *sites = &ledger->sites;
	bool others = loose(lighting, circuit);

	for (uint32_t at = 0; at < wanted->count; at++) {
		const struct strand *strand = &wanted->strands[at];
		struct strand_range range = lm_strands_between(sites, strand->from, strand->to);

		open_strand(ledger, strand, open);
		for (uint32_t other = range.first; others && other < range.end; other++)
			if (sites->strands[other].guides_count == strand->guides_count &&
			    (!open || dark(ledger, &sites->strands[other])))
				open_strand(ledger, &sites->strands[other], open);
	}
}

/* ----------------------------------------------------------------------- route */

/* Planes with no lane in use, because a port sends to one receiver only. */
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
	const struct optics_graph *graph = lighting->ledger->graph;
	struct optics_state *state = lighting->ledger->state;
	const struct wanted *wanted = &lighting->wanted[circuit];
	struct optics_path *path = &lighting->paths[circuit];
	struct optics_route_request request = {
		.tx_accelerator = wanted->src,
		.rx_accelerator = wanted->dst,
		.tx_planes = free_planes(graph, wanted->src, state->tx_lanes, state->tx_dead),
		.rx_planes = free_planes(graph, wanted->dst, state->rx_lanes, state->rx_dead),
		.lanes_allowed = wanted->among,
		.lanes_count = wanted->lanes,
		.owner = lighting->owner,
		.transit_own = lighting->transit_own,
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

static void take_back(struct lighting *lighting, uint32_t circuit)
{
	struct optics_path *path = &lighting->paths[circuit];

	if (path->hops_count)
		optics_release(lighting->ledger->state, path);
	path->hops_count = 0;
}

/* The servers that a circuit crosses, including both ends; the first is number 0. */
static uint32_t crossed_host(const struct lighting *lighting, uint32_t circuit, uint32_t number)
{
	const struct wanted *wanted = &lighting->wanted[circuit];

	return number ? wanted->strands[number - 1].to :
			lighting->ledger->graph->accelerators[wanted->src].host;
}

static bool meet(const struct lighting *lighting, uint32_t one, uint32_t other)
{
	for (uint32_t at = 0; at <= lighting->wanted[one].count; at++)
		for (uint32_t with = 0; with <= lighting->wanted[other].count; with++)
			if (crossed_host(lighting, one, at) == crossed_host(lighting, other, with))
				return true;
	return false;
}

/*
 * Only light in the servers that a circuit crosses can block it. Release these circuits; they are
 * routed again afterwards.
 */
static void make_room(struct lighting *lighting, uint32_t circuit)
{
	for (uint32_t other = 0; other < lighting->count; other++)
		if (lighting->paths[other].hops_count && meet(lighting, circuit, other))
			take_back(lighting, other);
}

/* A circuit is stuck once more. With more attempts it gets more freedom. */
static void relax(struct lighting *lighting, uint32_t circuit)
{
	struct wanted *wanted = &lighting->wanted[circuit];

	lighting->stuck[circuit]++;
	if (lighting->stuck[circuit] < LIGHT_PATIENT || !wanted->old || wanted->dark)
		return;
	wanted->dark = true;
	optics_release(lighting->ledger->state, wanted->old);
}

static int no_way(const struct lighting *lighting, uint32_t circuit)
{
	const struct wanted *wanted = &lighting->wanted[circuit];

	return lm_fail(
		lighting->ledger->ctx, EBUSY,
		"the circuit from rank %u on accelerator %u to rank %u on accelerator %u: found no path inside the servers to its %u fibres",
		wanted->ranks.src, wanted->src, wanted->ranks.dst, wanted->dst, wanted->count);
}

/*
 * Rip up and reroute: a stuck circuit becomes the first one, before those that it meets (Dees and
 * Smith, Performance of Interconnection Rip-Up and Reroute Strategies, DAC 1981).
 */
static int find_ways(struct lighting *lighting)
{
	uint32_t *order = lighting->order, at = 0;

	for (uint32_t circuit = 0; circuit < lighting->count; circuit++) {
		order[circuit] = circuit;
		lighting->stuck[circuit] = 0;
		lighting->paths[circuit].hops_count = 0;
	}
	while (at < lighting->count) {
		uint32_t circuit = order[at];

		if (lighting->paths[circuit].hops_count || !route(lighting, circuit)) {
			at++;
			continue;
		}
		if (lighting->stuck[circuit] == LIGHT_TRIES) {
			for (uint32_t other = 0; other < lighting->count; other++)
				take_back(lighting, other);
			return no_way(lighting, circuit);
		}
		relax(lighting, circuit);
		make_room(lighting, circuit);
		memmove(&order[1], &order[0], at * sizeof(*order));
		order[0] = circuit;
		at = 0;
	}
	return 0;
}

/* The path between two servers that begins with this fibre. */
static const struct strand *strand_of(const struct sites *sites, uint32_t from, uint32_t to,
				      uint32_t guide)
{
	uint32_t at = lm_strands_between(sites, from, to).first;

	while (sites->strands[at].guides[0] >> 1 != guide)
		at++;
	return &sites->strands[at];
}

/* Record the fibres of the circuits in the plan, because they can differ from before. */
static void note_fibres(const struct lighting *lighting)
{
	const struct morph_ledger *ledger = lighting->ledger;

	for (uint32_t circuit = 0; circuit < lighting->count; circuit++) {
		const struct optics_path *path = &lighting->paths[circuit];
		struct strand *strand = lighting->wanted[circuit].strands;

		for (uint32_t hop = 0; loose(lighting, circuit) && hop < path->hops_count; hop++) {
			uint32_t guide = path->hops[hop].guide >> 1;

			if (ledger->graph->guides[guide].class != MORPH_GUIDE_FIBRE)
				continue;
			*strand = *strand_of(&ledger->sites, strand->from, strand->to, guide);
			hop += strand->guides_count - 1;
			strand++;
		}
	}
}

/* ----------------------------------------------------------------------- judge */

static int judge(struct lighting *lighting)
{
	struct optics_view view = optics_state_view(lighting->ledger->state);
	struct optics_refusal refusal;
	int error;

	for (uint32_t at = 0; at < lighting->count; at++)
		open_way(lighting, at, true);
	error = optics_validate(&view, lighting->paths, lighting->count, lighting->owner,
				lighting->transit_own, NULL, &refusal);
	for (uint32_t at = 0; at < lighting->count; at++)
		open_way(lighting, at, false);
	if (!error)
		return 0;
	return lm_fail(lighting->ledger->ctx, -error, "circuit %u of the plan: %s (%lld of %lld)",
		       refusal.item, optics_reason_text(refusal.reason), (long long)refusal.have,
		       (long long)refusal.need);
}

int lm_light(struct lighting *lighting)
{
	int error = find_ways(lighting);

	if (error)
		return error;
	note_fibres(lighting);
	for (uint32_t at = 0; at < lighting->count; at++)
		if (lighting->wanted[at].old && !lighting->wanted[at].dark)
			optics_release(lighting->ledger->state, lighting->wanted[at].old);
	return judge(lighting);
}

uint32_t lm_light_guides(const struct optics_path *path, uint32_t *guides)
{
	for (uint32_t hop = 0; hop < path->hops_count; hop++)
		guides[hop] = path->hops[hop].guide >> 1;
	return path->hops_count;
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
 * Elements of the installed profiles switch all wavelengths together. Light that shares a fibre
 * with another circuit would end at the same place, so only plans without shared fibres can be lit.
 */
static int check_shared(const struct morph_ledger *ledger, const struct morph_plan *plan)
{
	for (uint32_t at = 0; plan->bands > 1 && at < plan->strands_count; at++) {
		const struct strand *strand = &plan->strands[at];
		uint32_t guide = strand->guides[0] >> 1;

		if (ledger->guide_lanes[guide])
			return lm_fail(
				ledger->ctx, EOPNOTSUPP,
				"fibre %u has light of another slice in other wavelengths; this profile has no elements that separate wavelengths",
				guide);
		for (uint32_t other = 0; other < at; other++)
			if (passes(&plan->strands[other], guide))
				return lm_fail(
					ledger->ctx, EOPNOTSUPP,
					"two circuits share fibre %u in different wavelengths; this profile has no elements that separate them",
					guide);
	}
	return 0;
}

/* ------------------------------------------------------------------------ plan */

static int want_plan(struct lighting *lighting, struct morph_plan *plan)
{
	lighting->wanted = calloc(plan->circuits_count + 1UL, sizeof(*lighting->wanted));
	if (!lighting->wanted) {
		lm_no_memory(lighting->ledger->ctx, "light a plan");
		return -ENOMEM;
	}
	for (uint32_t at = 0; at < plan->circuits_count; at++)
		lighting->wanted[at] = (struct wanted){
			.ranks = plan->circuits[at],
			.src = plan->accelerators[plan->circuits[at].src],
			.dst = plan->accelerators[plan->circuits[at].dst],
			.lanes = plan->lanes,
			.among = lm_way_lanes(lighting->ledger->graph, plan, &plan->ways[at]),
			.strands = plan->strands ? &plan->strands[plan->ways[at].first] : NULL,
			.count = plan->ways[at].count,
		};
	lighting->count = plan->circuits_count;
	return lm_light_room(lighting, plan->circuits_count);
}

static int add_circuit(struct morph_txn *txn, const struct lighting *lighting,
		       const struct morph_plan *plan, uint32_t circuit)
{
	const struct optics_path *path = &lighting->paths[circuit];
	uint32_t guides[OPTICS_MAX_HOPS];
	MORPH_OPTS(morph_circuit_opts, opts, .guides = guides,
		   .guides_count = lm_light_guides(path, guides), .lanes = path->lanes,
		   .lanes_count = plan->lanes);

	return morph_txn_add(txn, plan->circuits[circuit].src, plan->circuits[circuit].dst, &opts);
}

/* Find legal paths for all circuits, and add them to the transaction. */
static int light_plan(struct lighting *lighting, const struct morph_plan *plan,
		      struct morph_txn *txn)
{
	struct light_before before;
	int error = lm_light_begin(lighting->ledger, plan, &before);

	if (error)
		return error;
	error = lm_light(lighting);
	for (uint32_t at = 0; at < lighting->count && error >= 0; at++)
		error = add_circuit(txn, lighting, plan, at);
	lm_light_end(lighting->ledger, &before);
	return error < 0 ? error : 0;
}

int lm_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan, struct morph_ledger *ledger,
		    uint32_t *stuck)
{
	struct lighting lighting = {
		.ledger = ledger,
		.owner = LIGHT_OWNER,
		.transit_own = plan->transit == MORPH_TRANSIT_OWN,
	};
	size_t before = morph_txn_count(txn);
	int error = lm_plan_check(ledger, plan);

	if (!error)
		error = check_shared(ledger, plan);
	if (error)
		return error;
	error = lm_ledger_state(ledger);
	if (!error)
		error = want_plan(&lighting, plan);
	if (!error)
		error = light_plan(&lighting, plan, txn);
	if (error)
		morph_txn_truncate(txn, before);
	if (error == -EBUSY && lighting.order)
		*stuck = lighting.order[0];
	lm_light_free(&lighting);
	free(lighting.wanted);
	return error;
}

int morph_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan, struct morph_ledger *ledger)
{
	uint32_t stuck = UINT32_MAX;

	return lm_txn_add_plan(txn, plan, ledger, &stuck);
}
