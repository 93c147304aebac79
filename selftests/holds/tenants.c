// SPDX-License-Identifier: GPL-2.0-only
/* Workloads of tenants that spend as much time under fabric->lock as the driver lets them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "holds.h"

#define ADDITIONS 1024u
#define RANKS 64u
#define MATCHINGS 126u
#define STORM 64u
#define LIT_RANKS 256u
#define LIT_ROUNDS 4u
#define EVENTS 80u /* more than the queue of a file holds */

static unsigned int ranks_of(const struct scene *scene, unsigned int most)
{
	return scene->all < most ? scene->all : most;
}

static void dry_run(int slice, struct morph_change *changes, unsigned int count)
{
	struct morph_txn_run run = {
		.head.flags = MORPH_TXN_DRY_RUN,
		.generation = GENERATION_ANY,
	};

	txn_run(slice, changes, count, &run);
}

/* Additions to neighbours, which all succeed on a large fabric. */
static void add_neighbours(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS];
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int i;

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % scene->all, (i + 1) % scene->all);
	dry_run(slice, changes, ADDITIONS);
	end_slice(scene, slice);
}

/* Additions over long distances. */
static void add_distant(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS];
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int i, n = scene->all;

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % n, (i % n + n / 2) % n);
	dry_run(slice, changes, ADDITIONS);
	end_slice(scene, slice);
}

/* The same additions, lit, and then removed by one request. */
static void light_and_remove(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS];
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int i, lit = ADDITIONS;

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % scene->all, (i + 1) % scene->all);
	while (lit && txn_run(slice, changes, lit, NULL))
		lit /= 2;
	printf("# %u circuits\n", lit);
	for (i = 0; i < lit; i++)
		changes[i] = change_remove(changes[i].circuit);
	if (lit && txn_run(slice, changes, lit, NULL))
		stop("removal of circuits");
	end_slice(scene, slice);
}

/* The device fails to set elements, so the driver undoes all additions. */
static void roll_back(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS];
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int i;

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % scene->all, (i + 1) % scene->all);
	if (sim_control(&scene->sim, "fault", "programming_error - every=1"))
		stop("fault");
	for (i = ADDITIONS; i >= ADDITIONS / 8; i /= 2)
		txn_run(slice, changes, i, NULL);
	if (sim_control(&scene->sim, "clear", "all"))
		stop("clear");
	end_slice(scene, slice);
}

/* Searches that fail: more lanes than the way to the most distant accelerators has. */
static void search_in_vain(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int i, lanes;

	for (lanes = 1; lanes <= 64; lanes *= 2)
		for (i = 1; i <= 4; i++) {
			struct morph_change change = change_add(0, scene->all - i);

			change.lanes_count = lanes;
			dry_run(slice, &change, 1);
		}
	end_slice(scene, slice);
}

static void create_slices(struct scene *scene)
{
	unsigned int size;

	for (size = 2; size <= scene->all; size *= 2)
		end_slice(scene, need_slice(scene, size, MORPH_FAILOVER_NONE));
}

/* A slice that may fail over, of all free accelerators in the opposite order. */
static void create_listed(struct scene *scene)
{
	struct morph_rank_info *ranks = calloc(scene->all, sizeof(*ranks));
	uint32_t *listed = calloc(scene->all, sizeof(*listed));
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	struct morph_slice_info info;
	unsigned int i;

	if (!ranks || !listed || slice_read(slice, &info, ranks, scene->all, NULL, 0))
		stop("ranks");
	for (i = 0; i < scene->all; i++)
		listed[i] = ranks[scene->all - 1 - i].accelerator;
	end_slice(scene, slice);
	slice = slice_create_at(scene->sim.fd, listed, scene->all);
	if (slice < 0)
		stop("slice of listed accelerators");
	free(ranks);
	free(listed);
	end_slice(scene, slice);
}

static void place_big(struct scene *scene)
{
	struct morph_slice_create create = { .head.flags = MORPH_SLICE_DRY_RUN };
	unsigned int size;

	for (size = scene->all; size >= 2; size /= 2) {
		create.head.flags = MORPH_SLICE_DRY_RUN;
		slice_create_with(scene->sim.fd, &create, NULL, size);
	}
}

void fill_matchings(unsigned int ranks, unsigned int count, struct morph_schedule_circuit *circuits,
		    struct morph_schedule_step *steps, uint32_t *held)
{
	unsigned int step, rank, at = 0;

	for (step = 0; step < count; step++) {
		steps[step] = (struct morph_schedule_step){ .first = at, .count = ranks };
		for (rank = 0; rank < ranks; rank++, at++) {
			held[at] = at;
			circuits[at] = (struct morph_schedule_circuit){
				.src_rank = rank,
				.dst_rank = (rank + 1 + step % (ranks - 1)) % ranks,
				.src_plane = MORPH_PLANE_ANY,
				.dst_plane = MORPH_PLANE_ANY,
			};
		}
	}
}

/* The stray light of each step must be judged, because there is another slice. */
static void load_schedule(struct scene *scene)
{
	static struct morph_schedule_circuit circuits[RANKS * MATCHINGS];
	static struct morph_schedule_step steps[MATCHINGS];
	static uint32_t held[RANKS * MATCHINGS];
	unsigned int ranks = scene->all - 2 < RANKS ? scene->all - 2 : RANKS;
	int slice = need_slice(scene, ranks, MORPH_FAILOVER_NONE);
	int neighbour = need_slice(scene, 2, MORPH_FAILOVER_NONE);
	struct morph_schedule_load load = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, ranks * MATCHINGS),
		.held = ARRAY(held, ranks * MATCHINGS),
		.steps = ARRAY(steps, MATCHINGS),
		.generation = GENERATION_ANY,
	};

	light_some(neighbour, 2);
	load.head.flags = MORPH_SCHEDULE_LOOP;
	fill_matchings(ranks, MATCHINGS, circuits, steps, held);
	if (ioctl(slice, MORPH_SCHEDULE_LOAD, &load))
		printf("# load of a schedule: %s\n", last_detail);
	else
		schedule_act(slice, load.out_schedule, MORPH_SCHEDULE_UNLOAD, NULL);
	close(neighbour);
	end_slice(scene, slice);
}

#define PREPARED 64
#define ADDITIONS_EACH 16

/* The slice ends with many prepared transactions; lanes limit their number. */
static void revoke_prepared(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS_EACH];
	int slice = need_slice(scene, ranks_of(scene, RANKS), MORPH_FAILOVER_NONE);
	unsigned int ranks = ranks_of(scene, RANKS), next = 0, n, i;

	for (n = 0; n < PREPARED; n++) {
		struct morph_txn_run run = {
			.head.flags = MORPH_TXN_PREPARE,
			.generation = GENERATION_ANY,
			.lease_ns = 600000000000ULL,
		};

		for (i = 0; i < ADDITIONS_EACH; i++, next++)
			changes[i] = change_add(next % ranks, (next + 1) % ranks);
		if (txn_run(slice, changes, ADDITIONS_EACH, &run))
			break;
	}
	printf("# %u prepared transactions\n", n);
	end_slice(scene, slice);
}

/* The slice ends with one prepared transaction of many additions. */
static void revoke_big(struct scene *scene)
{
	static struct morph_change changes[ADDITIONS];
	unsigned int ranks = ranks_of(scene, ADDITIONS), count, i;
	int slice = need_slice(scene, ranks, MORPH_FAILOVER_NONE);

	for (i = 0; i < ADDITIONS; i++)
		changes[i] = change_add(i % ranks, (i + 1) % ranks);
	for (count = ADDITIONS; count; count /= 2) {
		struct morph_txn_run run = {
			.head.flags = MORPH_TXN_PREPARE,
			.generation = GENERATION_ANY,
			.lease_ns = 600000000000ULL,
		};

		if (!txn_run(slice, changes, count, &run))
			break;
	}
	printf("# %u additions in a prepared transaction\n", count);
	end_slice(scene, slice);
}

/* The slice has many circuits and a state page. */
static void end_lit(struct scene *scene)
{
	unsigned int ranks = ranks_of(scene, LIT_RANKS), lit;
	int slice = need_slice(scene, ranks, MORPH_FAILOVER_NONE);
	void *page = mmap(NULL, MORPH_STATE_BYTES(ranks * ranks), PROT_READ, MAP_SHARED, slice, 0);

	if (page == MAP_FAILED)
		stop("state page");
	for (lit = 0; lit < LIT_ROUNDS && light_some(slice, ranks); lit++)
		;
	munmap(page, MORPH_STATE_BYTES(ranks * ranks));
	end_slice(scene, slice);
}

/* All protections of a slice become obsolete at once. */
static void change_policy(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (slice_policy(slice, i % 2 ? MORPH_FAILOVER_NONE : MORPH_FAILOVER_AUTOMATIC))
			stop("policy");
	end_slice(scene, slice);
}

static void open_and_close(struct scene *scene)
{
	unsigned int i;

	for (i = 0; i < STORM; i++)
		close(open_fabric(scene->sim.number));
	for (i = 0; i < STORM; i++) {
		int slice = slice_create(scene->sim.fd, 2);

		/* The accelerators of closed slices become free later. */
		if (slice >= 0)
			close(slice);
	}
	if (!WAIT_UNTIL(sim_no_slices(&scene->sim)))
		stop("end of slices");
}

static void ignore(const struct nlmsghdr *message, void *context)
{
	(void)message;
	(void)context;
}

static void dump(struct scene *scene, uint8_t command)
{
	nl_begin(&scene->nl, command, 0);
	nl_dump(&scene->nl, ignore, NULL);
}

static void dump_hardware(struct scene *scene)
{
	dump(scene, MORPH_CMD_HARDWARE_GET);
	dump(scene, MORPH_CMD_ACCELERATOR_GET);
	dump(scene, MORPH_CMD_SLICE_GET);
	dump(scene, MORPH_CMD_TXN_GET);
}

static void ask_why_not(struct scene *scene)
{
	unsigned int size;

	for (size = 2; size <= scene->all; size *= 2) {
		nl_begin(&scene->nl, MORPH_CMD_WHY_NOT, 0);
		nl_put_u32(&scene->nl, MORPH_A_WHY_NOT_FABRIC, scene->sim.number);
		nl_put_u32(&scene->nl, MORPH_A_WHY_NOT_COUNT, size);
		nl_put(&scene->nl, MORPH_A_WHY_NOT_RING, NULL, 0);
		nl_do(&scene->nl);
	}
}

static void read_slice(struct scene *scene)
{
	int slice = need_slice(scene, 0, MORPH_FAILOVER_NONE);
	unsigned int lit = light_some(slice, ranks_of(scene, RANKS));
	struct morph_circuit_info *circuits = calloc(lit + 1, sizeof(*circuits));
	struct morph_rank_info *ranks = calloc(scene->all, sizeof(*ranks));
	struct morph_slice_info info;

	if (!circuits || !ranks || slice_read(slice, &info, ranks, scene->all, circuits, lit))
		stop("whole slice");
	free(circuits);
	free(ranks);
	end_slice(scene, slice);
}

static void overflow_events(struct scene *scene)
{
	int slice = need_slice(scene, 2, MORPH_FAILOVER_NONE);
	struct morph_circuit_info circuit;
	struct morph_change change;
	struct morph_slice_info info;
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		change = change_add(0, 1);
		if (txn_run(slice, &change, 1, NULL) ||
		    slice_read(slice, &info, NULL, 0, &circuit, 1))
			stop("circuit");
		change = change_remove(circuit.circuit);
		if (txn_run(slice, &change, 1, NULL))
			stop("removal of a circuit");
	}
	end_slice(scene, slice);
}

const struct workload tenants[] = {
	{ "dry run of 1,024 additions to neighbours", add_neighbours },
	{ "dry run of 1,024 distant additions", add_distant },
	{ "1,024 circuits lit and removed", light_and_remove },
	{ "1,024 circuits rolled back", roll_back },
	{ "route searches that fail", search_in_vain },
	{ "slices of all sizes", create_slices },
	{ "slice of listed accelerators", create_listed },
	{ "placement of big slices", place_big },
	{ "load of a schedule", load_schedule },
	{ "end of prepared transactions", revoke_prepared },
	{ "end of one big prepared transaction", revoke_big },
	{ "end of a slice with many circuits", end_lit },
	{ "policies of a big slice", change_policy },
	{ "storm of opens and closes", open_and_close },
	{ "dumps of hardware and slices", dump_hardware },
	{ "why-not of rings", ask_why_not },
	{ "read of a whole slice", read_slice },
	{ "overflow of events", overflow_events },
	{ NULL, NULL },
};
