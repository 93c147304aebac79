/* SPDX-License-Identifier: GPL-2.0-only */
/* All suites of KUnit tests that are linked into morph.ko. */
#ifndef MORPH_TESTS_SUITES_H
#define MORPH_TESTS_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite morph_layout_suite;
extern struct kunit_suite morph_refusal_suite;
extern struct kunit_suite morph_user_suite;
extern struct kunit_suite morph_lock_suite;
extern struct kunit_suite morph_claim_suite;
extern struct kunit_suite morph_place_suite;
extern struct kunit_suite morph_event_suite;
extern struct kunit_suite morph_consumer_suite;
extern struct kunit_suite morph_hint_suite;
extern struct kunit_suite morph_hw_suite;
extern struct kunit_suite morph_register_suite;
extern struct kunit_suite morph_removal_suite;
extern struct kunit_suite morph_txn_suite;
extern struct kunit_suite morph_txn_plan_suite;
extern struct kunit_suite morph_txn_parts_suite;
extern struct kunit_suite morph_phase_suite;
extern struct kunit_suite morph_prepared_suite;
extern struct kunit_suite morph_health_suite;
extern struct kunit_suite morph_patrol_suite;
extern struct kunit_suite morph_repair_suite;
extern struct kunit_suite morph_replacement_suite;
extern struct kunit_suite morph_choice_suite;
extern struct kunit_suite morph_lend_suite;
extern struct kunit_suite morph_lend_between_suite;
extern struct kunit_suite morph_loan_suite;
extern struct kunit_suite morph_loan_between_suite;
extern struct kunit_suite morph_lease_suite;
extern struct kunit_suite morph_neighbour_suite;
extern struct kunit_suite morph_diagnosis_suite;
extern struct kunit_suite morph_retry_suite;
extern struct kunit_suite morph_schedule_suite;

#endif /* MORPH_TESTS_SUITES_H */
