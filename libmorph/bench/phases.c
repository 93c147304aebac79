// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits between collectives: times of training iterations with circuits requested on demand and
 * in advance, with the delays of Opus' evaluation (arXiv 2602.12521), and the time of phases for an
 * event.
 */
#include <string.h>

#include "../internal/client.h"
#include "bench.h"
#include "training.h"

#define ITERATIONS 6
#define CALLS 200000
#define REPEATS 20
#define THOUSAND_US 100
#define MS 1000000ULL

static struct training training;

static struct training_result run(struct morph_ctx *ctx, uint32_t mode, uint64_t change_ns,
				  struct training_log *log)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = mode);
	struct morph_phases *phases = training_phases(ctx, &training, &opts);
	struct training_result result = { .iteration_ns = 1 };

	if (!phases || !training_run(phases, &training, ITERATIONS, change_ns, log, &result))
		wrong("training with changes of circuits does not end");
	morph_phases_free(phases);
	return result;
}

static double computing(const struct training_result *result)
{
	return 100.0 * (double)result->compute_ns / (double)result->iteration_ns;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void compare(struct morph_ctx *ctx)
{
	static const uint64_t delays_ms[] = { 0, 1, 10, 50, 100, 250, 500, 750, 1000, 2000, 3000 };
	struct training_result alone = run(ctx, MORPH_PHASE_UNCONTROLLED, 0, NULL);
	uint64_t last_ns = 0;

	remark("16 ranks, 2 data-parallel, 2 pipeline and 4 tensor-parallel groups: %.3f s without changes, %.1f %% of it computing",
	       seconds(alone.iteration_ns), computing(&alone));
	for (size_t at = 0; at < sizeof(delays_ms) / sizeof(*delays_ms); at++) {
		uint64_t change_ns = delays_ms[at] * MS;
		struct training_result asked = run(ctx, MORPH_PHASE_ON_DEMAND, change_ns, NULL);
		struct training_result ahead = run(ctx, MORPH_PHASE_PROVISIONED, change_ns, NULL);

		remark("%4llu ms: %.3f s on demand (%.1f %% computing), %.3f s provisioned (%.1f %%)",
		       (unsigned long long)delays_ms[at], seconds(asked.iteration_ns),
		       computing(&asked), seconds(ahead.iteration_ns), computing(&ahead));
		if (ahead.iteration_ns > asked.iteration_ns || ahead.iteration_ns < last_ns)
			wrong("iterations with circuits set ahead take longer, or a longer delay makes them shorter");
		last_ns = ahead.iteration_ns;
	}
}

/* Replay the log without the training. */
static void answer(struct morph_ctx *ctx, const struct training_log *log,
		   const struct morph_phase_counts *counts, struct samples *samples)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = MORPH_PHASE_PROVISIONED);
	struct morph_phases *phases = training_phases(ctx, &training, &opts);
	struct morph_phase_counts mine = { 0 };
	double begin = now_us();
	int ret = phases ? 0 : -1;

	for (uint32_t at = 0; !ret && at < log->count; at++) {
		struct morph_phase_act act;

		ret = training_call_phases(phases, &log->calls[at]);
		while (!ret && morph_phases_next(phases, &act))
			;
	}
	sample(samples, 1000 * (now_us() - begin) / log->count);
	if (phases)
		morph_phases_counts(phases, &mine);
	if (ret || memcmp(&mine, counts, sizeof(mine)) != 0)
		wrong("two runs of phases give different answers");
	morph_phases_free(phases);
}

static void time_events(struct morph_ctx *ctx, const char *name)
{
	static struct training_call calls[CALLS];
	struct training_log log = { .room = CALLS, .calls = calls };
	static struct samples samples;
	struct training_result result;

	samples.count = 0;
	result = run(ctx, MORPH_PHASE_PROVISIONED, 10 * MS, &log);
	if (log.count > log.room)
		wrong("iterations have too many events for the buffer");
	for (uint32_t at = 0; log.count <= log.room && at < REPEATS; at++)
		answer(ctx, &log, &result.counts, &samples);
	report(name, &samples, MEDIAN, THOUSAND_US);
}

void bench_phases(struct morph_ctx *ctx)
{
	struct training_shape shape = TRAINING_SHAPE;

	training_3d(&training, &shape);
	time_events(ctx, "a thousand events of collectives, 16 ranks");
	compare(ctx);
	shape.data = 4;
	shape.pipeline = 4;
	training_3d(&training, &shape);
	time_events(ctx, "  64 ranks");
}
