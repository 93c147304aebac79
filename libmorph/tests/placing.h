/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rack to place slices in, and the checker that answers are held against. */
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

/* Of each test; bench is its state. */
int placing_setup(void **state);
int placing_teardown(void **state);

struct written write_all(const struct bench *bench, const struct morph_plan *plan);
void written_free(struct written *all);
/* As morph_check(). */
int check_written(const struct written *all, char *report, size_t room);

/* Place what the request says; the answer has to be what it says. Returns the verdict. */
uint32_t placed(struct bench *bench, struct morph_plan *plan);

/* Perhaps servers are wanted whole, where such a torus fills them: those of the rack have 2x2x1. */
void ask_servers(struct morph_request *request, uint64_t *seed, const uint8_t extent[3]);

/* Any request. */
void ask(struct morph_request *request, uint64_t *seed);

/* Of two servers one is somebody's. */
void hold_every_other_server(struct bench *bench);

/* Fibres between servers, as wires of class 2 in the profile: held or not by chance. */
void hold_fibres(struct bench *bench, uint64_t *seed, uint32_t percent);

/* Read the rack's profile, which the command line names, and run the tests. */
int placing_run(int argc, char **argv, const char *name, const struct CMUnitTest *tests,
		size_t count);

#endif /* PLACING_H */
