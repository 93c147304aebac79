// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds paths for the circuits of a schedule, and the steps for the driver. */
#include <stdio.h>

#include "light.h"

#define ROUNDS 64 /* default number of iterations */
#define EARLY 3 /* iterations before a cut is tried */
#define LEAST_AFTER_NS 1000 /* the driver rejects timed steps with a shorter delay, */
#define LEAST_IDLE_NS 100000 /* and steps of a loop without changes and with a shorter delay */
#define JUDGEMENTS 4 /* attempts after the judge's refusals */

/* The request. */
struct asked {
	const struct morph_schedule *schedule;
	struct morph_ledger *ledger;
	const uint32_t *accelerators;
	struct morph_light_opts opts;
	uint32_t lanes;
};

/* ----------------------------------------------------------------- what is asked */

static int check_ranks(const struct asked *asked, uint32_t ranks)
{
	const struct morph_ledger *ledger = asked->ledger;
	const uint32_t *accelerators = asked->accelerators;

	if (asked->schedule->verdict != MORPH_FEASIBLE)
		return lm_fail(ledger->ctx, EINVAL, "the schedule is not feasible");
	if (ranks != asked->schedule->ranks)
		return lm_fail(ledger->ctx, EINVAL,
			       "%u accelerators listed, the schedule has %u ranks", ranks,
			       asked->schedule->ranks);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		if (accelerators[rank] >= ledger->graph->accelerators_count)
			return lm_fail(ledger->ctx, ENOENT, "no accelerator %u: the fabric has %u",
				       accelerators[rank], ledger->graph->accelerators_count);
		if (ledger->owner[accelerators[rank]] != ledger->owner[accelerators[0]])
			return lm_fail(
				ledger->ctx, EINVAL,
				"the accelerators of ranks 0 and %u belong to different slices",
				rank);
		for (uint32_t other = 0; other < rank; other++)
			if (accelerators[other] == accelerators[rank])
				return lm_fail(ledger->ctx, EINVAL,
					       "ranks %u and %u share accelerator %u", other, rank,
					       accelerators[rank]);
	}
	return 0;
}

static int check_opts(const struct asked *asked)
{
	const struct morph_light_opts *opts = &asked->opts;

	if (opts->begin > MORPH_STEP_TIME)
		return lm_fail(asked->ledger->ctx, EINVAL, "morph_light_opts.begin is %u: unknown",
			       opts->begin);
	if (opts->transit > MORPH_TRANSIT_OWN)
		return lm_fail(asked->ledger->ctx, EINVAL,
			       "morph_light_opts.transit is %u: unknown", opts->transit);
	return 0;
}

/* As many lanes as the bandwidth of a port needs. */
static uint32_t lanes_of(const struct asked *asked)
{
	uint64_t each = asked->ledger->graph->params.lane_mbps;
	uint64_t lanes;

	if (asked->opts.lanes || !each)
		return asked->opts.lanes ? asked->opts.lanes : 1;
	lanes = (asked->schedule->costs.mbps + each - 1) / each;
	return lanes < UINT32_MAX ? lanes ? (uint32_t)lanes : 1 : UINT32_MAX;
}

static void refuse(struct morph_light *light, uint32_t reason, uint64_t have, uint64_t need)
{
	light->verdict = MORPH_INFEASIBLE;
	light->reason = reason;
	light->have = (int64_t)have;
	light->need = (int64_t)need;
}

/* Reasons that no path can remedy. Fills *light, and returns whether there is one. */
static bool hopeless(const struct asked *asked, struct morph_light *light)
{
	const struct morph_ledger *ledger = asked->ledger;
	const struct optics_params *params = &ledger->graph->params;

	if (asked->schedule->planes > params->planes && asked->schedule->circuits.count) {
		refuse(light, MORPH_LIGHT_PORTS, params->planes, asked->schedule->planes);
		snprintf(light->why, sizeof(light->why),
			 "the schedule has %u planes, an accelerator has %u ports",
			 asked->schedule->planes, params->planes);
		return true;
	}
	if (asked->lanes > params->wavelengths) {
		refuse(light, MORPH_LIGHT_LANES, params->wavelengths, asked->lanes);
		snprintf(light->why, sizeof(light->why),
			 "a circuit requires %u lanes, a port has %u", asked->lanes,
			 params->wavelengths);
		return true;
	}
	for (uint32_t rank = 0; rank < asked->schedule->ranks; rank++) {
		if (!ledger->chip_marked[asked->accelerators[rank]])
			continue;
		refuse(light, MORPH_LIGHT_ACCELERATOR, 0, 1);
		light->src = rank;
		light->part = MORPH_PART_ACCELERATOR;
		light->index = asked->accelerators[rank];
		snprintf(light->why, sizeof(light->why),
			 "accelerator %u of rank %u is not available", light->index, rank);
		return true;
	}
	return false;
}

/* -------------------------------------------------------------------------- ways */

static int begin_state(struct ways *ways, struct light_before *before)
{
	struct morph_ledger *ledger = ways->ledger;
	struct optics_state *state = ledger->state;
	int error = lm_light_begin_at(ledger, ways->accelerators, ways->table.ranks, before);

	if (error)
		return error;
	for (uint32_t at = 0; at < ledger->graph->guides_count; at++)
		if (ledger->guide_kept[at])
			state->guide_marks[at] |= OPTICS_CORDONED;
	/* The state of a switch that a tenant holds may be unknown. */
	for (uint32_t at = 0; at < ledger->graph->elements_count; at++)
		if (ledger->element_kept[at] ||
		    (ledger->element_held[at] && !state->element_pins[at]))
			state->element_marks[at] |= OPTICS_CORDONED;
	return 0;
}

static void begin_light(struct morph_light *light)
{
	*light = (struct morph_light){ .step = MORPH_ANY,
				       .plane = MORPH_ANY,
				       .src = MORPH_ANY,
				       .dst = MORPH_ANY,
				       .index = MORPH_ANY };
}

static void give_up(const struct ways *ways, uint32_t circuit, struct morph_light *light)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];

	light->verdict = MORPH_UNDECIDED;
	light->reason = MORPH_LIGHT_GAVE_UP;
	light->step = ways->table.used_in[lit->uses];
	light->plane = lit->plane;
	light->src = lit->src;
	light->dst = lit->dst;
	snprintf(
		light->why, sizeof(light->why),
		"step %u: found no path for the circuit from rank %u to rank %u on plane %u beside the other circuits",
		light->step, lit->src, lit->dst, lit->plane);
}

/* Negotiate and judge, as long as that may help. */
static int find_ways(struct ways *ways, uint32_t first, uint32_t rounds, struct morph_light *light)
{
	uint32_t circuit = 0;

	for (uint32_t attempt = 0; attempt < JUDGEMENTS; attempt++) {
		struct light_before before;
		enum negotiated found;
		int error = begin_state(ways, &before);

		if (error)
			return error;
		begin_light(light);
		if (attempt) /* refused by the judge */
			ways->table.circuits.list[circuit].hops_count = 0;
		found = lm_ways_negotiate(ways, first, rounds, &circuit);
		if (found == NEGOTIATED_ALONE)
			lm_way_refused_alone(ways, circuit, light);
		else if (found == NEGOTIATED_NOT)
			give_up(ways, circuit, light);
		else if (!lm_ways_refused(ways, light, &circuit))
			light->verdict = MORPH_FEASIBLE;
		else
			light->verdict = MORPH_UNDECIDED;
		lm_light_end(ways->ledger, &before);
		if (found != NEGOTIATED_ALL || light->verdict == MORPH_FEASIBLE)
			return 0;
		lm_way_grudge(ways, circuit);
	}
	return 0;
}

static int find_cut(struct ways *ways, struct morph_light *light)
{
	struct light_before before;
	int error = begin_state(ways, &before);

	if (error)
		return error;
	error = lm_ways_cut(ways, light);
	lm_light_end(ways->ledger, &before);
	return error;
}

/* The lanes of a circuit: free at both ports and on all guides of the path; 0: too few are. */
static uint64_t choose_lanes(const struct ways *ways, const struct optics_path *path)
{
	const struct optics_state *state = ways->ledger->state;
	uint64_t lanes = ways->ledger->graph->all_lanes, chosen = 0;

	lanes &= ~(state->tx_dead[path->tx] | state->rx_dead[path->rx]);
	for (uint32_t hop = 0; hop < path->hops_count; hop++)
		lanes &= ~optics_guide_taken(state, path->hops[hop].guide >> 1);
	for (uint32_t count = 0; count < ways->lanes; count++) {
		if (!lanes)
			return 0;
		chosen |= lanes & -lanes;
		lanes &= lanes - 1;
	}
	return chosen;
}

/* Begin with the route that matchings found for a circuit. */
static void set_route(struct ways *ways, struct lit *lit, struct optics_hop *hops,
		      const struct morph_matchings_hop *route, uint32_t count)
{
	const struct optics_graph *graph = ways->ledger->graph;
	struct optics_path path = { .tx = way_port(ways, lit->src, lit->plane),
				    .rx = way_port(ways, lit->dst, lit->plane),
				    .hops_count = count + 1,
				    .hops = hops };
	uint32_t at;

	if (count >= OPTICS_MAX_HOPS)
		return;
	hops[0].guide = graph->tx_guide[path.tx];
	for (at = 0; at < count; at++) {
		const struct optics_element *element = &graph->elements[route[at].element];
		uint8_t out =
			optics_joined(graph, route[at].element, route[at].state, route[at].entry);

		hops[at].element = route[at].element;
		hops[at].state = route[at].state;
		hops[at + 1].guide = graph->port_guide[element->first_port + out];
	}
	hops[at].element = OPTICS_NONE;
	hops[at].state = 0;
	lit->lanes = choose_lanes(ways, &path);
	lit->hops_count = lit->lanes ? path.hops_count : 0;
}

static void set_routes(struct ways *ways, const struct morph_matchings_answer *routes)
{
	uint32_t count = routes->round_first[routes->rounds];

	for (uint32_t at = 0; at < ways->table.circuits.count; at++) {
		struct lit *lit = &ways->table.circuits.list[at];

		for (uint32_t i = 0; i < count; i++) {
			const struct morph_matchings_circuit *circuit = &routes->circuits[i];

			if (circuit->src == lit->src && circuit->dst == lit->dst)
				set_route(ways, lit, lit_hops(&ways->table, at),
					  &routes->hops[circuit->first], circuit->count);
		}
	}
}

/* The table, and memory of its size. */
static int lay_out(struct ways *ways, const struct asked *asked, uint32_t planes, bool split)
{
	const struct optics_params *params = &asked->ledger->graph->params;
	uint32_t fullest = 0;
	int error;

	*ways = (struct ways){
		.ledger = asked->ledger,
		.accelerators = asked->accelerators,
		.lanes = asked->lanes,
		.owner = LIGHT_OWNER,
		.transit_own = asked->opts.transit == MORPH_TRANSIT_OWN,
		.most_mdb =
			(int64_t)params->laser_mdbm - params->sensitivity_mdbm - params->margin_mdb,
	};
	error = lm_lit_table(&ways->table, asked->schedule, planes, split, asked->opts.loop);
	if (!error)
		error = lm_ways_room(ways);
	if (error)
		return error;
	for (uint32_t step = 0; step < ways->table.steps.count; step++)
		if (ways->table.steps.list[step].count > fullest)
			fullest = ways->table.steps.list[step].count;
	ways->stamps = calloc(ways->table.circuits.count + 1UL, sizeof(*ways->stamps));
	ways->states = calloc(asked->ledger->graph->elements_count + 1UL, 1);
	ways->paths = calloc(fullest + 1UL, sizeof(*ways->paths));
	if (!ways->stamps || !ways->states || !ways->paths)
		return lm_no_memory(asked->ledger->ctx, "light a schedule");
	if (asked->opts.routes)
		set_routes(ways, asked->opts.routes);
	return 0;
}

/*
 * Find paths for the first planes: one for each circuit, or if that fails one for each time that it
 * is lit. The caller frees *ways in any case.
 */
static int light_planes(struct ways *ways, const struct asked *asked, uint32_t planes,
			struct morph_light *light)
{
	uint32_t rounds = asked->opts.budget ? asked->opts.budget : ROUNDS;
	uint32_t early = rounds < EARLY ? rounds : EARLY, circuits;
	int error = lay_out(ways, asked, planes, false);

	if (!error)
		error = find_ways(ways, 0, early, light);
	if (!error && light->reason == MORPH_LIGHT_GAVE_UP)
		error = find_cut(ways, light);
	if (!error && light->reason == MORPH_LIGHT_GAVE_UP && early < rounds)
		error = find_ways(ways, early, rounds, light);
	if (error || light->verdict != MORPH_UNDECIDED)
		return error;
	circuits = ways->table.circuits.count;
	lm_ways_free(ways);
	error = lay_out(ways, asked, planes, true);
	/* Each is lit once, so a retry would be the same. */
	if (error || ways->table.circuits.count == circuits)
		return error;
	return find_ways(ways, 0, rounds, light);
}

/* Count the first planes that fit together, fewer than all. */
static int count_planes(const struct asked *asked, uint32_t *planes)
{
	uint32_t ports = asked->ledger->graph->params.planes;
	struct morph_light light;
	int error = 0;

	*planes = asked->schedule->planes - 1;
	for (*planes = *planes < ports ? *planes : ports; *planes && !error; (*planes)--) {
		struct ways ways;

		begin_light(&light);
		error = light_planes(&ways, asked, *planes, &light);
		lm_ways_free(&ways);
		if (light.verdict == MORPH_FEASIBLE)
			break;
	}
	return error;
}

/* ------------------------------------------------------------------------- steps */

static bool same_way(const struct lit_table *table, uint32_t one, uint32_t other)
{
	const struct lit *a = &table->circuits.list[one], *b = &table->circuits.list[other];

	if (a->dst != b->dst || a->lanes != b->lanes || a->hops_count != b->hops_count)
		return false;
	for (uint32_t hop = 0; hop < a->hops_count; hop++)
		if (lit_hops(table, one)[hop].guide != lit_hops(table, other)[hop].guide)
			return false;
	return true;
}

static int add_circuit(struct ways *ways, uint32_t circuit, struct morph_steps *steps)
{
	const struct lit *lit = &ways->table.circuits.list[circuit];
	const struct optics_path path = lm_way_path(ways, circuit);
	uint32_t guides[OPTICS_MAX_HOPS];
	MORPH_OPTS(morph_circuit_opts, opts,
		   .flags = MORPH_CIRCUIT_SRC_PLANE | MORPH_CIRCUIT_DST_PLANE,
		   .src_plane = lit->plane, .dst_plane = lit->plane, .lanes = lit->lanes,
		   .lanes_count = ways->lanes, .guides = guides,
		   .guides_count = lm_light_guides(&path, guides));

	return morph_steps_circuit(steps, lit->src, lit->dst, &opts);
}

/* Equal ranks and path are one circuit. Circuits of one port are chained. */
static int add_circuits(struct ways *ways, struct morph_steps *steps)
{
	struct lit_table *table = &ways->table;

	for (uint32_t at = 0; at < table->circuits.count; at++) {
		struct lit *lit = &table->circuits.list[at];
		uint32_t other = lit->next;
		int number;

		if (!lit->uses_count)
			continue;
		while (other != NO_LIT &&
		       (!table->circuits.list[other].uses_count || !same_way(table, at, other)))
			other = table->circuits.list[other].next;
		number = other != NO_LIT ? (int)table->circuits.list[other].number :
					   add_circuit(ways, at, steps);
		if (number < 0)
			return number;
		lit->number = (uint32_t)number;
	}
	return 0;
}

static uint64_t ns_up(uint64_t ps)
{
	return ps / 1000 + (ps % 1000 != 0);
}

/* The begin of a step; by time, the delay after the previous one was lit. */
static struct morph_step_opts step_opts(const struct asked *asked, const struct lit_table *table,
					uint32_t number)
{
	const struct lit_step *step = &table->steps.list[number];
	struct morph_step_opts opts = { .sz = sizeof(opts),
					.begin = asked->opts.begin,
					.deadline_ns = asked->opts.deadline_ns };
	uint64_t least_ns = table->steps.count > 1 ? LEAST_AFTER_NS : LEAST_IDLE_NS;
	uint64_t set_ps = step->set_ps, lit_ps = 0;

	if (opts.begin != MORPH_STEP_TIME)
		return opts;
	if (number) {
		lit_ps = step[-1].lit_ps;
	} else if (asked->opts.loop) { /* after the last step */
		set_ps += asked->schedule->finish_ps;
		lit_ps = table->steps.list[table->steps.count - 1].lit_ps;
	}
	opts.after_ns = set_ps > lit_ps ? ns_up(set_ps - lit_ps) : 0;
	if (opts.after_ns < least_ns)
		opts.after_ns = least_ns;
	if (opts.deadline_ns)
		opts.deadline_ns += opts.after_ns;
	return opts;
}

static int write_steps(struct ways *ways, const struct asked *asked, struct morph_steps *steps,
		       uint32_t *held)
{
	const struct lit_table *table = &ways->table;
	MORPH_OPTS(morph_steps_opts, whole, .loop = asked->opts.loop,
		   .profile_checksum = ways->ledger->graph->params.checksum);
	int error = add_circuits(ways, steps);

	for (uint32_t number = 0; number < table->steps.count && error >= 0; number++) {
		const struct lit_step *step = &table->steps.list[number];
		struct morph_step_opts opts = step_opts(asked, table, number);

		for (uint32_t at = 0; at < step->count; at++)
			held[at] = table->circuits.list[table->held.list[step->first + at]].number;
		error = morph_steps_add(steps, held, step->count, &opts);
	}
	morph_steps_set_opts(steps, &whole);
	return error < 0 ? error : 0;
}

static int answer(struct ways *ways, const struct asked *asked, struct morph_steps *steps,
		  struct morph_light *light)
{
	uint32_t *held = calloc(ways->table.held.count + 1UL, sizeof(*held));
	MORPH_OPTS(morph_steps_info, info);
	int error;

	if (!held)
		return lm_no_memory(asked->ledger->ctx, "light a schedule");
	error = write_steps(ways, asked, steps, held);
	free(held);
	light->planes = asked->schedule->planes;
	morph_steps_info(steps, &info);
	light->steps = info.steps;
	light->circuits = info.circuits;
	light->rerouted = ways->rerouted;
	for (uint32_t hold = 0; asked->opts.hold_steps && hold < asked->schedule->holds.count;
	     hold++)
		asked->opts.hold_steps[hold] = ways->table.hold_steps[hold];
	return error;
}

static int light_schedule(const struct asked *asked, struct morph_steps *steps,
			  struct morph_light *light)
{
	struct ways ways = { .ledger = NULL };
	bool asks = !hopeless(asked, light);
	int error = lm_ledger_state(asked->ledger);

	if (!error && asks)
		error = light_planes(&ways, asked, asked->schedule->planes, light);
	if (!error && asks && light->verdict == MORPH_FEASIBLE)
		error = answer(&ways, asked, steps, light);
	lm_ways_free(&ways);
	/* Fewer planes do not help if all circuits need something missing. */
	if (!error && light->verdict != MORPH_FEASIBLE && asked->opts.count_planes &&
	    light->reason != MORPH_LIGHT_LANES && light->reason != MORPH_LIGHT_ACCELERATOR)
		error = count_planes(asked, &light->planes);
	return error;
}

bool morph_light_is_final(uint32_t reason)
{
	return reason == MORPH_LIGHT_PORTS || reason == MORPH_LIGHT_LANES ||
	       reason == MORPH_LIGHT_ACCELERATOR;
}

MORPH_API int morph_schedule_light(const struct morph_schedule *schedule,
				   struct morph_ledger *ledger, const uint32_t *accelerators,
				   uint32_t ranks, const struct morph_light_opts *opts,
				   struct morph_steps *steps, struct morph_light *light)
{
	struct asked asked = { .schedule = schedule,
			       .ledger = ledger,
			       .accelerators = accelerators };
	int error = lm_opts_check(ledger->ctx, opts, sizeof(asked.opts), "morph_light_opts");

	begin_light(light);
	morph_steps_clear(steps);
	if (error)
		return error;
	lm_opts_copy(&asked.opts, opts, sizeof(asked.opts));
	error = check_ranks(&asked, ranks);
	if (!error)
		error = check_opts(&asked);
	if (error)
		return error;
	asked.lanes = lanes_of(&asked);
	error = light_schedule(&asked, steps, light);
	light->final = morph_light_is_final(light->reason);
	if (error)
		morph_steps_clear(steps);
	return error;
}
