// SPDX-License-Identifier: LGPL-2.1-or-later
/* Jobs of a trace, one after the other. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"
#include "replay.h"

#define LARGEST 3 /* size of a job */

const char *const trace_names[TRACE_SETS] = { "as traced", "more tasks of several GPUs" };
const char *const trace_words[TRACE_SETS] = { TRACE_WORDS_AS_IT_IS, TRACE_WORDS_WIDE };

/* Tasks in their order. */
struct jobs {
	uint32_t count;
	double duration_s[REPLAY_MOST_JOBS];
	uint8_t size[REPLAY_MOST_JOBS];
};

static void __attribute__((format(printf, 1, 2), noreturn)) wrong(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	fputs("replay: ", stderr);
	vfprintf(stderr, format, words);
	fputc('\n', stderr);
	va_end(words);
	exit(1);
}

uint32_t mix_size(const struct mix *mix, uint64_t *random)
{
	double total = 0, point;
	uint32_t size = 0;

	for (uint32_t at = 0; at < RACK_SIZES; at++)
		total += mix->weight[at];
	point = random_unit(random) * total;
	while (size + 1 < RACK_SIZES && point >= mix->weight[size])
		point -= mix->weight[size++];
	return size;
}

void trace_begin(struct trace *trace, const char *path, const struct given *given)
{
	*trace = (struct trace){
		.path = path,
		.wide = { { given_number(given, "tasks_1"), given_number(given, "tasks_2"),
			    given_number(given, "tasks_4"), given_number(given, "tasks_8") } },
	};
}

static void read_jobs(struct jobs *jobs, const struct trace *trace, enum trace_set set,
		      uint64_t random)
{
	FILE *file = trace->path ? fopen(trace->path, "r") : NULL;
	char line[128];

	if (!file)
		wrong("cannot read the trace %s", trace->path ? trace->path : "(--trace FILE)");
	jobs->count = 0;
	while (fgets(line, sizeof(line), file)) {
		double duration;
		unsigned int accelerators;

		if (line[0] == '#' || line[0] == 'd')
			continue;
		if (sscanf(line, "%lf,%u", &duration, &accelerators) != 2 || !accelerators ||
		    accelerators > 1U << LARGEST || jobs->count == REPLAY_MOST_JOBS)
			wrong("%s: malformed line: %s", trace->path, line);
		jobs->duration_s[jobs->count] = duration;
		jobs->size[jobs->count++] =
			(uint8_t)(set == TRACE_WIDE ? mix_size(&trace->wide, &random) :
						      (uint32_t)(31 - __builtin_clz(accelerators)));
	}
	fclose(file);
	if (!jobs->count)
		wrong("%s has no jobs", trace->path);
}

static uint32_t take_aligned(void *cluster, uint32_t size)
{
	return racks_take(cluster, size);
}

static void give_back_aligned(void *cluster, uint32_t slice)
{
	racks_give_back(cluster, slice);
}

const struct replay_placer replay_aligned = { take_aligned, give_back_aligned };

void replay_end_one(struct replay *replay)
{
	uint32_t first = 0;

	for (uint32_t at = 1; at < RACK_SLICES; at++)
		if (replay->ends_s[at] < replay->ends_s[first])
			first = at;
	if (isinf(replay->ends_s[first]))
		wrong("no job left to end");
	replay->now_s = replay->ends_s[first];
	replay->ends_s[first] = INFINITY;
	replay->running--;
	replay->placer->give_back(replay->cluster, first);
}

/*
 * The first job of a cluster. Neighbouring windows have nearly the same jobs, so multiples of the
 * golden ratio spread the windows as far as possible.
 */
static uint32_t window_of(const struct jobs *jobs, uint64_t seed, uint32_t cluster)
{
	const double golden = 0.6180339887498949;

	return (uint32_t)(fmod(random_unit(&seed) + cluster * golden, 1) * jobs->count);
}

void replay_run(struct replay *replay, const struct trace *trace, enum trace_set set, uint64_t seed,
		uint32_t cluster)
{
	static struct jobs jobs;
	uint32_t from;

	read_jobs(&jobs, trace, set, mix(seed) ^ mix(cluster + 1));
	from = window_of(&jobs, seed, cluster);
	replay->now_s = 0;
	replay->running = 0;
	for (uint32_t at = 0; at < RACK_SLICES; at++)
		replay->ends_s[at] = INFINITY;
	for (uint32_t at = 0; at < REPLAY_JOBS; at++) {
		uint32_t job = (from + at) % jobs.count, slice;

		while ((slice = replay->placer->take(replay->cluster, jobs.size[job])) ==
		       RACKS_NONE)
			replay_end_one(replay);
		replay->ends_s[slice] = replay->now_s + jobs.duration_s[job];
		replay->running++;
	}
}
