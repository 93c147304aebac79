// SPDX-License-Identifier: GPL-2.0-only
/* Before the demo: the fabric, the jobs of the trace, and how their time is compressed. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "demo.h"

#define LONGEST_S 5400.0 /* of the trace; tasks that stay longer are cut to this */
#define LOAD 1.0 /* seats asked for, as a share of those there are */

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
	char line[256], source[16];

	if (!file) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), file) && demo.jobs_count < JOBS_MAX) {
		struct job *job = &demo.jobs[demo.jobs_count];

		if (sscanf(line, "%lf,%lf,%u,%15s", &job->arrival_s, &job->duration_s,
			   &job->accelerators, source) != 4)
			continue;
		job->drawn = !strcmp(source, "drawn");
		job->view = shared(sizeof(*job->view));
		demo.jobs_count++;
	}
	fclose(file);
	if (!demo.jobs_count) {
		fprintf(stderr, "%s: no line of the form arrival,duration,accelerators,source\n",
			path);
		exit(1);
	}
}

/* Two factors: one fits the arrivals into the time there is, the other the work to the load. */
void setup_time(void)
{
	double first = demo.jobs[0].arrival_s, last = demo.jobs[demo.jobs_count - 1].arrival_s;
	double asked = 0, arrivals, durations;
	uint32_t i;

	for (i = 0; i < demo.jobs_count; i++) {
		struct job *job = &demo.jobs[i];

		job->duration_s = job->duration_s < LONGEST_S ? job->duration_s : LONGEST_S;
		if (job->accelerators <= demo.seats / 2)
			asked += job->duration_s * job->accelerators;
	}
	arrivals = demo.length_ms / (last - first);
	durations = LOAD * demo.seats * demo.length_ms / asked;
	printf("demo: %u jobs; an hour between arrivals takes %.0f ms, an hour of work %.0f ms\n",
	       demo.jobs_count, 3600 * arrivals, 3600 * durations);
	for (i = 0; i < demo.jobs_count; i++) {
		struct job *job = &demo.jobs[i];

		job->arrives_ms = demo.begin_ms + (job->arrival_s - first) * arrivals;
		job->ends_ms = job->duration_s * durations;
		if (job->ends_ms < SHORTEST_MS)
			job->ends_ms = SHORTEST_MS;
	}
}

static void read_guides(void)
{
	static struct morph_guide_info guides[512];
	uint32_t first = 0, i;

	demo.guide_type = calloc(demo.sim.info.guides + 512, sizeof(*demo.guide_type));
	while (first < demo.sim.info.guides) {
		struct morph_fabric_read args = {
			.head.size = sizeof(args),
			.first = first,
			.entries = ARRAY(guides, 512),
		};

		if (ioctl(demo.sim.fd, MORPH_FABRIC_READ_GUIDES, &args) || !args.entries.count) {
			perror("reading guides");
			exit(1);
		}
		for (i = 0; i < args.entries.count; i++)
			demo.guide_type[first + i] = guides[i].type;
		first += args.entries.count;
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
	demo.seats = demo.sim.info.free;
	if (demo.planes * demo.sim.info.accelerators > PORTS_MAX) {
		fprintf(stderr, "the fabric has more than %u receivers\n", PORTS_MAX);
		exit(1);
	}
	read_guides();
}
