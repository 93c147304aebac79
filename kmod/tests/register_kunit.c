// SPDX-License-Identifier: GPL-2.0-only
/* Registration, step by step and with rollback. Removal, also during operations. */
#include "fake.h"
#include "suites.h"

static int register_init(struct kunit *test)
{
	fake_alloc(test, &fake_small);
	return 0;
}

static void expect_hidden(struct fake *fake)
{
	struct morph_fabric *found = morph_fabric_find(fake->fabric->id);

	KUNIT_EXPECT_NULL(fake->test, found);
	if (found)
		morph_fabric_put(found);
	KUNIT_EXPECT_NULL(fake->test, interface_of(fake->fabric)->debugfs);
}

static int register_fake(struct fake *fake)
{
	int ret = morph_fabric_register(fake->fabric, &fake->desc);

	fake->registered = !ret;
	return ret;
}

/* All light is off before elements move. The core reads every part before it relies on it. */
static void register_asks_in_order(struct kunit *test)
{
	struct fake *fake = test->priv;
	struct morph_fabric *found;

	fake->laser[3] = 1;
	fake->element[5] = 2;
	KUNIT_ASSERT_EQ(test, 0, register_fake(fake));
	KUNIT_EXPECT_STREQ(test, "-Pewrp", (const char *)fake->log);
	fake_expect_dark(fake);
	found = morph_fabric_find(fake->fabric->id);
	KUNIT_EXPECT_PTR_EQ(test, fake->fabric, found);
	if (found)
		morph_fabric_put(found);
}

struct registration {
	struct work_struct work;
	struct fake *fake;
	int ret;
};

static void registration_work(struct work_struct *work)
{
	struct registration *registration = container_of(work, struct registration, work);

	registration->ret = register_fake(registration->fake);
}

/* A part that fails during bring-up, after the core has read it, is marked afterwards. */
static void register_keeps_signals(struct kunit *test)
{
	const struct morph_signal alarm = { .type = MORPH_SIGNAL_ELEMENT, .index = 3 };
	struct fake *fake = test->priv;
	struct registration registration = { .fake = fake };

	fake_rule(fake, FAKE_WAIT, 0, FAKE_HANG, 0);
	INIT_WORK_ONSTACK(&registration.work, registration_work);
	queue_work(system_unbound_wq, &registration.work);
	wait_for_completion(&fake->silent);
	morph_fabric_signal(fake->fabric, &alarm, 1);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	fake_go_on(fake);
	flush_work(&registration.work);
	destroy_work_on_stack(&registration.work);
	KUNIT_ASSERT_EQ(test, 0, registration.ret);
	flush_work(&recovery_of(fake->fabric)->signal_work);
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_FAILED,
			morph_health_get(fake->fabric, MORPH_PART_ELEMENT, 3));
}

struct step_case {
	const char *name;
	char call;
	const char *log;	/* operations up to the failure */
};

static const struct step_case step_cases[] = {
	{ "settled", FAKE_WAIT, "-Pew" },	/* the only operation without a deadline */
	{ "lasers off", FAKE_LASERS_OFF, "-" },
	{ "elements parked", FAKE_PARK, "-P" },
	{ "elements read back", FAKE_GET_ELEMENTS, "-Pe" },
	{ "receivers read", FAKE_GET_RECEIVERS, "-Pewr" },
	{ "accelerators asked", FAKE_PROBE, "-Pewrp" },
};

FAKE_CASE_DESC(step_cases, name);

static void register_fails_with_its_step(struct kunit *test)
{
	const struct step_case *param = test->param_value;
	struct morph_probe probe = {};
	struct fake *fake = test->priv;

	fake_rule(fake, param->call, 0, FAKE_ERROR, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, register_fake(fake));
	KUNIT_EXPECT_STREQ(test, param->log, (const char *)fake->log);
	expect_hidden(fake);
	KUNIT_EXPECT_EQ(test, -ENODEV, morph_hw_probe(fake->fabric, NULL, &probe, 1));
}

static const void *timed_gen_params(const void *prev, char *desc)
{
	return step_cases_gen_params(prev ? prev : &step_cases[0], desc);
}

/* A device that does not answer has the same effect as one that returns an error. */
static void register_times_out_with_its_step(struct kunit *test)
{
	const struct step_case *param = test->param_value;
	struct fake *fake = test->priv;

	fake_rule(fake, param->call, 0, FAKE_SILENT, 0);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, register_fake(fake));
	KUNIT_EXPECT_STREQ(test, param->log, (const char *)fake->log);
	expect_hidden(fake);
	morph_fabric_complete(fake->fabric, fake->silent_cookie, 0, NULL, 0);
	KUNIT_EXPECT_EQ(test, 1ULL, fake_stat(fake, MORPH_STAT_LATE_COMPLETIONS));
}

struct desc_case {
	const char *name;
	const char *of_fabric;
	bool no_uuid;
	u32 flip;		/* byte of the profile that is inverted, 0: none */
	u32 cut;		/* bytes that are missing at its end */
};

static const struct desc_case desc_cases[] = {
	{ "name is missing", NULL },
	{ "name is empty", "" },
	{ "name is too long", "0123456789abcdef0123456789abcdef" },
	{ "name has a blank", "a b" },
	{ "name has a slash", "a/b" },
	{ "name is a number", "2" },
	{ "name is a negative number", "-2" },
	{ "name is a hexadecimal number", "0x1f" },
	{ "name is a number with a leading zero", "08" },
	{ "name is a number beyond 64 bits", "99999999999999999999" },
	{ "uuid is zero", "fake", .no_uuid = true },
	{ "profile has another magic", "fake", .flip = 1 },
	{ "profile has another checksum", "fake", .flip = 24 },
	{ "profile was changed", "fake", .flip = 200 },
	{ "profile is cut short", "fake", .cut = 1 },
	{ "profile is not a profile", "fake", .cut = ~0u },
};

FAKE_CASE_DESC(desc_cases, name);

/* The core rejects the profile before its first operation on the device. */
static void register_refuses_description(struct kunit *test)
{
	const struct desc_case *param = test->param_value;
	struct fake *fake = test->priv;

	fake->desc.name = param->of_fabric;
	if (param->no_uuid)
		memset(fake->desc.uuid, 0, sizeof(fake->desc.uuid));
	if (param->flip)
		((u8 *)fake->blob)[param->flip] ^= 0xff;
	fake->desc.profile_bytes -= min_t(size_t, param->cut, fake->desc.profile_bytes);
	KUNIT_EXPECT_EQ(test, -EINVAL, register_fake(fake));
	KUNIT_EXPECT_STREQ(test, "", (const char *)fake->log);
	expect_hidden(fake);
}

static void register_wants_all_operations(struct kunit *test)
{
	static const struct morph_fabric_ops none;
	struct morph_fabric *fabric = morph_fabric_alloc(NULL, &none, NULL);

	KUNIT_EXPECT_EQ(test, -EINVAL, (int)PTR_ERR_OR_ZERO(fabric));
	if (!IS_ERR(fabric))
		morph_fabric_put(fabric);
}

struct damage_case {
	const char *name;
	u32 part, index;
};

static const struct damage_case damage_cases[] = {
	{ "an element does not park", MORPH_PART_ELEMENT, 4 },
	{ "a receiver sees light", MORPH_PART_RECEIVER, 2 },
	{ "an accelerator is dead", MORPH_PART_ACCELERATOR, 3 },
};

FAKE_CASE_DESC(damage_cases, name);

/* Registration marks parts that are broken from the start, and uses the others. */
static void register_marks_bad_hardware(struct kunit *test)
{
	const struct damage_case *param = test->param_value;
	struct fake *fake = test->priv;
	u32 others = 0, i;

	switch (param->part) {
	case MORPH_PART_ELEMENT:
		fake->element[param->index] = 1;
		fake->stuck[param->index] = true;
		break;
	case MORPH_PART_RECEIVER:
		/*
		 * The laser of accelerator 0 stays on, and the stuck selectors lead it to
		 * accelerator 1.
		 */
		fake->burning[0] = 1;
		fake->element[0] = 2;
		fake->element[5] = 1;
		fake->stuck[0] = true;
		fake->stuck[5] = true;
		break;
	case MORPH_PART_ACCELERATOR:
		fake->dead[param->index] = true;
		break;
	}
	KUNIT_ASSERT_EQ(test, 0, register_fake(fake));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_HEALTH_FAILED,
			morph_health_get(fake->fabric, param->part, param->index));
	for (i = 0; i < fake->accelerators; i++)
		others += morph_chip_fit(fake->fabric, i);
	KUNIT_EXPECT_EQ(test, fake->accelerators - (param->part == MORPH_PART_ACCELERATOR),
			others);
}

/* ------------------------------------------------------------------ removal */

static const struct step_case removal_cases[] = {
	{ "setting elements", FAKE_SET_ELEMENTS, },
	{ "settling", FAKE_WAIT, },
	{ "reading receivers", FAKE_GET_RECEIVERS, },
	{ "switching lasers on", FAKE_LASERS_ON, },
};

FAKE_CASE_DESC(removal_cases, name);

/*
 * The provider leaves while a transaction waits for its answer. The transaction ends at once, not
 * at the deadline.
 */
static void remove_ends_running_changes(struct kunit *test)
{
	const struct step_case *param = test->param_value;
	struct morph_change change = fake_add(0, 1, 0, 1);
	struct fake *fake = test->priv;
	struct morph_slice *slice;
	struct morph_event event;
	struct morph_txn *txn;
	struct fake_run run;

	KUNIT_ASSERT_EQ(test, 0, register_fake(fake));
	slice = fake_slice(fake, NULL, 2);
	txn = fake_txn(fake, slice, &change, 1, 0);
	fake_begin(fake, &run, txn, param->call, 0);
	morph_fabric_unregister(fake->fabric);
	fake->registered = false;
	KUNIT_EXPECT_EQ(test, -ENODEV, fake_end(&run));
	KUNIT_EXPECT_EQ(test, 0ULL, fake_stat(fake, MORPH_STAT_PROVIDER_TIMEOUTS));
	KUNIT_EXPECT_EQ(test, (u32)MORPH_EVENT_FABRIC_GONE, fake_event(fake, 0, &event));
	KUNIT_EXPECT_TRUE(test, fake->files[0]->gone);
	morph_txn_put(txn);
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE(register_asks_in_order),
	KUNIT_CASE(register_keeps_signals),
	KUNIT_CASE_PARAM(register_fails_with_its_step, step_cases_gen_params),
	KUNIT_CASE_PARAM(register_times_out_with_its_step, timed_gen_params),
	KUNIT_CASE_PARAM(register_refuses_description, desc_cases_gen_params),
	KUNIT_CASE(register_wants_all_operations),
	KUNIT_CASE_PARAM(register_marks_bad_hardware, damage_cases_gen_params),
	{}
};

struct kunit_suite morph_register_suite = {
	.name = "morph_register",
	.init = register_init,
	.exit = fake_exit,
	.test_cases = register_cases,
};

static struct kunit_case removal_suite_cases[] = {
	KUNIT_CASE_PARAM(remove_ends_running_changes, removal_cases_gen_params),
	{}
};

struct kunit_suite morph_removal_suite = {
	.name = "morph_removal",
	.init = register_init,
	.exit = fake_exit,
	.test_cases = removal_suite_cases,
};
