// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits between collectives: the learner finds stages, and hides delays as far as windows
 * permit. Departures from the learned order only cost time.
 */
#include "../internal/client.h"
#include "../bench/random.h"
#include "faults.h"
#include "phases.h"

#define MS 1000000ULL

#define REFUSED_NEW(ranks, opts, words)                                \
	do {                                                           \
		assert_null(morph_phases_new(ctx, ranks, opts));       \
		assert_non_null(strstr(morph_error_text(ctx), words)); \
	} while (0)

static struct training training;

static struct training_result run(const struct training *of, uint32_t mode, uint32_t iterations,
				  uint64_t change_ns)
{
	struct morph_phases *phases = phases_of(of, mode);
	struct training_result result;

	assert_true(training_run(phases, of, iterations, change_ns, NULL, &result));
	morph_phases_free(phases);
	return result;
}

/* ----------------------------------------------------------------- learning */

/* With two data groups, two pipeline stages and four tensors there are six switches. */
static void stages_of_training_in_three_dimensions_are_found(void **state)
{
	static const uint64_t gathers[] = { 17, 18, 20 }, sends[] = { 3, 3, 1 };
	const struct training_shape shape = TRAINING_SHAPE;
	struct training_result result;
	struct morph_phases *phases;

	(void)state;
	training_3d(&training, &shape);
	assert_int_equal(training.ranks, 16);
	phases = phases_of(&training, MORPH_PHASE_ON_DEMAND);
	assert_true(training_run(phases, &training, 1, MS, NULL, &result));
	assert_int_equal(morph_phases_stages(phases, 0), 0);
	morph_phases_free(phases);
	phases = phases_of(&training, MORPH_PHASE_ON_DEMAND);
	assert_true(training_run(phases, &training, 3, MS, NULL, &result));
	for (uint32_t rank = 0; rank < training.ranks; rank++) {
		uint32_t switches;

		assert_int_equal(morph_phases_stages(phases, rank), 6);
		for (uint32_t at = 0; at < 6; at++) {
			struct morph_stage stage;

			assert_int_equal(morph_phases_stage(phases, rank, at, &stage), 0);
			assert_int_equal(training.group[stage.group].circuits,
					 at % 2 ? TRAINING_SIMPLEX : TRAINING_RING);
			assert_int_equal(stage.count, at % 2 ? sends[at / 2] : gathers[at / 2]);
			assert_true(stage.switches);
		}
		morph_phases_stall_ns(phases, rank, 0, &switches);
		assert_int_equal(switches, 6);
	}
	/* Six switches of four pairs of pipelines, or of eight pairs of data. */
	assert_int_equal(result.counts.learned, 16);
	assert_int_equal(result.changes, 3 * 8 + 3 * 8);
	morph_phases_free(phases);
}

/* A trace teaches the same as running ranks. */
static void traces_teach_the_same_as_ranks(void **state)
{
	static const uint64_t windows[] = { 30 * MS, 7 * MS, 0, 100 * MS };
	struct morph_phase_trace trace[16];
	struct training_result result;
	struct morph_phases *told, *seen;
	uint64_t now_ns = 0;

	(void)state;
	training_square(&training, 2, windows, 4, 10 * MS);
	told = phases_of(&training, MORPH_PHASE_PROVISIONED);
	seen = phases_of(&training, MORPH_PHASE_PROVISIONED);
	assert_true(training_run(seen, &training, 3, 0, NULL, &result));
	for (uint32_t iteration = 0; iteration < 2; iteration++) {
		uint32_t count = 0;

		for (uint32_t step = 0; step < 4; step++) {
			now_ns += windows[step];
			for (uint32_t rank = 0; rank < 4; rank++)
				trace[count++] = (struct morph_phase_trace){
					.rank = rank,
					.group = training.step[rank][step].group,
					.counter = 2 * iteration + step / 2,
					.begin_ns = now_ns,
					.end_ns = now_ns + 10 * MS
				};
			now_ns += 10 * MS;
		}
		assert_int_equal(morph_phases_learn(told, trace, count), 0);
	}
	for (uint32_t rank = 0; rank < 4; rank++) {
		assert_int_equal(morph_phases_stages(told, rank), 4);
		assert_int_equal(morph_phases_stages(seen, rank), 4);
		for (uint32_t at = 0; at < 4; at++) {
			struct morph_stage one, other;

			assert_int_equal(morph_phases_stage(told, rank, at, &one), 0);
			assert_int_equal(morph_phases_stage(seen, rank, at, &other), 0);
			assert_int_equal(one.group, other.group);
			assert_int_equal(one.first, other.first);
			assert_int_equal(one.count, 1);
			assert_int_equal(one.window_least_ns, windows[at]);
			assert_int_equal(other.window_least_ns, windows[at]);
			assert_int_equal(other.window_ns, windows[at]);
		}
	}
	morph_phases_free(told);
	morph_phases_free(seen);
}

/* The error is at the end of a long trace. The iteration in progress does not count. */
static void of_a_trace_that_is_refused_nothing_stays(void **state)
{
	struct morph_phases *phases = new_phases(2, MORPH_PHASE_ON_DEMAND);
	const uint32_t members[] = { 0, 1 };
	const struct morph_phase_trace bad[] = {
		{ .counter = 1, .begin_ns = MS, .end_ns = 1000 * MS },
		{ .group = 9, .begin_ns = 3, .end_ns = 4 },
	};
	struct morph_stage stage;
	uint64_t now_ns = 100;

	(void)state;
	assert_int_equal(morph_phases_add_group(phases, members, 2), 0);
	assert_int_equal(morph_phases_add_ring(phases, 0, 0, members), 0);
	for (uint32_t iteration = 0; iteration < 4; iteration++) {
		struct morph_phase_trace one = { .counter = 10 + iteration,
						 .begin_ns = now_ns,
						 .end_ns = now_ns + 50 };

		REFUSED(morph_phases_learn(phases, bad, 2), ENOENT, "no group 9");
		assert_int_equal(morph_phases_learn(phases, &one, 1), 0);
		now_ns += 50 + 1000;
	}
	assert_int_equal(morph_phases_stage(phases, 0, 0, &stage), 0);
	assert_int_equal(stage.windows, 3);
	assert_int_equal(stage.window_least_ns, 1000);
	assert_int_equal(stage.window_ns, 1000);
	morph_phases_free(phases);
}

static void last_eight_windows_are_kept(void **state)
{
	struct morph_phases *phases = new_phases(2, MORPH_PHASE_ON_DEMAND);
	const uint32_t members[] = { 0, 1 };
	struct morph_stage stage;
	uint64_t now_ns = 0;

	(void)state;
	assert_int_equal(morph_phases_add_group(phases, members, 2), 0);
	assert_int_equal(morph_phases_add_ring(phases, 0, 0, members), 0);
	for (uint32_t iteration = 0; iteration < 12; iteration++) {
		struct morph_phase_trace one = { .rank = 0, .group = 0, .counter = iteration };

		/* Windows of 0 (unknown), 1, 2 ... 11. */
		now_ns += iteration;
		one.begin_ns = now_ns;
		now_ns += 5;
		one.end_ns = now_ns;
		assert_int_equal(morph_phases_learn(phases, &one, 1), 0);
	}
	assert_int_equal(morph_phases_stage(phases, 0, 0, &stage), 0);
	assert_int_equal(stage.windows, 11);
	assert_int_equal(stage.window_least_ns, 4);
	assert_int_equal(stage.window_ns, 7);
	assert_false(stage.switches);
	morph_phases_free(phases);
}

/* --------------------------------------------------------------------- time */

/*
 * Ranks keep step: an iteration takes its computing and its communication. On demand it also takes
 * each change; with provisioning, only the part of a change that exceeds the window.
 */
static void time_beyond_the_window_of_a_change_remains(void **state)
{
	static const uint64_t windows[] = { 30 * MS, 7 * MS, 0, 100 * MS, 55 * MS, 20 * MS };
	const uint64_t alone = (30 + 7 + 0 + 100 + 55 + 20 + 6 * 10) * MS;

	(void)state;
	training_square(&training, 3, windows, 6, 10 * MS);
	for (uint64_t change = 0; change < 130; change += 3) {
		struct morph_phases *phases = phases_of(&training, MORPH_PHASE_PROVISIONED);
		struct training_result result;
		uint64_t stall_ns = 0;
		uint32_t switches;

		for (uint32_t at = 0; at < 6; at++)
			stall_ns += change * MS > windows[at] ? change * MS - windows[at] : 0;
		assert_true(training_run(phases, &training, 5, change * MS, NULL, &result));
		assert_int_equal(result.iteration_ns, alone + stall_ns);
		for (uint32_t rank = 0; rank < 9; rank++)
			assert_int_equal(morph_phases_stall_ns(phases, rank, change * MS,
							       &switches),
					 stall_ns);
		assert_int_equal(switches, 6);
		assert_int_equal(result.counts.strays, 0);
		morph_phases_free(phases);
		result = run(&training, MORPH_PHASE_ON_DEMAND, 5, change * MS);
		assert_int_equal(result.iteration_ns, alone + 6 * change * MS);
		assert_int_equal(result.counts.foreseen, 0);
		result = run(&training, MORPH_PHASE_UNCONTROLLED, 5, change * MS);
		assert_int_equal(result.iteration_ns, alone);
		assert_int_equal(result.counts.changes, 0);
	}
}

/* Delays of the facts, in milliseconds. */
static const uint64_t delays_ms[] = { 0, 1, 10, 50, 100, 250, 500, 750, 1000, 2000, 3000 };

static void check_delays(const struct training_shape *shape)
{
	uint64_t last[2] = { 0, 0 }, alone;

	training_3d(&training, shape);
	alone = run(&training, MORPH_PHASE_UNCONTROLLED, 4, 0).iteration_ns;
	for (uint32_t at = 0; at < sizeof(delays_ms) / sizeof(*delays_ms); at++) {
		uint64_t change_ns = delays_ms[at] * MS;
		struct training_result ahead =
			run(&training, MORPH_PHASE_PROVISIONED, 4, change_ns);
		struct training_result asked = run(&training, MORPH_PHASE_ON_DEMAND, 4, change_ns);

		assert_true(ahead.iteration_ns >= alone &&
			    ahead.iteration_ns <= asked.iteration_ns);
		assert_true(ahead.iteration_ns >= last[0] && asked.iteration_ns >= last[1]);
		/*
		 * Longer than without changes by the time of its changes, one after the other at
		 * each rank.
		 */
		if (shape->pipeline == 2)
			assert_true(asked.iteration_ns <= alone + 6 * change_ns);
		if (!change_ns)
			assert_true(asked.iteration_ns == alone);
		if (change_ns && change_ns <= shape->forward_ns && shape->pipeline > 1)
			assert_true(ahead.iteration_ns < asked.iteration_ns);
		if (shape->pipeline == 2)
			assert_int_equal(ahead.changes, asked.changes);
		assert_int_equal(ahead.counts.strays, 0);
		last[0] = ahead.iteration_ns;
		last[1] = asked.iteration_ns;
	}
}

static void longer_delays_take_longer_and_less_where_provisioned(void **state)
{
	struct training_shape shape = TRAINING_SHAPE;

	(void)state;
	check_delays(&shape);
	shape.microbatches = 1;
	check_delays(&shape);
	shape.data = 4;
	shape.pipeline = 1;
	check_delays(&shape);
	shape.pipeline = 4;
	shape.tensor = 2;
	shape.data = 2;
	shape.microbatches = 3;
	check_delays(&shape);
}

/* Changes wait for idle planes, and ready ranks wait for changes. No rank waits for ever. */
static void where_changes_darken_planes_iterations_end_too(void **state)
{
	const struct training_shape shape = TRAINING_SHAPE;
	uint64_t alone;

	(void)state;
	training_3d(&training, &shape);
	alone = run(&training, MORPH_PHASE_UNCONTROLLED, 4, 0).iteration_ns;
	for (uint32_t scope = MORPH_DELAY_PLANE_SCOPE; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++)
		for (uint32_t mode = 0; mode < MORPH_PHASE_UNCONTROLLED; mode++) {
			MORPH_OPTS(morph_phases_opts, opts, .mode = mode, .scope = scope);
			struct morph_phases *phases = training_phases(ctx, &training, &opts);
			struct training_result result;

			assert_non_null(phases);
			assert_true(training_run(phases, &training, 4, 10 * MS, NULL, &result));
			assert_true(result.iteration_ns > alone);
			/* Six changes at each rank, and as many at ranks that it waits for. */
			assert_true(result.iteration_ns <= alone + 12 * 10 * MS);
			morph_phases_free(phases);
		}
}

/* --------------------------------------------------------- where it is others */

/* Ranks of a square that keep step. The script has the operations of an iteration. */
struct square {
	struct morph_phases *phases;
	uint64_t now_ns;
	uint64_t counters[8];
};

static struct square new_square(uint32_t mode)
{
	struct square square = { .now_ns = 0 };

	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	square.phases = phases_of(&training, mode);
	return square;
}

/* Both rows (0 and 1) or both columns (2 and 3) have an operation; or only one group, in @only. */
static void all_do(struct square *square, bool columns, uint32_t only)
{
	uint32_t went = 0, groups = only == UINT32_MAX ? 2 : 1;

	square->now_ns += MS;
	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t group = columns ? 2 + rank % 2 : rank / 2;

		if (only != UINT32_MAX && group != only)
			continue;
		assert_int_equal(morph_phases_begin(square->phases, rank, group,
						    square->counters[group], square->now_ns),
				 0);
		went += obey(square->phases, square->now_ns);
	}
	assert_int_equal(went, groups);
	square->now_ns += MS;
	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t group = columns ? 2 + rank % 2 : rank / 2;

		if (only != UINT32_MAX && group != only)
			continue;
		assert_int_equal(morph_phases_end(square->phases, rank, group, square->now_ns), 0);
		obey(square->phases, square->now_ns);
	}
	for (uint32_t group = columns ? 2 : 0; group < (columns ? 4U : 2U); group++)
		square->counters[group] += only == UINT32_MAX || only == group;
}

/* "r" rows, "c" columns, "." end. */
static void iterate_square(struct square *square, const char *stages)
{
	for (uint32_t rank = 0; rank < 4; rank++)
		assert_int_equal(morph_phases_iterate(square->phases, rank), 0);
	for (; *stages; stages++)
		all_do(square, *stages == 'c', UINT32_MAX);
}

static void reordered_missing_and_new_stages_cost_time_and_are_learned(void **state)
{
	static const char *const changed[] = { "ccrr", "rrrr", "rc", "rrcrcc", "crrccr" };

	(void)state;
	for (uint32_t at = 0; at < sizeof(changed) / sizeof(*changed); at++) {
		struct square square = new_square(MORPH_PHASE_PROVISIONED);
		struct morph_phase_counts before, after;

		for (uint32_t iteration = 0; iteration < 3; iteration++)
			iterate_square(&square, "rrcc");
		before = counts_of(square.phases);
		assert_int_equal(before.learned, 4);
		iterate_square(&square, "rrcc");
		after = counts_of(square.phases);
		/*
		 * After learning, all changes are foreseen: two groups turn to columns, two to
		 * rows.
		 */
		assert_int_equal(after.unforeseen, before.unforeseen);
		assert_int_equal(after.foreseen, before.foreseen + 4);
		assert_int_equal(after.strays, 0);
		/*
		 * Each change of the order is carried out (all_do() checks that). After its second
		 * time it is foreseen.
		 */
		iterate_square(&square, changed[at]);
		iterate_square(&square, changed[at]);
		iterate_square(&square, changed[at]);
		before = counts_of(square.phases);
		assert_int_equal(before.learned, 8);
		assert_true(before.strays + before.unforeseen > after.strays + after.unforeseen);
		iterate_square(&square, changed[at]);
		after = counts_of(square.phases);
		assert_int_equal(after.unforeseen, before.unforeseen);
		assert_int_equal(after.strays, before.strays);
		morph_phases_free(square.phases);
	}
}

static void one_odd_iteration_is_not_believed(void **state)
{
	struct square square = new_square(MORPH_PHASE_PROVISIONED);

	(void)state;
	iterate_square(&square, "rrcc");
	iterate_square(&square, "rrcc");
	iterate_square(&square, "rrcc");
	for (uint32_t odd = 0; odd < 3; odd++) {
		iterate_square(&square, "rcrc");
		iterate_square(&square, "rrcc");
	}
	iterate_square(&square, "");
	assert_int_equal(counts_of(square.phases).learned, 4);
	assert_int_equal(morph_phases_stages(square.phases, 0), 2);
	morph_phases_free(square.phases);
}

static void more_stages_than_there_is_room_for_are_not_learned(void **state)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = MORPH_PHASE_PROVISIONED, .stages = 3);
	struct square square = { .now_ns = 0 };

	(void)state;
	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	square.phases = training_phases(ctx, &training, &opts);
	assert_non_null(square.phases);
	for (uint32_t iteration = 0; iteration < 4; iteration++)
		iterate_square(&square, "rcrc");
	assert_int_equal(morph_phases_stages(square.phases, 0), 0);
	assert_int_equal(counts_of(square.phases).learned, 0);
	for (uint32_t iteration = 0; iteration < 4; iteration++)
		iterate_square(&square, "rcr");
	assert_int_equal(morph_phases_stages(square.phases, 0), 3);
	morph_phases_free(square.phases);
}

/* ------------------------------------------------------------------ whatever */

/* Training in which each group skips, repeats or exchanges operations. */
static void departures_from_the_learned_order_only_take_time(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct square square = new_square(MORPH_PHASE_PROVISIONED);
		uint64_t state_of = seed;

		for (uint32_t iteration = 0; iteration < 12; iteration++) {
			char stages[] = "rrccrc";

			if (iteration > 3)
				for (uint32_t at = 0; at < 6; at++)
					if (!random_below(&state_of, 4))
						stages[at] = random_below(&state_of, 2) ? 'r' : 'c';
			iterate_square(&square, stages);
			if (iteration > 3 && !random_below(&state_of, 3))
				all_do(&square, false, random_below(&state_of, 2));
		}
		morph_phases_free(square.phases);
	}
}

/* ------------------------------------------------------------------- memory */

static struct morph_phases *furnish(void)
{
	const struct training_shape shape = TRAINING_SHAPE;
	MORPH_OPTS(morph_phases_opts, opts, .mode = MORPH_PHASE_PROVISIONED);

	training_3d(&training, &shape);
	return training_phases(ctx, &training, &opts);
}

static void without_memory_nothing_is_left_behind(void **state)
{
	(void)state;
	for (unsigned int nth = 1;; nth++) {
		struct morph_phases *phases;

		fault_at("memory", nth, ENOMEM);
		phases = furnish();
		if (!fault_struck()) {
			assert_non_null(phases);
			assert_true(nth > 100);
			morph_phases_free(phases);
			return;
		}
		assert_null(phases);
		assert_int_equal(morph_error_code(ctx), ENOMEM);
	}
}

static void calls_that_lack_memory_can_be_repeated(void **state)
{
	const uint32_t members[] = { 0, 1, 2 };

	(void)state;
	for (unsigned int nth = 1; nth < 16; nth++) {
		struct morph_phases *phases = new_phases(3, MORPH_PHASE_ON_DEMAND);
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_phases_add_group(phases, members, 3);
		if (ret)
			assert_int_equal(ret, -ENOMEM);
		if (ret)
			assert_int_equal(morph_phases_add_group(phases, members, 3), 0);
		ret = morph_phases_add_ring(phases, 0, 0, members);
		if (ret)
			assert_int_equal(ret, -ENOMEM);
		if (ret)
			assert_int_equal(morph_phases_add_ring(phases, 0, 0, members), 0);
		fault_struck();
		for (uint32_t rank = 0; rank < 3; rank++)
			assert_int_equal(morph_phases_begin(phases, rank, 0, 0, 0), 0);
		expect_change(phases, 0, 3, 0);
		morph_phases_free(phases);
	}
}

static void nothing_is_allocated_while_ranks_run(void **state)
{
	struct square square = new_square(MORPH_PHASE_PROVISIONED);

	(void)state;
	iterate_square(&square, "rc");
	allocations();
	for (uint32_t iteration = 0; iteration < 10; iteration++)
		iterate_square(&square, "rrcc");
	assert_int_equal(allocations(), 0);
	morph_phases_free(square.phases);
}

/* ------------------------------------------------------------------ refused */

static void invalid_sets_of_phases_are_refused_with_the_reason(void **state)
{
	MORPH_OPTS(morph_phases_opts, planes, .planes = 65);
	MORPH_OPTS(morph_phases_opts, mode, .mode = 3);
	MORPH_OPTS(morph_phases_opts, scope, .scope = 3);
	MORPH_OPTS(morph_phases_opts, stages, .stages = 65537);

	(void)state;
	REFUSED_NEW(0, NULL, "1 to 4096 ranks");
	REFUSED_NEW(4097, NULL, "1 to 4096 ranks");
	REFUSED_NEW(2, &planes, "at most 64 ports");
	REFUSED_NEW(2, &mode, "mode 3");
	REFUSED_NEW(2, &scope, "scope 3");
	REFUSED_NEW(2, &stages, "65536 stages");
	planes.sz = 1;
	REFUSED_NEW(2, &planes, "MORPH_OPTS");
	morph_phases_free(NULL);
}

static void invalid_groups_and_circuits_are_refused_with_the_reason(void **state)
{
	struct morph_phases *phases = new_phases(4, MORPH_PHASE_PROVISIONED);
	const uint32_t members[] = { 0, 1, 2, 2, 4 }, twice[] = { 0, 1, 0 };

	(void)state;
	REFUSED(morph_phases_add_group(phases, members, 1), EINVAL, "2 to 4 members");
	REFUSED(morph_phases_add_group(phases, members, 5), EINVAL, "2 to 4 members");
	REFUSED(morph_phases_add_group(phases, members, 4), EINVAL, "rank 2 is listed twice");
	REFUSED(morph_phases_add_group(phases, &members[3], 2), ENOENT, "no rank 4");
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 0, 1), ENOENT, "no group 0");
	REFUSED(morph_phases_add_ring(phases, 0, 0, members), ENOENT, "no group 0");
	assert_int_equal(morph_phases_add_group(phases, members, 3), 0);
	REFUSED(morph_phases_add_circuit(phases, 0, 1, 0, 1), ENOENT, "no plane 1");
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 0, 3), ENOENT, "not a member");
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 9, 1), ENOENT, "no rank 9");
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 1, 1), EINVAL, "to itself");
	REFUSED(morph_phases_add_ring(phases, 0, 0, twice), EINVAL, "to itself");
	assert_int_equal(morph_phases_add_circuit(phases, 0, 0, 0, 1), 0);
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 0, 2), EEXIST, "another circuit");
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 2, 1), EEXIST, "another circuit");
	REFUSED(morph_phases_add_ring(phases, 0, 0, members), EEXIST, "another circuit");
	assert_int_equal(morph_phases_begin(phases, 0, 0, 0, 0), 0);
	REFUSED(morph_phases_add_circuit(phases, 0, 0, 1, 0), EBUSY, "in use");
	for (uint32_t group = 1; group < 65536; group++)
		assert_int_equal(morph_phases_add_group(phases, members, 2), group);
	REFUSED(morph_phases_add_group(phases, members, 2), E2BIG, "65536 groups");
	morph_phases_free(phases);
}

static void impossible_calls_are_refused_with_the_reason(void **state)
{
	struct morph_phases *phases = new_phases(3, MORPH_PHASE_PROVISIONED);
	const uint32_t members[] = { 0, 1 };
	struct morph_phase_trace bad = { .begin_ns = 2, .end_ns = 1 };
	struct morph_phase_trace back[] = { { .begin_ns = 5, .end_ns = 6 },
					    { .begin_ns = 4, .end_ns = 6, .counter = 1 } };
	struct morph_phase_trace again[] = { { .begin_ns = 5, .end_ns = 6 },
					     { .begin_ns = 6, .end_ns = 7 } };
	struct morph_stage stage;

	(void)state;
	assert_int_equal(morph_phases_add_group(phases, members, 2), 0);
	assert_int_equal(morph_phases_add_ring(phases, 0, 0, members), 0);
	REFUSED(morph_phases_learn(phases, &bad, 1), EINVAL, "before it begins");
	REFUSED(morph_phases_learn(phases, back, 2), EINVAL, "order in which they began");
	REFUSED(morph_phases_learn(phases, again, 2), EINVAL, "does not follow");
	bad.rank = 2;
	REFUSED(morph_phases_learn(phases, &bad, 1), ENOENT, "not a member");
	REFUSED(morph_phases_begin(phases, 3, 0, 0, 1), ENOENT, "no rank 3");
	REFUSED(morph_phases_begin(phases, 2, 0, 0, 1), ENOENT, "not a member");
	REFUSED(morph_phases_begin(phases, 0, 1, 0, 1), ENOENT, "no group 1");
	REFUSED(morph_phases_end(phases, 0, 0, 1), ENOENT, "no operation");
	REFUSED(morph_phases_announce(phases, 2, 0, 1), ENOENT, "not a member");
	REFUSED(morph_phases_provision(phases, 1, 1), ENOENT, "no group 1");
	REFUSED(morph_phases_iterate(phases, 3), ENOENT, "no rank 3");
	REFUSED(morph_phases_leave(phases, 3, 1), ENOENT, "no rank 3");
	REFUSED(morph_phases_changed(phases, 1, true, 1), ENOENT, "no group 1");
	REFUSED(morph_phases_change(phases, 1, true, 0, NULL), ENOENT, "no group 1");
	REFUSED(morph_phases_stage(phases, 3, 0, &stage), ENOENT, "no rank 3");
	REFUSED(morph_phases_stage(phases, 0, 0, &stage), ENOENT, "no stage 0");
	assert_int_equal(morph_phases_stages(phases, 3), 0);
	assert_int_equal(morph_phases_stall_ns(phases, 3, 1, NULL), 0);
	assert_int_equal(morph_phases_begin(phases, 0, 0, 3, 5), 0);
	REFUSED(morph_phases_begin(phases, 0, 0, 4, 5), EBUSY, "operation 3 of group 0");
	REFUSED(morph_phases_learn(phases, NULL, 0), EBUSY, "under way");
	REFUSED(morph_phases_end(phases, 0, 0, 4), EINVAL, "from 5 to 4");
	REFUSED(morph_phases_begin(phases, 1, 0, 3, 4), EINVAL, "from 5 to 4");
	REFUSED(morph_phases_announce(phases, 1, 0, 4), EINVAL, "from 5 to 4");
	REFUSED(morph_phases_provision(phases, 0, 4), EINVAL, "from 5 to 4");
	REFUSED(morph_phases_leave(phases, 0, 4), EINVAL, "from 5 to 4");
	REFUSED(morph_phases_changed(phases, 0, true, 4), EINVAL, "from 5 to 4");
	assert_int_equal(morph_phases_end(phases, 0, 0, 6), 0);
	REFUSED(morph_phases_begin(phases, 0, 0, 3, 6), EINVAL, "counter 3 of group 0");
	morph_phases_free(phases);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stages_of_training_in_three_dimensions_are_found),
		TEST(traces_teach_the_same_as_ranks),
		TEST(of_a_trace_that_is_refused_nothing_stays),
		TEST(last_eight_windows_are_kept),
		TEST(time_beyond_the_window_of_a_change_remains),
		TEST(longer_delays_take_longer_and_less_where_provisioned),
		TEST(where_changes_darken_planes_iterations_end_too),
		TEST(reordered_missing_and_new_stages_cost_time_and_are_learned),
		TEST(one_odd_iteration_is_not_believed),
		TEST(more_stages_than_there_is_room_for_are_not_learned),
		TEST(departures_from_the_learned_order_only_take_time),
		TEST(without_memory_nothing_is_left_behind),
		TEST(calls_that_lack_memory_can_be_repeated),
		TEST(nothing_is_allocated_while_ranks_run),
		TEST(invalid_sets_of_phases_are_refused_with_the_reason),
		TEST(invalid_groups_and_circuits_are_refused_with_the_reason),
		TEST(impossible_calls_are_refused_with_the_reason),
	};

	return cmocka_run_group_tests_name("phase", tests, NULL, NULL);
}
