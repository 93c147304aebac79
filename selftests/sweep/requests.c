// SPDX-License-Identifier: GPL-2.0-only
/* Every command of the netlink family. */
#include <stdlib.h>
#include <unistd.h>

#include "allocation.h"

#define LONG 600000000000ULL
/* A user with the default limits, until a command sets others. */
#define USER 4444
/* A user that has nothing and is unknown to the driver. */
#define STRANGER 5555
#define DEFAULT 65536
/* An unused element, and an unused accelerator. */
#define ELEMENT(stage) ((stage)->sim.info.elements - 1)
#define IDLE 7

static struct nl *begin(struct stage *stage, uint8_t cmd, uint16_t fabric)
{
	nl_begin(&stage->nl, cmd, 0);
	nl_put_u32(&stage->nl, fabric, stage->sim.number);
	return &stage->nl;
}

/* A get of one object and a dump of all objects. Both have the same attributes. */
#define GET(name, CMD, FABRIC, ...)                                              \
	static int get_##name(struct stage *stage)                               \
	{                                                                        \
		struct nl *nl = begin(stage, MORPH_CMD_##CMD, MORPH_A_##FABRIC); \
		(void)nl;                                                        \
		__VA_ARGS__;                                                     \
		return nl_do(nl);                                                \
	}

#define DUMP(name, CMD, FABRIC)                                                  \
	static int dump_##name(struct stage *stage)                              \
	{                                                                        \
		struct nl *nl = begin(stage, MORPH_CMD_##CMD, MORPH_A_##FABRIC); \
		return nl_dump(nl, NULL, NULL);                                  \
	}

GET(fabric, FABRIC_GET, FABRIC_ID)
DUMP(fabric, FABRIC_GET, FABRIC_ID)
GET(accelerator, ACCELERATOR_GET, ACCELERATOR_FABRIC, nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, 0))
DUMP(accelerator, ACCELERATOR_GET, ACCELERATOR_FABRIC)
GET(guide, GUIDE_GET, GUIDE_FABRIC, nl_put_u32(nl, MORPH_A_GUIDE_ID, 0))
DUMP(guide, GUIDE_GET, GUIDE_FABRIC)
GET(element, ELEMENT_GET, ELEMENT_FABRIC, nl_put_u32(nl, MORPH_A_ELEMENT_ID, 0))
DUMP(element, ELEMENT_GET, ELEMENT_FABRIC)
GET(slice, SLICE_GET, SLICE_FABRIC, nl_put_u32(nl, MORPH_A_SLICE_ID, stage->number))
DUMP(slice, SLICE_GET, SLICE_FABRIC)
GET(circuit, CIRCUIT_GET, CIRCUIT_FABRIC, nl_put_u32(nl, MORPH_A_CIRCUIT_SLICE, stage->number);
    nl_put_u32(nl, MORPH_A_CIRCUIT_ID, stage->circuits[0]))
DUMP(circuit, CIRCUIT_GET, CIRCUIT_FABRIC)
GET(txn, TXN_GET, TXN_FABRIC, nl_put_u32(nl, MORPH_A_TXN_ID, stage->txn))
DUMP(txn, TXN_GET, TXN_FABRIC)
GET(hardware, HARDWARE_GET, HARDWARE_FABRIC,
    nl_put_u32(nl, MORPH_A_HARDWARE_PART, MORPH_PART_ELEMENT);
    nl_put_u32(nl, MORPH_A_HARDWARE_INDEX, 0))
DUMP(hardware, HARDWARE_GET, HARDWARE_FABRIC)
GET(stats, STATS_GET, STATS_FABRIC, )
DUMP(stats, STATS_GET, STATS_FABRIC)
GET(why_not, WHY_NOT, WHY_NOT_FABRIC, nl_put_u32(nl, MORPH_A_WHY_NOT_COUNT, 99))
DUMP(edge, EDGE_GET, EDGE_FABRIC)

/* Make a ring of two named accelerators. */
static int get_why_not_ring(struct stage *stage)
{
	struct nl *nl = begin(stage, MORPH_CMD_WHY_NOT, MORPH_A_WHY_NOT_FABRIC);

	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, IDLE);
	nl_put_u32(nl, MORPH_A_WHY_NOT_ACCELERATOR, IDLE - 2);
	nl_put(nl, MORPH_A_WHY_NOT_RING, NULL, 0);
	return nl_do(nl);
}

static int get_quota(struct stage *stage)
{
	nl_begin(&stage->nl, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(&stage->nl, MORPH_A_QUOTA_UID, 0);
	return nl_do(&stage->nl);
}

static int dump_quota(struct stage *stage)
{
	nl_begin(&stage->nl, MORPH_CMD_QUOTA_GET, 0);
	return nl_dump(&stage->nl, NULL, NULL);
}

static int limit(struct stage *stage, uint32_t circuits)
{
	nl_begin(&stage->nl, MORPH_CMD_QUOTA_SET, 0);
	nl_put_u32(&stage->nl, MORPH_A_QUOTA_UID, USER);
	nl_put_u32(&stage->nl, MORPH_A_QUOTA_CIRCUITS, circuits);
	return nl_do(&stage->nl);
}

static int set_quota(struct stage *stage)
{
	return limit(stage, 17);
}

static void reset_quota(struct stage *stage)
{
	must(limit(stage, DEFAULT), "quota-set");
}

/* ------------------------------------------------------------------- hardware */

static int use(struct stage *stage, uint32_t use)
{
	struct nl *nl = begin(stage, MORPH_CMD_ACCELERATOR_SET, MORPH_A_ACCELERATOR_FABRIC);

	nl_put_u32(nl, MORPH_A_ACCELERATOR_ID, IDLE);
	nl_put_u32(nl, MORPH_A_ACCELERATOR_USE, use);
	return nl_do(nl);
}

static int make_spare(struct stage *stage)
{
	return use(stage, MORPH_USE_SPARE);
}

static void make_free(struct stage *stage)
{
	must(use(stage, MORPH_USE_FREE), "accelerator-set");
}

static struct nl *part(struct stage *stage, uint8_t cmd)
{
	nl_on_part(&stage->nl, cmd, stage->sim.number, MORPH_PART_ELEMENT, ELEMENT(stage));
	return &stage->nl;
}

static int cordon(struct stage *stage)
{
	struct nl *nl = part(stage, MORPH_CMD_HARDWARE_SET);

	nl_put_u8(nl, MORPH_A_HARDWARE_CORDONED, 1);
	return nl_do(nl);
}

static void uncordon(struct stage *stage)
{
	struct nl *nl = part(stage, MORPH_CMD_HARDWARE_SET);

	nl_put_u8(nl, MORPH_A_HARDWARE_CORDONED, 0);
	must(nl_do(nl), "hardware-set");
}

static int fail(struct stage *stage)
{
	return nl_do(part(stage, MORPH_CMD_HARDWARE_FAIL));
}

static int test(struct stage *stage)
{
	return nl_do(part(stage, MORPH_CMD_HARDWARE_TEST));
}

static void failed(struct stage *stage)
{
	must(fail(stage), "hardware-fail");
}

static void tested(struct stage *stage)
{
	must(test(stage), "hardware-test");
}

static void nothing(struct stage *stage)
{
	(void)stage;
}

/* --------------------------------------------------------------------- slices */

static int create_for(struct stage *stage, uint32_t owner)
{
	struct nl *nl = begin(stage, MORPH_CMD_SLICE_CREATE, MORPH_A_SLICE_FABRIC);

	nl_put_text(nl, MORPH_A_SLICE_NAME, "asked");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, owner);
	nl_put_u32(nl, MORPH_A_SLICE_RANKS_COUNT, 2);
	return nl_do(nl);
}

static int create(struct stage *stage)
{
	return create_for(stage, 0);
}

static int create_for_stranger(struct stage *stage)
{
	return create_for(stage, STRANGER);
}

static void created(struct stage *stage)
{
	must(create(stage), "slice-create");
	stage->txn = REPLY_U32(&stage->nl, MORPH_A_SLICE_ID);
}

static int delete (struct stage *stage)
{
	struct nl *nl = begin(stage, MORPH_CMD_SLICE_DELETE, MORPH_A_SLICE_FABRIC);

	nl_put_u32(nl, MORPH_A_SLICE_ID, stage->txn);
	return nl_do(nl);
}

/* Delete by name: the client may have lost the reply with the number. */
static void deleted(struct stage *stage)
{
	must(ERRNO(slice_delete(stage->sim.fd, MORPH_ANY, "asked", 0)), "slice-delete");
}

static int policy(struct stage *stage)
{
	struct nl *nl = begin(stage, MORPH_CMD_SLICE_SET, MORPH_A_SLICE_FABRIC);

	nl_put_u32(nl, MORPH_A_SLICE_ID, stage->number);
	nl_put_u32(nl, MORPH_A_SLICE_FAILOVER, MORPH_FAILOVER_NONE);
	return nl_do(nl);
}

static void policy_back(struct stage *stage)
{
	must(ERRNO(slice_policy(stage->slice, MORPH_FAILOVER_AUTOMATIC)), "policy");
}

/* The kernel makes its node again. */
static int own(struct stage *stage, uint32_t owner, uint32_t mode)
{
	struct nl *nl = begin(stage, MORPH_CMD_SLICE_SET, MORPH_A_SLICE_FABRIC);

	nl_put_u32(nl, MORPH_A_SLICE_ID, stage->named);
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, owner);
	nl_put_u32(nl, MORPH_A_SLICE_MODE, mode);
	return nl_do(nl);
}

static int give_away(struct stage *stage)
{
	return own(stage, USER, 0640);
}

static void take_home(struct stage *stage)
{
	must(own(stage, 0, 0600), "slice-set");
}

static int put_preference(struct stage *stage, uint32_t spare)
{
	struct nl *nl = begin(stage, MORPH_CMD_SLICE_SET, MORPH_A_SLICE_FABRIC);
	size_t nest;

	nl_put_u32(nl, MORPH_A_SLICE_ID, stage->number);
	nest = nl_nest(nl, MORPH_A_SLICE_PREFERENCE);
	nl_put_u32(nl, MORPH_A_PREFERENCE_RANK, 0);
	nl_put_u32(nl, MORPH_A_PREFERENCE_SPARE, spare);
	nl_nest_end(nl, nest);
	return nl_do(nl);
}

static int prefer(struct stage *stage)
{
	return put_preference(stage, stage->spare);
}

static void prefer_none(struct stage *stage)
{
	must(put_preference(stage, MORPH_ANY), "prefer");
}

static int replace(struct stage *stage)
{
	struct nl *nl = begin(stage, MORPH_CMD_REPLACE, MORPH_A_REPLACE_FABRIC);

	nl_put_u32(nl, MORPH_A_REPLACE_SLICE, stage->number);
	nl_put_u32(nl, MORPH_A_REPLACE_RANK, 0);
	return nl_do(nl);
}

/* --------------------------------------------------------------- transactions */

static int apply(struct stage *stage, uint16_t flag)
{
	nl_apply(&stage->nl, stage->sim.number, stage->number);
	if (flag)
		nl_put(&stage->nl, flag, NULL, 0);
	if (flag == MORPH_A_TXN_PREPARE)
		nl_put_u64(&stage->nl, MORPH_A_TXN_LEASE_NS, LONG);
	nl_put_add(&stage->nl, 1, 0);
	return nl_do(&stage->nl);
}

int ask_add(struct stage *stage)
{
	return apply(stage, 0);
}

static int apply_each(struct stage *stage)
{
	return apply(stage, MORPH_A_TXN_EACH);
}

static int apply_dry(struct stage *stage)
{
	return apply(stage, MORPH_A_TXN_DRY_RUN);
}

/* The last circuit of the slice is the one that the command added. */
void take_back(struct stage *stage)
{
	struct morph_change change;
	struct view view;

	must(ERRNO(view_read(stage->slice, &view)), "reading the slice");
	change = change_remove(view.circuits[view.info.circuits.count - 1].circuit);
	must(ERRNO(txn_run(stage->slice, &change, 1, NULL)), "removing the circuit");
}

static int apply_prepare(struct stage *stage)
{
	return apply(stage, MORPH_A_TXN_PREPARE);
}

static int run_prepared(struct stage *stage)
{
	struct morph_change change = change_add(1, 0);
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.head.flags = MORPH_TXN_PREPARE,
		.lease_ns = LONG,
		.cookie = ++stage->prepared,
	};
	int error = ERRNO(txn_run(stage->slice, &change, 1, &args));

	stage->txn = args.out_txn;
	return error;
}

static void prepared(struct stage *stage)
{
	must(run_prepared(stage), "preparing");
}

static void revert_open(const struct nlmsghdr *message, void *context)
{
	uint32_t outcome = nl_get_u32(nl_find(message, MORPH_A_TXN_OUTCOME));
	uint32_t txn = nl_get_u32(nl_find(message, MORPH_A_TXN_ID));
	const struct stage *stage = context;

	/* The state shows a transaction that could not be reverted. */
	if (outcome == MORPH_OUTCOME_PREPARED || outcome == MORPH_OUTCOME_UNCONFIRMED)
		txn_step(stage->slice, txn, MORPH_TXN_REVERT, 0, NULL);
}

/* Revert all prepared transactions: the client may have lost the reply with the number. */
static void reverted(struct stage *stage)
{
	/* Close the socket first, because the rest of a lost answer does not belong to the dump. */
	nl_close(&stage->nl);
	must(nl_open(&stage->nl), "netlink");
	must(nl_dump(begin(stage, MORPH_CMD_TXN_GET, MORPH_A_TXN_FABRIC), revert_open, stage),
	     "txn-get");
}

static int commit(struct stage *stage)
{
	struct nl *nl = begin(stage, MORPH_CMD_TXN_STEP, MORPH_A_TXN_FABRIC);

	nl_put_u32(nl, MORPH_A_TXN_ID, stage->txn);
	nl_put_u32(nl, MORPH_A_TXN_VERB, MORPH_TXN_COMMIT);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, LONG);
	return nl_do(nl);
}

const struct command netlink_commands[] = {
	{ "nl-fabric-get", .act = get_fabric },
	{ "nl-fabric-dump", .act = dump_fabric },
	{ "nl-accelerator-get", .act = get_accelerator },
	{ "nl-accelerator-dump", .act = dump_accelerator },
	{ "nl-accelerator-set", .act = make_spare, .undo = make_free },
	{ "nl-guide-get", .act = get_guide },
	{ "nl-guide-dump", .act = dump_guide },
	{ "nl-element-get", .act = get_element },
	{ "nl-element-dump", .act = dump_element },
	{ "nl-edge-dump", .act = dump_edge },
	{ "nl-slice-get", .act = get_slice },
	{ "nl-slice-dump", .act = dump_slice },
	{ "nl-slice-create", .act = create, .undo = deleted },
	{ "nl-slice-create-for-stranger", .act = create_for_stranger, .undo = deleted },
	{ "nl-slice-set", .act = policy, .undo = policy_back },
	{ "nl-slice-prefer", .act = prefer, .set = find_spare, .undo = prefer_none,
	  .unset = nothing },
	{ "nl-slice-set-node", .act = give_away, .undo = take_home },
	{ "nl-slice-delete", .act = delete, .set = created, .undo = nothing, .unset = deleted,
	  .queued = true },
	{ "nl-circuit-get", .act = get_circuit },
	{ "nl-circuit-dump", .act = dump_circuit },
	{ "nl-circuit-apply", .act = ask_add, .undo = take_back, .queued = true },
	{ "nl-circuit-apply-each", .act = apply_each, .undo = take_back, .queued = true },
	{ "nl-circuit-apply-dry", .act = apply_dry },
	{ "nl-circuit-apply-prepare", .act = apply_prepare, .undo = reverted, .queued = true },
	{ "nl-txn-get", .act = get_txn, .set = prepared, .undo = reverted, .unset = reverted },
	{ "nl-txn-dump", .act = dump_txn },
	{ "nl-txn-step", .act = commit, .set = prepared, .undo = reverted, .unset = reverted,
	  .queued = true },
	{ "nl-hardware-set", .act = cordon, .undo = uncordon },
	{ "nl-hardware-fail", .act = fail, .undo = tested },
	{ "nl-hardware-test", .act = test, .set = failed, .undo = nothing, .unset = tested,
	  .queued = true },
	{ "nl-hardware-get", .act = get_hardware },
	{ "nl-hardware-dump", .act = dump_hardware },
	{ "nl-replace", .act = replace, .undo = nothing, .restores = true },
	{ "nl-why-not", .act = get_why_not },
	{ "nl-why-not-ring", .act = get_why_not_ring },
	{ "nl-quota-get", .act = get_quota },
	{ "nl-quota-dump", .act = dump_quota },
	{ "nl-quota-set", .act = set_quota, .undo = reset_quota },
	{ "nl-stats-get", .act = get_stats },
	{ "nl-stats-dump", .act = dump_stats },
};

const unsigned int netlink_commands_count = COUNT(netlink_commands);
