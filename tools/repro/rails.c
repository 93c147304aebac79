// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rails of circuits instead of switches. The rows have the cost and power of ports and transceivers
 * by Opus's model, and the length of an iteration whose phases wait for their circuits. Iterations
 * are computed as sums, and event by event, with circuits requested on demand and ahead. The
 * program trains nothing.
 */
#include <math.h>
#include <stdio.h>

#include "../../libmorph/bench/training.h"
#include "repro.h"

#define NAME 96
#define CONDITION 256
#define ITERATIONS 6 /* the first ones show which circuits to request ahead */
#define NS_OF_MS 1000000ULL
#define LEAST_SERVERS 128
#define MOST_SERVERS 1024
#define OVERHEAD_MS 100 /* a change, for the overhead of an iteration */
#define RAILS 8 /* accelerators of a server, each with one port */

/* Dollars and watts of one part. */
struct part {
	double usd, watts;
};

struct parts {
	struct part transceiver, port, circuit_port;
};

static struct part sum(struct part one, double ones, struct part other, double others)
{
	return (struct part){ ones * one.usd + others * other.usd,
			      ones * one.watts + others * other.watts };
}

/*
 * Switches with enough ports for a rail in two tiers. Each rail has two tiers, and a third tier
 * joins the rails. Each port of a switch and each accelerator has a transceiver.
 */
static struct part of_switches(const struct parts *parts, uint32_t servers)
{
	uint32_t radix = (uint32_t)lround(sqrt(4.0 * servers));
	uint32_t tiers = servers / (radix / 2) * 2 * RAILS, third = RAILS * servers / radix;
	double ports = (double)radix * (tiers + third);

	return sum(parts->port, ports, parts->transceiver, ports + RAILS * servers);
}

/* Each accelerator has one transceiver and two ports of a circuit switch: in and out. */
static struct part of_circuits(const struct parts *parts, uint32_t servers)
{
	double accelerators = RAILS * servers;

	return sum(parts->circuit_port, 2 * accelerators, parts->transceiver, accelerators);
}

static void parts_rows(const struct parts *parts, uint32_t servers)
{
	struct part switches = of_switches(parts, servers), circuits = of_circuits(parts, servers);
	char name[NAME], condition[CONDITION];

	snprintf(condition, sizeof(condition),
		 "%u accelerators: switches for $%.3g million and %.4g kW, circuits for $%.3g "
		 "million and %.3g kW",
		 RAILS * servers, switches.usd / 1e6, switches.watts / 1e3, circuits.usd / 1e6,
		 circuits.watts / 1e3);
	snprintf(name, sizeof(name), "rails/%u accelerators, cost", RAILS * servers);
	row_print(&(struct row){ .name = name,
				 .condition = condition,
				 .ours = switches.usd / circuits.usd,
				 .unit = "times less",
				 .baseline_name = "switches",
				 .baseline = 1 });
	snprintf(name, sizeof(name), "rails/%u accelerators, power", RAILS * servers);
	row_print(&(struct row){ .name = name,
				 .condition = condition,
				 .ours = switches.watts / circuits.watts,
				 .unit = "times less",
				 .baseline_name = "switches",
				 .baseline = 1 });
}

/* Figures of the abstract: the least saving of power and the largest of cost. */
static void abstract_rows(const struct parts *parts)
{
	double power = INFINITY, cost = 0;

	for (uint32_t servers = LEAST_SERVERS; servers <= MOST_SERVERS; servers *= 2) {
		struct part switches = of_switches(parts, servers);
		struct part circuits = of_circuits(parts, servers);

		power = fmin(power, switches.watts / circuits.watts);
		cost = fmax(cost, switches.usd / circuits.usd);
	}
	row_print(&(struct row){ .name = "rails-abstract/power",
				 .condition = "1024 to 8192 accelerators, the least",
				 .ours = power,
				 .unit = "times less",
				 .baseline_name = "switches",
				 .baseline = 1 });
	row_print(&(struct row){ .name = "rails-abstract/cost",
				 .condition = "1024 to 8192 accelerators, the most",
				 .ours = cost,
				 .unit = "times less",
				 .baseline_name = "switches",
				 .baseline = 1 });
}

/*
 * Each change of phase waits for the whole delay. This is an upper bound, because windows without
 * traffic hide a part of it.
 */
static void iteration_row(double iteration_s, double phases, uint32_t delay_ms)
{
	char name[NAME], condition[CONDITION];

	snprintf(name, sizeof(name), "rails-iteration/on demand, %u ms", delay_ms);
	snprintf(
		condition, sizeof(condition),
		"%g s as measured without delay, and %g phase changes that wait for the full delay",
		iteration_s, phases);
	row_print(&(struct row){
		.name = name,
		.condition = condition,
		.ours = iteration_s + phases * delay_ms / 1e3,
		.unit = "s",
		.baseline_name = "no delay, measured",
		.baseline = iteration_s,
		.approximation =
			"the original measured seconds on accelerators; this is a model of the waiting, in which no window hides a change" });
}

/* -------------------------------------------------------------------- phases */

static struct training training;

static struct training_result run(struct morph_ctx *ctx, uint32_t mode, uint32_t delay_ms)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = mode);
	struct morph_phases *phases = training_phases(ctx, &training, &opts);
	struct training_result result;

	if (!phases ||
	    !training_run(phases, &training, ITERATIONS, delay_ms * NS_OF_MS, NULL, &result))
		repro_wrong("training with changes of circuits does not end");
	morph_phases_free(phases);
	return result;
}

static const char *const made_up =
	"a constructed iteration of sixteen ranks, as in the original, and about ten "
	"seconds; the original does not publish the times of computing and sending";

/* The published figure: the measured iteration divided by the one without a controller. */
static void longer_row(const char *mode, uint32_t delay_ms, const struct training_result *result,
		       const struct training_result *alone)
{
	char name[NAME];

	snprintf(name, sizeof(name), "rails-phases/%s, %u ms, times as long", mode, delay_ms);
	row_print(&(struct row){
		.name = name,
		.condition =
			"2 data-parallel, 2 pipeline and 4 tensor-parallel groups, event by event, by libmorph's phases, whose control takes no time",
		.ours = (double)result->iteration_ns / (double)alone->iteration_ns,
		.unit = "times as long",
		.baseline_name = "without circuits that change",
		.baseline = 1,
		.approximation = made_up });
}

/*
 * T_comp / (T_comp + T_communication + T_stall), where T_communication is the part that computing
 * does not hide. The denominator is the whole iteration.
 */
static void computing_row(const char *mode, uint32_t delay_ms, const struct training_result *result,
			  const struct training_result *alone)
{
	char name[NAME];

	snprintf(name, sizeof(name), "rails-phases/%s, %u ms, computing time", mode, delay_ms);
	row_print(&(struct row){
		.name = name,
		.condition = "share of the iteration in which the busiest rank computes",
		.ours = (double)result->compute_ns / (double)result->iteration_ns,
		.unit = "share of time",
		.baseline_name = "without circuits that change",
		.baseline = (double)alone->compute_ns / (double)alone->iteration_ns,
		.approximation = made_up });
}

/* How much longer an iteration is whose circuits are requested ahead. */
static void overhead_row(const struct training_result *result, const struct training_result *alone)
{
	row_print(&(struct row){
		.name = "rails-abstract/overhead",
		.condition =
			"16 ranks whose circuits are requested ahead; a change takes 100 ms and control no time",
		.ours = (double)result->iteration_ns / (double)alone->iteration_ns - 1,
		.unit = "share of time",
		.baseline_name = "without circuits that change",
		.baseline = 0,
		.approximation = made_up });
}

static void phases_rows(const uint32_t *delays_ms, size_t count)
{
	static const char *const modes[] = {
		[MORPH_PHASE_ON_DEMAND] = "on demand", [MORPH_PHASE_PROVISIONED] = "provisioned"
	};
	static const uint32_t order[] = { MORPH_PHASE_ON_DEMAND, MORPH_PHASE_PROVISIONED };
	const struct training_shape shape = TRAINING_SHAPE;
	struct training_result alone;
	struct morph_ctx *ctx;

	if (morph_ctx_new(NULL, &ctx))
		repro_wrong("cannot create a context");
	training_3d(&training, &shape);
	alone = run(ctx, MORPH_PHASE_UNCONTROLLED, 0);
	for (size_t mode = 0; mode < 2; mode++)
		for (size_t at = 0; at < count; at++) {
			struct training_result result = run(ctx, order[mode], delays_ms[at]);

			longer_row(modes[order[mode]], delays_ms[at], &result, &alone);
			computing_row(modes[order[mode]], delays_ms[at], &result, &alone);
			if (order[mode] == MORPH_PHASE_PROVISIONED && delays_ms[at] == OVERHEAD_MS)
				overhead_row(&result, &alone);
		}
	morph_ctx_free(ctx);
}

int main(int argc, char **argv)
{
	static const uint32_t delays_ms[] = { 0, 10, 50, 100, 250, 500, 750, 1000, 2000, 3000 };
	double iteration_s, phases, ports, circuit_ports;
	struct parts parts;
	struct repro repro;

	repro_begin(&repro, argc, argv);
	ports = repro_given(&repro, "switch_ports");
	circuit_ports = repro_given(&repro, "circuit_switch_ports");
	parts.transceiver.usd = repro_given(&repro, "transceiver_usd");
	parts.transceiver.watts = repro_given(&repro, "transceiver_watts");
	parts.port.usd = repro_given(&repro, "switch_usd") / ports;
	parts.port.watts = repro_given(&repro, "switch_watts") / ports;
	parts.circuit_port.usd = repro_given(&repro, "circuit_port_usd");
	parts.circuit_port.watts = repro_given(&repro, "circuit_switch_watts") / circuit_ports;
	iteration_s = repro_given(&repro, "iteration_s");
	phases = repro_given(&repro, "phases");
	for (uint32_t servers = LEAST_SERVERS; servers <= MOST_SERVERS; servers *= 2)
		parts_rows(&parts, servers);
	abstract_rows(&parts);
	for (size_t at = 1; at < sizeof(delays_ms) / sizeof(*delays_ms); at++)
		iteration_row(iteration_s, phases, delays_ms[at]);
	phases_rows(delays_ms, sizeof(delays_ms) / sizeof(*delays_ms));
	return 0;
}
