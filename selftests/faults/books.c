// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare the accounts of the core with the existing circuits and with the hardware. Patrol tests
 * suspect parts at any time, and holds the lanes that it lights meanwhile. So only a difference
 * that stays counts.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign.h"

#define TOLD_MAX 8

/* The differences of the latest check. */
static struct {
	char told[TOLD_MAX][200];
	unsigned int count;
} differences;

static __attribute__((format(printf, 1, 2))) void differs(const char *format, ...)
{
	va_list args;

	if (differences.count == TOLD_MAX)
		return;
	va_start(args, format);
	vsnprintf(differences.told[differences.count++], sizeof(differences.told[0]), format, args);
	va_end(args);
}

static bool agree(void (*look)(void))
{
	differences.count = 0;
	look();
	return !differences.count;
}

/* Check until there is no difference, or for the time that a test could take. */
static void expect_agreement(void (*look)(void))
{
	unsigned int i;

	if (WAIT_UNTIL(agree(look)))
		return;
	for (i = 0; i < differences.count; i++)
		violation("%s", differences.told[i]);
}

static void check_elements(void)
{
	static struct morph_element_info infos[512];
	uint32_t first;
	int count, i;

	for (first = 0; first < rack.sim.info.elements; first += count) {
		count = fabric_read(rack.sim.fd, MORPH_FABRIC_READ_ELEMENTS, first,
				    (struct morph_array)ARRAY(infos, 512));
		if (count <= 0)
			return differs("cannot read elements");
		for (i = 0; i < count; i++)
			if (infos[i].state != rack.light.state[first + i])
				differs("element %u is in state %u, in the core it is in %u",
					first + i, rack.light.state[first + i], infos[i].state);
	}
}

/* Add lanes that reserved plans hold without a circuit. */
static void add_reserved(uint64_t *held)
{
	char path[80], line[1024], *at;
	unsigned long long lanes;
	unsigned int guide;
	int length;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/morph/fabric%u/guide_routes",
		 rack.sim.number);
	file = fopen(path, "r");
	if (!file)
		return differs("cannot read %s", path);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%u %*x%n", &guide, &length) != 1)
			continue;
		for (at = line + length; (at = strstr(at, " H:")); at += length)
			if (sscanf(at, " H:slice%*u:rank%*u:%llx%n", &lanes, &length) == 1)
				held[guide] |= lanes;
			else
				length = 1;
	}
	fclose(file);
}

/* A lane of a guide is in use if and only if a circuit or plan uses it. */
static void check_guides(void)
{
	static uint64_t *held;
	const struct circuit *circuit;
	unsigned int s, i, k;

	if (!held)
		held = calloc(rack.sim.info.guides, sizeof(*held));
	memset(held, 0, rack.sim.info.guides * sizeof(*held));
	for (s = 0; s < SLICES; s++)
		for (i = 0; rack.slices[s].fd >= 0 && i < rack.slices[s].circuits_count; i++)
			for (circuit = &rack.slices[s].circuits[i], k = 0;
			     k < circuit->guides_count; k++)
				held[circuit->guides[k]] |= circuit->info.lanes;
	add_reserved(held);
	rack_read_guides();
	for (i = 0; i < rack.sim.info.guides; i++)
		if (rack.guide_held[i] != held[i])
			differs("guide %u has lanes %#llx in use, circuits and reservations have %#llx",
				i, (unsigned long long)rack.guide_held[i],
				(unsigned long long)held[i]);
}

static void look_at_circuits(void)
{
	static uint64_t *expected;
	long long on = 0, believed;
	unsigned int s, i;

	if (!expected)
		expected = calloc(rack.ports, sizeof(*expected));
	memset(expected, 0, rack.ports * sizeof(*expected));
	/* A skipping clock stops after the last request, so let the hardware settle first. */
	if (sim_control(&rack.sim, "advance", "%llu", (unsigned long long)rack.sim.info.settle_ns))
		differs("cannot advance the clock");
	rack_read_light();
	for (s = 0; s < SLICES; s++) {
		for (i = 0; rack.slices[s].fd >= 0 && i < rack.slices[s].circuits_count; i++)
			expected[rack.slices[s].circuits[i].rx] |=
				rack.slices[s].circuits[i].info.lanes;
	}
	for (i = 0; i < rack.ports; i++) {
		on += __builtin_popcountll(rack.light.on[i]);
		if (rack.light.lit[i] != expected[i] || rack.light.locked[i] != expected[i])
			differs("receiver %u should see lanes %#llx: lit are %#llx, locked %#llx",
				i, (unsigned long long)expected[i],
				(unsigned long long)rack.light.lit[i],
				(unsigned long long)rack.light.locked[i]);
	}
	believed = core_counter(&rack.sim, "ledger", "transmit lanes on");
	if (believed != on)
		differs("%lld lanes are on in the hardware, %lld in the core", on, believed);
	check_elements();
	check_guides();
}

static void look_for_held(void)
{
	static const char *const held[] = { "elements pinned",	   "pins",
					    "elements held",	   "guide lanes held",
					    "transmit lanes held", "transmit lanes on",
					    "receive lanes held" };
	long long value;
	unsigned int i;

	for (i = 0; i < sizeof(held) / sizeof(*held); i++) {
		value = core_counter(&rack.sim, "ledger", held[i]);
		if (value)
			differs("all slices are gone, but the ledger has %lld %s", value, held[i]);
	}
}

void check_books(void)
{
	expect_agreement(look_at_circuits);
}

void check_nothing_held(void)
{
	expect_agreement(look_for_held);
}
