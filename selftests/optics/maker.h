/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles made by hand, for tests, and two small generators of whole fabrics. */
#ifndef MAKER_H
#define MAKER_H

#include "optics/optics.h"

struct vector {
	void *data;
	u32 count;
	u32 stride;
};

/* The sections of a profile under construction, in the order of the header. */
struct maker {
	struct morph_profile_header header;
	struct vector kinds, states, elements, guides, accelerators, hosts, edges;
};

/* One end of a guide. */
struct place {
	u8 type;
	u32 index;
	u8 port;
};

#define AT(element, port) ((struct place){ MORPH_END_ELEMENT, element, port })
#define TX(accelerator, plane) ((struct place){ MORPH_END_TX, accelerator, plane })
#define RX(accelerator, plane) ((struct place){ MORPH_END_RX, accelerator, plane })
#define EDGE(edge) ((struct place){ MORPH_END_EDGE, edge, 0 })

void maker_init(struct maker *maker, u32 planes, u32 wavelengths);
void maker_free(struct maker *maker);
u32 maker_kind(struct maker *maker, const char *name, u32 ports, u32 loss_mdb, u32 extinction_mdb);
/* Add a state to the latest kind: "0-1 2-3"; the first one is its parking state. */
void maker_state(struct maker *maker, const char *joins);
u32 maker_element(struct maker *maker, u32 kind, u32 tile);
u32 maker_guide(struct maker *maker, struct place a, struct place b, u32 loss_mdb);
u32 maker_host(struct maker *maker);
u32 maker_accelerator(struct maker *maker, u32 host);
u32 maker_edge(struct maker *maker, s16 least_mdbm, s16 most_mdbm);

/* The finished blob, from malloc(). */
void *maker_blob(struct maker *maker, u64 *bytes);

/* Compute the checksum as the format defines it, bit by bit; and store it. */
u32 profile_checksum(const void *blob, u64 bytes);
void profile_seal(void *blob, u64 bytes);

/* Width x height tiles of route-and-select nodes: selectors, ingress and egress per direction. */
void make_interposer(struct maker *maker, u32 width, u32 height, u32 planes, u32 wavelengths);

/* A hexagonal mesh: width x height vertices of a brick wall, a 2x2 cell on each edge. */
void make_mesh(struct maker *maker, u32 width, u32 height, u32 wavelengths);

/* Roles of the elements of an interposer's tile: 1x4 selectors, port 0 is the single one. */
enum role {
	ROLE_TX,
	ROLE_RX,
	ROLE_INGRESS, /* plus one for each further direction */
	ROLE_EGRESS = ROLE_INGRESS + 4,
	ROLES = ROLE_EGRESS + 4,
};

/* A complete fabric. */
struct fabric {
	struct maker maker;
	void *blob;
	u64 bytes;
	void *graph_block;
	const struct optics_graph *graph;
	struct optics_state *state;
	void *work;
	u32 steps;
};

/* Finish @fabric->maker; abort if the profile is rejected. */
void fabric_open(struct fabric *fabric, u32 steps);
bool fabric_open_file(struct fabric *fabric, const char *name, u32 steps);
void fabric_close(struct fabric *fabric);
void fabric_own_all(struct fabric *fabric, u32 owner);
struct optics_view fabric_view(const struct fabric *fabric);

/* A request for any planes and any lanes, and a route with room for its hops. */
struct optics_route_request fabric_request(const struct fabric *fabric, u32 tx, u32 rx, u32 lanes);

struct route {
	struct optics_path path;
	struct optics_hop hops[OPTICS_MAX_HOPS];
	struct optics_refusal refusal;
	u32 steps;
	int error;
};

void fabric_route(struct fabric *fabric, const struct optics_route_request *request,
		  struct route *route);

/*
 * Copy a fabric with a bound of zero: then the router searches like Dijkstra's algorithm. The copy
 * shares all other arrays.
 */
struct unbound {
	struct optics_graph graph;
	struct optics_state state;
	s32 *slack;
	struct optics_arc *arcs;
};

void unbound_open(struct unbound *unbound, const struct fabric *fabric);
void unbound_close(struct unbound *unbound);

/* A reproducible random number generator: xorshift. */
u32 next_random(u64 *seed);

#endif /* MAKER_H */
