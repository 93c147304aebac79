// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state seen from outside: circuits as the driver reports them, and light from the simulated
 * hardware.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "schedule.h"

#define MAX_ELEMENTS 4096
#define MAX_GUIDES 8192
#define MAX_PORTS 512

/* The requirements of the circuits, and the actual hardware. */
struct need {
	uint64_t lanes[MAX_GUIDES];
	unsigned int pins[MAX_ELEMENTS];
	unsigned int state[MAX_ELEMENTS];
	uint64_t lasers[MAX_PORTS];
	uint64_t receivers[MAX_PORTS];
	/* schedules: number of circuits, lit or not, that use each guide and element */
	bool schedules;
	unsigned int held_guides[MAX_GUIDES];
	unsigned int held_elements[MAX_ELEMENTS];
};

int view_read(int slice, struct view *view)
{
	return slice_read(slice, &view->info, view->ranks, COUNT(view->ranks), view->circuits,
			  COUNT(view->circuits));
}

/* ------------------------------------------------------------- requirements */

/* Add the path of a circuit. */
struct way {
	struct morph_path_element elements[64];
	uint32_t guides[64];
	unsigned int elements_count, guides_count;
};

static const char *read_way(int slice, unsigned int circuit, struct way *way)
{
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.circuit = circuit,
		.guides = ARRAY(way->guides, 64),
		.elements = ARRAY(way->elements, 64),
	};

	if (ioctl(slice, MORPH_CIRCUIT_PATH, &path))
		return say("circuit %u has no path: %s", circuit, strerror(errno));
	way->guides_count = path.guides.count;
	way->elements_count = path.elements.count;
	return NULL;
}

static const char *need_path(int slice, const struct morph_circuit_info *circuit, struct need *need)
{
	struct way way;
	const char *what = read_way(slice, circuit->circuit, &way);
	unsigned int i;

	if (what)
		return what;
	for (i = 0; i < way.guides_count; i++) {
		if (need->lanes[way.guides[i]] & circuit->lanes)
			return say("two circuits share a lane of guide %u", way.guides[i]);
		need->lanes[way.guides[i]] |= circuit->lanes;
	}
	for (i = 0; i < way.elements_count; i++) {
		unsigned int element = way.elements[i].element;

		if (need->pins[element]++ && need->state[element] != way.elements[i].state)
			return say("two circuits need element %u in different states", element);
		need->state[element] = way.elements[i].state;
	}
	return NULL;
}

/* Add the hardware that a schedule holds: each element once, however many circuits use it. */
static const char *need_schedule(int slice, const struct morph_schedule_info *info,
				 struct need *need)
{
	static bool has[MAX_ELEMENTS];
	const char *what = NULL;
	struct way way;
	unsigned int c, i;

	memset(has, 0, sizeof(has));
	for (c = 0; c < info->circuits && !what; c++) {
		what = read_way(slice, info->first_circuit + c, &way);
		for (i = 0; !what && i < way.guides_count; i++)
			need->held_guides[way.guides[i]]++;
		for (i = 0; !what && i < way.elements_count; i++)
			has[way.elements[i].element] = true;
	}
	for (i = 0; i < MAX_ELEMENTS; i++)
		need->held_elements[i] += has[i];
	return what;
}

static const char *need_schedules(int slice, struct need *need)
{
	struct morph_schedule_info info = {};
	const char *what = NULL;

	while (!what && !schedule_info(slice, info.schedule + 1, &info)) {
		need->schedules = true;
		what = need_schedule(slice, &info, need);
	}
	return what;
}

static const char *need_slice(const struct sim *sim, int slice, struct need *need)
{
	unsigned int planes = sim->info.planes, i;
	const char *what;
	struct view view;

	if (view_read(slice, &view))
		return say("cannot read the slice: %s", strerror(errno));
	for (i = 0; i < view.info.circuits.count; i++) {
		const struct morph_circuit_info *circuit = &view.circuits[i];

		what = need_path(slice, circuit, need);
		if (what)
			return what;
		if (circuit->state != MORPH_CIRCUIT_LIT)
			return say("circuit %u is in state %u", circuit->circuit, circuit->state);
		if (!(circuit->src_rank & MORPH_RANK_EDGE))
			need->lasers[view.ranks[circuit->src_rank].accelerator * planes +
				     circuit->src_plane] |= circuit->lanes;
		if (!(circuit->dst_rank & MORPH_RANK_EDGE))
			need->receivers[view.ranks[circuit->dst_rank].accelerator * planes +
					circuit->dst_plane] |= circuit->lanes;
	}
	return need_schedules(slice, need);
}

/* --------------------------------------------------------------- the hardware */

static FILE *open_hardware(const struct sim *sim, const char *file)
{
	char path[160];

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph_sim/%s/%s", sim->name, file);
	return fopen(path, "r");
}

void world_parked(const struct sim *sim, unsigned int *parked)
{
	FILE *stream = open_hardware(sim, "hardware");
	unsigned int element, state;
	char line[1024];

	while (stream && fgets(line, sizeof(line), stream))
		if (sscanf(line, "element %u state %u", &element, &state) == 2)
			parked[element] = state;
	if (stream)
		fclose(stream);
}

/* Compare the light. Ports that are not in the file are dark. */
static const char *compare_light(const struct sim *sim, const struct need *need)
{
	unsigned int ports = sim->info.accelerators * sim->info.planes, port;
	uint64_t lasers[MAX_PORTS] = {}, lit[MAX_PORTS] = {}, locked[MAX_PORTS] = {};
	FILE *stream = open_hardware(sim, "hardware");
	unsigned long long one, two;
	char line[1024];

	if (!stream)
		return say("cannot read the hardware");
	while (fgets(line, sizeof(line), stream)) {
		if (sscanf(line, "laser %u on %llx", &port, &one) == 2)
			lasers[port] = one;
		if (sscanf(line, "receiver %u lit %llx locked %llx", &port, &one, &two) == 3) {
			lit[port] = one;
			locked[port] = two;
		}
	}
	fclose(stream);
	for (port = 0; port < ports; port++) {
		if (lasers[port] != need->lasers[port])
			return say("lasers of port %u are %#llx, expected %#llx", port,
				   (unsigned long long)lasers[port],
				   (unsigned long long)need->lasers[port]);
		/*
		 * The driver does not park elements that a schedule holds, so light may leak to
		 * unused receivers.
		 */
		if (need->schedules && !need->receivers[port])
			lit[port] = locked[port];
		if (lit[port] != need->receivers[port] || locked[port] != need->receivers[port])
			return say("receiver %u sees %#llx, locked %#llx, expected %#llx", port,
				   (unsigned long long)lit[port], (unsigned long long)locked[port],
				   (unsigned long long)need->receivers[port]);
	}
	return NULL;
}

/*
 * The driver does not report which lanes a schedule holds for dark circuits: at most one for each
 * circuit.
 */
static bool wrong_guide(const struct morph_guide_info *guide, uint64_t lit, unsigned int held)
{
	uint64_t taken = guide->lanes & ~guide->lanes_free;

	if ((taken & lit) != lit || (held && !taken))
		return true;
	return (unsigned int)__builtin_popcountll(taken & ~lit) > held;
}

static const char *compare_guides(const struct sim *sim, const struct need *need)
{
	static struct morph_guide_info guides[MAX_GUIDES];
	struct morph_fabric_read args = {
		.head.size = sizeof(args),
		.entries = ARRAY(guides, MAX_GUIDES),
	};
	unsigned int i;

	if (ioctl(sim->fd, MORPH_FABRIC_READ_GUIDES, &args))
		return say("cannot read guides: %s", strerror(errno));
	for (i = 0; i < args.entries.count; i++)
		if (wrong_guide(&guides[i], need->lanes[i], need->held_guides[i]))
			return say("guide %u: free %#llx, in use %#llx, held by %u circuits", i,
				   (unsigned long long)guides[i].lanes_free,
				   (unsigned long long)need->lanes[i], need->held_guides[i]);
	return NULL;
}

static const char *compare_elements(const struct sim *sim, const unsigned int *parked,
				    const struct need *need)
{
	static struct morph_element_info elements[MAX_ELEMENTS];
	static unsigned int states[MAX_ELEMENTS];
	struct morph_fabric_read args = {
		.head.size = sizeof(args),
		.entries = ARRAY(elements, MAX_ELEMENTS),
	};
	unsigned int i, wanted;

	world_parked(sim, states);
	if (ioctl(sim->fd, MORPH_FABRIC_READ_ELEMENTS, &args))
		return say("cannot read elements: %s", strerror(errno));
	for (i = 0; i < args.entries.count; i++) {
		wanted = need->pins[i] ? need->state[i] : parked[i];
		if (elements[i].pins != need->pins[i] + need->held_elements[i])
			return say("element %u has %u pins, expected %u", i, elements[i].pins,
				   need->pins[i] + need->held_elements[i]);
		/* A held element keeps the state for the latest light. */
		if (!need->pins[i] && need->held_elements[i])
			continue;
		if (elements[i].state != wanted || states[i] != wanted)
			return say("element %u is in state %u, reported as %u, expected %u", i,
				   states[i], elements[i].state, wanted);
	}
	return NULL;
}

static const char *wrong_now(const struct sim *sim, const unsigned int *parked, const int *slices,
			     unsigned int count)
{
	const char *what = NULL;
	struct need *need;
	unsigned int i;

	need = calloc(1, sizeof(*need));
	if (!need)
		return "out of memory";
	for (i = 0; i < count && !what; i++)
		if (slices[i] >= 0)
			what = need_slice(sim, slices[i], need);
	if (!what)
		what = compare_light(sim, need);
	if (!what)
		what = compare_guides(sim, need);
	if (!what)
		what = compare_elements(sim, parked, need);
	free(need);
	return what;
}

/* ------------------------------------------------------------------------- rest */

bool world_rest(const struct sim *sim)
{
	long long until = now_ms() + PATIENCE_MS;
	unsigned int calm = 0;

	while (calm < 3) {
		if (now_ms() > until)
			return false;
		calm = core_rests(sim) && !sim_counter(sim, "ops", "in_flight") ? calm + 1 : 0;
		usleep(1000);
	}
	return true;
}

bool world_flickered(const struct sim *sim, const struct view *view)
{
	FILE *stream = open_hardware(sim, "dark");
	bool flickered = !stream;
	unsigned int port, i;
	char line[1024];

	while (stream && fgets(line, sizeof(line), stream)) {
		if (sscanf(line, "receiver %u", &port) != 1)
			continue;
		for (i = 0; i < view->info.ranks.count; i++)
			flickered |= view->ranks[i].accelerator == port / sim->info.planes;
	}
	if (stream)
		fclose(stream);
	return flickered;
}

/* A probe of the patrol holds a path for a moment, so report only differences that stay. */
const char *world_wrong(const struct sim *sim, const unsigned int *parked, const int *slices,
			unsigned int count)
{
	const char *what = NULL;
	int look;

	for (look = 0; look < 5; look++) {
		what = wrong_now(sim, parked, slices, count);
		if (!what || !world_rest(sim))
			break;
		usleep(10000);
	}
	return what;
}
