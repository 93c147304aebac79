// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programming of elements and lasers, with the record of what each was told last. A review that
 * tells hardware the same again has a range of it for itself.
 */
#include "core/base/base.h"
#include "core/hardware/hardware.h"

/* What a review has for itself while it tells hardware again what that was told last. */
enum review { REVIEW_NONE, REVIEW_LASERS, REVIEW_ELEMENTS };

/* ------------------------------------------------------------------ telling */

/* Is some of it what a review has for itself? */
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
 * Hardware is about to be told these settings, or asked how they stand for fabric->hw_state.
 * Whoever sees no review here is waited for by the next one. No lock held.
 */
static int tell_begin(struct morph_fabric *fabric, enum review what, const void *settings,
		      u32 count) __acquires(&hardware_of(fabric)->telling)
{
	int srcu;

	for (;;) {
		srcu = srcu_read_lock(&hardware_of(fabric)->telling);
		if (!is_reviewed(fabric, what, settings, count))
			return srcu;
		srcu_read_unlock(&hardware_of(fabric)->telling, srcu);
		wait_event(hardware_of(fabric)->review_end,
			   !is_reviewed(fabric, what, settings, count));
	}
}

static void tell_end(struct morph_fabric *fabric, int srcu)
	__releases(&hardware_of(fabric)->telling)
{
	srcu_read_unlock(&hardware_of(fabric)->telling, srcu);
}

/*
 * From now until review_end() nobody else tells MORPH_REVIEW_CHUNK elements, or the lasers
 * of so many ports, from @first on; what they are told in between is what is written down. There
 * is one review at a time. No lock held.
 */
static void review_begin(struct morph_fabric *fabric, enum review what, u32 first)
{
	WRITE_ONCE(hardware_of(fabric)->review_first, first);
	/* Who sees that there is one sees of what. Pairs with is_reviewed(). */
	smp_store_release(&hardware_of(fabric)->review_of, what);
	synchronize_srcu(&hardware_of(fabric)->telling);
}

static void review_end(struct morph_fabric *fabric)
{
	/* Whoever goes on sees what hardware was told. Pairs with is_reviewed(). */
	smp_store_release(&hardware_of(fabric)->review_of, REVIEW_NONE);
	wake_up_all(&hardware_of(fabric)->review_end);
}

/* ----------------------------------------------------------------- elements */

/* How an element stands, which is remembered. No lock held. */
int morph_hw_ask_element(struct morph_fabric *fabric, struct morph_hw_session *session,
			 u32 element, u32 *state)
{
	struct morph_element_setting setting = { .element = element };
	int srcu, ret;

	srcu = tell_begin(fabric, REVIEW_ELEMENTS, &setting, 1);
	ret = morph_hw_get_elements(fabric, session, &setting, 1);
	if (!ret) {
		mutex_lock(&fabric->lock);
		hardware_of(fabric)->hw_state[element] = setting.state;
		mutex_unlock(&fabric->lock);
	}
	tell_end(fabric, srcu);
	*state = setting.state;
	return ret;
}

/*
 * What hardware says about elements that may not have obeyed. Only those that had
 * been told without an error are to blame for it. One that can't be read now is told its
 * state again by patrol, before it can be taken for one that has moved. So is the rest, where
 * the device does not answer at all: each would be waited for. No lock held.
 */
void morph_hw_read_back(struct morph_fabric *fabric, struct morph_hw_session *session,
			struct morph_element_setting *settings, u32 count, bool told)
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
		if (ret || !told || state == settings[i].state)
			continue;
		mutex_lock(&fabric->lock);
		morph_report_finding(fabric, &culprit, MORPH_HEALTH_FAILED);
		mutex_unlock(&fabric->lock);
	}
}

/* Program elements and remember what they were told. No lock held. */
int morph_hw_program(struct morph_fabric *fabric, struct morph_hw_session *session,
		     struct morph_element_setting *settings, u32 count)
{
	int srcu, ret;
	u32 i;

	if (!count)
		return 0;
	srcu = tell_begin(fabric, REVIEW_ELEMENTS, settings, count);
	ret = morph_hw_set_elements(fabric, session, settings, count);
	if (!ret) {
		mutex_lock(&fabric->lock);
		for (i = 0; i < count; i++)
			hardware_of(fabric)->hw_state[settings[i].element] = settings[i].state;
		mutex_unlock(&fabric->lock);
	}
	tell_end(fabric, srcu);
	return ret;
}

/* ------------------------------------------------------------------- lasers */

/*
 * Switch the lasers of ports as fabric->tx_on has them. A setting speaks of all lanes of
 * its port: a test by light may have changed others meanwhile, and what was submitted
 * first need not be done first. So until it agrees it is told again. No lock held.
 */
int morph_hw_tell_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			 struct morph_laser_setting *lasers, u32 n)
{
	bool changed;
	int srcu, ret;

	if (!n)
		return 0;
	do {
		srcu = tell_begin(fabric, REVIEW_LASERS, lasers, n);
		ret = morph_hw_set_lasers(fabric, session, lasers, n);
		tell_end(fabric, srcu);
		mutex_lock(&fabric->lock);
		changed = morph_hw_update_lasers(fabric, lasers, n);
		mutex_unlock(&fabric->lock);
	} while (!ret && changed);
	return ret;
}

/*
 * Likewise. After an error nobody knows which of them have obeyed, and a receiver that sees
 * nothing proves nothing where it is deaf: a review asks the lasers themselves.
 */
int morph_hw_submit_lasers(struct morph_fabric *fabric, struct morph_hw_session *session,
			   struct morph_laser_setting *lasers, u32 n)
{
	int ret = morph_hw_tell_lasers(fabric, session, lasers, n);

	if (ret && ret != -ENODEV)
		morph_report_doubt(fabric);
	return ret;
}

/* ------------------------------------------------------------------- review */

/*
 * Ports whose lasers are not as they were told, and what that was. Who tells them next is not
 * seen before fabric->lock is taken: what is found while others may tell is to be looked at again.
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
		u64 told = hardware_of(fabric)->tx_on[port];

		if (((reads[i].lanes | reads[i].weak) & ~told) |
		    (told & ~broken & ~(reads[i].lanes | reads[i].weak)))
			wrong[(*n)++] = (struct morph_laser_setting){
				.port = port, .lanes = told,
			};
	}
	mutex_unlock(&fabric->lock);
	return 0;
}

/* Elements likewise; of those that are being turned somebody else takes care. */
static int find_elements(struct morph_fabric *fabric, const struct morph_review *review,
			 u32 first, u32 count, struct morph_element_setting *wrong, u32 *n)
{
	u32 i;
	int ret;

	for (i = 0; i < count; i++)
		wrong[i].element = first + i;
	ret = morph_hw_get_elements(fabric, NULL, wrong, count);
	*n = 0;
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++) {
		u32 element = wrong[i].element;
		u8 told = hardware_of(fabric)->hw_state[element];

		if (wrong[i].state == told || review->element_state[element] != told ||
		    review->element_marks[element] & review->skip)
			continue;
		wrong[(*n)++] = (struct morph_element_setting){ .element = element, .state = told };
	}
	mutex_unlock(&fabric->lock);
	return 0;
}

/*
 * What was found wrong is looked at once more, and told again, while nobody else tells it: a
 * command that is not the last would undo what has been verified since. The review itself looks
 * once more at what does not obey.
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
	u32 n;
	int ret = find_elements(fabric, review, first, count, wrong, &n);

	if (ret || !n)
		return ret;
	review_begin(fabric, REVIEW_ELEMENTS, first);
	ret = find_elements(fabric, review, first, count, wrong, &n);
	if (!ret)
		ret = morph_hw_set_elements(fabric, NULL, wrong, n);
	review_end(fabric);
	return ret;
}

int morph_hw_review(struct morph_fabric *fabric, const struct morph_review *review)
{
	const struct optics_graph *graph = fabric->graph;
	int failed = 0;
	u32 i;

	for (i = 0; i < graph->ports_count; i += MORPH_REVIEW_CHUNK)
		failed |= review_lasers(fabric, review, i,
					min(MORPH_REVIEW_CHUNK, graph->ports_count - i));
	for (i = 0; i < graph->elements_count; i += MORPH_REVIEW_CHUNK)
		failed |= review_elements(fabric, review, i,
					  min(MORPH_REVIEW_CHUNK, graph->elements_count - i));
	return failed;
}
