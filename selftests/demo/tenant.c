// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process of one job. It knows only its own slice, and checks its light in the simulated
 * hardware.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "demo.h"

#define CHECK_TRIES 10
#define LEASE_NS 20000000000ULL
#define GUIDE_TILE 1u /* classes of guides in profiles */
#define GUIDE_FIBRE 2u

struct tenant {
	uint32_t number, planes;
	struct view *view;
	int orders, slice;
};

static void send_note(const struct tenant *tenant, enum note_kind kind, uint32_t value,
		      uint32_t extra, const struct morph_event *event, const char *detail)
{
	struct note note = {
		.job = tenant->number,
		.kind = kind,
		.value = value,
		.extra = extra,
	};

	if (event)
		note.event = *event;
	if (detail)
		snprintf(note.detail, sizeof(note.detail), "%s", detail);
	if (write(demo.notes_write, &note, sizeof(note)) != sizeof(note))
		_exit(2);
}

/* ------------------------------------------------------------ the view */

static void read_path(const struct tenant *tenant, struct beam *beam)
{
	uint32_t guides[512], i;
	struct morph_circuit_path path = {
		.head.size = sizeof(path),
		.circuit = beam->circuit,
		.guides = ARRAY(guides, 512),
	};

	beam->fibre = MORPH_ANY;
	beam->tile = MORPH_ANY;
	if (ioctl(tenant->slice, MORPH_CIRCUIT_PATH, &path))
		return;
	for (i = 0; i < path.guides.count; i++) {
		uint32_t type = demo.guide_type[guides[i]];

		if (type == GUIDE_FIBRE && beam->fibre == MORPH_ANY)
			beam->fibre = guides[i];
		if (type == GUIDE_TILE && beam->tile == MORPH_ANY)
			beam->tile = guides[i];
	}
}

/* Read the slice into the view. */
static int refresh(const struct tenant *tenant)
{
	struct morph_circuit_info circuits[RANKS_MAX];
	struct morph_rank_info ranks[RANKS_MAX];
	struct view *view = tenant->view;
	struct morph_slice_info info;
	uint32_t i;

	if (slice_read(tenant->slice, &info, ranks, RANKS_MAX, circuits, RANKS_MAX))
		return -1;
	__atomic_add_fetch(&view->version, 1, __ATOMIC_ACQ_REL);
	view->slice = info.slice;
	view->state = info.state;
	view->generation = info.generation;
	view->ranks = info.ranks.count;
	view->circuits = info.circuits.count;
	for (i = 0; i < view->ranks; i++) {
		view->accelerator[i] = ranks[i].accelerator;
		view->spare[i] = ranks[i].plan >= MORPH_PLAN_CURRENT ? ranks[i].spare : MORPH_ANY;
	}
	for (i = 0; i < view->circuits; i++) {
		const struct morph_circuit_info *circuit = &circuits[i];
		struct beam *beam = &view->beam[i];

		beam->circuit = circuit->circuit;
		beam->state = circuit->state;
		beam->tx =
			ranks[circuit->src_rank].accelerator * tenant->planes + circuit->src_plane;
		beam->rx =
			ranks[circuit->dst_rank].accelerator * tenant->planes + circuit->dst_plane;
		beam->lanes = circuit->lanes;
		read_path(tenant, beam);
	}
	__atomic_add_fetch(&view->version, 1, __ATOMIC_ACQ_REL);
	return 0;
}

/*
 * Check that exactly the right receivers see light. If the slice changes meanwhile, check
 * again. Report nothing while the driver repairs the slice.
 */
static void check_light(const struct tenant *tenant)
{
	struct view *view = tenant->view;
	char what[160] = "", text[256];
	uint64_t generation;
	struct lit lit;
	int tries;

	for (tries = 0; tries < CHECK_TRIES; tries++) {
		if (refresh(tenant) || view->state != MORPH_SLICE_OK)
			return;
		generation = view->generation;
		if (!light_read(&lit))
			return;
		if (light_matches(view, &lit, tenant->planes, what, sizeof(what))) {
			view->checks++;
			return;
		}
		if (refresh(tenant) || view->state != MORPH_SLICE_OK)
			return;
		if (view->generation != generation)
			tries--;
		poll(NULL, 0, 50);
	}
	snprintf(text, sizeof(text), "slice %u: %s", view->slice, what);
	text[159] = '\0';
	send_note(tenant, NOTE_WRONG, 0, 0, NULL, text);
}

/* ------------------------------------------------------------- orders */

static int refused(struct tenant *tenant, const struct morph_head *head, int error)
{
	tenant->view->reason = head->reason;
	snprintf(tenant->view->detail, sizeof(tenant->view->detail), "%s",
		 last_detail[0] ? last_detail : strerror(error));
	send_note(tenant, NOTE_REFUSED, error, 0, NULL, NULL);
	return -1;
}

static int get_slice(struct tenant *tenant, int fabric, uint32_t count)
{
	struct morph_slice_create args = { .spare_policy = MORPH_SPARES_ANY };

	last_detail[0] = '\0';
	tenant->slice = slice_create_with(fabric, &args, NULL, count);
	return tenant->slice < 0 ? refused(tenant, &args.head, errno) : 0;
}

static int get_ring(struct tenant *tenant, uint32_t count)
{
	struct morph_txn_run args = { .generation = GENERATION_ANY };
	struct morph_change changes[RANKS_MAX];
	long long until = now_ms() + PATIENCE_MS;
	uint32_t i;
	int error;

	if (count < 2)
		return 0; /* one rank sends no light */
	do {
		for (i = 0; i < count; i++)
			changes[i] = change_add(i, (i + 1) % count);
		last_detail[0] = '\0';
		if (!txn_run(tenant->slice, changes, count, &args))
			return 0;
		error = errno;
		/* A part of the slice has just failed, and the driver repairs the slice. */
		if (error == EAGAIN)
			poll(NULL, 0, 20);
	} while (error == EAGAIN && now_ms() < until);
	return refused(tenant, &args.head, error);
}

static void move_circuit(struct tenant *tenant, uint32_t flags)
{
	struct morph_txn_run args = { .generation = GENERATION_ANY, .lease_ns = LEASE_NS };
	struct morph_change change = {
		.op = MORPH_CHANGE_MOVE,
		.src_plane = MORPH_PLANE_ANY,
		.dst_plane = MORPH_PLANE_ANY,
		.lanes_count = 1,
	};
	int error;

	change.circuit = tenant->view->beam[0].circuit;
	args.head.flags = flags;
	if (!flags) {
		args.lease_ns = 0;
		/* Use other planes, so that elements must settle. */
		change.src_plane = (tenant->view->beam[0].tx + 1) % tenant->planes;
		change.dst_plane = change.src_plane;
	}
	error = txn_run(tenant->slice, &change, 1, &args) ? errno : 0;
	tenant->view->txn = args.out_txn;
	refresh(tenant);
	send_note(tenant, NOTE_DONE, error, args.out_outcome, NULL, error ? last_detail : NULL);
}

static void commit(struct tenant *tenant)
{
	struct morph_txn_step args;
	int error;

	error = txn_step(tenant->slice, tenant->view->txn, MORPH_TXN_COMMIT, 0, &args) ? errno : 0;
	refresh(tenant);
	send_note(tenant, NOTE_DONE, error, args.out_outcome, NULL, NULL);
}

static void read_event(struct tenant *tenant)
{
	struct morph_event event;

	if (read(tenant->slice, &event, sizeof(event)) != sizeof(event))
		return;
	refresh(tenant);
	send_note(tenant, NOTE_EVENT, 0, 0, &event, NULL);
	if (event.type == MORPH_EVENT_RECOVERED)
		check_light(tenant);
}

/* Execute the next order. Returns false at the end. */
static bool obey(struct tenant *tenant)
{
	uint32_t verb;

	if (read(tenant->orders, &verb, sizeof(verb)) != sizeof(verb))
		return false;
	switch (verb) {
	case ORDER_MOVE:
		move_circuit(tenant, 0);
		break;
	case ORDER_PREPARE:
		move_circuit(tenant, MORPH_TXN_PREPARE);
		break;
	case ORDER_COMMIT:
		commit(tenant);
		break;
	case ORDER_LOOK:
		refresh(tenant);
		send_note(tenant, NOTE_DONE, 0, 0, NULL, NULL);
		break;
	case ORDER_END:
		/* Check again: the light must be right until the end. */
		check_light(tenant);
		return false;
	}
	return true;
}

int tenant_main(uint32_t number, struct job *job, int orders)
{
	struct tenant tenant = {
		.number = number,
		.planes = demo.planes,
		.view = job->view,
		.orders = orders,
	};
	int fabric = open_fabric(demo.sim.number);
	struct pollfd files[2];

	if (fabric < 0)
		return 1;
	if (get_slice(&tenant, fabric, job->accelerators))
		return 0;
	refresh(&tenant);
	if (get_ring(&tenant, job->accelerators))
		return 0;
	check_light(&tenant);
	refresh(&tenant);
	send_note(&tenant, NOTE_READY, 0, 0, NULL, NULL);
	files[0] = (struct pollfd){ .fd = tenant.slice, .events = POLLIN };
	files[1] = (struct pollfd){ .fd = orders, .events = POLLIN };
	for (;;) {
		if (poll(files, 2, -1) < 0)
			return 1;
		if (files[0].revents & POLLIN)
			read_event(&tenant);
		else if (files[0].revents)
			return 1;
		if (files[1].revents && !obey(&tenant))
			return 0;
	}
}
