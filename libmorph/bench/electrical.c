// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An electrical rack after a failure. Detours are found one by one. Each minimises its fullest
 * link, then its length. This repeats while it helps.
 */
#include <stdbool.h>
#include <string.h>

#include "electrical.h"

#define SPARES 4
#define CHIPS (TORI_CHIPS + SPARES)
#define FLOWS 12
#define ROUNDS 8
#define MOST_HOPS 64
#define NOTHING UINT32_MAX

struct rack {
	uint32_t load[CHIPS][CHIPS]; /* of the link; by torus links and detours */
	bool link[CHIPS][CHIPS];
	bool used[CHIPS][CHIPS]; /* by the slice of both ends */
};

struct flow {
	uint32_t from, to;
	uint32_t hops; /* 0: no path yet */
	uint32_t chips[MOST_HOPS + 1];
};

static void join(struct rack *rack, uint32_t one, uint32_t other, bool used)
{
	rack->link[one][other] = rack->link[other][one] = true;
	rack->used[one][other] = rack->used[other][one] = used;
	rack->load[one][other] = rack->load[other][one] = used;
}

/* Neighbours of an accelerator in the torus. */
static void neighbours(uint32_t chip, uint32_t near[6])
{
	for (uint32_t way = 0; way < 6; way++) {
		uint32_t place[3];

		tori_place(chip, place);
		place[way / 2] = (place[way / 2] + (way & 1 ? TORI_SIDE - 1 : 1)) % TORI_SIDE;
		near[way] = tori_chip(place);
	}
}

static bool of_one_slice(uint32_t one, uint32_t other, const uint32_t slice[TORI_CHIPS])
{
	return slice[one] && slice[one] == slice[other];
}

uint32_t electrical_links(uint32_t chip, const uint32_t slice[TORI_CHIPS])
{
	uint32_t near[6], links = 0;

	neighbours(chip, near);
	for (uint32_t way = 0; way < 6; way++)
		links += of_one_slice(chip, near[way], slice);
	return links;
}

static void build(struct rack *rack, uint32_t failed, const uint32_t slice[TORI_CHIPS])
{
	/*
	 * As in rack64: the neighbour of the spare server, the opposite server of the ring, and one
	 * server of each other level.
	 */
	static const uint32_t servers[] = { 0, 1, 4, 8, 12 };

	memset(rack, 0, sizeof(*rack));
	for (uint32_t chip = 0; chip < TORI_CHIPS; chip++) {
		uint32_t near[6];

		neighbours(chip, near);
		for (uint32_t way = 0; way < 6; way++)
			if (chip != failed && near[way] != failed)
				join(rack, chip, near[way], of_one_slice(chip, near[way], slice));
	}
	for (uint32_t at = 0; at < SPARES; at++) {
		join(rack, TORI_CHIPS + at, TORI_CHIPS + (at ^ 1), false);
		join(rack, TORI_CHIPS + at, TORI_CHIPS + (at ^ 2), false);
		for (uint32_t server = 0; server < sizeof(servers) / sizeof(servers[0]); server++)
			join(rack, TORI_CHIPS + at, 4 * servers[server] + at, false);
	}
}

static void carry(struct rack *rack, const struct flow *flow, int more)
{
	for (uint32_t hop = 0; hop < flow->hops; hop++)
		rack->load[flow->chips[hop]][flow->chips[hop + 1]] += (uint32_t)more;
}

/* The shortest path over links with a load of at most @limit. Breadth-first search. */
static bool find(const struct rack *rack, struct flow *flow, uint32_t limit)
{
	uint32_t before[CHIPS], queue[CHIPS], first = 0, last = 0, hops = 0;

	memset(before, 0xff, sizeof(before));
	before[flow->from] = flow->from;
	queue[last++] = flow->from;
	while (first < last && before[flow->to] == NOTHING) {
		uint32_t chip = queue[first++];

		for (uint32_t next = 0; next < CHIPS; next++) {
			if (!rack->link[chip][next] || rack->load[chip][next] > limit ||
			    before[next] != NOTHING)
				continue;
			before[next] = chip;
			queue[last++] = next;
		}
	}
	if (before[flow->to] == NOTHING)
		return false;
	for (uint32_t chip = flow->to; chip != flow->from; chip = before[chip])
		hops++;
	flow->hops = hops;
	for (uint32_t chip = flow->to; hops; chip = before[chip])
		flow->chips[hops--] = chip;
	flow->chips[0] = flow->from;
	return true;
}

static void detour(struct rack *rack, struct flow *flows, uint32_t count)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t at = 0; at < count; at++) {
			uint32_t limit = 0;

			carry(rack, &flows[at], -1);
			while (!find(rack, &flows[at], limit))
				limit++;
			carry(rack, &flows[at], 1);
		}
	}
}

static struct electrical measure(const struct rack *rack, const struct flow *flows, uint32_t count)
{
	struct electrical left = { .slowest = 1 };
	uint32_t links = count;

	for (uint32_t at = 0; at < count; at++) {
		uint32_t fullest = 1;

		for (uint32_t hop = 0; hop < flows[at].hops; hop++) {
			uint32_t load = rack->load[flows[at].chips[hop]][flows[at].chips[hop + 1]];

			fullest = load > fullest ? load : fullest;
		}
		left.replaced += 1.0 / fullest / count;
		left.all += 1.0 / fullest;
		if (1.0 / fullest < left.slowest)
			left.slowest = 1.0 / fullest;
	}
	for (uint32_t from = 0; from < TORI_CHIPS; from++) {
		for (uint32_t to = 0; to < TORI_CHIPS; to++) {
			if (!rack->used[from][to])
				continue;
			left.all += 1.0 / rack->load[from][to];
			links++;
		}
	}
	left.all /= links;
	return left;
}

struct electrical electrical_after(uint32_t failed, const uint32_t slice[TORI_CHIPS])
{
	struct electrical best = { 0 };
	uint32_t near[6];

	neighbours(failed, near);
	for (uint32_t spare = TORI_CHIPS; spare < CHIPS; spare++) {
		struct flow flows[FLOWS] = { 0 };
		struct electrical left;
		uint32_t count = 0;
		struct rack rack;

		build(&rack, failed, slice);
		for (uint32_t way = 0; way < 6; way++) {
			if (!of_one_slice(failed, near[way], slice))
				continue;
			flows[count++] = (struct flow){ .from = near[way], .to = spare };
			flows[count++] = (struct flow){ .from = spare, .to = near[way] };
		}
		detour(&rack, flows, count);
		left = measure(&rack, flows, count);
		if (left.slowest > best.slowest ||
		    (left.slowest >= best.slowest && left.replaced > best.replaced))
			best = left;
	}
	return best;
}
