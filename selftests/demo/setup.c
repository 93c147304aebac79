// SPDX-License-Identifier: GPL-2.0-only
/* Before the demo: the fabric and the jobs. */
#include <stdlib.h>
#include <sys/mman.h>

#include "demo.h"

static void *shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return memory;
}

void setup_jobs(const char *path)
{
	FILE *file = fopen(path, "r");
	char why[128];
	int count;
	uint32_t i;

	if (!file) {
		perror(path);
		exit(1);
	}
	count = jobs_read(file, demo.jobs, JOBS_MAX, why, sizeof(why));
	fclose(file);
	if (count < 0) {
		fprintf(stderr, "%s: %s\n", path, why);
		exit(1);
	}
	demo.jobs_count = count;
	for (i = 0; i < demo.jobs_count; i++)
		demo.jobs[i].view = shared(sizeof(*demo.jobs[i].view));
}

void setup_time(void)
{
	struct pace pace = jobs_pace(demo.jobs, demo.jobs_count, demo.capacity, demo.length_ms);
	uint32_t i;

	printf("demo: %u jobs; an hour between arrivals takes %.0f ms, an hour of work %.0f ms\n",
	       demo.jobs_count, 3600 * pace.arrivals, 3600 * pace.durations);
	for (i = 0; i < demo.jobs_count; i++)
		demo.jobs[i].arrives_ms += demo.begin_ms;
}

static void read_guides(void)
{
	static struct morph_guide_info guides[512];
	uint32_t first;
	int count, i;

	demo.guide_type = calloc(demo.sim.info.guides + 512, sizeof(*demo.guide_type));
	for (first = 0; first < demo.sim.info.guides; first += count) {
		count = fabric_read(demo.sim.fd, MORPH_FABRIC_READ_GUIDES, first,
				    (struct morph_array)ARRAY(guides, 512));
		if (count <= 0) {
			perror("reading guides");
			exit(1);
		}
		for (i = 0; i < count; i++)
			demo.guide_type[first + i] = guides[i].type;
	}
}

void setup_fabric(void)
{
	snprintf(demo.sim.name, sizeof(demo.sim.name), "sim0");
	demo.sim.fd = open_fabric(0);
	if (demo.sim.fd < 0) {
		perror("/dev/morph/fabric0");
		exit(1);
	}
	sim_refresh(&demo.sim);
	demo.planes = demo.sim.info.planes;
	demo.capacity = demo.sim.info.free;
	if (demo.planes * demo.sim.info.accelerators > PORTS_MAX) {
		fprintf(stderr, "the fabric has more than %u receivers\n", PORTS_MAX);
		exit(1);
	}
	read_guides();
}
