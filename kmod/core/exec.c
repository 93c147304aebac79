// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making the light follow a staged transaction: program, verify by reading
 * receivers back, publish; or roll back, and prove that too.
 *
 * The one who runs here has entered the slice, so its circuits, and the lasers of
 * its accelerators, are its own. fabric->lock is dropped while the device works and
 * taken for each look at the ledger.
 *
 * Order of a commit:
 *   1. elements that no lit circuit of the transaction uses     (make)
 *   2. lasers of the circuits that must yield off, then the
 *      elements that these share with their successors          (break)
 *   3. settle; the new receivers must be dark
 *   4. lasers of the new circuits on; relock; they must be lit
 *      and every receiver that the turned elements reach must be as it was
 *   5. lasers of the other old circuits off; they must be dark
 *   6. publish, then park what nobody uses any more
 */
#include "core.h"
#include "trace.h"

struct exec {
	struct morph_txn *txn;
	struct morph_fabric *fabric;
	u32 early, late;	/* settings in txn->settings: first the early, then the late */
	u32 neighbours;		/* readings in txn->reads past those of the items */
	bool told;		/* every element was told its state, without an error */
	bool relight_all;	/* revert of a commit: every old circuit has to come back */
	struct morph_culprit culprit;
};

static u64 phase_end(struct exec *exec, enum morph_phase phase, u64 begin)
{
	u64 now = ktime_get_ns();

	exec->txn->times.phase_ns[phase] += now - begin;
	return now;
}

/* ------------------------------------------------------------------ settings */

/* Settings of new routes that hardware does not have yet. fabric->lock held. */
static u32 collect_new(struct exec *exec, bool late, u32 first)
{
	struct morph_fabric *fabric = exec->fabric;
	u32 n = first, i, h;

	for (i = 0; i < exec->txn->count; i++) {
		const struct morph_route *route = exec->txn->items[i].new;

		if (!route)
			continue;
		for (h = 0; h < route->path.hops_count; h++) {
			u32 element = route->hops[h].element;

			if (element == OPTICS_NONE ||
			    fabric->hw_state[element] == route->hops[h].state)
				continue;
			if (!(fabric->ledger->element_marks[element] & MORPH_MARK_CHANGING) == late)
				continue;
			exec->txn->settings[n].element = element;
			exec->txn->settings[n++].state = route->hops[h].state;
		}
	}
	return n - first;
}

/* Settings that give old routes back the elements which were turned. fabric->lock held. */
static u32 collect_old(struct exec *exec)
{
	u32 n = 0, i, h;

	for (i = 0; i < exec->txn->count; i++) {
		const struct morph_route *route = exec->txn->items[i].old;

		if (!route || route->role != MORPH_ROUTE_SHADOW)
			continue;
		for (h = 0; h < route->path.hops_count; h++) {
			if (route->hops[h].element == OPTICS_NONE || route->links[h].element_held)
				continue;
			exec->txn->settings[n].element = route->hops[h].element;
			exec->txn->settings[n++].state = route->hops[h].state;
		}
	}
	return n;
}

/*
 * Elements of a route that nobody claims any more are to be parked. Until they are,
 * a guard pin holds them in their parking state. fabric->lock held.
 */
static u32 collect_parks(struct morph_fabric *fabric, const struct morph_route *route,
			 struct morph_element_setting *settings, u32 n)
{
	struct optics_state *ledger = fabric->ledger;
	u32 h;

	for (h = 0; h < route->path.hops_count; h++) {
		u32 element = route->hops[h].element;
		u32 park;

		if (element == OPTICS_NONE || ledger->element_pins[element])
			continue;
		park = optics_park_state(fabric->graph, element);
		if (fabric->hw_state[element] == park)
			continue;
		ledger->element_state[element] = park;
		ledger->element_pins[element] = 1;
		settings[n].element = element;
		settings[n++].state = park;
	}
	return n;
}

/*
 * What hardware says about elements that may not have obeyed. Only those that had
 * been told without an error are to blame for it. No lock held.
 */
static void read_elements_back(struct morph_fabric *fabric, struct morph_times *times,
			       struct morph_element_setting *settings, u32 count, bool told)
{
	struct morph_culprit culprit = { .part = MORPH_PART_ELEMENT };
	u32 i, wanted;

	for (i = 0; i < count; i++) {
		struct morph_element_setting one = settings[i];

		wanted = settings[i].state;
		if (morph_hw_get_elements(fabric, times, &one, 1))
			continue;
		mutex_lock(&fabric->lock);
		fabric->hw_state[one.element] = one.state;
		culprit.index = one.element;
		if (told && one.state != wanted)
			morph_health_set(fabric, &culprit, MORPH_HEALTH_FAILED, 0);
		mutex_unlock(&fabric->lock);
	}
}

/* Program elements and remember what they were told. No lock held. */
static int set_elements(struct morph_fabric *fabric, struct morph_times *times,
			struct morph_element_setting *settings, u32 count)
{
	u32 i;
	int ret;

	if (!count)
		return 0;
	ret = morph_hw_set_elements(fabric, times, settings, count);
	if (ret)
		return ret;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		fabric->hw_state[settings[i].element] = settings[i].state;
	mutex_unlock(&fabric->lock);
	return 0;
}

/* Park what collect_parks() has guarded. fabric->lock held, dropped meanwhile. */
static void run_parks(struct morph_fabric *fabric, struct morph_times *times,
		      struct morph_element_setting *settings, u32 count)
{
	u32 i;
	int ret;

	if (!count)
		return;
	mutex_unlock(&fabric->lock);
	ret = set_elements(fabric, times, settings, count);
	if (ret && ret != -ENODEV) {
		/* Once more, for a passing error; then hardware is asked what it did. */
		ret = set_elements(fabric, times, settings, count);
		if (ret)
			read_elements_back(fabric, times, settings, count, false);
	}
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		fabric->ledger->element_pins[settings[i].element]--;
}

/* -------------------------------------------------------------------- lasers */

/* Add a change of one route's lasers to the list. fabric->lock held. */
static u32 add_laser(struct morph_fabric *fabric, struct morph_laser_setting *lasers, u32 n,
		     const struct morph_route *route, bool on)
{
	u64 *lit = &fabric->tx_on[route->path.tx];

	if (on)
		*lit |= route->path.lanes;
	else
		*lit &= ~route->path.lanes;
	lasers[n].port = route->path.tx;
	lasers[n].lanes = *lit;
	return n + 1;
}

enum laser_step {
	BREAK_OLD,	/* old circuits that must yield first */
	LIGHT_NEW,
	DARKEN_OLD,	/* the other old circuits */
	DARKEN_NEW,	/* roll back */
	RELIGHT_OLD,
};

/* The route whose lasers a step switches for this item, or NULL. */
static const struct morph_route *laser_route(const struct exec *exec,
					     const struct morph_item *item, enum laser_step step)
{
	switch (step) {
	case BREAK_OLD:
		return item->broken_first ? item->old : NULL;
	case DARKEN_OLD:
		return item->broken_first ? NULL : item->old;
	case LIGHT_NEW:
	case DARKEN_NEW:
		return item->new;
	case RELIGHT_OLD:
		if (item->dead || !(item->broken_first || exec->relight_all))
			return NULL;
		return item->old;
	}
	return NULL;
}

/* Returns how many settings were submitted, or a negative errno. No lock held. */
static int set_lasers(struct exec *exec, enum laser_step step)
{
	bool on = step == LIGHT_NEW || step == RELIGHT_OLD;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u64 now = ktime_get_ns();
	u32 n = 0, i;
	int ret;

	mutex_lock(&fabric->lock);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		const struct morph_route *route = laser_route(exec, item, step);

		if (!route)
			continue;
		n = add_laser(fabric, txn->lasers, n, route, on);
		if (step == BREAK_OLD && !item->dark_since_ns)
			item->dark_since_ns = now;
		if (step == LIGHT_NEW)
			item->circuit->dark = false;
	}
	mutex_unlock(&fabric->lock);
	ret = morph_hw_set_lasers(fabric, &txn->times, txn->lasers, n);
	return ret ? ret : n;
}

/* ---------------------------------------------------------------- read back */

/* Read the receivers of the items' routes that a step has switched. */
static int read_items(struct exec *exec, enum laser_step step, u32 *count)
{
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = laser_route(exec, &txn->items[i], step);

		if (!route)
			continue;
		txn->reads[n++] = (struct morph_receiver_reading){
			.port = route->path.rx,
			.lanes = route->path.lanes,
		};
	}
	*count = n;
	return morph_hw_get_receivers(exec->fabric, &txn->times, txn->reads, n);
}

/* Does a receiver see what it shall see of a route? */
static bool reading_lit(struct morph_fabric *fabric, const struct morph_receiver_reading *reading,
			const struct morph_route *route)
{
	s32 window = fabric->graph->params.window_mdb;

	return reading->lit == reading->lanes && reading->locked == reading->lanes &&
	       reading->min_mdbm >= route->verdict.power_mdbm - window &&
	       reading->max_mdbm <= route->verdict.power_mdbm + window;
}

/* The first item whose receiver is not as it shall be after a step, or MORPH_ANY. */
static u32 first_wrong(struct exec *exec, enum laser_step step, bool lit)
{
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = laser_route(exec, &txn->items[i], step);

		if (!route)
			continue;
		if (lit ? !reading_lit(exec->fabric, &txn->reads[n], route) : txn->reads[n].lit)
			return i;
		n++;
	}
	return MORPH_ANY;
}

/*
 * Read until every receiver of the step is lit, or dark, but not longer than the
 * profile's deadline allows: light that is late is a fault.
 */
static int verify(struct exec *exec, enum laser_step step, bool lit, u32 *wrong)
{
	const struct optics_params *params = &exec->fabric->graph->params;
	u64 pause = max(max(params->settle_ns, params->relock_ns) / 4, 1000ULL);
	u64 left = params->deadline_ns;
	u32 count;
	int ret;

	for (;;) {
		ret = read_items(exec, step, &count);
		if (ret)
			return ret;
		*wrong = first_wrong(exec, step, lit);
		if (*wrong == MORPH_ANY)
			return 0;
		if (left < pause)
			return -EIO;
		left -= pause;
		ret = morph_hw_wait(exec->fabric, pause);
		if (ret)
			return ret;
		pause *= 2;
	}
}

/* Remember what was read, for those who look at the circuits. fabric->lock held. */
static void note_power(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	u64 now = ktime_get_boottime_ns();
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		if (!txn->items[i].new)
			continue;
		txn->items[i].circuit->power_mdbm = txn->reads[n++].min_mdbm;
		txn->items[i].circuit->last_verified_ns = now;
	}
}

/* --------------------------------------------------------------- neighbours */

/* A lit receiver of somebody who has no part in this change: it must not notice. */
static void add_neighbour(struct exec *exec, u32 rx)
{
	struct morph_fabric *fabric = exec->fabric;
	struct morph_txn *txn = exec->txn;
	u32 guide = fabric->graph->rx_guide[rx] >> 1;
	u32 first = 2 * txn->count, i;
	struct morph_link *link;
	u64 lanes = 0;

	hlist_for_each_entry(link, &fabric->guide_routes[guide], node) {
		const struct morph_circuit *circuit = link->route->circuit;

		if (link->route->role == MORPH_ROUTE_LIVE && circuit && !circuit->pending &&
		    circuit->state == MORPH_CIRCUIT_LIT && !circuit->dark)
			lanes |= link->route->path.lanes;
	}
	if (!lanes || first + exec->neighbours >= txn->reads_room)
		return;
	for (i = 0; i < exec->neighbours; i++)
		if (txn->reads[first + i].port == rx)
			return;
	txn->reads[first + exec->neighbours++] = (struct morph_receiver_reading){
		.port = rx,
		.lanes = lanes,
	};
}

/* Follow light that leaves an element at a port, to the receiver if there is one. */
static void follow(struct exec *exec, u32 element, u32 port)
{
	const struct optics_graph *graph = exec->fabric->graph;
	const u8 *state = exec->fabric->ledger->element_state;
	u32 steps;

	for (steps = 0; steps < OPTICS_MAX_HOPS; steps++) {
		u32 code = graph->port_guide[graph->elements[element].first_port + port];
		const struct optics_end *end;
		u8 next;

		if (code == OPTICS_NONE)
			return;
		end = &graph->guides[code >> 1].end[!(code & 1)];
		if (end->type == MORPH_END_RX)
			add_neighbour(exec, end->index * graph->params.planes + end->port);
		if (end->type != MORPH_END_ELEMENT)
			return;
		next = optics_joined(graph, end->index, state[end->index], end->port);
		if (next == MORPH_PORT_NONE)
			return;
		element = end->index;
		port = next;
	}
}

/* Every lit receiver that a turned element reaches. fabric->lock held. */
static void collect_neighbours(struct exec *exec)
{
	const struct optics_graph *graph = exec->fabric->graph;
	u32 i, port;

	exec->neighbours = 0;
	for (i = 0; i < exec->early + exec->late; i++) {
		u32 element = exec->txn->settings[i].element;

		for (port = 0; port < graph->kinds[graph->elements[element].kind].ports; port++)
			follow(exec, element, port);
	}
}

/* -EIO when somebody else's light has suffered. No lock held. */
static int verify_neighbours(struct exec *exec)
{
	struct morph_receiver_reading *reads = exec->txn->reads + 2 * exec->txn->count;
	u32 i;
	int ret;

	ret = morph_hw_get_receivers(exec->fabric, &exec->txn->times, reads, exec->neighbours);
	if (ret)
		return ret;
	for (i = 0; i < exec->neighbours; i++)
		if (reads[i].locked != reads[i].lanes)
			return -EIO;
	return 0;
}

/* ---------------------------------------------------------------- the steps */

/* Who is to blame for an item that is not lit. Fills refusal and culprit. No lock held. */
static void blame(struct exec *exec, u32 index)
{
	struct morph_item *item = &exec->txn->items[index];
	struct morph_fabric *fabric = exec->fabric;

	morph_health_diagnose(fabric, &item->new->path, item->new_src, &item->culprit);
	exec->culprit = item->culprit;
	mutex_lock(&fabric->lock);
	morph_health_set(fabric, &item->culprit,
			 item->culprit.part == MORPH_PART_GUIDE ? MORPH_HEALTH_QUARANTINED :
								  MORPH_HEALTH_FAILED, 0);
	mutex_unlock(&fabric->lock);
	item->change.status = -EIO;
	item->change.reason = MORPH_REASON_HARDWARE;
	item->change.part = item->culprit.part;
	item->change.index = item->culprit.index;
	morph_refuse(&exec->txn->refusal, -EIO, MORPH_REASON_HARDWARE, item->culprit.part,
		     item->culprit.index, "change %u: the light did not arrive", index);
	exec->txn->refusal.item = index;
}

static int refuse_device(struct exec *exec, int error, const char *step)
{
	return morph_refuse(&exec->txn->refusal, error,
			    error == -ETIMEDOUT ? MORPH_REASON_TIMEOUT : MORPH_REASON_HARDWARE, 0, 0,
			    "the device failed to %s: error %d", step, error);
}

/* Steps 1 to 3. */
static int exec_program(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	u64 begin = ktime_get_ns();
	u32 wrong;
	int ret;

	ret = set_elements(exec->fabric, &txn->times, txn->settings, exec->early);
	if (ret)
		return refuse_device(exec, ret, "set elements");
	ret = set_lasers(exec, BREAK_OLD);
	if (ret < 0)
		return refuse_device(exec, ret, "switch lasers off");
	ret = set_elements(exec->fabric, &txn->times, txn->settings + exec->early, exec->late);
	if (ret)
		return refuse_device(exec, ret, "set elements");
	exec->told = true;
	begin = phase_end(exec, MORPH_PHASE_PROGRAM, begin);
	if (exec->early + exec->late) {
		txn->times.modelled_ns += exec->fabric->graph->params.settle_ns;
		ret = morph_hw_wait(exec->fabric, exec->fabric->graph->params.settle_ns);
		begin = phase_end(exec, MORPH_PHASE_SETTLE, begin);
		if (ret)
			return refuse_device(exec, ret, "settle");
	}
	ret = verify(exec, LIGHT_NEW, false, &wrong);
	phase_end(exec, MORPH_PHASE_VERIFY, begin);
	if (!ret)
		return 0;
	if (ret != -EIO)
		return refuse_device(exec, ret, "read receivers");
	txn->refusal.item = wrong;
	return morph_refuse(&txn->refusal, -EIO, MORPH_REASON_HARDWARE, MORPH_PART_RECEIVER,
			    txn->items[wrong].new->path.rx,
			    "change %u: the receiver sees light before a laser is on", wrong);
}

/* Step 4. */
static int exec_light(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	u64 begin = ktime_get_ns();
	u32 wrong;
	int ret;

	ret = set_lasers(exec, LIGHT_NEW);
	begin = phase_end(exec, MORPH_PHASE_PROGRAM, begin);
	if (ret < 0)
		return refuse_device(exec, ret, "switch lasers on");
	if (ret) {
		txn->times.modelled_ns += exec->fabric->graph->params.relock_ns;
		ret = morph_hw_wait(exec->fabric, exec->fabric->graph->params.relock_ns);
		begin = phase_end(exec, MORPH_PHASE_RELOCK, begin);
		if (ret)
			return refuse_device(exec, ret, "lock");
	}
	ret = verify(exec, LIGHT_NEW, true, &wrong);
	if (!ret) {
		ret = verify_neighbours(exec);
		phase_end(exec, MORPH_PHASE_VERIFY, begin);
		if (ret)
			morph_refuse(&txn->refusal, ret, MORPH_REASON_HARDWARE, 0, 0,
				     "a receiver that has no part in this change was disturbed");
		return ret;
	}
	phase_end(exec, MORPH_PHASE_VERIFY, begin);
	if (ret != -EIO)
		return refuse_device(exec, ret, "read receivers");
	blame(exec, wrong);
	return -EIO;
}

/* A laser that does not go off may not be used again. No lock held. */
static void quarantine_lit(struct exec *exec, enum laser_step step)
{
	struct morph_txn *txn = exec->txn;
	u32 n = 0, i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_route *route = laser_route(exec, &txn->items[i], step);
		struct morph_culprit culprit = { .part = MORPH_PART_LASER };

		if (!route)
			continue;
		culprit.index = route->path.tx;
		culprit.lanes = txn->reads[n++].lit;
		if (!culprit.lanes)
			continue;
		mutex_lock(&exec->fabric->lock);
		morph_health_set(exec->fabric, &culprit, MORPH_HEALTH_QUARANTINED, 0);
		mutex_unlock(&exec->fabric->lock);
	}
}

/* Step 5. The new light is there: what fails now is quarantined, not rolled back. */
static void exec_darken_old(struct exec *exec)
{
	u64 begin = ktime_get_ns();
	u32 wrong;
	int ret;

	ret = set_lasers(exec, DARKEN_OLD);
	begin = phase_end(exec, MORPH_PHASE_PROGRAM, begin);
	if (!ret)
		return;			/* none */
	if (ret < 0)
		set_lasers(exec, DARKEN_OLD);
	if (verify(exec, DARKEN_OLD, false, &wrong) == -EIO)
		quarantine_lit(exec, DARKEN_OLD);
	phase_end(exec, MORPH_PHASE_VERIFY, begin);
}

/* ------------------------------------------------------------------ publish */

static void publish_item(struct exec *exec, struct morph_item *item)
{
	struct morph_circuit *circuit = item->circuit;
	u64 now = ktime_get_ns();

	if (item->change.op == MORPH_CHANGE_ADD) {
		circuit->listed = true;
		circuit->slice->circuits_count++;
	}
	if (!item->new) {
		circuit->listed = false;
		circuit->slice->circuits_count--;
		return;
	}
	circuit->route = item->new;
	circuit->lanes_count = optics_weight64(item->new->path.lanes);
	circuit->state = MORPH_CIRCUIT_LIT;
	circuit->dark_ns = item->dark_since_ns ? now - item->dark_since_ns : 0;
	item->change.dark_ns = circuit->dark_ns;
	item->change.status = 0;
	morph_plan_touch_route(exec->fabric, item->new);
}

static void publish(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	bool sound = true;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		publish_item(exec, &txn->items[i]);
		/* Hardware may have failed, or light gone out, since it was verified. */
		if (txn->items[i].new)
			sound &= !txn->items[i].circuit->dark &&
				 morph_route_sound(fabric, txn->items[i].new);
	}
	fabric->seq++;
	txn->seq = fabric->seq;
	morph_stat(fabric, MORPH_STAT_PUBLISHES);
	morph_plan_touch_slice(txn->slice);
	if (!sound)
		morph_repair_kick(txn->slice, 0);
	morph_netlink_slice(txn->slice);
}

/* Let go of the old routes and of circuits that were removed. fabric->lock held. */
static void drop_old(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	u32 parks = 0, i;

	morph_txn_unmark(txn);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		item->circuit->pending = NULL;
		item->new = NULL;		/* the circuit's now */
		if (!item->old)
			continue;
		morph_route_release(fabric, item->old);
		parks = collect_parks(fabric, item->old, txn->settings, parks);
		morph_plan_touch_route(fabric, item->old);
		if (item->change.op == MORPH_CHANGE_REMOVE) {
			item->circuit->route = item->old;
			morph_circuit_drop(item->circuit);
			item->circuit = NULL;
		} else {
			if (txn->kind != MORPH_TXN_REPAIR)
				morph_user_uncharge(txn->slice->user, MORPH_RES_LANES,
						    optics_weight64(item->old->path.lanes));
			morph_route_unlist(item->old);
			morph_route_free(item->old);
		}
		item->old = NULL;
	}
	txn->staged = false;
	run_parks(fabric, &txn->times, txn->settings, parks);
	morph_repair_recover(fabric);
}

/* ---------------------------------------------------------------- roll back */

/* Put the old light back. Returns 0 when read-back says that it is there. No lock held. */
static int relight(struct exec *exec)
{
	const struct optics_params *params = &exec->fabric->graph->params;
	struct morph_fabric *fabric = exec->fabric;
	struct morph_times *times = &exec->txn->times;
	u32 count, wrong;
	int ret;

	if (set_lasers(exec, DARKEN_NEW) < 0)
		set_lasers(exec, DARKEN_NEW);
	mutex_lock(&fabric->lock);
	count = collect_old(exec);
	mutex_unlock(&fabric->lock);
	ret = set_elements(fabric, times, exec->txn->settings, count);
	if (ret)
		ret = set_elements(fabric, times, exec->txn->settings, count);
	if (ret && ret != -ENODEV)
		read_elements_back(fabric, times, exec->txn->settings, count, false);
	if (count)
		morph_hw_wait(fabric, params->settle_ns);
	ret = set_lasers(exec, RELIGHT_OLD);
	if (ret < 0)
		ret = set_lasers(exec, RELIGHT_OLD);
	if (ret > 0)
		morph_hw_wait(fabric, params->relock_ns);
	return verify(exec, RELIGHT_OLD, true, &wrong);
}

/* Which old circuits are lit after relight(): its last readings tell. */
static bool old_is_lit(struct exec *exec, u32 index, u32 *n)
{
	struct morph_item *item = &exec->txn->items[index];

	if (!laser_route(exec, item, RELIGHT_OLD))
		return !item->dead;	/* it was never touched */
	return reading_lit(exec->fabric, &exec->txn->reads[(*n)++], item->old);
}

/* Settle the ledger after relight(). fabric->lock held. Returns whether all is as before. */
static bool restore(struct exec *exec, int relit)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	bool whole = true;
	u32 n = 0, i;

	morph_txn_unmark(txn);
	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			morph_route_release(fabric, txn->items[i].new);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];
		struct morph_circuit *circuit = item->circuit;
		bool lit;

		if (!item->old)
			continue;
		morph_route_release(fabric, item->old);
		morph_route_reclaim(fabric, item->old);
		circuit->route = item->old;
		if (!circuit->listed)
			circuit->slice->circuits_count++;
		circuit->listed = true;
		lit = (!relit || relit == -EIO) && old_is_lit(exec, i, &n);
		if (relit && relit != -EIO)
			lit = !item->dead && !laser_route(exec, item, RELIGHT_OLD);
		circuit->state = lit ? MORPH_CIRCUIT_LIT : MORPH_CIRCUIT_FAILED;
		circuit->dark = !lit;
		if (!lit && !item->dead)
			whole = false;
	}
	return whole;
}

/* The routes that were not to be: their elements are parked, their memory goes. */
static void drop_new(struct morph_txn *txn)
{
	struct morph_fabric *fabric = txn->fabric;
	u32 parks = 0, i;

	for (i = 0; i < txn->count; i++)
		if (txn->items[i].new)
			parks = collect_parks(fabric, txn->items[i].new, txn->settings, parks);
	run_parks(fabric, &txn->times, txn->settings, parks);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		item->circuit->pending = NULL;
		if (item->new) {
			if (txn->kind != MORPH_TXN_REPAIR)
				morph_user_uncharge(txn->slice->user, MORPH_RES_LANES,
						    optics_weight64(item->new->path.lanes));
			morph_route_unlist(item->new);
			morph_route_free(item->new);
			item->new = NULL;
		}
		if (item->change.op == MORPH_CHANGE_ADD) {
			item->circuit->route = NULL;
			if (item->circuit->listed)
				item->circuit->slice->circuits_count--;
			item->circuit->listed = false;
			morph_circuit_drop(item->circuit);
		}
		item->circuit = NULL;
		item->old = NULL;
	}
	txn->staged = false;
}

/* Circuits that could not be brought back. fabric->lock held. */
static void tell_broken(struct morph_txn *txn)
{
	struct morph_event event;
	u32 i;

	for (i = 0; i < txn->count; i++) {
		const struct morph_circuit *circuit = txn->items[i].circuit;

		if (!txn->items[i].old || circuit->state != MORPH_CIRCUIT_FAILED ||
		    txn->items[i].dead)
			continue;
		morph_event_init(&event, txn->slice, MORPH_EVENT_CIRCUIT_FAILED);
		event.circuit = circuit->id;
		event.part = txn->refusal.part;
		event.index = txn->refusal.index;
		morph_event_queue(txn->slice, &event);
	}
}

/* Everything back as it was, proven. fabric->lock held, dropped meanwhile. */
static void roll_back(struct exec *exec)
{
	struct morph_txn *txn = exec->txn;
	struct morph_fabric *fabric = exec->fabric;
	bool whole;
	int relit;

	mutex_unlock(&fabric->lock);
	relit = relight(exec);
	mutex_lock(&fabric->lock);
	whole = restore(exec, relit);
	fabric->seq++;
	txn->outcome = whole ? MORPH_OUTCOME_ROLLED_BACK : MORPH_OUTCOME_BROKEN;
	if (!whole) {
		txn->slice->generation++;
		tell_broken(txn);
		morph_repair_kick(txn->slice, 0);
	}
	drop_new(txn);
}

/* -------------------------------------------------------------- entry points */

static void exec_begin(struct exec *exec, struct morph_txn *txn)
{
	u32 i;

	*exec = (struct exec){ .txn = txn, .fabric = txn->fabric };
	txn->outcome = MORPH_OUTCOME_RUNNING;
	exec->early = collect_new(exec, false, 0);
	exec->late = collect_new(exec, true, exec->early);
	collect_neighbours(exec);
	for (i = 0; i < txn->count; i++) {
		struct morph_item *item = &txn->items[i];

		if (item->old && !item->dead)
			item->circuit->state = MORPH_CIRCUIT_CHANGING;
		if (item->new)
			morph_route_list(txn->fabric, item->new);
	}
}

/**
 * morph_exec_commit() - make the light as a staged transaction wants it
 * @txn: staged; its slice has been entered
 * @keep_old: keep the old configuration's claims until it is confirmed
 *
 * Leaves txn->outcome: COMMITTED, ROLLED_BACK or BROKEN, and except with @keep_old
 * no claims but those of the light that shines.
 *
 * Context: fabric->lock held, dropped while the device works.
 * Return: 0 or a negative errno.
 */
int morph_exec_commit(struct morph_txn *txn, bool keep_old)
{
	struct morph_fabric *fabric = txn->fabric;
	struct exec exec;
	int ret;

	lockdep_assert_held(&fabric->lock);
	exec_begin(&exec, txn);
	mutex_unlock(&fabric->lock);
	ret = exec_program(&exec);
	if (!ret)
		ret = exec_light(&exec);
	if (ret && ret != -ENODEV && !exec.culprit.part)
		read_elements_back(fabric, &txn->times, txn->settings, exec.early + exec.late,
				   exec.told);
	if (!ret) {
		/* Step 5 reads the old receivers: note the new ones' power first. */
		mutex_lock(&fabric->lock);
		note_power(&exec);
		mutex_unlock(&fabric->lock);
		exec_darken_old(&exec);
	}
	mutex_lock(&fabric->lock);
	if (ret) {
		roll_back(&exec);
		return ret;
	}
	publish(&exec);
	txn->outcome = MORPH_OUTCOME_COMMITTED;
	txn->keep_old = keep_old;
	if (!keep_old)
		drop_old(txn);
	return 0;
}

/* The old configuration is not wanted any more. fabric->lock held, dropped meanwhile. */
void morph_exec_confirm(struct morph_txn *txn)
{
	lockdep_assert_held(&txn->fabric->lock);
	drop_old(txn);
	txn->fabric->seq++;
}

/* Back to the old configuration after a commit that kept it. Lock as above. */
int morph_exec_revert(struct morph_txn *txn)
{
	struct exec exec = { .txn = txn, .fabric = txn->fabric, .relight_all = true };

	lockdep_assert_held(&txn->fabric->lock);
	roll_back(&exec);
	morph_netlink_slice(txn->slice);
	if (txn->outcome == MORPH_OUTCOME_ROLLED_BACK)
		return 0;
	return morph_refuse(&txn->refusal, -EIO, MORPH_REASON_HARDWARE, 0, 0,
			    "the old light did not come back");
}

/**
 * morph_exec_darken() - lasers off, verified dark, elements parked
 * @fabric: the fabric
 * @routes: up to MORPH_TEARDOWN_CHUNK routes, still claimed
 * @count: how many
 * @settings: room for MORPH_TEARDOWN_CHUNK * OPTICS_MAX_HOPS settings
 *
 * On return the routes claim nothing; elements that nobody else pins are parked.
 *
 * Context: fabric->lock held, dropped while the device works.
 * Return: 0, or -EIO when a receiver still sees light.
 */
int morph_exec_darken(struct morph_fabric *fabric, struct morph_route **routes, u32 count,
		      struct morph_element_setting *settings)
{
	struct morph_laser_setting lasers[MORPH_TEARDOWN_CHUNK];
	struct morph_receiver_reading reads[MORPH_TEARDOWN_CHUNK];
	u32 n = 0, parks = 0, i;
	int ret;

	lockdep_assert_held(&fabric->lock);
	for (i = 0; i < count; i++)
		n = add_laser(fabric, lasers, n, routes[i], false);
	mutex_unlock(&fabric->lock);
	ret = morph_hw_set_lasers(fabric, NULL, lasers, n);
	if (ret && ret != -ENODEV)
		ret = morph_hw_set_lasers(fabric, NULL, lasers, n);
	for (i = 0; i < count; i++)
		reads[i] = (struct morph_receiver_reading){
			.port = routes[i]->path.rx,
			.lanes = routes[i]->path.lanes,
		};
	if (!ret)
		ret = morph_hw_get_receivers(fabric, NULL, reads, count);
	for (i = 0; i < count && !ret; i++)
		if (reads[i].lit)
			ret = -EIO;
	mutex_lock(&fabric->lock);
	for (i = 0; i < count; i++)
		morph_route_release(fabric, routes[i]);
	for (i = 0; i < count; i++)
		parks = collect_parks(fabric, routes[i], settings, parks);
	run_parks(fabric, NULL, settings, parks);
	return ret;
}
