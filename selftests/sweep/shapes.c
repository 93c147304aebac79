// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shapes.h"

#define SECOND 1000000000ULL
#define LONG (600 * SECOND)
#define EDGE(index) (MORPH_RANK_EDGE | (index))
/* edge4: light that leaves at edge 0 arrives at edge 4 of the peer, and the reverse. */
#define OUT 0
#define IN 4

/* ------------------------------------------------------------- what is wanted */

static void want(struct scene *scene, const struct morph_change *change)
{
	struct wanted *last = scene->wanted + scene->wanted_count, *at;

	if (change->op == MORPH_CHANGE_ADD) {
		*last = (struct wanted){ change->circuit, change->src_rank, change->dst_rank };
		scene->wanted_count++;
		return;
	}
	for (at = scene->wanted; change->op == MORPH_CHANGE_REMOVE && at < last; at++) {
		if (at->circuit != change->circuit)
			continue;
		*at = last[-1];
		scene->wanted_count--;
		return;
	}
}

/* Run a transaction, and note the circuits that must exist according to its answer. */
static int run(struct scene *scene, struct morph_change *changes, unsigned int count,
	       unsigned int flags)
{
	struct morph_txn_run args = { .generation = GENERATION_ANY, .head.flags = flags };
	int error = txn_run(scene->slice, changes, count, &args) ? errno : 0;
	unsigned int i;

	for (i = 0; i < count && !(flags & MORPH_TXN_DRY_RUN); i++)
		if (flags & MORPH_TXN_EACH ? !changes[i].status : !error)
			want(scene, &changes[i]);
	return error;
}

static int set_ring(struct scene *scene)
{
	struct morph_change changes[] = { change_add(0, 1), change_add(1, 2), change_add(2, 0) };

	return run(scene, changes, 3, 0);
}

static int set_nothing(struct scene *scene)
{
	(void)scene;
	return 0;
}

/* ------------------------------------------------------------- one transaction */

static int add_one(struct scene *scene)
{
	struct morph_change change = change_add(0, 1);

	return run(scene, &change, 1, 0);
}

static int remove_one(struct scene *scene)
{
	struct morph_change change = change_remove(scene->wanted[1].circuit);

	return run(scene, &change, 1, 0);
}

static int remove_all(struct scene *scene)
{
	struct morph_change changes[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		changes[i] = change_remove(scene->wanted[i].circuit);
	return run(scene, changes, 3, 0);
}

/* Read a circuit. */
static struct morph_circuit_info look(struct scene *scene, unsigned int circuit)
{
	struct view view;
	unsigned int i;

	if (!view_read(scene->slice, &view))
		for (i = 0; i < view.info.circuits.count; i++)
			if (view.circuits[i].circuit == circuit)
				return view.circuits[i];
	return (struct morph_circuit_info){};
}

static struct morph_change move_of(const struct morph_circuit_info *circuit)
{
	return (struct morph_change){
		.op = MORPH_CHANGE_MOVE,
		.circuit = circuit->circuit,
		.src_plane = MORPH_PLANE_ANY,
		.dst_plane = MORPH_PLANE_ANY,
		.lanes_count = 1,
	};
}

/* Move to another lane: the new light comes on before the old one goes out. */
static int move_apart(struct scene *scene)
{
	struct morph_circuit_info circuit = look(scene, scene->wanted[0].circuit);
	struct morph_change change = move_of(&circuit);

	change.lanes = circuit.lanes << 1 ? circuit.lanes << 1 : 1;
	return run(scene, &change, 1, 0);
}

/* Two circuits exchange their receivers, lanes and ports: the old light must go out first. */
static int swap(struct scene *scene)
{
	struct morph_circuit_info a = look(scene, scene->wanted[0].circuit);
	struct morph_circuit_info b = look(scene, scene->wanted[1].circuit);
	struct morph_change changes[] = { change_remove(a.circuit), change_remove(b.circuit),
					  change_add(0, 2), change_add(1, 0) };

	changes[2].src_plane = a.src_plane;
	changes[2].dst_plane = b.dst_plane;
	changes[2].lanes = a.lanes;
	return run(scene, changes, 4, 0);
}

/* Remove, add and move circuits in one transaction. */
static int all_kinds(struct scene *scene)
{
	struct morph_circuit_info circuit = look(scene, scene->wanted[2].circuit);
	struct morph_change changes[] = { change_remove(scene->wanted[0].circuit), change_add(1, 0),
					  change_add(0, 2), move_of(&circuit) };

	return run(scene, changes, 4, 0);
}

/* The third change is invalid: no such circuit. */
static int each(struct scene *scene)
{
	struct morph_change changes[] = { change_add(1, 0), change_remove(scene->wanted[0].circuit),
					  change_remove(999), change_add(2, 1) };
	int error = run(scene, changes, 4, MORPH_TXN_EACH);

	return error == ENOENT && !changes[0].status && !changes[1].status && !changes[3].status ?
		       0 :
		       error;
}

static int dry_run(struct scene *scene)
{
	struct morph_change change = change_add(1, 0);

	return run(scene, &change, 1, MORPH_TXN_DRY_RUN);
}

/* ------------------------------------------------------------------ two phases */

/* The state that a coordinator has of its transaction. */
struct phases {
	int slice;
	unsigned int txn;
	struct morph_change changes[3];
	unsigned int count;
};

static int prepare(struct phases *phases)
{
	struct morph_txn_run args = {
		.generation = GENERATION_ANY,
		.head.flags = MORPH_TXN_PREPARE,
		.lease_ns = LONG,
	};
	int error;

	error = txn_run(phases->slice, phases->changes, phases->count, &args) ? errno : 0;
	phases->txn = args.out_txn;
	return error;
}

static int step(const struct phases *phases, unsigned int verb, uint64_t lease_ns)
{
	return txn_step(phases->slice, phases->txn, verb, lease_ns, NULL) ? errno : 0;
}

/* Move one circuit and add another one. */
static struct phases two_changes(struct scene *scene)
{
	struct morph_circuit_info circuit = look(scene, scene->wanted[0].circuit);
	struct phases phases = {
		.slice = scene->slice,
		.changes = { move_of(&circuit), change_add(1, 0), change_remove(circuit.circuit) },
		.count = 2,
	};

	phases.changes[2].circuit = scene->wanted[1].circuit;
	phases.count = 3;
	return phases;
}

static void want_all(struct scene *scene, const struct phases *phases)
{
	unsigned int i;

	for (i = 0; i < phases->count; i++)
		want(scene, &phases->changes[i]);
}

/*
 * Wait for the end of the transaction and note its outcome. A repair in between ends it, and the
 * next step reports that to its owner.
 */
static int ended(struct scene *scene, const struct phases *phases, int error)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_txn_step args;

	do {
		if (txn_step(phases->slice, phases->txn, MORPH_TXN_QUERY, 0, &args))
			return errno;
		if (now_ms() > until)
			return ETIME;
		usleep(1000);
	} while (args.out_outcome == MORPH_OUTCOME_RUNNING ||
		 args.out_outcome == MORPH_OUTCOME_PREPARED ||
		 args.out_outcome == MORPH_OUTCOME_UNCONFIRMED);
	if (args.out_outcome == MORPH_OUTCOME_COMMITTED)
		want_all(scene, phases);
	return error;
}

static int prepared_and_committed(struct phases *phases, uint64_t lease_ns)
{
	int error = prepare(phases);

	return error ? error : step(phases, MORPH_TXN_COMMIT, lease_ns);
}

/* A failed confirmation leaves the transaction committed: confirm it again. */
static int confirm(struct scene *scene, const struct phases *phases)
{
	int error = step(phases, MORPH_TXN_CONFIRM, 0);

	if (error && !step(phases, MORPH_TXN_CONFIRM, 0))
		error = 0;
	if (error)
		step(phases, MORPH_TXN_REVERT, 0);
	return ended(scene, phases, error);
}

static int prepare_confirm(struct scene *scene)
{
	struct phases phases = two_changes(scene);
	int error = prepared_and_committed(&phases, LONG);

	return error ? error : confirm(scene, &phases);
}

static int prepare_verify(struct scene *scene)
{
	struct phases phases = two_changes(scene);
	int error = prepared_and_committed(&phases, LONG);

	if (error)
		return error;
	error = step(&phases, MORPH_TXN_VERIFY, LONG);
	if (!error)
		return confirm(scene, &phases);
	step(&phases, MORPH_TXN_REVERT, 0);
	return ended(scene, &phases, error);
}

static int prepare_revert(struct scene *scene)
{
	struct phases phases = two_changes(scene);
	int error = prepared_and_committed(&phases, LONG);

	return error ? error : ended(scene, &phases, step(&phases, MORPH_TXN_REVERT, 0));
}

/* Commit, and take no further step. */
static int lease(struct scene *scene)
{
	struct phases phases = two_changes(scene);
	int error = prepared_and_committed(&phases, 1000000);

	return error ? error : ended(scene, &phases, 0);
}

/* --------------------------------------------------------------- over an edge */

static struct phases halves(int slice)
{
	struct phases phases = {
		.slice = slice,
		.changes = { change_add(0, EDGE(OUT)), change_add(EDGE(IN), 0) },
		.count = 2,
	};

	phases.changes[0].lanes = 1;
	phases.changes[1].lanes = 1;
	return phases;
}

/* Take a step on both sides; if it fails, revert both. */
static int both(const struct phases *here, const struct phases *there, unsigned int verb)
{
	uint64_t lease_ns = verb == MORPH_TXN_CONFIRM ? 0 : LONG;
	int error = step(here, verb, lease_ns);

	if (!error)
		error = step(there, verb, lease_ns);
	if (error) {
		step(here, MORPH_TXN_REVERT, 0);
		step(there, MORPH_TXN_REVERT, 0);
	}
	return error;
}

static int edge(struct scene *scene)
{
	struct phases here = halves(scene->slice), there = halves(scene->peer_slice);
	int error = prepare(&here);

	if (error)
		return error;
	error = prepare(&there);
	if (error) {
		step(&here, MORPH_TXN_REVERT, 0);
		return error;
	}
	error = both(&here, &there, MORPH_TXN_COMMIT);
	if (!error)
		error = both(&here, &there, MORPH_TXN_VERIFY);
	if (!error)
		error = both(&here, &there, MORPH_TXN_CONFIRM);
	if (!error)
		want_all(scene, &here);
	return error;
}

/* ------------------------------------------------------------ repair and the end */

/* Wait until the driver has repaired the slice or given it up, and has reported either. */
static int repaired(struct scene *scene)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_slice_info info;

	do {
		if (slice_info(scene->slice, &info))
			return errno;
		if (now_ms() > until)
			return ETIME;
		usleep(1000);
	} while (info.state == MORPH_SLICE_REPAIRING);
	return 0;
}

/* Inject a fault, and wait until the core has noticed it. */
static int repaired_after(struct scene *scene, const char *fault)
{
	uint64_t generation;
	struct view view;
	long long until = now_ms() + PATIENCE_MS;

	if (view_read(scene->slice, &view) || sim_control(&scene->sim, "fault", "%s", fault))
		return errno;
	generation = view.info.generation;
	while (!view_read(scene->slice, &view) && now_ms() < until) {
		if (view.info.state != MORPH_SLICE_REPAIRING && view.info.generation != generation)
			return 0;
		usleep(1000);
	}
	return ETIME;
}

static int failover(struct scene *scene)
{
	return repaired_after(scene, "accelerator_dead 1");
}

static int reroute(struct scene *scene)
{
	struct morph_circuit_info circuit = look(scene, scene->wanted[0].circuit);
	char fault[64];

	snprintf(fault, sizeof(fault), "laser_dead 0.%u.%llx", circuit.src_plane,
		 (unsigned long long)circuit.lanes);
	return repaired_after(scene, fault);
}

static int replace(struct scene *scene)
{
	int error = rank_act(scene->slice, MORPH_RANK_REPLACE, 1, MORPH_ANY, NULL) ? errno : 0;

	repaired(scene);
	return error;
}

static int release(struct scene *scene)
{
	struct sim sim = scene->sim;

	close(scene->slice);
	scene->slice = -1;
	scene->wanted_count = 0;
	do {
		usleep(1000);
		sim_refresh(&sim);
	} while (sim.info.slices > 1);
	return 0;
}

/* The only file of the slice belongs to a process that is killed. */
static int killed(struct scene *scene)
{
	pid_t owner = fork();

	if (owner < 0)
		return errno;
	if (!owner) {
		pause();
		_exit(0);
	}
	close(scene->slice);
	scene->slice = -1;
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	return release(scene);
}

const struct shape shapes[] = {
	{ "add", .set = set_nothing, .act = add_one },
	{ "add-several", .set = set_nothing, .act = set_ring },
	{ "remove", .set = set_ring, .act = remove_one },
	{ "remove-several", .set = set_ring, .act = remove_all },
	{ "move", .set = set_ring, .act = move_apart },
	{ "swap", .set = set_ring, .act = swap },
	{ "all-kinds", .set = set_ring, .act = all_kinds },
	{ "each", .set = set_ring, .act = each },
	{ "dry-run", .set = set_ring, .act = dry_run },
	{ "prepare-confirm", .set = set_ring, .act = prepare_confirm },
	{ "prepare-verify", .set = set_ring, .act = prepare_verify },
	{ "prepare-revert", .set = set_ring, .act = prepare_revert },
	{ "lease", .set = set_ring, .act = lease },
	{ "edge", .edge = true, .set = set_nothing, .act = edge },
	{ "failover", .spoils = true, .set = set_ring, .act = failover },
	{ "reroute", .spoils = true, .set = set_ring, .act = reroute },
	{ "replace", .spoils = true, .set = set_ring, .act = replace },
	{ "release", .set = set_ring, .act = release },
	{ "killed", .set = set_ring, .act = killed },
};

const unsigned int shapes_count = COUNT(shapes);
