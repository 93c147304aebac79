// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claims of routes. Random sequences of the operations of transactions and protections run against
 * a model. The model stores the claims of each route and adds them up.
 */
#include <linux/prandom.h>

#include "fake.h"
#include "suites.h"

#define ROUTES		24u
#define STEPS		400u
#define MOST_GUIDES	512u

/* The claims of a route in the model. */
struct model_route {
	struct morph_route *route;
	u64 tx, rx;
	u64 lanes[OPTICS_MAX_HOPS];
	bool pin[OPTICS_MAX_HOPS];
	bool mark[OPTICS_MAX_HOPS];
};

struct model {
	struct fake *fake;
	struct model_route routes[ROUTES];
	struct rnd_state random;
	/* Sum over all routes. */
	u64 guide[MOST_GUIDES];
	u64 tx[FAKE_PORTS], rx[FAKE_PORTS];
	u32 pins[FAKE_ELEMENTS];
	u32 state[FAKE_ELEMENTS];
	bool marked[FAKE_ELEMENTS];
};

static void model_add_up(struct model *model)
{
	struct model_route *mine;
	u32 i, h;

	memset(model->guide, 0, sizeof(*model) - offsetof(struct model, guide));
	for (i = 0; i < ROUTES; i++) {
		mine = &model->routes[i];
		model->tx[mine->route->path.tx] |= mine->tx;
		model->rx[mine->route->path.rx] |= mine->rx;
		for (h = 0; h < mine->route->path.hops_count; h++) {
			const struct optics_hop *hop = &mine->route->hops[h];

			model->guide[hop->guide >> 1] |= mine->lanes[h];
			if (mine->pin[h]) {
				model->pins[hop->element]++;
				model->state[hop->element] = hop->state;
			}
			if (mine->mark[h])
				model->marked[hop->element] = true;
		}
	}
}

/* Whether the route can claim its whole path now. */
static bool model_free(const struct model *model, const struct model_route *mine)
{
	const struct optics_path *path = &mine->route->path;
	u32 h;

	if ((model->tx[path->tx] | model->rx[path->rx]) & path->lanes)
		return false;
	for (h = 0; h < path->hops_count; h++) {
		u32 element = path->hops[h].element;

		if (model->guide[path->hops[h].guide >> 1] & path->lanes)
			return false;
		if (element == OPTICS_NONE)
			continue;
		if (model->marked[element])
			return false;
		if (model->pins[element] && model->state[element] != path->hops[h].state)
			return false;
	}
	return true;
}

/*
 * A route claims its whole path, or the parts that no other route claims. A held route claims the
 * rest as held.
 */
static u64 model_give(struct model *model, struct model_route *mine, bool all, bool mark)
{
	const struct optics_path *path = &mine->route->path;
	u64 lanes;
	u32 h;

	mine->tx = all ? path->lanes : path->lanes & ~model->tx[path->tx];
	mine->rx = all ? path->lanes : path->lanes & ~model->rx[path->rx];
	lanes = mine->tx | mine->rx;
	for (h = 0; h < path->hops_count; h++) {
		u32 element = path->hops[h].element;

		mine->lanes[h] = all ? path->lanes :
				 path->lanes & ~model->guide[path->hops[h].guide >> 1];
		lanes |= mine->lanes[h];
		if (element == OPTICS_NONE)
			continue;
		mine->pin[h] = all || !model->pins[element] ||
			       model->state[element] == path->hops[h].state;
		mine->mark[h] = mark && !mine->pin[h];
	}
	return lanes;
}

static void model_take(struct model_route *mine)
{
	struct morph_route *route = mine->route;

	memset(mine, 0, sizeof(*mine));
	mine->route = route;
}

/* The ledger equals the sum of the routes' claims. */
static bool model_agrees(struct model *model, u32 step)
{
	const struct optics_state *ledger = ledger_of(model->fake->fabric)->state;
	const struct optics_graph *graph = model->fake->fabric->graph;
	u32 wrong = 0, i;

	model_add_up(model);
	for (i = 0; i < graph->guides_count; i++)
		wrong += ledger->guide_lanes[i] != model->guide[i];
	for (i = 0; i < graph->ports_count; i++)
		wrong += ledger->tx_lanes[i] != model->tx[i] || ledger->rx_lanes[i] != model->rx[i];
	for (i = 0; i < graph->elements_count; i++) {
		wrong += ledger->element_pins[i] != model->pins[i];
		wrong += ledger->element_state[i] != (model->pins[i] ? model->state[i] : 0);
		wrong += !(ledger->element_marks[i] & OPTICS_HELD) == model->marked[i];
	}
	KUNIT_EXPECT_EQ_MSG(model->fake->test, 0u, wrong, "after step %u", step);
	return !wrong;
}

static u32 pick(struct model *model, u32 below)
{
	return prandom_u32_state(&model->random) % below;
}

/* A path between two accelerators that ignores all claims. */
static struct morph_route *random_route(struct model *model)
{
	struct morph_fabric *fabric = model->fake->fabric;
	struct optics_route_request request = { .ignore_claims = true };
	struct optics_refusal why = {};
	struct morph_route *route = morph_route_alloc(OPTICS_MAX_HOPS, GFP_KERNEL);

	if (!route)
		return NULL;
	request.tx_accelerator = pick(model, 3);
	request.rx_accelerator = request.tx_accelerator + 1 + pick(model, 2);
	request.tx_planes = BIT(pick(model, FAKE_PLANES));
	request.rx_planes = request.tx_planes;
	request.lanes_count = 1 + pick(model, 2);
	request.lanes_allowed = request.lanes_count << pick(model, FAKE_LANES - 1);
	request.lanes_count = hweight64(request.lanes_allowed);
	if (!optics_route(ledger_of(fabric)->state, &request, ledger_of(fabric)->route_work,
			  &route->path, NULL, &why))
		return route;
	morph_route_free(route);
	return NULL;
}

/* Held routes release their claims while claims change, and then claim the free parts again. */
static void suspend_held(struct model *model)
{
	u32 i;

	for (i = 0; i < ROUTES; i++) {
		struct model_route *mine = &model->routes[i];

		if (mine->route->role != MORPH_ROUTE_HELD)
			continue;
		morph_route_unhold(model->fake->fabric, mine->route);
		model_take(mine);
		model_add_up(model);
	}
}

static void resume_held(struct model *model)
{
	u64 lanes;
	u32 i, held;

	for (i = 0; i < ROUTES; i++) {
		struct model_route *mine = &model->routes[i];

		if (mine->route->role != MORPH_ROUTE_PROTECTION)
			continue;
		lanes = model_give(model, mine, false, true);
		held = morph_route_hold(model->fake->fabric, mine->route);
		KUNIT_EXPECT_EQ(model->fake->test, hweight64(lanes), (unsigned long)held);
		model_add_up(model);
	}
}

/*
 * Claim a route without claims if possible. Ledger and model must agree on whether it is possible.
 */
static bool step_claim(struct model *model, struct model_route *mine)
{
	struct optics_refusal why = {};
	bool free = model_free(model, mine);
	int ret = morph_route_claim(model->fake->fabric, mine->route, &why);

	KUNIT_EXPECT_EQ(model->fake->test, free, !ret);
	if (ret)
		KUNIT_EXPECT_NE(model->fake->test, (u32)OPTICS_OK, why.reason);
	else
		model_give(model, mine, true, false);
	model_add_up(model);
	return !ret;
}

static void step_release(struct model *model, struct model_route *mine)
{
	morph_route_release(model->fake->fabric, mine->route);
	model_take(mine);
	model_add_up(model);
}

/*
 * Replace a route by another one, as a transaction does. The old route releases its claims, the new
 * route claims its path, the old route keeps the free parts. Then one of the two ends.
 */
static void step_change(struct model *model, struct model_route *old, struct model_route *new)
{
	struct morph_fabric *fabric = model->fake->fabric;
	bool back = pick(model, 2), claimed;

	step_release(model, old);
	claimed = step_claim(model, new);
	if (claimed) {
		model_give(model, old, false, false);
		morph_route_shadow(fabric, old->route);
		model_agrees(model, 0);
		if (!back) {
			step_release(model, old);
			return;
		}
		step_release(model, new);
		step_release(model, old);
	}
	model_give(model, old, true, false);
	morph_route_reclaim(fabric, old->route);
	model_add_up(model);
}

static void claim_step(struct model *model)
{
	struct model_route *mine = &model->routes[pick(model, ROUTES)];
	struct model_route *other = &model->routes[pick(model, ROUTES)];

	suspend_held(model);
	switch (mine->route->role) {
	case MORPH_ROUTE_IDLE:
		if (!pick(model, 6))
			mine->route->role = MORPH_ROUTE_PROTECTION;
		else
			step_claim(model, mine);
		break;
	case MORPH_ROUTE_LIVE:
		if (other->route->role == MORPH_ROUTE_IDLE && pick(model, 2))
			step_change(model, mine, other);
		else
			step_release(model, mine);
		break;
	case MORPH_ROUTE_PROTECTION:
		if (!pick(model, 3))
			mine->route->role = MORPH_ROUTE_IDLE;
		break;
	}
	resume_held(model);
}

static void claim_end(struct model *model)
{
	u32 i;

	suspend_held(model);
	for (i = 0; i < ROUTES && model->routes[i].route; i++) {
		morph_route_release(model->fake->fabric, model->routes[i].route);
		model->routes[i].route->role = MORPH_ROUTE_IDLE;
	}
	fake_expect_dark(model->fake);
	for (i = 0; i < ROUTES; i++)
		morph_route_free(model->routes[i].route);
}

struct seed_case {
	u32 seed;
};

static const struct seed_case seed_cases[] = { { 1 }, { 2 }, { 3 }, { 4 } };

static void seed_desc(const struct seed_case *entry, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %u", entry->seed);
}

KUNIT_ARRAY_PARAM(seeds, seed_cases, seed_desc);

static void claim_is_the_sum_of_its_routes(struct kunit *test)
{
	const struct seed_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	u32 step, i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, model);
	KUNIT_ASSERT_LE(test, fake->fabric->graph->guides_count, MOST_GUIDES);
	model->fake = fake;
	prandom_seed_state(&model->random, param->seed);
	mutex_lock(&fake->fabric->lock);
	for (i = 0; i < ROUTES; i++) {
		model->routes[i].route = random_route(model);
		if (!model->routes[i].route)
			break;
	}
	KUNIT_EXPECT_EQ(test, ROUTES, i);
	for (step = 1; i == ROUTES && step <= STEPS; step++) {
		claim_step(model);
		if (!model_agrees(model, step))
			break;
	}
	if (i == ROUTES)
		claim_end(model);
	mutex_unlock(&fake->fabric->lock);
}

static struct kunit_case claim_cases[] = {
	KUNIT_CASE_PARAM(claim_is_the_sum_of_its_routes, seeds_gen_params),
	{}
};

struct kunit_suite morph_claim_suite = {
	.name = "morph_claim",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = claim_cases,
};
