// SPDX-License-Identifier: GPL-2.0-only
/* Consumers: reports of light, and the end of reports. */
#include "fake.h"
#include "joined.h"
#include "morph_consumer.h"
#include "suites.h"

#define MOST_REPORTS	16u

/* The reports that a consumer of the test has received. */
struct record {
	struct morph_consumer_light lights[MOST_REPORTS];
	u32 count;
	u32 ends;
};

static void record_light(void *priv, const struct morph_consumer_light *light)
{
	struct record *record = priv;

	if (record->count < MOST_REPORTS)
		record->lights[record->count++] = *light;
}

static void record_end(void *priv)
{
	struct record *record = priv;

	record->ends++;
}

static const struct morph_consumer_ops record_ops = { .light = record_light, .end = record_end };

static struct morph_consumer *attach(struct fake *fake, const struct morph_slice *slice,
				     struct record *record)
{
	struct morph_consumer *consumer;

	consumer = morph_consumer_attach(fake->fabric->id, slice->number, &record_ops, record);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, consumer);
	return consumer;
}

static struct morph_slice *dark_slice(struct fake *fake)
{
	const u32 accelerators[] = { 0, 1 };

	return fake_slice(fake, accelerators, ARRAY_SIZE(accelerators));
}

/* Expect one report since the last call of this function. */
static void expect_report(struct kunit *test, struct record *record, u32 circuit, bool lit)
{
	const struct morph_consumer_light *light = &record->lights[0];

	KUNIT_ASSERT_EQ(test, 1u, record->count);
	KUNIT_EXPECT_EQ(test, circuit, light->circuit);
	KUNIT_EXPECT_EQ(test, 0u, light->src);
	KUNIT_EXPECT_EQ(test, 1u, light->dst);
	KUNIT_EXPECT_EQ(test, lit, light->mbps > 0);
	record->count = 0;
}

static void consumer_gets_the_data_of_a_slice(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	struct morph_consumer_slice found;

	KUNIT_ASSERT_EQ(test, 0, morph_consumer_find(fake->fabric->id, slice->number, &found));
	KUNIT_EXPECT_EQ(test, 2u, found.ranks_count);
	KUNIT_EXPECT_TRUE(test, uid_eq(found.uid, fake->user->uid));
	KUNIT_EXPECT_EQ(test, fake->fabric->simulated, found.simulated);
	KUNIT_EXPECT_EQ(test, 0, memcmp(found.fabric_uuid, fake->fabric->uuid,
					sizeof(found.fabric_uuid)));
}

static void consumer_of_an_unknown_slice_is_refused(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	struct morph_consumer_slice found;
	struct record record = {};

	KUNIT_EXPECT_EQ(test, -ENODEV,
			morph_consumer_find(fake->fabric->id, slice->number + 1, &found));
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_consumer_find(MORPH_ANY, slice->number, &found));
	KUNIT_EXPECT_EQ(test, -ENODEV,
			PTR_ERR_OR_ZERO(morph_consumer_attach(fake->fabric->id, MORPH_ANY,
							      &record_ops, &record)));
}

static void consumer_gets_light_that_precedes_it(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	u32 circuit = fake_light(fake, slice, 0, 1, 0);
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);

	expect_report(test, &record, circuit, true);
	morph_consumer_replay(consumer);
	expect_report(test, &record, circuit, true);
	morph_consumer_detach(consumer);
}

static void consumer_gets_new_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);
	u32 circuit;

	KUNIT_EXPECT_EQ(test, 0u, record.count);
	circuit = fake_light(fake, slice, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, fake->fabric->graph->params.lane_mbps *
			      fake_circuit(slice, circuit)->lanes_count,
			record.lights[0].mbps);
	expect_report(test, &record, circuit, true);
	morph_consumer_detach(consumer);
}

static void consumer_gets_the_end_of_a_circuit(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	u32 circuit = fake_light(fake, slice, 0, 1, 0);
	struct morph_change change = fake_remove(circuit);
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);
	struct morph_txn *txn;

	expect_report(test, &record, circuit, true);
	txn = fake_txn(fake, slice, &change, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	morph_txn_put(txn);
	/* The circuit goes dark first, and ends when the receivers have shown that it is dark. */
	KUNIT_ASSERT_EQ(test, 2u, record.count);
	KUNIT_EXPECT_EQ(test, 0ULL, record.lights[0].mbps);
	KUNIT_EXPECT_FALSE(test, record.lights[0].removed);
	KUNIT_EXPECT_EQ(test, circuit, record.lights[1].circuit);
	KUNIT_EXPECT_EQ(test, 0ULL, record.lights[1].mbps);
	KUNIT_EXPECT_TRUE(test, record.lights[1].removed);
	morph_consumer_detach(consumer);
}

/* The new path is lit before the old one goes dark, so a sender need not pause. */
static void consumer_sees_no_darkness_in_a_move_that_keeps_the_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	u32 circuit = fake_light(fake, slice, 0, 1, 0);
	struct morph_change change = fake_move(circuit, 1);
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);
	struct morph_txn *txn;

	expect_report(test, &record, circuit, true);
	txn = fake_txn(fake, slice, &change, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, morph_txn_run(txn));
	morph_txn_put(txn);
	KUNIT_EXPECT_EQ(test, 0ULL, fake_circuit(slice, circuit)->dark_ns);
	expect_report(test, &record, circuit, true);
	morph_consumer_detach(consumer);
}

/* The accelerator of a rank changes, but the consumer sees only that light goes and returns. */
static void consumer_sees_a_failover_as_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_AUTOMATIC, MORPH_SPARES_HOST);
	u32 circuit = fake_only_circuit(slice)->id;
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);
	u32 i;

	expect_report(test, &record, circuit, true);
	fake_kill(fake, 1);
	fake_expect_ends(test, fake_only_circuit(slice), 0, 2);
	KUNIT_ASSERT_GE(test, record.count, 1u);
	for (i = 0; i < record.count; i++) {
		KUNIT_EXPECT_EQ(test, circuit, record.lights[i].circuit);
		KUNIT_EXPECT_EQ(test, 1u, record.lights[i].dst);
		KUNIT_EXPECT_FALSE(test, record.lights[i].removed);
	}
	KUNIT_EXPECT_GT(test, record.lights[record.count - 1].mbps, 0ULL);
	morph_consumer_detach(consumer);
}

static void consumer_reads_the_ports_of_a_rank(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	struct morph_consumer_port ports[FAKE_PLANES];
	struct morph_consumer_rank found;
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);

	fake_light(fake, slice, 0, 1, 0);
	KUNIT_ASSERT_EQ(test, 0, morph_consumer_read(consumer, 0, &found, ports, FAKE_PLANES));
	KUNIT_EXPECT_EQ(test, 0u, found.accelerator);
	KUNIT_EXPECT_EQ(test, FAKE_PLANES, found.planes_count);
	KUNIT_EXPECT_TRUE(test, ports[0].sends);
	KUNIT_EXPECT_FALSE(test, ports[0].tx_fault);
	KUNIT_EXPECT_FALSE(test, ports[0].receives);
	KUNIT_EXPECT_FALSE(test, ports[1].sends);
	KUNIT_ASSERT_EQ(test, 0, morph_consumer_read(consumer, 1, &found, ports, FAKE_PLANES));
	KUNIT_EXPECT_EQ(test, 1u, found.accelerator);
	KUNIT_EXPECT_FALSE(test, ports[0].sends);
	KUNIT_EXPECT_TRUE(test, ports[0].receives && ports[0].lit && ports[0].locked);
	KUNIT_EXPECT_FALSE(test, ports[1].receives || ports[1].lit || ports[1].locked);
	morph_consumer_detach(consumer);
}

static void consumer_reads_missing_light(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_NONE, MORPH_SPARES_HOST);
	const struct optics_path *path = &fake_only_circuit(slice)->route->path;
	u32 tx = path->tx % FAKE_PLANES, rx = path->rx % FAKE_PLANES;
	struct morph_consumer_port ports[FAKE_PLANES];
	struct morph_consumer_rank found;
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);

	fake->dim[path->tx] = path->lanes;
	KUNIT_ASSERT_EQ(test, 0, morph_consumer_read(consumer, 0, &found, ports, FAKE_PLANES));
	KUNIT_EXPECT_TRUE(test, ports[tx].sends && ports[tx].tx_fault);
	KUNIT_ASSERT_EQ(test, 0, morph_consumer_read(consumer, 1, &found, ports, FAKE_PLANES));
	KUNIT_EXPECT_TRUE(test, ports[rx].receives);
	KUNIT_EXPECT_FALSE(test, ports[rx].lit || ports[rx].locked);
	morph_consumer_detach(consumer);
}

static void consumer_gets_errors_of_readings(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_NONE, MORPH_SPARES_HOST);
	struct morph_consumer_port ports[FAKE_PLANES];
	struct morph_consumer_rank found;
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);

	KUNIT_EXPECT_EQ(test, -ENOENT,
			morph_consumer_read(consumer, slice->ranks_count, &found, ports,
					    FAKE_PLANES));
	fake_rule(fake, FAKE_GET_RECEIVERS, 0, FAKE_ERROR, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO,
			morph_consumer_read(consumer, 1, &found, ports, FAKE_PLANES));
	/* Without ports, the device is not asked. */
	fake_clear(fake);
	KUNIT_EXPECT_EQ(test, 0, morph_consumer_read(consumer, 1, &found, NULL, 0));
	KUNIT_EXPECT_STREQ(test, "", fake->log);
	morph_slice_delete(slice, true, NULL);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			morph_consumer_read(consumer, 1, &found, ports, FAKE_PLANES));
	morph_consumer_detach(consumer);
}

static void consumer_gets_no_report_after_detaching(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = dark_slice(fake);
	struct record gone = {}, other = {};
	struct morph_consumer *consumer = attach(fake, slice, &gone);
	struct morph_consumer *remaining = attach(fake, slice, &other);
	u32 circuit;

	morph_consumer_detach(consumer);
	circuit = fake_light(fake, slice, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, 0u, gone.count);
	expect_report(test, &other, circuit, true);
	morph_consumer_detach(remaining);
}

static void consumer_gets_the_end_of_the_slice_once(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_NONE, MORPH_SPARES_HOST);
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);
	u32 number = slice->number;

	record.count = 0;
	morph_slice_delete(slice, true, NULL);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(test, 1u, record.ends);
	morph_consumer_replay(consumer);
	KUNIT_EXPECT_EQ(test, 0u, record.count);
	morph_consumer_detach(consumer);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			PTR_ERR_OR_ZERO(morph_consumer_attach(fake->fabric->id, number,
							      &record_ops, &record)));
}

static void consumer_gets_the_end_of_the_fabric(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_slice *slice = fake_joined(fake, MORPH_FAILOVER_NONE, MORPH_SPARES_HOST);
	struct record record = {};
	struct morph_consumer *consumer = attach(fake, slice, &record);

	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	KUNIT_EXPECT_EQ(test, 1u, record.ends);
	morph_consumer_detach(consumer);
}

static struct kunit_case consumer_cases[] = {
	KUNIT_CASE(consumer_gets_the_data_of_a_slice),
	KUNIT_CASE(consumer_of_an_unknown_slice_is_refused),
	KUNIT_CASE(consumer_gets_light_that_precedes_it),
	KUNIT_CASE(consumer_gets_new_light),
	KUNIT_CASE(consumer_gets_the_end_of_a_circuit),
	KUNIT_CASE(consumer_sees_no_darkness_in_a_move_that_keeps_the_light),
	KUNIT_CASE(consumer_sees_a_failover_as_light),
	KUNIT_CASE(consumer_reads_the_ports_of_a_rank),
	KUNIT_CASE(consumer_reads_missing_light),
	KUNIT_CASE(consumer_gets_errors_of_readings),
	KUNIT_CASE(consumer_gets_no_report_after_detaching),
	KUNIT_CASE(consumer_gets_the_end_of_the_slice_once),
	KUNIT_CASE(consumer_gets_the_end_of_the_fabric),
	{}
};

struct kunit_suite morph_consumer_suite = {
	.name = "morph_consumer",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = consumer_cases,
};
