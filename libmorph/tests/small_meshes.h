/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Meshes so small that a test tries all states, and sets of rounds on them. Each mesh is read from
 * a profile, whose accelerators transmit at even ports and receive at odd ones.
 */
#ifndef SMALL_MESHES_H
#define SMALL_MESHES_H

#include "../check/check.h"
#include "alone.h"

#define ELEMENTS 12
#define PORTS 16 /* of a mesh */
#define PLACES (4 * ELEMENTS) /* element * 4 + port */
#define AT_PORT 0x100U /* a port of the mesh, beside places */
#define SETTINGS (1U << ELEMENTS)
#define ROUNDS 32
#define MOST_HOPS 2048
#define ANY 0xffff

struct mesh {
	uint32_t width, height, elements, ports;
	uint32_t next[PLACES]; /* by place where light leaves an element */
	uint32_t entry[PORTS];
	void *profile;
	size_t bytes;
	uint8_t partner[SETTINGS][PORTS]; /* by states of all elements: where light arrives */
};

struct answer {
	const struct mesh *mesh;
	struct morph_check_matchings_input in;
	uint32_t tx[PORTS], rx[PORTS];
	uint32_t failed, stuck, stuck_state;
	uint32_t circuits_count, hops_count;
	uint32_t round_first[ROUNDS + 1];
	struct morph_check_matchings_circuit circuits[ROUNDS * PORTS];
	uint32_t elements[MOST_HOPS];
	uint16_t states[ROUNDS * ELEMENTS];
};

/* 1x1, 1x2 and 3x1. */
extern struct mesh meshes[3];

/* Six endpoints on 1x2. Most tests change a copy of this answer. */
extern struct answer *base;
extern struct answer mutant;

/* Read the meshes from their profiles, and solve @base. */
extern const char *const *mesh_paths;
int begin_meshes(void **state);
int end_meshes(void **state);

/*
 * Follow light from a port, with a bit of @setting for each element: bar or cross. Writes the
 * places where light enters elements. Returns the port where it arrives.
 */
uint32_t follow(const struct mesh *mesh, uint32_t setting, uint32_t port, uint32_t *places,
		uint32_t *count);

/* Write the elements of a route behind the lists of the answer. Returns their number. */
uint32_t put_route(struct answer *answer, uint32_t setting, uint32_t port);

/* n-1 rounds of pairs for these ports, or NULL if none exist. */
struct answer *join_pairs(const struct mesh *mesh, const uint32_t *ports, uint32_t endpoints);

/* Endpoint i gets the ports of accelerators[i]. The set has no rounds. */
struct answer *new_set(const struct mesh *mesh, uint32_t kind, const uint32_t *accelerators,
		       uint32_t endpoints);
/* Add rounds for all pairs. They respect failed and stuck elements. */
void cover_greedily(struct answer *answer);

/* Check an answer, after setting the pointers of its input. The error is in @report. */
int check(struct answer *answer);
extern char report[256];
/* Check it, and expect no error, or this one. */
void accepted(struct answer *answer);
void refused(struct answer *answer, int error, const char *text);

#endif /* SMALL_MESHES_H */
