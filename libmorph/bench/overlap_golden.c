// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes the times of SWOT's rounds by other planners to libmorph/tests/golden/overlap.csv, one
 * line each, in picoseconds. Existing lines are kept, so that the program can continue; small
 * instances come first. It can also check the file: baselines of all lines, and programs for some
 * lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "overlap_exact.h"
#include "overlap_grid.h"
#include "overlap_replay.h"

#define LINE 256

struct golden {
	struct morph_ctx *ctx;
	struct overlap_work *work;
	struct grid_instance instances[GRID_INSTANCES];
	uint32_t count;
	char done[GRID_INSTANCES + 1][LINE]; /* lines */
	uint32_t done_count;
	double seconds;
};

static struct overlap_share ours[GRID_ROUNDS * OVERLAP_PLANES];
static struct overlap_share theirs[GRID_ROUNDS * OVERLAP_PLANES];

void wrong(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Size for programs; 0: not asked. */
static uint64_t size_of(const struct grid_instance *instance)
{
	struct overlap_round rounds[GRID_ROUNDS];
	struct overlap_problem problem;

	grid_problem(instance, rounds, &problem);
	if (problem.count > EXACT_ROUNDS)
		return 0;
	return (uint64_t)problem.count * problem.count * problem.planes;
}

static int by_size(const void *one, const void *other)
{
	uint64_t a = size_of(one), b = size_of(other);
	char names[2][GRID_NAME];

	if (a != b)
		return a > b ? 1 : -1;
	grid_name(one, names[0]);
	grid_name(other, names[1]);
	return strcmp(names[0], names[1]);
}

static void read_done(struct golden *golden, FILE *file)
{
	char line[LINE];

	while (fgets(line, sizeof(line), file) && golden->done_count <= GRID_INSTANCES)
		snprintf(golden->done[golden->done_count++], sizeof(golden->done[0]), "%.*s",
			 (int)strcspn(line, "\n"), line);
}

static bool is_done(const struct golden *golden, const char *name)
{
	size_t length = strlen(name);

	for (uint32_t at = 0; at < golden->done_count; at++)
		if (!strncmp(golden->done[at], name, length) && golden->done[at][length] == ',')
			return true;
	return false;
}

static void put_time(FILE *file, uint64_t ps)
{
	if (ps == UINT64_MAX)
		fprintf(file, ",");
	else
		fprintf(file, ",%llu", (unsigned long long)ps);
}

/* A plan of the released program that circuits cannot carry counts as invalid. */
static void put_released(const struct golden *golden, FILE *file,
			 const struct overlap_problem *problem)
{
	struct exact_effort effort = { .seconds = golden->seconds / 2 };
	struct exact_answer answer;
	uint64_t finish;

	released_overlap(problem, &effort, theirs, &answer);
	if (!answer.found)
		fprintf(file, ",");
	else if (overlap_replay(problem, theirs, &finish))
		fprintf(file, ",invalid");
	else
		put_time(file, finish);
}

/* Starts with our plan, so that all of its time is for improvements. */
static void put_exact(const struct golden *golden, FILE *file,
		      const struct overlap_problem *problem)
{
	struct exact_effort effort = { .seconds = golden->seconds, .start = ours };
	struct exact_answer answer;
	uint64_t finish = UINT64_MAX;
	const char *why;

	exact_overlap(problem, &effort, theirs, &answer);
	why = answer.found ? overlap_replay(problem, theirs, &finish) : NULL;
	if (why)
		wrong(why);
	put_time(file, finish);
	fprintf(file, ",%s", answer.proved ? "proved" : "");
}

static void put_instance(struct golden *golden, FILE *file, const struct grid_instance *instance,
			 const char *name)
{
	static struct overlap_round rounds[GRID_ROUNDS];
	struct overlap_problem problem;
	struct overlap_result result;

	grid_problem(instance, rounds, &problem);
	fprintf(file, "%s", name);
	put_time(file, lm_overlap_baseline(&problem, OVERLAP_EVERY));
	put_time(file, lm_overlap_baseline(&problem, OVERLAP_ONE_SHOT));
	if (problem.count <= EXACT_ROUNDS) {
		if (lm_overlap_solve(golden->work, &problem, NULL, ours, &result))
			wrong(morph_error_text(golden->ctx));
		put_released(golden, file, &problem);
		put_exact(golden, file, &problem);
		fprintf(stderr, "%s: ours %llu\n", name, (unsigned long long)result.finish_ps);
	} else {
		fprintf(file, ",,,");
	}
	fprintf(file, "\n");
	fflush(file);
}

/* ------------------------------------------------------------------------- again */

/* Numbers of compared values, and of programs asked. */
struct compared {
	uint32_t lines, asked, optima, released;
};

/*
 * Of 11 twelfth lines, at least this number of programs must succeed in time, because machines
 * differ.
 */
#define LEAST_OPTIMA 8
#define LEAST_RELEASED 4

enum column {
	EVERY = 1,
	ONE_SHOT,
	RELEASED,
	EXACT,
	PROVED
};

/* Up to the next comma, or the end. */
static const char *column_of(const char *line, enum column column)
{
	while (column--)
		line = strchr(line, ',') + 1;
	return line;
}

static bool has_all_columns(const char *line)
{
	uint32_t commas = 0;

	for (; *line; line++)
		commas += *line == ',';
	return commas == PROVED;
}

static bool is_empty(const char *column)
{
	return !*column || *column == ',';
}

/* Equal except for rounding in each round. */
static bool is_as_there(const struct overlap_problem *problem, const char *column, uint64_t ps)
{
	uint64_t there = strtoull(column, NULL, 10);
	uint64_t rounding = problem->count * costs_bytes_ps(&problem->costs, 1);

	return ps <= there + rounding && there <= ps + rounding;
}

/* Empty if there is none. */
static void check_baseline(uint64_t ps, const char *column)
{
	if (is_empty(column) ? ps != UINT64_MAX : ps != strtoull(column, NULL, 10))
		wrong("a baseline differs from the golden file");
}

/* If the exact program proves an optimum in time, it must equal the line's. */
static void ask_exact(const struct golden *golden, const struct overlap_problem *problem,
		      const char *line, struct compared *compared)
{
	struct exact_effort effort = { .seconds = golden->seconds };
	struct exact_answer answer;
	uint64_t finish;

	compared->asked++;
	exact_overlap(problem, &effort, theirs, &answer);
	if (!answer.proved)
		return;
	if (overlap_replay(problem, theirs, &finish))
		wrong("a plan of the exact program is not valid");
	if (!is_as_there(problem, column_of(line, EXACT), finish))
		wrong("an optimum differs from the golden file");
	compared->optima++;
}

/* The same for the released program, whose plan can be invalid. It is slower, or ends soon. */
static void ask_released(const struct golden *golden, const struct overlap_problem *problem,
			 const char *line, struct compared *compared)
{
	struct exact_effort effort = { .seconds = golden->seconds / 10 };
	const char *there = column_of(line, RELEASED);
	struct exact_answer answer;
	uint64_t finish;

	released_overlap(problem, &effort, theirs, &answer);
	if (!answer.proved)
		return;
	if (overlap_replay(problem, theirs, &finish) ? strncmp(there, "invalid,", 8) != 0 :
						       !is_as_there(problem, there, finish))
		wrong("the answer of the released program differs from the golden file");
	compared->released++;
}

static const struct grid_instance *find_instance(const struct golden *golden, const char *line)
{
	for (uint32_t at = 0; at < golden->count; at++) {
		char name[GRID_NAME];

		grid_name(&golden->instances[at], name);
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ',')
			return &golden->instances[at];
	}
	return NULL;
}

static void check(const struct golden *golden, uint32_t sampled)
{
	static struct overlap_round rounds[GRID_ROUNDS];
	struct compared compared = { 0 };

	/* The first line names the columns. */
	for (uint32_t at = 1; at < golden->done_count; at++) {
		const char *line = golden->done[at];
		const struct grid_instance *instance = find_instance(golden, line);
		struct overlap_problem problem;

		if (!instance || !has_all_columns(line))
			wrong("a line of the golden file matches no instance of SWOT");
		grid_problem(instance, rounds, &problem);
		check_baseline(lm_overlap_baseline(&problem, OVERLAP_EVERY),
			       column_of(line, EVERY));
		check_baseline(lm_overlap_baseline(&problem, OVERLAP_ONE_SHOT),
			       column_of(line, ONE_SHOT));
		compared.lines++;
		if (at % sampled || is_empty(column_of(line, PROVED)))
			continue;
		ask_exact(golden, &problem, line, &compared);
		ask_released(golden, &problem, line, &compared);
	}
	printf("as in the golden file of overlapped rounds: baselines of %u lines, %u optima and %u answers of the released program, of %u recomputed ones\n",
	       compared.lines, compared.optima, compared.released, compared.asked);
	if (compared.optima < LEAST_OPTIMA || compared.released < LEAST_RELEASED)
		wrong("too few comparisons with optima of the golden file, or with answers of the released program");
}

static void go_on(struct golden *golden, FILE *file, double minutes)
{
	if (!golden->done_count)
		fprintf(file, "instance,every,one shot,released,exact,proved\n");
	for (uint32_t at = 0; at < golden->count && now_us() < minutes * 6e7; at++) {
		char name[GRID_NAME];

		grid_name(&golden->instances[at], name);
		if (!is_done(golden, name))
			put_instance(golden, file, &golden->instances[at], name);
	}
}

int main(int argc, char **argv)
{
	static struct golden golden;
	FILE *file;

	if (argc < 4 || argc > 5) {
		fprintf(stderr,
			"usage: %s FILE SECONDS MINUTES [EVERY]: golden file, limit of each program, limit in total; recompute every EVERY-th instance\n",
			argv[0]);
		return 2;
	}
	golden.seconds = strtod(argv[2], NULL);
	file = fopen(argv[1], argc == 5 ? "r" : "a+");
	if (!file || morph_ctx_new(NULL, &golden.ctx))
		return 1;
	rewind(file);
	read_done(&golden, file);
	golden.work = lm_overlap_work_new(golden.ctx);
	if (!golden.work)
		return 1;
	golden.count = grid_instances(golden.instances);
	qsort(golden.instances, golden.count, sizeof(golden.instances[0]), by_size);
	if (argc == 5)
		check(&golden, (uint32_t)strtoul(argv[4], NULL, 10));
	else
		go_on(&golden, file, strtod(argv[3], NULL));
	lm_overlap_work_free(golden.work);
	morph_ctx_free(golden.ctx);
	return fclose(file) ? 1 : 0;
}
