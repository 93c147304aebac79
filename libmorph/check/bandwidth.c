// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that bandwidths of groups are legal, and as fair as the answer states. */
#include <morph/wire.h>

#include "internal.h"

#define DEFAULT_STEPS (1ULL << 28)
#define MOST_PARTS 65536U /* accelerators or guides */
#define MOST_GROUPS 4096U
#define MOST_HOPS (1U << 20)
#define MOST_WAVELENGTHS 256U
#define MOST_CELLS (1ULL << 26) /* of a table of resources and wavelengths */

/* as in the wire form, because the checker includes no header of the library */
enum part {
	NOTHING,
	WISH,
	TRANSMIT,
	RECEIVE,
	GUIDE,
	WAVELENGTHS
};

enum proof {
	LEGAL,
	FAIR,
	LEXIMIN
};

/*
 * Ports of an accelerator, or fibres of a guide. All transmit ports come first, then all receive
 * ports.
 */
struct resource {
	uint32_t fibres;
	uint64_t load; /* lanes at the levels of the groups */
};

struct hop {
	uint32_t group, circuits; /* circuits: for each unit */
	const uint32_t *uses; /* resources */
	uint32_t uses_count;
	uint32_t wanted, placed; /* circuits, during the search for wavelengths */
};

struct group {
	uint32_t least, most, level, bandwidth;
	const uint8_t *stop; /* words */
};

struct share {
	struct check check;
	uint32_t wavelengths, accelerators, guides, groups_count, hops_count, resources_count;
	struct resource *resources;
	struct group *groups;
	struct hop *hops;
	uint32_t *uses;
	uint32_t *lit; /* by resource, then wavelength */
	uint32_t verdict, proof;
	const uint8_t *stop; /* of all groups together */
	const uint8_t *counts, *lanes; /* words: circuits by hop, then all wavelengths */
	uint32_t lanes_count;
	uint32_t *order, *other; /* levels, sorted */
};

static uint64_t long_word(const uint8_t *bytes, size_t index)
{
	return word(bytes, index) | (uint64_t)word(bytes, index + 1) << 32;
}

/* --------------------------------------------------------------------- reading */

static int malformed(struct share *share, const char *what)
{
	return ck_wrong(&share->check, EINVAL, "the %s is malformed", what);
}

static int reserve(struct share *share, uint64_t uses)
{
	share->resources_count = 2 * share->accelerators + share->guides;
	if ((uint64_t)share->resources_count * share->wavelengths > MOST_CELLS)
		return ck_wrong(
			&share->check, EINVAL,
			"the checker does not support so large a problem: too many ports, guides and wavelengths");
	share->resources = calloc((size_t)share->resources_count + 1, sizeof(*share->resources));
	share->groups = calloc((size_t)share->groups_count + 1, sizeof(*share->groups));
	share->hops = calloc((size_t)share->hops_count + 1, sizeof(*share->hops));
	share->uses = calloc((size_t)uses + 1, sizeof(*share->uses));
	share->lit = calloc((size_t)share->resources_count * share->wavelengths + 1,
			    sizeof(*share->lit));
	share->order = calloc((size_t)share->groups_count + 1, sizeof(*share->order));
	share->other = calloc((size_t)share->groups_count + 1, sizeof(*share->other));
	if (!share->resources || !share->groups || !share->hops || !share->uses || !share->lit ||
	    !share->order || !share->other)
		return ck_wrong(&share->check, ENOMEM, "out of memory");
	return 0;
}

static int read_hop(struct share *share, const uint8_t *at, const uint8_t *guides, uint32_t count,
		    struct hop *hop, uint32_t *uses)
{
	uint32_t source = word(at, 1), target = word(at, 2), first = word(at, 4);

	hop->group = word(at, 0);
	hop->circuits = word(at, 3);
	hop->uses = uses;
	hop->uses_count = 2 + word(at, 5);
	if (hop->group >= share->groups_count || source >= share->accelerators ||
	    target >= share->accelerators || source == target || first > count ||
	    word(at, 5) > count - first || !hop->circuits || hop->circuits > UINT16_MAX)
		return malformed(share, "problem");
	uses[0] = source;
	uses[1] = share->accelerators + target;
	for (uint32_t guide = 0; guide < word(at, 5); guide++) {
		uint32_t number = word(guides, (size_t)first + guide);

		if (number >= share->guides)
			return malformed(share, "problem");
		uses[2 + guide] = 2 * share->accelerators + number;
	}
	return 0;
}

static int read_problem(struct share *share, const struct morph_check_bytes *bytes)
{
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_BANDWIDTH, &words), *guides;
	uint32_t count, *uses;
	int ret = 0;

	if (!at || words < 6)
		return malformed(share, "problem");
	share->wavelengths = word(at, 0);
	share->accelerators = word(at, 1);
	share->guides = word(at, 2);
	share->groups_count = word(at, 3);
	share->hops_count = word(at, 4);
	count = word(at, 5);
	if (!share->wavelengths || share->wavelengths > MOST_WAVELENGTHS ||
	    share->accelerators > MOST_PARTS || share->guides > MOST_PARTS ||
	    share->groups_count > MOST_GROUPS || share->hops_count > MOST_HOPS ||
	    words != 6 + 2 * (uint64_t)share->accelerators + share->guides +
			     2 * (uint64_t)share->groups_count + 6 * (uint64_t)share->hops_count +
			     count)
		return malformed(share, "problem");
	ret = reserve(share, 2 * (uint64_t)share->hops_count + count);
	at += 24;
	for (uint32_t chip = 0; chip < share->accelerators && !ret; chip++, at += 8) {
		share->resources[chip].fibres = word(at, 0);
		share->resources[share->accelerators + chip].fibres = word(at, 1);
	}
	for (uint32_t guide = 0; guide < share->guides && !ret; guide++, at += 4)
		share->resources[2 * share->accelerators + guide].fibres = word(at, 0);
	for (uint32_t group = 0; group < share->groups_count && !ret; group++, at += 8) {
		share->groups[group].least = word(at, 0);
		share->groups[group].most = word(at, 1);
	}
	if (ret)
		return ret;
	/* No two hops can share a guide entry; otherwise the array would be too small. */
	guides = at + 24 * (size_t)share->hops_count;
	uses = share->uses;
	for (uint32_t hop = 0, left = count; hop < share->hops_count && !ret; hop++, at += 24) {
		if (word(at, 5) > left)
			return malformed(share, "problem");
		left -= word(at, 5);
		ret = read_hop(share, at, guides, count, &share->hops[hop], uses);
		uses += 2 + word(at, 5);
	}
	return ret;
}

static int read_answer(struct share *share, const struct morph_check_bytes *bytes)
{
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_SHARES, &words);

	if (!at || words < 11)
		return malformed(share, "answer");
	share->verdict = word(at, 0);
	share->proof = word(at, 1);
	share->lanes_count = word(at, 4);
	if (word(at, 2) != share->groups_count || word(at, 3) != share->hops_count ||
	    words !=
		    11 + 7 * (uint64_t)share->groups_count + share->hops_count + share->lanes_count)
		return malformed(share, "answer");
	share->stop = at + 20;
	at += 44;
	for (uint32_t group = 0; group < share->groups_count; group++, at += 28) {
		share->groups[group].bandwidth = word(at, 0);
		share->groups[group].stop = at + 4;
	}
	share->counts = at;
	share->lanes = at + 4 * (size_t)share->hops_count;
	return 0;
}

/* ----------------------------------------------------------------------- legal */

/* Lanes of all resources at the levels of the groups. */
static void weigh(struct share *share)
{
	for (uint32_t at = 0; at < share->resources_count; at++)
		share->resources[at].load = 0;
	for (uint32_t at = 0; at < share->hops_count; at++) {
		const struct hop *hop = &share->hops[at];

		for (uint32_t use = 0; use < hop->uses_count; use++)
			share->resources[hop->uses[use]].load +=
				(uint64_t)hop->circuits * share->groups[hop->group].level;
	}
}

static bool any_overloaded(const struct share *share)
{
	for (uint32_t at = 0; at < share->resources_count; at++)
		if (share->resources[at].load >
		    (uint64_t)share->resources[at].fibres * share->wavelengths)
			return true;
	return false;
}

/*
 * The lanes of a hop. A resource carries at most as many circuits of a wavelength as it has fibres.
 */
static int light_hop(struct share *share, uint32_t number, uint32_t first)
{
	const struct hop *hop = &share->hops[number];
	uint32_t before = 0;

	for (uint32_t at = 0; at < word(share->counts, number); at++) {
		uint32_t lane = word(share->lanes, (size_t)first + at);

		if (lane >= share->wavelengths || lane < before)
			return ck_wrong(&share->check, EBADMSG,
					"circuit %u of hop %u has wavelength %u", at, number, lane);
		before = lane;
		for (uint32_t use = 0; use < hop->uses_count; use++) {
			uint32_t resource = hop->uses[use];
			uint32_t *lit = &share->lit[(size_t)resource * share->wavelengths + lane];

			if (++*lit > share->resources[resource].fibres)
				return ck_wrong(
					&share->check, EBADMSG,
					"another circuit already uses wavelength %u of hop %u",
					lane, number);
		}
	}
	return 0;
}

static int check_legal(struct share *share)
{
	uint64_t first = 0;
	int ret = 0;

	for (uint32_t at = 0; at < share->groups_count; at++) {
		const struct group *group = &share->groups[at];

		if (group->bandwidth < group->least || group->bandwidth > group->most)
			return ck_wrong(&share->check, EBADMSG,
					"group %u has %u, must have %u to %u", at, group->bandwidth,
					group->least, group->most);
	}
	for (uint32_t at = 0; at < share->hops_count && !ret; at++) {
		const struct hop *hop = &share->hops[at];
		uint32_t count = word(share->counts, at);

		if (count != (uint64_t)hop->circuits * share->groups[hop->group].bandwidth ||
		    count > share->lanes_count - first)
			return ck_wrong(&share->check, EBADMSG, "hop %u has %u circuits", at,
					count);
		ret = light_hop(share, at, (uint32_t)first);
		first += count;
	}
	if (!ret && first != share->lanes_count)
		ret = ck_wrong(&share->check, EBADMSG, "%u lanes belong to no hop",
			       share->lanes_count - (uint32_t)first);
	return ret;
}

/* ----------------------------------------------------------------- wavelengths */

enum answer {
	NO,
	YES,
	GAVE_UP
};

static uint32_t room_of(const struct share *share, const struct hop *hop, uint32_t lane)
{
	uint32_t room = UINT32_MAX;

	for (uint32_t use = 0; use < hop->uses_count; use++) {
		uint32_t resource = hop->uses[use];
		uint32_t left = share->resources[resource].fibres -
				share->lit[(size_t)resource * share->wavelengths + lane];

		room = left < room ? left : room;
	}
	return room;
}

/* The incomplete hop with the fewest choices; NULL: all are complete. */
static struct hop *scarcest(struct share *share)
{
	struct hop *best = NULL;
	int64_t least = 0;

	for (uint32_t at = 0; at < share->hops_count; at++) {
		struct hop *hop = &share->hops[at];
		int64_t slack = -(int64_t)(hop->wanted - hop->placed);

		if (hop->placed == hop->wanted)
			continue;
		for (uint32_t lane = 0; lane < share->wavelengths; lane++)
			slack += room_of(share, hop, lane);
		if (best && slack >= least)
			continue;
		best = hop;
		least = slack;
	}
	return best;
}

static void light(struct share *share, struct hop *hop, uint32_t lane, int by)
{
	for (uint32_t use = 0; use < hop->uses_count; use++)
		share->lit[(size_t)hop->uses[use] * share->wavelengths + lane] += (uint32_t)by;
	hop->placed += (uint32_t)by;
}

/*
 * Give the circuits of @hop wavelengths from @from on, then continue with the next hop. Wavelengths
 * from @fresh on are unused and equivalent, so one of them stands for all.
 */
static enum answer colour(struct share *share, struct hop *hop, uint32_t from, uint32_t fresh)
{
	if (!hop || hop->placed == hop->wanted) {
		hop = scarcest(share);
		from = 0;
	}
	if (!hop)
		return YES;
	if (!share->check.steps)
		return GAVE_UP;
	share->check.steps--;
	for (uint32_t lane = from; lane < share->wavelengths && lane <= fresh; lane++) {
		enum answer answer;

		if (!room_of(share, hop, lane))
			continue;
		light(share, hop, lane, 1);
		answer = colour(share, hop, lane, lane == fresh ? fresh + 1 : fresh);
		light(share, hop, lane, -1);
		if (answer != NO)
			return answer;
	}
	return NO;
}

/* Whether wavelengths exist for all circuits at the levels of the groups. */
static enum answer fits(struct share *share)
{
	weigh(share);
	if (any_overloaded(share))
		return NO;
	if (share->wavelengths == 1)
		return YES;
	memset(share->lit, 0,
	       (size_t)share->resources_count * share->wavelengths * sizeof(*share->lit));
	for (uint32_t at = 0; at < share->hops_count; at++) {
		struct hop *hop = &share->hops[at];

		hop->placed = 0;
		hop->wanted = hop->circuits * share->groups[hop->group].level;
	}
	return colour(share, NULL, 0, 0);
}

/* ------------------------------------------------------------------------ fair */

/* Check the stated limit of the present levels. */
static int check_stop(struct share *share, const uint8_t *stop, uint32_t number)
{
	uint32_t part = word(stop, 0), index = word(stop, 1), resource;
	uint64_t have = long_word(stop, 2), need = long_word(stop, 4);
	enum answer answer;

	if (part == WAVELENGTHS) {
		answer = fits(share);
		if (answer == GAVE_UP)
			return ck_wrong(&share->check, EAGAIN, "group %u: out of steps", number);
		if (answer == NO && !any_overloaded(share) && index == NONE &&
		    have == share->wavelengths && need == have + 1)
			return 0;
		return ck_wrong(&share->check, EBADMSG, "group %u: wavelengths are not its limit",
				number);
	}
	if (part < TRANSMIT || part > GUIDE ||
	    index >= (part == GUIDE ? share->guides : share->accelerators))
		return ck_wrong(&share->check, EBADMSG,
				"group %u: the answer names no existing resource as its limit",
				number);
	resource = index + (part == RECEIVE ? share->accelerators :
			    part == GUIDE   ? 2 * share->accelerators :
					      0);
	weigh(share);
	if (have != (uint64_t)share->resources[resource].fibres * share->wavelengths ||
	    need != share->resources[resource].load || need <= have)
		return ck_wrong(
			&share->check, EBADMSG,
			"group %u: its limit has %llu lanes and needs %llu, according to the answer",
			number, (unsigned long long)have, (unsigned long long)need);
	return 0;
}

/* Raise a group by one, and lower all groups above the new level to it. */
static int check_group(struct share *share, uint32_t number)
{
	const struct group *mine = &share->groups[number];
	uint32_t level = mine->bandwidth + 1;

	if (word(mine->stop, 0) == WISH) {
		if (mine->bandwidth == mine->most && word(mine->stop, 1) == NONE &&
		    long_word(mine->stop, 2) == mine->most &&
		    long_word(mine->stop, 4) == mine->most + 1ULL)
			return 0;
		return ck_wrong(&share->check, EBADMSG, "group %u can use more", number);
	}
	for (uint32_t at = 0; at < share->groups_count; at++) {
		struct group *group = &share->groups[at];
		uint32_t most = group->least > level ? group->least : level;

		group->level = group->bandwidth < most ? group->bandwidth : most;
	}
	share->groups[number].level = level;
	return check_stop(share, mine->stop, number);
}

/* --------------------------------------------------------------------- leximin */

static void sort(uint32_t *levels, uint32_t count)
{
	for (uint32_t at = 1; at < count; at++) {
		uint32_t level = levels[at], to = at;

		for (; to && levels[to - 1] > level; to--)
			levels[to] = levels[to - 1];
		levels[to] = level;
	}
}

static bool fairer(struct share *share)
{
	for (uint32_t at = 0; at < share->groups_count; at++)
		share->other[at] = share->groups[at].level;
	sort(share->other, share->groups_count);
	for (uint32_t at = 0; at < share->groups_count; at++)
		if (share->other[at] != share->order[at])
			return share->other[at] > share->order[at];
	return false;
}

/* Try all plans in which no group has less than the present minimum. */
static enum answer any_fairer(struct share *share, uint32_t number)
{
	struct group *group = &share->groups[number];
	uint32_t least = group->least > share->order[0] ? group->least : share->order[0];
	enum answer answer = NO;

	if (number == share->groups_count)
		return fairer(share) ? fits(share) : NO;
	for (group->level = least; group->level <= group->most && answer == NO; group->level++) {
		if (!share->check.steps)
			return GAVE_UP;
		share->check.steps--;
		weigh(share);
		if (any_overloaded(share))
			break;
		answer = any_fairer(share, number + 1);
	}
	group->level = least;
	return answer;
}

static int check_leximin(struct share *share)
{
	for (uint32_t at = 0; at < share->groups_count; at++)
		share->order[at] = share->groups[at].bandwidth;
	sort(share->order, share->groups_count);
	for (uint32_t at = 0; at < share->groups_count; at++) {
		struct group *group = &share->groups[at];

		group->level = group->least > share->order[0] ? group->least : share->order[0];
	}
	switch (any_fairer(share, 0)) {
	case NO:
		return 0;
	case YES:
		return ck_wrong(&share->check, EBADMSG, "a fairer plan exists");
	default:
		return ck_wrong(&share->check, EAGAIN,
				"out of steps before the check tried all fairer plans");
	}
}

/* ------------------------------------------------------------------------- all */

static int check_feasible(struct share *share)
{
	int ret = check_legal(share);

	if (share->proof > LEXIMIN)
		return ck_wrong(&share->check, EBADMSG, "proof %u does not exist", share->proof);
	for (uint32_t at = 0; at < share->groups_count && !ret; at++)
		if (share->proof == FAIR || word(share->groups[at].stop, 0) != NOTHING)
			ret = check_group(share, at);
	if (!ret && share->proof == LEXIMIN)
		ret = check_leximin(share);
	return ret;
}

static int judge(struct share *share)
{
	switch (share->verdict) {
	case 1:
		return check_feasible(share);
	case 2:
		for (uint32_t at = 0; at < share->groups_count; at++)
			share->groups[at].level = share->groups[at].least;
		return check_stop(share, share->stop, NONE);
	case 3:
		return 0; /* without a text */
	}
	return ck_wrong(&share->check, EBADMSG, "verdict %u does not exist", share->verdict);
}

int morph_check_bandwidth(const struct morph_check_bandwidth_input *input, char *report,
			  size_t room)
{
	struct share share = { .check = { .steps = input->steps ? input->steps : DEFAULT_STEPS,
					  .report = report,
					  .report_room = report ? room : 0 } };
	int ret;

	if (share.check.report_room)
		report[0] = '\0';
	ret = read_problem(&share, &input->problem);
	if (!ret)
		ret = read_answer(&share, &input->answer);
	if (!ret)
		ret = judge(&share);
	free(share.resources);
	free(share.groups);
	free(share.hops);
	free(share.uses);
	free(share.lit);
	free(share.order);
	free(share.other);
	return ret;
}
