/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overlap inside: windows of rounds, where times are doubles of picoseconds from the window's begin. */
#ifndef LM_SCHEDULE_OVERLAP_WORK_H
#define LM_SCHEDULE_OVERLAP_WORK_H

#include "overlap.h"

#define WINDOW 32 /* rounds, at most */
#define WIDTH 256 /* of beams, at most */

/* Rounds that follow each other, and the planes before them. */
struct overlap_window {
	uint32_t count, planes;
	double latency, change;
	double moment; /* a time that is none: what rounding may make of it */
	double sending[WINDOW]; /* of all bytes by one plane */
	uint32_t configurations[WINDOW];
	/* By plane: what it holds, and when it can have been changed to anything, 0 or later. */
	uint32_t held[OVERLAP_PLANES];
	double ready[OVERLAP_PLANES];
};

/* Numbers of planes by round, and with them when the last round ends at best. */
struct overlap_plan {
	uint8_t counts[WINDOW];
	double finish;
	bool early; /* planes end before their rounds do, as the program says */
};

/*
 * Planes that send in round @a, then in @b and are changed between. They are alike. Each ends by
 * @early before the end of a, or sends in b by @late after its begin.
 */
struct overlap_turn {
	int a; /* -1: before the window */
	int b;
	uint32_t planes;
	double due; /* from the end of a, or for those before the window from its begin, until they can send */
	double lack; /* what of that the rounds between don't take when none is longer than it has to be */
	double early, late;
};

/* Before a round, of planes: when they can have been changed, what they hold, and the round they sent in last, or -1. */
struct overlap_before {
	double ready[OVERLAP_PLANES];
	uint32_t held[OVERLAP_PLANES];
	int last[OVERLAP_PLANES];
	uint32_t turns_count, rows_count; /* that there are by then */
	double end; /* of the round before, when no plane loses any time */
	double lost; /* by then, at least */
};

/* Who takes part, when there is a number of planes for each round. What the next numbers have in common with these is not done again. */
struct overlap_paths {
	uint32_t known; /* rounds that this is of, with those numbers; 0 in a new window */
	uint8_t counts[WINDOW];
	struct overlap_before before[WINDOW + 1];
	bool used[WINDOW][OVERLAP_PLANES];
	uint32_t in[WINDOW][OVERLAP_PLANES]; /* turn that leads there, or NO_TURN */
	uint32_t out[WINDOW][OVERLAP_PLANES];
	uint32_t turns_count;
	struct overlap_turn turns[WINDOW * OVERLAP_PLANES];
	uint32_t rows_count; /* turns that lack something: rows of the program */
	uint32_t rows[WINDOW * OVERLAP_PLANES];
};

#define NO_TURN UINT32_MAX

struct beam_state {
	double end; /* of the last round */
	double ready[OVERLAP_PLANES];
	uint32_t held[OVERLAP_PLANES];
};

struct beam_child {
	double score, end;
	uint64_t alike; /* those that are have the same */
	uint32_t parent, count;
};

struct beam_step {
	uint32_t parent;
	uint8_t count;
};

struct overlap_beam {
	uint32_t width;
	struct beam_state states[2][WIDTH];
	struct beam_step steps[WINDOW][WIDTH];
	struct beam_child children[WIDTH * OVERLAP_PLANES];
	uint32_t found; /* plans of all rounds, best first, and when they end */
	double finishes[WIDTH];
};

/* min cost x: rows x >= least, x >= 0, where all is positive but the least. */
struct overlap_program {
	uint32_t rows, columns;
	double zero; /* what is no more below least than that is not below it */
	double *entries; /* rows + 1 times columns + 1: the dictionary; its last row is the cost, its last column the values */
	uint32_t *basic; /* by row: its variable; columns come first, then slacks */
	uint32_t *free; /* by column */
	size_t room_entries, room_names;
};

struct overlap_work {
	struct morph_ctx *ctx;
	struct overlap_window window;
	struct overlap_paths paths;
	struct overlap_beam beam;
	struct overlap_program program;
	uint32_t programs_left, proofs_left;
	/* By round of the whole problem: when it ends at the soonest, and the next one of its configuration. */
	uint32_t rounds_room;
	uint64_t *ends;
	uint32_t *needed;
	uint32_t *sorted; /* rounds, by configuration */
};

/* By number from the best: the plan's numbers and end. */
void lm_overlap_beam(struct overlap_beam *beam, const struct overlap_window *window);
void lm_overlap_beam_plan(const struct overlap_beam *beam, const struct overlap_window *window,
			  uint32_t number, struct overlap_plan *plan);

/* Planes in the order in which they take part in a round; those that hold its configuration come first. Their number. */
uint32_t lm_overlap_order(const struct overlap_window *window, uint32_t round, const uint32_t *held,
			  const double *ready, uint8_t *order);

/* Who takes part, of the first @count rounds. False: they do not end before @below, whatever planes lose. O(rounds that are not known). */
bool lm_overlap_paths(struct overlap_paths *paths, const struct overlap_window *window,
		      const uint8_t *counts, uint32_t count, double below);

/*
 * Of the first @count rounds: when they end at best, with turns' early and late set; INFINITY when that's not before
 * @below, or, of all rounds, a plane had nothing to carry.
 */
double lm_overlap_weigh(struct overlap_work *work, const uint8_t *counts, uint32_t count,
			double below);

/* The best plan for the window that was found; paths and turns are its. Whether it is proven to be the optimum. */
bool lm_overlap_search(struct overlap_work *work, struct overlap_plan *plan);

/* 0 or -ENOMEM. */
int lm_overlap_program_room(struct overlap_program *program, struct morph_ctx *ctx, uint32_t rows,
			    uint32_t columns);
/* All zero. */
void lm_overlap_program_begin(struct overlap_program *program, uint32_t rows, uint32_t columns,
			      double zero);
static inline double *program_entry(struct overlap_program *program, uint32_t row, uint32_t column)
{
	return &program->entries[(size_t)row * (program->columns + 1) + column];
}
/* The least cost, or INFINITY once it is not below. */
double lm_overlap_program_solve(struct overlap_program *program, double below);

/* Bytes that a plane sends in that time, latency left out. */
static inline uint64_t bytes_within(const struct costs *costs, uint64_t ps)
{
	unsigned __int128 bytes = (unsigned __int128)ps * costs->mbps / 8000000;

	return bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
}

/* When a round ends whose planes may send from @from on and have to end @early before it does. */
uint64_t lm_overlap_fill(const struct costs *costs, uint64_t bytes, uint32_t planes,
			 const uint64_t *from, const uint64_t *early);

/* Sets bound and bound_ps. Room for count rounds is there. */
void lm_overlap_bound(struct overlap_work *work, const struct overlap_problem *problem,
		      struct overlap_result *result);

#endif /* LM_SCHEDULE_OVERLAP_WORK_H */
