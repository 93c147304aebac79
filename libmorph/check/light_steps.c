// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that each step has the circuits that the schedule then holds. */
#include "light.h"

#define BY_TIME 2
#define LEAST_NS 1000 /* by time */

struct walk {
	struct light_check *it;
	uint32_t *wanted; /* by plane and sending rank: the receiving rank, or NONE */
	uint32_t *had; /* the same of the preceding step */
	uint32_t *shown,
		*showed; /* by the same: the circuit of this step, and of the preceding one */
	size_t ports;
	uint32_t step;
	uint64_t lit; /* of the preceding step */
};

/*
 * The circuits held at a moment, from the holds set until then. Returns when the last of these is
 * lit.
 */
static uint64_t hold_at(struct walk *walk, uint64_t now)
{
	const struct schedule *schedule = &walk->it->schedule;
	uint64_t lit = now;

	memset(walk->wanted, 0xff, walk->ports * sizeof(uint32_t));
	for (uint32_t at = 0; at < schedule->holds_count && schedule->holds[at].set <= now; at++) {
		const struct hold *hold = &schedule->holds[at];
		const struct part *matching = &schedule->matchings[hold->matching];

		if (hold->set < now && hold->dark <= now)
			continue;
		if (hold->set == now && hold->lit > lit)
			lit = hold->lit;
		for (uint32_t next = 0; next < matching->count; next++) {
			const struct joined *circuit = &schedule->circuits[matching->first + next];

			walk->wanted[(size_t)hold->plane * schedule->ranks + circuit->src] =
				circuit->dst;
		}
	}
	return lit;
}

static int show(struct walk *walk, uint32_t number)
{
	struct light_check *it = walk->it;
	const struct light_circuit *circuit = &it->circuits[number];
	size_t port = (size_t)circuit->src_plane * it->schedule.ranks + circuit->src;

	if (circuit->src_plane >= it->schedule.planes || circuit->dst_plane != circuit->src_plane)
		return ck_wrong(&it->check, EBADMSG, "circuit %u is not on a plane of the schedule",
				number);
	if (walk->wanted[port] != circuit->dst)
		return ck_wrong(
			&it->check, EBADMSG,
			"step %u has a circuit from rank %u to rank %u on plane %u, which the schedule lacks",
			walk->step, circuit->src, circuit->dst, circuit->src_plane);
	if (walk->shown[port] != NONE)
		return ck_wrong(&it->check, EBADMSG,
				"step %u has two circuits from rank %u on plane %u", walk->step,
				circuit->src, circuit->src_plane);
	walk->shown[port] = number;
	return 0;
}

/* Compare a step with the schedule. A circuit that stays lit must be the same. */
static int compare(struct walk *walk)
{
	struct light_check *it = walk->it;
	const struct light_step *step = &it->steps[walk->step];
	int ret = 0;

	memset(walk->shown, 0xff, walk->ports * sizeof(uint32_t));
	for (uint32_t at = 0; !ret && at < step->held.count; at++)
		ret = show(walk, it->held[step->held.first + at]);
	for (size_t port = 0; !ret && port < walk->ports; port++) {
		if (walk->wanted[port] == NONE)
			continue;
		if (walk->shown[port] == NONE)
			return ck_wrong(
				&it->check, EBADMSG,
				"step %u lacks the circuit from rank %u to rank %u on plane %u",
				walk->step, (uint32_t)(port % it->schedule.ranks),
				walk->wanted[port], (uint32_t)(port / it->schedule.ranks));
		if (walk->step && walk->had[port] == walk->wanted[port] &&
		    walk->showed[port] != walk->shown[port])
			ret = ck_wrong(&it->check, EBADMSG,
				       "circuit %u stays lit in step %u, under another number",
				       walk->showed[port], walk->step);
	}
	return ret;
}

static int check_begin(struct walk *walk, uint64_t set, uint64_t before_lit)
{
	const struct light_step *step = &walk->it->steps[walk->step];
	uint64_t wait = set > before_lit ? set - before_lit : 0;
	uint64_t after_ns = step->begin == BY_TIME ? (wait + 999) / 1000 : 0;

	if (step->begin == BY_TIME && after_ns < LEAST_NS)
		after_ns = LEAST_NS;
	if (step->begin != walk->it->steps[0].begin || step->after_ns != after_ns ||
	    (step->deadline_ns && step->deadline_ns < after_ns))
		return ck_wrong(&walk->it->check, EBADMSG, "step %u begins at a wrong time",
				walk->step);
	return 0;
}

/* After the last step the first one follows, once all data has arrived. */
static int check_first(struct walk *walk, uint64_t set)
{
	uint64_t finish = walk->it->schedule.finish;

	walk->step = 0;
	if (walk->it->loop)
		return check_begin(walk, set + finish, walk->lit);
	return check_begin(walk, 0, 0);
}

static void swap(uint32_t **one, uint32_t **other)
{
	uint32_t *was = *one;

	*one = *other;
	*other = was;
}

static int walk_steps(struct walk *walk)
{
	const struct schedule *schedule = &walk->it->schedule;
	uint64_t first_set = 0;
	int ret = 0;

	for (uint32_t at = 0; !ret && at < schedule->holds_count; at++) {
		uint64_t set = schedule->holds[at].set, lit;

		if (at && set == schedule->holds[at - 1].set)
			continue;
		lit = hold_at(walk, set);
		if (at && !memcmp(walk->had, walk->wanted, walk->ports * sizeof(uint32_t)))
			continue;
		if (walk->step == walk->it->steps_count)
			return ck_wrong(&walk->it->check, EBADMSG, "only %u steps exist",
					walk->step);
		ret = compare(walk);
		if (!ret && at)
			ret = check_begin(walk, set, walk->lit);
		first_set = at ? first_set : set;
		walk->lit = lit;
		swap(&walk->had, &walk->wanted);
		swap(&walk->showed, &walk->shown);
		walk->step++;
	}
	if (!ret && walk->step != walk->it->steps_count)
		ret = ck_wrong(&walk->it->check, EBADMSG, "the answer has %u steps, not %u",
			       walk->it->steps_count, walk->step);
	return ret || !walk->step ? ret : check_first(walk, first_set);
}

int ck_light_steps(struct light_check *it)
{
	struct walk walk = { .it = it, .ports = (size_t)it->schedule.planes * it->schedule.ranks };
	uint32_t *room = calloc(walk.ports + 1, 4 * sizeof(uint32_t));
	int ret;

	if (!room)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	walk.wanted = room;
	walk.had = room + walk.ports;
	walk.shown = room + 2 * walk.ports;
	walk.showed = room + 3 * walk.ports;
	ret = walk_steps(&walk);
	free(room);
	return ret;
}
