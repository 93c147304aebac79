// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programming of elements and lasers, and the record of the last commands. A review that repeats
 * commands excludes other writers from a range.
 */
#include <linux/bitmap.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"

/* The kind of hardware that a review is reprogramming. */
enum review { REVIEW_NONE, REVIEW_LASERS, REVIEW_ELEMENTS };

/* -------------------------------------------------- programming and reviews */

/* Return whether a setting is in the range of the running review. */
static bool is_reviewed(struct morph_fabric *fabric, enum review what, const void *settings,
			u32 count)
{
	const struct morph_element_setting *elements = settings;
	const struct morph_laser_setting *lasers = settings;
	u32 first, index, i;

	/* Pairs with review_begin() and review_end(). */
	if (likely(smp_load_acquire(&hardware_of(fabric)->review_of) != what))
		return false;
	first = READ_ONCE(hardware_of(fabric)->review_first);
	for (i = 0; i < count; i++) {
		index = what == REVIEW_ELEMENTS ? elements[i].element : lasers[i].port;
		if (index - first < MORPH_REVIEW_CHUNK)
			return true;
	}
	return false;
}

/*
 * Begin to program these settings, or to read elements for hw_state. A later review_begin() waits
 * for callers that see no review here. No lock held.
 */
static int program_begin(struct morph_fabric *fabric, enum review what, const void *settings,
			 u32 count) __acquires(&hardware_of(fabric)->programming)
{
	int srcu;

	for (;;) {
		srcu = srcu_read_lock(&hardware_of(fabric)->programming);
		if (!is_reviewed(fabric, what, settings, count))
			return srcu;
		srcu_read_unlock(&hardware_of(fabric)->programming, srcu);
		wait_event(hardware_of(fabric)->review_end,
			   !is_reviewed(fabric, what, settings, count));
	}
}

static void program_end(struct morph_fabric *fabric, int srcu)
	__releases(&hardware_of(fabric)->programming)
{
	srcu_read_unlock(&hardware_of(fabric)->programming, srcu);
}

/*
 * From now until review_end() only the review programs MORPH_REVIEW_CHUNK elements, or the lasers
 * of that number of ports, from @first on. Other writers wait, so the recorded commands do not
 * change the hardware meanwhile. One review at a time. No lock held.
 */
static void review_begin(struct morph_fabric *fabric, enum review what, u32 first)
{
	WRITE_ONCE(hardware_of(fabric)->review_first, first);
	/* A reader that sees review_of also sees review_first. Pairs with is_reviewed(). */
	smp_store_release(&hardware_of(fabric)->review_of, what);
	synchronize_srcu(&hardware_of(fabric)->programming);
}

static void review_end(struct morph_fabric *fabric)
{
	/* A writer that continues sees the effects of the review. Pairs with is_reviewed(). */
	smp_store_release(&hardware_of(fabric)->review_of, REVIEW_NONE);
	wake_up_all(&hardware_of(fabric)->review_end);
}

/* ----------------------------------------------------------------- elements */

/* Read the state of an element and record it. No lock held. */
int morph_hw_ask_element(struct morph_fabric *fabric, struct morph_hw_session *session,
			 u32 element, u32 *state)
{
	struct morph_element_setting setting = { .element = element };
	int srcu, ret;

	srcu = program_begin(fabric, REVIEW_ELEMENTS, &setting, 1);
	ret = morph_hw_get_elements(fabric, session, &setting, 1);
	if (!ret)
		morph_hw_record_state(fabric, element, setting.state);
	program_end(fabric, srcu);
	*state = setting.state;
	return ret;
}

/*
 * Read elements that may not have obeyed. Quarantine an element only if its command returned no
 * error. If an element cannot be read now, patrol programs its state again before it can count as
 * moved. If the device does not answer at all, leave the remaining elements to patrol too, because
 * each would time out. No lock held.
 */
void morph_hw_read_back(struct morph_fabric *fabric, struct morph_hw_session *session,
			struct morph_element_setting *settings, u32 count, bool programmed)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ELEMENT };
	u32 i, state;
	int ret;

	for (i = 0; i < count; i++) {
		culprit.index = settings[i].element;
		ret = morph_hw_ask_element(fabric, session, culprit.index, &state);
		if (ret)
			morph_report_doubt(fabric);
		if (ret == -ETIMEDOUT || ret == -ENODEV)
			return;
		if (ret || !programmed || state == settings[i].state)
			continue;
		mutex_lock(&fabric->lock);
		morph_report_finding(fabric, &culprit, MORPH_HEALTH_FAILED);
		mutex_unlock(&fabric->lock);
	}
}

/* Program elements and record the commanded states. No lock held. */
int morph_hw_program(struct morph_fabric *fabric, struct morph_hw_session *session,
		     struct morph_element_setting *settings, u32 count)
{
	int srcu, ret;
	u32 i;

	if (!count)
		return 0;
	srcu = program_begin(fabric, REVIEW_ELEMENTS, settings, count);
	ret = morph_hw_set_elements(fabric, session, settings, count);
	for (i = 0; i < count && !ret; i++)
		morph_hw_record_state(fabric, settings[i].element, settings[i].state);
	program_end(fabric, srcu);
	return ret;
}

/* ------------------------------------------------------------------- lasers */

/*
 * Return whether the settings of an answered command are still those of tx_on. A thread whose
 * change of tx_on is not seen here has not commanded the lasers yet: program_end() and
 * program_begin() contain full barriers. No lock held.
 */
static bool lasers_agree(struct morph_fabric *fabric, const struct morph_laser_setting *lasers,
			 u32 n)
{
	const u64 *on = hardware_of(fabric)->tx_on;
	u32 i;

	for (i = 0; i < n; i++)
		if (lasers[i].lanes != READ_ONCE(on[lasers[i].port]))
			return false;
	return true;
}

/*
 * Switch the lasers of ports as in tx_on. A setting contains all lanes of its port, and a test by
 * light may change other lanes meanwhile. The device may also reorder commands. So repeat the
 * command until it matches tx_on. No lock held.
 */
int morph_hw_switch_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_laser_setting *lasers, u32 n)
{
	int srcu, ret;

	if (!n)
		return 0;
	for (;;) {
		srcu = program_begin(fabric, REVIEW_LASERS, lasers, n);
		ret = morph_hw_set_lasers(fabric, session, lasers, n);
		program_end(fabric, srcu);
		if (lasers_agree(fabric, lasers, n))
			return ret;
		mutex_lock(&fabric->lock);
		morph_hw_update_lasers(fabric, lasers, n);
		mutex_unlock(&fabric->lock);
		if (ret)
			return ret;
	}
}

/*
 * Like the function above. After an error it is unknown which lasers have obeyed, and a dark
 * receiver proves nothing if it has failed. So request a review, which reads the lasers.
 */
int morph_hw_submit_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_laser_setting *lasers, u32 n)
{
	int ret = morph_hw_switch_lasers(fabric, session, lasers, n);

	if (ret && ret != -ENODEV)
		morph_report_doubt(fabric);
	return ret;
}

/* ------------------------------------------------------------------- review */

/*
 * Find ports whose lasers differ from the command. Without review_begin() the result is
 * preliminary: a command may be in flight that is recorded only under fabric->lock.
 */
static int find_lasers(struct morph_fabric *fabric, const struct morph_review *review,
		       u32 first, u32 count, struct morph_laser_setting *wrong, u32 *n)
{
	struct morph_laser_reading reads[MORPH_REVIEW_CHUNK] = {};
	u32 i;
	int ret;

	for (i = 0; i < count; i++)
		reads[i].port = first + i;
	ret = morph_hw_get_lasers(fabric, NULL, reads, count);
	*n = 0;
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		u32 port = reads[i].port;
		u64 broken = review->tx_dead[port];
		u64 programmed = hardware_of(fabric)->tx_on[port];

		if (((reads[i].lanes | reads[i].weak) & ~programmed) |
		    (programmed & ~broken & ~(reads[i].lanes | reads[i].weak)))
			wrong[(*n)++] = (struct morph_laser_setting){
				.port = port, .lanes = programmed,
			};
	}
	mutex_unlock(&fabric->lock);
	return 0;
}

/*
 * The same for elements; skip those that other code is turning. A claim may want a state that was
 * never programmed, for example that of a dark circuit. Then count the element in @unsure, and with
 * @exclusive, between review_begin() and review_end(), only record its state.
 */
static int find_elements(struct morph_fabric *fabric, const struct morph_review *review,
			 u32 first, u32 count, bool exclusive, struct morph_element_setting *wrong,
			 u32 *n, u32 *unsure)
{
	u32 i;
	int ret;

	for (i = 0; i < count; i++)
		wrong[i].element = first + i;
	ret = morph_hw_get_elements(fabric, NULL, wrong, count);
	*n = 0;
	*unsure = 0;
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		u32 element = wrong[i].element;
		u8 programmed = morph_hw_state(fabric, element);

		if (wrong[i].state == programmed ||
		    review->element_marks[element] & review->skip)
			continue;
		if (review->element_state[element] != programmed) {
			++*unsure;
			if (exclusive)
				morph_hw_record_state(fabric, element, wrong[i].state);
			continue;
		}
		wrong[(*n)++] = (struct morph_element_setting){ .element = element,
								.state = programmed };
	}
	mutex_unlock(&fabric->lock);
	return 0;
}

/*
 * Read differing lasers again while no other code programs them, and then repeat the command.
 * Otherwise an outdated command could undo a change that was verified meanwhile.
 */
static int review_lasers(struct morph_fabric *fabric, const struct morph_review *review,
			 u32 first, u32 count)
{
	struct morph_laser_setting wrong[MORPH_REVIEW_CHUNK];
	u32 n;
	int ret = find_lasers(fabric, review, first, count, wrong, &n);

	if (ret || !n)
		return ret;
	review_begin(fabric, REVIEW_LASERS, first);
	ret = find_lasers(fabric, review, first, count, wrong, &n);
	if (!ret)
		ret = morph_hw_set_lasers(fabric, NULL, wrong, n);
	review_end(fabric);
	return ret;
}

static int review_elements(struct morph_fabric *fabric, const struct morph_review *review,
			   u32 first, u32 count)
{
	struct morph_element_setting wrong[MORPH_REVIEW_CHUNK];
	u32 n, unsure;
	int ret = find_elements(fabric, review, first, count, false, wrong, &n, &unsure);

	if (ret || !(n + unsure))
		return ret;
	review_begin(fabric, REVIEW_ELEMENTS, first);
	ret = find_elements(fabric, review, first, count, true, wrong, &n, &unsure);
	if (!ret && n)
		ret = morph_hw_set_elements(fabric, NULL, wrong, n);
	review_end(fabric);
	return ret;
}

static u32 laser_chunks(const struct optics_graph *graph)
{
	return DIV_ROUND_UP(graph->ports_count, MORPH_REVIEW_CHUNK);
}

u32 morph_hw_review_chunks(const struct optics_graph *graph)
{
	return laser_chunks(graph) + DIV_ROUND_UP(graph->elements_count, MORPH_REVIEW_CHUNK);
}

void morph_hw_review_all(struct morph_fabric *fabric)
{
	bitmap_fill(hardware_of(fabric)->review_left, morph_hw_review_chunks(fabric->graph));
}

void morph_hw_review_element(struct morph_fabric *fabric, u32 element)
{
	set_bit(laser_chunks(fabric->graph) + element / MORPH_REVIEW_CHUNK,
		hardware_of(fabric)->review_left);
}

static int review_chunk(struct morph_fabric *fabric, const struct morph_review *review, u32 chunk)
{
	const struct optics_graph *graph = fabric->graph;
	u32 lasers = laser_chunks(graph), first;

	if (chunk < lasers) {
		first = chunk * MORPH_REVIEW_CHUNK;
		return review_lasers(fabric, review, first,
				     min(MORPH_REVIEW_CHUNK, graph->ports_count - first));
	}
	first = (chunk - lasers) * MORPH_REVIEW_CHUNK;
	return review_elements(fabric, review, first,
			       min(MORPH_REVIEW_CHUNK, graph->elements_count - first));
}

int morph_hw_review(struct morph_fabric *fabric, const struct morph_review *review)
{
	unsigned long *left = hardware_of(fabric)->review_left;
	u32 chunk;
	int failed = 0;

	for_each_set_bit(chunk, left, morph_hw_review_chunks(fabric->graph)) {
		int ret;

		/* A request from now on starts another review of the chunk. */
		clear_bit(chunk, left);
		ret = review_chunk(fabric, review, chunk);
		if (ret)
			set_bit(chunk, left);
		failed |= ret;
	}
	return failed;
}
