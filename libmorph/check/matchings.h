/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fabric or mesh of matchings, as the checker sees it. */
#ifndef CHECK_MATCHINGS_H
#define CHECK_MATCHINGS_H

#include "internal.h"

#define ELEMENT_PORTS 16U
/* A place of light: element * ELEMENT_PORTS + port, or this bit and a receive port. */
#define RECEIVER 0x80000000U
/* Entries of matchings_check.only, besides states. */
#define ANY_STATE NONE
#define FAILED (NONE - 1)
#define NO_STATE 0xffffU

struct matchings_check {
	struct check check;
	const struct morph_check_matchings_input *input;
	uint32_t elements;
	uint32_t tx_ports, rx_ports;
	uint32_t *next; /* by place where light leaves an element: where it arrives, or NONE */
	uint32_t *entry; /* by transmit port: where its light arrives, or NONE */
	uint32_t *only; /* by element: the state that it is stuck in, ANY_STATE or FAILED */
};

/* matchings_mesh.c. 0 or a report. The caller frees the arrays in both cases. */
int ck_mesh_build(struct matchings_check *it);

/* matchings_model.c */
int ck_matchings_read(struct matchings_check *it);
void ck_matchings_free(struct matchings_check *it);
uint32_t ck_matchings_states(const struct matchings_check *it, uint32_t element);
/* The other port of a join, or NONE. */
uint32_t ck_matchings_joined(const struct matchings_check *it, uint32_t element, uint32_t state,
			     uint32_t port);
/* The port at which the endpoint receives. */
uint32_t ck_matchings_rx(const struct matchings_check *it, uint32_t endpoint);
/* Whether the rounds must have a circuit. For pairs, @src is the lower endpoint. */
bool ck_matchings_wanted(const struct matchings_check *it, uint32_t src, uint32_t dst);

#define UNREACHABLE UINT64_MAX

/*
 * matchings_route.c: try all routes of the refused pair, up to the limit of elements if there is
 * one; for duplex, all two routes in one round. Sets the number of elements, or UNREACHABLE. Visits
 * at most 2^28 places, or input->tries.
 */
int ck_matchings_route(struct matchings_check *it, uint64_t *length);

/* matchings_bound.c: the bound, the stated distance, or the refusal. */
int ck_matchings_bound(struct matchings_check *it);

/*
 * matchings_cut.c: the bound by the set of elements, or if it is 0, the refusal of a duplex pair.
 * O(elements + endpoints^2).
 */
int ck_matchings_cut(struct matchings_check *it);

/* matchings_exhaust.c: no set of fewer rounds than the bound exists. Tries all settings. */
int ck_matchings_exhaust(struct matchings_check *it);

#endif /* CHECK_MATCHINGS_H */
