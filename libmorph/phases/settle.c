// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Assignment of circuits to groups. Groups with a ready operation come first, in the order in which
 * they became ready; then announced groups. A group takes all of its circuits at once, if none is
 * busy or being set. A ready group that cannot take them claims them, and later groups leave
 * claimed circuits alone. Busy circuits become free, and circuits being set become lit, so the
 * first group always goes on in the end. Then the next group is the first.
 */
#include "phases.h"

static uint32_t domain_of(const struct morph_phases *phases, const struct link *link)
{
	return phases->scope == MORPH_DELAY_FABRIC_SCOPE ? 0 : link->ends.plane;
}

static bool ports_alone(const struct morph_phases *phases)
{
	return phases->scope == MORPH_DELAY_PORT_SCOPE;
}

static void act(struct morph_phases *phases, uint32_t number, uint32_t kind)
{
	struct group *group = &phases->groups.list[number];

	if (group->unread[kind])
		return;
	group->unread[kind] = true;
	phases->acts.list[phases->acts.count++] =
		(struct phase_act){ .kind = kind, .group = number };
}

/* ------------------------------------------------------------------ looking */

/* What a group lacks. */
struct need {
	bool dark; /* it lacks some circuits */
	bool setting; /* some of its circuits are being set */
	bool claimed; /* an earlier group claims ports */
	bool awaited; /* an earlier group waits until planes are idle */
	bool taken; /* its missing circuits are busy, or being set for another group */
};

static void look_at_port(const struct morph_phases *phases, const struct port *port,
			 uint32_t number, struct need *need)
{
	const struct link *link = &phases->links.list[number];

	if (port->pass == phases->pass && port->claim != number)
		need->claimed = true;
	if (link->light == DARK && port->link != NOTHING) {
		const struct link *other = &phases->links.list[port->link];

		need->taken |= other->users || other->light == SETTING;
	}
}

static void look_at_domain(const struct morph_phases *phases, const struct link *link,
			   struct need *need)
{
	const struct domain *domain = &phases->domains[domain_of(phases, link)];

	need->awaited |= domain->pass == phases->pass;
	need->setting |= domain->changes > 0;
	need->taken |= link->light == DARK && domain->users;
}

static struct need look(const struct morph_phases *phases, const struct group *group)
{
	struct need need = { 0 };

	for (uint32_t at = 0; at < group->links.count; at++) {
		uint32_t number = group->links.list[at];
		const struct link *link = &phases->links.list[number];

		need.dark |= link->light == DARK;
		need.setting |= link->light == SETTING;
		look_at_port(phases, lm_phase_leaves(phases, link), number, &need);
		look_at_port(phases, lm_phase_reaches(phases, link), number, &need);
		if (!ports_alone(phases))
			look_at_domain(phases, link, &need);
	}
	return need;
}

static void claim_port(const struct morph_phases *phases, struct port *port, uint32_t number)
{
	/* An earlier group can have claimed it. */
	if (port->pass == phases->pass)
		return;
	port->pass = phases->pass;
	port->claim = number;
}

static void claim(struct morph_phases *phases, const struct group *group)
{
	for (uint32_t at = 0; at < group->links.count; at++) {
		uint32_t number = group->links.list[at];
		const struct link *link = &phases->links.list[number];

		claim_port(phases, lm_phase_leaves(phases, link), number);
		claim_port(phases, lm_phase_reaches(phases, link), number);
		if (!ports_alone(phases))
			phases->domains[domain_of(phases, link)].pass = phases->pass;
	}
}

/* ----------------------------------------------------------------- changing */

static void darken(struct morph_phases *phases, struct group *group, uint32_t number)
{
	struct link *link;

	if (number == NOTHING)
		return;
	link = &phases->links.list[number];
	link->light = DARK;
	lm_phase_leaves(phases, link)->link = NOTHING;
	lm_phase_reaches(phases, link)->link = NOTHING;
	group->going[group->goes++] = number;
}

static void set(struct morph_phases *phases, struct group *group, uint32_t number)
{
	struct link *link = &phases->links.list[number];

	darken(phases, group, lm_phase_leaves(phases, link)->link);
	darken(phases, group, lm_phase_reaches(phases, link)->link);
	link->light = SETTING;
	lm_phase_leaves(phases, link)->link = number;
	lm_phase_reaches(phases, link)->link = number;
	phases->domains[domain_of(phases, link)].changes++;
	group->coming[group->comes++] = number;
}

static void change(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];

	group->comes = 0;
	group->goes = 0;
	for (uint32_t at = 0; at < group->links.count; at++)
		if (phases->links.list[group->links.list[at]].light == DARK)
			set(phases, group, group->links.list[at]);
	group->changing = true;
	phases->counts.changes++;
	phases->counts.set += group->comes;
	phases->counts.dark += group->goes;
	act(phases, number, MORPH_PHASE_CHANGE);
}

void lm_phase_changed(struct morph_phases *phases, struct group *group, bool lit)
{
	for (uint32_t at = 0; at < group->comes; at++) {
		struct link *link = &phases->links.list[group->coming[at]];

		link->light = lit ? LIT : DARK;
		phases->domains[domain_of(phases, link)].changes--;
		if (lit)
			continue;
		lm_phase_leaves(phases, link)->link = NOTHING;
		lm_phase_reaches(phases, link)->link = NOTHING;
	}
	group->changing = false;
	phases->counts.failed += !lit;
}

/* ----------------------------------------------------------------- going on */

static void go(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];

	for (uint32_t at = 0; at < group->count; at++)
		group->members[at].part = RUNNING;
	group->near = 0;
	group->begun = 0;
	group->running = group->count;
	group->queue = NO_QUEUE;
	group->counter = group->members[0].counter;
	phases->counts.stall_ns += phases->now_ns - group->ready_ns;
	for (uint32_t at = 0; at < group->links.count; at++) {
		struct link *link = &phases->links.list[group->links.list[at]];

		link->users++;
		phases->domains[domain_of(phases, link)].users++;
	}
	act(phases, number, MORPH_PHASE_GO);
}

void lm_phase_release(struct morph_phases *phases, struct group *group)
{
	for (uint32_t at = 0; at < group->links.count; at++) {
		struct link *link = &phases->links.list[group->links.list[at]];

		link->users--;
		phases->domains[domain_of(phases, link)].users--;
	}
}

/* Count each operation once: at the first look, and at its first wait. */
static void count_need(struct morph_phases *phases, struct group *group, struct need need,
		       bool blocked)
{
	if (!group->looked && need.dark)
		phases->counts.unforeseen++;
	else if (!group->looked && group->ahead)
		phases->counts.foreseen++;
	phases->counts.waits += blocked && !group->waited;
	group->looked = true;
	group->ahead = false;
	group->waited |= blocked;
}

static bool can_change(const struct group *group, struct need need)
{
	return need.dark && !need.claimed && !need.taken && !group->changing;
}

/*
 * Returns whether the operation goes on. A group that waits for a plane under change may change it
 * too. Each group does so at most once before it goes on, so the first group still goes on in the
 * end.
 */
static bool settle_ready(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];
	struct need need = { 0 };
	bool changes, goes;

	if (phases->mode != MORPH_PHASE_UNCONTROLLED)
		need = look(phases, group);
	changes = can_change(group, need);
	goes = !need.dark && !need.setting && !need.claimed && !need.awaited;
	count_need(phases, group, need, !changes && !goes && (need.dark || !need.setting));
	if (changes)
		change(phases, number);
	if (goes)
		go(phases, number);
	else
		claim(phases, group);
	return goes;
}

/* Returns whether nothing is left to do. */
static bool settle_wanted(struct morph_phases *phases, uint32_t number)
{
	struct group *group = &phases->groups.list[number];
	struct need need = look(phases, group);

	if (need.dark && (need.awaited || !can_change(group, need)))
		return false;
	if (need.dark) {
		change(phases, number);
		group->ahead = true;
	}
	group->queue = NO_QUEUE;
	return true;
}

void lm_phase_settle(struct morph_phases *phases)
{
	uint32_t kept = 0;

	phases->pass++;
	for (uint32_t at = 0; at < phases->ready.count; at++)
		if (!settle_ready(phases, phases->ready.list[at]))
			phases->ready.list[kept++] = phases->ready.list[at];
	phases->ready.count = kept;
	kept = 0;
	for (uint32_t at = 0; at < phases->wanted.count; at++)
		if (!settle_wanted(phases, phases->wanted.list[at]))
			phases->wanted.list[kept++] = phases->wanted.list[at];
	phases->wanted.count = kept;
}
