// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Circuits that change between the rounds of a collective, on ranks with one or two ports: segments
 * of rounds that share circuits, recursive doubling against a ring, and all-reduce with a late
 * rank. Public functions plan all schedules from a lit ring, and the checker carries them out.
 */
#include <math.h>
#include <stdio.h>

#include "../../libmorph/internal/planner.h"
#include "planned.h"
#include "repro.h"

#define NAME 96
#define CONDITION 256

static const char *const lit_ring = "a ring is lit";

/* Join each rank to the next one, and with a second port to the one before. */
static void light_ring(struct planned *planned, uint32_t ranks, uint32_t ports)
{
	struct morph_collective *collective = planned->collective;
	int wrong = morph_collective_begin(collective, ranks);

	wrong |= morph_collective_add_round(collective) < 0;
	for (uint32_t at = 0; at < ranks * ranks; at++) {
		uint32_t rank = at / ranks, to = at % ranks;
		int chunk;

		if ((rank + 1) % ranks != to && (ports == 1 || (to + 1) % ranks != rank))
			continue;
		chunk = morph_collective_add_chunk(collective, rank, to, 1);
		wrong |= morph_collective_add_transfer(collective, rank, to, false) < 0;
		wrong |= morph_collective_add_run(collective, (uint32_t)chunk, 1) < 0;
	}
	if (wrong)
		repro_wrong("no ring of %u ranks", ranks);
	planned_light(planned, ports);
}

/*
 * Times with circuits that change when it pays, with the ring's circuits only, and with each
 * round's own circuits.
 */
struct ways {
	double planned, fixed, each; /* in ns */
	uint32_t changes;
};

static struct ways all_ways(struct planned *planned, const struct morph_collective_opts *how,
			    struct planned_costs costs)
{
	struct ways ways = { 0 };

	ways.each = (double)planned_ns(planned, how, &costs, MORPH_POLICY_EACH_ROUND);
	ways.planned = (double)planned_ns(planned, how, &costs, MORPH_POLICY_SEGMENTS);
	ways.changes = morph_schedule_changes(planned->schedule, NULL);
	ways.fixed = (double)planned_static_ns(planned, how, &costs);
	if (!ways.each || !ways.planned || !ways.fixed)
		repro_wrong("rounds have no schedule");
	return ways;
}

/* ------------------------------------------------------------------- segments */

#define RANKS 64U
#define MBPS 800000
#define STEP_NS 500

struct case_ {
	const char *what;
	struct morph_collective_opts how;
	uint32_t ports;
};

static const struct case_ cases[] = {
	{ "all-to-all by shifts", { .kind = MORPH_ALL_TO_ALL, .algorithm = MORPH_SHIFT }, 1 },
	{ "AllReduce by halving",
	  { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_HALVING_CYCLIC },
	  1 },
	{ "AllReduce by Swing", { .kind = MORPH_ALL_REDUCE, .algorithm = MORPH_SWING }, 2 },
};
#define CASES (sizeof(cases) / sizeof(*cases))

static struct morph_collective_opts opts_of(const struct case_ *this, uint64_t bytes)
{
	struct morph_collective_opts how = this->how;

	how.sz = sizeof(how);
	how.ranks = RANKS;
	how.bytes = bytes;
	return how;
}

static struct planned_costs costs_of(const struct case_ *this, uint64_t change_ns)
{
	return (struct planned_costs){ .round_ns = STEP_NS,
				       .hop_ns = STEP_NS,
				       .change_ns = change_ns,
				       .mbps = MBPS,
				       .ports = this->ports };
}

static void segments_rows(struct planned *planned, const struct case_ *this)
{
	struct morph_collective_opts how = opts_of(this, 1 << 20);
	char name[NAME], condition[CONDITION];

	snprintf(
		condition, sizeof(condition),
		"%u ranks, %u port%s of 800 Gb/s, 500 ns a round and 500 ns a hop, %s; circuits of any "
		"shift, and of each round",
		RANKS, this->ports, this->ports > 1 ? "s" : "", lit_ring);
	for (uint64_t change = 1000; change <= 100000; change *= 10) {
		struct ways ways = all_ways(planned, &how, costs_of(this, change));

		snprintf(name, sizeof(name), "segments/%s of 1 MiB, change of %g us", this->what,
			 (double)change / 1e3);
		row_print(&(struct row){ .name = name,
					 .condition = condition,
					 .ours = ways.planned / 1e3,
					 .unit = "us",
					 .baseline_name = "ring only",
					 .baseline = ways.fixed / 1e3 });
		snprintf(name, sizeof(name),
			 "segments/%s of 1 MiB, change of %g us, number of changes", this->what,
			 (double)change / 1e3);
		row_print(&(struct row){ .name = name,
					 .condition = condition,
					 .ours = ways.changes,
					 .unit = "changes" });
	}
}

/*
 * Largest gains over the sizes and times of a change in Harvest's evaluation. The gain over
 * changing in each round has no maximum: it grows with the time of a change.
 */
struct gains {
	double over_fixed, over_better;
};

static struct gains gains_of(struct planned *planned, const struct case_ *this)
{
	struct gains gains = { 0 };

	for (uint64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 32) {
		struct morph_collective_opts how = opts_of(this, bytes);

		for (uint64_t change = 10; change <= 10000000; change *= 10) {
			struct ways ways = all_ways(planned, &how, costs_of(this, change));

			gains.over_fixed = fmax(gains.over_fixed, ways.fixed / ways.planned);
			gains.over_better =
				fmax(gains.over_better, fmin(ways.fixed, ways.each) / ways.planned);
		}
	}
	return gains;
}

static void gains_row(const char *what, const char *over, double ours)
{
	char name[NAME];

	snprintf(name, sizeof(name), "segments-gains/%s, over %s", what, over);
	row_print(&(struct row){
		.name = name,
		.condition =
			"64 ranks of 800 Gb/s, 500 ns a round and a hop, 1 KiB to 1 GiB, changes of "
			"10 ns to 10 ms, a ring is lit",
		.ours = ours,
		.unit = "times, at most",
		.approximation =
			"the collective and size of each published gain are not known; the largest gain is compared with the largest",
	});
}

static void gains_rows(struct planned *planned)
{
	struct gains most = { 0 };

	for (size_t at = 0; at < CASES; at++) {
		struct gains gains;

		light_ring(planned, RANKS, cases[at].ports);
		gains = gains_of(planned, &cases[at]);
		gains_row(cases[at].what, "the ring only", gains.over_fixed);
		gains_row(cases[at].what, "the better of ring only and changes in each round",
			  gains.over_better);
		most.over_fixed = fmax(most.over_fixed, gains.over_fixed);
		most.over_better = fmax(most.over_better, gains.over_better);
	}
	gains_row("any collective", "the ring only", most.over_fixed);
	gains_row("any collective", "the better of ring only and changes in each round",
		  most.over_better);
}

/* ------------------------------------------------- doubling against the ring */

struct race {
	uint32_t ranks;
	struct planned_costs costs;
};

/* The time of halving and doubling divided by the ring's, both on the ring's circuits. */
static double slower(struct planned *planned, const struct race *race, uint64_t bytes)
{
	struct morph_collective_opts how = { .sz = sizeof(how),
					     .kind = MORPH_ALL_REDUCE,
					     .algorithm = MORPH_HALVING_CYCLIC,
					     .ranks = race->ranks,
					     .bytes = bytes };
	double doubling = all_ways(planned, &how, race->costs).fixed;

	how.algorithm = MORPH_RING;
	return doubling / all_ways(planned, &how, race->costs).fixed;
}

static void race_rows(struct planned *planned, double slow)
{
	const struct race race = { 16, { 0, 10, 1000, MBPS, 1 } };
	struct row row = {
		.condition =
			"AllReduce on a ring of 16 ranks, one port of 800 Gb/s, 10 ns a hop, circuits "
			"never change",
		.baseline_name = "ring",
		.baseline = 1,
		.approximation = "the other times of a round are not published: assumed 0",
	};
	char name[NAME];
	double now;
	uint64_t bytes;

	light_ring(planned, race.ranks, 1);
	row.name = name;
	row.unit = "times as long";
	for (bytes = 1 << 10; bytes <= 1 << 30; bytes *= 32) {
		snprintf(name, sizeof(name), "doubling-on-a-ring/%g MiB", (double)bytes / 0x1p20);
		row.ours = slower(planned, &race, bytes);
		row_print(&row);
	}
	for (bytes = 16; (now = slower(planned, &race, bytes)) < slow && bytes < 1 << 30;)
		bytes += (bytes + 7) / 8 / 16 * 16 + 16;
	if (now < slow)
		repro_wrong("doubling on a ring is never %g times as long", slow);
	row.name = "doubling-on-a-ring/least size that is as slow as published for short messages";
	row.unit = "KiB";
	row.baseline_name = NULL;
	row.ours = (double)bytes / 1024;
	row_print(&row);
}

/* The better of both with changing circuits: find where the ring starts to be no better. */
static void change_rows(struct planned *planned)
{
	static const uint64_t changes[] = { 100, 1000, 10000, 100000, 1000000 };
	char name[NAME], condition[CONDITION];

	for (uint64_t bytes = 1 << 20; bytes <= 64 << 20; bytes *= 8) {
		for (size_t at = 0; at < sizeof(changes) / sizeof(*changes); at++) {
			struct morph_collective_opts how = opts_of(&cases[1], bytes);
			struct planned_costs costs = costs_of(&cases[1], changes[at]);
			double doubling = all_ways(planned, &how, costs).planned, ring;

			how.algorithm = MORPH_RING;
			ring = all_ways(planned, &how, costs).planned;
			snprintf(
				name, sizeof(name),
				"doubling-on-circuits/%g MiB, change of %g us, times as fast as ring",
				(double)bytes / 0x1p20, (double)changes[at] / 1e3);
			snprintf(
				condition, sizeof(condition),
				"AllReduce of 64 ranks, one port of 800 Gb/s, 500 ns a round and a "
				"hop, %s",
				lit_ring);
			row_print(&(struct row){ .name = name,
						 .condition = condition,
						 .ours = ring / doubling,
						 .unit = "times as fast",
						 .baseline_name = "ring",
						 .baseline = 1 });
		}
	}
}

/* ------------------------------------------------------------------ late rank */

/* From the start of the first send in that round to the end of the schedule, in nanoseconds. */
static double since(const struct planned *planned, uint32_t round)
{
	double begins = INFINITY;

	for (uint32_t at = 0; at < morph_schedule_sends(planned->schedule); at++) {
		struct morph_send send;

		morph_schedule_send(planned->schedule, at, &send);
		if (send.round == round)
			begins = fmin(begins, (double)send.from_ns);
	}
	return (double)morph_schedule_ns(planned->schedule, NULL) - begins;
}

/* The time that remains when the late rank arrives, with its first circuits lit; and the rounds. */
static double late_ns(struct planned *planned, uint32_t ranks, uint64_t bytes,
		      const struct planned_costs *costs, uint32_t *rounds)
{
	const struct morph_collective_opts how = { .sz = sizeof(how),
						   .kind = MORPH_ALL_REDUCE,
						   .algorithm = MORPH_STRAGGLAR,
						   .ranks = ranks,
						   .bytes = bytes };
	uint32_t before;

	if (!planned_ns(planned, &how, costs, MORPH_POLICY_EACH_ROUND))
		repro_wrong("an all-reduce with a late rank has no schedule");
	before = morph_collective_rounds_before(planned->collective, ranks - 1);
	*rounds = morph_collective_rounds(planned->collective) - before;
	return since(planned, before);
}

static double ring_ns(struct planned *planned, uint32_t ranks, uint64_t bytes,
		      const struct planned_costs *costs)
{
	const struct morph_collective_opts how = { .sz = sizeof(how),
						   .kind = MORPH_ALL_REDUCE,
						   .algorithm = MORPH_RING,
						   .ranks = ranks,
						   .bytes = bytes };

	if (!planned_ns(planned, &how, costs, MORPH_POLICY_EACH_ROUND))
		repro_wrong("an all-reduce on a ring has no schedule");
	return since(planned, 0);
}

static void late_rounds_row(struct planned *planned, const struct planned_costs *costs,
			    uint32_t ranks)
{
	char name[NAME];
	uint32_t rounds;

	late_ns(planned, ranks, 1 << 20, costs, &rounds);
	snprintf(name, sizeof(name), "late-rank/%u ranks, rounds", ranks);
	row_print(&(struct row){
		.name = name,
		.condition =
			"counted from the arrival of the late rank; each rank in one pair in a round",
		.ours = rounds,
		.unit = "rounds" });
}

static void late_gain_row(struct planned *planned, const struct planned_costs *costs,
			  uint32_t ranks)
{
	char name[NAME], condition[CONDITION];
	uint32_t rounds;
	double late = late_ns(planned, ranks, 1 << 30, costs, &rounds);

	snprintf(name, sizeof(name), "late-rank/%u ranks, times as fast as ring", ranks);
	snprintf(
		condition, sizeof(condition),
		"AllReduce of 1 GiB at 450 GiB/s, %g us a round, counted from the arrival of the late rank; changes take no time",
		(double)costs->round_ns / 1e3);
	row_print(&(struct row){ .name = name,
				 .condition = condition,
				 .ours = ring_ns(planned, ranks, 1 << 30, costs) / late,
				 .unit = "times as fast",
				 .baseline_name = "ring",
				 .baseline = 1 });
}

/* The size from which it is faster than the ring with fixed circuits, to a percent. */
static void late_pays_row(struct planned *planned, struct planned_costs costs, uint32_t ranks,
			  uint64_t change_ns)
{
	double low = 1 << 10, high = 0x1p40;
	char name[NAME];

	costs.change_ns = change_ns;
	while (high > low * 1.01) {
		double middle = sqrt(low * high);
		uint32_t rounds;
		double late = late_ns(planned, ranks, (uint64_t)middle, &costs, &rounds);

		if (late < ring_ns(planned, ranks, (uint64_t)middle, &costs))
			high = middle;
		else
			low = middle;
	}
	snprintf(name, sizeof(name),
		 "late-rank/%u ranks, pays from, change of %g us, %g us a round", ranks,
		 (double)change_ns / 1e3, (double)costs.round_ns / 1e3);
	row_print(&(struct row){ .name = name,
				 .condition = "AllReduce at 450 GiB/s; each round after the first "
					      "changes circuits, the ring none",
				 .ours = high / 0x1p20,
				 .unit = "MiB",
				 .approximation = "the original has a switch and no circuits" });
}

static void all_late_rows(struct planned *planned, const struct repro *repro)
{
	static const uint32_t ranks[] = { 4, 6, 8, 10, 12, 16, 32, 64 };
	struct planned_costs costs = {
		.round_ns = (uint64_t)repro_given(repro, "late_round_ns"),
		.mbps = (uint64_t)(repro_given(repro, "late_gibps") * 0x1p30 * 8 / 1e6),
		.ports = 1,
	};
	uint64_t change_ns = (uint64_t)repro_given(repro, "reconfiguration_ns");
	uint64_t relock_ns = (uint64_t)repro_given(repro, "relock_ns");

	planned_dark(planned);
	for (size_t at = 0; at < sizeof(ranks) / sizeof(*ranks); at++)
		late_rounds_row(planned, &costs, ranks[at]);
	for (size_t at = 0; at < sizeof(ranks) / sizeof(*ranks); at++)
		late_gain_row(planned, &costs, ranks[at]);
	for (size_t at = 0; at < sizeof(ranks) / sizeof(*ranks); at += 2)
		late_pays_row(planned, costs, ranks[at], change_ns);
	costs.round_ns = 0;
	late_pays_row(planned, costs, 8, change_ns);
	late_pays_row(planned, costs, 8, change_ns + relock_ns);
}

int main(int argc, char **argv)
{
	struct planned planned;
	struct repro repro;
	double slow;

	repro_begin(&repro, argc, argv);
	slow = repro_given(&repro, "slower");
	planned_begin(&planned);
	all_late_rows(&planned, &repro);
	for (size_t at = 0; at < CASES; at++) {
		light_ring(&planned, RANKS, cases[at].ports);
		segments_rows(&planned, &cases[at]);
	}
	gains_rows(&planned);
	light_ring(&planned, RANKS, 1);
	change_rows(&planned);
	race_rows(&planned, slow);
	planned_end(&planned);
	return 0;
}
