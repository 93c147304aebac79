// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The longest change with which all-reduce still gains: a rack whose circuits follow the rounds.
 * Public functions plan all schedules, and the checker carries them out.
 */
#include <math.h>
#include <stdio.h>

#include "../../libmorph/internal/planner.h"
#include "planned.h"
#include "repro.h"
#include "shapes.h"

#define NAME 128
#define CONDITION 256
#define MBPS_OF_GIGABYTE 8000

static double planned_or_wrong(struct planned *planned, const struct morph_collective_opts *how,
			       const struct planned_costs *costs, uint32_t policy)
{
	uint64_t ns = planned_ns(planned, how, costs, policy);

	if (!ns)
		repro_wrong("%s", morph_schedule_why(planned->schedule));
	return (double)ns;
}

static struct morph_collective_opts all_reduce(uint32_t algorithm, uint32_t ranks, uint64_t bytes)
{
	return (struct morph_collective_opts){ .sz = sizeof(struct morph_collective_opts),
					       .kind = MORPH_ALL_REDUCE,
					       .algorithm = algorithm,
					       .ranks = ranks,
					       .bytes = bytes };
}

/* -------------------------------------------------------------------- the rack */

#define LONGEST_STEP_NS 0x1p36

struct rack {
	double less; /* the published share of saved time */
	uint64_t mbps, switch_ns, relock_ns;
};

/* "N percent faster" has two readings: less time, or more work in the same time. */
static double most_of_ring(const struct rack *rack, bool is_rate)
{
	return is_rate ? 1 / (1 + rack->less) : 1 - rack->less;
}

/*
 * The ring's circuits never change. Those of halving change in each round: alpha' = alpha + the
 * time of a change.
 */
struct rack_case {
	const struct rack *rack;
	uint32_t ranks, policy;
	bool relocks;
};

/*
 * The time of halving divided by the time of a ring. Ranks between others forward messages, with a
 * step for each hop.
 */
static double of_ring(struct planned *planned, const struct rack_case *this, uint64_t step_ns,
		      uint64_t bytes)
{
	struct morph_collective_opts how = all_reduce(MORPH_RING, this->ranks, bytes);
	const struct planned_costs costs = {
		.hop_ns = step_ns,
		.change_ns = this->rack->switch_ns + (this->relocks ? this->rack->relock_ns : 0),
		.mbps = this->rack->mbps,
		.ports = 1,
	};
	double ring = planned_or_wrong(planned, &how, &costs, MORPH_POLICY_EACH_ROUND);

	how.algorithm = MORPH_HALVING_CYCLIC;
	return planned_or_wrong(planned, &how, &costs, this->policy) / ring;
}

/* The largest size with the published gain, to a percent; 0 if the smallest size gains less. */
static double region_bytes(struct planned *planned, const struct rack_case *this, uint64_t step_ns,
			   double most)
{
	double low = 64.0 * this->ranks, high = 0x1p34;

	if (of_ring(planned, this, step_ns, (uint64_t)low) > most)
		return 0;
	while (high > low * 1.01) {
		double middle = sqrt(low * high);

		if (of_ring(planned, this, step_ns, (uint64_t)middle) <= most)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The shortest time of a step with the published gain for the smallest messages, to a percent;
 * LONGEST_STEP_NS if no time has it.
 */
static double region_step_ns(struct planned *planned, const struct rack_case *this, double most)
{
	double low = 1, high = LONGEST_STEP_NS;

	while (high > low * 1.01) {
		double middle = sqrt(low * high);

		if (of_ring(planned, this, (uint64_t)middle, 64ULL * this->ranks) <= most)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static const char *const unknown =
	"collective, steps and sizes of the original are not known; the row gives the region in which its number holds, not one point";

static void describe(const struct rack_case *this, bool is_rate, char words[CONDITION])
{
	snprintf(words, CONDITION,
		 "AllReduce by halving, a change of %g us in a round, against a ring that never "
		 "changes, one port of %g GB/s; %g %% %s",
		 (double)(this->rack->switch_ns + (this->relocks ? this->rack->relock_ns : 0)) /
			 1e3,
		 (double)this->rack->mbps / MBPS_OF_GIGABYTE, 100 * this->rack->less,
		 is_rate ? "more done in the same time" : "less time");
}

static void step_row(struct planned *planned, const struct rack_case *this, bool is_rate)
{
	const struct rack_case each = { this->rack, this->ranks, MORPH_POLICY_EACH_ROUND,
					this->relocks };
	double most = most_of_ring(this->rack, is_rate), ours = region_step_ns(planned, this, most);
	char name[NAME], condition[CONDITION];

	if (ours >= LONGEST_STEP_NS)
		return;
	describe(this, is_rate, condition);
	snprintf(name, sizeof(name),
		 "rack-allreduce/%u ranks, %s%s, shortest step with the published gain",
		 this->ranks, is_rate ? "rate" : "time", this->relocks ? ", with relock" : "");
	row_print(&(struct row){ .name = name,
				 .condition = condition,
				 .ours = ours / 1e3,
				 .unit = "us",
				 .baseline_name = "changes in each round",
				 .baseline = region_step_ns(planned, &each, most) / 1e3,
				 .approximation = unknown });
}

static void region_rows(struct planned *planned, const struct rack *rack, uint32_t ranks,
			bool relocks, bool is_rate)
{
	const struct rack_case each = { rack, ranks, MORPH_POLICY_EACH_ROUND, relocks };
	const struct rack_case ours = { rack, ranks, MORPH_POLICY_SEGMENTS, relocks };
	double most = most_of_ring(rack, is_rate);
	char name[NAME], condition[CONDITION];

	describe(&ours, is_rate, condition);
	for (uint64_t step_ns = 1000; step_ns <= 100000; step_ns *= 10) {
		snprintf(
			name, sizeof(name),
			"rack-allreduce/%u ranks, %g us a step, %s%s, largest size with the published gain",
			ranks, (double)step_ns / 1e3, is_rate ? "rate" : "time",
			relocks ? ", with relock" : "");
		row_print(&(struct row){ .name = name,
					 .condition = condition,
					 .ours = region_bytes(planned, &ours, step_ns, most) / 1024,
					 .unit = "KiB",
					 .baseline_name = "changes in each round",
					 .baseline =
						 region_bytes(planned, &each, step_ns, most) / 1024,
					 .approximation = unknown });
	}
	step_row(planned, &ours, is_rate);
}

/* The gain with very long steps, beside which changes and messages take no time. */
static void most_row(struct planned *planned, const struct rack *rack, uint32_t ranks)
{
	const struct rack_case this = { rack, ranks, MORPH_POLICY_SEGMENTS, false };
	char name[NAME];

	snprintf(name, sizeof(name), "rack-allreduce/%u ranks, largest saving of time", ranks);
	row_print(&(struct row){
		.name = name,
		.condition =
			"AllReduce by halving, against a ring; steps so long that changes and bytes are negligible",
		.ours = 1 - of_ring(planned, &this, LONGEST_STEP_NS, 64ULL * ranks),
		.unit = "share of time",
		.approximation = unknown });
}

/* The share of AllReduce in a training step that a published training gain requires. */
static void share_row(const struct rack *rack, double training, bool is_rate)
{
	double most = most_of_ring(rack, is_rate);
	char condition[CONDITION];

	snprintf(condition, sizeof(condition),
		 "training %g times as fast by collectives that are %g %% faster and nothing else",
		 training, 100 * rack->less);
	row_print(&(struct row){ .name = is_rate ? "rack-allreduce/share of a training step, rate" :
						   "rack-allreduce/share of a training step, time",
				 .condition = condition,
				 .ours = (1 - 1 / training) / (1 - most),
				 .unit = "share of time",
				 .approximation = "computing, then collectives" });
}

static void rack_rows(struct planned *planned, const struct rack *rack)
{
	static const uint32_t ranks[] = { 16, 64 };

	for (size_t at = 0; at < sizeof(ranks) / sizeof(*ranks); at++) {
		const struct shape ring = { .what = "ring",
					    .sizes = { ranks[at], 1 },
					    .wraps = true };

		shape_light(planned, &ring, 1);
		most_row(planned, rack, ranks[at]);
		for (uint32_t reading = 0; reading < 4; reading++)
			region_rows(planned, rack, ranks[at], reading >> 1, reading & 1);
	}
}

int main(int argc, char **argv)
{
	struct planned planned;
	struct repro repro;
	struct rack rack;
	double training;

	repro_begin(&repro, argc, argv);
	rack = (struct rack){
		.less = repro_given(&repro, "faster"),
		.mbps = (uint64_t)(repro_given(&repro, "port_gigabytes") * MBPS_OF_GIGABYTE),
		.switch_ns = (uint64_t)repro_given(&repro, "reconfiguration_ns"),
		.relock_ns = (uint64_t)repro_given(&repro, "relock_ns"),
	};
	training = repro_given(&repro, "training");
	planned_begin(&planned);
	rack_rows(&planned, &rack);
	share_row(&rack, training, false);
	share_row(&rack, training, true);
	planned_end(&planned);
	return 0;
}
