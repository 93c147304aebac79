/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic iterations of training, and their times when circuits change between collectives. */
#ifndef LM_BENCH_TRAINING_H
#define LM_BENCH_TRAINING_H

#include <morph/plan.h>

#include "../internal/phases.h"

#define TRAINING_RANKS 64
#define TRAINING_GROUPS 256
#define TRAINING_STEPS 256

/* A ring over its members on plane 0, a circuit from the first to the second, or no circuits. */
enum training_circuits {
	TRAINING_RING,
	TRAINING_SIMPLEX,
	TRAINING_ELECTRICAL,
};

struct training_group {
	enum training_circuits circuits;
	uint32_t count;
	uint32_t members[TRAINING_RANKS];
};

/* A rank computes, then communicates in a group. */
struct training_step {
	uint64_t compute_ns, ns;
	uint32_t group;
};

struct training {
	uint32_t ranks, groups;
	struct training_group group[TRAINING_GROUPS];
	uint32_t steps[TRAINING_RANKS];
	struct training_step step[TRAINING_RANKS][TRAINING_STEPS];
};

/*
 * Parameters of training in three dimensions; times of one operation, or of computing for one
 * microbatch.
 */
struct training_shape {
	uint32_t data, pipeline, tensor, microbatches;
	uint64_t gather_ns, send_ns, tensor_ns, forward_ns, optimizer_ns;
};

/*
 * Sharded data, pipeline and tensors. At each stage of the pipeline parameters are gathered, 17
 * times, microbatches come down, parameters are gathered again, 18 times, gradients come up, are
 * summed, 20 times, and their norm comes up.
 */
void training_3d(struct training *training, const struct training_shape *shape);

/* Sixteen ranks, about ten seconds. */
#define TRAINING_SHAPE                                                                           \
	{                                                                                        \
		.data = 2, .pipeline = 2, .tensor = 4, .microbatches = 3, .gather_ns = 20000000, \
		.send_ns = 50000000, .tensor_ns = 10000000, .forward_ns = 600000000,             \
		.optimizer_ns = 400000000                                                        \
	}

/*
 * Ranks of a square in step. All communicate in rows, then in columns, repeatedly. Before each they
 * compute for the given windows.
 */
void training_square(struct training *training, uint32_t side, const uint64_t *windows_ns,
		     uint32_t count, uint64_t ns);

/* Its groups and circuits; NULL when out of memory. */
struct morph_phases *training_phases(struct morph_ctx *ctx, const struct training *training,
				     const struct morph_phases_opts *opts);

struct training_result {
	uint64_t iteration_ns; /* the last one */
	uint64_t stall_ns; /* of it: total time that operations waited for circuits */
	uint64_t compute_ns; /* of it: computing time of the busiest rank */
	uint64_t changes; /* of it */
	struct morph_phase_counts counts; /* of all */
};

/* Calls to phases, one after the other. */
enum training_call_kind {
	TRAINING_ITERATE,
	TRAINING_BEGIN,
	TRAINING_END,
	TRAINING_CHANGED,
};

struct training_call {
	enum training_call_kind kind;
	uint32_t rank, group;
	uint64_t counter, now_ns;
};

struct training_log {
	uint32_t count, room;
	struct training_call *calls; /* calls that do not fit are counted only */
};

/* Make this call. The caller handles its consequences. */
int training_call_phases(struct morph_phases *phases, const struct training_call *call);

/*
 * Run iterations with the given time for setting circuits. False: a rank waits for ever, or a call
 * fails. The calls are added to the log, if there is one.
 */
bool training_run(struct morph_phases *phases, const struct training *training, uint32_t iterations,
		  uint64_t change_ns, struct training_log *log, struct training_result *result);

#endif /* LM_BENCH_TRAINING_H */
