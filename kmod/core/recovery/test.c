// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of hardware, and other actions of the operator on it. A test is a transaction without a
 * slice: it gets a number, runs from the work queue, and reports its result like any other
 * transaction.
 */
#include <linux/slab.h>

#include "core/base/base.h"
#include "core/hardware/hardware.h"
#include "core/ledger/ledger.h"
#include "core/recovery/recovery.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

/* ------------------------------------------------------------------- claims */

/* Exclude an accelerator from allocation during its test. Caller holds fabric->lock. */
static void test_take(struct morph_fabric *fabric, u32 accelerator)
{
	ledger_of(fabric)->chips[accelerator].testing = true;
	slices_of(fabric)->testing++;
	morph_chip_update(fabric, accelerator);
}

static void test_give_back(struct morph_fabric *fabric, u32 accelerator)
{
	ledger_of(fabric)->chips[accelerator].testing = false;
	slices_of(fabric)->testing--;
	slices_of(fabric)->tests_ended++;
	morph_chip_update(fabric, accelerator);
	morph_protection_touch_chip(fabric, accelerator);
	/* A test by light has claimed a path, too. */
	morph_repair_recover(fabric, MORPH_FREED_ANY);
	wake_up_all(&slices_of(fabric)->test_end);
}

/* ------------------------------------------------------------- accelerators */

/* Switch the lasers of an idle accelerator off again, and verify that they are off. */
static int test_lasers_off(struct morph_fabric *fabric, u32 index)
{
	u32 planes = fabric->graph->params.planes, plane;
	int ret = 0;

	for (plane = 0; plane < planes && !ret; plane++) {
		struct morph_laser_setting off = { .port = index * planes + plane };
		struct morph_laser_reading reading = { .port = off.port };

		ret = morph_hw_switch_lasers(fabric, NULL, &off, 1);
		if (!ret)
			ret = morph_hw_get_lasers(fabric, NULL, &reading, 1);
		if (!ret && (reading.lanes | reading.weak))
			ret = MORPH_TEST_FAILED;
	}
	return ret;
}

/* Return whether a slice got the accelerator for a lent spare and uses none of its lasers. */
static bool is_dark_exchange(struct morph_fabric *fabric, u32 index)
{
	u32 planes = fabric->graph->params.planes, plane;

	for (plane = 0; plane < planes; plane++)
		if (ledger_of(fabric)->state->tx_lanes[index * planes + plane])
			return false;
	return ledger_of(fabric)->chips[index].lent;
}

static int test_accelerator(struct morph_fabric *fabric, u32 index, bool accept)
{
	struct morph_probe probe = { .accelerator = index };
	struct morph_chip *chip = &ledger_of(fabric)->chips[index];
	bool free;
	int ret;

	/* A heartbeat that is lost from now on overrides the result of this probe. */
	mutex_lock(&fabric->lock);
	chip->heartbeat_lost = false;
	mutex_unlock(&fabric->lock);
	ret = morph_hw_probe(fabric, NULL, &probe, 1);
	if (!ret && !probe.alive)
		ret = MORPH_TEST_FAILED;
	if (!ret)
		ret = morph_identity_check(fabric, index, accept);
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	while (chip->testing)
		morph_place_wait(fabric, &ret);
	/*
	 * Another test may have released it meanwhile: the lasers may be in use by a slice. A
	 * failed accelerator in exchange for a lent spare has no circuits.
	 */
	free = (!ledger_of(fabric)->state->owner[index] || is_dark_exchange(fabric, index)) &&
	       chip->health != MORPH_HEALTH_OK;
	if (free) {
		test_take(fabric, index);
		mutex_unlock(&fabric->lock);
		ret = test_lasers_off(fabric, index);
		mutex_lock(&fabric->lock);
		test_give_back(fabric, index);
	}
	if (!ret && chip->heartbeat_lost)
		ret = MORPH_TEST_FAILED;
	if (!ret)
		chip->last_verified_ns = ktime_get_boottime_ns();
	mutex_unlock(&fabric->lock);
	return ret;
}

/* ----------------------------------------------------------------- elements */

/* Turn an element through its states, and back. Marks exclude other users. */
static int test_element(struct morph_fabric *fabric, u32 index)
{
	const struct optics_kind *kind;
	struct morph_element_setting setting = { .element = index }, reading;
	u32 home, state;
	u8 *marks;
	bool busy;
	int ret = 0;

	mutex_lock(&fabric->lock);
	kind = &fabric->graph->kinds[fabric->graph->elements[index].kind];
	home = optics_park_state(fabric->graph, index);
	marks = &ledger_of(fabric)->state->element_marks[index];
	busy = ledger_of(fabric)->state->element_pins[index] || *marks & MORPH_MARK_CHANGING;
	if (!busy) {
		*marks |= MORPH_MARK_CHANGING;
		ledger_of(fabric)->marks_seq++;
	}
	mutex_unlock(&fabric->lock);
	if (busy)
		return -EBUSY;
	for (state = 0; state <= kind->states && !ret; state++) {
		/* Return to the home state last. */
		setting.state = state < kind->states ? state : home;
		reading = setting;
		ret = morph_hw_program(fabric, NULL, &setting, 1);
		if (!ret)
			ret = morph_hw_get_elements(fabric, NULL, &reading, 1);
		if (!ret && reading.state != setting.state)
			ret = MORPH_TEST_FAILED;
	}
	if (ret && ret != -ENODEV)
		morph_hw_read_back(fabric, NULL, &setting, 1, false);
	mutex_lock(&fabric->lock);
	*marks &= ~MORPH_MARK_CHANGING;
	ledger_of(fabric)->marks_seq++;
	mutex_unlock(&fabric->lock);
	return ret;
}

/* ----------------------------------------------------- by light: a probe circuit */

/* Number of accelerators tried at the other end of a port under test. */
#define TEST_ENDS	256u

static bool is_port(const struct morph_culprit *target)
{
	return target->part == MORPH_PART_LASER || target->part == MORPH_PART_RECEIVER;
}

/*
 * The accelerators that a test excludes from other uses until its end: that of a port, and at most
 * one other for each lane of the port.
 */
struct hold {
	u32 count;
	u32 accelerators[1 + BITS_PER_TYPE(u64)];
};

static bool holds(const struct hold *hold, u32 accelerator)
{
	u32 i;

	for (i = 0; i < hold->count; i++)
		if (hold->accelerators[i] == accelerator)
			return true;
	return false;
}

/* Caller holds fabric->lock. */
static void hold_accelerator(struct morph_fabric *fabric, struct hold *hold, u32 accelerator)
{
	if (holds(hold, accelerator))
		return;
	hold->accelerators[hold->count++] = accelerator;
	test_take(fabric, accelerator);
}

static void release_hold(struct morph_fabric *fabric, struct hold *hold)
{
	mutex_lock(&fabric->lock);
	while (hold->count)
		test_give_back(fabric, hold->accelerators[--hold->count]);
	mutex_unlock(&fabric->lock);
}

/* Return whether the test may send light from or to the accelerator. Caller holds fabric->lock. */
static bool is_usable(struct morph_fabric *fabric, const struct hold *hold, u32 accelerator)
{
	return morph_chip_idle(fabric, accelerator) ||
	       (holds(hold, accelerator) &&
		ledger_of(fabric)->chips[accelerator].health == MORPH_HEALTH_OK);
}

/*
 * Find a path between two idle accelerators, one of which has the port under test. -EINPROGRESS:
 * the search takes another hold of fabric->lock.
 */
static int try_route(struct morph_fabric *fabric, const struct morph_culprit *target, u32 src,
		     u32 dst, u64 tx_planes, u64 rx_planes, struct morph_path_search *path,
		     struct morph_route *route)
{
	struct optics_route_request request = {
		.tx_accelerator = src,
		.rx_accelerator = dst,
		.tx_planes = tx_planes,
		.rx_planes = rx_planes,
		.lanes_allowed = target->lanes ? target->lanes : fabric->graph->all_lanes,
		.lanes_count = 1,
		.steps = MORPH_ROUTE_STEPS,
	};
	struct optics_refusal why;

	return morph_path_search_run(fabric, path, &request, MORPH_HOLD_EFFORT, &route->path, &why);
}

/* Return whether the guide or the element next to the port cannot be used: no search helps. */
static bool is_cut_off(struct morph_fabric *fabric, const struct morph_culprit *port)
{
	const struct optics_graph *graph = fabric->graph;
	const struct optics_state *ledger = ledger_of(fabric)->state;
	u32 guide = (port->part == MORPH_PART_LASER ? graph->tx_guide[port->index] :
						      graph->rx_guide[port->index]) >> 1;
	u32 i;

	if (ledger->guide_marks[guide])
		return true;
	for (i = 0; i < 2; i++) {
		const struct optics_end *end = &graph->guides[guide].end[i];

		if (end->type == MORPH_END_ELEMENT && ledger->element_marks[end->index])
			return true;
	}
	return false;
}

/*
 * Try the next idle accelerator at the other end of a port. Only one: a search may visit
 * MORPH_ROUTE_STEPS places, and other tasks wait for fabric->lock. A search that has paused
 * continues with the same accelerator, or starts again with the next one if that is in use now.
 */
static bool find_port_route(struct morph_fabric *fabric, const struct morph_culprit *target,
			    struct morph_search *search, const struct hold *hold,
			    struct morph_path_search *path, struct morph_route *route)
{
	u32 planes = fabric->graph->params.planes, total = fabric->graph->accelerators_count;
	u32 own = target->index / planes, last = min(total, TEST_ENDS) - 1, other;
	u64 plane = BIT_ULL(target->index % planes);
	bool paused = path->running;
	int ret = -EHOSTUNREACH;

	if (!is_usable(fabric, hold, own) || is_cut_off(fabric, target)) {
		search->tried = last;
		path->running = false;
	}
	while (search->tried < last) {
		other = (own + search->tried + 1) % total;
		if (!is_usable(fabric, hold, other)) {
			search->tried++;
			path->running = false;
			paused = false;
			continue;
		}
		if (!paused && search->budget)
			search->budget--;
		ret = target->part == MORPH_PART_LASER ?
			try_route(fabric, target, own, other, plane, ~0ULL, path, route) :
			try_route(fabric, target, other, own, ~0ULL, plane, path, route);
		search->tried += ret != -EINPROGRESS;
		break;
	}
	search->ended = ret && search->tried == last;
	return !ret;
}

/*
 * Claim a path through the target as if it were healthy and unused. Return -EAGAIN if the next
 * accelerator may have one. Caller holds fabric->lock.
 */
static int claim_probe(struct morph_fabric *fabric, const struct morph_culprit *target,
		       struct morph_search *search, const struct hold *hold,
		       struct morph_path_search *path, struct morph_route *route)
{
	struct optics_state *ledger = ledger_of(fabric)->state;
	struct optics_refusal why;
	u8 *marks = NULL, marked = 0;
	u64 *dead = NULL, were = 0, reserved = 0;
	int ret = -EBUSY;
	bool found;

	if (target->part == MORPH_PART_GUIDE)
		marks = &ledger->guide_marks[target->index];
	else
		dead = target->part == MORPH_PART_LASER ? &ledger->tx_dead[target->index] :
							  &ledger->rx_dead[target->index];
	if (marks) {
		swap(*marks, marked);
		swap(ledger->guide_reserved[target->index], reserved);
		found = morph_probe_path(fabric, target->index, &route->path);
		search->ended = !found;
	} else {
		swap(*dead, were);
		found = find_port_route(fabric, target, search, hold, path, route);
	}
	if (found)
		ret = morph_route_claim(fabric, route, &why);
	if (marks) {
		swap(*marks, marked);
		swap(ledger->guide_reserved[target->index], reserved);
	} else {
		swap(*dead, were);
	}
	if (path->running)
		return -EAGAIN;
	return found || search->ended || !search->budget ? ret : -EAGAIN;
}

/*
 * Find and claim a path through the target, and exclude the accelerators at its ends from other
 * uses. Each hold of fabric->lock contains at most one search. No lock held.
 */
static int take_probe(struct morph_fabric *fabric, struct morph_culprit *target,
		      struct morph_search *search, struct hold *hold,
		      struct morph_path_search *path, struct morph_route *route)
{
	u32 planes = fabric->graph->params.planes;
	int ret;

	do {
		mutex_lock(&fabric->lock);
		morph_path_search_resume(fabric, path);
		ret = claim_probe(fabric, target, search, hold, path, route);
		morph_path_search_pause(fabric, path);
		if (!ret) {
			hold_accelerator(fabric, hold, route->path.tx / planes);
			hold_accelerator(fabric, hold, route->path.rx / planes);
			if (is_port(target))
				target->lanes = route->path.lanes;
		}
		mutex_unlock(&fabric->lock);
		cond_resched();
	} while (ret == -EAGAIN);
	return ret;
}

/* Light the claimed path, and read the receiver. No lock held. */
static int light_probe(struct morph_fabric *fabric, struct morph_route *route,
		       struct morph_element_setting *settings)
{
	const struct optics_params *params = &fabric->graph->params;
	struct morph_receiver_reading reading = {
		.port = route->path.rx, .lanes = route->path.lanes,
	};
	struct morph_laser_setting laser = { .port = route->path.tx };
	s32 least = optics_path_power(fabric->graph, &route->path) - (s32)params->window_mdb;
	u32 h;
	int ret;

	for (h = 0; h + 1 < route->path.hops_count; h++)
		settings[h] = (struct morph_element_setting){
			.element = route->hops[h].element, .state = route->hops[h].state,
		};
	ret = morph_hw_program(fabric, NULL, settings, h);
	if (ret && ret != -ENODEV)
		morph_hw_read_back(fabric, NULL, settings, h, false);
	if (!ret)
		ret = morph_hw_wait(fabric, params->settle_ns);
	if (ret)
		return ret;
	/*
	 * Set tx_on only now: a review may switch the laser on as soon as it is set. If elements
	 * have not obeyed, the light would go astray.
	 */
	mutex_lock(&fabric->lock);
	morph_hw_add_laser(fabric, &laser, 0, &route->path, true);
	mutex_unlock(&fabric->lock);
	ret = morph_hw_submit_lasers(fabric, NULL, &laser, 1);
	if (!ret)
		ret = morph_hw_wait(fabric, params->settle_ns + params->relock_ns);
	if (!ret)
		ret = morph_hw_get_receivers(fabric, NULL, &reading, 1);
	if (!ret && (reading.locked != reading.lanes || reading.min_mdbm < least))
		ret = MORPH_TEST_FAILED;
	return ret;
}

/*
 * Switch the probe's light off. If that fails, mark the laser failed and return MORPH_TEST_FAILED.
 * Return -EBUSY if the receiver sees light of another laser. Caller holds fabric->lock; the
 * function drops it meanwhile.
 */
static int end_probe(struct morph_fabric *fabric, struct morph_route *route,
		     struct morph_element_setting *settings)
{
	struct morph_culprit laser = { MORPH_PART_LASER, route->path.tx, 0 };
	int ret;

	ret = morph_exec_darken(fabric, &route, 1, settings);
	if (ret && ret != -ENODEV) {
		mutex_unlock(&fabric->lock);
		laser.lanes = morph_hw_lasers_lit(fabric, NULL, laser.index, route->path.lanes);
		mutex_lock(&fabric->lock);
		ret = laser.lanes ? MORPH_TEST_FAILED : ret == -EIO ? -EBUSY : 0;
	}
	if (laser.lanes)
		morph_health_set(fabric, &laser, MORPH_HEALTH_FAILED, 0);
	return ret;
}

/* All hardware that passed the light is healthy, not only the target. */
static void clear_path(struct morph_fabric *fabric, const struct optics_path *path)
{
	struct morph_culprit guide = { .part = MORPH_PART_GUIDE };
	u32 h;

	mutex_lock(&fabric->lock);
	for (h = 0; h < path->hops_count; h++) {
		guide.index = path->hops[h].guide >> 1;
		if (morph_health_get(fabric, guide.part, guide.index) == MORPH_HEALTH_SUSPECT)
			morph_health_set(fabric, &guide, MORPH_HEALTH_OK, 0);
	}
	mutex_unlock(&fabric->lock);
}

/*
 * Return whether another part of the path than the tested guide may have made it dark. Light to a
 * deaf receiver arrives through no guide. Caller holds fabric->lock.
 */
static bool others_suspect(struct morph_fabric *fabric, const struct optics_path *path, u32 guide)
{
	const struct optics_state *ledger = ledger_of(fabric)->state;
	u32 h;

	for (h = 0; h < path->hops_count; h++)
		if (path->hops[h].guide >> 1 != guide &&
		    morph_suspect_waits(fabric, MORPH_PART_GUIDE, path->hops[h].guide >> 1))
			return true;
	return ledger->tx_dead[path->tx] || ledger->rx_dead[path->rx] ||
	       morph_suspect_waits(fabric, MORPH_PART_LASER, path->tx) ||
	       morph_suspect_waits(fabric, MORPH_PART_RECEIVER, path->rx);
}

/* @hold gets the accelerators of the test; the caller releases them. No lock held. */
static int test_by_light(struct morph_fabric *fabric, struct morph_culprit *target,
			 struct morph_search *search, struct hold *hold)
{
	struct morph_search all = { .budget = TEST_ENDS - 1 };
	struct morph_element_setting *settings;
	struct morph_path_search path = {};
	struct morph_route *route;
	int ret = -ENOMEM, dark;

	route = morph_route_alloc(OPTICS_MAX_HOPS, GFP_KERNEL);
	settings = kcalloc(OPTICS_MAX_HOPS, sizeof(*settings), GFP_KERNEL);
	if (!route || !settings || morph_path_search_alloc(&path, NULL, NULL))
		goto out;
	ret = take_probe(fabric, target, search ?: &all, hold, &path, route);
	if (ret)
		goto out;
	ret = light_probe(fabric, route, settings);
	mutex_lock(&fabric->lock);
	dark = end_probe(fabric, route, settings);
	if (ret == MORPH_TEST_FAILED && target->part == MORPH_PART_GUIDE &&
	    others_suspect(fabric, &route->path, target->index))
		ret = -EBUSY;
	mutex_unlock(&fabric->lock);
	if (!ret && ((dark > 0 && target->part == MORPH_PART_LASER) ||
		     (dark == -EBUSY && target->part == MORPH_PART_RECEIVER)))
		ret = dark;
	if (!ret)
		clear_path(fabric, &route->path);
out:
	morph_path_search_free(&path);
	kfree(settings);
	morph_route_free(route);
	return ret;
}

/* ------------------------------------------------------------------ actions */

int morph_test_run(struct morph_fabric *fabric, struct morph_culprit *target, bool accept,
		   struct morph_search *search)
{
	struct hold hold = {};
	int ret;

	switch (target->part) {
	case MORPH_PART_ACCELERATOR:
		return test_accelerator(fabric, target->index, accept);
	case MORPH_PART_ELEMENT:
		return test_element(fabric, target->index);
	}
	ret = test_by_light(fabric, target, search, &hold);
	release_hold(fabric, &hold);
	return ret;
}

/* Mark a part after its test, unless the test gave no verdict. Caller holds fabric->lock. */
static void mark_tested(struct morph_fabric *fabric, const struct morph_culprit *target, int ret)
{
	if (!ret || ret == MORPH_TEST_FAILED)
		morph_health_set(fabric, target, ret ? MORPH_HEALTH_FAILED : MORPH_HEALTH_OK, 0);
}

/*
 * Test all dead or suspect lanes of a port, or one lane if there is none, and mark each one. Keep
 * the accelerators until the last lane, or a waiting tenant would end the test. Return as
 * morph_test_run(), for the worst lane.
 */
static int test_port(struct morph_fabric *fabric, const struct morph_culprit *target)
{
	const struct optics_state *ledger = ledger_of(fabric)->state;
	struct morph_culprit lane = *target;
	struct hold hold = {};
	int ret, failed = 0;
	u64 left;

	mutex_lock(&fabric->lock);
	left = target->part == MORPH_PART_LASER ? ledger->tx_dead[target->index] :
						  ledger->rx_dead[target->index];
	left |= morph_suspect_lanes(fabric, target->part, target->index);
	mutex_unlock(&fabric->lock);
	do {
		lane.lanes = left;
		ret = test_by_light(fabric, &lane, NULL, &hold);
		if (ret && ret != MORPH_TEST_FAILED)
			break;
		mutex_lock(&fabric->lock);
		mark_tested(fabric, &lane, ret);
		mutex_unlock(&fabric->lock);
		failed |= ret;
		left &= ~lane.lanes;
	} while (left);
	release_hold(fabric, &hold);
	return failed ? failed : ret;
}

static void test_work(struct work_struct *work)
{
	struct morph_txn *txn = container_of(work, struct morph_txn, run_work);
	struct morph_fabric *fabric = txn->fabric;
	struct morph_culprit *target = &txn->target;
	int ret;

	ret = is_port(target) ? test_port(fabric, target) :
				morph_test_run(fabric, target, txn->accept, NULL);
	mutex_lock(&fabric->lock);
	/* A signal during the test overrides its result. */
	if (!ret && target->part == MORPH_PART_ACCELERATOR &&
	    ledger_of(fabric)->chips[target->index].heartbeat_lost)
		ret = MORPH_TEST_FAILED;
	if (!ret && target->part == MORPH_PART_ACCELERATOR)
		ledger_of(fabric)->chips[target->index].hold_until_ns = 0;
	if (!is_port(target))
		mark_tested(fabric, target, ret);
	if (ret == MORPH_TEST_FAILED) {
		ret = morph_refuse(&txn->refusal, -EIO, MORPH_REASON_HARDWARE, target->part,
				   target->index, "it did not pass the test");
	} else if (ret == -EBUSY) {
		morph_refuse(&txn->refusal, ret, MORPH_REASON_STATE, target->part, target->index,
			     "it is in use, or no idle accelerators can send light through it");
	} else if (ret == -ENXIO) {
		morph_identity_refuse(fabric, target->index, &txn->refusal);
	} else if (ret && ret != -ENODEV && ret != -ENOMEM) {
		morph_refuse(&txn->refusal, ret, MORPH_REASON_HARDWARE, target->part,
			     target->index,
			     "the driver could not test it: the device answered %d", ret);
	}
	morph_txn_end(txn, ret ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_COMMITTED, ret);
	mutex_unlock(&fabric->lock);
	morph_txn_put(txn);
	put_device(&fabric->dev);
}

int morph_health_test(struct morph_fabric *fabric, u32 part, u32 index, bool accept, u32 *id,
		      struct morph_refusal *refusal)
{
	struct morph_txn *txn;
	int ret;

	ret = morph_health_check_part(fabric, part, index, refusal);
	if (ret)
		return ret;
	if (accept && part != MORPH_PART_ACCELERATOR)
		return morph_refuse(refusal, -EOPNOTSUPP, MORPH_REASON_ARGUMENT, part, index,
				    "accept is only valid for accelerators: other parts have no identity");
	txn = morph_txn_alloc_bare(fabric, 0, GFP_KERNEL_ACCOUNT);
	if (!txn)
		return -ENOMEM;
	txn->kind = morph_txn_kinds[MORPH_TXN_TEST];
	txn->target = (struct morph_culprit){ .part = part, .index = index };
	txn->accept = accept;
	ret = morph_txn_launch(txn, test_work, id);
	morph_txn_put(txn);
	return ret;
}

int morph_accelerator_set_use(struct morph_fabric *fabric, u32 accelerator, u32 use,
			      struct morph_refusal *refusal)
{
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];
	int ret = 0;

	if (use != MORPH_USE_FREE && use != MORPH_USE_SPARE)
		return morph_refuse_numbers(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0, 0, use,
					    "use may be set to 0 (free) or 1 (spare), not {need}");
	mutex_lock(&fabric->lock);
	if (chip->use == MORPH_USE_HELD) {
		ret = morph_refuse_numbers(refusal, -EBUSY, MORPH_REASON_ACCELERATOR_HELD,
					   MORPH_PART_ACCELERATOR, accelerator, 0, 0,
					   "accelerator {index} belongs to a slice");
	} else {
		chip->spare = use == MORPH_USE_SPARE;
		chip->use = use;
		/* Move it from the list of its old use to that of its new use. */
		morph_chip_update(fabric, accelerator);
		morph_protection_touch_chip(fabric, accelerator);
		fabric->seq++;
		morph_repair_recover(fabric, MORPH_FREED_ACCELERATORS);
		morph_report_accelerator_changed(fabric, accelerator);
	}
	mutex_unlock(&fabric->lock);
	return ret;
}

int morph_accelerator_set_pci(struct morph_fabric *fabric, u32 accelerator, const char *pci,
			      struct morph_refusal *refusal)
{
	struct morph_chip *chip = &ledger_of(fabric)->chips[accelerator];
	unsigned int domain, bus, device, function;
	u64 serial;
	char end;

	if (*pci && sscanf(pci, "%4x:%2x:%2x.%1u%c", &domain, &bus, &device, &function, &end) != 4)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "pci must look like 0000:3b:00.0, or be empty");
	serial = morph_identity_serial(pci);
	mutex_lock(&fabric->lock);
	/* With another address, the device at that address becomes the known one. */
	if (strcmp(chip->identity.pci, pci)) {
		memset(chip->identity.pci, 0, MORPH_PCI_BYTES);
		strscpy(chip->identity.pci, pci, MORPH_PCI_BYTES);
		chip->serial = serial;
		chip->removed = false;
		chip->stranger = false;
	}
	fabric->seq++;
	morph_report_accelerator_changed(fabric, accelerator);
	mutex_unlock(&fabric->lock);
	return 0;
}
