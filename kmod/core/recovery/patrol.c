// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patrol: read idle hardware periodically to find failures early, and test suspects. Quarantined
 * hardware returns to use only through a test.
 */
#include <linux/export.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/recovery/recovery.h"
#include "core/txn/txn.h"

#define PATROL_CHIPS		16u	/* idle accelerators probed each period */
#define PATROL_ELEMENTS		64u	/* elements read back each period */
#define PATROL_TESTS		4u	/* suspects tested each period, beside accelerators */
#define PATROL_LOOKS		64u	/* suspects considered for these tests */
#define PATROL_SEARCHES		2u	/* searches for the path of one test */

/* ----------------------------------------------------------------- suspects */

/*
 * A suspect has been tested, unless another test was faster. A suspect that could not be tested
 * goes to the end. @tested has the lane of a port that was lit. Caller holds fabric->lock.
 */
static void suspect_tested(struct morph_fabric *fabric, const struct morph_culprit *tested, int ret)
{
	u64 waiting = morph_suspect_lanes(fabric, tested->part, tested->index);

	if (!waiting || (tested->lanes && !(waiting & tested->lanes)))
		return;
	if (ret == -ENXIO || ret == MORPH_TEST_FAILED)
		morph_suspect_drop(fabric, tested);
	if (!ret || ret == MORPH_TEST_FAILED)
		morph_health_set(fabric, tested, ret ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK, 0);
	else if (ret != -ENXIO)
		morph_suspect_defer(fabric, tested);
}

/*
 * Return whether a search may find a path. If all accelerators were tried in vain, only hardware
 * that became free or healthy since then can change that. Caller holds fabric->lock.
 */
static bool worth_a_search(struct morph_fabric *fabric, struct morph_search *search)
{
	u32 recoveries = recovery_of(fabric)->recoveries;

	if (search->ended && search->recoveries == recoveries)
		return false;
	if (search->ended)
		search->tried = 0;
	if (!search->tried)
		search->recoveries = recoveries;
	search->ended = false;
	search->budget = PATROL_SEARCHES;
	return true;
}

/* Return whether the accelerator may be tested now. Caller holds fabric->lock. */
static bool hold_down_ended(struct morph_fabric *fabric, u32 accelerator)
{
	return ledger_of(fabric)->chips[accelerator].hold_until_ns <= ktime_get_boottime_ns();
}

/*
 * Test the first suspect of a queue, unless that must fail. Return whether it was tested, or
 * -ENOENT if none waits.
 */
static int patrol_suspect(struct morph_fabric *fabric, bool accelerator)
{
	struct morph_search *search = NULL;
	struct morph_culprit suspect;
	bool any, lit, vain = false;
	int ret = 0;

	mutex_lock(&fabric->lock);
	any = fabric->state == MORPH_FABRIC_READY &&
	      morph_suspect_first(fabric, accelerator, &suspect);
	/* Light that arrives through the guide replaces a test. */
	lit = any && suspect.part == MORPH_PART_GUIDE && morph_guide_lit(fabric, suspect.index);
	if (any && accelerator)
		vain = !hold_down_ended(fabric, suspect.index);
	if (any && !lit && !accelerator && suspect.part != MORPH_PART_ELEMENT) {
		search = morph_suspect_search(fabric, &suspect);
		vain = !worth_a_search(fabric, search);
	}
	mutex_unlock(&fabric->lock);
	if (!any)
		return -ENOENT;
	if (!lit)
		ret = vain ? -EBUSY : morph_test_run(fabric, &suspect, false, search);
	mutex_lock(&fabric->lock);
	suspect_tested(fabric, &suspect, ret);
	mutex_unlock(&fabric->lock);
	return !vain;
}

/* Test all accelerators, so that those whose heartbeat is back return at once, and a few others. */
static void patrol_suspects(struct morph_fabric *fabric)
{
	u32 left = READ_ONCE(recovery_of(fabric)->suspects[true].count), looks;
	int ret;

	while (left-- && patrol_suspect(fabric, true) >= 0)
		cond_resched();
	left = PATROL_TESTS;
	for (looks = 0; looks < PATROL_LOOKS && left; looks++) {
		ret = patrol_suspect(fabric, false);
		if (ret < 0)
			break;
		left -= ret;
	}
}

/* ------------------------------------------------------------------- review */

/* @all: read all hardware, not only what is noted for the review. */
static void start_review(struct morph_fabric *fabric, bool all, bool resumed)
{
	struct morph_recovery *recovery = recovery_of(fabric);
	unsigned long flags;

	spin_lock_irqsave(&recovery->signal_lock, flags);
	if (recovery->pending && !recovery->signals_stopped) {
		WRITE_ONCE(recovery->resumes, recovery->resumes + resumed);
		if (all)
			WRITE_ONCE(recovery->review, true);
		queue_work(morph_wq, &recovery->review_work);
	}
	spin_unlock_irqrestore(&recovery->signal_lock, flags);
}

static void review_element(struct morph_fabric *fabric, u32 element)
{
	morph_hw_review_element(fabric, element);
	start_review(fabric, false, false);
}

/*
 * Start a review, because hardware may differ from the commanded state. Reasons: the device carried
 * out a timed-out request, perhaps after newer commands, or a laser did not switch off. Light may
 * then reach a wrong receiver. The request is not known any more. So the review reads all hardware,
 * and reprograms differences. It repeats only the parts that fail, until they succeed.
 *
 * The review starts at once, but does not advance the patrol rounds. A round returns hardware that
 * passes its test to use. Hardware that ignores commands would then fail again, cause the next
 * review, and be tested without a pause. Context: any.
 */
void morph_patrol_review(struct morph_fabric *fabric)
{
	start_review(fabric, true, false);
}

/**
 * morph_fabric_resume() - review all hardware after a suspend
 * @fabric: a registered fabric
 *
 * Hardware may wake in other states than commanded, and with other accelerators. The driver reads
 * all lasers and elements and reprograms differences, without a quarantine. Then it tests all
 * accelerators. The provider calls this function when the device executes operations again.
 *
 * Context: any.
 */
void morph_fabric_resume(struct morph_fabric *fabric)
{
	start_review(fabric, true, true);
}
EXPORT_SYMBOL_GPL(morph_fabric_resume);

/* An accelerator that works may have been exchanged, or may have lost its power. No lock held. */
static void suspect_accelerators(struct morph_fabric *fabric)
{
	struct morph_culprit suspect = { .part = MORPH_PART_ACCELERATOR };

	for (; suspect.index < fabric->graph->accelerators_count; suspect.index++) {
		mutex_lock(&fabric->lock);
		if (ledger_of(fabric)->chips[suspect.index].health == MORPH_HEALTH_OK)
			morph_suspect_add(fabric, &suspect);
		mutex_unlock(&fabric->lock);
		cond_resched();
	}
}

/* The next round retries hardware that cannot be read or programmed now. */
static void review_work_fn(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(work, struct morph_recovery, review_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;
	const struct morph_review review = {
		.tx_dead = ledger_of(fabric)->state->tx_dead,
		.element_state = ledger_of(fabric)->state->element_state,
		.element_marks = ledger_of(fabric)->state->element_marks,
		.skip = MORPH_MARK_CHANGING,
	};

	u32 resumes = READ_ONCE(recovery->resumes);

	if (READ_ONCE(fabric->state) != MORPH_FABRIC_READY)
		return;
	if (READ_ONCE(recovery_of(fabric)->review)) {
		/* A request from now on starts another review of all hardware. */
		WRITE_ONCE(recovery_of(fabric)->review, false);
		morph_hw_review_all(fabric);
	}
	WRITE_ONCE(recovery_of(fabric)->review_failed, morph_hw_review(fabric, &review));
	if (resumes == recovery->resumes_reviewed)
		return;
	suspect_accelerators(fabric);
	WRITE_ONCE(recovery->resumes_reviewed, resumes);
}

/* ------------------------------------------------------------------- patrol */

/*
 * The accelerator is idle or quarantined, and its hold-down is over. One with another identity is
 * excluded: it waits for the operator.
 */
static bool worth_a_probe(const struct morph_chip *chip, u64 now)
{
	if (chip->heartbeat_lost || chip->stranger || chip->hold_until_ns > now ||
	    chip->health == MORPH_HEALTH_FAILED)
		return false;
	return chip->use == MORPH_USE_FREE || chip->use == MORPH_USE_SPARE ||
	       chip->health != MORPH_HEALTH_OK;
}

static void patrol_chips(struct morph_fabric *fabric)
{
	u32 total = fabric->graph->accelerators_count;
	struct morph_probe probes[PATROL_CHIPS];
	struct morph_culprit culprit = { .part = MORPH_PART_ACCELERATOR };
	u32 count = 0, seen;
	u64 now = ktime_get_boottime_ns();

	mutex_lock(&fabric->lock);
	for (seen = 0; seen < total && count < PATROL_CHIPS; seen++) {
		u32 index = recovery_of(fabric)->patrol_next++ % total;

		if (worth_a_probe(&ledger_of(fabric)->chips[index], now))
			probes[count++] = (struct morph_probe){ .accelerator = index };
		/* The hold-down has ended: the accelerator may be allocated again. */
		morph_chip_update(fabric, index);
	}
	mutex_unlock(&fabric->lock);
	if (!count || morph_hw_probe(fabric, NULL, probes, count))
		return;
	mutex_lock(&fabric->lock);
	for (seen = 0; seen < count; seen++) {
		struct morph_chip *chip = &ledger_of(fabric)->chips[probes[seen].accelerator];

		culprit.index = probes[seen].accelerator;
		morph_stat(fabric, MORPH_STAT_PATROLS);
		if (!probes[seen].alive) {
			morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
			continue;
		}
		chip->last_verified_ns = ktime_get_boottime_ns();
		if (chip->health != MORPH_HEALTH_OK && !chip->heartbeat_lost)
			morph_suspect_add(fabric, &culprit);
	}
	mutex_unlock(&fabric->lock);
}

/*
 * Return whether no other code has turned the element meanwhile. @tolerated are marks to ignore.
 * Caller holds fabric->lock.
 */
static bool is_unturned(struct morph_fabric *fabric, u32 element, u8 expected, u8 tolerated)
{
	return morph_hw_state(fabric, element) == expected &&
	       !(ledger_of(fabric)->state->element_marks[element] & ~tolerated);
}

/*
 * An element did not have the expected state. Other code may have turned it, and back, since the
 * reading. So read it again under a guard pin, which keeps its state.
 *
 * A pin does not stop the steps of a schedule that holds the element, nor a claim that wants
 * another state. The claim may be new, or that of a dark circuit, or of a prepared transaction.
 * There, a review reads the element, and reprograms it or records its state. No lock held.
 */
static void patrol_moved(struct morph_fabric *fabric, u32 element, u8 expected)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ELEMENT, .index = element };
	bool rests, unturned;
	u32 state;
	int ret;

	mutex_lock(&fabric->lock);
	rests = is_unturned(fabric, element, expected, OPTICS_CORDONED) &&
		ledger_of(fabric)->state->element_state[element] == expected;
	unturned = is_unturned(fabric, element, expected, OPTICS_CORDONED | OPTICS_HELD);
	if (rests) {
		ledger_of(fabric)->state->element_pins[element]++;
		ledger_of(fabric)->marks_seq++;
	}
	mutex_unlock(&fabric->lock);
	if (!rests && unturned)
		review_element(fabric, element);
	if (!rests)
		return;
	ret = morph_hw_ask_element(fabric, NULL, element, &state);
	mutex_lock(&fabric->lock);
	morph_park_unguard(fabric, element);
	if (!ret && state != expected) {
		morph_health_set(fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
		morph_suspect_add(fabric, &culprit);
	}
	mutex_unlock(&fabric->lock);
}

/*
 * Read back elements that no code is turning. If an element has moved by itself, or has obeyed a
 * command late, quarantine it until it passes a test. A cordoned element carries no circuit, but
 * may send stray light into a receiver in use.
 */
static void patrol_elements(struct morph_fabric *fabric)
{
	u32 total = fabric->graph->elements_count;
	u32 count = min(PATROL_ELEMENTS, total), i;
	struct morph_element_setting settings[PATROL_ELEMENTS];
	u8 expected[PATROL_ELEMENTS];
	bool behind[PATROL_ELEMENTS];

	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		settings[i].element = recovery_of(fabric)->patrol_element++ % total;
		expected[i] = morph_hw_state(fabric, settings[i].element);
	}
	mutex_unlock(&fabric->lock);
	if (morph_hw_get_elements(fabric, NULL, settings, count))
		return;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		behind[i] = morph_left_behind(fabric, settings[i].element);
	mutex_unlock(&fabric->lock);
	for (i = 0; i < count; i++) {
		if (behind[i])
			morph_park_elements(fabric, &settings[i].element, 1);
		else if (settings[i].state != expected[i])
			patrol_moved(fabric, settings[i].element, expected[i]);
	}
}

static void patrol_work_fn(struct work_struct *work)
{
	struct morph_recovery *recovery = container_of(to_delayed_work(work), struct morph_recovery,
						     patrol_work);
	struct morph_fabric *fabric = &recovery->slices.txns.ledger.hardware.fabric;

	if (READ_ONCE(fabric->state) != MORPH_FABRIC_READY)
		return;
	if (READ_ONCE(recovery_of(fabric)->review) ||
	    READ_ONCE(recovery_of(fabric)->review_failed))
		queue_work(morph_wq, &recovery_of(fabric)->review_work);
	patrol_chips(fabric);
	/* It would quarantine the elements that have woken in another state, one by one. */
	if (READ_ONCE(recovery->resumes) == READ_ONCE(recovery->resumes_reviewed))
		patrol_elements(fabric);
	patrol_suspects(fabric);
	queue_delayed_work(morph_wq, &recovery_of(fabric)->patrol_work, MORPH_PATROL_PERIOD);
}

void morph_health_init(struct morph_fabric *fabric)
{
	recovery_of(fabric)->paths_freed = 1;
	spin_lock_init(&recovery_of(fabric)->signal_lock);
	INIT_DELAYED_WORK(&recovery_of(fabric)->recover_work, morph_repair_recover_work);
	INIT_WORK(&recovery_of(fabric)->signal_work, morph_signal_work);
	INIT_WORK(&recovery_of(fabric)->review_work, review_work_fn);
	INIT_WORK(&recovery_of(fabric)->park_work, morph_park_work);
	INIT_DELAYED_WORK(&recovery_of(fabric)->patrol_work, patrol_work_fn);
	morph_log_init(fabric);
}

void morph_health_start(struct morph_fabric *fabric)
{
	/* Signals that came during bring-up are pending. */
	queue_work(morph_signal_wq, &recovery_of(fabric)->signal_work);
	queue_delayed_work(morph_wq, &recovery_of(fabric)->patrol_work, MORPH_PATROL_PERIOD);
}

void morph_health_stop(struct morph_fabric *fabric)
{
	unsigned long flags;

	spin_lock_irqsave(&recovery_of(fabric)->signal_lock, flags);
	recovery_of(fabric)->signals_stopped = true;
	spin_unlock_irqrestore(&recovery_of(fabric)->signal_lock, flags);
	cancel_work_sync(&recovery_of(fabric)->signal_work);
	/* Only patrol rounds could still start a review. */
	cancel_delayed_work_sync(&recovery_of(fabric)->patrol_work);
	cancel_work_sync(&recovery_of(fabric)->review_work);
	cancel_work_sync(&recovery_of(fabric)->park_work);
	morph_log_stop(fabric);
}
