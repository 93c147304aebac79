// SPDX-License-Identifier: LGPL-2.1-or-later
/* Protection: the spare that takes over from each rank. */
#include "../internal/planner.h"
#include "faults.h"
#include "protecting.h"

static const char *server_profile; /* of a server that stands alone */

/* Number of ranks with each verdict, and of spares refused for each reason. */
struct tally {
	uint32_t verdicts[4], reasons[3], own;
};

static void compare(const struct corner *corner, uint32_t plan, struct morph_protection *protection,
		    struct tally *tally)
{
	protected(corner->bench, corner->plans[plan], protection);
	for (uint32_t rank = 0; rank < corner->plans[plan]->ranks; rank++) {
		uint32_t verdict = morph_protection_of(protection, rank);

		tally->verdicts[verdict]++;
		assert_int_equal(verdict == MORPH_FEASIBLE, any_spare_does(corner, plan, rank));
		assert_int_not_equal(verdict, MORPH_UNDECIDED);
	}
	for (uint32_t at = 0; at < protection->refusals.count; at++) {
		tally->reasons[protection->refusals.list[at].reason]++;
		tally->own += protection->refusals.list[at].departs !=
			      protection->refusals.list[at].arrives;
	}
}

static void verdicts_are_those_of_trying_everything(void **state)
{
	struct tally tally = { { 0 }, { 0 }, 0 };
	struct morph_protection *protection;
	struct corner corner;
	uint64_t seed = 2;

	corner_begin(&corner, *state);
	protection = morph_protection_new(corner.bench->ctx);
	assert_non_null(protection);
	for (uint32_t round = 0; round < 300; round++) {
		protecting_run(&corner, &seed);
		for (uint32_t at = 0; at < corner.count; at++)
			compare(&corner, at, protection, &tally);
	}
	print_message(
		"%u ranks protected, %u not: %u spares by cuts, %u by cuts at servers of other slices, %u searched\n",
		tally.verdicts[MORPH_FEASIBLE], tally.verdicts[MORPH_INFEASIBLE],
		tally.reasons[MORPH_WIRE_SPARE_CUT], tally.own,
		tally.reasons[MORPH_WIRE_SPARE_SEARCHED]);
	assert_true(tally.verdicts[MORPH_FEASIBLE] && tally.verdicts[MORPH_INFEASIBLE]);
	assert_true(tally.reasons[MORPH_WIRE_SPARE_CUT] &&
		    tally.reasons[MORPH_WIRE_SPARE_SEARCHED] && tally.own);
	morph_protection_free(protection);
	corner_end(&corner);
}

/* ----------------------------------------------------------------------- racks */

static void every_rank_of_a_full_rack_has_a_spare(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_object *object = NULL;

	place_torus(bench, bench->plan, WHOLE_RACK, 7);
	assert_int_equal(protected(bench, bench->plan, protection), MORPH_FEASIBLE);
	assert_int_equal(morph_protection_ranks(protection), ACCELERATORS);
	assert_string_equal(morph_protection_why(protection), "");
	for (uint32_t rank = 0; rank < ACCELERATORS; rank++) {
		assert_int_equal(morph_protection_of(protection, rank), MORPH_FEASIBLE);
		assert_in_range(morph_protection_spare(protection, rank), ACCELERATORS, 71);
		assert_in_range(morph_protection_fibres(protection, rank), 12, 36);
	}
	assert_int_equal(morph_protection_of(protection, ACCELERATORS), 0);
	assert_int_equal(morph_protection_spare(protection, ACCELERATORS), UINT32_MAX);
	assert_int_equal(morph_protection_fibres(protection, ACCELERATORS), 0);
	assert_int_equal(morph_protection_describe(protection, bench->plan, bench->ledger, &object),
			 0);
	assert_string_equal(morph_object_text(object, "verdict"), "feasible");
	assert_int_equal(morph_object_values(object, "rank"), ACCELERATORS);
	morph_object_free(object);
	morph_protection_free(protection);
}

static void without_spares_no_rank_is_protected(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);

	place_torus(bench, bench->plan, HALF_RACK, 7);
	for (uint32_t at = ACCELERATORS; at < 72; at++)
		assert_int_equal(
			morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, at % 2), 0);
	for (uint32_t at = ACCELERATORS; at < 72; at += 2)
		assert_int_equal(morph_ledger_hold(bench->ledger, at, 9), 0);
	assert_int_equal(protected(bench, bench->plan, protection), MORPH_INFEASIBLE);
	assert_string_equal(morph_protection_why(protection),
			    "rank 0: no healthy, unassigned spare in its rack");
	assert_int_equal(morph_protection_of(protection, 31), MORPH_INFEASIBLE);
	assert_int_equal(morph_protection_spare(protection, 31), UINT32_MAX);
	morph_protection_free(protection);
}

/* The only short resource are the fibres of its spare servers. */
static void a_refusal_names_the_servers_of_the_cut(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	const struct sites *sites = &bench->ledger->sites;
	const struct morph_object *rank, *refusal;
	struct morph_object *object = NULL;

	place_torus(bench, bench->plan, HALF_RACK, 7);
	for (uint32_t at = 0; at < sites->strands_count; at++)
		if (sites->strands[at].to >= 16)
			morph_ledger_load(bench->ledger, sites->strands[at].guides[0] >> 1, 1);
	assert_int_equal(protected(bench, bench->plan, protection), MORPH_INFEASIBLE);
	assert_string_equal(morph_protection_why(protection),
			    "rank 0: no paths exist for its circuits to any of 8 spares");
	assert_int_equal(morph_protection_describe(protection, bench->plan, bench->ledger, &object),
			 0);
	rank = morph_object_nested_at(object, "rank", 5);
	assert_string_equal(morph_object_text(rank, "verdict"), "infeasible");
	assert_int_equal(morph_object_values(rank, "refusal"), 8);
	refusal = morph_object_nested_at(rank, "refusal", 0);
	assert_string_equal(morph_object_text(refusal, "reason"), "cut");
	/* Without the one fibre, these are all fibres that lead to the spare. */
	assert_true(morph_object_values(refusal, "host") >= 16);
	morph_object_free(object);
	morph_protection_free(protection);
}

/* Its spares are beside its accelerators, so that light needs no fibres of the rack. */
static void a_server_alone_needs_no_fibres(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_ledger *ledger = NULL;
	struct morph_model *model = NULL;

	assert_int_equal(morph_model_load(bench->ctx, server_profile, &model), 0);
	assert_int_equal(morph_ledger_new(bench->ctx, model, &ledger), 0);
	assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_RING, 8, 1, 1), 0);
	assert_int_equal(morph_place(ledger, bench->request, bench->plan), 0);
	assert_int_equal(morph_ledger_take(ledger, bench->plan, 1), 0);
	assert_int_equal(morph_protect(ledger, bench->plan, protection), 0);
	assert_int_equal(morph_protection_verdict(protection), MORPH_FEASIBLE);
	for (uint32_t rank = 0; rank < 8; rank++)
		assert_int_equal(morph_protection_fibres(protection, rank), 0);
	morph_protection_free(protection);
	morph_ledger_free(ledger);
	morph_model_put(model);
}

/* ----------------------------------------------------------------------- input */

static void refused(const struct bench *bench, int result, int error, const char *text)
{
	assert_int_equal(result, -error);
	if (!strstr(morph_error_text(bench->ctx), text))
		fail_msg("\"%s\" has no \"%s\"", morph_error_text(bench->ctx), text);
}

static void bad_input_is_refused_with_its_reason(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_ledger *ledger = bench->ledger;
	struct morph_object *object = NULL;

	refused(bench, morph_protect(ledger, bench->plan, protection), EINVAL,
		"the plan is not feasible");
	refused(bench, morph_ledger_keep(ledger, protection), EINVAL, "the protection is empty");
	refused(bench, morph_ledger_unkeep(ledger, protection), EINVAL, "does not keep");
	refused(bench, morph_protection_describe(protection, bench->plan, ledger, &object), EINVAL,
		"is empty");
	assert_int_equal(morph_protection_verdict(protection), 0);
	place_torus(bench, bench->plan, HALF_RACK, 7);
	assert_int_equal(morph_ledger_give(ledger, bench->plan), 0);
	refused(bench, morph_protect(ledger, bench->plan, protection), EINVAL,
		"of rank 0; call morph_ledger_take() first");
	for (uint32_t rank = 0; rank < 32; rank++)
		morph_ledger_hold(ledger, bench->plan->accelerators[rank], rank == 31 ? 8 : 7);
	refused(bench, morph_protect(ledger, bench->plan, protection), EINVAL,
		"of rank 31; call morph_ledger_take() first");
	morph_ledger_hold(ledger, bench->plan->accelerators[31], 7);
	refused(bench, morph_protect(ledger, bench->plan, protection), EINVAL,
		"of the plan is dark");
	morph_ledger_give(ledger, bench->plan);
	morph_ledger_take(ledger, bench->plan, 7);
	bench->plan->checksum++;
	refused(bench, morph_protect(ledger, bench->plan, protection), EINVAL,
		"the plan is for a profile with checksum");
	bench->plan->checksum--;
	assert_int_equal(protected(bench, bench->plan, protection), MORPH_FEASIBLE);
	assert_int_equal(morph_ledger_keep(ledger, protection), 0);
	refused(bench, morph_ledger_keep(ledger, protection), EBUSY,
		"already keeps the protection");
	refused(bench, morph_protect(ledger, bench->plan, protection), EBUSY,
		"the ledger keeps the protection; call morph_ledger_unkeep() first");
	assert_int_equal(morph_ledger_unkeep(ledger, protection), 0);
	morph_ledger_set_spare(ledger, morph_protection_spare(protection, 0), false);
	refused(bench, morph_ledger_keep(ledger, protection), EBUSY,
		"is no longer a healthy spare");
	protection->checksum++;
	refused(bench, morph_ledger_keep(ledger, protection), EINVAL,
		"the protection is for a profile with checksum");
	morph_protection_free(protection);
}

/* A number of fibres of a link are dark. */
static void open_link(struct bench *bench, uint32_t from, uint32_t to, uint32_t count)
{
	const struct sites *sites = &bench->ledger->sites;

	for (uint32_t at = 0; at < sites->strands_count && count; at++) {
		if (sites->strands[at].from != from || sites->strands[at].to != to)
			continue;
		morph_ledger_load(bench->ledger, sites->strands[at].guides[0] >> 1, 0);
		count--;
	}
	assert_int_equal(count, 0);
}

/*
 * Circuits from server 7 to 3, 5 and 13. From the spare in server 0, one fibre leads to server 1
 * and two to 2; from 1, one to each of the three; from 2, two to 3. The flow to 3 begins over 1 and
 * must give way to the flow to 5. Then there is none to 13, and 2 and 3 are on the spare's side of
 * the cut.
 */
static void a_displaced_flow_is_restored(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	struct morph_ledger *ledger = bench->ledger;

	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++)
		morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at,
				  at != 28 && at != 12 && at != 20 && at != 52);
	for (uint32_t at = 0; at < ledger->sites.strands_count; at++)
		morph_ledger_load(ledger, ledger->sites.strands[at].guides[0] >> 1, 1);
	open_link(bench, 7, 3, 1);
	open_link(bench, 7, 5, 2);
	open_link(bench, 5, 9, 1);
	open_link(bench, 9, 13, 1);
	assert_int_equal(morph_request_set_count(bench->request, 4), 0);
	for (uint32_t to = 1; to < 4; to++)
		assert_int_equal(morph_request_add_circuit(bench->request, 0, to), 0);
	assert_int_equal(placed(bench, bench->plan), MORPH_FEASIBLE);
	assert_int_equal(morph_plan_accelerator(bench->plan, 0), 28);
	assert_int_equal(morph_ledger_take(ledger, bench->plan, 7), 0);
	open_link(bench, 0, 1, 1);
	open_link(bench, 0, 2, 2);
	open_link(bench, 1, 3, 1);
	open_link(bench, 1, 5, 1);
	open_link(bench, 1, 13, 1);
	open_link(bench, 2, 3, 2);
	morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, 0, false);
	assert_int_equal(morph_ledger_set_spare(ledger, 0, true), 0);
	assert_int_equal(protected(bench, bench->plan, protection), MORPH_INFEASIBLE);
	assert_int_equal(protection->ranks[0].refusals_count, 1);
	assert_int_equal(protection->refusals.list[0].reason, MORPH_WIRE_SPARE_CUT);
	assert_int_equal(protection->refusals.list[0].departs, 1 << 0 | 1 << 2 | 1 << 3);
	morph_protection_free(protection);
}

/* ------------------------------------------------------------------ hard to say */

/* Tori that fill most of a rack, with half of its other fibres lit. */
static uint32_t fill(struct bench *bench, struct morph_plan *plans[8], uint64_t *seed)
{
	static const uint32_t shapes[][3] = { { 2, 2, 1 }, { 4, 1, 1 }, { 2, 2, 2 },
					      { 4, 4, 1 }, { 2, 2, 4 }, { 2, 4, 4 } };
	const struct sites *sites = &bench->ledger->sites;
	uint32_t held = 0, count = 0;

	for (uint32_t at = 0; at < sites->graph->accelerators_count; at++)
		morph_ledger_hold(bench->ledger, at, 0);
	for (uint32_t at = 0; at < sites->strands_count; at++)
		morph_ledger_load(bench->ledger, sites->strands[at].guides[0] >> 1,
				  random_below(seed, 100) < 50);
	for (uint32_t tries = 0; tries < 8 && held < 45; tries++) {
		const uint32_t *shape = shapes[random_below(seed, ARRAY_SIZE(shapes))];

		assert_int_equal(morph_request_set_shape(bench->request, MORPH_SHAPE_TORUS,
							 shape[0], shape[1], shape[2]),
				 0);
		assert_int_equal(morph_place(bench->ledger, bench->request, plans[count]), 0);
		if (morph_plan_verdict(plans[count]) != MORPH_FEASIBLE)
			continue;
		assert_int_equal(morph_ledger_take(bench->ledger, plans[count], count + 1), 0);
		held += plans[count++]->ranks;
	}
	return count;
}

static void a_search_that_takes_too_long_is_given_up(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);
	uint32_t verdicts[4] = { 0 }, doubts = 0, count;
	struct morph_plan *plans[8];
	/* In a third of a hundred racks there are such ranks. */
	uint64_t seed = 0xdaa66d2c7ddf743f;

	morph_request_set_budget(bench->request, 256);
	for (uint32_t at = 0; at < 8; at++)
		plans[at] = morph_plan_new(bench->ctx);
	count = fill(bench, plans, &seed);
	for (uint32_t at = 0; at < count; at++) {
		protected(bench, plans[at], protection);
		for (uint32_t rank = 0; rank < plans[at]->ranks; rank++)
			verdicts[morph_protection_of(protection, rank)]++;
		for (uint32_t it = 0; it < protection->refusals.count; it++)
			doubts += protection->refusals.list[it].reason == MORPH_WIRE_SPARE_DOUBT;
	}
	print_message("%u ranks protected, %u not, %u undecided\n", verdicts[1], verdicts[2],
		      verdicts[3]);
	assert_true(doubts && verdicts[MORPH_FEASIBLE] && verdicts[MORPH_UNDECIDED]);
	for (uint32_t at = 0; at < 8; at++)
		morph_plan_free(plans[at]);
	morph_protection_free(protection);
}

/* ------------------------------------------------------------------ the kernel */

#define REFUSED 5u /* rank */

static struct {
	uint32_t spare[RACK_ACCELERATORS]; /* by rank */
	uint32_t count;
	uint32_t refused; /* rank */
} told;

static int hear_slice(struct fake *fake, unsigned long command, void *argument)
{
	const struct morph_rank_act *act = argument;

	(void)fake;
	if (command != MORPH_RANK_PREFER)
		return 0;
	if (act->rank == told.refused)
		return -EBUSY;
	told.spare[act->rank] = act->spare;
	return 0;
}

static void hear_operator(struct fake *fake, const struct nlmsghdr *request)
{
	struct morph_object *slice = lm_object_new(MORPH_OBJECT_SLICE, "slice-set");
	const struct genlmsghdr *genl = nlmsg_data(request);

	assert_int_equal(genl->cmd, MORPH_CMD_SLICE_SET);
	assert_int_equal(
		lm_decode_attrs(slice, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0)), 0);
	assert_int_equal(morph_object_uint(slice, "id"), 9);
	for (size_t at = 0; at < morph_object_values(slice, "preference"); at++) {
		const struct morph_object *it = morph_object_nested_at(slice, "preference", at);

		told.spare[morph_object_uint(it, "rank")] =
			morph_object_has(it, "spare") ? morph_object_uint(it, "spare") : MORPH_ANY;
	}
	told.count = (uint32_t)morph_object_values(slice, "preference");
	morph_object_free(slice);
	fake_ack(fake);
}

static void told_are_spares_of(const struct morph_protection *protection, uint32_t first,
			       uint32_t end)
{
	for (uint32_t rank = first; rank < end; rank++)
		assert_int_equal(told.spare[rank], morph_protection_spare(protection, rank));
}

static void spares_are_sent_to_the_kernel(void **state)
{
	struct bench *bench = *state;
	struct fake *fake = fake_new();
	struct morph_ctx *ctx = fake_ctx(&fake->transport);
	struct morph_protection *protection = morph_protection_new(ctx);
	struct morph_slice *slice;

	fake->ioctl = hear_slice;
	fake->request = hear_operator;
	assert_int_equal(morph_slice_open(ctx, "9", &slice), 0);
	assert_int_equal(morph_protection_apply(protection, 3, 9), -EINVAL);
	assert_int_equal(morph_slice_protect(slice, protection), -EINVAL);
	place_torus(bench, bench->plan, HALF_RACK, 7);
	assert_int_equal(morph_protect(bench->ledger, bench->plan, protection), 0);
	assert_int_equal(morph_protection_verdict(protection), MORPH_FEASIBLE);

	memset(&told, 0xaa, sizeof(told));
	assert_int_equal(morph_protection_apply(protection, 3, 9), 0);
	assert_int_equal(told.count, 32);
	told_are_spares_of(protection, 0, 32);

	memset(&told, 0xaa, sizeof(told));
	assert_int_equal(morph_slice_protect(slice, protection), 0);
	told_are_spares_of(protection, 0, 32);

	/* The first refusal ends the call. */
	memset(&told, 0xaa, sizeof(told));
	told.refused = REFUSED;
	assert_int_equal(morph_slice_protect(slice, protection), -EBUSY);
	told_are_spares_of(protection, 0, REFUSED);
	assert_int_equal(told.spare[REFUSED + 1], 0xaaaaaaaa);

	/* Without spares, no accelerator is preferred. */
	for (uint32_t at = ACCELERATORS; at < 72; at++)
		morph_ledger_mark(bench->ledger, MORPH_PART_ACCELERATOR, at, true);
	assert_int_equal(morph_protect(bench->ledger, bench->plan, protection), 0);
	assert_int_equal(morph_protection_apply(protection, 3, 9), 0);
	for (uint32_t rank = 0; rank < 32; rank++)
		assert_int_equal(told.spare[rank], MORPH_ANY);
	morph_slice_close(slice);
	morph_protection_free(protection);
	morph_ctx_free(ctx);
}

/* ---------------------------------------------------------------------- memory */

static void protecting_again_allocates_nothing(void **state)
{
	struct bench *bench = *state;
	struct morph_protection *protection = new_protection(bench);

	place_torus(bench, bench->plan, WHOLE_RACK, 7);
	assert_int_equal(morph_protect(bench->ledger, bench->plan, protection), 0);
	fault_at("memory", 1, ENOMEM);
	assert_int_equal(morph_protect(bench->ledger, bench->plan, protection), 0);
	assert_int_equal(morph_ledger_keep(bench->ledger, protection), 0);
	assert_int_equal(morph_ledger_unkeep(bench->ledger, protection), 0);
	assert_false(fault_struck());
	morph_protection_free(protection);
}

static void a_protection_without_memory_leaves_no_trace(void **state)
{
	struct bench *bench = *state;
	bool struck = true;
	size_t bytes;

	place_torus(bench, bench->plan, HALF_RACK, 7);
	fault_at("memory", 1, ENOMEM);
	assert_null(morph_protection_new(bench->ctx));
	for (uint32_t nth = 1; struck; nth++) {
		struct morph_protection *protection = new_protection(bench);
		void *copy = copy_of(bench->ledger, &bytes);
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_protect(bench->ledger, bench->plan, protection);
		struck = fault_struck();
		assert_int_equal(ret, struck ? -ENOMEM : 0);
		assert_int_equal(morph_protection_ranks(protection), struck ? 0 : 32);
		ledger_is(bench->ledger, copy, bytes);
		morph_protection_free(protection);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, placing_teardown)
		TEST(verdicts_are_those_of_trying_everything),
		TEST(every_rank_of_a_full_rack_has_a_spare),
		TEST(without_spares_no_rank_is_protected),
		TEST(a_refusal_names_the_servers_of_the_cut),
		TEST(a_server_alone_needs_no_fibres),
		TEST(bad_input_is_refused_with_its_reason),
		TEST(a_displaced_flow_is_restored),
		TEST(a_search_that_takes_too_long_is_given_up),
		TEST(spares_are_sent_to_the_kernel),
		TEST(protecting_again_allocates_nothing),
		TEST(a_protection_without_memory_leaves_no_trace),
#undef TEST
	};

	server_profile = argc == 3 ? argv[2] : "";
	return placing_run(argc - 1, argv, "protect", tests, ARRAY_SIZE(tests));
}
