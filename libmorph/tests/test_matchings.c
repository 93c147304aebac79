// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The search for matchings. The checker, which shares no code with it, accepts each answer and each
 * refusal.
 */
#include <stdio.h>

#include "../bench/matchings_checked.h"
#include "../internal/planner.h"
#include "../util/mix.h"
#include "alone.h"
#include "faults.h"

#define MOST 64 /* endpoints */

static const char *smartlight;

struct asked {
	struct morph_matchings_problem problem;
	uint32_t tx[MOST], rx[MOST], targets[MOST];
};

/* Endpoints evenly along the rim of a mesh. */
static void ask_mesh(struct asked *asked, uint32_t kind, uint32_t width, uint32_t height,
		     uint32_t endpoints)
{
	uint32_t ports = 4 * (width + height), i;

	memset(asked, 0, sizeof(*asked));
	asked->problem = (struct morph_matchings_problem){
		.sz = sizeof(asked->problem),
		.kind = kind,
		.width = width,
		.height = height,
		.endpoints = endpoints,
		.tx = asked->tx,
		.rx = kind == MORPH_MATCHINGS_PAIRS ? NULL : asked->rx,
		.seed = 1,
		.moves = 3000,
	};
	for (i = 0; i < endpoints; i++) {
		asked->tx[i] = kind == MORPH_MATCHINGS_PAIRS ? i * ports / endpoints :
							       2 * i * ports / (2 * endpoints);
		asked->rx[i] = (2 * i + 1) * ports / (2 * endpoints);
	}
}

static void find(struct morph_matchings *search, const struct asked *asked,
		 struct morph_matchings_answer *answer)
{
	if (morph_matchings_find(search, &asked->problem, answer))
		fail_msg("%s", morph_error_text(ctx));
}

/* The checker accepts the answer. */
static void accept_answer(const struct asked *asked, const struct morph_matchings_answer *answer,
			  struct morph_check_bytes profile)
{
	char report[256] = "";

	if (check_matchings(&asked->problem, answer, profile, report, sizeof(report)))
		fail_msg("%s", report);
}

/* The rounds equal their bound; routes have at most @percent more elements than the distances. */
static void find_in_mesh(uint32_t width, uint32_t endpoints, uint64_t distance, uint32_t percent)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct asked asked;

	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, width, width, endpoints);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		asked.problem.seed = seed;
		find(search, &asked, &answer);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		assert_int_equal(answer.rounds, endpoints - 1);
		assert_int_equal(answer.bound, endpoints - 1);
		assert_int_equal(answer.distance, distance);
		assert_true((answer.total - distance) * 100 <= distance * percent);
		accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
	}
	morph_matchings_free(search);
}

static void pairs_meet_in_the_fewest_rounds(void **state)
{
	(void)state;
	find_in_mesh(3, 8, 190, 0);
	find_in_mesh(5, 16, 1144, 3);
	find_in_mesh(9, 32, 7684, 4);
}

/* Also an odd number of endpoints, and halves of odd size. */
static void each_kind_has_each_pair_once(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct asked asked;

	(void)state;
	for (uint32_t kind = 0; kind <= MORPH_MATCHINGS_PAIRS; kind++) {
		for (uint32_t endpoints = 2; endpoints <= 10; endpoints++) {
			ask_mesh(&asked, kind, 5, 5, endpoints);
			find(search, &asked, &answer);
			assert_int_equal(answer.verdict, MORPH_FEASIBLE);
			accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
		}
	}
	morph_matchings_free(search);
}

static void ports_are_chosen(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct asked asked;

	(void)state;
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 7, 3, 16);
	asked.problem.tx = NULL;
	asked.problem.moves = 20000;
	find(search, &asked, &answer);
	assert_int_equal(answer.verdict, MORPH_FEASIBLE);
	assert_int_equal(answer.rounds, 15);
	assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_DEGREE);
	accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
	morph_matchings_free(search);
}

/* Published results: small meshes with and without n-1 rounds at any ports. */
static void small_meshes_are_decided(void **state)
{
	static const struct {
		uint32_t width, height, endpoints,
			bound; /* more than pairs: no rounds are enough */
	} rows[] = {
		{ 1, 1, 4, 3 }, { 1, 1, 6, 16 }, { 1, 2, 6, 5 },
		{ 1, 2, 8, 8 }, { 3, 1, 8, 29 }, { 1, 3, 8, 7 },
	};
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct asked asked;

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, rows[row].width, rows[row].height,
			 rows[row].endpoints);
		asked.problem.tx = NULL;
		asked.problem.rounds = rows[row].endpoints - 1;
		find(search, &asked, &answer);
		assert_int_equal(answer.verdict, rows[row].bound < rows[row].endpoints ?
							 MORPH_FEASIBLE :
							 MORPH_INFEASIBLE);
		assert_int_equal(answer.bound, rows[row].bound);
		if (answer.verdict == MORPH_INFEASIBLE)
			assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_EXHAUSTIVE);
		accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
	}
	morph_matchings_free(search);
}

/* Short searches find 18 rounds, before the exact search takes the budget for 19. */
static void rounds_of_the_bound_take_few_moves(void **state)
{
	static const uint32_t ports[] = { 16, 7, 13, 9, 11, 3, 12, 2, 10, 0, 15 };
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct asked asked;

	(void)state;
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 1, 4, 11);
	asked.problem.tx = ports;
	asked.problem.moves = 20000;
	find(search, &asked, &answer);
	assert_int_equal(answer.rounds, 18);
	assert_int_equal(answer.bound, 18);
	accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
	morph_matchings_free(search);
}

static void draw_ports(struct asked *asked, uint32_t count, uint64_t *random)
{
	uint32_t ports[MORPH_MATCHINGS_MOST_ENDPOINTS] = { 0 }, i, other;

	for (i = 0; i < count; i++) {
		other = mix_below(random, i + 1);
		ports[i] = ports[other];
		ports[other] = i;
	}
	memcpy(asked->tx, ports, asked->problem.endpoints * sizeof(*ports));
	memcpy(asked->rx, ports + count - asked->problem.endpoints,
	       asked->problem.endpoints * sizeof(*ports));
}

/* The answer is the fewest rounds, or a refusal. Whether its bound is by exhaustive search. */
static bool is_exact(const struct asked *asked, const struct morph_matchings_answer *answer)
{
	assert_int_not_equal(answer->verdict, MORPH_UNDECIDED);
	if (answer->verdict == MORPH_FEASIBLE)
		assert_int_equal(answer->rounds, answer->bound);
	accept_answer(asked, answer, (struct morph_check_bytes){ 0 });
	return answer->bound_kind == MORPH_MATCHINGS_EXHAUSTIVE;
}

/* With given ports of a small mesh, the rounds are the fewest, and the bound proves it. */
static void small_meshes_have_the_fewest_rounds(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	uint32_t exhaustive = 0, feasible = 0, draw;
	struct morph_matchings_answer answer;
	uint64_t random = 1;
	struct asked asked;

	(void)state;
	for (draw = 0; draw < 60; draw++) {
		ask_mesh(&asked, draw % 3, 1, 2, draw % 3 == MORPH_MATCHINGS_PAIRS ? 6 : 4);
		draw_ports(&asked, 12, &random);
		asked.problem.moves = 100000;
		find(search, &asked, &answer);
		exhaustive += is_exact(&asked, &answer) && answer.verdict == MORPH_FEASIBLE;
		feasible += answer.verdict == MORPH_FEASIBLE;
	}
	assert_true(feasible > 20 && exhaustive > 5);
	morph_matchings_free(search);
}

/*
 * Likewise in a mesh of 20 elements, where covers of all pairs are too many to try without
 * weights.
 */
static void twenty_elements_have_the_fewest_rounds(void **state)
{
	static const struct {
		uint32_t kind, endpoints;
	} rows[] = {
		{ MORPH_MATCHINGS_PAIRS, 8 },	 { MORPH_MATCHINGS_PAIRS, 8 },
		{ MORPH_MATCHINGS_PAIRS, 9 },	 { MORPH_MATCHINGS_PAIRS, 10 },
		{ MORPH_MATCHINGS_PAIRS, 10 },	 { MORPH_MATCHINGS_PAIRS, 11 },
		{ MORPH_MATCHINGS_DIRECTED, 5 }, { MORPH_MATCHINGS_DIRECTED, 6 },
		{ MORPH_MATCHINGS_DIRECTED, 7 }, { MORPH_MATCHINGS_DUPLEX, 4 },
	};
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	uint32_t exhaustive = 0;
	uint64_t random = 7;
	struct asked asked;

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		ask_mesh(&asked, rows[row].kind, 1, 4, rows[row].endpoints);
		draw_ports(&asked, 20, &random);
		asked.problem.moves = 100000;
		find(search, &asked, &answer);
		exhaustive += is_exact(&asked, &answer);
	}
	assert_true(exhaustive > 3);
	morph_matchings_free(search);
}

static void equal_seeds_give_equal_answers(void **state)
{
	struct morph_matchings *one = morph_matchings_new(ctx), *other = morph_matchings_new(ctx);
	struct morph_matchings_answer first, second;
	struct asked asked, before;

	(void)state;
	ask_mesh(&before, MORPH_MATCHINGS_DIRECTED, 7, 3, 6);
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 5, 5, 16);
	find(one, &asked, &first);
	find(other, &before, &second); /* an earlier search changes nothing */
	find(other, &asked, &second);
	assert_int_equal(first.rounds, second.rounds);
	assert_int_equal(first.total, second.total);
	assert_int_equal(first.moves, second.moves);
	assert_memory_equal(first.hops, second.hops, first.total * sizeof(*first.hops));
	asked.problem.seed = 2;
	find(other, &asked, &second);
	assert_true(first.total != second.total ||
		    memcmp(first.hops, second.hops, first.total * sizeof(*first.hops)));
	morph_matchings_free(one);
	morph_matchings_free(other);
}

/* ------------------------------------------------------------------ a device */

static struct morph_check_bytes read_profile(void)
{
	static char bytes[1 << 20];
	FILE *file = fopen(smartlight, "rb");
	size_t count;

	assert_non_null(file);
	count = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return (struct morph_check_bytes){ bytes, count };
}

static void ask_device(struct asked *asked, struct morph_model *model, uint32_t endpoints)
{
	memset(asked, 0, sizeof(*asked));
	for (uint32_t i = 0; i < endpoints; i++)
		asked->tx[i] = i;
	asked->problem = (struct morph_matchings_problem){
		.sz = sizeof(asked->problem),
		.model = model,
		.endpoints = endpoints,
		.tx = asked->tx,
		.rx = asked->tx,
		.seed = 1,
		.moves = 8000,
	};
}

/* The bound of 20 rounds is that of published linear programs, 19.67. */
static void fourteen_accelerators_need_twenty_rounds(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct morph_model *model;
	struct asked asked;

	(void)state;
	assert_int_equal(morph_model_load(ctx, smartlight, &model), 0);
	ask_device(&asked, model, 14);
	find(search, &asked, &answer);
	assert_int_equal(answer.verdict, MORPH_FEASIBLE);
	assert_int_equal(answer.bound, 20);
	assert_int_equal(answer.bound_kind, MORPH_MATCHINGS_FRACTIONAL);
	assert_true(answer.rounds <= 24);
	assert_int_equal(answer.hops_most, 18);
	assert_true(answer.longest <= 18);
	accept_answer(&asked, &answer, read_profile());
	asked.problem.rounds = 19;
	find(search, &asked, &answer);
	assert_int_equal(answer.verdict, MORPH_INFEASIBLE);
	accept_answer(&asked, &answer, read_profile());
	morph_matchings_free(search);
	morph_model_put(model);
}

/*
 * The shortest ways of some pairs pass one element in two states. Such a pair has a longer route or
 * none within the loss budget.
 */
static void each_failed_element_of_a_device_has_an_answer(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	uint32_t failed, separated = 0, stuck_state = 0;
	struct morph_matchings_answer answer;
	struct morph_model *model;
	struct asked asked;

	(void)state;
	assert_int_equal(morph_model_load(ctx, smartlight, &model), 0);
	ask_device(&asked, model, 14);
	asked.problem.first = true;
	asked.problem.unjudged = true;
	for (failed = 1; failed < 72; failed += 6) {
		asked.problem.failed = &failed;
		asked.problem.failed_count = 1;
		asked.problem.stuck_count = 0;
		find(search, &asked, &answer);
		assert_int_not_equal(answer.verdict, MORPH_UNDECIDED);
		separated += answer.verdict == MORPH_INFEASIBLE;
		accept_answer(&asked, &answer, read_profile());
		asked.problem.failed_count = 0;
		asked.problem.stuck = &failed;
		asked.problem.stuck_states = &stuck_state;
		asked.problem.stuck_count = 1;
		find(search, &asked, &answer);
		assert_int_not_equal(answer.verdict, MORPH_UNDECIDED);
		accept_answer(&asked, &answer, read_profile());
		stuck_state = !stuck_state;
	}
	assert_in_range(separated, 1, 11);
	morph_matchings_free(search);
	morph_model_put(model);
}

static void stuck_elements_keep_their_state(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	uint32_t stuck[] = { 3, 17 }, states[] = { 0, 1 };
	struct morph_matchings_answer answer;
	struct asked asked;

	(void)state;
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 5, 5, 8);
	asked.problem.stuck = stuck;
	asked.problem.stuck_states = states;
	asked.problem.stuck_count = 2;
	find(search, &asked, &answer);
	assert_int_equal(answer.verdict, MORPH_FEASIBLE);
	accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
	morph_matchings_free(search);
}

/* ------------------------------------------------------------------ switches */

/* The first half of the endpoints sends, each from one port, and the other half receives. */
static void ask_switch(struct asked *asked, const uint32_t *senders, const uint32_t *receivers,
		       uint32_t count)
{
	memset(asked, 0, sizeof(*asked));
	for (uint32_t i = 0; i < 2 * count; i++) {
		asked->tx[i] = i < count ? senders[i] : MORPH_ANY;
		asked->rx[i] = i < count ? MORPH_ANY : receivers[i - count];
		asked->targets[i] = MORPH_ANY;
	}
	asked->problem = (struct morph_matchings_problem){
		.sz = sizeof(asked->problem),
		.endpoints = 2 * count,
		.tx = asked->tx,
		.rx = asked->rx,
		.targets = asked->targets,
		.seed = 1,
		.moves = 200,
	};
}

/* Set the targets to permutation @number of the receivers, in the factorial number system. */
static void set_permutation(struct asked *asked, uint32_t count, uint32_t number)
{
	uint32_t left[MOST], i, at;

	for (i = 0; i < count; i++)
		left[i] = count + i;
	for (i = 0; i < count; i++) {
		at = number % (count - i);
		number /= count - i;
		asked->targets[i] = left[at];
		left[at] = left[count - i - 1];
	}
}

/* Six senders and six receivers of the device, by accelerator. */
static void ask_device_switch(struct asked *asked, struct morph_model *model)
{
	static const uint32_t senders[] = { 4, 5, 7, 12, 11, 0 };
	static const uint32_t receivers[] = { 13, 10, 3, 2, 9, 8 };

	ask_switch(asked, senders, receivers, 6);
	asked->problem.model = model;
}

/* The validator accepts power, margin and isolation of each permutation, too. */
static void six_ports_of_a_device_reach_six_in_each_order(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_check_bytes profile = read_profile();
	struct morph_matchings_answer answer;
	struct morph_model *model;
	struct asked asked;

	(void)state;
	assert_int_equal(morph_model_load(ctx, smartlight, &model), 0);
	ask_device_switch(&asked, model);
	for (uint32_t number = 0; number < 720; number++) {
		set_permutation(&asked, 6, number);
		find(search, &asked, &answer);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		assert_int_equal(answer.rounds, 1);
		accept_answer(&asked, &answer, profile);
	}
	morph_matchings_free(search);
	morph_model_put(model);
}

/* Some permutations need more than one move. */
static void a_small_budget_leaves_a_permutation_undecided(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer = { .verdict = MORPH_FEASIBLE };
	struct morph_model *model;
	struct asked asked;

	(void)state;
	assert_int_equal(morph_model_load(ctx, smartlight, &model), 0);
	ask_device_switch(&asked, model);
	asked.problem.rounds = 1;
	asked.problem.moves = 1;
	for (uint32_t number = 0; number < 720 && answer.verdict == MORPH_FEASIBLE; number++) {
		set_permutation(&asked, 6, number);
		find(search, &asked, &answer);
	}
	assert_int_equal(answer.verdict, MORPH_UNDECIDED);
	assert_int_equal(answer.moves, 1);
	morph_matchings_free(search);
	morph_model_put(model);
}

/* The checker accepts each round, and each proof that there is none. */
static void each_permutation_fits_in_one_round_or_is_refused(void **state)
{
	static const uint32_t senders[] = { 0, 1, 2, 3 }, receivers[] = { 4, 5, 6, 7 };
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	uint32_t refused = 0;
	struct asked asked;

	(void)state;
	ask_switch(&asked, senders, receivers, 4);
	asked.problem.width = asked.problem.height = 1;
	for (uint32_t number = 0; number < 24; number++) {
		set_permutation(&asked, 4, number);
		asked.problem.rounds = 1;
		find(search, &asked, &answer);
		assert_int_not_equal(answer.verdict, MORPH_UNDECIDED);
		accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
		if (answer.verdict == MORPH_FEASIBLE)
			continue;
		refused++;
		asked.problem.rounds = 0;
		find(search, &asked, &answer);
		assert_int_equal(answer.verdict, MORPH_FEASIBLE);
		assert_int_equal(answer.rounds, 2);
		accept_answer(&asked, &answer, (struct morph_check_bytes){ 0 });
	}
	assert_int_equal(refused, 8);
	morph_matchings_free(search);
}

static void a_kept_set_up_changes_no_answer(void **state)
{
	static const uint32_t senders[] = { 4, 5, 7, 10 }, receivers[] = { 22, 27, 32, 35 };
	struct morph_matchings *search = morph_matchings_new(ctx), *fresh;
	struct morph_matchings_answer first, second;
	uint32_t element = 0;
	struct asked asked;

	(void)state;
	ask_switch(&asked, senders, receivers, 4);
	asked.problem.width = 7;
	asked.problem.height = 3;
	asked.problem.failed = &element;
	for (uint32_t number = 0; number < 24; number++) {
		set_permutation(&asked, 4, number);
		/* Some searches have the set-up of the last one, and the others need a new one. */
		asked.problem.failed_count = number / 2 % 2;
		element = number;
		asked.tx[3] = 10 + number / 4 % 2;
		fresh = morph_matchings_new(ctx);
		find(search, &asked, &first);
		find(fresh, &asked, &second);
		assert_int_equal(first.verdict, second.verdict);
		assert_int_equal(first.total, second.total);
		if (first.total)
			assert_memory_equal(first.hops, second.hops,
					    first.total * sizeof(*first.hops));
		accept_answer(&asked, &first, (struct morph_check_bytes){ 0 });
		morph_matchings_free(fresh);
	}
	morph_matchings_free(search);
}

/* ------------------------------------------------------------------ errors */

static void refuse(struct morph_matchings *search, const struct asked *asked, const char *text)
{
	struct morph_matchings_answer answer;

	assert_int_equal(morph_matchings_find(search, &asked->problem, &answer), -EINVAL);
	assert_string_equal(morph_error_text(ctx), text);
}

static void a_warm_search_allocates_nothing(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct morph_matchings_answer answer;
	struct asked asked;

	(void)state;
	for (uint32_t kind = 0; kind < 3; kind++) {
		ask_mesh(&asked, kind, 3, 3, 8);
		asked.problem.moves = 300;
		find(search, &asked, &answer);
		allocations();
		find(search, &asked, &answer);
		assert_int_equal(allocations(), 0);
	}
	morph_matchings_free(search);
}

static void wrong_arguments_are_named(void **state)
{
	struct morph_matchings *search = morph_matchings_new(ctx);
	uint32_t element = 34, four = 4;
	struct asked asked;

	(void)state;
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 4, 3, 8);
	refuse(search, &asked, "the mesh has width 4; must be odd, 1 to 63");
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 3, 65, 8);
	refuse(search, &asked, "the mesh has height 65; must be 1 to 64");
	ask_mesh(&asked, 3, 3, 3, 8);
	refuse(search, &asked, "no kind of matchings 3 (0-2)");
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 3, 3, 8);
	asked.problem.endpoints = 1;
	refuse(search, &asked, "1 endpoints requested; must be 2 to 256");
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 3, 3, 8);
	asked.tx[5] = 24;
	refuse(search, &asked, "endpoint 5: no mesh port 24 (0-23)");
	asked.tx[5] = asked.tx[2];
	refuse(search, &asked, "endpoints 2 and 5 have the same mesh port 6");
	ask_mesh(&asked, MORPH_MATCHINGS_DIRECTED, 3, 3, 8);
	asked.rx[1] = asked.tx[4];
	refuse(search, &asked, "port 12 of the mesh both transmits and receives");
	ask_mesh(&asked, MORPH_MATCHINGS_DIRECTED, 3, 3, 13);
	asked.problem.tx = asked.problem.rx = NULL;
	refuse(search, &asked, "13 endpoints need 26 ports, the mesh has 24");
	ask_mesh(&asked, MORPH_MATCHINGS_PAIRS, 3, 3, 8);
	asked.problem.failed = &element;
	asked.problem.failed_count = 1;
	refuse(search, &asked, "no element 34 (0-33)");
	element = 3;
	asked.problem.failed_count = 0;
	asked.problem.stuck = &element;
	asked.problem.stuck_states = &four;
	asked.problem.stuck_count = 1;
	refuse(search, &asked, "element 3 has no state 4 (0-1)");
	morph_matchings_free(search);
}

static void wrong_targets_are_named(void **state)
{
	static const uint32_t senders[] = { 4, 5, 7 }, receivers[] = { 22, 27, 32 };
	struct morph_matchings *search = morph_matchings_new(ctx);
	struct asked asked;

	(void)state;
	ask_switch(&asked, senders, receivers, 3);
	asked.problem.width = 7;
	asked.problem.height = 3;
	refuse(search, &asked, "no endpoint has a target; at least one must");
	asked.targets[0] = 6;
	refuse(search, &asked, "endpoint 0: no target 6; must be another endpoint (0-5)");
	asked.targets[0] = 0;
	refuse(search, &asked, "endpoint 0: no target 0; must be another endpoint (0-5)");
	asked.targets[0] = asked.targets[2] = 4;
	refuse(search, &asked, "endpoints 0 and 2 have the same target 4; targets must differ");
	asked.targets[0] = 1;
	refuse(search, &asked, "endpoint 1 needs a receive port (0-39)");
	asked.targets[0] = MORPH_ANY;
	asked.targets[5] = 3;
	refuse(search, &asked, "endpoint 5 needs a transmit port (0-39)");
	asked.problem.kind = MORPH_MATCHINGS_DUPLEX;
	refuse(search, &asked, "targets need circuits of the kind directed");
	asked.problem.kind = MORPH_MATCHINGS_DIRECTED;
	asked.problem.tx = NULL;
	refuse(search, &asked, "targets need the ports of their endpoints");
	asked.problem.tx = asked.tx;
	asked.problem.targets = NULL;
	refuse(search, &asked, "endpoint 3 needs a transmit port (0-39)");
	morph_matchings_free(search);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_meet_in_the_fewest_rounds),
		cmocka_unit_test(each_kind_has_each_pair_once),
		cmocka_unit_test(ports_are_chosen),
		cmocka_unit_test(small_meshes_are_decided),
		cmocka_unit_test(rounds_of_the_bound_take_few_moves),
		cmocka_unit_test(small_meshes_have_the_fewest_rounds),
		cmocka_unit_test(twenty_elements_have_the_fewest_rounds),
		cmocka_unit_test(equal_seeds_give_equal_answers),
		cmocka_unit_test(fourteen_accelerators_need_twenty_rounds),
		cmocka_unit_test(each_failed_element_of_a_device_has_an_answer),
		cmocka_unit_test(stuck_elements_keep_their_state),
		cmocka_unit_test(six_ports_of_a_device_reach_six_in_each_order),
		cmocka_unit_test(each_permutation_fits_in_one_round_or_is_refused),
		cmocka_unit_test(a_small_budget_leaves_a_permutation_undecided),
		cmocka_unit_test(a_kept_set_up_changes_no_answer),
		cmocka_unit_test(a_warm_search_allocates_nothing),
		cmocka_unit_test(wrong_arguments_are_named),
		cmocka_unit_test(wrong_targets_are_named),
	};

	smartlight = count > 1 ? arguments[1] : "smartlight72.bin";
	return cmocka_run_group_tests(tests, begin, end);
}
