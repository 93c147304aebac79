/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two fabrics whose edges are connected to each other: a slice in each, and operations on either
 * side.
 */
#ifndef SELFTESTS_SIDE_H
#define SELFTESTS_SIDE_H

#include "fabric.h"

#define SECOND 1000000000ULL
#define LONG (600 * SECOND)
#define MS 1000000ULL

#define UUID_A "11111111-1111-4111-8111-111111111111"
#define UUID_B "22222222-2222-4222-8222-222222222222"

/* edge4: edge 0 is at accelerator 1 and leads to edge 4 of the peer, and the reverse. */
#define OUT 0
#define IN 4
#define AT_EDGE 1
#define EDGE(index) (MORPH_RANK_EDGE | (index))

/* One side: a fabric, and a slice of the accelerator at the edge and another one. */
struct side {
	struct sim sim;
	int slice;
	char node[32];
	struct morph_change changes[2]; /* the outgoing and the incoming circuit */
	struct morph_txn_run run;
	struct morph_txn_step step;
	struct morph_circuit_info circuits[4];
	struct morph_slice_info info;
};

struct morph_change half_circuit(unsigned int src, unsigned int dst);
int side_prepare(struct side *side, uint64_t cookie, uint64_t lease_ns);
/* Return the errno of a step, or 0. */
int side_step(struct side *side, unsigned int verb, uint64_t lease_ns);
int side_step_by_cookie(struct side *side, uint64_t cookie, unsigned int verb);
int side_read(struct side *side);
/* Return the state of the circuit with that end, or -1. */
int side_state(struct side *side, unsigned int src, unsigned int dst);
int side_state_out(struct side *side);
int side_state_in(struct side *side);
void side_start(struct side *side, const char *settings, const char *name);
void side_stop(struct side *side, const char *name);

#endif /* SELFTESTS_SIDE_H */
