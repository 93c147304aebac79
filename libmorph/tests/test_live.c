// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ledgers read from a fake kernel with the profile from the command line. */
#include <stdio.h>

#include "../internal/planner.h"
#include "../place/place.h"
#include "fake.h"

#define FABRIC 3
#define PINNED 9 /* an element that circuits hold */

/* The kernel's resources in use. All others are free, healthy and parked. */
static struct {
	uint32_t checksum;
	uint64_t seq;
	uint32_t stirs; /* number of changes during reads */
	uint32_t guides_less; /* guides that it does not report */
	uint32_t wrong_state; /* in addition to that of PINNED */
	uint32_t receiver; /* that failed, or MORPH_ANY */
	uint64_t lit; /* lanes of guide 5 that a circuit has */
	uint64_t reserved; /* lanes of guide 5 */
} kernel;

static struct fake *fake;
static struct morph_ctx *ctx;
static struct morph_model *model;
static struct morph_ledger *ledger;
static const char *profile;

static struct nl_msg *one_of_many(struct fake *it, uint32_t command, struct nl_msg *before)
{
	if (before)
		fake_queue(it, before, it->request_now->nlmsg_seq);
	return command ? fake_message(command, NLM_F_MULTI) : NULL;
}

static void tell_accelerators(struct fake *it)
{
	static const uint32_t use[] = { MORPH_USE_FREE, MORPH_USE_HELD, MORPH_USE_SPARE,
					MORPH_USE_DRAINING };
	struct nl_msg *message = NULL;

	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++) {
		message = one_of_many(it, MORPH_CMD_ACCELERATOR_GET, message);
		nla_put_u32(message, MORPH_A_ACCELERATOR_ID, at);
		nla_put_u32(message, MORPH_A_ACCELERATOR_USE, use[at % 4]);
		nla_put_u32(message, MORPH_A_ACCELERATOR_HEALTH,
			    at == 2 ? MORPH_HEALTH_SUSPECT : MORPH_HEALTH_OK);
		nla_put_u8(message, MORPH_A_ACCELERATOR_CORDONED, at == 0);
		if (at % 4 == 1)
			nla_put_u32(message, MORPH_A_ACCELERATOR_SLICE, 17);
	}
	one_of_many(it, 0, message);
}

static void tell_guides(struct fake *it)
{
	uint64_t all = ledger->graph->all_lanes;
	struct nl_msg *message = NULL;

	for (uint32_t at = 0; at < ledger->graph->guides_count - kernel.guides_less; at++) {
		message = one_of_many(it, MORPH_CMD_GUIDE_GET, message);
		nla_put_u32(message, MORPH_A_GUIDE_ID, at);
		nla_put_u64(message, MORPH_A_GUIDE_LANES, all);
		nla_put_u64(message, MORPH_A_GUIDE_LANES_FREE,
			    at == 5 ? all & ~(kernel.lit | kernel.reserved) : all);
		nla_put_u32(message, MORPH_A_GUIDE_HEALTH,
			    at == 7 ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK);
	}
	one_of_many(it, 0, message);
}

static void tell_elements(struct fake *it)
{
	struct nl_msg *message = NULL;

	for (uint32_t at = 0; at < ledger->graph->elements_count; at++) {
		message = one_of_many(it, MORPH_CMD_ELEMENT_GET, message);
		nla_put_u32(message, MORPH_A_ELEMENT_ID, at);
		nla_put_u32(message, MORPH_A_ELEMENT_STATE,
			    at == PINNED ? 1 + kernel.wrong_state : 0);
		nla_put_u32(message, MORPH_A_ELEMENT_PINS, at == PINNED ? 2 : 0);
		nla_put_u8(message, MORPH_A_ELEMENT_CORDONED, at == 11);
	}
	one_of_many(it, 0, message);
}

static void tell_hardware(struct fake *it)
{
	struct nl_msg *message = one_of_many(it, MORPH_CMD_HARDWARE_GET, NULL);

	nla_put_u32(message, MORPH_A_HARDWARE_PART, MORPH_PART_LASER);
	nla_put_u32(message, MORPH_A_HARDWARE_INDEX, 1);
	nla_put_u32(message, MORPH_A_HARDWARE_HEALTH, MORPH_HEALTH_QUARANTINED);
	/* A healthy part, and parts that report their own health. */
	message = one_of_many(it, MORPH_CMD_HARDWARE_GET, message);
	nla_put_u32(message, MORPH_A_HARDWARE_PART, MORPH_PART_LASER);
	nla_put_u32(message, MORPH_A_HARDWARE_INDEX, 3);
	message = one_of_many(it, MORPH_CMD_HARDWARE_GET, message);
	nla_put_u32(message, MORPH_A_HARDWARE_PART, MORPH_PART_GUIDE);
	nla_put_u32(message, MORPH_A_HARDWARE_INDEX, 4);
	nla_put_u32(message, MORPH_A_HARDWARE_HEALTH, MORPH_HEALTH_FAILED);
	if (kernel.receiver != MORPH_ANY) {
		message = one_of_many(it, MORPH_CMD_HARDWARE_GET, message);
		nla_put_u32(message, MORPH_A_HARDWARE_PART, MORPH_PART_RECEIVER);
		nla_put_u32(message, MORPH_A_HARDWARE_INDEX, kernel.receiver);
		nla_put_u32(message, MORPH_A_HARDWARE_HEALTH, MORPH_HEALTH_FAILED);
	}
	one_of_many(it, 0, message);
}

static void tell_reservation(struct fake *it)
{
	struct nl_msg *message = one_of_many(it, MORPH_CMD_RESERVATION_GET, NULL);

	nla_put_u32(message, MORPH_A_RESERVATION_GUIDE, 5);
	nla_put_u64(message, MORPH_A_RESERVATION_LANES, kernel.reserved);
	one_of_many(it, 0, message);
}

static void tell_circuit(struct fake *it)
{
	struct nl_msg *message = one_of_many(it, MORPH_CMD_CIRCUIT_GET, NULL);

	nla_put_u32(message, MORPH_A_CIRCUIT_GUIDE, 4);
	nla_put_u32(message, MORPH_A_CIRCUIT_GUIDE, 5);
	nla_put_u64(message, MORPH_A_CIRCUIT_LANES, kernel.lit);
	one_of_many(it, 0, message);
}

static void answer(struct fake *it, const struct nlmsghdr *request)
{
	struct nl_msg *message;

	switch (fake_command(request)) {
	case MORPH_CMD_FABRIC_GET:
		message = fake_message(MORPH_CMD_FABRIC_GET, 0);
		nla_put_u32(message, MORPH_A_FABRIC_PROFILE_CHECKSUM, kernel.checksum);
		nla_put_u64(message, MORPH_A_FABRIC_SEQ, kernel.seq);
		fake_queue(it, message, request->nlmsg_seq);
		fake_ack(it);
		return;
	case MORPH_CMD_ACCELERATOR_GET:
		tell_accelerators(it);
		break;
	case MORPH_CMD_GUIDE_GET:
		tell_guides(it);
		kernel.seq += kernel.stirs && kernel.stirs--;
		break;
	case MORPH_CMD_ELEMENT_GET:
		tell_elements(it);
		break;
	case MORPH_CMD_HARDWARE_GET:
		tell_hardware(it);
		break;
	case MORPH_CMD_RESERVATION_GET:
		tell_reservation(it);
		break;
	case MORPH_CMD_CIRCUIT_GET:
		tell_circuit(it);
		break;
	default:
		fail_msg("command %u", fake_command(request));
	}
	fake_done(it);
}

static int begin(void **state)
{
	(void)state;
	fake = fake_new();
	fake->request = answer;
	ctx = fake_ctx(&fake->transport);
	assert_int_equal(morph_model_load(ctx, profile, &model), 0);
	assert_int_equal(morph_ledger_new(ctx, model, &ledger), 0);
	memset(&kernel, 0, sizeof(kernel));
	kernel.checksum = morph_model_checksum(model);
	kernel.seq = 1;
	kernel.receiver = MORPH_ANY;
	return 0;
}

static int end(void **state)
{
	(void)state;
	morph_ledger_free(ledger);
	morph_model_put(model);
	morph_ctx_free(ctx);
	return 0;
}

/* -------------------------------------------------------------------------------- */

static void ledger_has_the_state_of_the_kernel(void **state)
{
	const struct optics_state *light;

	(void)state;
	kernel.lit = 3;
	kernel.receiver = 2;
	assert_int_equal(morph_ledger_hold(ledger, 0, 99), 0); /* of before */
	assert_int_equal(morph_ledger_load(ledger, 6, 1), 0);
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), 0);
	assert_int_equal(ledger->owner[0], 0);
	assert_true(ledger->chip_marked[0]);
	assert_int_equal(ledger->owner[1], 17);
	assert_true(ledger->spare[2] && ledger->chip_marked[2] && !ledger->owner[2]);
	assert_int_equal(ledger->owner[3], UINT32_MAX);
	assert_false(ledger->spare[3] || ledger->chip_marked[1]);
	assert_int_equal(ledger->guide_lanes[5], 3);
	assert_int_equal(ledger->guide_lanes[6], 0);
	assert_true(ledger->guide_marked[7] && !ledger->guide_marked[5]);
	assert_true(ledger->element_marked[11] && !ledger->element_marked[PINNED]);
	light = ledger->state;
	assert_int_equal(light->element_pins[PINNED], 2);
	assert_int_equal(light->element_state[PINNED], 1);
	assert_int_equal(light->tx_dead[1], ledger->graph->all_lanes);
	assert_int_equal(light->rx_dead[2], ledger->graph->all_lanes);
	assert_int_equal(light->tx_dead[0] | light->rx_dead[1], 0);
	assert_int_equal(light->tx_dead[3] | light->tx_dead[4] | light->rx_dead[4], 0);
	/* Resources that the kernel released are released in the ledger, too. */
	kernel.lit = 0;
	kernel.receiver = MORPH_ANY;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), 0);
	assert_int_equal(ledger->guide_lanes[5], 0);
	assert_int_equal(light->rx_dead[2], 0);
}

static void own_reservations_are_free_but_where_they_are_lit(void **state)
{
	(void)state;
	kernel.lit = 1;
	kernel.reserved = 5;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), 0);
	assert_int_equal(ledger->guide_lanes[5], 5);
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 7), 0);
	assert_int_equal(ledger->guide_lanes[5], 1);
}

static void another_profile_is_refused(void **state)
{
	(void)state;
	kernel.checksum++;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), -ESTALE);
	assert_non_null(strstr(morph_error_text(ctx), "checksum"));
}

static void a_fabric_that_changes_is_read_again(void **state)
{
	(void)state;
	kernel.stirs = LM_RETRIES - 1;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), 0);
	assert_int_equal(kernel.stirs, 0);
	kernel.stirs = LM_RETRIES;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), -EAGAIN);
	assert_non_null(strstr(morph_error_text(ctx), "changed during each of 8 tries"));
}

static void objects_unknown_to_the_profile_are_refused(void **state)
{
	(void)state;
	kernel.guides_less = 1;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), -EPROTO);
	assert_non_null(strstr(morph_error_text(ctx), "guides"));
	kernel.guides_less = 0;
	kernel.wrong_state = 255;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), -EPROTO);
	assert_non_null(strstr(morph_error_text(ctx), "is in state 256"));
	kernel.wrong_state = 0;
	kernel.receiver = 1 << 20;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), -EPROTO);
	assert_non_null(strstr(morph_error_text(ctx), "port"));
}

/* Each request to the kernel can fail, and each allocation for its answer. */
static void each_failure_is_reported(void **state)
{
	unsigned int nth = 0;

	(void)state;
	kernel.reserved = 5;
	for (bool struck = true; struck; nth++) {
		int error;

		fault_at("memory", nth + 1, ENOMEM);
		error = morph_ledger_read(ledger, FABRIC, 7);
		struck = fault_struck();
		assert_int_equal(error, struck ? -ENOMEM : 0);
	}
	assert_true(nth > 100);
	for (nth = 1;; nth++) {
		int error;

		fault_at("kernel", nth, EIO);
		error = morph_ledger_read(ledger, FABRIC, 7);
		if (!fault_struck())
			break;
		assert_int_equal(error, -EIO);
		assert_string_not_equal(morph_error_text(ctx), "");
	}
	assert_true(nth > 8);
}

/* In a server of four, no circuit uses fibres, but lasers and elements count. */
static void dead_or_held_circuits_are_not_lit(void **state)
{
	struct morph_request *request = morph_request_new(ctx);
	struct morph_plan *plan = morph_plan_new(ctx);
	struct morph_txn *txn = morph_txn_new(ctx);
	const struct optics_graph *graph = ledger->graph;
	const uint32_t *guides;

	(void)state;
	assert_int_equal(morph_ledger_read(ledger, FABRIC, 0), 0);
	for (uint32_t at = 0; at < graph->accelerators_count; at++) {
		morph_ledger_hold(ledger, at, at > 1);
		morph_ledger_mark(ledger, MORPH_PART_ACCELERATOR, at, false);
	}
	morph_request_set_simplex(request, true);
	assert_int_equal(morph_request_set_shape(request, MORPH_SHAPE_RING, 2, 1, 1), 0);
	assert_int_equal(morph_place(ledger, request, plan), 0);
	assert_int_equal(morph_plan_verdict(plan), MORPH_FEASIBLE);
	/* The only working laser is that of the last plane. */
	for (uint32_t plane = 0; plane + 1 < graph->params.planes; plane++)
		ledger->state
			->tx_dead[morph_plan_accelerator(plan, 0) * graph->params.planes + plane] =
			graph->all_lanes;
	assert_int_equal(morph_txn_add_plan(txn, plan, ledger), 0);
	guides = (const void *)(uintptr_t)txn->changes[0].guides.ptr;
	assert_int_equal(guides[0],
			 graph->tx_guide[morph_plan_accelerator(plan, 0) * graph->params.planes +
					 graph->params.planes - 1] >>
				 1);
	/* Each element is held in its parked state. */
	for (uint32_t at = 0; at < graph->elements_count; at++)
		ledger->state->element_pins[at] = 1;
	assert_int_equal(morph_txn_add_plan(txn, plan, ledger), -EBUSY);
	assert_int_equal(morph_txn_count(txn), 1);
	morph_txn_free(txn);
	morph_plan_free(plan);
	morph_request_free(request);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(ledger_has_the_state_of_the_kernel),
		TEST(own_reservations_are_free_but_where_they_are_lit),
		TEST(another_profile_is_refused),
		TEST(a_fabric_that_changes_is_read_again),
		TEST(objects_unknown_to_the_profile_are_refused),
		TEST(each_failure_is_reported),
		TEST(dead_or_held_circuits_are_not_lit),
#undef TEST
	};

	if (argc < 2) {
		fprintf(stderr, "usage: test_live PROFILE: that of a server4\n");
		return 2;
	}
	profile = argv[1];
	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
