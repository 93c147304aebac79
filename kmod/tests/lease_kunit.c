// SPDX-License-Identifier: GPL-2.0-only
/* Prepared transactions: seizing them, queued steps, expired leases, and cookies in use. */
#include <linux/delay.h>

#include "shapes.h"
#include "suites.h"

/* The error of a request without a particular holder. */
static const struct morph_token token;

/* A prepared circuit from accelerator 0 to 1: ports 0 and 2, elements 0 and 5. */
static struct morph_txn *prepared(struct fake *fake)
{
	return fake_prepare(fake, fake->files[0]->slice);
}

static bool revoke_holder(struct fake *fake, u32 part, u32 index)
{
	bool revoked;

	mutex_lock(&fake->fabric->lock);
	revoked = morph_txn_revoke_holder(fake->fabric, part, index);
	mutex_unlock(&fake->fabric->lock);
	return revoked;
}

static void revert(struct fake *fake, struct morph_txn *txn)
{
	struct morph_refusal refusal = {};

	KUNIT_EXPECT_EQ(fake->test, 0, morph_txn_step(txn, MORPH_TXN_REVERT, 0, &refusal));
}

#define ITS_GUIDE	MORPH_ANY

struct holder_case {
	const char *name;
	u32 part, index;
	bool holds;
};

static const struct holder_case holder_cases[] = {
	{ "its laser", MORPH_PART_LASER, 0, true },
	{ "another laser", MORPH_PART_LASER, 2, false },
	{ "its receiver", MORPH_PART_RECEIVER, 2, true },
	{ "another receiver", MORPH_PART_RECEIVER, 0, false },
	{ "its transmit selector", MORPH_PART_ELEMENT, 0, true },
	{ "its receive selector", MORPH_PART_ELEMENT, 5, true },
	{ "another selector", MORPH_PART_ELEMENT, 1, false },
	{ "its guide", MORPH_PART_GUIDE, ITS_GUIDE, true },
	{ "an edge, where there is none", MORPH_PART_EDGE, 0, false },
	{ "an accelerator, which its slice has", MORPH_PART_ACCELERATOR, 0, false },
};

FAKE_CASE_DESC(holder_cases, name);

/* Failover may seize a prepared transaction, but only the one that holds the part. */
static void lease_revokes_the_holder(struct kunit *test)
{
	const struct holder_case *param = test->param_value;
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);
	u32 index = param->index;

	if (index == ITS_GUIDE)
		index = txn->items[0].new->hops[0].guide >> 1;
	KUNIT_EXPECT_EQ(test, param->holds, revoke_holder(fake, param->part, index));
	if (param->holds) {
		KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, txn->outcome);
		KUNIT_EXPECT_EQ(test, -ECANCELED, txn->status);
		KUNIT_EXPECT_EQ(test, 0ULL, morph_txn_lease_left(txn));
	} else {
		KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
		revert(fake, txn);
	}
	morph_txn_put(txn);
	fake_settle(fake);
	fake_expect_dark(fake);
}

/* Failover never seizes a committed transaction. */
static void lease_keeps_a_committed_change(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);

	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	KUNIT_EXPECT_FALSE(test, revoke_holder(fake, MORPH_PART_LASER, 0));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_UNCONFIRMED, txn->outcome);
	revert(fake, txn);
	morph_txn_put(txn);
}

/* Failover does not seize a transaction while another thread works in the slice. */
static void lease_keeps_lanes_in_use(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);
	struct morph_slice *slice = txn->slice;

	mutex_lock(&fake->fabric->lock);
	morph_slice_enter(slice, true);
	KUNIT_EXPECT_FALSE(test, morph_txn_revoke_holder(fake->fabric, MORPH_PART_LASER, 0));
	morph_slice_leave(slice);
	mutex_unlock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
	revert(fake, txn);
	morph_txn_put(txn);
}

/* ------------------------------------------------------------------- queued */

struct verb_case {
	const char *name;
	u32 verb;
};

static const struct verb_case verb_cases[] = {
	{ "before the first", MORPH_TXN_COMMIT - 1 },
	{ "a question", MORPH_TXN_QUERY },
	{ "past the last", MORPH_TXN_VERIFY + 1 },
};

FAKE_CASE_DESC(verb_cases, name);

static void lease_queues_no_other_verb(struct kunit *test)
{
	const struct verb_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			morph_txn_step_queue(txn, param->verb, 0, &token, &refusal));
	KUNIT_EXPECT_NOT_NULL(test, strstr(refusal.text, "verb must be 1 (commit)"));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
	revert(fake, txn);
	morph_txn_put(txn);
}

/* A queued step that fails leaves the state of the transaction unchanged, and reports the error. */
static void lease_reports_why_a_queued_step_failed(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);

	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	fake->deaf = txn->items[0].new->path.rx + 1;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step_queue(txn, MORPH_TXN_VERIFY, 0, &token, &refusal));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_UNCONFIRMED, txn->outcome);
	KUNIT_EXPECT_EQ(test, -EIO, txn->status);
	KUNIT_EXPECT_GT(test, morph_txn_lease_left(txn), 0ULL);
	fake->deaf = 0;
	revert(fake, txn);
	morph_txn_put(txn);
}

/*
 * The laser does not obey, and its receiver is deaf. After the error the core reads the laser, and
 * switches it off again.
 */
static void lease_end_reviews_failed_parts(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);

	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	fake->deaf = txn->items[0].new->path.rx + 1;
	fake_rule(fake, FAKE_LASERS_OFF, 0, FAKE_ERROR, -EIO);
	fake_rule(fake, FAKE_LASERS_OFF, 0, FAKE_ERROR, -EIO);
	revert(fake, txn);
	fake_settle(fake);
	fake->deaf = 0;
	fake_expect_light(fake);
	morph_txn_put(txn);
}

/*
 * A request that has to wait for a repair, or comes after the end of the slice, gets that as its
 * error.
 */
static void lease_reports_why_it_refuses_a_step(struct kunit *test)
{
	struct morph_refusal repaired = {}, gone = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);

	WRITE_ONCE(txn->slice->repairing, true);
	KUNIT_EXPECT_EQ(test, -EAGAIN, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &repaired));
	WRITE_ONCE(txn->slice->repairing, false);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_STATE, repaired.reason);
	KUNIT_EXPECT_STREQ(test, "the slice is being repaired; try again", repaired.text);
	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &gone));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_STATE, gone.reason);
	KUNIT_EXPECT_STREQ(test, "the slice or its fabric is gone", gone.text);
	morph_txn_put(txn);
}

/* A step that succeeds does not report an earlier failure. */
static void lease_forgets_why_a_step_failed(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);
	struct morph_event event;

	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	fake->deaf = txn->items[0].new->path.rx + 1;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step_queue(txn, MORPH_TXN_VERIFY, 0, &token, &refusal));
	fake_settle(fake);
	KUNIT_EXPECT_NE(test, (u32)MORPH_REASON_NONE, txn->refusal.reason);
	fake->deaf = 0;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_VERIFY, 0, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_NONE, txn->refusal.reason);
	KUNIT_EXPECT_EQ(test, 0, txn->status);
	while (fake_event(fake, 0, &event))
		;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_CONFIRM, 0, &refusal));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_TXN, fake_event(fake, 0, &event));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_NONE, event.part);
	morph_txn_put(txn);
}

/* ------------------------------------------------------------------ expiry */

/* Let the lease run out now. Returns when the timer has queued its work. */
static void run_out(struct fake *fake, struct morph_txn *txn)
{
	mutex_lock(&fake->fabric->lock);
	txn->lease_until_ns = 0;
	hrtimer_start(&txn->lease_timer, 0, HRTIMER_MODE_ABS);
	mutex_unlock(&fake->fabric->lock);
	while (hrtimer_active(&txn->lease_timer))
		cpu_relax();
}

/* The state between morph_txn_step_queue() and its worker, which the test does not start. */
static void queue_step(struct fake *fake, struct morph_txn *txn)
{
	mutex_lock(&fake->fabric->lock);
	txn->queued_from = txn->outcome;
	txn->outcome = MORPH_OUTCOME_RUNNING;
	mutex_unlock(&fake->fabric->lock);
}

struct crossing_case {
	const char *name;
	bool committed;
};

static const struct crossing_case crossing_cases[] = {
	{ "prepared", false },
	{ "unconfirmed", true },
};

FAKE_CASE_DESC(crossing_cases, name);

/* The worker of the step may refuse it, so the lease must not rely on the step. */
static void lease_ends_before_a_queued_step(struct kunit *test)
{
	const struct crossing_case *param = test->param_value;
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);

	if (param->committed)
		KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	queue_step(fake, txn);
	run_out(fake, txn);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_EXPIRED, txn->outcome);
	KUNIT_EXPECT_EQ(test, -ETIME, txn->status);
	KUNIT_EXPECT_EQ(test, 0U, txn->queued_from);
	fake_expect_dark(fake);
	morph_txn_put(txn);
}

/*
 * At the end of the lease the core reads the light that comes in over an edge. Meanwhile no other
 * step may be queued. The fabric of the test has no edges, so the route pretends to begin at one.
 */
static void lease_ends_while_its_light_is_read(struct kunit *test)
{
	struct morph_refusal refusal = {};
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);
	struct morph_route *route = txn->items[0].new;
	u32 tx = route->path.tx;

	KUNIT_EXPECT_EQ(test, 0, morph_txn_step(txn, MORPH_TXN_COMMIT, 0, &refusal));
	txn->verified = true;
	route->path.tx = optics_edge_end(fake->fabric->graph, 0);
	fake_rule(fake, FAKE_GET_RECEIVERS, 0, FAKE_HANG, 0);
	run_out(fake, txn);
	wait_for_completion(&fake->silent);
	route->path.tx = tx;
	KUNIT_EXPECT_EQ(test, -EBUSY,
			morph_txn_step_queue(txn, MORPH_TXN_CONFIRM, 0, &token, &refusal));
	morph_fabric_complete(fake->fabric, fake->silent_cookie, -EIO, NULL, 0);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_EXPIRED, txn->outcome);
	fake_expect_dark(fake);
	morph_txn_put(txn);
}

/* The transaction ends while the work of the expired lease waits for the slice. */
static void lease_keeps_the_status_of_an_ended_one(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *txn = prepared(fake);
	struct morph_slice *slice = txn->slice;

	mutex_lock(&fake->fabric->lock);
	morph_slice_enter(slice, true);
	mutex_unlock(&fake->fabric->lock);
	run_out(fake, txn);
	while (!wq_has_sleeper(&slice->idle))
		usleep_range(1000, 2000);
	mutex_lock(&fake->fabric->lock);
	morph_txn_revoke_slice(slice);
	morph_refuse(&txn->refusal, -ECANCELED, MORPH_REASON_STATE, 0, 0, "revoked");
	morph_slice_leave(slice);
	mutex_unlock(&fake->fabric->lock);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_REVOKED, txn->outcome);
	KUNIT_EXPECT_EQ(test, -ECANCELED, txn->status);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_REASON_STATE, txn->refusal.reason);
	morph_txn_put(txn);
}

/* ------------------------------------------------------------------ cookies */

#define COOKIE	9

static struct morph_txn *with_cookie(struct fake *fake, u32 flags)
{
	struct morph_change change = fake_add(1, 2, 0, 1);
	struct morph_txn *txn = fake_txn(fake, fake->files[0]->slice, &change, 1, flags);

	txn->cookie = COOKIE;
	return txn;
}

/* Another thread prepares the cookie between its lookup and its turn. */
static void lease_cookie_of_a_prepared_one_is_taken(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_txn *first = prepared(fake), *again = with_cookie(fake, 0);

	first->cookie = COOKIE;
	KUNIT_EXPECT_EQ(test, 0, morph_txn_queue(again));
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_NONE, again->outcome);
	KUNIT_EXPECT_EQ(test, -EALREADY, again->status);
	KUNIT_EXPECT_EQ(test, first->id, again->refusal.index);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_PREPARED, first->outcome);
	morph_txn_put(again);
	revert(fake, first);
	morph_txn_put(first);
}

/*
 * A transaction that runs change by change lets other transactions into the slice between changes,
 * but none with its own cookie.
 */
static void lease_cookie_of_a_running_one_is_busy(struct kunit *test)
{
	static const u32 flags[] = { 0, MORPH_TXN_EACH };
	struct fake *fake = test->priv;
	struct morph_txn *first = with_cookie(fake, MORPH_TXN_EACH), *again;
	u32 i;

	fake_clear(fake);
	fake_rule(fake, FAKE_SET_ELEMENTS, 0, FAKE_HANG, 0);
	KUNIT_ASSERT_EQ(test, 0, morph_txn_queue(first));
	wait_for_completion(&fake->silent);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		again = with_cookie(fake, flags[i]);
		KUNIT_EXPECT_EQ(test, -EBUSY, morph_txn_run(again));
		KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_NONE, again->outcome);
		KUNIT_EXPECT_STREQ(test, "the transaction with this cookie is under way",
				   (const char *)again->refusal.text);
		morph_txn_put(again);
	}
	morph_fabric_complete(fake->fabric, fake->silent_cookie, 0, NULL, 0);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_OUTCOME_COMMITTED, first->outcome);
	fake_expect_light(fake);
	morph_txn_put(first);
}

static struct kunit_case lease_cases[] = {
	KUNIT_CASE_PARAM(lease_revokes_the_holder, holder_cases_gen_params),
	KUNIT_CASE(lease_keeps_a_committed_change),
	KUNIT_CASE(lease_keeps_lanes_in_use),
	KUNIT_CASE_PARAM(lease_queues_no_other_verb, verb_cases_gen_params),
	KUNIT_CASE(lease_reports_why_a_queued_step_failed),
	KUNIT_CASE(lease_end_reviews_failed_parts),
	KUNIT_CASE(lease_reports_why_it_refuses_a_step),
	KUNIT_CASE(lease_forgets_why_a_step_failed),
	KUNIT_CASE_PARAM(lease_ends_before_a_queued_step, crossing_cases_gen_params),
	KUNIT_CASE(lease_ends_while_its_light_is_read),
	KUNIT_CASE(lease_keeps_the_status_of_an_ended_one),
	KUNIT_CASE(lease_cookie_of_a_prepared_one_is_taken),
	KUNIT_CASE(lease_cookie_of_a_running_one_is_busy),
	{}
};

struct kunit_suite morph_lease_suite = {
	.name = "morph_leases",
	.init = txn_init,
	.exit = fake_exit,
	.test_cases = lease_cases,
};
