// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that each port has one circuit at a time, and that setting it takes its time. */
#include "schedule.h"

#define SCOPE_PORT 0
#define SCOPE_FABRIC 2

/* The last hold of each port, by plane and rank, or NONE. */
struct ports {
	uint32_t *sends, *receives;
	uint64_t changes[MOST_PLANES]; /* end of the change by plane; entry 0 if all stop */
};

static int resident(struct schedule_check *it, const struct schedule *after, uint32_t number)
{
	const struct schedule *schedule = &it->schedule;
	const struct hold *hold = &schedule->holds[number];
	const struct part *matching = &schedule->matchings[hold->matching];

	if (hold->set || hold->lit)
		return ck_wrong(&it->check, EBADMSG,
				"hold %u is lit from the start, but has a time to set it", number);
	for (uint32_t at = 0; at < matching->count; at++) {
		const struct joined *circuit = &schedule->circuits[matching->first + at];
		bool found = false;

		for (uint32_t left = 0; after && !found && left < after->holds_count; left++) {
			const struct hold *before = &after->holds[left];
			uint32_t place = ck_circuit_from(after, before->matching, circuit->src);

			found = before->plane == hold->plane && before->dark >= after->finish &&
				before->lit <= after->finish && place != NONE &&
				after->circuits[after->matchings[before->matching].first + place]
						.dst == circuit->dst;
		}
		if (!found)
			return ck_wrong(
				&it->check, EBADMSG,
				"the preceding schedule leaves no circuit from rank %u to rank %u on plane %u",
				circuit->src, circuit->dst, hold->plane);
	}
	return 0;
}

/* A hold takes a port. The port's earlier circuit is dark by then. */
static int take_port(struct schedule_check *it, uint32_t *port, uint32_t number, uint32_t rank)
{
	const struct schedule *schedule = &it->schedule;

	if (*port != NONE && schedule->holds[*port].dark > schedule->holds[number].set)
		return ck_wrong(&it->check, EBADMSG,
				"hold %u takes a port of rank %u on plane %u from hold %u", number,
				rank, schedule->holds[number].plane, *port);
	*port = number;
	return 0;
}

/* Whether the circuit was lit until the hold begins. */
static bool stays(const struct schedule *schedule, const struct hold *hold, uint32_t sends,
		  uint32_t receives, const struct joined *circuit)
{
	const struct hold *before = sends == NONE ? NULL : &schedule->holds[sends];
	uint32_t place;

	if (!before || sends != receives || before->dark != hold->set)
		return false;
	place = ck_circuit_from(schedule, before->matching, circuit->src);
	return place != NONE &&
	       schedule->circuits[schedule->matchings[before->matching].first + place].dst ==
		       circuit->dst;
}

static int take_ports(struct schedule_check *it, struct ports *ports, uint32_t number)
{
	struct schedule *schedule = &it->schedule;
	struct hold *hold = &schedule->holds[number];
	const struct part *matching = &schedule->matchings[hold->matching];
	int ret = 0;

	for (uint32_t at = 0; !ret && at < matching->count; at++) {
		const struct joined *circuit = &schedule->circuits[matching->first + at];
		size_t row = (size_t)hold->plane * schedule->ranks;
		uint32_t *sends = &ports->sends[row + circuit->src];
		uint32_t *receives = &ports->receives[row + circuit->dst];

		schedule->stays[hold->link + at] =
			stays(schedule, hold, *sends, *receives, circuit);
		hold->changed += !schedule->stays[hold->link + at];
		ret = take_port(it, sends, number, circuit->src);
		if (!ret)
			ret = take_port(it, receives, number, circuit->dst);
	}
	return ret;
}

/*
 * If a change stops planes or the fabric, circuits set there at the same time are one change, and
 * the next change waits for it.
 */
static int paid(struct schedule_check *it, struct ports *ports, uint32_t first, uint32_t count)
{
	const struct delay *delay = &it->delay;
	const struct hold *holds = &it->schedule.holds[first];
	uint64_t set[MOST_PLANES] = { 0 };

	for (uint32_t at = 0; at < count; at++)
		set[delay->scope == SCOPE_FABRIC ? 0 : holds[at].plane] += holds[at].changed;
	for (uint32_t at = 0; at < count; at++) {
		const struct hold *hold = &holds[at];
		uint32_t stops = delay->scope == SCOPE_FABRIC ? 0 : hold->plane;
		uint64_t circuits = delay->scope == SCOPE_PORT ? hold->changed : set[stops];
		unsigned __int128 takes =
			delay->change_ps + (unsigned __int128)delay->port_ps * circuits;

		if (hold->changed && hold->lit - hold->set < takes)
			return ck_wrong(&it->check, EBADMSG, "hold %u sets %u circuits in %llu ps",
					first + at, hold->changed,
					(unsigned long long)(hold->lit - hold->set));
		if (hold->changed && delay->scope != SCOPE_PORT &&
		    hold->set < ports->changes[stops])
			return ck_wrong(&it->check, EBADMSG, "hold %u is set during another change",
					first + at);
	}
	for (uint32_t at = 0; at < count; at++) {
		uint64_t *until =
			&ports->changes[delay->scope == SCOPE_FABRIC ? 0 : holds[at].plane];

		if (holds[at].changed && holds[at].lit > *until)
			*until = holds[at].lit;
	}
	return 0;
}

static int light(struct schedule_check *it, const struct schedule *after, struct ports *ports)
{
	const struct schedule *schedule = &it->schedule;
	uint32_t next;
	int ret = 0;

	for (uint32_t at = 0; !ret && at < schedule->residents; at++) {
		ret = resident(it, after, at);
		if (!ret)
			ret = take_ports(it, ports, at);
	}
	for (uint32_t at = schedule->residents; !ret && at < schedule->holds_count; at = next) {
		for (next = at; !ret && next < schedule->holds_count &&
				schedule->holds[next].set == schedule->holds[at].set;
		     next++)
			ret = take_ports(it, ports, next);
		if (!ret)
			ret = paid(it, ports, at, next - at);
	}
	return ret;
}

/* Every matching must be held. */
static int all_held(struct schedule_check *it)
{
	const struct schedule *schedule = &it->schedule;
	bool *held = calloc((size_t)schedule->matchings_count + 1, sizeof(*held));
	int ret = 0;

	if (!held)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	for (uint32_t at = 0; at < schedule->holds_count; at++)
		held[schedule->holds[at].matching] = true;
	for (uint32_t at = 0; !ret && at < schedule->matchings_count; at++)
		if (!held[at])
			ret = ck_wrong(&it->check, EBADMSG, "no hold has matching %u", at);
	free(held);
	return ret;
}

int ck_schedule_light(struct schedule_check *it, const struct schedule *after)
{
	size_t room = (size_t)it->schedule.planes * it->schedule.ranks;
	struct ports ports = { .sends = calloc(room, 2 * sizeof(*ports.sends)) };
	int ret;

	if (!ports.sends)
		return ck_wrong(&it->check, ENOMEM, "out of memory");
	ports.receives = ports.sends + room;
	memset(ports.sends, 0xff, room * 2 * sizeof(*ports.sends));
	ret = light(it, after, &ports);
	/* Changes that stop planes or the fabric are sequential anyway. */
	if (!ret && it->delay.scope == SCOPE_PORT && it->delay.port_ps)
		ret = ck_schedule_ports(it);
	if (!ret)
		ret = all_held(it);
	free(ports.sends);
	return ret;
}
