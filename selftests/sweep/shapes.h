/* SPDX-License-Identifier: GPL-2.0-only */
/* Shapes of changes to a slice. Each starts from a prepared scene. */
#ifndef SELFTESTS_SWEEP_SHAPES_H
#define SELFTESTS_SWEEP_SHAPES_H

#include "sweep.h"

/* A circuit that must exist. */
struct wanted {
	unsigned int circuit, src, dst;
};

struct scene {
	struct sim sim;
	unsigned int parked[4096];
	int neighbour; /* slice of another tenant, lit */
	struct view neighbour_view;
	int slice; /* slice of the shape, or -1 if it has gone */

	struct wanted wanted[MAX_CIRCUITS];
	unsigned int wanted_count;

	unsigned int schedule, first_circuit;
	unsigned int ahead[6], ahead_count; /* other circuits that may be lit */
	int ring;
	void *memory; /* memory of the queue */

	/* at an edge: the other side */
	struct sim peer;
	unsigned int peer_parked[4096];
	int peer_slice;
};

struct shape {
	const char *name;
	bool edge; /* two fabrics, joined */
	bool spoils; /* the hardware stays broken, so the next point needs a new fabric */
	/* Prepare the scene: 0 or an errno. */
	int (*set)(struct scene *scene);
	/* The change under test: 0 or an errno. scene->wanted must match the answers. */
	int (*act)(struct scene *scene);
	/*
	 * Repeat the change after the fault is cleared: it must succeed. NULL: it cannot be
	 * repeated.
	 */
	int (*again)(struct scene *scene);
};

extern const struct shape shapes[], schedule_shapes[];
extern const unsigned int shapes_count, schedule_shapes_count;

#endif
