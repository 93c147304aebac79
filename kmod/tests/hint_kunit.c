// SPDX-License-Identifier: GPL-2.0-only
/* Hints: events about the light of circuits on a fabric that is not simulated. */
#include "fake.h"
#include "joined.h"
#include "suites.h"

/* The sender of fake_joined(). */
#define SENDER_PCI	"0000:17:00.0"

static int hint_init(struct kunit *test)
{
	struct fake *fake = fake_alloc(test, &fake_small);

	fake->desc.simulated = false;
	fake_register(fake);
	mutex_lock(&fake->fabric->lock);
	strscpy(ledger_of(fake->fabric)->chips[0].identity.pci, SENDER_PCI, MORPH_PCI_BYTES);
	mutex_unlock(&fake->fabric->lock);
	return 0;
}

/* Remove events up to the next hint. Return its type, or 0. */
static u32 next_hint(struct fake *fake, struct morph_event *event)
{
	while (fake_event(fake, 0, event))
		if (event->type == MORPH_EVENT_CIRCUIT_CHANGING ||
		    event->type == MORPH_EVENT_CIRCUIT_LIT)
			return event->type;
	return 0;
}

static void expect_no_hint(struct fake *fake)
{
	struct morph_event event;

	KUNIT_EXPECT_EQ(fake->test, 0u, next_hint(fake, &event));
}

/* Expect that the accelerator that sends on the circuit must pause. */
static void expect_changing(struct fake *fake, u32 circuit, u32 accelerator)
{
	struct morph_event event;

	KUNIT_ASSERT_EQ(fake->test, (u32)MORPH_EVENT_CIRCUIT_CHANGING, next_hint(fake, &event));
	KUNIT_EXPECT_EQ(fake->test, 0u, event.rank);
	KUNIT_EXPECT_EQ(fake->test, circuit, event.circuit);
	KUNIT_EXPECT_EQ(fake->test, accelerator, event.old_accelerator);
	KUNIT_EXPECT_STREQ(fake->test, accelerator ? "" : SENDER_PCI, event.old_pci);
	KUNIT_EXPECT_EQ(fake->test, MORPH_ANY, event.new_accelerator);
}

/* Expect that the accelerator may send on the circuit. */
static void expect_lit(struct fake *fake, u32 circuit, u32 accelerator)
{
	struct morph_event event;

	KUNIT_ASSERT_EQ(fake->test, (u32)MORPH_EVENT_CIRCUIT_LIT, next_hint(fake, &event));
	KUNIT_EXPECT_EQ(fake->test, 0u, event.rank);
	KUNIT_EXPECT_EQ(fake->test, circuit, event.circuit);
	KUNIT_EXPECT_EQ(fake->test, accelerator, event.new_accelerator);
	KUNIT_EXPECT_STREQ(fake->test, accelerator ? "" : SENDER_PCI, event.new_pci);
	KUNIT_EXPECT_EQ(fake->test, MORPH_ANY, event.old_accelerator);
}

static void hint_of_new_light(struct kunit *test)
{
	const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_slice(fake, accelerators, ARRAY_SIZE(accelerators));
	u32 circuit = fake_light(fake, slice, 0, 1, 0);

	expect_lit(fake, circuit, 0);
	expect_no_hint(fake);
}

/* The hint comes while the circuit still exists. */
static void hint_precedes_the_end_of_a_circuit(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_NONE, MORPH_SPARES_HOST);
	u32 circuit = fake_only_circuit(slice)->id;
	struct morph_change change = fake_remove(circuit);
	struct morph_txn *txn = fake_txn(fake, slice, &change, 1, 0);
	struct fake_run run;

	fake_begin(fake, &run, txn, FAKE_LASERS_OFF, 0);
	expect_changing(fake, circuit, 0);
	fake_go_on(fake);
	KUNIT_EXPECT_EQ(test, 0, fake_end(&run));
	expect_no_hint(fake);
	morph_txn_put(txn);
}

/* An alarm without a cause: the light is there when the core reads it. */
static void hints_of_lost_light_that_returns(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_circuit *circuit = fake_only_circuit(slice);
	const struct morph_signal signal = {
		.type = MORPH_SIGNAL_RECEIVER,
		.index = circuit->route->path.rx,
		.lanes = circuit->route->path.lanes,
	};

	morph_fabric_signal(fake->fabric, &signal, 1);
	fake_settle(fake);
	expect_changing(fake, circuit->id, 0);
	expect_lit(fake, circuit->id, 0);
	expect_no_hint(fake);
}

static void hints_of_a_failover_name_both_accelerators(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	struct morph_circuit *circuit = fake_only_circuit(slice);

	mutex_lock(&fake->fabric->lock);
	circuit->dark = true;
	morph_report_darkened(circuit);
	mutex_unlock(&fake->fabric->lock);
	fake_kill(fake, 0);
	expect_changing(fake, circuit->id, 0);
	expect_lit(fake, circuit->id, 2);
	expect_no_hint(fake);
}

/* The new path is lit before the old one goes dark, but frames on the old one may be lost. */
static void hints_surround_a_move_without_a_dark_time(struct kunit *test)
{
	const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_slice(fake, accelerators, ARRAY_SIZE(accelerators));
	u32 circuit = fake_light(fake, slice, 0, 1, 0);
	struct morph_change change = fake_move(circuit, 1);
	struct morph_txn *txn = fake_txn(fake, slice, &change, 1, 0);

	expect_lit(fake, circuit, 0);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	KUNIT_EXPECT_EQ(test, 0ULL, fake_circuit(slice, circuit)->dark_ns);
	expect_changing(fake, circuit, 0);
	expect_lit(fake, circuit, 0);
	expect_no_hint(fake);
	morph_txn_put(txn);
}

/* morph_net carries the bytes there, and gets changes of light as a consumer. */
static void hints_are_absent_on_a_simulated_fabric(struct kunit *test)
{
	const u32 accelerators[] = { 0, 1 };
	struct fake *fake = test->priv;
	struct morph_slice *slice;

	fake->fabric->simulated = true;
	slice = fake_slice(fake, accelerators, ARRAY_SIZE(accelerators));
	fake_light(fake, slice, 0, 1, 0);
	expect_no_hint(fake);
}

static struct kunit_case hint_cases[] = {
	KUNIT_CASE(hint_of_new_light),
	KUNIT_CASE(hint_precedes_the_end_of_a_circuit),
	KUNIT_CASE(hints_of_lost_light_that_returns),
	KUNIT_CASE(hints_of_a_failover_name_both_accelerators),
	KUNIT_CASE(hints_surround_a_move_without_a_dark_time),
	KUNIT_CASE(hints_are_absent_on_a_simulated_fabric),
	{}
};

struct kunit_suite morph_hint_suite = {
	.name = "morph_hint",
	.init = hint_init,
	.exit = fake_exit,
	.test_cases = hint_cases,
};
