/* SPDX-License-Identifier: GPL-2.0-only */
/* Shapes of what a slice can go through, each from a scene that is set for it. */
#ifndef SELFTESTS_SWEEP_SHAPES_H
#define SELFTESTS_SWEEP_SHAPES_H

#include "sweep.h"

/* A circuit that is to be there. */
struct wanted {
	unsigned int circuit, src, dst;
};

struct scene {
	struct sim sim;
	unsigned int parked[4096];
	int neighbour; /* another tenant, lit */
	struct view neighbour_view;
	int slice; /* the one that the shape is about, or -1: it has gone */

	struct wanted wanted[MAX_CIRCUITS];
	unsigned int wanted_count;

	unsigned int schedule, first_circuit;
	unsigned int ahead[6], ahead_count; /* circuits that may be lit, too */
	int ring;
	void *memory; /* of the ring */

	/* at an edge: the other side */
	struct sim peer;
	unsigned int peer_parked[4096];
	int peer_slice;
};

struct shape {
	const char *name;
	bool edge; /* two fabrics, joined */
	bool spoils; /* leaves hardware that is broken: the next point has a new fabric */
	/* What is there before; 0, or an errno. */
	int (*set)(struct scene *scene);
	/* What is swept: 0, or an errno. scene->wanted follows what it was told. */
	int (*act)(struct scene *scene);
	/*
	 * The same once more, when the fault is over: it must succeed. NULL: it can't be repeated.
	 */
	int (*again)(struct scene *scene);
};

extern const struct shape shapes[], schedule_shapes[];
extern const unsigned int shapes_count, schedule_shapes_count;

#endif
