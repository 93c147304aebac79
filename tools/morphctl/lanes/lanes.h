/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of demands between servers, solved on a fabric. */
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
	uint32_t fabric; /* MORPH_ANY: an empty fabric */
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
	json_t *reservations; /* reservations in the kernel; NULL for an empty fabric */
	uint32_t *last; /* by path: lanes of the previous epoch, MORPH_ANY if there was none */
	uint32_t *lanes; /* by path: whole lanes */
	struct morph_traffic_result result;
};

/* Read the file on the command line: demands, epoch, paths and lambda. */
enum exit_code read_traffic(struct traffic *traffic);
/* Read the file and solve it. Whole lanes are in @traffic->lanes. */
enum exit_code solve_traffic(struct traffic *traffic);
/* Whole lanes of a link for one controller's demands, or with MORPH_ANY for all demands. */
uint32_t traffic_link_lanes(const struct traffic *traffic, uint32_t link, uint32_t controller);
void traffic_free(struct traffic *traffic);

/* bandwidth.c: lanes of communicating groups. */
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
	uint32_t wavelengths, transmit, receive; /* lanes of a fibre; ports of each accelerator */
	uint32_t accelerators; /* number of accelerators; with a file, those that it names */
	/* the numbers above and the guides are from a profile, unless the file replaces them */
	bool of_profile;
	struct bandwidth_guide *guides; /* by number */
	uint32_t guides_count;
	json_t *groups; /* records of the file, by number */
	struct bandwidth_hop *hops; /* by number */
	uint32_t hops_count;
	struct morph_bandwidth_result result;
};

/* Read the file on the command line, and build the problem. */
enum exit_code read_bandwidth(struct bandwidth *bandwidth);
void add_bandwidth_guide(struct bandwidth *bandwidth, const char *name, uint32_t fibres);

#endif
