/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clusters of 64 racks that run the jobs of a trace: the second set of instances for figures. Racks
 * and slices are those of racks.h; tools/repro/data has the trace.
 */
#ifndef LM_BENCH_REPLAY_H
#define LM_BENCH_REPLAY_H

#include "given.h"
#include "racks.h"

#define REPLAY_MOST_JOBS 8192 /* of a trace */
#define REPLAY_JOBS 3072 /* that a replay begins */

/* Probability of each size of slices. */
struct mix {
	double weight[RACK_SIZES];
};

/* A random size. */
uint32_t mix_size(const struct mix *mix, uint64_t *random);

/* Sizes of jobs: those of the trace, or random as in its sample of larger ones. */
enum trace_set {
	TRACE_AS_IT_IS,
	TRACE_WIDE,
	TRACE_SETS,
};

/* For names of rows, and for their conditions. */
extern const char *const trace_names[TRACE_SETS];
#define TRACE_WORDS_AS_IT_IS "tasks of the trace one after the other, aligned first fit"
#define TRACE_WORDS_WIDE                                                                    \
	"durations of the trace in its order, random sizes as in its sample of tasks with " \
	"several GPUs, aligned first fit"
extern const char *const trace_words[TRACE_SETS];

#define TRACE_APPROXIMATION                                                               \
	"a GPU of the trace counts as a server of four accelerators, and each task runs " \
	"as soon as it fits, because the traced cluster was larger"

struct trace {
	const char *path;
	struct mix wide;
};

/* Takes the sizes of the sample, which has no times, from tasks_1=VALUE to tasks_8=VALUE. */
void trace_begin(struct trace *trace, const char *path, const struct given *given);

/* How a cluster takes 1 << @size servers, and gives them back. */
struct replay_placer {
	uint32_t (*take)(void *cluster, uint32_t size); /* a slice, or RACKS_NONE */
	void (*give_back)(void *cluster, uint32_t slice);
};

/* For struct racks: racks_take(), racks_give_back(). */
extern const struct replay_placer replay_aligned;

/* A cluster that runs jobs one after the other, each as early as it fits. */
struct replay {
	const struct replay_placer *placer;
	void *cluster;
	uint32_t running; /* jobs */
	double now_s;
	double ends_s[RACK_SLICES]; /* by slice; INFINITY: none */
};

/*
 * Run jobs in an empty cluster until nothing fits and REPLAY_JOBS have run. The clusters of a seed
 * begin at places that are spread evenly over the trace, from a random one on; each cluster has its
 * own random sizes. Ends the program if the trace is unreadable.
 */
void replay_run(struct replay *replay, const struct trace *trace, enum trace_set set, uint64_t seed,
		uint32_t cluster);

/* End the job with the earliest end. No new job begins. */
void replay_end_one(struct replay *replay);

#endif /* LM_BENCH_REPLAY_H */
