// SPDX-License-Identifier: GPL-2.0-only
/* Read the light of the simulated hardware. No function here uses the core's state. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "demo.h"

#define QUIET_TRIES 10

static void hardware_path(char *path, size_t bytes)
{
	snprintf(path, bytes, "/sys/kernel/debug/morph_sim/%s/hardware", demo.sim.name);
}

bool light_read(struct lit *lit)
{
	unsigned long long on, locked;
	char path[96], line[4096];
	unsigned int port;
	FILE *file;

	memset(lit, 0, sizeof(*lit));
	hardware_path(path, sizeof(path));
	file = fopen(path, "r");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] != 'r' ||
		    sscanf(line, "receiver %u lit %llx locked %llx", &port, &on, &locked) != 3 ||
		    port >= PORTS_MAX)
			continue;
		lit->lit[port] = on;
		lit->locked[port] = locked;
	}
	return !fclose(file);
}

/* Lanes that each receiver of a slice should see, by port. */
static void expect_slice(const struct view *view, uint64_t *expected)
{
	uint32_t i;

	for (i = 0; i < view->circuits; i++)
		if (view->beam[i].state == MORPH_CIRCUIT_LIT)
			expected[view->beam[i].rx] |= view->beam[i].lanes;
}

static bool compare_port(uint32_t port, uint64_t expected, const struct lit *lit, char *what,
			 size_t bytes)
{
	if (lit->lit[port] == expected && (lit->locked[port] & expected) == expected)
		return true;
	snprintf(what, bytes, "receiver %u should see lanes %#llx: lit are %#llx, locked %#llx",
		 port, (unsigned long long)expected, (unsigned long long)lit->lit[port],
		 (unsigned long long)lit->locked[port]);
	return false;
}

bool light_matches(const struct view *view, const struct lit *lit, uint32_t planes, char *what,
		   size_t bytes)
{
	static uint64_t expected[PORTS_MAX];
	uint32_t rank, plane;

	memset(expected, 0, sizeof(expected));
	expect_slice(view, expected);
	for (rank = 0; rank < view->ranks; rank++) {
		for (plane = 0; plane < planes; plane++) {
			uint32_t port = view->accelerator[rank] * planes + plane;

			if (!compare_port(port, expected[port], lit, what, bytes))
				return false;
		}
	}
	return true;
}

bool light_dark(const struct lit *lit, const uint32_t *accelerators, uint32_t count)
{
	uint32_t i, plane;

	for (i = 0; i < count; i++)
		for (plane = 0; plane < demo.planes; plane++)
			if (lit->lit[accelerators[i] * demo.planes + plane])
				return false;
	return true;
}

static uint64_t fabric_seq(void)
{
	sim_refresh(&demo.sim);
	return demo.sim.info.seq;
}

/* Lanes that should be lit now. Returns false while a slice is not whole. */
static bool expect_fabric(uint64_t *expected)
{
	struct view view;
	uint32_t i;

	memset(expected, 0, PORTS_MAX * sizeof(*expected));
	for (i = 0; i < demo.jobs_count; i++) {
		if (demo.jobs[i].stage != STAGE_RUNNING)
			continue;
		view = view_of(&demo.jobs[i]);
		if (view.state != MORPH_SLICE_OK || demo.jobs[i].hurt)
			return false;
		expect_slice(&view, expected);
	}
	return true;
}

/* Compare once: 0 if the light is right, 1 if it is wrong, -1 if a slice changed meanwhile. */
static int check_once(char *what, size_t bytes)
{
	static uint64_t expected[PORTS_MAX];
	uint32_t port, ports = demo.planes * demo.sim.info.accelerators;
	uint64_t seq = fabric_seq();
	struct lit lit;
	int wrong = 0;

	if (!expect_fabric(expected))
		return -1;
	if (!light_read(&lit)) {
		snprintf(what, bytes, "cannot read the simulator's hardware");
		return 1;
	}
	for (port = 0; port < ports && !wrong; port++)
		wrong = !compare_port(port, expected[port], &lit, what, bytes);
	return fabric_seq() == seq ? wrong : -1;
}

void light_check_fabric(void)
{
	char what[160] = "";
	int wrong = -1, tries;

	gate();
	for (tries = 0; tries < QUIET_TRIES && wrong; tries++) {
		wrong = check_once(what, sizeof(what));
		if (wrong)
			pump_for(100);
	}
	if (!wrong)
		demo.light_checks++;
	else if (wrong > 0)
		violation("light of the fabric: %s", what);
	else
		demo.quiet_skipped++;
	ungate();
}

static void copy_file(const char *from, FILE *to)
{
	FILE *file = fopen(from, "r");
	char block[4096];
	size_t bytes;

	if (!file)
		return;
	while ((bytes = fread(block, 1, sizeof(block), file)))
		fwrite(block, 1, bytes, to);
	fclose(file);
}

/* Write a snapshot if nothing changed meanwhile. The caller has called gate(). */
void light_snapshot(void)
{
	char path[300], hardware[96];
	uint64_t seq = fabric_seq();
	uint32_t i, k;
	FILE *file;

	snprintf(path, sizeof(path), "%s/light-%u.txt", demo.results, demo.snapshots);
	file = fopen(path, "w");
	if (!file)
		return;
	hardware_path(hardware, sizeof(hardware));
	copy_file(hardware, file);
	for (i = 0; i < demo.jobs_count; i++) {
		struct view view;

		if (demo.jobs[i].stage != STAGE_RUNNING)
			continue;
		view = view_of(&demo.jobs[i]);
		for (k = 0; k < view.circuits; k++)
			fprintf(file, "circuit %u job %u tx %u rx %u lanes %#llx\n",
				view.beam[k].circuit, i, view.beam[k].tx, view.beam[k].rx,
				(unsigned long long)view.beam[k].lanes);
	}
	if (fclose(file) || fabric_seq() != seq)
		unlink(path);
	else
		demo.snapshots++;
}
