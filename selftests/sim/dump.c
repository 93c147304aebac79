// SPDX-License-Identifier: GPL-2.0-only
/* A simulated fabric in user space, for tests, and its output for crosscheck.py. */
#include "dump.h"

void *read_profile(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	void *blob = NULL;
	long size;

	if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) > 0) {
		rewind(file);
		blob = malloc(size);
		*bytes = size;
	}
	if (!blob || fread(blob, 1, *bytes, file) != *bytes) {
		fprintf(stderr, "cannot read %s; run make profiles\n", path);
		exit(1);
	}
	fclose(file);
	return blob;
}

void start_fabric(struct sim_optics *o, const void *blob, size_t bytes, u64 seed)
{
	struct sim_refusal why;
	u32 i;

	memset(o, 0, sizeof(*o));
	if (sim_profile_read(o, blob, bytes, &why)) {
		fprintf(stderr, "refused: %s\n", why.text);
		exit(1);
	}
	o->drift_mdb = 0;
	for (i = 0; i < o->elements_count; i++) {
		struct sim_element *e = &o->elements[i];

		e->state = sim_mix(seed + i) % o->kinds[e->kind].states;
		e->previous = e->state;
	}
	for (i = 0; i < o->ports_count; i++)
		o->transmitters[i].on = sim_mix(~seed - i) & o->all_lanes;
}

static void print_powers(const struct sim_optics *o)
{
	u32 lane;

	for (lane = 0; lane < o->wavelengths; lane++)
		if (o->light->total[lane])
			printf(" %u:%d", lane, sim_mdbm(o->light->total[lane]));
	printf("\n");
}

void print_fabric(struct sim_optics *o)
{
	struct sim_reading reading;
	u32 i;

	printf("profile %s %08x\n", o->name, o->checksum);
	for (i = 0; i < o->elements_count; i++)
		printf("element %u state %u drift_mdb 0\n", i, o->elements[i].state);
	for (i = 0; i < o->ports_count; i++)
		printf("laser %u on 0x%llx emits 0x%llx weak 0x0 weak_mdb 0\n", i,
		       (unsigned long long)o->transmitters[i].on,
		       (unsigned long long)o->transmitters[i].on);
	for (i = 0; i < o->ports_count; i++) {
		sim_receive(o, i, o->all_lanes, 0, false, &reading);
		printf("receiver %u lit 0x%llx locked 0x%llx power", i,
		       (unsigned long long)reading.lit, (unsigned long long)reading.locked);
		print_powers(o);
	}
	for (i = 0; i < o->edges_count; i++) {
		sim_trace_edge(o, i, 0);
		printf("edge %u joined power", i);
		print_powers(o);
	}
}
