// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fail in turn every call of the core to the provider, for every shape of change:
 *
 *   provider [--quick] [--record] [shape [kind [point]]]
 *
 * For each shape and each kind of failure the first call fails, then the second, and so on, until
 * the shape makes no more calls. After each failure the light must be as before or as requested,
 * according to the answer. The light of other tenants must not have flickered. After the end of the
 * slice nothing of it may be left.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nl.h"
#include "progress.h"
#include "shapes.h"

#define MOST_POINTS 64
#define NEIGHBOURS 2
/* Much later than the deadline of the profiles. */
#define LATE "late=300000000"
#define ERROR "programming_error - after=%u"

/* A kind of failure. %u is the number of the call, then the numbers of the calls after it. */
struct kind {
	const char *name;
	const char *faults[3];
	bool quick; /* also part of the short run */
	bool patrol; /* patrol repairs the rest later */
	bool lasts; /* the driver must report a loss in between */
	bool no_query; /* after the first failure the driver can read no state of the hardware */
};

static const struct kind kinds[] = {
	{ "error", .faults = { "programming_error - after=%u" }, .quick = true },
	{ "error-nothing-done", .faults = { "programming_error - done=0 after=%u" } },
	{ "error-all-done", .faults = { "programming_error - done=9999 after=%u" } },
	{ "lost", .faults = { "programming_timeout - after=%u" } },
	{ "lost-all-done", .faults = { "programming_timeout - done=9999 after=%u" } },
	{ "late", .faults = { "programming_timeout - " LATE " after=%u" }, .patrol = true },
	/*
	 * The next call is the first of the rollback, or the second attempt of a call that must
	 * succeed.
	 */
	{ "rollback-error", .faults = { ERROR, ERROR }, .quick = true, .patrol = true },
	{ "rollback-lost", .faults = { ERROR, "programming_timeout - after=%u" }, .patrol = true },
	{ "rollback-late", .faults = { ERROR, "programming_timeout - " LATE " after=%u" },
	  .patrol = true },
	{ "rollback-fails", .faults = { ERROR, ERROR, ERROR }, .patrol = true, .lasts = true },
	{ "dead", .faults = { "programming_error - every=1 after=%u" }, .lasts = true },
	{ "reading-error", .faults = { "reading_error - after=%u" }, .quick = true },
	{ "reading-lost", .faults = { "reading_timeout - after=%u" } },
	{ "blind", .faults = { "reading_error - every=1 after=%u" }, .lasts = true },
	{ "waiting-error", .faults = { "waiting_error - after=%u" } },
	{ "error-no-query", .faults = { ERROR, "query_error - every=1" }, .patrol = true,
	  .no_query = true },
};

static struct scene scene;
static struct nl nl;
static bool alive; /* the fabric of the scene exists */
static bool real; /* and runs by real time */
static unsigned int charged_at_first; /* charge before the first fabric */

/* ------------------------------------------------------------------- the scene */

/* The charge of root: circuits, lanes and prepared transactions. */
static unsigned int charged(void)
{
	nl_begin(&nl, MORPH_CMD_QUOTA_GET, 0);
	nl_put_u32(&nl, MORPH_A_QUOTA_UID, 0);
	if (nl_do(&nl))
		return 0;
	return REPLY_U32(&nl, MORPH_A_QUOTA_USED_CIRCUITS) * 10000 +
	       REPLY_U32(&nl, MORPH_A_QUOTA_USED_LANES) * 100 +
	       REPLY_U32(&nl, MORPH_A_QUOTA_USED_PREPARED);
}

static void scene_close(void)
{
	if (!alive)
		return;
	if (scene.slice >= 0)
		close(scene.slice);
	if (scene.peer_slice >= 0)
		close(scene.peer_slice);
	close(scene.neighbour);
	sim_stop(&scene.sim);
	if (scene.peer.fd >= 0)
		sim_stop(&scene.peer);
	alive = false;
	/* Slices end asynchronously, also when their fabric has gone before them. */
	if (!WAIT_UNTIL(charged() <= charged_at_first)) {
		fprintf(stderr, "# root is still charged for slices of removed fabrics\n");
		exit(1);
	}
}

#define UUID_A "11111111-1111-4111-8111-111111111111"
#define UUID_B "22222222-2222-4222-8222-222222222222"

/* Late completions and joined fabrics need real time. All other cases do not depend on time. */
static bool wants_real(const struct shape *shape, const struct kind *kind)
{
	return shape->edge || strstr(kind->name, "late");
}

/* Make one fabric or two joined ones, and a slice of an uninvolved tenant. */
static void scene_open(const struct shape *shape, const struct kind *kind)
{
	static const uint32_t others[] = { 2, 3 }, farther[] = { 4, 5 };

	scene = (struct scene){ .slice = -1, .peer_slice = -1, .peer.fd = -1 };
	if (shape->edge) {
		sim_start(&scene.sim, "edge4", "uuid=" UUID_A " peer=" UUID_B);
		sim_start(&scene.peer, "edge4", "uuid=" UUID_B " peer=" UUID_A);
		world_parked(&scene.peer, scene.peer_parked);
	} else {
		sim_start(&scene.sim, "server8", wants_real(shape, kind) ? NULL : "clock=skipping");
	}
	alive = true;
	real = wants_real(shape, kind);
	world_parked(&scene.sim, scene.parked);
	scene.neighbour = slice_create_at(scene.sim.fd, shape->edge ? others : farther, NEIGHBOURS);
	if (scene.neighbour < 0 || light_ring(scene.neighbour, NEIGHBOURS) ||
	    view_read(scene.neighbour, &scene.neighbour_view) ||
	    sim_control(&scene.sim, "dark", "0")) {
		perror("# the neighbour");
		exit(1);
	}
	sim_refresh(&scene.sim);
}

/* Make a slice for the shape: 0 or an errno. */
static int try_set(const struct shape *shape)
{
	static const uint32_t wanted[] = { 0, 1, 2 }, at_edge[] = { 1, 0 };

	scene.wanted_count = 0;
	if (shape->edge) {
		scene.slice = slice_create_at(scene.sim.fd, at_edge, 2);
		scene.peer_slice = slice_create_at(scene.peer.fd, at_edge, 2);
	} else {
		scene.slice = slice_create_at(scene.sim.fd, wanted, 3);
	}
	if (scene.slice < 0 || (shape->edge && scene.peer_slice < 0))
		return errno;
	return shape->set(&scene);
}

/* In real time a device may miss its deadline if the machine is overloaded. */
static void scene_set(const struct shape *shape, const struct kind *kind)
{
	unsigned int tries = 3;
	int error;

	while ((error = try_set(shape))) {
		if (!real || !--tries) {
			fprintf(stderr, "# cannot set %s: %s: %s\n", shape->name, strerror(error),
				last_detail);
			exit(1);
		}
		scene_close();
		scene_open(shape, kind);
	}
	drain_events(scene.slice);
}

/* Parts of the fabric that are not healthy. */
struct impaired {
	struct part {
		uint32_t kind, index;
	} parts[64];
	unsigned int count;
};

/* With unhealthy hardware the next point would differ. */
static bool scene_healthy(void)
{
	nl_begin(&nl, MORPH_CMD_FABRIC_GET, 0);
	nl_put_u32(&nl, MORPH_A_FABRIC_ID, scene.sim.number);
	return !nl_do(&nl) && !REPLY_U32(&nl, MORPH_A_FABRIC_FAILED) &&
	       !REPLY_U32(&nl, MORPH_A_FABRIC_IMPAIRED);
}

/* Note a part that is not healthy. The driver can test it only while it is idle. */
static void note_impaired(const struct nlmsghdr *message, void *context)
{
	struct impaired *impaired = context;
	struct part *part = &impaired->parts[impaired->count];

	if (impaired->count == COUNT(impaired->parts))
		return;
	part->kind = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_PART));
	part->index = nl_get_u32(nl_find(message, MORPH_A_HARDWARE_INDEX));
	impaired->count++;
}

/* Test failed parts before the repetition of the change. */
static void test_impaired(void)
{
	struct impaired impaired = {};
	unsigned int i;

	nl_begin(&nl, MORPH_CMD_HARDWARE_GET, 0);
	nl_put_u32(&nl, MORPH_A_HARDWARE_FABRIC, scene.sim.number);
	if (nl_dump(&nl, note_impaired, &impaired))
		return;
	for (i = 0; i < impaired.count; i++) {
		nl_on_part(&nl, MORPH_CMD_HARDWARE_TEST, scene.sim.number, impaired.parts[i].kind,
			   impaired.parts[i].index);
		nl_do(&nl);
	}
}

/* -------------------------------------------------------------------- judgement */

static const struct morph_circuit_info *find(const struct view *view, unsigned int circuit)
{
	unsigned int i;

	for (i = 0; i < view->info.circuits.count; i++)
		if (view->circuits[i].circuit == circuit)
			return &view->circuits[i];
	return NULL;
}

/* The circuits must match the answers. */
static const char *wrong_circuits(const struct view *view)
{
	unsigned int i, ahead = 0;

	for (i = 0; i < scene.wanted_count; i++) {
		const struct wanted *wanted = &scene.wanted[i];
		const struct morph_circuit_info *circuit = find(view, wanted->circuit);

		if (!circuit || circuit->src_rank != wanted->src ||
		    circuit->dst_rank != wanted->dst)
			return say("circuit %u from %u to %u is missing", wanted->circuit,
				   wanted->src, wanted->dst);
	}
	for (i = 0; i < scene.ahead_count; i++)
		ahead += find(view, scene.ahead[i]) != NULL;
	if (view->info.circuits.count != scene.wanted_count + ahead)
		return say("the slice has %u circuits, not %u", view->info.circuits.count,
			   scene.wanted_count);
	return NULL;
}

/* Did the driver notify the owner of a failed circuit or a degraded slice? */
static const char *wrong_silence(const struct view *view)
{
	struct pollfd pollfd = { .fd = scene.slice, .events = POLLIN };
	bool told[1024] = {}, degraded = false;
	struct morph_event event;
	unsigned int i;

	while (poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLIN &&
	       read(scene.slice, &event, sizeof(event)) == sizeof(event)) {
		degraded |= event.type == MORPH_EVENT_DEGRADED || event.type == MORPH_EVENT_LOST;
		if (event.type == MORPH_EVENT_CIRCUIT_FAILED)
			told[event.circuit % COUNT(told)] = true;
	}
	if (view->info.state == MORPH_SLICE_DEGRADED && !degraded)
		return say("the slice is degraded without an event");
	for (i = 0; i < view->info.circuits.count; i++)
		if (view->circuits[i].state != MORPH_CIRCUIT_LIT &&
		    !told[view->circuits[i].circuit % COUNT(told)])
			return say("circuit %u is in state %u without an event",
				   view->circuits[i].circuit, view->circuits[i].state);
	return NULL;
}

static const char *wrong_neighbour(void)
{
	struct view view;

	if (view_read(scene.neighbour, &view))
		return say("cannot read the neighbour");
	if (view.info.generation != scene.neighbour_view.info.generation ||
	    view.info.state != MORPH_SLICE_OK)
		return say("the neighbour's slice has changed");
	if (drain_events(scene.neighbour))
		return say("the neighbour got an event");
	if (world_flickered(&scene.sim, &view))
		return say("the neighbour's light has flickered");
	return NULL;
}

/* Patrol parks idle elements that could not be parked at once. Nothing else may take time. */
static const char *wrong_world(bool late)
{
	const int slices[] = { scene.neighbour, scene.slice };
	long long until = now_ms() + PATIENCE_MS;
	const char *what;

	do {
		what = world_wrong(&scene.sim, scene.parked, slices, 2);
		if (what && !late && strncmp(what, "element", 7))
			return what;
		usleep(what ? 20000 : 0);
	} while (what && now_ms() < until);
	if (!what && scene.peer_slice >= 0)
		what = world_wrong(&scene.peer, scene.peer_parked, &scene.peer_slice, 1);
	return what;
}

/* A repair may still be about to begin. */
static bool come_to_rest(struct view *view)
{
	long long until = now_ms() + PATIENCE_MS;

	do {
		if (!world_rest(&scene.sim))
			return false;
		/* The last turned elements settle and signal, although no caller waits for that. */
		if (!real &&
		    (sim_control(&scene.sim, "advance", "1000000") || !world_rest(&scene.sim)))
			return false;
		if (scene.slice < 0)
			return true;
		if (view_read(scene.slice, view))
			return false;
	} while (view->info.state == MORPH_SLICE_REPAIRING && now_ms() < until);
	return view->info.state != MORPH_SLICE_REPAIRING;
}

/* Judge the state after the change has ended and the fault is cleared. */
static const char *judge(const struct kind *kind)
{
	const char *what = NULL;
	struct view view = {};
	bool bad = false;
	unsigned int i;

	if (!come_to_rest(&view))
		return say("the slice never became idle: state %u", view.info.state);
	if (scene.slice >= 0) {
		what = wrong_circuits(&view);
		for (i = 0; i < view.info.circuits.count; i++)
			bad |= view.circuits[i].state != MORPH_CIRCUIT_LIT;
		bad |= view.info.state != MORPH_SLICE_OK;
		if (!what && bad)
			what = kind->lasts ? wrong_silence(&view) :
					     say("the slice is in state %u", view.info.state);
	}
	if (!what && !bad && !kind->lasts)
		what = wrong_world(scene.slice < 0 || kind->patrol);
	return what ? what : wrong_neighbour();
}

/* After the fault is cleared, the same change must succeed. Return NULL or a description. */
static const char *wrong_again(const struct shape *shape, const struct kind *kind)
{
	long long until = now_ms() + PATIENCE_MS;
	int error;

	while ((error = shape->again(&scene)) && now_ms() < until) {
		test_impaired();
		usleep(2000);
	}
	if (error)
		return say("the repeated command returns %s: %s", strerror(error), last_detail);
	return judge(kind);
}

/* The slice ends, and must leave nothing. */
static const char *wrong_end(unsigned int charged_before)
{
	const int slices[] = { scene.neighbour };
	long long until = now_ms() + 2 * PATIENCE_MS;
	struct sim now = scene.sim, peer_now = scene.peer;
	const char *what;

	if (scene.slice >= 0)
		close(scene.slice);
	if (scene.peer_slice >= 0)
		close(scene.peer_slice);
	scene.slice = -1;
	scene.peer_slice = -1;
	do {
		usleep(2000);
		what = NULL;
		sim_refresh(&now);
		if (peer_now.fd >= 0)
			sim_refresh(&peer_now);
		if (now.info.slices > 1)
			what = "the slice does not end";
		else if (peer_now.info.slices || peer_now.info.free != scene.peer.info.free)
			what = "the peer's slice does not end";
		else if (charged() != charged_before)
			what = "something is still charged";
		else if (now.info.free != scene.sim.info.free ||
			 now.info.spares != scene.sim.info.spares)
			what = "accelerators do not become free";
		else
			what = world_wrong(&scene.sim, scene.parked, slices, 1);
	} while (what && now_ms() < until);
	return what ? what : wrong_neighbour();
}

/* ------------------------------------------------------------------- the sweep */

static long long first_fault(bool armed)
{
	char path[160], line[160], state[16];
	long long id, first = -1;
	FILE *stream;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph_sim/%s/fault", scene.sim.name);
	stream = fopen(path, "r");
	while (stream && first < 0 && fgets(line, sizeof(line), stream))
		if (sscanf(line, "%lld %15s", &id, state) == 2 && (!armed || state[1] == 'r'))
			first = id;
	if (stream)
		fclose(stream);
	return first;
}

/* Fail the calls from number @point on; return the number of the fault. */
static long long inject(const struct kind *kind, unsigned int point)
{
	unsigned int i;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	for (i = 0; i < COUNT(kind->faults) && kind->faults[i]; i++)
		if (sim_control(&scene.sim, "fault", kind->faults[i], point + i)) {
			perror("# fault");
			exit(1);
		}
#pragma GCC diagnostic pop
	return first_fault(false);
}

/* Sweep one point. Return NULL or a description; *reached reports whether there was such a call. */
static const char *sweep_point(const struct shape *shape, const struct kind *kind,
			       unsigned int point, bool *reached)
{
	unsigned int charged_before;
	const char *what;
	struct view view;
	long long id;
	int error;

	if (alive && real != wants_real(shape, kind))
		scene_close();
	if (!alive)
		scene_open(shape, kind);
	charged_before = charged();
	scene_set(shape, kind);
	id = inject(kind, point);
	error = shape->act(&scene);
	if (!come_to_rest(&view)) {
		scene_close();
		return say("the slice never became idle during the fault");
	}
	*reached = first_fault(true) != id;
	/*
	 * For an outgoing half the driver also reads the laser, and that read may be the one that
	 * failed.
	 */
	if (error && !*reached && !(shape->edge && kind->no_query)) {
		scene_close();
		return say("the command returns %s without a fault: %s", strerror(error),
			   last_detail);
	}
	sim_control(&scene.sim, "clear", "all");
	what = judge(kind);
	if (!what && error && shape->again && !kind->lasts)
		what = wrong_again(shape, kind);
	if (!what && !shape->spoils && !kind->lasts)
		what = wrong_end(charged_before);
	if (what || shape->spoils || kind->lasts || !scene_healthy())
		scene_close();
	return what;
}

static unsigned int failures, tests, points_all;

static void result(const char *name, const char *kind, const char *what)
{
	tests++;
	failures += what != NULL;
	if (what)
		printf("# %s\n", what);
	printf("%sok %u %s %s\n", what ? "not " : "", tests, name, kind);
	fflush(stdout);
}

/* Sweep one kind of failure in one shape, at one point or at all points. */
static void sweep(const struct shape *shape, const struct kind *kind, unsigned int only)
{
	unsigned int point, points = 0;
	char name[80], bad[500] = "";
	const char *what;
	bool reached;

	for (point = only ? only : 1; point <= MOST_POINTS; point++) {
		reached = false;
		what = sweep_point(shape, kind, point, &reached);
		if (what && !*bad)
			snprintf(bad, sizeof(bad), "at call %u: %s", point, what);
		if (what)
			printf("# build/selftests/sweep/provider %s %s %u: %s\n", shape->name,
			       kind->name, point, what);
		if (only || !reached)
			break;
		points++;
	}
	points_all += points;
	snprintf(name, sizeof(name), "%s/%s", shape->name, kind->name);
	what = *bad ? bad : only ? NULL : points_check("provider", name, points, 0);
	result(shape->name, kind->name, what);
	progress("%lld ms %s/%s", now_ms(), shape->name, kind->name);
}

static void sweep_shape(const struct shape *shape, const char *kind, unsigned int only, bool quick)
{
	unsigned int i;

	for (i = 0; i < COUNT(kinds); i++) {
		if (kind ? strcmp(kind, kinds[i].name) : quick && !kinds[i].quick)
			continue;
		sweep(shape, &kinds[i], only);
	}
	scene_close();
	progress("%s: %u points so far", shape->name, points_all);
}

static void sweep_shapes(const struct shape *some, unsigned int count, int argc, char **argv,
			 bool quick)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (argc < 2 || !strcmp(argv[1], some[i].name))
			sweep_shape(&some[i], argc > 2 ? argv[2] : NULL,
				    argc > 3 ? atoi(argv[3]) : 0, quick);
}

int main(int argc, char **argv)
{
	bool quick = false, record = false;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		quick |= !strcmp(argv[1], "--quick");
		record |= !strcmp(argv[1], "--record");
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (nl_open(&nl)) {
		perror("# netlink");
		return 1;
	}
	charged_at_first = charged();
	points_begin(record);
	printf("TAP version 13\n");
	sweep_shapes(shapes, shapes_count, argc, argv, quick);
	sweep_shapes(schedule_shapes, schedule_shapes_count, argc, argv, quick);
	if (argc < 2 && !quick)
		result("all that is recorded", "was swept", points_end("provider"));
	printf("# %u points\n1..%u\n", points_all, tests);
	return failures != 0;
}
