// SPDX-License-Identifier: LGPL-2.1-or-later
/* The search for matchings: its memory, the ladder of numbers of rounds, and the answer. */
#include "matchings.h"

#define DEFAULT_MOVES 100000

/* The first attempt makes this number of moves for each round. */
#define FIRST_MOVES 32
/* No further moves are made once routes exceed the shortest ones by this percentage. */
#define ENOUGH 3
/* The longest route gets shorter in attempts of this number of moves for each round. */
#define LIMIT_MOVES 1

/*
 * The size of a problem is rounds * endpoints^2. A small one is searched again while routes have
 * detours: AGAIN / size^2 times, but at most MOST_AGAIN times.
 */
#define SMALL 1000
#define MOST_AGAIN 64
#define AGAIN 30000000

/* Work of lm_matchings_bound(). With FIRST_BOUND_WORK, if only the first legal set is searched. */
#define BOUND_WORK 400000000
#define FIRST_BOUND_WORK 1500000

/* The set-up is made again before the number of a route's search overflows. */
#define MOST_STAMP (UINT32_MAX / 2)

/* A route may pass twice the longest distance, and this number of elements more. */
#define SPARE_HOPS 16

MORPH_API struct morph_matchings *morph_matchings_new(struct morph_ctx *ctx)
{
	struct morph_matchings *matchings = calloc(1, sizeof(*matchings));

	if (!matchings) {
		lm_no_memory(ctx, "search matchings");
		return NULL;
	}
	matchings->ctx = ctx;
	return matchings;
}

MORPH_API void morph_matchings_free(struct morph_matchings *matchings)
{
	if (!matchings)
		return;
	lm_matchings_forget(&matchings->kept);
	free(matchings->kept.block.memory);
	lm_mesh_free(&matchings->rounds.mesh);
	free(matchings->rounds.judge.block.memory);
	free(matchings->namer.block.memory);
	free(matchings->rounds.fixed.memory);
	free(matchings->rounds.by_rounds.memory);
	free(matchings->bound_block.memory);
	free(matchings->answer_block.memory);
	lm_exact_free(&matchings->exact);
	free(matchings);
}

/* ------------------------------------------------------------------ memory */

static int lay_fixed(struct morph_matchings *matchings, uint32_t endpoints)
{
	struct rounds *rounds = &matchings->rounds;
	const struct mesh *mesh = &rounds->mesh;
	struct router *router = &rounds->router;
	uint32_t columns = rounds->choose ? mesh->ends : endpoints;
	const struct mesh_part parts[] = {
		{ &router->labels, (mesh->arcs + 1) * sizeof(*router->labels) },
		{ &router->entries, mesh->arcs * 16 * sizeof(*router->entries) },
		{ &router->join_use, mesh->joins * sizeof(uint16_t) },
		{ &router->state_use, mesh->states * sizeof(uint16_t) },
		{ &router->states_used, mesh->elements * sizeof(uint16_t) },
		{ &router->joins_crowded, mesh->elements * sizeof(uint16_t) },
		{ &router->history, mesh->elements * sizeof(uint16_t) },
		{ &router->lone, (mesh->arcs / 2 + 1) * sizeof(*router->lone) },
		{ &rounds->tx, endpoints * sizeof(uint32_t) },
		{ &rounds->rx, endpoints * sizeof(uint32_t) },
		{ &rounds->togo, (size_t)columns * mesh->arcs * sizeof(uint16_t) },
		{ &rounds->togo_of, mesh->ends * sizeof(uint32_t) },
		{ &rounds->queue, mesh->arcs * sizeof(uint32_t) },
		{ &rounds->chain, 2 * endpoints * sizeof(uint16_t) },
		{ &rounds->waiting, endpoints * (endpoints - 1) * sizeof(uint32_t) },
	};
	int error = lm_mesh_lay(matchings->ctx, &rounds->fixed, parts, ARRAY_SIZE(parts));

	if (error)
		return error;
	memset(router->labels, 0, (mesh->arcs + 1) * sizeof(*router->labels));
	memset(router->join_use, 0, mesh->joins * sizeof(uint16_t));
	memset(router->state_use, 0, mesh->states * sizeof(uint16_t));
	memset(router->states_used, 0, mesh->elements * sizeof(uint16_t));
	memset(router->joins_crowded, 0, mesh->elements * sizeof(uint16_t));
	router->mesh = mesh;
	router->entries_room = mesh->arcs * 16;
	router->stamp = 0;
	router->clashes = 0;
	router->forbid = false;
	return 0;
}

int lm_matchings_lay_rounds(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	size_t routes = (size_t)rounds->rounds * rounds->endpoints;
	size_t copies = rounds->choose ? COPY_ONE + rounds->rounds : COPIES;
	const struct mesh_part parts[] = {
		{ &rounds->mate, (size_t)rounds->rounds * rounds->vertices * sizeof(uint16_t) },
		{ &rounds->counts, routes * sizeof(uint32_t) },
		{ &rounds->hops, routes * rounds->stride * sizeof(uint32_t) },
		{ &rounds->bad, rounds->rounds * sizeof(uint32_t) },
		{ &rounds->searched, rounds->rounds * sizeof(bool) },
		{ &rounds->old_bad, rounds->rounds * sizeof(uint32_t) },
		{ &rounds->old_mate, copies * rounds->vertices * sizeof(uint16_t) },
		{ &rounds->old_counts, copies * rounds->endpoints * sizeof(uint32_t) },
		{ &rounds->old_hops,
		  copies * rounds->endpoints * rounds->stride * sizeof(uint32_t) },
	};

	return lm_mesh_lay(matchings->ctx, &rounds->by_rounds, parts, ARRAY_SIZE(parts));
}

static int lay_bound(struct morph_matchings *matchings)
{
	const struct mesh *mesh = &matchings->rounds.mesh;
	size_t endpoints = matchings->rounds.endpoints;
	struct mesh_bound *bound = &matchings->bound;
	struct mesh_cut *cut = &matchings->cut;
	const struct mesh_part parts[] = {
		{ &bound->lengths, mesh->joins * sizeof(uint32_t) },
		{ &bound->best, mesh->joins * sizeof(uint32_t) },
		{ &bound->sums, mesh->joins * sizeof(uint64_t) },
		{ &bound->weights, mesh->elements * sizeof(uint32_t) },
		{ &bound->shares, mesh->joins * sizeof(uint32_t) },
		{ &bound->flow, mesh->joins * sizeof(uint32_t) },
		{ &bound->distance, mesh->arcs * sizeof(uint64_t) },
		{ &bound->from, mesh->arcs * sizeof(uint32_t) },
		{ &bound->turn, mesh->arcs * sizeof(uint32_t) },
		{ &bound->heap, (mesh->turns + 3) * sizeof(uint64_t) },
		{ &bound->end_from, mesh->ends * sizeof(uint32_t) },
		{ &bound->end_turn, mesh->ends * sizeof(uint32_t) },
		{ &bound->end_distance, mesh->ends * sizeof(uint64_t) },
		{ &cut->inside, mesh->elements },
		{ &cut->port_first, (mesh->elements + 1) * sizeof(uint32_t) },
		{ &cut->port, 2 * endpoints * sizeof(uint32_t) },
		{ &cut->leaves, mesh->ends * sizeof(uint32_t) },
		{ &cut->sender, endpoints * sizeof(uint32_t) },
		{ &cut->sides, endpoints },
		{ &cut->key, mesh->elements * sizeof(uint32_t) },
		{ &cut->order, mesh->elements * sizeof(uint32_t) },
		{ &cut->count, (2 * (size_t)mesh->arcs + 1) * sizeof(uint32_t) },
		{ &cut->best, mesh->elements * sizeof(uint32_t) },
	};

	return lm_mesh_lay(matchings->ctx, &matchings->bound_block, parts, ARRAY_SIZE(parts));
}

/* ------------------------------------------------------------------ preparation */

/* Ports as given, or evenly along the rim: a transmit port, then a receive port. */
static void set_ports(struct rounds *rounds, const struct morph_matchings_problem *problem)
{
	uint32_t n = rounds->endpoints, i;
	uint64_t ends = rounds->mesh.ends;

	for (i = 0; i < n; i++) {
		if (problem->tx) {
			rounds->tx[i] = problem->tx[i];
			rounds->rx[i] = rounds->kind == MORPH_MATCHINGS_PAIRS ? problem->tx[i] :
										problem->rx[i];
		} else if (rounds->kind == MORPH_MATCHINGS_PAIRS) {
			rounds->tx[i] = (uint32_t)(i * ends / n);
			rounds->rx[i] = rounds->tx[i];
		} else {
			rounds->tx[i] = (uint32_t)(2 * i * ends / (2 * n));
			rounds->rx[i] = (uint32_t)((2 * i + 1) * ends / (2 * n));
		}
	}
}

static void set_distances(struct rounds *rounds)
{
	uint32_t columns = rounds->choose ? rounds->mesh.ends : rounds->endpoints, i, end;

	for (i = 0; i < columns; i++) {
		end = rounds->choose ? i : rounds->rx[i];
		if (end == MORPH_ANY)
			continue;
		rounds->togo_of[end] = i;
		lm_mesh_distances(&rounds->mesh, end, rounds->togo + (size_t)i * rounds->mesh.arcs,
				  rounds->queue);
	}
}

/* The sum and the largest of the distances of all circuits; false if one has no route. */
static bool sum_distances(struct morph_matchings *matchings, uint32_t limit, uint32_t *longest)
{
	struct rounds *rounds = &matchings->rounds;
	struct morph_matchings_answer *answer = &matchings->answer;
	uint32_t src, dst, distance;

	answer->distance = 0;
	*longest = 0;
	for (src = 0; src < rounds->endpoints; src++) {
		for (dst = 0; dst < rounds->endpoints; dst++) {
			if (!lm_rounds_want(rounds, src, dst))
				continue;
			distance = rounds->mesh.enter[rounds->tx[src]] == MESH_NONE ?
					   MESH_FAR :
					   lm_rounds_distance(rounds, src, dst);
			if (distance == MESH_FAR || (limit && distance > limit)) {
				answer->src = src;
				answer->dst = dst;
				return false;
			}
			answer->distance += distance;
			if (distance > *longest)
				*longest = distance;
		}
	}
	return true;
}

/* Build the fabric of a problem and the distances in it, unless the last search left them. */
static int set_up(struct morph_matchings *matchings, const struct morph_matchings_problem *problem)
{
	const struct mesh_faults faults = {
		.failed = problem->failed,
		.failed_count = problem->failed_count,
		.stuck = problem->stuck,
		.stuck_states = problem->stuck_states,
		.stuck_count = problem->stuck_count,
	};
	struct rounds *rounds = &matchings->rounds;
	struct mesh *mesh = &rounds->mesh;
	int error;

	if (rounds->router.stamp < MOST_STAMP && lm_matchings_is_kept(&matchings->kept, problem))
		return lm_matchings_check_ports(matchings->ctx, problem, mesh->ends);
	lm_matchings_forget(&matchings->kept);
	error = problem->model ? lm_mesh_profile(matchings->ctx, mesh, problem->model, &faults) :
				 lm_mesh_hexagons(matchings->ctx, mesh, problem->width,
						  problem->height, &faults);
	if (!error)
		error = lm_matchings_check_ports(matchings->ctx, problem, mesh->ends);
	if (!error)
		error = lm_matchings_check_faults(matchings->ctx, problem, mesh);
	if (!error && mesh->arcs >= MESH_BOUND_MOST_ARCS)
		error = lm_fail(matchings->ctx, EINVAL,
				"the fabric's elements have %u ports (at most %u)", mesh->arcs,
				MESH_BOUND_MOST_ARCS - 1);
	rounds->kind = problem->kind;
	rounds->endpoints = problem->endpoints;
	rounds->vertices = problem->endpoints * (problem->kind == MORPH_MATCHINGS_DIRECTED ? 2 : 1);
	rounds->choose = !problem->tx;
	if (!error)
		error = lay_fixed(matchings, problem->endpoints);
	if (!error)
		error = lay_bound(matchings);
	if (error)
		return error;
	set_ports(rounds, problem);
	set_distances(rounds);
	return lm_matchings_keep(matchings->ctx, &matchings->kept, problem);
}

/* ------------------------------------------------------------------ the ladder */

/* Search a number of rounds, in attempts of growing length. Whether it found some. */
static bool search_rounds(struct rounds *rounds, uint64_t moves)
{
	uint64_t attempt = (uint64_t)FIRST_MOVES * rounds->rounds, end = rounds->moves + moves;

	for (; rounds->moves + attempt < end; attempt *= 2) {
		if (lm_rounds_search(rounds, attempt))
			return true;
	}
	return lm_rounds_search(rounds, end > rounds->moves ? end - rounds->moves : 0);
}

/*
 * Shorten the longest route of the last answer as long as this succeeds. All routes together may
 * exceed the shortest ones by ENOUGH percent. Returns 0, or a noted error.
 */
static int shorten_longest(struct morph_matchings *matchings, uint64_t enough)
{
	const struct morph_matchings_answer *answer = &matchings->answer;
	struct rounds *rounds = &matchings->rounds;
	uint64_t most = answer->distance + answer->distance * ENOUGH / 100;
	uint32_t limit = rounds->router.most_hops;
	/* Other ports have other distances. */
	uint32_t farthest = rounds->choose ? 0 : matchings->farthest;
	int error = 0;

	if (rounds->targets || rounds->rounds < 2)
		return 0;
	while (!error && answer->longest > farthest) {
		rounds->router.most_hops = answer->longest - 1;
		if (!lm_rounds_limit(rounds, (uint64_t)LIMIT_MOVES * rounds->rounds))
			break;
		lm_rounds_shorten(rounds, enough, IMPROVE_MOVES * rounds->rounds);
		if (lm_rounds_total(rounds) > most && lm_rounds_total(rounds) > answer->total)
			break;
		error = lm_matchings_answer(matchings);
	}
	rounds->router.most_hops = limit;
	return error;
}

/* Whether the rounds have a shorter longest route than the answer, or else shorter routes. */
static bool is_shorter(const struct rounds *rounds, const struct morph_matchings_answer *answer)
{
	uint32_t longest = lm_rounds_longest(rounds);

	if (longest != answer->longest)
		return longest < answer->longest;
	return lm_rounds_total(rounds) < answer->total;
}

/*
 * Search a number of rounds. If routes have detours, search small problems again and keep the best.
 * Returns 1 if it found some, 0 if not, or a noted error.
 */
static int try_rounds(struct morph_matchings *matchings, uint32_t count, uint64_t moves)
{
	const struct morph_matchings_answer *answer = &matchings->answer;
	struct rounds *rounds = &matchings->rounds;
	uint64_t size = (uint64_t)count * rounds->endpoints * rounds->endpoints;
	uint64_t more = 0, enough = answer->distance;
	int error;

	if (!rounds->targets && size && size <= SMALL)
		more = AGAIN / (size * size) + 1;
	if (more > MOST_AGAIN)
		more = MOST_AGAIN;
	if (!rounds->choose && size > SMALL)
		enough += enough * ENOUGH / 100;
	rounds->rounds = count;
	error = lm_matchings_lay_rounds(matchings);
	if (error)
		return error;
	if (!search_rounds(rounds, moves))
		return 0;
	lm_rounds_shorten(rounds, enough, (more ? 1 : 4) * IMPROVE_MOVES * count);
	error = lm_matchings_answer(matchings);
	if (!error)
		error = shorten_longest(matchings, enough);
	for (; !error && more && answer->total > answer->distance; more--) {
		if (!lm_rounds_search(rounds, (uint64_t)FIRST_MOVES * count))
			continue;
		lm_rounds_shorten(rounds, enough, IMPROVE_MOVES * count);
		if (is_shorter(rounds, answer))
			error = lm_matchings_answer(matchings);
	}
	return error ? error : 1;
}

/*
 * Decide numbers of rounds, if the search chooses the ports. Searches of ports in other ways take
 * less time where rounds exist, so they come first once the bound is raised.
 */
static int decide_ports(struct morph_matchings *matchings, uint32_t last, uint64_t most)
{
	const struct morph_matchings_answer *answer = &matchings->answer;
	uint32_t count = answer->bound;
	int found;

	matchings->exact.share = answer->verdict == MORPH_FEASIBLE ? 8 : 1;
	found = lm_matchings_decide(matchings, count, most);
	while (!found && answer->bound > count && answer->bound <= last &&
	       answer->verdict != MORPH_INFEASIBLE) {
		count = answer->bound;
		if (matchings->joined)
			found = try_rounds(matchings, count, (uint64_t)FIRST_MOVES * count);
		if (!found)
			found = lm_matchings_decide(matchings, count, most);
	}
	return found;
}

/* No number of rounds is enough: two endpoints have no route. */
static void refuse_pair(struct morph_matchings *matchings, uint32_t src, uint32_t dst)
{
	struct morph_matchings_answer *answer = &matchings->answer;

	answer->verdict = MORPH_INFEASIBLE;
	answer->bound = 0;
	answer->lengths_count = 0;
	answer->cut_count = 0;
	answer->src = src;
	answer->dst = dst;
}

/*
 * Find a legal set with any number of rounds. The number of rounds that there is memory for doubles
 * until they suffice. Returns 1 if it found one, 0 if a circuit alone is refused, or a noted error.
 */
static int find_first(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	struct morph_matchings_answer *answer = &matchings->answer;
	uint32_t circuits = rounds->endpoints * (rounds->endpoints - 1), count = answer->bound;
	enum rounds_first first;
	int error;

	do {
		count = 2 * count < circuits ? 2 * count : circuits;
		rounds->rounds = count;
		error = lm_matchings_lay_rounds(matchings);
		if (error)
			return error;
		first = lm_rounds_first(rounds);
	} while (first == FIRST_LACKS_ROUNDS);
	if (first == FIRST_FOUND) {
		error = lm_matchings_answer(matchings);
		return error ? error : 1;
	}
	/* Other ports can have routes. */
	if (first == FIRST_UNREACHABLE && !rounds->choose)
		refuse_pair(matchings, rounds->waiting[0] >> 16, rounds->waiting[0] & 0xffff);
	return 0;
}

/* Refuse a pair that has no route, at given ports. Whether there is one. */
static int refuse_separated(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	uint32_t src, dst;
	int error;

	if (rounds->choose)
		return 0;
	rounds->rounds = 1;
	error = lm_matchings_lay_rounds(matchings);
	if (error || !lm_rounds_find_separated(rounds, &src, &dst))
		return error;
	refuse_pair(matchings, src, dst);
	return 1;
}

/* The search failed: raise the bound, which may exclude the requested number of rounds. */
static void prove_targets(struct morph_matchings *matchings,
			  const struct morph_matchings_problem *problem)
{
	lm_matchings_raise_bound(matchings, FIRST_BOUND_WORK);
	if (problem->rounds && problem->rounds < matchings->answer.bound)
		matchings->answer.verdict = MORPH_INFEASIBLE;
}

/* Search @count rounds, or refute them. */
static int climb_to(struct morph_matchings *matchings, uint32_t count, uint64_t most)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	bool joined = matchings->joined;
	int found = refuse_separated(matchings);

	if (found)
		return found < 0 ? found : 0;
	if (lm_exact_applies(&matchings->rounds.mesh)) {
		if (joined)
			found = try_rounds(matchings, count, (uint64_t)FIRST_MOVES * count);
		if (!found && matchings->rounds.choose &&
		    matchings->rounds.kind == MORPH_MATCHINGS_PAIRS)
			found = lm_matchings_decide_at(matchings, count, most);
		matchings->exact.share = joined ? 2 : 1;
		if (!found)
			found = lm_matchings_decide(matchings, count, most);
		if (answer->bound > count)
			answer->verdict = MORPH_INFEASIBLE;
	}
	joined &= answer->verdict != MORPH_INFEASIBLE;
	if (!found && joined && matchings->rounds.moves < most)
		found = try_rounds(matchings, count, most - matchings->rounds.moves);
	return found < 0 ? found : 0;
}

/*
 * In a small fabric, search one round less and so on, as long as short searches find them. The
 * exact search takes more of the budget for each number. Returns 0, or a noted error.
 */
static int descend_briefly(struct morph_matchings *matchings)
{
	const struct morph_matchings_answer *answer = &matchings->answer;
	int found = lm_exact_applies(&matchings->rounds.mesh);

	while (found > 0 && answer->rounds > answer->bound)
		found = try_rounds(matchings, answer->rounds - 1,
				   (uint64_t)FIRST_MOVES * answer->rounds);
	return found < 0 ? found : 0;
}

/* Find a legal set at other ports than the first ones, which lack routes. As find_first(). */
static int find_joined(struct morph_matchings *matchings)
{
	struct rounds *rounds = &matchings->rounds;
	uint32_t limit = matchings->answer.hops_most, longest;
	int found = lm_matchings_join_ports(matchings);

	if (found <= 0 || !sum_distances(matchings, limit, &longest))
		return found < 0 ? found : 0;
	if (!limit)
		rounds->router.most_hops = rounds->stride;
	return find_first(matchings);
}

/* The first ports lack routes: decide numbers of rounds, unless any legal set is enough. */
static int climb_elsewhere(struct morph_matchings *matchings, bool first, uint64_t most)
{
	int found = first ? find_joined(matchings) : 0;

	if (!found)
		found = decide_ports(matchings, EXACT_MOST_ROUNDS, most - most / 8);
	if (found || first || matchings->answer.verdict == MORPH_INFEASIBLE)
		return found;
	return find_joined(matchings);
}

/*
 * Search the number of rounds of the bound, then any. Decide small fabrics exactly. Then search
 * numbers between them, larger by an eighth after each failure.
 */
static int climb_first(struct morph_matchings *matchings,
		       const struct morph_matchings_problem *problem, uint64_t most)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	uint32_t count = problem->rounds ? problem->rounds : answer->bound;
	int found = 0;

	if (problem->rounds || !problem->first)
		found = try_rounds(matchings, count,
				   problem->rounds ? most : (uint64_t)FIRST_MOVES * count);
	if (!found && problem->targets && !problem->first)
		prove_targets(matchings, problem);
	if (!found && problem->rounds && answer->verdict == MORPH_UNDECIDED)
		found = refuse_separated(matchings);
	if (found || problem->rounds)
		return found;
	found = find_first(matchings);
	if (!found && matchings->rounds.choose)
		found = climb_elsewhere(matchings, problem->first, most);
	if (found <= 0 || problem->first)
		return found;
	if (matchings->rounds.choose) {
		found = decide_ports(matchings, answer->rounds - 1, most);
	} else {
		found = descend_briefly(matchings);
		if (found >= 0)
			found = lm_matchings_descend(matchings, most);
		if (!found)
			found = lm_matchings_decide(matchings, answer->rounds - 1, most);
	}
	while (!found && matchings->rounds.moves < most) {
		count += count / 8 + 1;
		if (count >= answer->rounds)
			break;
		found = try_rounds(matchings, count, (uint64_t)FIRST_MOVES * count);
	}
	return found;
}

/* As long as the budget lasts, search one round less than the best. */
static int climb(struct morph_matchings *matchings, const struct morph_matchings_problem *problem)
{
	struct morph_matchings_answer *answer = &matchings->answer;
	uint64_t most = problem->moves ? problem->moves : DEFAULT_MOVES;
	int found;

	if (problem->rounds && !problem->targets)
		return climb_to(matchings, problem->rounds, most);
	found = matchings->joined ? climb_first(matchings, problem, most) :
				    climb_elsewhere(matchings, problem->first, most);
	while (found >= 0 && !problem->rounds && !problem->first &&
	       answer->rounds > answer->bound && matchings->rounds.moves < most) {
		found = try_rounds(matchings, answer->rounds - 1, most - matchings->rounds.moves);
		if (!found)
			break;
	}
	return found < 0 ? found : 0;
}

MORPH_API int morph_matchings_find(struct morph_matchings *matchings,
				   const struct morph_matchings_problem *problem,
				   struct morph_matchings_answer *answer)
{
	struct morph_matchings_answer *mine = &matchings->answer;
	struct rounds *rounds = &matchings->rounds;
	struct morph_matchings_problem given;
	uint32_t limit, longest;
	int error;

	lm_error_clear(matchings->ctx);
	error = lm_opts_check(matchings->ctx, problem, sizeof(given), "matchings");
	if (error)
		return error;
	lm_opts_copy(&given, problem, sizeof(given));
	error = lm_matchings_check(matchings->ctx, &given);
	if (!error)
		error = set_up(matchings, &given);
	if (error)
		return error;
	rounds->targets = given.targets;
	rounds->random = given.seed;
	rounds->moves = 0;
	rounds->arcs = 0;
	rounds->large = !lm_exact_applies(&rounds->mesh);
	memset(mine, 0, sizeof(*mine));
	mine->elements = rounds->mesh.elements;
	mine->tx = rounds->tx;
	mine->rx = rounds->rx;
	limit = lm_matchings_limit_hops(&given);
	mine->hops_most = limit;
	matchings->joined = sum_distances(matchings, rounds->choose ? 0 : limit, &longest);
	if (!matchings->joined && !(rounds->choose && lm_exact_applies(&rounds->mesh))) {
		mine->verdict = rounds->choose ? MORPH_UNDECIDED : MORPH_INFEASIBLE;
		*answer = *mine;
		return 0;
	}
	mine->verdict = MORPH_UNDECIDED;
	lm_matchings_bound(matchings);
	/* Most targets fit in one round. So their bound is raised only if they do not. */
	if (!given.targets)
		lm_matchings_raise_bound(matchings, given.first ? FIRST_BOUND_WORK : BOUND_WORK);
	if (mine->verdict == MORPH_INFEASIBLE) {
		*answer = *mine;
		return 0;
	}
	rounds->router.most_hops = limit ? limit : 2 * longest + SPARE_HOPS;
	/* A route passes each join of a setting once at most, which has two arcs. */
	rounds->router.lone_hops = rounds->mesh.arcs / 2;
	if (limit && limit < rounds->router.lone_hops)
		rounds->router.lone_hops = limit;
	rounds->stride = lm_exact_stride(rounds, limit);
	matchings->farthest = longest;
	rounds->judge.graph = NULL;
	matchings->namer.graph = NULL;
	if (given.model) {
		error = lm_judge_lay(matchings->ctx,
				     given.unjudged ? &matchings->namer : &rounds->judge,
				     given.model, given.endpoints, rounds->stride);
		if (error)
			return error;
	}
	if (given.rounds && given.rounds < mine->bound)
		mine->verdict = MORPH_INFEASIBLE;
	else
		error = climb(matchings, &given);
	mine->moves = rounds->moves;
	if (!error)
		*answer = *mine;
	return error;
}
