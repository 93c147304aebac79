// SPDX-License-Identifier: LGPL-2.1-or-later
/* Changes between phases: their requests, their order, and the consequences of failed ones. */
#include "../internal/client.h"
#include "phases.h"

static struct training training;

static void expect_go(struct morph_phases *phases, uint32_t group, uint64_t counter)
{
	struct morph_phase_act act;

	assert_true(morph_phases_next(phases, &act));
	assert_int_equal(act.kind, MORPH_PHASE_GO);
	assert_int_equal(act.group, group);
	assert_int_equal(act.counter, counter);
}

static void expect_nothing(struct morph_phases *phases)
{
	struct morph_phase_act act;

	assert_false(morph_phases_next(phases, &act));
}

static void announced_phases_are_set_ahead(void **state)
{
	struct morph_phases *phases;
	struct morph_phase_circuit circuit;

	(void)state;
	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	phases = phases_of(&training, MORPH_PHASE_PROVISIONED);
	/* One request of a launcher is enough. Of a rank's requests, all are necessary. */
	assert_int_equal(morph_phases_provision(phases, 0, 1), 0);
	expect_change(phases, 0, 2, 0);
	assert_int_equal(morph_phases_change(phases, 0, false, 0, &circuit), 0);
	assert_int_equal(circuit.src, 0);
	assert_int_equal(circuit.dst, 1);
	assert_int_equal(morph_phases_change(phases, 0, false, 1, &circuit), 0);
	assert_int_equal(circuit.src, 1);
	REFUSED(morph_phases_change(phases, 0, false, 2, &circuit), ENOENT, "no circuit 2");
	REFUSED(morph_phases_change(phases, 0, true, 0, &circuit), ENOENT, "no circuit 0");
	assert_int_equal(morph_phases_changed(phases, 0, true, 2), 0);
	assert_int_equal(morph_phases_announce(phases, 0, 2, 3), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_announce(phases, 0, 0, 3), 0);
	assert_int_equal(morph_phases_announce(phases, 2, 2, 3), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_announce(phases, 0, 2, 4), 0);
	expect_change(phases, 2, 2, 2);
	assert_int_equal(morph_phases_change(phases, 2, true, 0, &circuit), 0);
	assert_int_equal(circuit.plane, 0);
	assert_int_equal(circuit.src, 0);
	assert_int_equal(circuit.dst, 1);
	assert_int_equal(morph_phases_begin(phases, 0, 2, 7, 5), 0);
	assert_int_equal(morph_phases_begin(phases, 2, 2, 7, 6), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_changed(phases, 2, true, 10), 0);
	expect_go(phases, 2, 7);
	expect_nothing(phases);
	assert_int_equal(counts_of(phases).stall_ns, 4);
	assert_int_equal(counts_of(phases).foreseen, 1);
	assert_int_equal(counts_of(phases).unforeseen, 0);
	morph_phases_free(phases);
}

static void on_demand_announcements_have_no_effect(void **state)
{
	struct morph_phases *phases;

	(void)state;
	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	phases = phases_of(&training, MORPH_PHASE_ON_DEMAND);
	assert_int_equal(morph_phases_provision(phases, 0, 1), 0);
	assert_int_equal(morph_phases_announce(phases, 0, 0, 1), 0);
	assert_int_equal(morph_phases_announce(phases, 1, 0, 1), 0);
	expect_nothing(phases);
	morph_phases_free(phases);
}

static void a_change_that_fails_is_asked_for_again(void **state)
{
	struct morph_phases *phases;

	(void)state;
	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	phases = phases_of(&training, MORPH_PHASE_ON_DEMAND);
	assert_int_equal(morph_phases_begin(phases, 0, 0, 0, 1), 0);
	assert_int_equal(morph_phases_begin(phases, 1, 0, 0, 1), 0);
	REFUSED(morph_phases_changed(phases, 0, true, 1), ENOENT, "no act");
	expect_change(phases, 0, 2, 0);
	assert_int_equal(morph_phases_changed(phases, 0, false, 2), 0);
	expect_change(phases, 0, 2, 0);
	assert_int_equal(morph_phases_changed(phases, 0, true, 3), 0);
	expect_go(phases, 0, 0);
	assert_int_equal(counts_of(phases).failed, 1);
	morph_phases_free(phases);
}

/* The group that is ready first goes first, even if circuits of the other group are lit. */
static void no_phase_is_overtaken_forever(void **state)
{
	struct morph_phases *phases;

	(void)state;
	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	phases = phases_of(&training, MORPH_PHASE_ON_DEMAND);
	for (uint32_t rank = 0; rank < 4; rank++)
		assert_int_equal(morph_phases_begin(phases, rank, rank / 2, 0, 1), 0);
	assert_int_equal(obey(phases, 1), 2);
	/*
	 * The column of ranks 0 and 2 is ready while both rows run. First row 1 ends, then row 0.
	 */
	assert_int_equal(morph_phases_begin(phases, 0, 2, 0, 2), 0);
	assert_int_equal(morph_phases_begin(phases, 2, 2, 0, 2), 0);
	assert_int_equal(morph_phases_end(phases, 2, 1, 3), 0);
	assert_int_equal(morph_phases_end(phases, 3, 1, 3), 0);
	expect_nothing(phases);
	/* The next operation of the row waits until the column has finished. */
	assert_int_equal(morph_phases_begin(phases, 2, 1, 1, 4), 0);
	assert_int_equal(morph_phases_begin(phases, 3, 1, 1, 4), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_end(phases, 0, 0, 5), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_end(phases, 1, 0, 5), 0);
	expect_change(phases, 2, 2, 4);
	assert_int_equal(morph_phases_changed(phases, 2, true, 6), 0);
	expect_go(phases, 2, 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_end(phases, 0, 2, 7), 0);
	assert_int_equal(morph_phases_end(phases, 2, 2, 7), 0);
	assert_int_equal(obey(phases, 7), 1);
	assert_int_equal(counts_of(phases).waits, 2);
	morph_phases_free(phases);
}

static void add_pair(struct morph_phases *phases, const uint32_t members[2])
{
	int group = morph_phases_add_group(phases, members, 2);

	assert_true(group >= 0);
	assert_int_equal(morph_phases_add_ring(phases, (uint32_t)group, 0, members), 0);
}

static void begin_pair(struct morph_phases *phases, uint32_t group, uint64_t counter)
{
	for (uint32_t rank = 2 * group; rank < 2 * group + 2; rank++)
		assert_int_equal(morph_phases_begin(phases, rank, group, counter, 1), 0);
}

/* A change that darkens the plane gets its turn, even if other groups leave no gap. */
static void a_plane_that_is_to_be_changed_is_left_alone_first(void **state)
{
	for (uint32_t scope = MORPH_DELAY_PORT_SCOPE; scope <= MORPH_DELAY_FABRIC_SCOPE; scope++) {
		MORPH_OPTS(morph_phases_opts, opts, .scope = scope);
		struct morph_phases *phases = morph_phases_new(ctx, 6, &opts);

		(void)state;
		assert_non_null(phases);
		for (uint32_t group = 0; group < 3; group++)
			add_pair(phases, (const uint32_t[]){ 2 * group, 2 * group + 1 });
		begin_pair(phases, 0, 0);
		begin_pair(phases, 1, 0);
		assert_int_equal(obey(phases, 1), 2);
		assert_int_equal(morph_phases_end(phases, 2, 1, 1), 0);
		assert_int_equal(morph_phases_end(phases, 3, 1, 1), 0);
		begin_pair(phases, 2, 0);
		begin_pair(phases, 1, 1);
		if (scope == MORPH_DELAY_PORT_SCOPE) {
			assert_int_equal(obey(phases, 1), 2);
		} else {
			expect_nothing(phases);
			assert_int_equal(morph_phases_end(phases, 0, 0, 1), 0);
			assert_int_equal(morph_phases_end(phases, 1, 0, 1), 0);
			expect_change(phases, 2, 2, 0);
			expect_nothing(phases);
			assert_int_equal(morph_phases_changed(phases, 2, true, 1), 0);
			assert_int_equal(obey(phases, 1), 2);
		}
		morph_phases_free(phases);
	}
}

/* One of two circuits is taken away while the other is set. The next change sets it. */
static void a_group_has_one_change_at_a_time(void **state)
{
	struct morph_phases *phases = new_phases(4, MORPH_PHASE_PROVISIONED);
	const uint32_t all[] = { 0, 1, 2, 3 };
	const uint32_t first[] = { 0, 2 };

	(void)state;
	assert_int_equal(morph_phases_add_group(phases, all, 4), 0);
	assert_int_equal(morph_phases_add_circuit(phases, 0, 0, 0, 1), 0);
	assert_int_equal(morph_phases_add_circuit(phases, 0, 0, 2, 3), 0);
	assert_int_equal(morph_phases_add_group(phases, first, 2), 1);
	assert_int_equal(morph_phases_add_circuit(phases, 1, 0, 0, 2), 0);
	assert_int_equal(morph_phases_add_group(phases, first, 2), 2);
	assert_int_equal(morph_phases_add_circuit(phases, 2, 0, 2, 0), 0);
	for (uint32_t turn = 0; turn < 2; turn++) {
		assert_int_equal(morph_phases_provision(phases, turn ? 2 : 0, 1), 0);
		expect_change(phases, turn ? 2 : 0, turn ? 1 : 2, turn ? 1 : 0);
		assert_int_equal(morph_phases_changed(phases, turn ? 2 : 0, true, 1), 0);
	}
	assert_int_equal(morph_phases_provision(phases, 0, 2), 0);
	expect_change(phases, 0, 1, 1);
	assert_int_equal(morph_phases_provision(phases, 1, 2), 0);
	expect_change(phases, 1, 1, 1);
	assert_int_equal(morph_phases_changed(phases, 1, true, 3), 0);
	for (uint32_t rank = 0; rank < 4; rank++)
		assert_int_equal(morph_phases_begin(phases, rank, 0, 0, 4), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_changed(phases, 0, true, 5), 0);
	expect_change(phases, 0, 1, 1);
	assert_int_equal(morph_phases_changed(phases, 0, true, 6), 0);
	expect_go(phases, 0, 0);
	morph_phases_free(phases);
}

static void no_rank_waits_for_one_that_left(void **state)
{
	struct morph_phases *phases;

	(void)state;
	training_square(&training, 2, (const uint64_t[]){ 0 }, 1, 0);
	phases = phases_of(&training, MORPH_PHASE_PROVISIONED);
	assert_int_equal(morph_phases_begin(phases, 0, 0, 0, 1), 0);
	assert_int_equal(morph_phases_begin(phases, 1, 0, 0, 1), 0);
	assert_int_equal(obey(phases, 1), 1);
	assert_int_equal(morph_phases_begin(phases, 2, 2, 0, 1), 0);
	assert_int_equal(morph_phases_leave(phases, 0, 2), 0);
	REFUSED(morph_phases_leave(phases, 0, 2), ENOTCONN, "rank 0 has left");
	REFUSED(morph_phases_begin(phases, 0, 0, 1, 2), ENOTCONN, "rank 0 has left");
	REFUSED(morph_phases_announce(phases, 0, 0, 2), ENOTCONN, "rank 0 has left");
	REFUSED(morph_phases_announce(phases, 1, 0, 2), ENOTCONN, "1 members of group 0");
	REFUSED(morph_phases_provision(phases, 0, 2), ENOTCONN, "1 members of group 0");
	/* Rank 1 still sends. The column of 1 and 3 gets no circuit from it. */
	assert_int_equal(morph_phases_begin(phases, 1, 3, 0, 3), 0);
	assert_int_equal(morph_phases_begin(phases, 3, 3, 0, 3), 0);
	expect_nothing(phases);
	assert_int_equal(morph_phases_end(phases, 1, 0, 4), 0);
	expect_change(phases, 3, 2, 2);
	assert_int_equal(morph_phases_changed(phases, 3, true, 5), 0);
	expect_go(phases, 3, 0);
	REFUSED(morph_phases_begin(phases, 1, 0, 1, 5), ENOTCONN, "1 members of group 0");
	/* Rank 2 gives up. */
	assert_int_equal(morph_phases_end(phases, 2, 2, 6), 0);
	REFUSED(morph_phases_end(phases, 2, 2, 6), ENOENT, "no operation of group 2");
	morph_phases_free(phases);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(announced_phases_are_set_ahead),
		TEST(on_demand_announcements_have_no_effect),
		TEST(a_change_that_fails_is_asked_for_again),
		TEST(no_phase_is_overtaken_forever),
		TEST(a_plane_that_is_to_be_changed_is_left_alone_first),
		TEST(a_group_has_one_change_at_a_time),
		TEST(no_rank_waits_for_one_that_left),
	};

	return cmocka_run_group_tests_name("phase_change", tests, NULL, NULL);
}
