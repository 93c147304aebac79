// SPDX-License-Identifier: GPL-2.0-only
/* Requests of many changes, whose planning, staging and loading take several holds of the lock. */
#include <string.h>
#include <sys/ioctl.h>

#include "allocation.h"
#include "schedule.h"

#define LONG 600000000000ULL
#define FEW 6u /* enough for planning */
#define MANY 70u /* staged in parts */
#define SKIP 10 /* of their allocations, only these fail one at a time */
#define RANKS 3u
#define STEPS 20u
#define FREE 4u /* accelerators */

static struct morph_change changes[MANY];
static int schedule = -1;

static void nothing(struct stage *stage)
{
	(void)stage;
}

static int run(struct stage *stage, unsigned int count, unsigned int flags)
{
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.head.flags = flags,
		.lease_ns = flags & MORPH_TXN_PREPARE ? LONG : 0,
		.cookie = flags & MORPH_TXN_PREPARE ? ++stage->prepared : 0,
	};
	int error = ERRNO(txn_run(stage->slice, changes, count, &args));

	stage->txn = args.out_txn;
	return error;
}

static int add(struct stage *stage, unsigned int count, unsigned int flags)
{
	unsigned int i, src;

	for (i = 0; i < count; i++) {
		src = i % RANKS;
		changes[i] = change_add(src, (src + 1 + i / RANKS % 2) % RANKS);
	}
	return run(stage, count, flags);
}

static int take(struct stage *stage, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		changes[i] = change_remove(changes[i].circuit);
	return run(stage, count, 0);
}

static int add_few(struct stage *stage)
{
	return add(stage, FEW, 0);
}

static void few_added(struct stage *stage)
{
	must(add_few(stage), "adding circuits");
}

static void few_removed(struct stage *stage)
{
	must(take(stage, FEW), "removing circuits");
}

static int move_few(struct stage *stage)
{
	unsigned int i;

	for (i = 0; i < FEW; i++) {
		unsigned int circuit = changes[i].circuit;

		changes[i] = change_add(0, 0);
		changes[i].op = MORPH_CHANGE_MOVE;
		changes[i].circuit = circuit;
	}
	return run(stage, FEW, 0);
}

static int add_many(struct stage *stage)
{
	return add(stage, MANY, 0);
}

static int add_many_each(struct stage *stage)
{
	return add(stage, MANY, MORPH_TXN_EACH);
}

static int add_many_dry(struct stage *stage)
{
	return add(stage, MANY, MORPH_TXN_DRY_RUN);
}

static void many_added(struct stage *stage)
{
	must(add_many(stage), "adding circuits");
}

static int remove_many(struct stage *stage)
{
	return take(stage, MANY);
}

static void many_removed(struct stage *stage)
{
	must(remove_many(stage), "removing circuits");
}

static int prepare_many(struct stage *stage)
{
	return add(stage, MANY, MORPH_TXN_PREPARE);
}

static int step(struct stage *stage, unsigned int verb)
{
	return ERRNO(txn_step(stage->slice, stage->txn, verb, verb == MORPH_TXN_COMMIT ? LONG : 0,
			      NULL));
}

static int commit(struct stage *stage)
{
	return step(stage, MORPH_TXN_COMMIT);
}

static int revert(struct stage *stage)
{
	return step(stage, MORPH_TXN_REVERT);
}

static void prepared(struct stage *stage)
{
	must(prepare_many(stage), "preparing");
}

static void reverted(struct stage *stage)
{
	must(revert(stage), "reverting");
}

/* Each step is one of two rings. */
static int load(struct stage *stage)
{
	static struct morph_schedule_circuit circuits[RANKS * STEPS];
	static struct morph_schedule_step steps[STEPS];
	static uint32_t held[RANKS * STEPS];
	struct morph_schedule_load args = {
		.head = HEAD(morph_schedule_load),
		.circuits = ARRAY(circuits, RANKS * STEPS),
		.held = ARRAY(held, RANKS * STEPS),
		.steps = ARRAY(steps, STEPS),
		.generation = GENERATION_ANY,
	};
	unsigned int i;

	for (i = 0; i < RANKS * STEPS; i++) {
		held[i] = i;
		circuits[i] = (struct morph_schedule_circuit){
			.src_rank = i % RANKS,
			.dst_rank = (i % RANKS + 1 + i / RANKS % 2) % RANKS,
			.src_plane = MORPH_PLANE_ANY,
			.dst_plane = MORPH_PLANE_ANY,
		};
		steps[i / RANKS].first = i - i % RANKS;
		steps[i / RANKS].count = RANKS;
	}
	args.head.flags = MORPH_SCHEDULE_LOOP;
	if (ioctl(stage->slice, MORPH_SCHEDULE_LOAD, &args))
		return errno;
	schedule = args.out_schedule;
	return 0;
}

static void unloaded(struct stage *stage)
{
	must(ERRNO(schedule_verb(stage->slice, schedule, MORPH_SCHEDULE_UNLOAD, 0, 0)),
	     "unloading");
}

static int create(struct stage *stage)
{
	stage->fd = slice_create(stage->sim.fd, FREE);
	return ERRNO(stage->fd);
}

static int create_ring_dry(struct stage *stage)
{
	struct morph_slice_create args = {
		.head.flags = MORPH_SLICE_RING | MORPH_SLICE_DRY_RUN,
	};

	return ERRNO(slice_create_with(stage->sim.fd, &args, NULL, FREE));
}

static void closed(struct stage *stage)
{
	close(stage->fd);
	stage->fd = -1;
}

static int ask_why_not(struct stage *stage)
{
	nl_begin(&stage->nl, MORPH_CMD_WHY_NOT, 0);
	nl_put_u32(&stage->nl, MORPH_A_WHY_NOT_FABRIC, stage->sim.number);
	nl_put_u32(&stage->nl, MORPH_A_WHY_NOT_COUNT, FREE);
	nl_put(&stage->nl, MORPH_A_WHY_NOT_RING, NULL, 0);
	return nl_do(&stage->nl);
}

const struct command big_commands[] = {
	{ "few-add", .act = add_few, .undo = few_removed },
	{ "few-move", .act = move_few, .set = few_added, .undo = few_removed,
	  .unset = few_removed },
	{ "many-add", .act = add_many, .undo = many_removed, .stride = SKIP },
	{ "many-add-each", .act = add_many_each, .undo = many_removed, .stride = SKIP },
	{ "many-add-dry", .act = add_many_dry, .stride = SKIP },
	{ "many-remove", .act = remove_many, .set = many_added, .undo = nothing,
	  .unset = many_removed },
	{ "many-prepare", .act = prepare_many, .undo = reverted, .stride = SKIP },
	{ "many-commit", .act = commit, .set = prepared, .undo = reverted, .unset = reverted,
	  .stride = SKIP },
	{ "many-revert", .act = revert, .set = prepared, .undo = nothing, .unset = reverted,
	  .stride = SKIP },
	{ "load-many", .act = load, .undo = unloaded },
	{ "create-four", .act = create, .undo = closed },
	{ "create-ring-dry", .act = create_ring_dry },
	{ "why-not-ring", .act = ask_why_not },
};

const unsigned int big_commands_count = COUNT(big_commands);
