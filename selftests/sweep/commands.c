// SPDX-License-Identifier: GPL-2.0-only
/* Every command of the device ABI. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "allocation.h"

#define LONG 600000000000ULL

/* --------------------------------------------------------------------- files */

static int open_fabric_file(struct stage *stage)
{
	stage->fd = open_fabric(stage->sim.number);
	return ERRNO(stage->fd);
}

static int open_slice_file(struct stage *stage)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/slice%d", stage->named);
	stage->fd = open(path, O_RDWR | O_CLOEXEC);
	return ERRNO(stage->fd);
}

static void close_file(struct stage *stage)
{
	close(stage->fd);
	stage->fd = -1;
}

static int close_it(struct stage *stage)
{
	close_file(stage);
	return 0;
}

static void make_slice(struct stage *stage)
{
	stage->fd = slice_create(stage->sim.fd, 2);
	must(ERRNO(stage->fd), "slice_create");
	must(ERRNO(light_ring(stage->fd, 2)), "light_ring");
}

static int read_event(struct stage *stage)
{
	struct morph_event event;

	return read(stage->slice, &event, sizeof(event)) == sizeof(event) ? 0 : errno;
}

/* A transaction with a cookie reports its end in an event. */
static void make_event(struct stage *stage)
{
	struct morph_change change = change_add(1, 0);
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.head.flags = MORPH_TXN_PREPARE,
		.lease_ns = LONG,
	};

	drain_events(stage->slice);
	must(ERRNO(txn_run(stage->slice, &change, 1, &args)), "prepare");
	must(ERRNO(txn_step(stage->slice, args.out_txn, MORPH_TXN_REVERT, 0, NULL)), "revert");
}

/* ------------------------------------------------------------------ the fabric */

static int ask_fabric_info(struct stage *stage)
{
	struct morph_fabric_info info = { .head.size = sizeof(info) };

	return ERRNO(ioctl(stage->sim.fd, MORPH_FABRIC_INFO, &info));
}

static int read_range(struct stage *stage, unsigned long command, size_t stride)
{
	static char room[128 * 256];
	struct morph_fabric_read args = {
		.head.size = sizeof(args),
		.entries = { .ptr = (uintptr_t)room, .count = 256, .stride = stride },
	};

	return ERRNO(ioctl(stage->sim.fd, command, &args));
}

static int read_accelerators(struct stage *stage)
{
	return read_range(stage, MORPH_FABRIC_READ_ACCELERATORS,
			  sizeof(struct morph_accelerator_info));
}

static int read_guides(struct stage *stage)
{
	return read_range(stage, MORPH_FABRIC_READ_GUIDES, sizeof(struct morph_guide_info));
}

static int read_elements(struct stage *stage)
{
	return read_range(stage, MORPH_FABRIC_READ_ELEMENTS, sizeof(struct morph_element_info));
}

static int read_edges(struct stage *stage)
{
	return read_range(stage, MORPH_FABRIC_READ_EDGES, sizeof(struct morph_edge_info));
}

static int create(struct stage *stage, unsigned int flags, const char *name)
{
	struct morph_slice_create args = { .head.flags = flags };

	strcpy(args.name, name);
	stage->fd = slice_create_with(stage->sim.fd, &args, NULL, 2);
	return ERRNO(stage->fd);
}

static int create_listed(struct stage *stage)
{
	static const uint32_t wanted[] = { 5, 7 }, spares[] = { 8, 9 };
	struct morph_slice_create args = {
		.spare_policy = MORPH_SPARES_LIST,
		.spares = ARRAY(spares, 2),
	};

	stage->fd = slice_create_with(stage->sim.fd, &args, wanted, 2);
	return ERRNO(stage->fd);
}

static int create_plain(struct stage *stage)
{
	return create(stage, 0, "");
}

static int create_reserved(struct stage *stage)
{
	return create(stage, MORPH_SLICE_RESERVED, "");
}

static int create_dry(struct stage *stage)
{
	int error = create(stage, MORPH_SLICE_DRY_RUN, "");

	stage->fd = -1;
	return error;
}

static int create_ring_dry(struct stage *stage)
{
	int error = create(stage, MORPH_SLICE_DRY_RUN | MORPH_SLICE_RING, "");

	stage->fd = -1;
	return error;
}

static int create_named(struct stage *stage)
{
	return create(stage, 0, "swept");
}

static int delete_named(struct stage *stage)
{
	return ERRNO(slice_delete(stage->sim.fd, MORPH_ANY, "swept", 0));
}

static void make_named(struct stage *stage)
{
	must(create_named(stage), "a named slice");
	close_file(stage);
}

static void drop_named(struct stage *stage)
{
	if (stage->fd >= 0)
		close_file(stage);
	must(delete_named(stage), "deleting the named slice");
}

static int create_grant(struct stage *stage)
{
	struct morph_grant_create args = GRANT_ALL;

	stage->fd = grant_create(stage->sim.fd, &args);
	return ERRNO(stage->fd);
}

/* ------------------------------------------------------------------- the slice */

static int read_slice(struct stage *stage)
{
	struct view view;

	return ERRNO(view_read(stage->slice, &view));
}

static int read_path(struct stage *stage)
{
	struct morph_path_element elements[64];
	uint32_t guides[64];
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.circuit = stage->circuits[0],
		.guides = ARRAY(guides, 64),
		.elements = ARRAY(elements, 64),
	};

	return ERRNO(ioctl(stage->slice, MORPH_CIRCUIT_PATH, &path));
}

static int policy_manual(struct stage *stage)
{
	return ERRNO(slice_policy(stage->slice, MORPH_FAILOVER_MANUAL));
}

static void policy_automatic(struct stage *stage)
{
	must(ERRNO(slice_policy(stage->slice, MORPH_FAILOVER_AUTOMATIC)), "policy");
}

static int report(struct stage *stage)
{
	return ERRNO(rank_act(stage->slice, MORPH_RANK_REPORT, 0, 0, NULL));
}

static int replace(struct stage *stage)
{
	return ERRNO(rank_act(stage->slice, MORPH_RANK_REPLACE, 0, MORPH_ANY, NULL));
}

void find_spare(struct stage *stage)
{
	stage->spare = 0;
	while (read_accelerator(&stage->sim, stage->spare).use != MORPH_USE_SPARE)
		stage->spare++;
}

static int prefer(struct stage *stage)
{
	return ERRNO(rank_act(stage->slice, MORPH_RANK_PREFER, 0, stage->spare, NULL));
}

static void prefer_none(struct stage *stage)
{
	must(ERRNO(rank_act(stage->slice, MORPH_RANK_PREFER, 0, MORPH_ANY, NULL)), "prefer");
}

static void nothing(struct stage *stage)
{
	(void)stage;
}

/* -------------------------------------------------------------- transactions */

static int run(struct stage *stage, struct morph_change *changes, unsigned int count,
	       unsigned int flags, uint64_t cookie)
{
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.head.flags = flags,
		.cookie = cookie,
		.lease_ns = flags & MORPH_TXN_PREPARE ? LONG : 0,
	};
	int error = ERRNO(txn_run(stage->slice, changes, count, &args));

	stage->txn = args.out_txn;
	return error;
}

static int add_with(struct stage *stage, unsigned int flags, uint64_t cookie)
{
	struct morph_change change = change_add(1, 0);
	int error = run(stage, &change, 1, flags, cookie);

	stage->circuit = change.circuit;
	return error;
}

static int add(struct stage *stage)
{
	return add_with(stage, 0, 0);
}

static int add_each(struct stage *stage)
{
	return add_with(stage, MORPH_TXN_EACH, 0);
}

static int add_cookie(struct stage *stage)
{
	return add_with(stage, 0, ++stage->prepared);
}

static int add_dry(struct stage *stage)
{
	return add_with(stage, MORPH_TXN_DRY_RUN, 0);
}

static int prepare(struct stage *stage)
{
	return add_with(stage, MORPH_TXN_PREPARE, ++stage->prepared);
}

static int remove_it(struct stage *stage)
{
	struct morph_change change = change_remove(stage->circuit);

	return run(stage, &change, 1, 0, 0);
}

static void added(struct stage *stage)
{
	must(add(stage), "adding a circuit");
}

static void removed(struct stage *stage)
{
	must(remove_it(stage), "removing a circuit");
}

/* Light a circuit along an explicit path. */
static int add_along(struct stage *stage)
{
	struct morph_change change = change_add(1, 0);
	uint32_t guides[64];
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.circuit = stage->circuit,
		.guides = ARRAY(guides, 64),
	};
	int error;

	if (ioctl(stage->slice, MORPH_CIRCUIT_PATH, &path))
		return errno;
	change.guides = (struct morph_array)ARRAY(guides, path.guides.count);
	change.op = MORPH_CHANGE_MOVE;
	change.circuit = stage->circuit;
	error = run(stage, &change, 1, 0, 0);
	return error;
}

static int move(struct stage *stage)
{
	struct morph_change change = change_add(0, 0);

	change.op = MORPH_CHANGE_MOVE;
	change.circuit = stage->circuits[0];
	change.src_rank = 0;
	return run(stage, &change, 1, 0, 0);
}

static int step(struct stage *stage, unsigned int verb)
{
	bool leased = verb == MORPH_TXN_COMMIT || verb == MORPH_TXN_VERIFY;

	return ERRNO(txn_step(stage->slice, stage->txn, verb, leased ? LONG : 0, NULL));
}

static int commit(struct stage *stage)
{
	return step(stage, MORPH_TXN_COMMIT);
}

static int confirm(struct stage *stage)
{
	return step(stage, MORPH_TXN_CONFIRM);
}

static int verify(struct stage *stage)
{
	return step(stage, MORPH_TXN_VERIFY);
}

static int query(struct stage *stage)
{
	return step(stage, MORPH_TXN_QUERY);
}

static int revert(struct stage *stage)
{
	return step(stage, MORPH_TXN_REVERT);
}

static void prepared(struct stage *stage)
{
	must(prepare(stage), "preparing");
}

static void committed(struct stage *stage)
{
	prepared(stage);
	must(commit(stage), "committing");
}

static void reverted(struct stage *stage)
{
	must(revert(stage), "reverting");
}

const struct command abi_commands[] = {
	{ "open-fabric", .act = open_fabric_file, .undo = close_file },
	{ "open-slice", .act = open_slice_file, .undo = close_file },
	{ "close-slice", .act = close_it, .set = make_slice, .undo = nothing, .queued = true },
	{ "read-event", .act = read_event, .set = make_event, .undo = nothing, .unset = nothing },
	{ "fabric-info", .act = ask_fabric_info },
	{ "read-accelerators", .act = read_accelerators },
	{ "read-guides", .act = read_guides },
	{ "read-elements", .act = read_elements },
	{ "read-edges", .act = read_edges },
	{ "slice-create", .act = create_plain, .undo = close_file },
	{ "slice-create-listed", .act = create_listed, .undo = close_file },
	{ "slice-create-reserved", .act = create_reserved, .undo = close_file },
	{ "slice-create-dry", .act = create_dry },
	{ "slice-create-dry-ring", .act = create_ring_dry },
	{ "slice-create-named", .act = create_named, .undo = drop_named },
	{ "slice-delete", .act = delete_named, .set = make_named, .undo = nothing,
	  .unset = drop_named, .queued = true },
	{ "grant-create", .act = create_grant, .undo = close_file },
	{ "slice-info", .act = read_slice },
	{ "circuit-path", .act = read_path },
	{ "slice-policy", .act = policy_manual, .undo = policy_automatic },
	{ "rank-report", .act = report },
	{ "rank-prefer", .act = prefer, .set = find_spare, .undo = prefer_none, .unset = nothing },
	{ "rank-replace", .act = replace, .undo = nothing, .restores = true },
	{ "txn-add", .act = add, .undo = removed },
	{ "txn-add-each", .act = add_each, .undo = removed },
	{ "txn-add-cookie", .act = add_cookie, .undo = removed },
	{ "txn-add-dry", .act = add_dry },
	{ "txn-remove", .act = remove_it, .set = added, .undo = nothing, .unset = removed },
	{ "txn-move", .act = move, .undo = nothing },
	{ "txn-move-along", .act = add_along, .set = added, .undo = removed, .unset = removed },
	{ "txn-prepare", .act = prepare, .undo = reverted },
	{ "txn-commit", .act = commit, .set = prepared, .undo = reverted, .unset = reverted },
	{ "txn-verify", .act = verify, .set = committed, .undo = reverted, .unset = reverted },
	{ "txn-confirm", .act = confirm, .set = committed, .undo = removed, .unset = reverted },
	{ "txn-query", .act = query, .set = prepared, .undo = reverted, .unset = reverted },
	{ "txn-revert", .act = revert, .set = prepared, .undo = nothing, .unset = reverted },
	{ "txn-revert-committed", .act = revert, .set = committed, .undo = nothing,
	  .unset = reverted },
};

const unsigned int abi_commands_count = COUNT(abi_commands);

/* ------------------------------------------------------------ what workers do */

/* Request a test: the driver retests parts that fail repeatedly only after a long time. */
static void ask_for_test(struct stage *stage, unsigned int accelerator)
{
	nl_begin(&stage->nl, MORPH_CMD_HARDWARE_TEST, 0);
	nl_put_u32(&stage->nl, MORPH_A_HARDWARE_FABRIC, stage->sim.number);
	nl_put_u32(&stage->nl, MORPH_A_HARDWARE_PART, MORPH_PART_ACCELERATOR);
	nl_put_u32(&stage->nl, MORPH_A_HARDWARE_INDEX, accelerator);
	must(nl_do(&stage->nl), "hardware-test");
}

/* A test without memory has no result: request it again. */
static void trusted_again(struct stage *stage, unsigned int accelerator)
{
	long long until = now_ms() + PATIENCE_MS;

	do {
		ask_for_test(stage, accelerator);
		usleep(10000);
	} while (read_accelerator(&stage->sim, accelerator).health != MORPH_HEALTH_OK &&
		 now_ms() < until);
}

/* The accelerator of rank 0 dies, and comes back after a spare has replaced it. */
static int fail_over(struct stage *stage)
{
	long long until = now_ms() + PATIENCE_MS;
	struct view view;
	unsigned int old;

	must(ERRNO(view_read(stage->slice, &view)), "reading the slice");
	old = view.ranks[0].accelerator;
	must(ERRNO(sim_control(&stage->sim, "fault", "accelerator_dead %u", old)), "fault");
	do {
		usleep(1000);
		must(ERRNO(view_read(stage->slice, &view)), "reading the slice");
	} while ((view.ranks[0].accelerator == old || view.info.state != MORPH_SLICE_OK) &&
		 now_ms() < until);
	must(ERRNO(sim_control(&stage->sim, "clear", "all")), "clear");
	trusted_again(stage, old);
	return view.ranks[0].accelerator == old ? ETIME : 0;
}

/*
 * The driver makes plans for all ranks. It makes a plan that lacked memory when memory is available
 * again.
 */
static int plan(struct stage *stage)
{
	long long until = now_ms() + PATIENCE_MS;
	unsigned int i, current;
	struct view view;

	must(ERRNO(slice_policy(stage->slice, MORPH_FAILOVER_NONE)), "policy");
	policy_automatic(stage);
	do {
		usleep(1000);
		must(ERRNO(view_read(stage->slice, &view)), "reading the slice");
		for (i = current = 0; i < view.info.ranks.count; i++)
			current += view.ranks[i].plan == MORPH_PLAN_CURRENT;
	} while (current < view.info.ranks.count && now_ms() < until);
	return current < view.info.ranks.count ? ETIME : 0;
}

const struct command worker_commands[] = {
	{ "worker-plan", .act = plan, .undo = nothing, .restores = true, .must = true },
	{ "worker-failover", .act = fail_over, .undo = nothing, .restores = true, .must = true },
	{ "worker-release", .act = close_it, .set = make_slice, .undo = nothing, .queued = true,
	  .must = true },
	{ "worker-apply", .act = ask_add, .undo = take_back, .queued = true },
	{ "worker-replace", .act = replace, .undo = nothing, .restores = true },
};

const unsigned int worker_commands_count = COUNT(worker_commands);
