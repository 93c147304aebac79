// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random circuits on small fabrics. The validator and the oracle judge each route. An exhaustive
 * search checks each "no".
 */
#include "maker.h"
#include "oracle.h"
#include "tap.h"

#define LIVE_MAX 24
#define TRIES 200000ul

struct run {
	struct fabric fabric;
	struct oracle *oracle;
	struct route live[LIVE_MAX];
	u32 live_count;
	u64 seed;
	bool mesh;
	u64 *background; /* lanes by guide that are never free */
	u32 found, refused, proven, gave_up, optimal, unsettled;
};

/* The oracle's model of all circuits. */
static void oracle_refresh(struct run *run)
{
	u32 i;

	oracle_reset(run->oracle);
	for (i = 0; i < run->fabric.graph->guides_count; i++)
		oracle_occupy(run->oracle, i, run->background[i]);
	for (i = 0; i < run->live_count; i++) {
		const char *wrong = oracle_add(run->oracle, &run->live[i].path);

		CHECK(!wrong);
	}
}

static struct optics_route_request random_request(struct run *run)
{
	u32 all = run->fabric.graph->accelerators_count;
	u32 from = next_random(&run->seed) % all;
	u32 to = (from + 1 + next_random(&run->seed) % (all - 1)) % all;
	struct optics_route_request request = fabric_request(&run->fabric, from, to, 1);

	if (next_random(&run->seed) % 4 == 0)
		request.lanes_count = 2;
	if (next_random(&run->seed) % 3 == 0)
		request.lanes_allowed = 1ull << next_random(&run->seed) % 3;
	if (optics_weight64(request.lanes_allowed & run->fabric.graph->all_lanes) <
	    request.lanes_count)
		request.lanes_allowed = ~0ull;
	return request;
}

/* A route was found: is it the best one for a single wavelength? */
static void check_found(struct run *run, const struct optics_route_request *request,
			const struct route *route)
{
	u64 lanes = request->lanes_allowed & run->fabric.graph->all_lanes;
	long best;

	run->found++;
	if (request->lanes_count > 1 || lanes & (lanes - 1))
		return;
	best = oracle_search(run->oracle, request->tx_accelerator, request->rx_accelerator, lanes,
			     1, TRIES);
	if (best == -2)
		return;
	/* A mesh path may have to avoid its own elements; the router can then miss the best one. */
	CHECK(best >= 0 && best <= (long)route->path.loss_mdb);
	if (!run->mesh)
		CHECK_EQUAL(best, route->path.loss_mdb);
	run->optimal += best == (long)route->path.loss_mdb;
}

/* No route was found: if the router calls that proven, it must be true. */
static void check_refused(struct run *run, const struct optics_route_request *request,
			  const struct route *route)
{
	u64 lanes = request->lanes_allowed & run->fabric.graph->all_lanes;
	long best;

	run->refused++;
	if (route->refusal.reason == OPTICS_GAVE_UP) {
		/*
		 * For one wavelength on route-and-select nodes the router always finds an answer.
		 */
		CHECK(run->mesh || request->lanes_count > 1);
		run->gave_up++;
		return;
	}
	CHECK(route->refusal.reason == OPTICS_BLOCKED || route->refusal.reason == OPTICS_NO_ROUTE);
	best = oracle_search(run->oracle, request->tx_accelerator, request->rx_accelerator, lanes,
			     request->lanes_count, TRIES);
	CHECK(best < 0);
	run->proven += best == -1;
	run->unsettled += best == -2;
	oracle_reset(run->oracle);
	best = oracle_search(run->oracle, request->tx_accelerator, request->rx_accelerator,
			     lanes & -lanes, 1, TRIES);
	if (best != -2)
		CHECK_EQUAL(best >= 0, route->refusal.reason == OPTICS_BLOCKED);
}

static void set_up(struct run *run)
{
	struct optics_route_request request = random_request(run);
	struct route *route = &run->live[run->live_count];
	struct optics_view view = fabric_view(&run->fabric);
	struct optics_verdict verdict;

	oracle_refresh(run);
	fabric_route(&run->fabric, &request, route);
	CHECK(route->steps > 0);
	if (route->error) {
		check_refused(run, &request, route);
		return;
	}
	check_found(run, &request, route);
	CHECK_EQUAL(optics_weight64(route->path.lanes), request.lanes_count);
	CHECK(!(route->path.lanes & ~request.lanes_allowed));
	CHECK_EQUAL(optics_claim(run->fabric.state, &route->path, &route->refusal), 0);
	CHECK_EQUAL(optics_validate(&view, &route->path, 1, 1, false, &verdict, &route->refusal),
		    0);
	run->live_count++;
	oracle_refresh(run);
}

static void take_down(struct run *run)
{
	u32 which = next_random(&run->seed) % run->live_count;

	optics_release(run->fabric.state, &run->live[which].path);
	run->live[which] = run->live[--run->live_count];
	run->live[which].path.hops = run->live[which].hops;
}

/* The ledger is as at the start, except for last states and counters. */
static bool ledger_is_empty(struct run *run, const void *initial)
{
	struct optics_state *state = run->fabric.state;
	u32 i;

	for (i = 0; i < run->fabric.graph->elements_count; i++)
		optics_set_state(state, i, optics_park_state(run->fabric.graph, i));
	state->elements_visited = 0;
	state->lanes_visited = 0;
	return !memcmp(state, initial, (size_t)optics_state_bytes(run->fabric.graph));
}

/* At times, block other lanes of other guides. */
static void change_background(struct run *run)
{
	u32 i;

	for (i = 0; i < run->fabric.graph->guides_count; i++) {
		run->fabric.state->guide_lanes[i] &= ~run->background[i];
		run->background[i] = 0;
	}
	if (next_random(&run->seed) % 3 == 0)
		return;
	for (i = 0; i < run->fabric.graph->guides_count; i++) {
		u64 lanes = next_random(&run->seed);

		lanes &= next_random(&run->seed);
		lanes &= run->fabric.graph->all_lanes & ~run->fabric.state->guide_lanes[i];
		run->background[i] = lanes;
		run->fabric.state->guide_lanes[i] |= lanes;
	}
}

/* No two paths have the same cost, and the first one found is often not the best. */
static void vary_losses(struct run *run)
{
	struct morph_profile_guide *guides = run->fabric.maker.guides.data;
	u32 i;

	for (i = 0; i < run->fabric.maker.guides.count; i++)
		guides[i].loss_mdb = htole16((u16)(10 + next_random(&run->seed) % 600));
}

static void run_rounds(struct run *run, u32 rounds)
{
	u64 bytes;
	void *initial;
	u32 i;

	vary_losses(run);
	fabric_open(&run->fabric, 2048);
	fabric_own_all(&run->fabric, 1);
	run->oracle = oracle_open(run->fabric.blob);
	run->background = calloc(run->fabric.graph->guides_count, sizeof(u64));
	bytes = optics_state_bytes(run->fabric.graph);
	initial = memcpy(malloc((size_t)bytes), run->fabric.state, (size_t)bytes);
	for (i = 0; i < rounds && !tap_failed; i++) {
		if (i % 20 == 19)
			change_background(run);
		if (run->live_count &&
		    (run->live_count == LIVE_MAX || next_random(&run->seed) % 3 == 0))
			take_down(run);
		else
			set_up(run);
	}
	for (i = 0; i < run->fabric.graph->guides_count; i++)
		run->fabric.state->guide_lanes[i] &= ~run->background[i];
	while (run->live_count)
		take_down(run);
	CHECK(ledger_is_empty(run, initial));
	printf("# %u found, %u proven best; %u refused, %u proven, %u not settled, %u gave up\n",
	       run->found, run->optimal, run->refused, run->proven, run->unsettled, run->gave_up);
	CHECK(run->found > rounds / 10);
	CHECK(run->refused > 0 && run->proven > 0 && run->optimal > 0);
	free(initial);
	free(run->background);
	oracle_close(run->oracle);
	fabric_close(&run->fabric);
}

static void interposer_random_circuits(void)
{
	struct run *run;
	u64 seed;

	for (seed = 1; seed <= 3; seed++) {
		run = calloc(1, sizeof(*run));
		run->seed = seed * 7919;
		make_interposer(&run->fabric.maker, 2, 2, 2, 3);
		run_rounds(run, 600);
		CHECK(run->gave_up * 20 <= run->refused);
		free(run);
	}
}

static void mesh_random_circuits(void)
{
	struct run *run;
	u64 seed;

	for (seed = 1; seed <= 3; seed++) {
		run = calloc(1, sizeof(*run));
		run->seed = seed * 104729;
		run->mesh = true;
		make_mesh(&run->fabric.maker, 3, 2 + (u32)seed % 2, 3);
		run_rounds(run, 600);
		CHECK(run->gave_up * 4 <= run->refused);
		free(run);
	}
}

/* The same seed must give the same run, step by step. */
static void route_repeats_whatever_the_work_space_holds(void)
{
	u32 filling;
	u64 digest[2] = { 0, 0 };

	for (filling = 0; filling < 2; filling++) {
		struct fabric f;
		u32 from, to, i;

		make_mesh(&f.maker, 4, 3, 2);
		fabric_open(&f, 2048);
		memset(f.work, filling ? 0xff : 0, (size_t)optics_route_bytes(2048));
		for (from = 0; from < f.graph->accelerators_count; from++)
			for (to = 0; to < f.graph->accelerators_count; to++) {
				struct optics_route_request request;
				struct route r;

				request = fabric_request(&f, from, to, 1);
				fabric_route(&f, &request, &r);
				digest[filling] = digest[filling] * 31 + r.steps + (u32)r.error;
				for (i = 0; !r.error && i < r.path.hops_count; i++)
					digest[filling] = digest[filling] * 31 + r.hops[i].guide;
			}
		fabric_close(&f);
	}
	CHECK(digest[0] == digest[1]);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(interposer_random_circuits),
		TEST(mesh_random_circuits),
		TEST(route_repeats_whatever_the_work_space_holds),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
