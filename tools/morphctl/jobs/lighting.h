/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A decision about jobs as circuits and schedules of a slice. */
#ifndef MORPHCTL_JOBS_LIGHTING_H
#define MORPHCTL_JOBS_LIGHTING_H

#include "morphctl/jobs/jobs.h"

/* A circuit that is lit in one step only. */
struct turn_circuit {
	uint32_t step, src, dst; /* ranks */
};

/* Two cohorts that send in turn over circuits that change: a schedule of two steps. */
struct rotation {
	uint32_t component;
	uint64_t period_ns;
	uint64_t after_ns[2]; /* by step: from the lighting of the other step to its begin */
	struct turn_circuit *circuits;
	uint32_t count;
	uint32_t held[2]; /* by step: number of circuits */
	uint32_t schedule; /* number of its schedule; 0: not loaded */
	bool loaded; /* by this command */
};

/* The slice that gets the circuits. Matrices have a row for each source rank. */
struct lighting {
	struct run *run;
	struct jobs_file file;
	struct morph_jobs_decision decision;
	struct morph_slice *slice;
	struct morph_object *info;
	struct morph_list *circuits, *schedules;
	uint32_t ranks;
	uint32_t lanes; /* of each circuit */
	uint32_t *sites; /* by rank: its site; MORPH_ANY: the rank is no site */
	uint32_t *lit; /* matrix: circuits that the slice has in every step */
	uint32_t *wanted; /* matrix: circuits that the decision has in both turns */
	uint32_t *components; /* by site: the lowest site that it shares circuits with */
	struct rotation *rotations;
	uint32_t rotations_count;
};

/* slice.c */
enum exit_code lighting_open(struct lighting *lighting);
/* Read the slice with its circuits and schedules. This replaces what was read before. */
enum exit_code lighting_read(struct lighting *lighting);
void lighting_close(struct lighting *lighting);
/* Whether a circuit of the slice is lit and has enough lanes. */
bool lighting_is_lit(const struct lighting *lighting, const struct morph_object *circuit);
/* Whether a schedule of the slice lights the circuit. */
bool lighting_is_scheduled(const struct lighting *lighting, const struct morph_object *circuit);

static inline uint32_t *cell(const struct lighting *lighting, uint32_t *matrix, uint32_t src,
			     uint32_t dst)
{
	return &matrix[(size_t)src * lighting->ranks + dst];
}

/* rotation.c */
/* Convert circuits that change between turns to rotations, and the other ones to @wanted. */
void lighting_divide(struct lighting *lighting);
/* Find the schedules of rotations among the loaded ones. This waits until both steps were lit. */
enum exit_code lighting_match(struct lighting *lighting);
/* Load and start the schedules that are missing. */
enum exit_code lighting_start(struct lighting *lighting);
void lighting_free_rotations(struct lighting *lighting);

#endif /* MORPHCTL_JOBS_LIGHTING_H */
