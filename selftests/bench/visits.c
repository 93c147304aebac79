// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost must follow the change, never the size of the fabric. The core counts the elements and
 * lanes that it visits, and the router its steps. The same operation on the same shape must have
 * the same count on every profile. The benchmark fails if a count is higher.
 *
 * The router also examines the surroundings of its path. Tiles of server4 have no fibres, so routes
 * of the kernel are compared between rack64 and pod4096. In a ring of two servers both directions
 * meet at once, in a pod they do not. So a search for one circuit may visit a few more tiles there,
 * at most BESIDE, whatever the size of the pod.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const char *const profiles[] = { "server4", "rack64", "pod4096" };

#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

#define BESIDE 8

enum operation {
	MOVE,
	MOVE_ROUTED,
	SLICE,
	FAILOVER,
	OPERATIONS,
};

static const struct {
	const char *name;
	unsigned int reference; /* profile */
	double limit;
	unsigned int beside; /* further steps that the router may take */
} operations[OPERATIONS] = {
	[MOVE] = { "reconfigure a circuit", 0, 1, 0 },
	[MOVE_ROUTED] = { "reconfigure, the kernel routes", 1, 1.1, BESIDE },
	[SLICE] = { "slice of 4, ring, release", 1, 1.1, 0 },
	[FAILOVER] = { "failover", 1, 1.1, 0 },
};

static struct visits since(const struct sim *sim, const struct visits *before)
{
	struct visits now;

	visits_quiet(sim);
	visits_read(sim, &now);
	return (struct visits){
		.elements = now.elements - before->elements,
		.lanes = now.lanes - before->lanes,
		.steps = now.steps - before->steps,
	};
}

/* Make one slice of the whole first server. */
static void slice_once(struct sim *sim)
{
	static const uint32_t members[] = { 0, 1, 2, 3 };
	unsigned int all = sim->info.free;
	struct morph_slice_create create = { .failover = MORPH_FAILOVER_NONE };
	int slice = slice_create_with(sim->fd, &create, members, 4);

	if (slice < 0 || light_ring(slice, 4))
		stop("slice on the first server");
	close(slice);
	if (!sim_wait_free(sim, all))
		wrong("%s: the slice is not free again", sim->name);
}

static void measure(const char *profile, struct visits *visits)
{
	struct failover failover;
	unsigned int server = 0;
	struct visits before;
	struct pair pair;
	struct move move;
	struct sim sim;

	pair_start(&pair, profile, MORPH_FAILOVER_NONE);
	visits_quiet(&pair.sim);
	visits_read(&pair.sim, &before);
	pair_move(&pair, false, &move);
	visits[MOVE] = since(&pair.sim, &before);
	visits_read(&pair.sim, &before);
	pair_move(&pair, true, &move);
	visits[MOVE_ROUTED] = since(&pair.sim, &before);
	pair_stop(&pair);

	sim_start(&sim, profile, INSTANT);
	visits_quiet(&sim);
	visits_read(&sim, &before);
	slice_once(&sim);
	visits[SLICE] = since(&sim, &before);
	visits_read(&sim, &before);
	failover_run(&sim, &server, &failover);
	visits[FAILOVER] = since(&sim, &before);
	sim_stop(&sim);
}

/* @room: allowed count above the limit of @operation. */
static void report_one(const char *what, enum operation operation, long long reference,
		       unsigned int room, long long value, const char *profile)
{
	static struct samples samples;
	const double limit =
		operations[operation].limit + (reference ? (double)room / reference : 0);
	const char *reference_name = profiles[operations[operation].reference];
	char name[96];
	struct row row = {
		.name = name,
		.unit = "visits",
		.reference_name = reference_name,
		.reference = reference,
		.limit = limit,
	};

	samples.count = 0;
	sample_add(&samples, value);
	snprintf(name, sizeof(name), "%s, %s, %s", operations[operation].name, profile, what);
	report(&row, &samples);
	if (value > limit * reference)
		wrong("%s: %lld, but %lld on %s: cost follows the fabric", name, value, reference,
		      reference_name);
}

void bench_visits(void)
{
	static struct visits visits[PROFILES][OPERATIONS];
	unsigned int i, op;

	for (i = 0; i < PROFILES; i++)
		measure(profiles[i], visits[i]);
	for (op = 0; op < OPERATIONS; op++) {
		const struct visits *least = &visits[operations[op].reference][op];

		for (i = operations[op].reference; i < PROFILES; i++) {
			const struct visits *seen = &visits[i][op];

			report_one("elements", op, least->elements, 0, seen->elements, profiles[i]);
			report_one("lanes", op, least->lanes, 0, seen->lanes, profiles[i]);
			report_one("router's steps", op, least->steps, operations[op].beside,
				   seen->steps, profiles[i]);
		}
	}
}
