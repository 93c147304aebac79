// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The regimes in which it pays to change circuits between rounds. 128 ranks begin as a ring, a grid
 * or a torus. The rows vary the collective, its size and the time of a change, and compare with the
 * fastest algorithm on fixed circuits. They also have the gain of a training iteration. Public
 * functions plan all schedules, and the checker carries them out.
 */
#include <math.h>
#include <stdio.h>

#include "planned.h"
#include "repro.h"
#include "shapes.h"

#define NAME 96
#define CONDITION 320
#define NEVER_NS 1000000000000 /* time of a change that is never worth waiting for */

#define COUNT_OF(list) (sizeof(list) / sizeof(*(list)))

#define RANKS 128U
#define PORTS 4U
#define HOP_NS 1000
#define MBPS 400000 /* of a port */
#define COLUMNS 16U
#define ROWS 8U

static const uint64_t changes_ns[] = { 1000, 10000, 100000, 1000000 };
static const uint64_t sizes[] = { 1 << 16, 1 << 20, 1 << 24, 1 << 28 };

/*
 * Circuits lit at the start, and the number of ports whose rings visit all ranks without sharing a
 * circuit.
 */
struct start {
	struct shape shape;
	uint32_t lanes;
};

static const struct start starts[] = {
	{ { .what = "ring", .sizes = { RANKS, 1 }, .both = true, .wraps = true }, 4 },
	{ { .what = "grid", .sizes = { COLUMNS, ROWS }, .both = true }, 2 },
	{ { .what = "torus", .sizes = { COLUMNS, ROWS }, .both = true, .wraps = true }, 4 },
};

#define ALGORITHMS 3

/*
 * Collectives and the algorithms whose circuits may change. Algorithms with a round for each rank
 * are planned over planes only.
 */
struct kind {
	const char *what;
	uint32_t kind, algorithms[ALGORITHMS];
	const char *fixed; /* algorithms on fixed circuits */
};

static const struct kind kinds[] = {
	{ "AllReduce",
	  MORPH_ALL_REDUCE,
	  { MORPH_HALVING, MORPH_HALVING_CYCLIC, MORPH_RINGS },
	  "a ring over all ranks, on all cycles that share no circuit, rings of each dimension, and halving by ways over it" },
	{ "ReduceScatter",
	  MORPH_REDUCE_SCATTER,
	  { MORPH_HALVING, MORPH_HALVING_CYCLIC, MORPH_RINGS },
	  "a ring over all ranks, on all cycles that share no circuit, rings of each dimension, and halving by ways over it" },
	{ "all-to-all",
	  MORPH_ALL_TO_ALL,
	  { MORPH_BRUCK, MORPH_TERNARY, MORPH_SHIFT },
	  "all pairs at once, shifts, Bruck's algorithm and that of powers of three, by ways over it" },
};

struct question {
	const struct start *start;
	const struct kind *kind;
	uint64_t bytes;
	bool quick; /* without rounds of all pairs, and with circuits of one hop only */
};

/* The caller lights the circuits. Returns 0 if the policy has no schedule. */
static double time_of(struct planned *planned, const struct question *question, uint32_t algorithm,
		      struct planned_costs costs, uint32_t policy)
{
	const struct morph_collective_opts how = { .sz = sizeof(how),
						   .kind = question->kind->kind,
						   .algorithm = algorithm,
						   .ranks = RANKS,
						   .bytes = question->bytes,
						   .extent = { COLUMNS, ROWS } };

	costs.hop_ns = HOP_NS;
	return (double)planned_ns(planned, &how, &costs, policy);
}

/* The last algorithm of an all-to-all has many rounds. */
static size_t algorithms_of(const struct question *question)
{
	return ALGORITHMS - (question->quick && question->kind->kind == MORPH_ALL_TO_ALL);
}

static double sooner(double one, double other)
{
	return other > 0 && (other < one || one <= 0) ? other : one;
}

/* ------------------------------------------------------------ never changing */

static const struct planned_costs fixed_costs = { .change_ns = NEVER_NS,
						  .mbps = MBPS,
						  .ports = PORTS };

/* A ring over all ranks. Its lanes act as one, because they do the same. */
static double ring_ns(struct planned *planned, const struct question *question)
{
	const struct shape ring = { .what = "ring", .sizes = { RANKS, 1 }, .wraps = true };
	struct planned_costs costs = fixed_costs;

	costs.mbps *= question->start->lanes;
	costs.ports = 1;
	shape_light(planned, &ring, 1);
	return time_of(planned, question, MORPH_RING, costs, MORPH_POLICY_EACH_ROUND);
}

/*
 * Rings of each dimension. Without a wrap, a ring goes there and back, with two hops from rank to
 * rank.
 */
static double rings_ns(struct planned *planned, const struct question *question)
{
	struct shape shape = question->start->shape;

	if (shape.sizes[1] == 1)
		return 0;
	shape.folded = !shape.wraps;
	shape_light(planned, &shape, PORTS);
	return time_of(planned, question, MORPH_RINGS, fixed_costs, MORPH_POLICY_SEGMENTS);
}

static double fixed_ns(struct planned *planned, const struct question *question)
{
	const struct kind *kind = question->kind;
	bool to_all = kind->kind == MORPH_ALL_TO_ALL;
	double least = 0;

	if (!to_all) {
		least = sooner(ring_ns(planned, question), rings_ns(planned, question));
		shape_light(planned, &question->start->shape, PORTS);
		return sooner(least, time_of(planned, question, MORPH_HALVING, fixed_costs,
					     MORPH_POLICY_SEGMENTS));
	}
	shape_light(planned, &question->start->shape, PORTS);
	for (size_t at = 0; at < algorithms_of(question); at++)
		least = sooner(least, time_of(planned, question, kind->algorithms[at], fixed_costs,
					      MORPH_POLICY_SEGMENTS));
	if (question->quick)
		return least;
	return sooner(least,
		      time_of(planned, question, MORPH_DIRECT, fixed_costs, MORPH_POLICY_SEGMENTS));
}

/* ------------------------------------------------------------------ changing */

struct times {
	double fixed, each, ours; /* in ns */
};

/*
 * The fastest algorithm, with circuits of each round, and as planned. If changes gain nothing, the
 * circuits at the start stay.
 */
static void changing_ns(struct planned *planned, const struct question *question,
			uint64_t change_ns, struct times *times)
{
	const struct planned_costs costs = { .change_ns = change_ns, .mbps = MBPS, .ports = PORTS };

	times->each = 0;
	times->ours = times->fixed;
	for (size_t at = 0; at < algorithms_of(question); at++) {
		uint32_t algorithm = question->kind->algorithms[at];
		bool many = question->quick || algorithm == MORPH_SHIFT;

		times->each = sooner(times->each, time_of(planned, question, algorithm, costs,
							  MORPH_POLICY_EACH_ROUND));
		times->ours = sooner(times->ours,
				     time_of(planned, question, algorithm, costs,
					     many ? MORPH_POLICY_OVERLAP : MORPH_POLICY_BEST));
	}
	times->ours = sooner(times->ours, times->each);
}

/* ---------------------------------------------------------------------- rows */

static const char *const unknown =
	"bandwidths, delays and sizes of the original are not known; ours differ";

/* By start, kind, size and time of a change. */
static struct times table[COUNT_OF(starts)][COUNT_OF(kinds)][COUNT_OF(sizes)][COUNT_OF(changes_ns)];

static void regime_row(const struct question *question, uint64_t change_ns,
		       const struct times *times)
{
	const struct shape *shape = &question->start->shape;
	char name[NAME], condition[CONDITION];

	snprintf(name, sizeof(name), "regimes/%s, %s, %g MiB, change of %g us", shape->what,
		 question->kind->what, (double)question->bytes / 0x1p20, (double)change_ns / 1e3);
	snprintf(
		condition, sizeof(condition),
		"%u ranks with %u ports of %d GB/s, 1 us a hop, from a %s of %ux%u; against the fastest of %s",
		RANKS, PORTS, MBPS / 8000, shape->what, shape->sizes[0], shape->sizes[1],
		question->kind->fixed);
	row_print(&(struct row){ .name = name,
				 .condition = condition,
				 .ours = times->fixed / times->ours,
				 .unit = "times as fast",
				 .baseline_name = "circuits of each round",
				 .baseline = times->fixed / times->each,
				 .approximation = unknown });
}

static void regime_rows(struct planned *planned, size_t start, size_t kind, bool quick)
{
	for (size_t size = 0; size < COUNT_OF(sizes); size++) {
		const struct question question = { &starts[start], &kinds[kind], sizes[size],
						   quick };
		double fixed = fixed_ns(planned, &question);

		if (fixed <= 0 || fixed >= NEVER_NS)
			repro_wrong("a %s has no %s", starts[start].shape.what, kinds[kind].what);
		shape_light(planned, &starts[start].shape, PORTS);
		for (size_t change = 0; change < COUNT_OF(changes_ns); change++) {
			struct times *times = &table[start][kind][size][change];

			times->fixed = fixed;
			changing_ns(planned, &question, changes_ns[change], times);
			regime_row(&question, changes_ns[change], times);
		}
	}
}

static void most_row(size_t start, size_t kind)
{
	char name[NAME];
	double most = 0;

	for (size_t size = 0; size < COUNT_OF(sizes); size++)
		for (size_t change = 0; change < COUNT_OF(changes_ns); change++) {
			const struct times *times = &table[start][kind][size][change];

			most = fmax(most, times->fixed / times->ours);
		}
	snprintf(name, sizeof(name), "regimes/%s, %s, largest of the rows above",
		 starts[start].shape.what, kinds[kind].what);
	row_print(&(struct row){ .name = name,
				 .condition = "the rows above",
				 .ours = most,
				 .unit = "times as fast",
				 .approximation = unknown });
}

/* ---------------------------------------------------------------- iterations */

/*
 * Number of collectives of an iteration, by kind and size. An all-gather takes as long as a
 * ReduceScatter in reverse.
 */
struct iteration {
	const char *what, *words;
	uint32_t counts[COUNT_OF(kinds)][COUNT_OF(sizes)];
};

static const struct iteration iterations[] = {
	{ "data in parallel",
	  "AllReduce of 16 times 16 MiB, and 64 times 64 KiB",
	  { { 64, 0, 16, 0 } } },
	{ "sharded data",
	  "32 layers of 16 MiB: gathered twice, scattered once",
	  { { 0 }, { 0, 0, 96, 0 } } },
	{ "tensors in parallel", "32 layers: AllReduce of 1 MiB, four times", { { 0, 128, 0, 0 } } },
	{ "experts",
	  "32 layers: all-to-all of 16 MiB, four times, and AllReduce of 16 times 16 MiB",
	  { { 0, 0, 16, 0 }, { 0 }, { 0, 0, 128, 0 } } },
};

/* The share of the waiting time that remains. */
static double left(const struct iteration *iteration, size_t start, size_t change, bool each_round)
{
	double fixed = 0, now = 0;

	for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
		for (size_t size = 0; size < COUNT_OF(sizes); size++) {
			const struct times *times = &table[start][kind][size][change];
			uint32_t count = iteration->counts[kind][size];

			fixed += count * times->fixed;
			now += count * (each_round ? times->each : times->ours);
		}
	return now / fixed;
}

/* Row for an iteration that waits for its collectives for a given time on fixed circuits. */
static void iteration_row(const struct iteration *iteration, size_t start, size_t change,
			  double waits)
{
	double ours = left(iteration, start, change, false);
	double each = left(iteration, start, change, true);
	char name[NAME], condition[CONDITION];

	snprintf(name, sizeof(name), "regimes-iteration/%s, from a %s, change of %g us",
		 iteration->what, starts[start].shape.what, (double)changes_ns[change] / 1e3);
	snprintf(condition, sizeof(condition),
		 "%g %% waits for collectives on circuits that never change, the rest computes: %s",
		 100 * waits, iteration->words);
	row_print(&(struct row){
		.name = name,
		.condition = condition,
		.ours = 1 / (1 - waits + waits * ours),
		.unit = "times as fast",
		.baseline_name = "circuits of each round",
		.baseline = 1 / (1 - waits + waits * each),
		.approximation =
			"the iterations of the original are not known; ours are constructed, and nothing overlaps" });
}

static void iteration_rows(double waits)
{
	for (size_t at = 0; at < COUNT_OF(iterations); at++)
		for (size_t start = 0; start < COUNT_OF(starts); start++)
			for (size_t change = 0; change + 1 < COUNT_OF(changes_ns); change++)
				iteration_row(&iterations[at], start, change, waits);
	row_print(&(struct row){ .name = "regimes-iteration/without any waiting",
				 .condition = "without any waiting: an upper bound for all plans",
				 .ours = 1 / (1 - waits),
				 .unit = "times as fast",
				 .approximation = "computing, then collectives" });
}

int main(int argc, char **argv)
{
	struct planned planned;
	struct repro repro;
	double waits;

	repro_begin(&repro, argc, argv);
	waits = repro_given(&repro, "waits");
	planned_begin(&planned);
	for (size_t start = 0; start < COUNT_OF(starts); start++)
		for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
			regime_rows(&planned, start, kind, repro.quick);
	for (size_t start = 0; start < COUNT_OF(starts); start++)
		for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
			most_row(start, kind);
	iteration_rows(waits);
	planned_end(&planned);
	return 0;
}
