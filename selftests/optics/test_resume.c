// SPDX-License-Identifier: GPL-2.0-only
/* Searches that pause: their results are those of a search in one go, whatever the pauses. */
#include "maker.h"
#include "tap.h"

#define ROUNDS 60u
#define FEW_EFFORTS 600u /* try every pause of a search that is not longer */

struct run {
	struct fabric fabric;
	void *work; /* of the searches that pause */
	u64 seed;
	u32 avoid[4]; /* of the present request */
	u32 reasons[64]; /* number of searches by reason; 0: found */
	u32 resumed;
};

static u32 pick(struct run *run, u32 count)
{
	return next_random(&run->seed) % count;
}

/* ------------------------------------------------------------------ ledgers */

/* Change one part of the ledger, as claims, failures and schedules do. */
static void change_ledger(struct run *run)
{
	const struct optics_graph *graph = run->fabric.graph;
	struct optics_state *state = run->fabric.state;
	u32 guide = pick(run, graph->guides_count);
	u32 port = pick(run, graph->ports_count);
	u32 element = pick(run, graph->elements_count);
	const struct optics_kind *kind = &graph->kinds[graph->elements[element].kind];
	u64 lanes = next_random(&run->seed) & graph->all_lanes;

	switch (pick(run, 12)) {
	case 0:
		state->guide_marks[guide] ^= OPTICS_UNHEALTHY;
		break;
	case 1:
		state->element_marks[element] ^= OPTICS_UNHEALTHY;
		break;
	case 2:
		state->element_marks[element] ^= OPTICS_HELD;
		break;
	case 3:
	case 4:
		optics_set_state(state, element, pick(run, kind->states));
		state->element_pins[element] ^= 1;
		break;
	case 5:
		state->tx_dead[port] ^= lanes & -lanes;
		break;
	case 6:
		state->rx_lanes[port] ^= lanes;
		break;
	case 7:
		state->owner[pick(run, graph->accelerators_count)] = 1 + pick(run, 2);
		break;
	case 8:
		state->guide_reserved[guide] ^= lanes;
		break;
	default:
		state->guide_lanes[guide] ^= lanes;
	}
}

static void empty_ledger(struct run *run)
{
	optics_state_init(run->fabric.state, run->fabric.graph);
	fabric_own_all(&run->fabric, 1);
}

/* From an empty ledger to one with @changes random changes. */
static void random_ledger(struct run *run, u32 changes)
{
	empty_ledger(run);
	while (changes--)
		change_ledger(run);
}

/* Take random lanes of all guides: few paths are left, and searches are long. */
static void take_lanes(struct run *run)
{
	const struct optics_graph *graph = run->fabric.graph;
	u32 i;

	for (i = 0; i < graph->guides_count; i++)
		run->fabric.state->guide_lanes[i] = next_random(&run->seed) & graph->all_lanes;
}

static struct optics_route_request random_request(struct run *run, u32 steps)
{
	u32 all = run->fabric.graph->accelerators_count;
	u32 from = pick(run, all), to = (from + 1 + pick(run, all - 1)) % all;
	struct optics_route_request request =
		fabric_request(&run->fabric, from, to, 1 + !pick(run, 3));

	if (run->fabric.graph->edges_count && !pick(run, 3)) {
		u32 edge = OPTICS_EDGE | pick(run, run->fabric.graph->edges_count);

		if (pick(run, 2))
			request.tx_accelerator = edge;
		else
			request.rx_accelerator = edge;
	}
	request.steps = steps;
	request.transit_own = !pick(run, 4);
	request.ignore_claims = !pick(run, 8);
	if (!pick(run, 4)) {
		run->avoid[0] = pick(run, run->fabric.graph->guides_count);
		request.avoid_guides = run->avoid;
		request.avoid_guides_count = 1;
	}
	return request;
}

/* ----------------------------------------------------------------- searches */

static void check_equal(const struct route *whole, const struct route *parts)
{
	u32 i;

	CHECK_EQUAL(whole->error, parts->error);
	CHECK_EQUAL(whole->steps, parts->steps);
	if (whole->error) {
		CHECK_EQUAL(whole->refusal.reason, parts->refusal.reason);
		CHECK_EQUAL(whole->refusal.part, parts->refusal.part);
		CHECK_EQUAL(whole->refusal.index, parts->refusal.index);
		CHECK_EQUAL(whole->refusal.planes, parts->refusal.planes);
		CHECK_EQUAL(whole->refusal.item, parts->refusal.item);
		CHECK_EQUAL(whole->refusal.have, parts->refusal.have);
		CHECK_EQUAL(whole->refusal.need, parts->refusal.need);
		return;
	}
	CHECK_EQUAL(whole->path.tx, parts->path.tx);
	CHECK_EQUAL(whole->path.rx, parts->path.rx);
	CHECK_EQUAL(whole->path.lanes, parts->path.lanes);
	CHECK_EQUAL(whole->path.loss_mdb, parts->path.loss_mdb);
	CHECK_EQUAL(whole->path.hops_count, parts->path.hops_count);
	for (i = 0; i < whole->path.hops_count && !tap_failed; i++) {
		CHECK_EQUAL(whole->hops[i].guide, parts->hops[i].guide);
		CHECK_EQUAL(whole->hops[i].element, parts->hops[i].element);
		CHECK_EQUAL(whole->hops[i].state, parts->hops[i].state);
	}
}

static int start(struct run *run, const struct optics_route_request *request, struct route *parts)
{
	memset(parts, 0, sizeof(*parts));
	parts->path.hops = parts->hops;
	return optics_route_start(run->fabric.state, request, run->work, &parts->refusal);
}

static int resume(struct run *run, u32 effort, struct route *parts)
{
	return optics_route_continue(run->work, effort, &parts->path, &parts->steps,
				     &parts->refusal);
}

/* Search with pauses at @effort, or at random ones for 0. Return the number of calls. */
static u32 search_in_parts(struct run *run, const struct optics_route_request *request, u32 effort,
			   struct route *parts)
{
	u32 calls = 0;

	parts->error = start(run, request, parts);
	if (parts->error)
		return 0;
	do {
		parts->error = resume(run, effort ? effort : 1 + pick(run, 300), parts);
		calls++;
	} while (parts->error == OPTICS_MORE);
	return calls;
}

static void try_effort(struct run *run, const struct optics_route_request *request,
		       const struct route *whole, u32 effort)
{
	struct optics_state *state = run->fabric.state;
	u64 elements = state->elements_visited, lanes = state->lanes_visited;
	struct route parts, again;

	search_in_parts(run, request, effort, &parts);
	check_equal(whole, &parts);
	elements = state->elements_visited - elements;
	lanes = state->lanes_visited - lanes;
	state->elements_visited = 0;
	state->lanes_visited = 0;
	fabric_route(&run->fabric, request, &again);
	CHECK_EQUAL(state->elements_visited, elements);
	CHECK_EQUAL(state->lanes_visited, lanes);
	if (tap_failed)
		printf("# at effort %u\n", effort);
}

/* Compare pauses with a search in one go: every pause of short searches, some of long ones. */
static void try_efforts(struct run *run, const struct optics_route_request *request)
{
	struct route whole, parts;
	u32 efforts, effort;

	fabric_route(&run->fabric, request, &whole);
	run->reasons[whole.error ? whole.refusal.reason : 0]++;
	efforts = search_in_parts(run, request, 1, &parts);
	check_equal(&whole, &parts);
	run->resumed += efforts > 1;
	if (efforts <= FEW_EFFORTS) {
		for (effort = 2; effort <= 2 * efforts + 2 && !tap_failed; effort++)
			try_effort(run, request, &whole, effort);
		return;
	}
	for (effort = 2; effort / 3 <= efforts && !tap_failed; effort = effort * 3 - 1)
		try_effort(run, request, &whole, effort);
	try_effort(run, request, &whole, 0);
}

static void run_open(struct run *run, u64 seed)
{
	run->seed = seed;
	run->work = malloc((size_t)optics_route_bytes(run->fabric.steps));
	memset(run->work, 0x5a, (size_t)optics_route_bytes(run->fabric.steps));
	empty_ledger(run);
}

static void run_close(struct run *run)
{
	free(run->work);
	fabric_close(&run->fabric);
	free(run);
}

static struct run *open_interposer(u64 seed)
{
	struct run *run = calloc(1, sizeof(*run));

	make_interposer(&run->fabric.maker, 2, 2, 2, 3);
	fabric_open(&run->fabric, 2048);
	run_open(run, seed);
	return run;
}

static struct run *open_mesh(u64 seed)
{
	struct run *run = calloc(1, sizeof(*run));

	make_mesh(&run->fabric.maker, 3, 3, 3);
	fabric_open(&run->fabric, 2048);
	run_open(run, seed);
	return run;
}

static struct run *open_profile(const char *name, u64 seed)
{
	struct run *run = calloc(1, sizeof(*run));
	const char *folder = getenv("PROFILES");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.bin", folder ? folder : "build/profiles", name);
	if (!fabric_open_file(&run->fabric, path, OPTICS_ROUTE_STEPS)) {
		printf("# no file %s: make -C profiles makes it\n", path);
		tap_failed = true;
		free(run);
		return NULL;
	}
	run_open(run, seed);
	return run;
}

/* ------------------------------------------------------------------- tests */

/* Random requests in random ledgers, from empty to full, with small and large budgets. */
static void try_rounds(struct run *run, u32 rounds)
{
	static const u32 budgets[] = { 1, 12, 100, 2048 };
	u32 parts = run->fabric.graph->guides_count, i;

	for (i = 0; i < rounds && !tap_failed; i++) {
		struct optics_route_request request;

		random_ledger(run, parts * (i % 5) / 4);
		request = random_request(run, budgets[i % ARRAY_SIZE(budgets)]);
		try_efforts(run, &request);
	}
	printf("# %u found, %u blocked, %u no route, %u unusable, %u gave up; %u paused\n",
	       run->reasons[0], run->reasons[OPTICS_BLOCKED], run->reasons[OPTICS_NO_ROUTE],
	       run->reasons[OPTICS_UNUSABLE], run->reasons[OPTICS_GAVE_UP], run->resumed);
	CHECK(run->reasons[0] && run->reasons[OPTICS_BLOCKED] && run->reasons[OPTICS_UNUSABLE] &&
	      run->reasons[OPTICS_GAVE_UP] && run->resumed);
}

static void interposer_pauses_change_no_result(void)
{
	struct run *run = open_interposer(7919);

	try_rounds(run, 3 * ROUNDS);
	run_close(run);
}

static void mesh_pauses_change_no_result(void)
{
	struct run *run = open_mesh(104729);

	try_rounds(run, 3 * ROUNDS);
	run_close(run);
}

/* Some random requests in each supplied profile, with the budget of the driver. */
static void supplied_profiles_pauses_change_no_result(void)
{
	static const char *const names[] = { "server8", "smartlight72", "edge4", "rack64" };
	u32 i, round;

	for (i = 0; i < ARRAY_SIZE(names) && !tap_failed; i++) {
		struct run *run = open_profile(names[i], 31 + i);
		u32 parts = run ? run->fabric.graph->guides_count : 0, most = 0;

		for (round = 0; run && round < 12 && !tap_failed; round++) {
			struct optics_route_request request;
			struct route whole, cut;

			random_ledger(run, parts * (round % 6) / 8);
			if (round >= 6)
				take_lanes(run);
			request = random_request(run, 0);
			fabric_route(&run->fabric, &request, &whole);
			most = whole.steps > most ? whole.steps : most;
			search_in_parts(run, &request, 1000, &cut);
			check_equal(&whole, &cut);
			search_in_parts(run, &request, 0, &cut);
			check_equal(&whole, &cut);
		}
		printf("# %s: most steps %u\n", names[i], most);
		if (run)
			run_close(run);
	}
}

/* Each call expands at most as many elements as its effort, and adds few steps more. */
static void no_call_exceeds_its_effort(void)
{
	struct run *run = open_mesh(15485863);
	struct optics_state *state = run->fabric.state;
	u32 planes = run->fabric.graph->params.planes, round;

	for (round = 0; round < 2 * ROUNDS && !tap_failed; round++) {
		u32 effort = 1 + pick(run, 40), before = 0;
		struct optics_route_request request;
		struct route parts;
		int result;

		random_ledger(run, round % 5 * run->fabric.graph->guides_count / 4);
		request = random_request(run, 2048);
		if (start(run, &request, &parts))
			continue;
		do {
			u64 elements = state->elements_visited;

			result = resume(run, effort, &parts);
			CHECK(state->elements_visited - elements <= effort);
			CHECK(parts.steps >= before);
			CHECK(parts.steps - before <= effort + 2 * planes + 8);
			before = parts.steps;
		} while (result == OPTICS_MORE && !tap_failed);
	}
	run_close(run);
}

static bool ledger_equals(const struct optics_state *state, struct optics_state *before, u64 bytes)
{
	before->elements_visited = state->elements_visited;
	before->lanes_visited = state->lanes_visited;
	return !memcmp(state, before, (size_t)bytes);
}

/* Drop a search in the middle: the ledger is as before, and the next search is not affected. */
static void dropped_search_leaves_no_state(void)
{
	struct run *run = open_interposer(1299709);
	u64 bytes = optics_state_bytes(run->fabric.graph);
	struct optics_state *before = malloc((size_t)bytes);
	u32 round, calls, dropped = 0;

	for (round = 0; round < 4 * ROUNDS && !tap_failed; round++) {
		struct optics_route_request request;
		struct route whole, parts;

		random_ledger(run, round % 5 * run->fabric.graph->guides_count / 4);
		memcpy(before, run->fabric.state, (size_t)bytes);
		request = random_request(run, 2048);
		parts.error = start(run, &request, &parts) ? 0 : OPTICS_MORE;
		for (calls = pick(run, 8); calls && parts.error == OPTICS_MORE; calls--)
			parts.error = resume(run, 1 + pick(run, 10), &parts);
		dropped += parts.error == OPTICS_MORE;
		CHECK(ledger_equals(run->fabric.state, before, bytes));
		request = random_request(run, 2048);
		fabric_route(&run->fabric, &request, &whole);
		search_in_parts(run, &request, 50, &parts);
		check_equal(&whole, &parts);
		CHECK(ledger_equals(run->fabric.state, before, bytes));
	}
	CHECK(dropped > ROUNDS);
	free(before);
	run_close(run);
}

/* The ledger changes at each pause: the search ends, and a new one has the right result. */
static void search_ends_in_a_changing_ledger(void)
{
	struct run *run = open_mesh(179424673);
	u32 round, i, changes = 0;

	for (round = 0; round < 4 * ROUNDS && !tap_failed; round++) {
		struct optics_route_request request;
		struct route whole, parts;

		random_ledger(run, round % 4 * run->fabric.graph->guides_count / 4);
		request = random_request(run, 2048);
		parts.error = start(run, &request, &parts);
		if (parts.error)
			continue;
		while ((parts.error = resume(run, 20, &parts)) == OPTICS_MORE) {
			change_ledger(run);
			changes++;
		}
		CHECK(parts.steps <= 3 * 9 * 2048 / 4 + 1024);
		CHECK(parts.error <= 0);
		if (!parts.error)
			CHECK(parts.path.hops_count && parts.path.hops_count <= OPTICS_MAX_HOPS);
		for (i = 0; !parts.error && i < parts.path.hops_count; i++)
			CHECK(parts.hops[i].guide / 2 < run->fabric.graph->guides_count);
		fabric_route(&run->fabric, &request, &whole);
		search_in_parts(run, &request, 20, &parts);
		check_equal(&whole, &parts);
	}
	CHECK(changes > ROUNDS);
	run_close(run);
}

/* Two searches in work spaces of their own take turns. */
static void searches_that_take_turns_do_not_meet(void)
{
	struct run *run = open_mesh(49979687);
	void *works[2] = { run->work, malloc((size_t)optics_route_bytes(2048)) };
	u32 round, i;

	for (round = 0; round < 2 * ROUNDS && !tap_failed; round++) {
		struct optics_route_request request;
		struct route whole[2], parts[2];

		random_ledger(run, round % 4 * run->fabric.graph->guides_count / 4);
		for (i = 0; i < 2; i++) {
			request = random_request(run, 2048);
			request.avoid_guides_count = 0;
			fabric_route(&run->fabric, &request, &whole[i]);
			run->work = works[i];
			parts[i].error = start(run, &request, &parts[i]) ?: OPTICS_MORE;
		}
		while (parts[0].error == OPTICS_MORE || parts[1].error == OPTICS_MORE) {
			for (i = 0; i < 2; i++) {
				run->work = works[i];
				if (parts[i].error == OPTICS_MORE)
					parts[i].error = resume(run, 10, &parts[i]);
			}
		}
		for (i = 0; i < 2; i++)
			check_equal(&whole[i], &parts[i]);
	}
	free(works[1]);
	run->work = works[0];
	run_close(run);
}

static void bad_request_is_refused_at_the_start(void)
{
	struct run *run = open_interposer(1);
	struct optics_route_request request = fabric_request(&run->fabric, 1, 1, 1);
	struct route whole, parts;

	fabric_route(&run->fabric, &request, &whole);
	parts.error = start(run, &request, &parts);
	CHECK(parts.error < 0);
	check_equal(&whole, &parts);
	request = fabric_request(&run->fabric, 0, 1, 64);
	fabric_route(&run->fabric, &request, &whole);
	parts.error = start(run, &request, &parts);
	CHECK(parts.error < 0);
	check_equal(&whole, &parts);
	run_close(run);
}

int main(void)
{
	static const struct tap_test tests[] = {
		TEST(interposer_pauses_change_no_result),
		TEST(mesh_pauses_change_no_result),
		TEST(supplied_profiles_pauses_change_no_result),
		TEST(no_call_exceeds_its_effort),
		TEST(dropped_search_leaves_no_state),
		TEST(search_ends_in_a_changing_ledger),
		TEST(searches_that_take_turns_do_not_meet),
		TEST(bad_request_is_refused_at_the_start),
	};

	return tap_main(tests, ARRAY_SIZE(tests));
}
