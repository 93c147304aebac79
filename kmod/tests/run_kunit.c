// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests run on a write to /sys/module/morph/parameters/kunit. KUnit runs the suites of a module
 * before its init function, but class and workqueues do not exist at that time.
 */
#include <linux/module.h>

#include "suites.h"

static struct kunit_suite * const suites[] = {
	&morph_layout_suite,
	&morph_refusal_suite,
	&morph_user_suite,
	&morph_lock_suite,
	&morph_claim_suite,
	&morph_place_suite,
	&morph_event_suite,
	&morph_consumer_suite,
	&morph_hint_suite,
	&morph_hw_suite,
	&morph_register_suite,
	&morph_removal_suite,
	&morph_txn_suite,
	&morph_txn_plan_suite,
	&morph_txn_parts_suite,
	&morph_prepared_suite,
	&morph_phase_suite,
	&morph_health_suite,
	&morph_patrol_suite,
	&morph_repair_suite,
	&morph_replacement_suite,
	&morph_choice_suite,
	&morph_lend_suite,
	&morph_lend_between_suite,
	&morph_loan_suite,
	&morph_loan_between_suite,
	&morph_lease_suite,
	&morph_neighbour_suite,
	&morph_diagnosis_suite,
	&morph_retry_suite,
	&morph_schedule_suite,
};

static int run_set(const char *text, const struct kernel_param *param)
{
	int ret;

	if (THIS_MODULE->state != MODULE_STATE_LIVE)
		return -EAGAIN;
	ret = __kunit_test_suites_init(suites, ARRAY_SIZE(suites));
	__kunit_test_suites_exit((struct kunit_suite **)suites, ARRAY_SIZE(suites));
	return ret;
}

static const struct kernel_param_ops run_ops = {
	.set = run_set,
};

module_param_cb(kunit, &run_ops, NULL, 0200);
MODULE_PARM_DESC(kunit, "write anything to run the tests; the kernel log has the results");
