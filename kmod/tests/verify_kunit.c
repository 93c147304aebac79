// SPDX-License-Identifier: GPL-2.0-only
/*
 * The light of neighbours during a change. In a full mesh no change affects other receivers, so a
 * test adds the neighbour that the core would have collected.
 */
#include "core/txn/internal.h"
#include "fake.h"
#include "suites.h"

/* The neighbour: a circuit from accelerator 0 to 1, ports 0 and 2, elements 0 and 5. */
#define HIS_RX		2u
#define HIS_LASER	0u
#define HIS_ELEMENT	5u

static int neighbour_init(struct kunit *test)
{
	struct fake *fake = fake_open(test, &fake_small);
	const u32 his[] = { 0, 1 }, ours[] = { 3, 4 };

	fake_light(fake, fake_slice(fake, his, ARRAY_SIZE(his)), 0, 1, 0);
	fake_slice(fake, ours, ARRAY_SIZE(ours));
	fake_settle(fake);
	return 0;
}

/* A staged change, which has buffers for its reads. */
static struct morph_txn *our_change(struct fake *fake)
{
	struct morph_txn *txn = fake_prepare(fake, fake->files[1]->slice);

	KUNIT_ASSERT_GT(fake->test, txn->reads_room, 2 * txn->count);
	return txn;
}

static int verify_neighbour(struct fake *fake, struct morph_txn *txn, u64 lanes)
{
	struct exec exec = { .txn = txn, .fabric = fake->fabric, .neighbours = 1 };

	txn->reads[2 * txn->count] = (struct morph_receiver_reading){
		.port = HIS_RX,
		.lanes = lanes,
	};
	fake_clear(fake);
	return exec_verify_neighbours(&exec);
}

/*
 * The change turns elements 0 and 4, which send to the receivers 2 and 0 of the neighbours, and has
 * space for one of these. The second neighbour lost its light.
 */
static void neighbour_without_space_is_read_in_the_next_batch(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *his = fake->files[0]->slice;
	struct morph_refusal refusal = {};
	struct morph_txn *txn;
	struct exec exec;
	u32 second, i;

	second = fake_light(fake, his, 1, 0, 0);
	txn = our_change(fake);
	exec = (struct exec){
		.txn = txn, .fabric = fake->fabric, .early = 2, .began_ns = ktime_get_ns(),
	};
	KUNIT_ASSERT_GE(test, txn->settings_room, exec.early);
	txn->reads_room = 2 * txn->count + 1;
	txn->settings[0].element = 0;
	txn->settings[1].element = 4;
	txn->turned[0].route = fake_circuit(his, second - 1)->route;
	txn->turned[1].route = fake_circuit(his, second)->route;
	for (i = 0; i < exec.early; i++)
		txn->turned[i].hop = txn->turned[i].route->hops;
	mutex_lock(&fake->fabric->lock);
	exec_collect_neighbours(&exec);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, 1u, exec.neighbours);
	KUNIT_EXPECT_EQ(test, HIS_RX, txn->reads[2 * txn->count].port);
	fake->deaf = 1;
	fake_clear(fake);
	KUNIT_EXPECT_EQ(test, 1, exec_verify_neighbours(&exec));
	KUNIT_EXPECT_EQ(test, 0u, txn->reads[2 * txn->count].port);
	fake->deaf = 0;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	morph_txn_put(txn);
}

struct neighbour_case {
	const char *name;
	u32 part, index;	/* the defective part */
	int result;
	u32 health;		/* of the part, after the change */
	const char *readings;	/* the beginning of the log */
};

static const struct neighbour_case neighbour_cases[] = {
	{ "sees its light: read once", 0, 0, 0, 0, "r" },
	{ "sees none, and no part reports a fault", MORPH_PART_RECEIVER, HIS_RX, 1, MORPH_HEALTH_OK,
	  "rrr" },
	{ "its laser has failed", MORPH_PART_LASER, HIS_LASER, 0, MORPH_HEALTH_FAILED, "rrr" },
	{ "its sender has failed", MORPH_PART_ACCELERATOR, 0, 0, MORPH_HEALTH_FAILED, "rrr" },
	{ "its receiving accelerator has failed", MORPH_PART_ACCELERATOR, 1, 0, MORPH_HEALTH_FAILED,
	  "rrr" },
	{ "its element has turned", MORPH_PART_ELEMENT, HIS_ELEMENT, 1, MORPH_HEALTH_OK,
	  "rrr" },
};

FAKE_CASE_DESC(neighbour_cases, name);

static void break_part(struct fake *fake, u32 part, u32 index)
{
	if (part == MORPH_PART_RECEIVER)
		fake->deaf = index + 1;
	else if (part == MORPH_PART_LASER)
		fake->dim[index] = 1;
	else if (part == MORPH_PART_ELEMENT)
		fake->element[index] = 0;
	else if (part == MORPH_PART_ACCELERATOR)
		fake->dead[index] = true;
	if (part == MORPH_PART_ACCELERATOR && index == HIS_RX / FAKE_PLANES)
		fake->deaf = HIS_RX + 1;
}

/*
 * A change has caused missing light, unless the neighbour's own accelerators or lasers report a
 * failure.
 */
static void neighbour_is_read(struct kunit *test)
{
	const struct neighbour_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_txn *txn = our_change(fake);
	struct morph_refusal refusal = {};
	u8 was = fake->element[HIS_ELEMENT];

	break_part(fake, param->part, param->index);
	KUNIT_EXPECT_EQ(test, param->result, verify_neighbour(fake, txn, 1));
	KUNIT_EXPECT_EQ_MSG(test, strlen(param->readings), strspn(fake->log, "r"), "%s",
			    fake->log);
	if (param->part)
		KUNIT_EXPECT_EQ(test, param->health,
				morph_health_get(fake->fabric, param->part, param->index));
	fake->element[HIS_ELEMENT] = was;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	morph_txn_put(txn);
}

/* Lanes that the neighbour does not use any more do not count as missing. */
static void neighbour_that_ended_is_not_reported(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = our_change(fake);

	KUNIT_EXPECT_EQ(test, 0, verify_neighbour(fake, txn, 2));
	KUNIT_EXPECT_STREQ(test, "r", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	morph_txn_put(txn);
}

/* A failed read does not count as light. */
static void neighbour_must_be_read(struct kunit *test)
{
	struct exec exec = { .neighbours = 1 };
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = our_change(fake);

	exec.txn = txn;
	exec.fabric = fake->fabric;
	txn->reads[2 * txn->count] = (struct morph_receiver_reading){
		.port = HIS_RX,
		.lanes = 1,
	};
	fake_rule(fake, FAKE_GET_RECEIVERS, 0, FAKE_ERROR, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, exec_verify_neighbours(&exec));
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
	morph_txn_put(txn);
}

static struct kunit_case neighbour_tests[] = {
	KUNIT_CASE_PARAM(neighbour_is_read, neighbour_cases_gen_params),
	KUNIT_CASE(neighbour_that_ended_is_not_reported),
	KUNIT_CASE(neighbour_must_be_read),
	KUNIT_CASE(neighbour_without_space_is_read_in_the_next_batch),
	{}
};

struct kunit_suite morph_neighbour_suite = {
	.name = "morph_neighbours",
	.init = neighbour_init,
	.exit = fake_exit,
	.test_cases = neighbour_tests,
};
