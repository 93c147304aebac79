// SPDX-License-Identifier: GPL-2.0-only
/* Workloads whose requests move many circuits, or remove some and add others. */
#include <stdio.h>
#include <stdlib.h>

#include "holds.h"

#define CIRCUITS 1024u

static struct morph_change changes[CIRCUITS];
static uint32_t circuits[CIRCUITS];

static int run(int slice, unsigned int count, uint32_t flags)
{
	struct morph_txn_run run = {
		.head.flags = flags,
		.generation = GENERATION_ANY,
		.lease_ns = flags & MORPH_TXN_PREPARE ? 600000000000ULL : 0,
	};

	return txn_run(slice, changes, count, &run);
}

/* Light as many circuits between neighbours as one request can. */
static unsigned int light(const struct scene *scene, int slice)
{
	unsigned int i, lit;

	for (i = 0; i < CIRCUITS; i++)
		changes[i] = change_add(i % scene->all, (i + 1) % scene->all);
	for (lit = CIRCUITS; lit && run(slice, lit, 0);)
		lit /= 2;
	for (i = 0; i < lit; i++)
		circuits[i] = changes[i].circuit;
	printf("# %u circuits\n", lit);
	return lit;
}

static void fill_moves(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		changes[i] = (struct morph_change){
			.op = MORPH_CHANGE_MOVE,
			.circuit = circuits[i],
			.src_plane = MORPH_PLANE_ANY,
			.dst_plane = MORPH_PLANE_ANY,
		};
}

/* Each circuit moves to any path, also to parts that other moved circuits have had. */
static void move(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int lit = light(scene, slice);

	fill_moves(lit);
	if (lit && run(slice, lit, 0))
		stop("moves");
	end_slice(scene, slice);
}

static void try_moves(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int lit = light(scene, slice);

	fill_moves(lit);
	if (lit && run(slice, lit, MORPH_TXN_DRY_RUN))
		stop("dry run of moves");
	end_slice(scene, slice);
}

/* The prepared transaction ends with its slice. */
static void prepare_moves(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int lit = light(scene, slice);

	fill_moves(lit);
	if (lit && run(slice, lit, MORPH_TXN_PREPARE))
		stop("prepared moves");
	end_slice(scene, slice);
}

static void roll_back_moves(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int lit = light(scene, slice);

	fill_moves(lit);
	if (sim_control(&scene->sim, "fault", "programming_error -"))
		stop("fault");
	if (lit)
		run(slice, lit, 0);
	if (sim_control(&scene->sim, "clear", "all"))
		stop("clear");
	end_slice(scene, slice);
}

/* One request removes half of the circuits, and adds as many between the same ranks. */
static void replace(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int lit = light(scene, slice), i;

	for (i = 0; i < lit; i++) {
		if (i % 2)
			changes[i] = change_add((i - 1) % scene->all, i % scene->all);
		else
			changes[i] = change_remove(circuits[i]);
	}
	if (lit && run(slice, lit, 0))
		stop("replacement");
	end_slice(scene, slice);
}

const struct workload moves[] = {
	{ "1,024 circuits moved", move },
	{ "dry run of 1,024 moves", try_moves },
	{ "1,024 moves prepared and revoked", prepare_moves },
	{ "1,024 moves rolled back", roll_back_moves },
	{ "512 circuits removed and 512 added", replace },
	{ NULL, NULL },
};
