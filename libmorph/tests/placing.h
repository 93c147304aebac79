/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rack for placing slices, and the checker for the answers. */
#ifndef PLACING_H
#define PLACING_H

#include "../bench/random.h"
#include "fake.h"

#define ACCELERATORS 64 /* of tenants; the rack's spares follow */

/* The rack's profile. */
extern uint8_t *rack_profile;
extern size_t rack_bytes;

struct bench {
	struct morph_ctx *ctx;
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_request *request;
	struct morph_plan *plan;
};

struct written {
	uint32_t *ledger, *request, *plan;
	size_t ledger_bytes, request_bytes, plan_bytes;
};

/* Set up each test. The state is the bench. */
int placing_setup(void **state);
int placing_teardown(void **state);

struct written write_all(const struct bench *bench, const struct morph_plan *plan);
void written_free(struct written *all);
/* As morph_check(). */
int check_written(const struct written *all, char *report, size_t room);

/* Place the request, and check that the answer is valid. Returns the verdict. */
uint32_t placed(struct bench *bench, struct morph_plan *plan);

/*
 * Request whole servers at random if the torus fills them. Servers of the rack have 2x2x1
 * accelerators.
 */
void ask_servers(struct morph_request *request, uint64_t *seed, const uint8_t extent[3]);

/* Draw a request. */
void ask(struct morph_request *request, uint64_t *seed);

/* Let a tenant hold every other server. */
void hold_every_other_server(struct bench *bench);

/* Fibres between servers are guides of class 2 in the profile. Hold each at random. */
void hold_fibres(struct bench *bench, uint64_t *seed, uint32_t percent);

/* Read the rack's profile, which the command line gives, and run the tests. */
int placing_run(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
		size_t count);

#endif /* PLACING_H */
