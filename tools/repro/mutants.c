// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plans of slices across racks, each corrupted in one way by a seed. The check must reject every
 * plan.
 */
#include <stdio.h>
#include <string.h>

#include "../../libmorph/bench/random.h"
#include "crossing.h"
#include "repro.h"

#define MUTANTS 1000

enum kind {
	SHORTENED, /* a path ends before its server */
	TWICE, /* a server has two slots */
	TAKEN, /* a slot has a server of a present slice */
	CROWDED, /* all links of an edge take one path, which begins with two links within a rack */
	FULL, /* the same, with two links of a face */
	KINDS,
};

static bool corrupt(struct cross_found *found, const struct racks *racks, enum kind kind,
		    uint64_t *random)
{
	uint32_t slice = random_below(random, found->slices),
		 edge = random_below(random, CROSSING_EDGES);
	struct cross_way *ways = &found->ways[slice * CROSSING_LINKS + edge * CROSSING_WIDE];
	cross_server *slot = &found->servers[random_below(random, found->slices * CROSSING_SLOTS)];
	cross_server rack = (cross_server)random_below(random, RACKS);
	cross_server other = (cross_server)(rack * CROSS_SEATS + random_below(random, RACK_SITES));
	static struct cross_pod pod;
	const struct cross_arc *arc;
	cross_server from;

	crossing_pod(racks, &pod);
	switch (kind) {
	case SHORTENED:
		ways[random_below(random, CROSSING_WIDE)].hops--;
		return true;
	case TWICE:
		other = found->servers[random_below(random, found->slices * CROSSING_SLOTS)];
		if (other == *slot)
			return false;
		*slot = other;
		return true;
	case TAKEN:
		if (racks_free(racks, other / CROSS_SEATS) >> other % CROSS_SEATS & 1)
			return false;
		*slot = other;
		return true;
	default:
		from = found->servers[slice * CROSSING_SLOTS + crossing_edges[edge][0]];
		arc = &pod.arcs[from % CROSS_SEATS][ways->arcs[0]];
		if (arc->face != (kind == FULL) ||
		    pod.room[from / CROSS_SEATS][arc->group] >= CROSSING_WIDE)
			return false;
		for (uint32_t at = 1; at < CROSSING_WIDE; at++)
			ways[at] = ways[0];
		return true;
	}
}

int main(void)
{
	const struct crossing_effort effort = { .starts = 1,
						.each = { .moves = 100000, .hot = 22, .cold = 8 } };
	static struct racks racks;
	static struct cross_found found, corrupted;
	struct crossing_bound bound;
	uint32_t refused = 0, made = 0;
	uint64_t random = 1;

	racks_fill(&racks, 1, 300);
	crossing_bound_find(&racks, &bound);
	crossing_build(&racks, bound.slices, &effort, 1, &found);
	while (made < MUTANTS) {
		enum kind kind = made % KINDS;

		corrupted = found;
		if (!corrupt(&corrupted, &racks, kind, &random))
			continue;
		made++;
		if (crossing_check(&racks, &corrupted))
			refused++;
		else
			printf("the checker accepted a mutant of kind %u\n", (uint32_t)kind);
	}
	printf("%u slices, %u of %u mutants refused\n", found.slices, refused, made);
	return found.slices && refused == made ? 0 : 1;
}
