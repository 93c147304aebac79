/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The internals of overlap: windows of rounds. Times are doubles, in picoseconds from the begin of
 * the window.
 */
#ifndef LM_SCHEDULE_OVERLAP_WORK_H
#define LM_SCHEDULE_OVERLAP_WORK_H

#include "overlap.h"

#define WINDOW 32 /* maximum of rounds */
#define WIDTH 256 /* maximum of beams */

/* Consecutive rounds, and the planes before them. */
struct overlap_window {
	uint32_t count, planes;
	double latency, change;
	double moment; /* shorter times are rounding errors */
	double sending[WINDOW]; /* time of all bytes on one plane */
	uint32_t configurations[WINDOW];
	/* By plane: its configuration, and when a change of it can have ended, 0 or later. */
	uint32_t held[OVERLAP_PLANES];
	double ready[OVERLAP_PLANES];
};

/* Numbers of planes by round, and the earliest end of the last round with them. */
struct overlap_plan {
	uint8_t counts[WINDOW];
	double finish;
	bool early; /* planes end before their rounds, as the program says */
};

/*
 * Planes that send in round @a, change, and then send in @b. All are alike. Each ends by @early
 * before the end of a, or begins by @late after the begin of b.
 */
struct overlap_turn {
	int a; /* -1: before the window */
	int b;
	uint32_t planes;
	/*
	 * time from the end of a until they can send; for those before the window, from its begin
	 */
	double due;
	double lack; /* part of this time that rounds between do not cover at their least length */
	double early, late;
};

/*
 * Planes before a round: end of their change, configuration, and the round in which they last sent,
 * or -1.
 */
struct overlap_before {
	double ready[OVERLAP_PLANES];
	uint32_t held[OVERLAP_PLANES];
	int last[OVERLAP_PLANES];
	uint32_t turns_count, rows_count; /* number at that time */
	double end; /* end of the previous round, if no plane loses time */
	double lost; /* least loss until then */
};

/*
 * The planes that take part, if the number of planes of each round is given. The common prefix with
 * the next numbers is reused.
 */
struct overlap_paths {
	uint32_t known; /* rounds of this state, with these numbers; 0 in a new window */
	uint8_t counts[WINDOW];
	struct overlap_before before[WINDOW + 1];
	bool used[WINDOW][OVERLAP_PLANES];
	uint32_t in[WINDOW][OVERLAP_PLANES]; /* turn before the plane's round, or NO_TURN */
	uint32_t out[WINDOW][OVERLAP_PLANES];
	uint32_t turns_count;
	struct overlap_turn turns[WINDOW * OVERLAP_PLANES];
	uint32_t rows_count; /* turns that lack time: rows of the program */
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
	uint64_t alike; /* equal states have the same value */
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
	uint32_t found; /* plans of all rounds, the best first, with their ends */
	double finishes[WIDTH];
};

/* Minimise cost x with rows x >= least, x >= 0. All values except least are positive. */
struct overlap_program {
	uint32_t rows, columns;
	double zero; /* tolerance for values below least */
	/*
	 * the dictionary, (rows + 1) * (columns + 1); its last row is the cost, its last column the
	 * values
	 */
	double *entries;
	uint32_t *basic; /* by row: its variable; columns first, then slacks */
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
	/*
	 * By round of the whole problem: its earliest end, and the next round with its
	 * configuration.
	 */
	uint32_t rounds_room;
	uint64_t *ends;
	uint32_t *needed;
	uint32_t *sorted; /* rounds, sorted by configuration */
};

/* By rank of the plan, from the best: its numbers and end. */
void lm_overlap_beam(struct overlap_beam *beam, const struct overlap_window *window);
void lm_overlap_beam_plan(const struct overlap_beam *beam, const struct overlap_window *window,
			  uint32_t number, struct overlap_plan *plan);

/*
 * Order the planes by which they take part in a round, first those that hold its configuration.
 * Return the number of these.
 */
uint32_t lm_overlap_order(const struct overlap_window *window, uint32_t round, const uint32_t *held,
			  const double *ready, uint8_t *order);

/*
 * Find the planes that take part in the first @count rounds. False: even without losses they do not
 * end before @below. O(new rounds).
 */
bool lm_overlap_paths(struct overlap_paths *paths, const struct overlap_window *window,
		      const uint8_t *counts, uint32_t count, double below);

/*
 * The earliest end of the first @count rounds, with early and late of the turns. INFINITY if it is
 * not before @below, or if, of all rounds, a plane had nothing to carry.
 */
double lm_overlap_weigh(struct overlap_work *work, const uint8_t *counts, uint32_t count,
			double below);

/*
 * Store the best plan of the window, with its paths and turns. Return whether it is proven to be
 * optimal.
 */
bool lm_overlap_search(struct overlap_work *work, struct overlap_plan *plan);

/* Return 0 or -ENOMEM. */
int lm_overlap_program_room(struct overlap_program *program, struct morph_ctx *ctx, uint32_t rows,
			    uint32_t columns);
/* All zero. */
void lm_overlap_program_begin(struct overlap_program *program, uint32_t rows, uint32_t columns,
			      double zero);
static inline double *program_entry(struct overlap_program *program, uint32_t row, uint32_t column)
{
	return &program->entries[(size_t)row * (program->columns + 1) + column];
}
/* Return the least cost, or INFINITY as soon as it is not below. */
double lm_overlap_program_solve(struct overlap_program *program, double below);

/* Bytes that a plane sends in that time, without latency. */
static inline uint64_t bytes_within(const struct costs *costs, uint64_t ps)
{
	unsigned __int128 bytes = (unsigned __int128)ps * costs->mbps / 8000000;

	return bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
}

/* The end of a round whose planes may send from @from on and must end @early before it. */
uint64_t lm_overlap_fill(const struct costs *costs, uint64_t bytes, uint32_t planes,
			 const uint64_t *from, const uint64_t *early);

/* Set bound and bound_ps. Space for count rounds exists. */
void lm_overlap_bound(struct overlap_work *work, const struct overlap_problem *problem,
		      struct overlap_result *result);

#endif /* LM_SCHEDULE_OVERLAP_WORK_H */
