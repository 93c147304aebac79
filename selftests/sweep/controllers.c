// SPDX-License-Identifier: GPL-2.0-only
/* Every command on controllers, and on the lanes that they reserve. */
#include "allocation.h"

#define LONG 600000000000ULL
#define NEW 9 /* a controller that does not exist yet */
#define EPOCH 5
#define LANES 2

static int control(struct stage *stage, uint8_t cmd, uint64_t epoch)
{
	return nl_control(&stage->nl, cmd, stage->edges.number, NEW, epoch, LONG);
}

static struct nl *begin(struct stage *stage, uint8_t cmd)
{
	nl_begin(&stage->nl, cmd, 0);
	nl_put_u32(&stage->nl, MORPH_A_CONTROLLER_FABRIC, stage->edges.number);
	nl_put_u32(&stage->nl, MORPH_A_CONTROLLER_ID, NEW);
	return &stage->nl;
}

static struct nl *begin_lanes(struct stage *stage, uint8_t cmd)
{
	nl_begin(&stage->nl, cmd, 0);
	nl_put_u32(&stage->nl, MORPH_A_RESERVATION_FABRIC, stage->edges.number);
	nl_put_u32(&stage->nl, MORPH_A_RESERVATION_CONTROLLER, NEW);
	nl_put_u32(&stage->nl, MORPH_A_RESERVATION_GUIDE, stage->guide);
	return &stage->nl;
}

static int take(struct stage *stage)
{
	return control(stage, MORPH_CMD_CONTROLLER_TAKE, EPOCH);
}

static int renew(struct stage *stage)
{
	return control(stage, MORPH_CMD_CONTROLLER_RENEW, EPOCH);
}

static int settle(struct stage *stage)
{
	struct nl *nl = begin(stage, MORPH_CMD_CONTROLLER_SETTLE);

	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, EPOCH + 1);
	return nl_do(nl);
}

static int drop(struct stage *stage)
{
	return nl_do(begin(stage, MORPH_CMD_CONTROLLER_DROP));
}

static int get(struct stage *stage)
{
	return nl_do(begin(stage, MORPH_CMD_CONTROLLER_GET));
}

static int dump(struct stage *stage)
{
	nl_begin(&stage->nl, MORPH_CMD_CONTROLLER_GET, 0);
	nl_put_u32(&stage->nl, MORPH_A_CONTROLLER_FABRIC, stage->edges.number);
	return nl_dump(&stage->nl, NULL, NULL);
}

static int reserve(struct stage *stage)
{
	struct nl *nl = begin_lanes(stage, MORPH_CMD_RESERVATION_SET);

	nl_put_u64(nl, MORPH_A_RESERVATION_EPOCH, EPOCH);
	nl_put_u32(nl, MORPH_A_RESERVATION_LANES_COUNT, LANES);
	return nl_do(nl);
}

static int get_lanes(struct stage *stage)
{
	return nl_do(begin_lanes(stage, MORPH_CMD_RESERVATION_GET));
}

static int dump_lanes(struct stage *stage)
{
	nl_begin(&stage->nl, MORPH_CMD_RESERVATION_GET, 0);
	nl_put_u32(&stage->nl, MORPH_A_RESERVATION_FABRIC, stage->edges.number);
	return nl_dump(&stage->nl, NULL, NULL);
}

static void taken(struct stage *stage)
{
	must(take(stage), "controller-take");
}

static void reserved(struct stage *stage)
{
	taken(stage);
	must(reserve(stage), "reservation-set");
}

/* A later epoch has begun, in which no lane has been reserved again. */
static void outlived(struct stage *stage)
{
	struct nl *nl;

	reserved(stage);
	nl = begin(stage, MORPH_CMD_CONTROLLER_TAKE);
	nl_put_u64(nl, MORPH_A_CONTROLLER_EPOCH, EPOCH + 1);
	nl_put_u64(nl, MORPH_A_CONTROLLER_LEASE_NS, LONG);
	nl_put(nl, MORPH_A_CONTROLLER_FORCE, NULL, 0);
	must(nl_do(nl), "controller-take");
}

static void dropped(struct stage *stage)
{
	must(drop(stage), "controller-drop");
}

static void nothing(struct stage *stage)
{
	(void)stage;
}

const struct command controller_commands[] = {
	{ "nl-controller-take", .act = take, .undo = dropped },
	{ "nl-controller-renew", .act = renew, .set = taken, .undo = dropped, .unset = dropped },
	{ "nl-controller-drop", .act = drop, .set = reserved, .undo = nothing, .unset = dropped },
	{ "nl-controller-get", .act = get, .set = taken, .undo = dropped, .unset = dropped },
	{ "nl-controller-dump", .act = dump, .set = taken, .undo = dropped, .unset = dropped },
	{ "nl-reservation-set", .act = reserve, .set = taken, .undo = dropped, .unset = dropped },
	{ "nl-reservation-get", .act = get_lanes, .set = reserved, .undo = dropped,
	  .unset = dropped },
	{ "nl-reservation-dump", .act = dump_lanes, .set = reserved, .undo = dropped,
	  .unset = dropped },
	{ "nl-controller-settle", .act = settle, .set = outlived, .undo = dropped,
	  .unset = dropped },
};

const unsigned int controller_commands_count = COUNT(controller_commands);
