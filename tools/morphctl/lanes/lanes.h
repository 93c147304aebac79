/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of demands between servers, solved on a fabric. */
#ifndef MORPHCTL_TE_H
#define MORPHCTL_TE_H

#include "morphctl/client/client.h"

struct demand {
	uint32_t src_host, dst_host, controller;
	double amount, weight;
	uint32_t first, paths; /* of the problem */
};

struct traffic {
	struct run *run;
	uint32_t fabric; /* MORPH_ANY: an empty one */
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_traffic *problem;
	uint32_t links;
	json_t *document;
	uint64_t epoch;
	uint32_t ways;
	double lambda;
	struct demand *demands;
	size_t demands_count;
	json_t *reservations; /* of the kernel; NULL of an empty fabric */
	uint32_t *last; /* by path: lanes of the epoch before, MORPH_ANY where there was none */
	uint32_t *lanes; /* by path, whole */
	struct morph_traffic_result result;
};

/* Read the file that is named: demands, epoch, ways and lambda. */
enum exit_code read_traffic(struct traffic *traffic);
/* The same, and solve it: whole lanes are in @traffic->lanes. */
enum exit_code solve_traffic(struct traffic *traffic);
/* Whole lanes of a link, of one controller's demands, or of all: MORPH_ANY. */
uint32_t traffic_link_lanes(const struct traffic *traffic, uint32_t link, uint32_t controller);
void traffic_free(struct traffic *traffic);

/* bandwidth.c: lanes of groups that communicate. */
struct bandwidth_guide {
	char *name;
	uint32_t fibres;
};

struct bandwidth_hop {
	uint32_t group, src, dst;
	uint32_t circuits; /* for each lane of the group */
	const json_t *guides; /* names, or NULL */
};

struct bandwidth {
	struct run *run;
	json_t *document;
	struct morph_bandwidth *problem;
	uint32_t wavelengths, transmit, receive; /* of a fibre; ports of each accelerator */
	uint32_t accelerators; /* how many there are; those of a file are as many as it names */
	/* numbers above and guides are those of a profile, unless the file has others */
	bool of_profile;
	struct bandwidth_guide *guides; /* by number */
	uint32_t guides_count;
	json_t *groups; /* records of the file, by number */
	struct bandwidth_hop *hops; /* by number */
	uint32_t hops_count;
	struct morph_bandwidth_result result;
};

/* Read the file that is named, and make the problem of it. */
enum exit_code read_bandwidth(struct bandwidth *bandwidth);
void add_bandwidth_guide(struct bandwidth *bandwidth, const char *name, uint32_t fibres);

#endif
