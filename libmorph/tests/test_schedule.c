// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schedules of known collectives by each policy: results and refusals. */
#include "../internal/planner.h"
#include "scheduling.h"

#define MIB (1 << 20)

static struct morph_collective *build(uint32_t kind, uint32_t algorithm, uint32_t ranks,
				      uint64_t bytes)
{
	MORPH_OPTS(morph_collective_opts, opts, .kind = kind, .algorithm = algorithm,
		   .ranks = ranks, .bytes = bytes);
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_non_null(collective);
	if (algorithm == MORPH_RINGS)
		opts.extent[0] = ranks / (opts.extent[1] = ranks % 4 ? 2 : 4);
	if (morph_collective_build(collective, &opts)) {
		morph_collective_free(collective);
		return NULL;
	}
	return collective;
}

/*
 * Each algorithm for the collective, by each policy, on some planes: each feasible schedule is
 * valid.
 */
static uint32_t plan_all(uint32_t kind, uint32_t ranks, uint32_t scope, uint32_t planes)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planes);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(scope);
	uint32_t planned = 0;

	for (uint32_t algorithm = 1; algorithm < MORPH_ALGORITHMS; algorithm++) {
		struct morph_collective *collective = build(kind, algorithm, ranks, 100000);
		uint64_t best, bound;

		if (!collective)
			continue;
		opts.policy = MORPH_POLICY_BEST;
		assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
		assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
		best = morph_schedule_ns(schedule, &bound);
		assert_true(bound <= best);
		for (opts.policy = 1; opts.policy < MORPH_POLICIES; opts.policy++) {
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts),
					 0);
			if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
				continue;
			assert_valid(collective, delay, planes, NULL, schedule);
			assert_true(morph_schedule_ns(schedule, NULL) >= best);
			planned++;
		}
		morph_collective_free(collective);
	}
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	return planned;
}

/* Without bytes, and on links without delay, all sends are immediate, round by round. */
static void plans_without_time_are_valid(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	uint32_t planned = 0;

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 0, 0, 100000), 0);
	for (uint32_t at = 0; at < (MORPH_ALGORITHMS - 1) * MORPH_BROADCAST; at++) {
		struct morph_collective *collective =
			build(1 + at % MORPH_BROADCAST, 1 + at / MORPH_BROADCAST, 4, 0);

		for (opts.policy = 1; collective && opts.policy < MORPH_POLICIES; opts.policy++) {
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts),
					 0);
			if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
				continue;
			assert_valid(collective, delay, 2, NULL, schedule);
			planned++;
		}
		morph_collective_free(collective);
	}
	assert_true(planned > 100);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

static void each_algorithm_by_each_policy(void **state)
{
	uint32_t planned = 0;

	(void)state;
	for (uint32_t kind = MORPH_ALL_REDUCE; kind <= MORPH_BROADCAST; kind++)
		for (uint32_t scope = 0; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++) {
			planned += plan_all(kind, 8, scope, 1 + scope);
			planned += plan_all(kind, 6, scope, 4);
		}
	print_message("%u schedules\n", planned);
	assert_true(planned > 400);
}

/* The best policy is the alternative that ends first, and reports which one it is. */
static void best_is_the_soonest(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 4);
	struct morph_collective *collective = build(MORPH_ALL_REDUCE, MORPH_HALVING, 16, 8 * MIB);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PLANE_SCOPE);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_alternative tried;
	uint64_t ns;

	(void)state;
	assert_int_equal(morph_schedule_alternative(schedule, MORPH_POLICY_OVERLAP, &tried),
			 -ENOENT);
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	ns = morph_schedule_ns(schedule, NULL);
	for (uint32_t policy = 1; policy < MORPH_POLICIES; policy++) {
		assert_int_equal(morph_schedule_alternative(schedule, policy, &tried), 0);
		assert_int_equal(tried.policy, policy);
		assert_true(tried.verdict != MORPH_FEASIBLE ? tried.why[0] : tried.ns >= ns);
		if (policy == morph_schedule_policy(schedule))
			assert_int_equal(tried.ns, ns);
	}
	assert_valid(collective, delay, 4, NULL, schedule);
	morph_schedule_free(schedule);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

/*
 * One collective after another: circuits that the first leaves lit need no change in the second, by
 * any policy.
 */
static void next_plan_begins_with_the_last_circuits(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 3);
	struct morph_collective *first = build(MORPH_ALL_TO_ALL, MORPH_SHIFT, 7, MIB);
	struct morph_collective *second = build(MORPH_ALL_REDUCE, MORPH_RING, 7, MIB);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_schedule *before = morph_schedule_new(ctx), *after = morph_schedule_new(ctx);

	(void)state;
	for (uint32_t one = 1; one < MORPH_POLICIES; one++)
		for (uint32_t other = 1; other < MORPH_POLICIES; other++) {
			opts.policy = one;
			opts.after = NULL;
			assert_int_equal(morph_schedule_plan(before, first, delay, &opts), 0);
			if (morph_schedule_verdict(before) != MORPH_FEASIBLE)
				continue;
			opts.policy = other;
			opts.after = before;
			assert_int_equal(morph_schedule_plan(after, second, delay, &opts), 0);
			assert_int_equal(morph_schedule_verdict(after), MORPH_FEASIBLE);
			assert_valid(second, delay, 3, before, after);
		}
	morph_schedule_free(after);
	morph_schedule_free(before);
	morph_delay_free(delay);
	morph_collective_free(second);
	morph_collective_free(first);
}

/*
 * Each rank sends to both neighbours on a ring, first to the next one or first to the one before.
 */
static struct morph_collective *neighbours(uint32_t ranks, bool backwards)
{
	struct morph_collective *collective = morph_collective_new(ctx);

	assert_int_equal(morph_collective_begin(collective, ranks), 0);
	assert_int_equal(morph_collective_add_round(collective), 0);
	for (uint32_t at = 0; at < 2 * ranks; at++) {
		uint32_t rank = at / 2;
		uint32_t to = (rank + ((at & 1) == backwards ? 1 : ranks - 1)) % ranks;
		int chunk = morph_collective_add_chunk(collective, rank, to, 1);

		assert_int_equal(morph_collective_add_transfer(collective, rank, to, false), at);
		assert_int_equal(morph_collective_add_run(collective, (uint32_t)chunk, 1), 0);
	}
	return collective;
}

/* Lit circuits that suffice stay on their planes, whatever planes these are. */
static void sufficient_planes_stay_unchanged(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 2);
	struct morph_collective *halving = build(MORPH_ALL_REDUCE, MORPH_HALVING, 8, MIB);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_schedule *before = morph_schedule_new(ctx), *after = morph_schedule_new(ctx);
	uint64_t settle = 1000000000;

	(void)state;
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
	for (uint32_t backwards = 0; backwards < 2; backwards++) {
		struct morph_collective *ring_both = neighbours(8, backwards);

		opts.policy = MORPH_POLICY_EACH_ROUND;
		opts.after = NULL;
		assert_int_equal(morph_schedule_plan(before, ring_both, delay, &opts), 0);
		opts.policy = MORPH_POLICY_SEGMENTS;
		opts.after = before;
		assert_int_equal(morph_schedule_plan(after, halving, delay, &opts), 0);
		assert_int_equal(morph_schedule_changes(after, NULL), 0);
		assert_true(morph_schedule_ns(after, NULL) < settle);
		assert_valid(halving, delay, 2, before, after);
		morph_collective_free(ring_both);
	}
	morph_schedule_free(after);
	morph_schedule_free(before);
	morph_delay_free(delay);
	morph_collective_free(halving);
}

/*
 * With too many alternatives, rounds of shifts are still planned, also from lit circuits. Other
 * rounds remain undecided, and the best policy is one of the others.
 */
static void large_collectives_are_planned_soon(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_SEGMENTS);
	struct morph_collective *shifts = build(MORPH_ALL_TO_ALL, MORPH_SHIFT, 200, MIB);
	struct morph_collective *others = build(MORPH_ALL_TO_ALL, MORPH_PAIRWISE, 200, MIB);
	struct morph_schedule *first = morph_schedule_new(ctx), *second = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_alternative tried;
	uint64_t settle = 100000000;

	(void)state;
	assert_int_equal(morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle, 1), 0);
	assert_int_equal(morph_schedule_plan(first, shifts, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(first), MORPH_FEASIBLE);
	assert_valid(shifts, delay, 1, NULL, first);
	opts.after = first;
	assert_int_equal(morph_schedule_plan(second, shifts, delay, &opts), 0);
	assert_valid(shifts, delay, 1, first, second);
	assert_int_equal(morph_schedule_changes(second, NULL),
			 morph_schedule_changes(first, NULL) - 1);
	opts.after = NULL;
	assert_int_equal(morph_schedule_plan(second, others, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(second), MORPH_UNDECIDED);
	assert_non_null(strstr(morph_schedule_why(second), "too many paths"));
	opts.policy = MORPH_POLICY_BEST;
	assert_int_equal(morph_schedule_plan(second, others, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(second), MORPH_FEASIBLE);
	assert_int_equal(morph_schedule_alternative(second, MORPH_POLICY_SEGMENTS, &tried), 0);
	assert_int_equal(tried.verdict, MORPH_UNDECIDED);
	assert_true(tried.why[0]);
	morph_schedule_free(second);
	morph_schedule_free(first);
	morph_delay_free(delay);
	morph_collective_free(others);
	morph_collective_free(shifts);
}

/* An empty collective takes no time. */
static void empty_collectives_take_nothing(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	assert_int_equal(morph_collective_begin(collective, 4), 0);
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, NULL), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	assert_int_equal(morph_schedule_ns(schedule, NULL), 0);
	assert_int_equal(morph_schedule_holds(schedule), 0);
	assert_valid(collective, delay, 1, NULL, schedule);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

/*
 * Rounds without transfers, two transfers between the same ranks, and more ranks than a pool has
 * shifts for.
 */
static void odd_rounds_are_planned(void **state)
{
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 3);

	(void)state;
	for (uint32_t ranks = 4; ranks <= 130; ranks += 126) {
		struct morph_collective *odd = morph_collective_new(ctx);

		assert_int_equal(morph_collective_begin(odd, ranks), 0);
		for (uint32_t round = 0; round < 3; round++) {
			assert_int_equal(morph_collective_add_round(odd), round);
			for (uint32_t copy = 0; copy < 2 && round != 1; copy++) {
				int chunk = morph_collective_add_chunk(odd, 0, ranks - 1, 1000);

				assert_true(morph_collective_add_transfer(odd, 0, ranks - 1,
									  false) >= 0);
				assert_int_equal(morph_collective_add_run(odd, (uint32_t)chunk, 1),
						 0);
			}
		}
		for (opts.policy = 1; opts.policy < MORPH_POLICIES; opts.policy++) {
			assert_int_equal(morph_schedule_plan(schedule, odd, delay, &opts), 0);
			if (opts.policy != MORPH_POLICY_OVERLAP)
				assert_valid(odd, delay, 3, NULL, schedule);
		}
		morph_collective_free(odd);
	}
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

/* Errors have a text, and a schedule that is not feasible has one, too. */
static void impossible_requests_are_refused(void **state)
{
	MORPH_OPTS(morph_schedule_result, result);
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_ONE_SHOT);
	struct morph_collective *collective = build(MORPH_ALL_TO_ALL, MORPH_SHIFT, 5, MIB);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_object *object;

	(void)state;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_INFEASIBLE);
	assert_string_equal(morph_schedule_why(schedule), "it has more matchings than planes");
	assert_int_equal(morph_schedule_result(schedule, &result), 0);
	assert_int_equal(result.verdict, MORPH_INFEASIBLE);
	assert_string_equal(result.why, "it has more matchings than planes");
	assert_int_equal(morph_schedule_describe(schedule, &object), 0);
	assert_string_equal(morph_object_text(object, "verdict"), "infeasible");
	assert_string_equal(morph_object_text(object, "text"), morph_schedule_why(schedule));
	morph_object_free(object);
	opts.policy = MORPH_POLICY_OVERLAP;
	opts.planes = 17;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_string_equal(morph_schedule_why(schedule),
			    "policy overlap supports at most 16 planes");
	assert_string_equal(morph_enum_name(MORPH_ENUM_POLICY, MORPH_POLICY_ONE_SHOT), "one-shot");
	assert_null(morph_enum_name(MORPH_ENUM_POLICY, MORPH_POLICIES));
	assert_string_equal(morph_enum_name(MORPH_ENUM_ALGORITHM, MORPH_HALVING_CYCLIC),
			    "halving-cyclic");
	assert_null(morph_enum_name(MORPH_ENUM_ALGORITHM, MORPH_ALGORITHMS));
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

static void parts_that_there_are_not_are_refused(void **state)
{
	MORPH_OPTS(morph_schedule_result, result);
	MORPH_OPTS(morph_collective_info, info);
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_collective *collective = ring(3, 100);
	uint32_t src, dst;
	uint64_t bound;
	struct morph_hold hold;
	struct morph_send send;

	(void)state;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_hold(schedule, 0, &hold), 0);
	assert_int_equal(hold.circuits, 3);
	assert_int_equal(hold.pairs[2].src, 2);
	assert_int_equal(hold.pairs[2].dst, 0);
	assert_int_equal(morph_schedule_circuit(schedule, 0, 2, &src, &dst), 0);
	assert_int_equal(src, 2);
	assert_int_equal(dst, 0);
	assert_int_equal(morph_schedule_send(schedule, 0, &send), 0);
	assert_int_equal(send.hops, 1);
	assert_int_equal(send.holds[0], 0);
	assert_int_equal(morph_schedule_hop(schedule, 0, 0), 0);
	assert_int_equal(morph_schedule_result(schedule, &result), 0);
	assert_int_equal(result.verdict, MORPH_FEASIBLE);
	assert_int_equal(result.policy, MORPH_POLICY_EACH_ROUND);
	assert_string_equal(result.why, "");
	assert_int_equal(result.ns, morph_schedule_ns(schedule, &bound));
	assert_int_equal(result.bound_ns, bound);
	assert_int_equal(result.changes, 1);
	assert_int_equal(result.circuits, 3);
	assert_int_equal(result.holds, 1);
	assert_int_equal(result.sends, morph_schedule_sends(schedule));
	assert_int_equal(morph_collective_info(collective, &info), 0);
	assert_int_equal(info.ranks, 3);
	assert_int_equal(info.rounds, morph_collective_rounds(collective));
	assert_int_equal(info.chunks, morph_collective_chunks(collective));
	assert_int_equal(info.rounds_before_last, 0);
	assert_int_equal(morph_schedule_hold(schedule, 1, &hold), -ENOENT);
	assert_int_equal(morph_schedule_circuit(schedule, 1, 0, &src, &dst), -ENOENT);
	assert_int_equal(morph_schedule_circuit(schedule, 0, 3, &src, &dst), -ENOENT);
	assert_int_equal(morph_schedule_send(schedule, morph_schedule_sends(schedule), &send),
			 -ENOENT);
	assert_int_equal(morph_schedule_hop(schedule, 0, 1), UINT32_MAX);
	assert_int_equal(morph_schedule_hop(schedule, morph_schedule_sends(schedule), 0),
			 UINT32_MAX);
	morph_collective_free(collective);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

/* A month in picoseconds exceeds the limit. */
static void too_long_schedules_are_refused(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_collective *collective = ring(2, 1ULL << 50);

	(void)state;
	assert_int_equal(morph_delay_set_link(delay, 0, 0, 1), 0);
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), -ERANGE);
	assert_int_equal(morph_schedule_verdict(schedule), 0);
	morph_collective_free(collective);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
}

static void refuse(struct morph_schedule *schedule, const struct morph_collective *collective,
		   const struct morph_delay *delay, const struct morph_schedule_opts *opts,
		   int error, const char *why)
{
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, opts), error);
	if (!strstr(morph_error_text(ctx), why))
		fail_msg("'%s' is not in '%s'", why, morph_error_text(ctx));
	assert_int_equal(morph_schedule_verdict(schedule), 0);
}

static void bad_input_is_refused(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 65);
	struct morph_collective *none = morph_collective_new(ctx);
	struct morph_collective *collective = ring(4, 100), *other = ring(5, 100);
	struct morph_schedule *schedule = morph_schedule_new(ctx), *after = morph_schedule_new(ctx);
	struct morph_delay *unset = morph_delay_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_object *object;
	struct morph_send send;

	(void)state;
	refuse(schedule, collective, delay, &opts, -EINVAL, "at most 64 ports");
	opts.planes = 0;
	refuse(schedule, collective, unset, &opts, -EINVAL, "no bandwidth");
	refuse(schedule, none, delay, &opts, -EINVAL, "no ranks");
	opts.policy = MORPH_POLICIES;
	refuse(schedule, collective, delay, &opts, -EINVAL, "policy 7 must be one");
	opts.policy = MORPH_POLICY_EACH_ROUND;
	opts.after = after;
	refuse(schedule, collective, delay, &opts, -EINVAL,
	       "the schedule to follow is not feasible");
	opts.after = schedule;
	refuse(schedule, collective, delay, &opts, -EINVAL, "cannot follow itself");
	opts.after = NULL;
	assert_int_equal(morph_schedule_plan(after, other, delay, &opts), 0);
	opts.after = after;
	refuse(schedule, collective, delay, &opts, -EINVAL, "5 ranks on 1 planes, not 4 on 1");
	assert_int_equal(morph_schedule_describe(schedule, &object), -EINVAL);
	assert_int_equal(morph_schedule_describe(after, &object), 0);
	assert_string_equal(morph_object_text(object, "policy"), "each-round");
	assert_int_equal(morph_object_uint(object, "finish-ns"), morph_schedule_ns(after, NULL));
	assert_int_equal(morph_schedule_send(after, 0, &send), 0);
	assert_int_equal(morph_object_uint(morph_object_nested_at(object, "send", 0), "bytes"),
			 send.bytes);
	morph_object_free(object);
	morph_delay_free(delay);
	morph_delay_free(unset);
	morph_schedule_free(after);
	morph_schedule_free(schedule);
	morph_collective_free(other);
	morph_collective_free(collective);
	morph_collective_free(none);
}

/* By each policy, with @after or from the dark. */
static void check_each_is_valid(const struct morph_collective *collective,
				const struct morph_delay *delay, uint32_t planes,
				const struct morph_schedule *after)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = planes, .after = after);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	uint64_t bound;

	for (; opts.policy < MORPH_POLICIES; opts.policy++) {
		assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
		if (morph_schedule_verdict(schedule) != MORPH_FEASIBLE)
			continue;
		assert_valid(collective, delay, planes, after, schedule);
		assert_true(morph_schedule_ns(schedule, &bound) >= bound);
	}
	morph_schedule_free(schedule);
}

/*
 * Of two ranks that exchange a chunk, one has its circuit already. The circuit of the other must be
 * set.
 */
static void received_bytes_are_not_sent_in_the_same_round(void **state)
{
	struct morph_collective *first = build(MORPH_BROADCAST, MORPH_BINOMIAL, 2, 1000);
	struct morph_collective *next = build(MORPH_ALL_REDUCE, MORPH_DOUBLING, 2, 1000);
	struct morph_schedule *after = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	assert_int_equal(morph_schedule_plan(after, first, delay, NULL), 0);
	check_each_is_valid(next, delay, 1, after);
	morph_schedule_free(after);
	morph_delay_free(delay);
	morph_collective_free(next);
	morph_collective_free(first);
}

/* Data of a second turn changed in the first. */
static void turns_send_bytes_from_before_the_round(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	for (uint32_t ranks = 3; ranks <= 6; ranks++) {
		struct morph_collective *collective = exchange(ranks, 1000000);

		for (opts.planes = 1; opts.planes <= ranks; opts.planes++) {
			bool in_turns = opts.planes < ranks - 1;

			check_each_is_valid(collective, delay, opts.planes, NULL);
			opts.policy = MORPH_POLICY_BEST;
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts),
					 0);
			assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
			opts.policy = MORPH_POLICY_EACH_ROUND;
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts),
					 0);
			assert_int_equal(morph_schedule_verdict(schedule),
					 in_turns ? MORPH_UNDECIDED : MORPH_FEASIBLE);
			if (in_turns)
				assert_non_null(
					strstr(morph_schedule_why(schedule), "takes turns"));
			assert_int_equal(morph_schedule_plan(schedule, collective, delay, NULL), 0);
			assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
		}
		morph_collective_free(collective);
	}
	morph_schedule_free(schedule);
	morph_delay_free(delay);
}

static void rounds_without_bytes_end_no_sooner_than_can_be(void **state)
{
	struct morph_collective *collective = build(MORPH_ALL_REDUCE, MORPH_DOUBLING, 4, 0);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	check_each_is_valid(collective, delay, 1, NULL);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

static void round_without_transfers_takes_nothing(void **state)
{
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);

	(void)state;
	assert_int_equal(morph_collective_begin(collective, 2), 0);
	morph_collective_add_chunk(collective, 0, 1, 1000);
	morph_collective_add_round(collective);
	morph_collective_add_round(collective);
	morph_collective_add_transfer(collective, 0, 1, 0);
	morph_collective_add_run(collective, 0, 1);
	check_each_is_valid(collective, delay, 1, NULL);
	morph_delay_free(delay);
	morph_collective_free(collective);
}

/* The policy of matchings does not support that many pairs on that many planes. */
static void policy_without_room_ends_no_other(void **state)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 5);
	struct morph_collective *collective = build(MORPH_BROADCAST, MORPH_BINOMIAL, 4096, 1000);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = some_delay(MORPH_DELAY_PORT_SCOPE);
	struct morph_alternative tried;

	(void)state;
	assert_int_equal(morph_schedule_plan(schedule, collective, delay, &opts), 0);
	assert_int_equal(morph_schedule_verdict(schedule), MORPH_FEASIBLE);
	assert_int_equal(morph_schedule_alternative(schedule, MORPH_POLICY_MATCHINGS, &tried), 0);
	assert_int_equal(tried.verdict, MORPH_UNDECIDED);
	morph_delay_free(delay);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_without_time_are_valid),
		cmocka_unit_test(each_algorithm_by_each_policy),
		cmocka_unit_test(best_is_the_soonest),
		cmocka_unit_test(next_plan_begins_with_the_last_circuits),
		cmocka_unit_test(sufficient_planes_stay_unchanged),
		cmocka_unit_test(large_collectives_are_planned_soon),
		cmocka_unit_test(empty_collectives_take_nothing),
		cmocka_unit_test(odd_rounds_are_planned),
		cmocka_unit_test(impossible_requests_are_refused),
		cmocka_unit_test(parts_that_there_are_not_are_refused),
		cmocka_unit_test(too_long_schedules_are_refused),
		cmocka_unit_test(bad_input_is_refused),
		cmocka_unit_test(received_bytes_are_not_sent_in_the_same_round),
		cmocka_unit_test(turns_send_bytes_from_before_the_round),
		cmocka_unit_test(rounds_without_bytes_end_no_sooner_than_can_be),
		cmocka_unit_test(round_without_transfers_takes_nothing),
		cmocka_unit_test(policy_without_room_ends_no_other),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
