// SPDX-License-Identifier: GPL-2.0-only
/* Transactions: order of operations, effects of failures, and repetition. */
#include <linux/delay.h>

#include "core/txn/internal.h"
#include "core/txn/txn.h"
#include "shapes.h"
#include "suites.h"

/* -------------------------------------------------------------------- order */

struct order_case {
	const char *name;
	enum shape shape;
	u32 flags;
	const char *log;
};

static const struct order_case order_cases[] = {
	{ "add: turn, settle, see dark, light, lock, see light", ADD, 0, "Ewr+wr" },
	{ "two at once: as one", ADD_TWO, 0, "Ewr+wr" },
	{ "two separate transactions: in order", ADD_TWO, MORPH_TXN_EACH, "Ewr+wrEwr+wr" },
	{ "remove: dark before park", REMOVE, 0, "-rP" },
	{ "move: make before break, dark before park", MOVE, 0, "Ewr+wr-rP" },
	{ "turn: disjoint part, dark, shared part; lasers off?", TURN, 0, "E-Ewr+wrlP" },
	{ "dry run: nothing", TURN, MORPH_TXN_DRY_RUN, "" },
	{ "prepare: nothing", TURN, MORPH_TXN_PREPARE, "" },
};

FAKE_CASE_DESC(order_cases, name);

static void txn_asks_in_order(struct kunit *test)
{
	const struct order_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), param->shape, param->flags);

	txn->lease_ns = FAKE_LONG_LEASE;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	KUNIT_EXPECT_STREQ(test, param->log, (const char *)fake->log);
	if (!param->flags || param->flags == MORPH_TXN_EACH)
		fake_expect_light(fake);
	morph_txn_put(txn);
}

/* A circuit becomes visible after its light has been verified. */
static void txn_publishes_after_verification(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);
	u64 before = fake->fabric->seq;

	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	KUNIT_ASSERT_STREQ(test, "Ewr+wr", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, before, fake->seq[5]);
	KUNIT_EXPECT_EQ(test, before + 1, fake->fabric->seq);
	KUNIT_EXPECT_EQ(test, before + 1, txn->seq);
	morph_txn_put(txn);
}

/*
 * Other transactions publish while this one parks its old elements. It does not count their
 * sequence numbers.
 */
static void txn_has_the_seq_of_its_own_publication(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), TURN, 0);
	struct fake_run run;
	u64 published;

	fake_begin(fake, &run, txn, FAKE_PARK, 0);
	mutex_lock(&fake->fabric->lock);
	published = fake->fabric->seq++;
	mutex_unlock(&fake->fabric->lock);
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	KUNIT_EXPECT_EQ(test, published, txn->seq);
	morph_txn_put(txn);
}

/* While a transaction parks its old elements, another one that wants to turn them is refused. */
static void txn_has_ended_when_it_has_parked(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), TURN, 0);
	struct fake_run run;

	fake_begin(fake, &run, txn, FAKE_PARK, 0);
	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_RUNNING, txn->outcome);
	mutex_unlock(&fake->fabric->lock);
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_COMMITTED, txn->outcome);
	morph_txn_put(txn);
}

/*
 * Two circuits exchange lanes and must yield. A third one loses its old light last, which takes
 * time. This time does not count as an interruption of the first two.
 */
static void txn_dark_time_ends_with_the_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake);
	u32 first = fake_light(fake, slice, 0, 1, 0), second = fake_light(fake, slice, 0, 1, 0);
	struct morph_change changes[] = { fake_move(first, 0), fake_move(second, 0),
					  fake_move(fake_light(fake, slice, 1, 2, 0), 1) };
	u64 before = ktime_get_ns(), most;
	struct fake_run run;
	struct morph_txn *txn;

	changes[0].lanes = fake_circuit(slice, second)->route->path.lanes;
	changes[1].lanes = fake_circuit(slice, first)->route->path.lanes;
	txn = fake_txn(fake, slice, changes, ARRAY_SIZE(changes), 0);
	fake_begin(fake, &run, txn, FAKE_LASERS_OFF, 1);
	most = ktime_get_ns() - before;
	msleep(50);
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	KUNIT_EXPECT_GT(test, txn->items[0].change.dark_ns, 0ULL);
	KUNIT_EXPECT_LE(test, txn->items[0].change.dark_ns, most);
	KUNIT_EXPECT_EQ(test, 0ULL, txn->items[2].change.dark_ns);
	morph_txn_put(txn);
}

/*
 * An alarm for the old light comes after the new light was verified. The move is hitless all the
 * same.
 */
static void txn_old_light_may_die_late(struct kunit *test)
{
	const struct morph_signal late = {
		.type = MORPH_SIGNAL_RECEIVER,
		.index = 2,
		.lanes = 1,
		.since_ns = ktime_get_ns() + NSEC_PER_SEC * 1000,
	};
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), MOVE, 0);
	struct fake_run run;

	fake_begin(fake, &run, txn, FAKE_LASERS_ON, 0);
	morph_fabric_signal(fake->fabric, &late, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	KUNIT_EXPECT_EQ(test, 0ULL, txn->items[0].change.dark_ns);
	morph_txn_put(txn);
}

/* Its receiver was dark before it was lit. A signal for that time must not start a repair. */
static void txn_darkness_of_before_is_no_news(struct kunit *test)
{
	struct morph_signal dark = { .type = MORPH_SIGNAL_RECEIVER, .since_ns = ktime_get_ns() };
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), MOVE, 0);
	struct morph_circuit *circuit;
	u32 alarms;

	KUNIT_ASSERT_EQ(test, 0, morph_txn_run(txn));
	circuit = fake_circuit(txn_slice(fake), txn->items[0].change.circuit);
	dark.index = circuit->route->path.rx;
	dark.lanes = circuit->route->path.lanes;
	alarms = circuit->alarms;
	morph_fabric_signal(fake->fabric, &dark, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, alarms, circuit->alarms);
	dark.since_ns = ktime_get_ns();
	morph_fabric_signal(fake->fabric, &dark, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, alarms + 1, circuit->alarms);
	morph_txn_put(txn);
	fake_settle(fake);
}

/* ----------------------------------------------------------------- failures */

struct sweep_case {
	const char *name;
	enum shape shape;
	enum fake_answer answer;
	int error;
};

static const struct sweep_case sweep_cases[] = {
	{ "add, error", ADD, FAKE_ERROR, -EREMOTEIO },
	{ "add, no answer", ADD, FAKE_SILENT, 0 },
	{ "add two, error", ADD_TWO, FAKE_ERROR, -EREMOTEIO },
	{ "remove, error", REMOVE, FAKE_ERROR, -EREMOTEIO },
	{ "remove, no answer", REMOVE, FAKE_SILENT, 0 },
	{ "move, error", MOVE, FAKE_ERROR, -EREMOTEIO },
	{ "move, no answer", MOVE, FAKE_SILENT, 0 },
	{ "turn, error", TURN, FAKE_ERROR, -EREMOTEIO },
	{ "turn, no answer", TURN, FAKE_SILENT, 0 },
};

FAKE_CASE_DESC(sweep_cases, name);

/* The log of a commit without failures. One rule beyond its last operation fails nothing. */
static u32 operations_of(enum shape shape)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(order_cases); i++)
		if (order_cases[i].shape == shape && !order_cases[i].flags)
			return strlen(order_cases[i].log);
	return 0;
}

/* Switch all light off, so that each round begins like the first. */
static void remove_all(struct fake *fake, struct morph_slice *slice)
{
	struct morph_circuit *circuit;
	struct morph_change change;
	struct morph_txn *txn;
	unsigned long index;

	xa_for_each(&slice->circuits, index, circuit) {
		change = fake_remove(circuit->id);
		txn = fake_txn(fake, slice, &change, 1, 0);
		KUNIT_EXPECT_EQ(fake->test, 0, morph_txn_run(txn));
		morph_txn_put(txn);
	}
}

/*
 * Each operation of a commit fails once. Afterwards, ledger and light are as before or as
 * requested.
 */
static void txn_survives_one_failure(struct kunit *test)
{
	const struct sweep_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake);
	struct morph_txn *txn;
	u32 skip, expected, least = operations_of(param->shape);
	int ret;

	KUNIT_ASSERT_GT(test, least, 0u);
	for (skip = 0; skip <= least; skip++) {
		txn = txn_of_shape(fake, slice, param->shape, 0);
		fake_rule(fake, FAKE_ANY, skip, param->answer, param->error);
		ret = morph_txn_run(txn);
		expected = ret ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_COMMITTED;
		KUNIT_EXPECT_EQ_MSG(test, expected, txn->outcome,
				    "operation %u failed: %d, %s", skip, ret, fake->log);
		if (skip == least)
			KUNIT_EXPECT_EQ(test, 0, ret);
		morph_txn_put(txn);
		fake_clear(fake);
		fake_settle(fake);
		fake_expect_light(fake);
		KUNIT_EXPECT_EQ_MSG(test, (u32)MORPH_SLICE_OK, slice_tenancy(slice)->state,
				    "operation %u failed", skip);
		remove_all(fake, slice);
		fake_expect_dark(fake);
	}
}

struct unread_case {
	const char *name;
	enum fake_answer answer;
	int error;
	const char *log;	/* of three elements to read */
};

static const struct unread_case unread_cases[] = {
	{ "an error: queries the others", FAKE_ERROR, -EREMOTEIO, "eee" },
	{ "no answer: patrol checks the others", FAKE_SILENT, 0, "e" },
};

FAKE_CASE_DESC(unread_cases, name);

/* The core reads elements back one by one, but waits only once for a device that hangs. */
static void txn_waits_once_for_a_device_that_hangs(struct kunit *test)
{
	struct morph_element_setting settings[] = { { .element = 0 }, { .element = 2 },
						    { .element = 4 } };
	const struct unread_case *param = test->param_value;
	struct fake *fake = test->priv;

	recovery_of(fake->fabric)->signals_stopped = true;	/* patrol must not read meanwhile */
	fake_rule(fake, FAKE_GET_ELEMENTS, FAKE_ALWAYS, param->answer, param->error);
	morph_hw_read_back(fake->fabric, NULL, settings, ARRAY_SIZE(settings), true);
	KUNIT_EXPECT_STREQ(test, param->log, (const char *)fake->log);
	recovery_of(fake->fabric)->signals_stopped = false;
}

struct blame_case {
	const char *name;
	u32 part, index;	/* the defective part */
	u32 health;		/* after the transaction */
};

/* The circuit from accelerator 0 to 1 on plane 0: ports 0 and 2, elements 0 and 5. */
static const struct blame_case blame_cases[] = {
	{ "transmit selector does not turn", MORPH_PART_ELEMENT, 0, MORPH_HEALTH_FAILED },
	{ "receive selector does not turn", MORPH_PART_ELEMENT, 5, MORPH_HEALTH_FAILED },
	{ "laser gives no light", MORPH_PART_LASER, 0, MORPH_HEALTH_FAILED },
	{ "sender is dead", MORPH_PART_ACCELERATOR, 0, MORPH_HEALTH_FAILED },
};

FAKE_CASE_DESC(blame_cases, name);

/* Light does not arrive. The transaction is rolled back, and names and marks the defective part. */
static void txn_finds_the_culprit(struct kunit *test)
{
	const struct blame_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);

	if (param->part == MORPH_PART_ELEMENT)
		fake->stuck[param->index] = true;
	else if (param->part == MORPH_PART_LASER)
		fake->dim[param->index] = 1;
	else
		fake->dead[param->index] = true;
	KUNIT_EXPECT_EQ(test, -EIO, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_ROLLED_BACK, txn->outcome);
	KUNIT_EXPECT_EQ(test, -EIO, txn->items[0].change.status);
	KUNIT_EXPECT_EQ(test, param->part, txn->refusal.part);
	KUNIT_EXPECT_EQ(test, param->index, txn->refusal.index);
	KUNIT_EXPECT_EQ(test, param->health,
			morph_health_get(fake->fabric, param->part, param->index));
	morph_txn_put(txn);
	fake_settle(fake);
	fake_expect_light(fake);
}

/*
 * Lasers can fail independently of the change. The core also finds a failed one that the change did
 * not switch.
 */
static void txn_finds_disobedient_elements_when_lasers_fail(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);

	fake->stuck[0] = true;
	fake_rule(fake, FAKE_LASERS_ON, FAKE_ALWAYS, FAKE_ERROR, -EREMOTEIO);
	KUNIT_EXPECT_NE(test, 0, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_FAILED,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 0));
	fake->stuck[0] = false;
	fake_clear(fake);
	morph_txn_put(txn);
}

/* Light does not go off. The outcome is not rolled back, and the laser is taken out of use. */
static void txn_is_broken_by_a_burning_laser(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);

	fake->burning[0] = 1;
	KUNIT_EXPECT_EQ(test, -EIO, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_BROKEN, txn->outcome);
	KUNIT_EXPECT_EQ(test, 1ULL, ledger_of(fake->fabric)->state->tx_dead[0]);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_BROKEN));
	KUNIT_EXPECT_NULL(test, strchr(fake->log, FAKE_LASERS_ON));
	morph_txn_put(txn);
	fake->burning[0] = 0;
}

/*
 * A circuit had to yield to its successor. No receiver shows its laser, so the core reads the
 * laser.
 */
static void txn_finds_a_burning_laser_that_yielded(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake);
	struct morph_change changes[2] = {
		fake_remove(fake_light(fake, slice, 0, 1, 0)),
		fake_add(0, 2, 0, 1),
	};
	struct morph_txn *txn;

	changes[1].lanes = 2;
	txn = fake_txn(fake, slice, changes, ARRAY_SIZE(changes), 0);
	fake->burning[0] = 1;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, 1ULL, ledger_of(fake->fabric)->state->tx_dead[0]);
	morph_txn_put(txn);
	fake->burning[0] = 0;
}

/* Light from an unknown source arrives. The outcome is not rolled back, but no laser is marked. */
static void txn_is_broken_by_stray_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);

	fake->stray[2] = 1;
	KUNIT_EXPECT_EQ(test, -EIO, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_BROKEN, txn->outcome);
	KUNIT_EXPECT_EQ(test, 0ULL, ledger_of(fake->fabric)->state->tx_dead[0]);
	KUNIT_EXPECT_EQ(test, 1ULL, ledger_of(fake->fabric)->state->rx_dead[2]);
	morph_txn_put(txn);
	fake->stray[2] = 0;
}

/* The refusal names the change whose receiver has the light. The other change is cancelled. */
static void txn_names_the_change_with_stray_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD_TWO, 0);

	fake->stray[6] = 1;	/* receive port of accelerator 3, which has rank 2 */
	KUNIT_EXPECT_EQ(test, -EIO, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, 1u, txn->refusal.item);
	KUNIT_EXPECT_EQ(test, -ECANCELED, txn->items[0].change.status);
	KUNIT_EXPECT_EQ(test, -EIO, txn->items[1].change.status);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_RECEIVER, txn->items[1].change.part);
	KUNIT_EXPECT_EQ(test, 6u, txn->items[1].change.index);
	morph_txn_put(txn);
	fake->stray[6] = 0;
}

/* --------------------------------------------------------------- repetition */

/* The same cookie changes nothing again, and gets the same answer. */
static void txn_of_same_cookie_is_the_same(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake);
	struct morph_txn *first, *second;

	first = txn_of_shape(fake, slice, ADD, 0);
	first->cookie = 5;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(first));
	second = txn_of_shape(fake, slice, ADD, 0);
	second->cookie = 5;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(second));
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
	KUNIT_EXPECT_EQ(test, first->items[0].change.circuit, second->items[0].change.circuit);
	KUNIT_EXPECT_EQ(test, first->seq, second->seq);
	KUNIT_EXPECT_EQ(test, 1u, slice->circuits_count);
	morph_txn_put(second);
	morph_txn_put(first);
}

/* The second caller gets no addresses of the first one. */
static void txn_of_same_cookie_keeps_its_own_addresses(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake);
	struct morph_txn *first, *second;

	first = txn_of_shape(fake, slice, ADD, 0);
	first->cookie = 5;
	first->items[0].change.guides.ptr = 0x1000;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(first));
	second = txn_of_shape(fake, slice, ADD, 0);
	second->cookie = 5;
	second->items[0].change.guides.ptr = 0x2000;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(second));
	KUNIT_EXPECT_EQ(test, 0x2000ULL, second->items[0].change.guides.ptr);
	morph_txn_put(second);
	morph_txn_put(first);
}

/*
 * A transaction that runs change by change ends after its slice, whose end would not release its
 * claims.
 */
static void txn_that_outlives_its_slice_is_not_kept(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = txn_slice(fake);
	struct morph_txn *txn = txn_of_shape(fake, slice, ADD_TWO, MORPH_TXN_EACH);
	struct morph_refusal refusal = {};

	KUNIT_EXPECT_EQ(test, 0, morph_slice_delete(slice, true, &refusal));
	fake_settle(fake);
	txn->cookie = 5;
	txn->outcome = MORPH_OUTCOME_COMMITTED;
	mutex_lock(&fake->fabric->lock);
	morph_history_keep_last(txn);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_EXPECT_NULL(test, slice_txns(slice)->last_txn);
	morph_txn_put(txn);
}

static void txn_of_old_generation_is_refused(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);

	txn->generation = txn_slice(fake)->generation + 1;
	KUNIT_EXPECT_EQ(test, -ESTALE, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_GENERATION, txn->refusal.reason);
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
	morph_txn_put(txn);
}

static void txn_of_a_fabric_that_is_gone_is_refused(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = txn_of_shape(fake, txn_slice(fake), ADD, 0);

	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_STATE, txn->refusal.reason);
	morph_txn_put(txn);
}

/* One change is impossible. None of the others happens either, and each has its outcome. */
static void txn_is_all_or_nothing(struct kunit *test)
{
	struct morph_change changes[] = { fake_add(0, 1, 0, 1), fake_add(0, 2, 0, 1),
					  fake_add(1, 2, 0, 1) };
	struct fake *fake = test->priv;
	struct morph_txn *txn;

	/* The selector of transmit port 0 cannot lead to 1 and 2. */
	txn = fake_txn(fake, txn_slice(fake), changes, 3, 0);
	KUNIT_EXPECT_NE(test, 0, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_NONE, txn->outcome);
	KUNIT_EXPECT_EQ(test, 1u, txn->refusal.item);
	KUNIT_EXPECT_EQ(test, -ECANCELED, txn->items[0].change.status);
	KUNIT_EXPECT_EQ(test, txn->refusal.error, txn->items[1].change.status);
	KUNIT_EXPECT_EQ(test, -ECANCELED, txn->items[2].change.status);
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
	morph_txn_put(txn);
	fake_expect_dark(fake);
}

static void txn_each_goes_past_a_refusal(struct kunit *test)
{
	struct morph_change changes[] = { fake_add(0, 1, 0, 1), fake_add(0, 2, 0, 1),
					  fake_add(1, 2, 0, 1) };
	struct fake *fake = test->priv;
	struct morph_txn *txn;
	int ret;

	txn = fake_txn(fake, txn_slice(fake), changes, 3, MORPH_TXN_EACH);
	ret = morph_txn_run(txn);
	KUNIT_EXPECT_NE(test, 0, ret);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_COMMITTED, txn->outcome);
	KUNIT_EXPECT_EQ(test, 1u, txn->refusal.item);
	KUNIT_EXPECT_EQ(test, 0, txn->items[0].change.status);
	KUNIT_EXPECT_EQ(test, ret, txn->items[1].change.status);
	KUNIT_EXPECT_EQ(test, 0, txn->items[2].change.status);
	morph_txn_put(txn);
	fake_expect_light(fake);
}

static struct kunit_case txn_cases[] = {
	KUNIT_CASE_PARAM(txn_asks_in_order, order_cases_gen_params),
	KUNIT_CASE(txn_publishes_after_verification),
	KUNIT_CASE(txn_has_the_seq_of_its_own_publication),
	KUNIT_CASE(txn_has_ended_when_it_has_parked),
	KUNIT_CASE(txn_dark_time_ends_with_the_light),
	KUNIT_CASE(txn_old_light_may_die_late),
	KUNIT_CASE(txn_darkness_of_before_is_no_news),
	KUNIT_CASE_PARAM(txn_survives_one_failure, sweep_cases_gen_params),
	KUNIT_CASE_PARAM(txn_waits_once_for_a_device_that_hangs, unread_cases_gen_params),
	KUNIT_CASE_PARAM(txn_finds_the_culprit, blame_cases_gen_params),
	KUNIT_CASE(txn_finds_disobedient_elements_when_lasers_fail),
	KUNIT_CASE(txn_is_broken_by_a_burning_laser),
	KUNIT_CASE(txn_finds_a_burning_laser_that_yielded),
	KUNIT_CASE(txn_is_broken_by_stray_light),
	KUNIT_CASE(txn_names_the_change_with_stray_light),
	KUNIT_CASE(txn_of_same_cookie_is_the_same),
	KUNIT_CASE(txn_of_same_cookie_keeps_its_own_addresses),
	KUNIT_CASE(txn_that_outlives_its_slice_is_not_kept),
	KUNIT_CASE(txn_of_old_generation_is_refused),
	KUNIT_CASE(txn_of_a_fabric_that_is_gone_is_refused),
	KUNIT_CASE(txn_is_all_or_nothing),
	KUNIT_CASE(txn_each_goes_past_a_refusal),
	{}
};

struct kunit_suite morph_txn_suite = {
	.name = "morph_txn",
	.init = txn_init,
	.exit = fake_exit,
	.test_cases = txn_cases,
};
