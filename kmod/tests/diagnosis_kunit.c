// SPDX-License-Identifier: GPL-2.0-only
/* Diagnosis: several failures at once, whose dark paths appear in random order. */
#include "fake.h"
#include "suites.h"

#define SEEDS	64u
#define ROUNDS	400u
#define MOST	2u	/* failures of each kind */

/* All hardware of the test is on this plane. */
#define PLANE	0u

struct failures {
	struct fake *fake;
	u32 random;
	u32 count;			/* of each kind */
	u32 deaf[MOST], spans[MOST], weak[MOST];
};

static u32 draw(struct failures *failures, u32 limit)
{
	failures->random = failures->random * 1103515245u + 12345u;
	return (failures->random >> 16) % limit;
}

static u32 port_of(u32 accelerator)
{
	return accelerator * FAKE_PLANES + PLANE;
}

static bool has(const u32 *list, u32 count, u32 value)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* The only path between two accelerators. Its elements are in their states. */
static void make_path(struct fake *fake, u32 src, u32 dst, struct optics_hop *hops,
		      struct optics_path *path)
{
	const struct optics_graph *graph = fake->fabric->graph;
	u32 from = 2 * port_of(src), to = 2 * port_of(dst) + 1;

	*path = (struct optics_path){
		.tx = port_of(src), .rx = port_of(dst), .lanes = 1, .hops_count = 3, .hops = hops,
	};
	hops[0] = (struct optics_hop){ graph->tx_guide[path->tx], from, dst + 1 };
	hops[1] = (struct optics_hop){
		graph->port_guide[graph->elements[from].first_port + dst + 1], to, src + 1,
	};
	hops[2] = (struct optics_hop){ graph->rx_guide[path->rx], OPTICS_NONE, 0 };
	fake->element[from] = dst + 1;
	fake->element[to] = src + 1;
}

static void draw_failures(struct failures *failures)
{
	u32 total = failures->fake->accelerators, i, src;
	struct optics_hop hops[3];
	struct optics_path path;

	for (i = 0; i < failures->count; i++) {
		do {
			failures->deaf[i] = draw(failures, total);
		} while (has(failures->deaf, i, failures->deaf[i]));
		do {
			failures->weak[i] = draw(failures, total);
		} while (has(failures->weak, i, failures->weak[i]));
		src = draw(failures, total);
		make_path(failures->fake, src, (src + 1 + draw(failures, total - 1)) % total, hops,
			  &path);
		failures->spans[i] = hops[1].guide >> 1;
		failures->fake->dim[port_of(failures->weak[i])] = 1;
	}
}

/* Light a path that the ledger allows. If it is dark, mark the culprit. Return a guide or NONE. */
static u32 light_and_diagnose(struct failures *failures)
{
	struct fake *fake = failures->fake;
	struct morph_fabric *fabric = fake->fabric;
	const struct optics_state *ledger = ledger_of(fabric)->state;
	u32 src = draw(failures, fake->accelerators);
	u32 dst = (src + 1 + draw(failures, fake->accelerators - 1)) % fake->accelerators;
	struct morph_culprit culprit;
	struct optics_hop hops[3];
	struct optics_path path;

	make_path(fake, src, dst, hops, &path);
	if (ledger->tx_dead[path.tx] || ledger->rx_dead[path.rx] ||
	    ledger->guide_marks[hops[1].guide >> 1])
		return OPTICS_NONE;
	if (!has(failures->deaf, failures->count, dst) &&
	    !has(failures->weak, failures->count, src) &&
	    !has(failures->spans, failures->count, hops[1].guide >> 1)) {
		mutex_lock(&fabric->lock);
		morph_hw_seen(fabric, path.rx);
		mutex_unlock(&fabric->lock);
		return OPTICS_NONE;
	}
	morph_health_diagnose(fabric, &path, src, &culprit);
	fake_set_health(fake, culprit.part, culprit.index, MORPH_HEALTH_QUARANTINED);
	if (culprit.part == MORPH_PART_GUIDE &&
	    !has(failures->spans, failures->count, culprit.index))
		return culprit.index;
	return OPTICS_NONE;
}

static void expect_diagnosed(struct failures *failures, u32 seed, u32 healthy_spans)
{
	struct fake *fake = failures->fake;
	const struct optics_state *ledger = ledger_of(fake->fabric)->state;
	u32 i;

	KUNIT_EXPECT_LE_MSG(fake->test, healthy_spans, failures->count, "seed %u", seed);
	for (i = 0; i < failures->count; i++) {
		KUNIT_EXPECT_TRUE_MSG(fake->test, ledger->rx_dead[port_of(failures->deaf[i])],
				      "seed %u", seed);
		KUNIT_EXPECT_TRUE_MSG(fake->test, ledger->tx_dead[port_of(failures->weak[i])],
				      "seed %u", seed);
	}
	/* Patrol tests every other part that was blamed. */
	for (i = 0; i < fake->accelerators; i++)
		if (ledger->rx_dead[port_of(i)])
			KUNIT_EXPECT_TRUE_MSG(fake->test,
					      morph_suspect_waits(fake->fabric, MORPH_PART_RECEIVER,
								  port_of(i)), "seed %u", seed);
	for (i = 0; i < fake->fabric->graph->guides_count; i++)
		if (ledger->guide_marks[i])
			KUNIT_EXPECT_TRUE_MSG(fake->test,
					      morph_suspect_waits(fake->fabric, MORPH_PART_GUIDE,
								  i), "seed %u", seed);
}

static void repair_all(struct failures *failures)
{
	struct fake *fake = failures->fake;
	u32 i;

	for (i = 0; i < fake->accelerators; i++) {
		fake->dim[port_of(i)] = 0;
		fake_set_health(fake, MORPH_PART_LASER, port_of(i), MORPH_HEALTH_OK);
		fake_set_health(fake, MORPH_PART_RECEIVER, port_of(i), MORPH_HEALTH_OK);
		mutex_lock(&fake->fabric->lock);
		morph_hw_seen(fake->fabric, port_of(i));
		mutex_unlock(&fake->fabric->lock);
	}
	for (i = 0; i < fake->fabric->graph->guides_count; i++)
		fake_set_health(fake, MORPH_PART_GUIDE, i, MORPH_HEALTH_OK);
}

/*
 * Deaf receivers, weak lasers and failed spans at once. Diagnosis names all receivers and lasers,
 * and blames at most one healthy span for each deaf receiver.
 */
static void diagnosis_converges(struct kunit *test)
{
	struct fake *fake = test->priv;
	u32 seed, round, healthy, i;

	cancel_delayed_work_sync(&recovery_of(fake->fabric)->patrol_work);
	for (i = 0; i < FAKE_PORTS; i++)
		fake->laser[i] = 1;
	for (seed = 0; seed < SEEDS; seed++) {
		struct failures failures = {
			.fake = fake, .random = seed, .count = 1 + seed % MOST,
		};

		draw_failures(&failures);
		healthy = 0;
		for (round = 0; round < ROUNDS; round++)
			healthy += light_and_diagnose(&failures) != OPTICS_NONE;
		expect_diagnosed(&failures, seed, healthy);
		repair_all(&failures);
	}
	memset(fake->laser, 0, sizeof(fake->laser));
	memset(fake->element, 0, sizeof(fake->element));
}

/* Diagnose a dark path from @src to accelerator 1, and quarantine the culprit. */
static struct morph_culprit quarantine_culprit(struct fake *fake, u32 src)
{
	struct morph_fabric *fabric = fake->fabric;
	struct morph_culprit culprit = {};
	struct optics_hop hops[3];
	struct optics_path path;

	make_path(fake, src, 1, hops, &path);
	fake->laser[path.tx] = 1;
	morph_health_diagnose(fabric, &path, src, &culprit);
	memset(fake->laser, 0, sizeof(fake->laser));
	memset(fake->element, 0, sizeof(fake->element));
	mutex_lock(&fabric->lock);
	morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
	mutex_unlock(&fabric->lock);
	return culprit;
}

/* Diagnosis blames a healthy span before the deaf receiver. Both return when they pass a test. */
static void diagnosis_returns_a_healthy_span(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_culprit span, receiver;
	u32 round;

	cancel_delayed_work_sync(&recovery_of(fake->fabric)->patrol_work);
	fake->deaf = port_of(1) + 1;
	span = quarantine_culprit(fake, 0);
	receiver = quarantine_culprit(fake, 3);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_GUIDE, span.part);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_PART_RECEIVER, receiver.part);
	KUNIT_EXPECT_EQ(test, port_of(1), receiver.index);
	for (round = 0; round < 4; round++)
		fake_patrol(fake);
	KUNIT_EXPECT_NE(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, receiver.part, receiver.index));
	fake->deaf = 0;
	mutex_lock(&fake->fabric->lock);
	morph_health_set(fake->fabric, &receiver, MORPH_HEALTH_QUARANTINED, 0);
	morph_suspect_add(fake->fabric, &receiver);
	mutex_unlock(&fake->fabric->lock);
	for (round = 0; round < 16; round++)
		fake_patrol(fake);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, receiver.part, receiver.index));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_OK,
			morph_health_get(fake->fabric, span.part, span.index));
	KUNIT_EXPECT_EQ(test, 0u, ledger_of(fake->fabric)->impaired);
}

static struct kunit_case diagnosis_cases[] = {
	KUNIT_CASE(diagnosis_returns_a_healthy_span),
	KUNIT_CASE(diagnosis_converges),
	{}
};

struct kunit_suite morph_diagnosis_suite = {
	.name = "morph_diagnosis",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = diagnosis_cases,
};
