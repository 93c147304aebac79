// SPDX-License-Identifier: GPL-2.0-only
/* The fake device and its provider: see fake.h. */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake.h"

const struct fake_shape fake_small = {
	.hosts = 2,
	.each = 3,
	.spares = 1,
};

/* -------------------------------------------------------------------- operations */

/* A completion that is pending. */
struct later {
	struct work_struct work;
	struct fake *fake;
	enum fake_answer answer;
	u64 cookie;
	int status;
	size_t bytes;
	u8 results[];
};

static void later_work(struct work_struct *work)
{
	struct later *later = container_of(work, struct later, work);
	struct morph_fabric *fabric = later->fake->fabric;
	void *results = later->bytes ? later->results : NULL;
	size_t bytes = later->answer == FAKE_SHORT ? later->bytes - 1 : later->bytes;

	if (later->answer == FAKE_FOREIGN)
		morph_fabric_complete(fabric, later->cookie + (1ull << 40), -EPERM, NULL, 0);
	morph_fabric_complete(fabric, later->cookie, later->status, results, bytes);
	if (later->answer == FAKE_TWICE)
		morph_fabric_complete(fabric, later->cookie, -EPERM, NULL, 0);
	kfree(later);
}

static int complete_later(struct fake *fake, const struct fake_rule *rule, u64 cookie,
			  void *results, size_t bytes)
{
	struct later *later = kzalloc(struct_size(later, results, bytes), GFP_KERNEL);

	if (!later)
		return -ENOMEM;
	INIT_WORK(&later->work, later_work);
	later->fake = fake;
	later->answer = rule->answer;
	later->cookie = cookie;
	later->status = rule->error;
	later->bytes = bytes;
	if (bytes) {
		memcpy(later->results, results, bytes);
		/* The record is not valid after the completion. */
		memset(results, 0x5a, bytes);
	}
	queue_work(fake->queue, &later->work);
	return -EINPROGRESS;
}

/* The deadline of the operation that the core is submitting. */
static void set_deadline(struct fake *fake, u64 ns)
{
	struct optics_params *params = (void *)&fake->fabric->graph->params;

	WRITE_ONCE(params->deadline_ns, ns);
}

/* Log the operation and find its rule. */
static struct fake_rule take(struct fake *fake, char call, u64 cookie)
{
	struct fake_rule found = { .answer = FAKE_NOW };
	struct fake_rule *rule;

	set_deadline(fake, FAKE_DEADLINE);
	spin_lock(&fake->lock);
	if (fake->logged < FAKE_LOG) {
		fake->seq[fake->logged] = READ_ONCE(fake->fabric->seq);
		fake->log[fake->logged++] = call;
	}
	fake->cookie_fell |= cookie <= fake->last_cookie;
	fake->last_cookie = cookie;
	for (rule = fake->rules; rule < fake->rules + FAKE_RULES; rule++) {
		if (!rule->used || (rule->call != FAKE_ANY && rule->call != call))
			continue;
		if (rule->skip && rule->skip != FAKE_ALWAYS) {
			rule->skip--;
			continue;
		}
		found = *rule;
		rule->used = rule->skip == FAKE_ALWAYS;
		/* Only a rule can make an operation with the device's own deadline hang. */
		if (rule->call == FAKE_ANY && call == FAKE_WAIT && rule->answer == FAKE_SILENT)
			found.answer = FAKE_NOW;
		break;
	}
	spin_unlock(&fake->lock);
	return found;
}

static bool is_done(const struct fake_rule *rule)
{
	return rule->answer != FAKE_ERROR && rule->answer != FAKE_LATER_ERROR;
}

static int give(struct fake *fake, const struct fake_rule *rule, u64 cookie, void *results,
		size_t bytes)
{
	switch (rule->answer) {
	case FAKE_NOW:
		return 0;
	case FAKE_ERROR:
		return rule->error;
	case FAKE_ODD:
		return 1;
	case FAKE_INSIDE:
	case FAKE_BOTH:
		morph_fabric_complete(fake->fabric, cookie, rule->error, results, bytes);
		return rule->answer == FAKE_BOTH ? 0 : -EINPROGRESS;
	case FAKE_STALE:
		morph_fabric_complete(fake->fabric, fake->silent_cookie, -EPERM, NULL, 0);
		return complete_later(fake, rule, cookie, results, bytes);
	case FAKE_LATER:
	case FAKE_LATER_ERROR:
	case FAKE_TWICE:
	case FAKE_FOREIGN:
	case FAKE_SHORT:
		return complete_later(fake, rule, cookie, results, bytes);
	case FAKE_SILENT:
		set_deadline(fake, FAKE_SHORT_DEADLINE);
		fallthrough;
	case FAKE_HANG:
		fake->silent_cookie = cookie;
		complete(&fake->silent);
		return -EINPROGRESS;
	}
	return -EINVAL;
}

/* -------------------------------------------------------------------- the device */

static int fake_set_elements(struct morph_fabric *fabric, u64 cookie,
			     const struct morph_element_setting *settings, u32 count)
{
	struct fake *fake = morph_fabric_priv(fabric);
	char call = FAKE_PARK;
	struct fake_rule rule;
	u32 i;

	for (i = 0; i < count; i++)
		if (settings[i].state)
			call = FAKE_SET_ELEMENTS;
	rule = take(fake, call, cookie);
	for (i = 0; i < count && is_done(&rule); i++)
		if (!fake->stuck[settings[i].element])
			WRITE_ONCE(fake->element[settings[i].element], settings[i].state);
	return give(fake, &rule, cookie, NULL, 0);
}

static int fake_get_elements(struct morph_fabric *fabric, u64 cookie,
			     struct morph_element_setting *settings, u32 count)
{
	struct fake *fake = morph_fabric_priv(fabric);
	struct fake_rule rule = take(fake, FAKE_GET_ELEMENTS, cookie);
	u32 i;

	for (i = 0; i < count; i++)
		settings[i].state = READ_ONCE(fake->element[settings[i].element]);
	return give(fake, &rule, cookie, settings, array_size(count, sizeof(*settings)));
}

static int fake_set_lasers(struct morph_fabric *fabric, u64 cookie,
			   const struct morph_laser_setting *settings, u32 count)
{
	struct fake *fake = morph_fabric_priv(fabric);
	char call = FAKE_LASERS_OFF;
	struct fake_rule rule;
	u32 i;

	for (i = 0; i < count; i++)
		if (settings[i].lanes & ~READ_ONCE(fake->laser[settings[i].port]))
			call = FAKE_LASERS_ON;
	rule = take(fake, call, cookie);
	for (i = 0; i < count && is_done(&rule); i++) {
		fake->darkened += !!(fake->laser[settings[i].port] & ~settings[i].lanes);
		WRITE_ONCE(fake->laser[settings[i].port], settings[i].lanes);
	}
	return give(fake, &rule, cookie, NULL, 0);
}

/* Lanes that leave a transmit port. */
static u64 shining(const struct fake *fake, u32 port)
{
	return (READ_ONCE(fake->laser[port]) & ~fake->dim[port]) | fake->burning[port];
}

static int fake_get_lasers(struct morph_fabric *fabric, u64 cookie,
			   struct morph_laser_reading *readings, u32 count)
{
	struct fake *fake = morph_fabric_priv(fabric);
	struct fake_rule rule = take(fake, FAKE_GET_LASERS, cookie);
	u32 i;

	for (i = 0; i < count; i++) {
		readings[i].lanes = shining(fake, readings[i].port);
		readings[i].weak = 0;
		readings[i].active = !fake->dead[readings[i].port / FAKE_PLANES];
	}
	return give(fake, &rule, cookie, readings, array_size(count, sizeof(*readings)));
}

static int fake_get_receivers(struct morph_fabric *fabric, u64 cookie,
			      struct morph_receiver_reading *readings, u32 count)
{
	struct fake *fake = morph_fabric_priv(fabric);
	struct fake_rule rule = take(fake, FAKE_GET_RECEIVERS, cookie);
	u32 i, tx;

	for (i = 0; i < count; i++) {
		struct morph_receiver_reading *reading = &readings[i];
		s32 power = optics_signal_at(fabric->graph, fake->element, reading->port, &tx);

		reading->lit = 0;
		if (tx != OPTICS_NONE && fake->deaf != reading->port + 1)
			reading->lit = shining(fake, tx) & reading->lanes;
		reading->lit |= fake->stray[reading->port] & reading->lanes;
		reading->locked = tx != OPTICS_NONE && fake->dead[tx / FAKE_PLANES] ?
				  0 : reading->lit;
		reading->min_mdbm = reading->lit == reading->lanes ? power : -60000;
		reading->max_mdbm = reading->lit ? power : -60000;
	}
	return give(fake, &rule, cookie, readings, array_size(count, sizeof(*readings)));
}

static int fake_probe(struct morph_fabric *fabric, u64 cookie, struct morph_probe *probes,
		      u32 count)
{
	struct fake *fake = morph_fabric_priv(fabric);
	struct fake_rule rule = take(fake, FAKE_PROBE, cookie);
	u32 i;

	for (i = 0; i < count; i++)
		probes[i].alive = !fake->dead[probes[i].accelerator];
	return give(fake, &rule, cookie, probes, array_size(count, sizeof(*probes)));
}

/* Its delay ends at once. */
static int fake_wait(struct morph_fabric *fabric, u64 cookie, u64 ns)
{
	struct fake *fake = morph_fabric_priv(fabric);
	struct fake_rule rule = take(fake, FAKE_WAIT, cookie);

	return give(fake, &rule, cookie, NULL, 0);
}

static const struct morph_fabric_ops fake_ops = {
	.owner = THIS_MODULE,
	.set_elements = fake_set_elements,
	.get_elements = fake_get_elements,
	.set_lasers = fake_set_lasers,
	.get_lasers = fake_get_lasers,
	.get_receivers = fake_get_receivers,
	.probe = fake_probe,
	.wait = fake_wait,
};

/* ---------------------------------------------------------------- start and end */

struct fake *fake_alloc(struct kunit *test, const struct fake_shape *shape)
{
	static const u8 uuid[16] = { 0x66, 0x61, 0x6b, 0x65 };
	static u32 next_uid = 5000;
	struct fake *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake);
	test->priv = fake;
	fake->test = test;
	fake->shape = *shape;
	fake->accelerators = shape->hosts * shape->each;
	KUNIT_ASSERT_LE(test, fake->accelerators, FAKE_MOST);
	spin_lock_init(&fake->lock);
	init_completion(&fake->silent);
	fake_make_profile(fake);
	fake->desc = (struct morph_fabric_desc){
		.name = "fake",
		.profile = fake->blob,
		.profile_bytes = fake->bytes,
		.simulated = true,
	};
	memcpy(fake->desc.uuid, uuid, sizeof(uuid));
	fake->queue = alloc_workqueue("morph-fake", 0, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake->queue);
	fake->user = morph_user_get(KUIDT_INIT(next_uid++));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake->user);
	fake->fabric = morph_fabric_alloc(NULL, &fake_ops, fake);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake->fabric);
	return fake;
}

void fake_register(struct fake *fake)
{
	KUNIT_ASSERT_EQ(fake->test, 0, morph_fabric_register(fake->fabric, &fake->desc));
	fake->registered = true;
	/* Tests call periodic work themselves. */
	cancel_delayed_work_sync(&recovery_of(fake->fabric)->patrol_work);
	fake_clear(fake);
}

struct fake *fake_open(struct kunit *test, const struct fake_shape *shape)
{
	struct fake *fake = fake_alloc(test, shape);

	fake_register(fake);
	return fake;
}

static void close_fabric(struct fake *fake)
{
	struct morph_fabric *fabric = fake->fabric;
	u32 i;

	for (i = 0; i < fake->slices; i++)
		morph_file_free(fake->files[i]);
	fake_settle(fake);
	KUNIT_EXPECT_EQ(fake->test, 0, ledger_of(fabric)->slices_count);
	if (fake->registered)
		morph_fabric_unregister(fabric);
	flush_workqueue(fake->queue);
	flush_workqueue(morph_signal_wq);
	flush_workqueue(morph_wq);
	/* No other reference is left. */
	KUNIT_EXPECT_EQ(fake->test, 1, kref_read(&fabric->dev.kobj.kref));
	morph_fabric_put(fabric);
}

void fake_close(struct fake *fake)
{
	struct morph_limits limits, used;

	if (!IS_ERR_OR_NULL(fake->fabric))
		close_fabric(fake);
	if (fake->user) {
		morph_user_limits(fake->user, &limits, &used);
		KUNIT_EXPECT_TRUE_MSG(fake->test, !memchr_inv(&used, 0, sizeof(used)),
				      "something is still charged: %u accelerators, %u circuits, %u lanes, %u prepared, %llu bytes",
				      used.accelerators, used.circuits, used.lanes, used.prepared,
				      used.bytes);
		morph_user_put(fake->user);
	}
	if (fake->queue)
		destroy_workqueue(fake->queue);
}

int fake_init(struct kunit *test)
{
	fake_open(test, &fake_small);
	return 0;
}

void fake_exit(struct kunit *test)
{
	if (test->priv)
		fake_close(test->priv);
}

/* ---------------------------------------------------------------- helpers of tests */

void fake_rule(struct fake *fake, char call, u32 skip, enum fake_answer answer, int error)
{
	u32 i;

	spin_lock(&fake->lock);
	for (i = 0; i < FAKE_RULES && fake->rules[i].used; i++)
		;
	if (i < FAKE_RULES)
		fake->rules[i] = (struct fake_rule){ call, skip, answer, error, true };
	spin_unlock(&fake->lock);
	KUNIT_ASSERT_LT(fake->test, i, FAKE_RULES);
}

void fake_clear(struct fake *fake)
{
	spin_lock(&fake->lock);
	memset(fake->rules, 0, sizeof(fake->rules));
	memset(fake->log, 0, sizeof(fake->log));
	fake->logged = 0;
	spin_unlock(&fake->lock);
}

u64 fake_stat(struct fake *fake, enum morph_stat stat)
{
	return atomic64_read(&fake->fabric->stats[stat]);
}

/* A repair and the work after it may queue each other a few times. */
/* The lanes that slices count are those of their lit circuits. */
static void expect_lanes(struct fake *fake)
{
	struct morph_fabric *fabric = fake->fabric;
	struct morph_circuit *circuit;
	struct morph_slice *slice;
	unsigned long index;
	u64 lanes;

	mutex_lock(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		lanes = 0;
		xa_for_each(&slice->circuits, index, circuit)
			if (circuit->listed && circuit->state == MORPH_CIRCUIT_LIT)
				lanes += optics_weight64(circuit->route->path.lanes);
		KUNIT_EXPECT_EQ(fake->test, lanes, slice->lit_lanes);
	}
	mutex_unlock(&fabric->lock);
}

void fake_settle(struct fake *fake)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		flush_workqueue(morph_act_wq);
		flush_workqueue(morph_turn_wq);
		flush_workqueue(morph_repair_wq);
		flush_workqueue(morph_wq);
		/* The work queues itself again if a slice must wait before its next try. */
		while (delayed_work_pending(&recovery_of(fake->fabric)->recover_work)) {
			flush_delayed_work(&recovery_of(fake->fabric)->recover_work);
			usleep_range(500, 1000);
		}
		flush_delayed_work(&slices_of(fake->fabric)->protection_work);
	}
	expect_lanes(fake);
}

void fake_set_health(struct fake *fake, u32 part, u32 index, u32 health)
{
	struct morph_culprit culprit = { .part = part, .index = index };

	mutex_lock(&fake->fabric->lock);
	KUNIT_EXPECT_EQ(fake->test, 0, morph_health_set(fake->fabric, &culprit, health, 0));
	mutex_unlock(&fake->fabric->lock);
}

void fake_patrol(struct fake *fake)
{
	struct delayed_work *work = &recovery_of(fake->fabric)->patrol_work;

	fake_clear(fake);
	mod_delayed_work(morph_wq, work, 0);
	flush_work(&work->work);	/* not the work that it has queued for later */
	cancel_delayed_work_sync(work);
}

struct morph_slice *fake_slice_like(struct fake *fake, const struct morph_slice_params *params)
{
	struct morph_refusal refusal = {};
	struct morph_slice *slice;
	struct morph_file *file;
	int ret;

	KUNIT_ASSERT_LT(fake->test, fake->slices, FAKE_SLICES);
	ret = morph_slice_create(fake->fabric, params, &slice, &refusal);
	KUNIT_ASSERT_EQ_MSG(fake->test, 0, ret, "%s", refusal.text);
	file = morph_file_alloc(slice, NULL);
	if (IS_ERR(file))
		morph_slice_delete(slice, true, &refusal);
	morph_slice_put(slice);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, file);
	fake->files[fake->slices++] = file;
	return slice;
}

struct morph_slice *fake_slice(struct fake *fake, const u32 *accelerators, u32 count)
{
	const struct morph_slice_params params = {
		.accelerators = accelerators,
		.count = count,
		.user = fake->user,
		.uid = fake->user->uid,
	};

	return fake_slice_like(fake, &params);
}

struct morph_change fake_add(u32 src, u32 dst, u32 plane, u32 lanes)
{
	return (struct morph_change){
		.op = MORPH_CHANGE_ADD,
		.src_rank = src,
		.dst_rank = dst,
		.src_plane = plane,
		.dst_plane = plane,
		.lanes_count = lanes,
	};
}

struct morph_change fake_remove(u32 circuit)
{
	return (struct morph_change){ .op = MORPH_CHANGE_REMOVE, .circuit = circuit };
}

struct morph_change fake_move(u32 circuit, u32 plane)
{
	return (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = circuit,
		.src_plane = plane,
		.dst_plane = plane,
	};
}

struct morph_txn *fake_txn(struct fake *fake, struct morph_slice *slice,
			   const struct morph_change *changes, u32 count, u32 flags)
{
	struct morph_txn *txn;

	txn = morph_txn_alloc(slice, changes, NULL, count, flags, GFP_KERNEL_ACCOUNT);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(fake->test, txn);
	return txn;
}

static void fake_run_work(struct work_struct *work)
{
	struct fake_run *run = container_of(work, struct fake_run, work);

	run->ret = morph_txn_run(run->txn);
}

void fake_start(struct fake_run *run, struct morph_txn *txn)
{
	run->txn = txn;
	INIT_WORK_ONSTACK(&run->work, fake_run_work);
	queue_work(system_unbound_wq, &run->work);
}

void fake_begin(struct fake *fake, struct fake_run *run, struct morph_txn *txn, char call,
		u32 skip)
{
	fake_rule(fake, call, skip, FAKE_HANG, 0);
	fake_start(run, txn);
	wait_for_completion(&fake->silent);
}

void fake_go_on(struct fake *fake)
{
	morph_fabric_complete(fake->fabric, fake->silent_cookie, 0, NULL, 0);
}

int fake_end(struct fake_run *run)
{
	flush_work(&run->work);
	destroy_work_on_stack(&run->work);
	return run->ret;
}

struct morph_txn *fake_prepare(struct fake *fake, struct morph_slice *slice)
{
	struct morph_change change = fake_add(0, 1, 0, 1);
	struct morph_txn *txn = fake_txn(fake, slice, &change, 1, MORPH_TXN_PREPARE);

	txn->lease_ns = FAKE_LONG_LEASE;
	KUNIT_ASSERT_EQ(fake->test, 0, morph_txn_run(txn));
	KUNIT_ASSERT_EQ(fake->test, (u32)MORPH_OUTCOME_PREPARED, txn->outcome);
	return txn;
}

u32 fake_light(struct fake *fake, struct morph_slice *slice, u32 src, u32 dst, u32 plane)
{
	struct morph_change change = fake_add(src, dst, plane, 1);
	struct morph_txn *txn = fake_txn(fake, slice, &change, 1, 0);
	struct morph_refusal refusal;
	int ret = morph_txn_run(txn);
	u32 id = txn->items[0].change.circuit;

	refusal = txn->refusal;
	morph_txn_put(txn);
	KUNIT_ASSERT_EQ_MSG(fake->test, 0, ret, "%s", refusal.text);
	return id;
}

struct morph_circuit *fake_circuit(struct morph_slice *slice, u32 id)
{
	return xa_load(&slice->circuits, id);
}

/* ----------------------------------------------------------------------------- checks */

void fake_expect_light(struct fake *fake)
{
	struct morph_fabric *fabric = fake->fabric;
	u64 sent[FAKE_PORTS] = {}, received[FAKE_PORTS] = {}, claimed = 0, lit = 0;
	struct morph_circuit *circuit;
	struct morph_slice *slice;
	unsigned long index;
	u32 port, tx;

	mutex_lock(&fabric->lock);
	list_for_each_entry(slice, &ledger_of(fabric)->slices, node) {
		xa_for_each(&slice->circuits, index, circuit) {
			const struct optics_path *path;

			if (circuit->state != MORPH_CIRCUIT_LIT)
				continue;
			path = &circuit->route->path;
			sent[path->tx] |= path->lanes;
			received[path->rx] |= path->lanes;
			lit += optics_weight64(path->lanes);
		}
	}
	for (port = 0; port < fabric->graph->ports_count; port++) {
		optics_signal_at(fabric->graph, fake->element, port, &tx);
		KUNIT_EXPECT_EQ_MSG(fake->test, fake->laser[port], sent[port],
				    "lasers of port %u", port);
		KUNIT_EXPECT_EQ_MSG(fake->test, received[port],
				    tx == OPTICS_NONE ? 0 : fake->laser[tx], "receiver %u", port);
		KUNIT_EXPECT_EQ_MSG(fake->test, hardware_of(fabric)->tx_on[port], sent[port],
				    "known state of the lasers of port %u", port);
		claimed |= ledger_of(fabric)->state->tx_lanes[port] & ~sent[port];
	}
	KUNIT_EXPECT_EQ_MSG(fake->test, 0ULL, claimed, "claimed without light");
	KUNIT_EXPECT_EQ_MSG(fake->test, ledger_of(fabric)->lit_lanes, lit, "number of lit lanes");
	mutex_unlock(&fabric->lock);
}

void fake_expect_dark(struct fake *fake)
{
	const struct morph_fabric *fabric = fake->fabric;
	const struct optics_graph *graph = fabric->graph;
	const struct optics_state *ledger = ledger_of(fabric)->state;
	u64 lanes = 0;
	u32 pins = 0, turned = 0, marks = 0, i;

	for (i = 0; i < graph->ports_count; i++)
		lanes |= ledger->tx_lanes[i] | ledger->rx_lanes[i] | fake->laser[i];
	for (i = 0; i < graph->guides_count; i++)
		lanes |= ledger->guide_lanes[i];
	for (i = 0; i < graph->elements_count; i++) {
		pins += ledger->element_pins[i];
		turned += fake->element[i] || hardware_of(fabric)->hw_state[i] ||
			  ledger->element_state[i];
		marks |= ledger->element_marks[i];
	}
	KUNIT_EXPECT_EQ_MSG(fake->test, 0ULL, lanes, "lanes are lit or claimed");
	KUNIT_EXPECT_EQ_MSG(fake->test, 0ULL, ledger_of(fabric)->lit_lanes, "lanes count as lit");
	KUNIT_EXPECT_EQ_MSG(fake->test, 0u, ledger_of(fabric)->ownerless,
			    "paths of tests count as claimed");
	KUNIT_EXPECT_EQ_MSG(fake->test, 0u, pins, "elements are pinned");
	KUNIT_EXPECT_EQ_MSG(fake->test, 0u, turned, "elements are not parked");
	KUNIT_EXPECT_EQ_MSG(fake->test, 0u, marks, "elements are marked");
}

u32 fake_event(struct fake *fake, u32 slice, struct morph_event *event)
{
	struct morph_file *file = fake->files[slice];
	struct morph_fabric *fabric = fake->fabric;

	memset(event, 0, sizeof(*event));
	spin_lock(&interface_of(fabric)->event_lock);
	if (file->count) {
		*event = file->ring[file->head];
		file->head = (file->head + 1) % MORPH_EVENT_SLOTS;
		file->count--;
	} else if (file->lost) {
		*event = file->ring[MORPH_EVENT_SLOTS];
		file->lost = 0;
	}
	spin_unlock(&interface_of(fabric)->event_lock);
	return event->type;
}

bool fake_has_event(struct fake *fake, u32 slice, u32 type)
{
	struct morph_event event;
	bool found = false;

	while (fake_event(fake, slice, &event))
		found |= event.type == type;
	return found;
}

