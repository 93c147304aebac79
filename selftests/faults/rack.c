// SPDX-License-Identifier: GPL-2.0-only
/* The rack: its fabric, its slices, and their state in core and simulator. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "campaign.h"

#define IMPAIRED_MAX 256

struct rack rack;

/* The servers of each slice; the spare servers and half of the rack stay free. */
enum pattern {
	RING,
	ALL_TO_ALL
};

static const struct shape {
	const char *name;
	struct {
		unsigned int host, place;
	} at[RANKS_MAX];
	unsigned int ranks;
	enum pattern pattern;
	unsigned int lanes, times;
	uint32_t flags, failover;
} shapes[SLICES] = {
	{ "ring-on-a-server", { { 0, 0 }, { 0, 1 }, { 0, 3 }, { 0, 2 } }, 4, RING, 1, 1, 0, 0 },
	{ "ring-of-servers",
	  { { 1, 0 }, { 1, 1 }, { 2, 0 }, { 2, 1 }, { 3, 0 }, { 3, 1 } },
	  6,
	  RING,
	  1,
	  1,
	  0,
	  0 },
	{ "all-to-all", { { 4, 0 }, { 4, 1 }, { 4, 2 }, { 4, 3 } }, 4, ALL_TO_ALL, 1, 1, 0, 0 },
	{ "pair-of-lanes", { { 1, 2 }, { 2, 2 } }, 2, RING, 4, 2, 0, 0 },
	{ "reserved-ring",
	  { { 5, 0 }, { 5, 1 }, { 6, 1 }, { 6, 0 } },
	  4,
	  RING,
	  2,
	  1,
	  MORPH_SLICE_RESERVED,
	  0 },
	/* Failed parts stay failed. */
	{ "unprotected-ring",
	  { { 7, 0 }, { 7, 1 }, { 8, 1 }, { 8, 0 } },
	  4,
	  RING,
	  2,
	  1,
	  0,
	  MORPH_FAILOVER_NONE },
};

static const char *const part_names[] = { "nothing",  "accelerator", "laser",
					  "receiver", "element",     "guide" };

const char *part_name(uint32_t part)
{
	return part < PARTS ? part_names[part] : "part";
}

static void __attribute__((noreturn)) give_up(const char *what)
{
	printf("Bail out! %s: %s (%s)\n", what, strerror(errno), last_detail);
	exit(1);
}

static void *zeroed(size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes);

	if (!memory)
		give_up("memory");
	return memory;
}

unsigned int rack_count(unsigned int part)
{
	switch (part) {
	case MORPH_PART_ACCELERATOR:
		return rack.sim.info.accelerators;
	case MORPH_PART_LASER:
	case MORPH_PART_RECEIVER:
		return rack.ports;
	case MORPH_PART_ELEMENT:
		return rack.sim.info.elements;
	case MORPH_PART_GUIDE:
		return rack.sim.info.guides;
	}
	return 0;
}

/* --------------------------------------------------------------------- start */

void rack_read_guides(void)
{
	static struct morph_guide_info guides[512];
	uint32_t first;
	int count, i;

	for (first = 0; first < rack.sim.info.guides; first += count) {
		count = fabric_read(rack.sim.fd, MORPH_FABRIC_READ_GUIDES, first,
				    (struct morph_array)ARRAY(guides, 512));
		if (count <= 0)
			give_up("reading guides");
		for (i = 0; i < count; i++) {
			rack.guide_class[first + i] = guides[i].type;
			rack.guide_held[first + i] = guides[i].lanes & ~guides[i].lanes_free;
		}
	}
}

/* Return the accelerator of a host at that place. */
static uint32_t accelerator_at(unsigned int host, unsigned int place)
{
	uint32_t i;

	for (i = 0; i < rack.sim.info.accelerators; i++)
		if (read_accelerator(&rack.sim, i).host == host && !place--)
			return i;
	give_up("a server of the rack is missing");
}

static void plan_slices(void)
{
	unsigned int s, r;

	for (s = 0; s < SLICES; s++) {
		rack.slices[s].name = shapes[s].name;
		rack.slices[s].fd = -1;
		for (r = 0; r < shapes[s].ranks; r++)
			rack.slices[s].wanted[r] =
				accelerator_at(shapes[s].at[r].host, shapes[s].at[r].place);
	}
}

void rack_start(uint64_t number)
{
	unsigned int part;
	char settings[64];

	snprintf(settings, sizeof(settings), "clock=skipping seed=%llu",
		 (unsigned long long)number);
	sim_start(&rack.sim, "rack64", settings);
	if (nl_open(&rack.nl))
		give_up("netlink");
	rack.planes = rack.sim.info.planes;
	rack.ports = rack.planes * rack.sim.info.accelerators;
	for (part = 0; part < PARTS; part++)
		rack.users[part] = zeroed(rack_count(part), 1);
	rack.guide_class = zeroed(rack.sim.info.guides, 1);
	rack.guide_held = zeroed(rack.sim.info.guides, sizeof(uint64_t));
	rack.dark = zeroed(rack.ports, sizeof(uint64_t));
	rack.light.lit = zeroed(rack.ports, sizeof(uint64_t));
	rack.light.locked = zeroed(rack.ports, sizeof(uint64_t));
	rack.light.emits = zeroed(rack.ports, sizeof(uint64_t));
	rack.light.on = zeroed(rack.ports, sizeof(uint64_t));
	rack.light.state = zeroed(rack.sim.info.elements, 1);
	rack_read_guides();
	plan_slices();
}

void rack_stop(void)
{
	unsigned int s;

	for (s = 0; s < SLICES; s++)
		if (rack.slices[s].fd >= 0)
			close(rack.slices[s].fd);
	nl_close(&rack.nl);
	sim_stop(&rack.sim);
}

/* -------------------------------------------------------------------- slices */

static unsigned int pattern_changes(const struct shape *shape, struct morph_change *changes)
{
	unsigned int n = 0, i, j, k;

	for (k = 0; k < shape->times; k++) {
		for (i = 0; i < shape->ranks; i++) {
			for (j = 0; j < shape->ranks; j++) {
				if (i == j ||
				    (shape->pattern == RING && j != (i + 1) % shape->ranks))
					continue;
				changes[n] = change_add(i, j);
				changes[n++].lanes_count = shape->lanes;
			}
		}
	}
	return n;
}

/* The creation failed because of the hardware, and the core knows the failed part. */
static bool has_found(const struct fault *broken)
{
	return errno == EIO && broken &&
	       rack_health(kinds[broken->kind].part, broken->index) == MORPH_HEALTH_FAILED;
}

static int slice_light(unsigned int s)
{
	struct morph_change changes[CIRCUITS_MAX];
	unsigned int count = pattern_changes(&shapes[s], changes);

	return txn_run(rack.slices[s].fd, changes, count, NULL);
}

static bool slice_build(unsigned int s, const struct fault *broken)
{
	struct morph_slice_create args = { .head.flags = shapes[s].flags,
					   .failover = shapes[s].failover };
	struct slice *slice = &rack.slices[s];

	slice->fd = slice_create_with(rack.sim.fd, &args, slice->wanted, shapes[s].ranks);
	if (slice->fd < 0) {
		violation("cannot create slice %s: %s (%s)", slice->name, strerror(errno),
			  last_detail);
		return false;
	}
	if (!slice_light(s) || (has_found(broken) && !slice_light(s)))
		return true;
	violation("cannot light slice %s: %s (%s)", slice->name, strerror(errno), last_detail);
	return false;
}

bool rack_build(const struct fault *broken)
{
	bool whole = true;
	unsigned int s;

	for (s = 0; s < SLICES; s++)
		if (rack.slices[s].fd < 0)
			whole &= slice_build(s, broken);
	if (!rack_rest())
		violation("the core does not become idle after the creation of slices");
	for (s = 0; s < SLICES; s++)
		drain_events(rack.slices[s].fd);
	rack_load();
	return whole;
}

static bool set_use(uint32_t accelerator, uint32_t use)
{
	nl_begin(&rack.nl, MORPH_CMD_ACCELERATOR_SET, 0);
	nl_put_u32(&rack.nl, MORPH_A_ACCELERATOR_FABRIC, rack.sim.number);
	nl_put_u32(&rack.nl, MORPH_A_ACCELERATOR_ID, accelerator);
	nl_put_u32(&rack.nl, MORPH_A_ACCELERATOR_USE, use);
	return !nl_do(&rack.nl);
}

/*
 * A failover exchanges the roles of accelerator and spare: restore them when they are unassigned.
 */
static void restore_role(uint32_t accelerator, bool spare)
{
	uint32_t use = spare ? MORPH_USE_SPARE : MORPH_USE_FREE;
	struct morph_accelerator_info info = read_accelerator(&rack.sim, accelerator);

	if (info.use != use && info.use != MORPH_USE_HELD && info.use != MORPH_USE_DRAINING)
		set_use(accelerator, use);
}

void rack_remove(unsigned int s)
{
	static uint32_t first_spare;
	struct slice *slice = &rack.slices[s];
	unsigned int r;

	if (slice->fd < 0)
		return;
	close(slice->fd);
	slice->fd = -1;
	rack_rest();
	if (!first_spare)
		while (read_accelerator(&rack.sim, first_spare).host <
		       read_accelerator(&rack.sim, rack.sim.info.accelerators - 1).host - 1)
			first_spare++;
	for (r = 0; r < shapes[s].ranks; r++)
		restore_role(slice->wanted[r], false);
	for (r = first_spare; r < rack.sim.info.accelerators; r++)
		restore_role(r, true);
}

/* ------------------------------------------------------------------- reading */

static bool circuit_load(struct slice *slice, struct circuit *circuit)
{
	struct morph_circuit_path path = {
		.head = HEAD(morph_circuit_path),
		.circuit = circuit->info.circuit,
		.guides = ARRAY(circuit->guides, HOPS_MAX),
		.elements = ARRAY(circuit->elements, HOPS_MAX),
	};

	if (ioctl(slice->fd, MORPH_CIRCUIT_PATH, &path))
		return false;
	circuit->guides_count = path.guides.count;
	circuit->elements_count = path.elements.count;
	circuit->tx = slice->ranks[circuit->info.src_rank].accelerator * rack.planes +
		      circuit->info.src_plane;
	circuit->rx = slice->ranks[circuit->info.dst_rank].accelerator * rack.planes +
		      circuit->info.dst_plane;
	return true;
}

bool slice_load(struct slice *slice)
{
	struct morph_circuit_info infos[CIRCUITS_MAX];
	unsigned int i;

	if (slice_read(slice->fd, &slice->info, slice->ranks, RANKS_MAX, infos, CIRCUITS_MAX))
		return false;
	slice->ranks_count = slice->info.ranks.count;
	slice->circuits_count = slice->info.circuits.count;
	for (i = 0; i < slice->circuits_count; i++) {
		slice->circuits[i].info = infos[i];
		if (!circuit_load(slice, &slice->circuits[i]))
			return false;
	}
	return true;
}

static void note_users(const struct slice *slice, uint8_t bit)
{
	unsigned int i, k;

	for (i = 0; i < slice->ranks_count; i++)
		rack.users[MORPH_PART_ACCELERATOR][slice->ranks[i].accelerator] |= bit;
	for (i = 0; i < slice->circuits_count; i++) {
		const struct circuit *circuit = &slice->circuits[i];

		rack.users[MORPH_PART_LASER][circuit->tx] |= bit;
		rack.users[MORPH_PART_RECEIVER][circuit->rx] |= bit;
		for (k = 0; k < circuit->guides_count; k++)
			rack.users[MORPH_PART_GUIDE][circuit->guides[k]] |= bit;
		for (k = 0; k < circuit->elements_count; k++)
			rack.users[MORPH_PART_ELEMENT][circuit->elements[k].element] |= bit;
	}
}

void rack_load(void)
{
	unsigned int part, s;

	for (part = 0; part < PARTS; part++)
		memset(rack.users[part], 0, rack_count(part));
	for (s = 0; s < SLICES; s++) {
		if (rack.slices[s].fd < 0)
			continue;
		if (!slice_load(&rack.slices[s]))
			violation("cannot read slice %s: %s", rack.slices[s].name, strerror(errno));
		note_users(&rack.slices[s], 1u << s);
	}
}

/* ------------------------------------------------------------- the simulator */

static FILE *sim_file(const char *name)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph_sim/%s/%s", rack.sim.name, name);
	file = fopen(path, "r");
	if (!file)
		give_up(path);
	setvbuf(file, NULL, _IOFBF, 65536);
	return file;
}

void rack_watch(void)
{
	if (sim_control(&rack.sim, "dark", "0"))
		give_up("counting dark moments");
}

void rack_read_dark(void)
{
	FILE *file = sim_file("dark");
	unsigned int port, lane, times;
	char line[512], *at;
	int length;

	memset(rack.dark, 0, rack.ports * sizeof(*rack.dark));
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "receiver %u%n", &port, &length) != 1 || port >= rack.ports)
			continue;
		for (at = line + length; sscanf(at, " %u:%u%n", &lane, &times, &length) == 2;
		     at += length)
			rack.dark[port] |= 1ull << lane;
	}
	fclose(file);
}

static void read_hardware_line(const char *line)
{
	unsigned long long a, b;
	unsigned int index, state;

	if (sscanf(line, "element %u state %u", &index, &state) == 2 &&
	    index < rack.sim.info.elements)
		rack.light.state[index] = state;
	else if (sscanf(line, "laser %u on 0x%llx emits 0x%llx", &index, &a, &b) == 3 &&
		 index < rack.ports)
		rack.light.on[index] = a, rack.light.emits[index] = b;
	else if (sscanf(line, "receiver %u lit 0x%llx locked 0x%llx", &index, &a, &b) == 3 &&
		 index < rack.ports)
		rack.light.lit[index] = a, rack.light.locked[index] = b;
}

void rack_read_light(void)
{
	FILE *file = sim_file("hardware");
	char line[1024];

	memset(rack.light.lit, 0, rack.ports * sizeof(uint64_t));
	memset(rack.light.locked, 0, rack.ports * sizeof(uint64_t));
	memset(rack.light.on, 0, rack.ports * sizeof(uint64_t));
	memset(rack.light.emits, 0, rack.ports * sizeof(uint64_t));
	while (fgets(line, sizeof(line), file))
		if (line[0] == 'e' || line[0] == 'l' || line[0] == 'r')
			read_hardware_line(line);
	fclose(file);
}

/* ------------------------------------------------------------------ the core */

/* Is work pending in the core, other than patrol? */
static long long core_work(void)
{
	long long sum = 0, value;
	char path[80], line[80];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph/fabric%u/rest", rack.sim.number);
	file = fopen(path, "r");
	if (!file)
		give_up(path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %lld", &value) == 1)
			sum += value;
	fclose(file);
	return sum;
}

bool rack_rests(void)
{
	return !core_work();
}

bool rack_rest(void)
{
	return WAIT_UNTIL(rack_rests());
}

uint64_t rack_seq(void)
{
	sim_refresh(&rack.sim);
	return rack.sim.info.seq;
}

struct morph_element_info rack_element(uint32_t element)
{
	struct morph_element_info info;

	if (fabric_read(rack.sim.fd, MORPH_FABRIC_READ_ELEMENTS, element,
			(struct morph_array)ARRAY(&info, 1)) < 0)
		give_up("reading an element");
	return info;
}

uint32_t rack_health(uint32_t part, uint32_t index)
{
	nl_on_part(&rack.nl, MORPH_CMD_HARDWARE_GET, rack.sim.number, part, index);
	return nl_do(&rack.nl) ? MORPH_ANY : REPLY_U32(&rack.nl, MORPH_A_HARDWARE_HEALTH);
}

struct found {
	struct part *list;
	unsigned int room, count;
};

static void note_impaired(const struct nlmsghdr *message, void *context)
{
	struct found *found = context;
	struct part part = {
		nl_get_u32(nl_find(message, MORPH_A_HARDWARE_PART)),
		nl_get_u32(nl_find(message, MORPH_A_HARDWARE_INDEX)),
		nl_get_u32(nl_find(message, MORPH_A_HARDWARE_HEALTH)),
	};

	if (found->count < found->room)
		found->list[found->count] = part;
	found->count++;
}

unsigned int rack_impaired(struct part *list, unsigned int room)
{
	struct found found = { .list = list, .room = room };

	nl_begin(&rack.nl, MORPH_CMD_HARDWARE_GET, 0);
	nl_put_u32(&rack.nl, MORPH_A_HARDWARE_FABRIC, rack.sim.number);
	if (nl_dump(&rack.nl, note_impaired, &found))
		give_up("health of the rack");
	return found.count;
}

uint32_t rack_test(uint32_t part, uint32_t index, char *why, size_t bytes)
{
	const struct nlattr *text;
	int outcome;

	nl_on_part(&rack.nl, MORPH_CMD_HARDWARE_TEST, rack.sim.number, part, index);
	if (nl_do(&rack.nl)) {
		snprintf(why, bytes, "%s", rack.nl.text);
		return MORPH_OUTCOME_NONE;
	}
	outcome = nl_wait_outcome(&rack.nl, rack.sim.number,
				  REPLY_U32(&rack.nl, MORPH_A_HARDWARE_TXN));
	text = nl_find(nl_reply(&rack.nl), MORPH_A_TXN_TEXT);
	snprintf(why, bytes, "%s", text ? nl_get_text(text) : "");
	return outcome < 0 ? MORPH_OUTCOME_NONE : outcome;
}
