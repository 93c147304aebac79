/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: paths for the circuits of a schedule. Included by <morph/plan.h>. */
#ifndef MORPH_LIGHT_H
#define MORPH_LIGHT_H

#include <morph/matchings.h>
#include <morph/place.h>
#include <morph/schedule.h>
#include <morph/steps.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Light of a schedule
 *
 * A schedule says which ranks are joined on which plane when, without regard to paths.
 * morph_schedule_light() finds a path on the fabric for each circuit, so that all circuits lit at
 * one time fit together, and stores the steps for the driver. Otherwise it returns the reason.
 *
 *	morph_schedule_plan(schedule, collective, delay, &opts);
 *	morph_schedule_light(schedule, ledger, accelerators, ranks, NULL, steps, &light);
 *	if (light.verdict == MORPH_FEASIBLE)
 *		morph_slice_schedule_load(slice, steps, &loaded);
 *
 * Plane j is transmit and receive port j of each rank's accelerator. A step begins whenever
 * circuits are set. The first step includes the initially lit circuits. A circuit that goes dark
 * without a successor on its ports goes out with the next step. A circuit has one path in all steps
 * if possible, else one for each time that it is lit. It has the same wavelengths from end to end.
 * The answer depends on the arguments only.
 */

/**
 * enum morph_light_reason - reasons against a schedule
 * @MORPH_LIGHT_OK: none
 * @MORPH_LIGHT_PORTS: the schedule has more planes than accelerators have ports: @have and @need
 * @MORPH_LIGHT_LANES: a circuit needs more lanes than exist: @have and @need
 * @MORPH_LIGHT_ACCELERATOR: the accelerator of rank @src may not be used
 * @MORPH_LIGHT_ALONE: a circuit has no path in this ledger, even alone; see @driver
 * @MORPH_LIGHT_CUT: more circuits of a step leave some accelerators than can at once: @have and
 *	@need
 * @MORPH_LIGHT_JUDGE: the validator rejects the paths that were found; see @driver
 * @MORPH_LIGHT_GAVE_UP: neither paths nor a proof were found
 */
enum morph_light_reason {
	MORPH_LIGHT_OK = 0,
	MORPH_LIGHT_PORTS = 1,
	MORPH_LIGHT_LANES = 2,
	MORPH_LIGHT_ACCELERATOR = 3,
	MORPH_LIGHT_ALONE = 4,
	MORPH_LIGHT_CUT = 5,
	MORPH_LIGHT_JUDGE = 6,
	MORPH_LIGHT_GAVE_UP = 7,
};

/**
 * struct morph_light_opts - the begin of steps, and resources of circuits
 * @sz: sizeof(struct morph_light_opts)
 * @begin: enum morph_step_begin, of all steps. MORPH_STEP_TIME: times of the schedule, at least 1
 *	us apart, and 100 us if all lit circuits stay
 * @loop: the first step follows the last one; by time, when all data of the schedule has arrived
 * @deadline_ns: of all steps, as in struct morph_step_opts; by time, in addition to the planned
 *	time
 * @lanes: of each circuit; 0: for the bandwidth of the schedule
 * @transit: enum morph_transit
 * @count_planes: if the planes do not fit together, count the first ones that do
 * @budget: iterations of the search for paths; 0: the default
 * @hold_steps: where to put the step that sets each hold, one entry for each hold of the schedule;
 *	NULL: nowhere
 * @routes: feasible matchings of the ranks, on plane 0: the search begins with their routes. NULL:
 *	none
 */
struct morph_light_opts {
	size_t sz;
	uint32_t begin;
	bool loop;
	uint64_t deadline_ns;
	uint32_t lanes;
	uint32_t transit;
	bool count_planes;
	uint32_t budget;
	uint32_t *hold_steps;
	const struct morph_matchings_answer *routes;
};

/**
 * struct morph_light - whether a schedule has paths, and why not
 * @verdict: enum morph_verdict; MORPH_INFEASIBLE is proven, MORPH_UNDECIDED is given up
 * @reason: enum morph_light_reason
 * @step: the impossible step, or MORPH_ANY for all
 * @plane: plane of a circuit that has no path or is in the way, or MORPH_ANY
 * @src: rank that sends it; for a cut, a rank whose circuit crosses it
 * @dst: rank that receives it
 * @driver: enum morph_reason, as of the driver; or MORPH_REASON_NONE
 * @part: enum morph_part: the scarce or occupied part
 * @index: its index
 * @have: available amount, in the unit of the reason
 * @need: required amount
 * @planes: number of first planes that fit together: all if feasible; else 0 without @count_planes
 * @steps: number of steps
 * @circuits: number of circuits in the table of steps
 * @rerouted: number of reroutes until all circuits fitted together
 * @why: the reason as a sentence; "" if feasible
 * @final: no other schedule can have paths: too few ports or lanes exist, or an accelerator may not
 *	be used
 */
struct morph_light {
	uint32_t verdict;
	uint32_t reason;
	uint32_t step;
	uint32_t plane;
	uint32_t src;
	uint32_t dst;
	uint32_t driver;
	uint32_t part;
	uint32_t index;
	int64_t have;
	int64_t need;
	uint32_t planes;
	uint32_t steps;
	uint32_t circuits;
	uint64_t rerouted;
	char why[256];
	bool final;
};

/**
 * morph_schedule_light() - find paths for all circuits of a schedule
 * @schedule: a feasible schedule
 * @ledger: the held resources of the fabric; only memory of the search changes in it
 * @accelerators: the accelerator of each rank
 * @ranks: number of ranks of the schedule
 * @opts: options; NULL for the defaults
 * @steps: where to put the steps, which replace the previous content; none unless the verdict is
 *	MORPH_FEASIBLE
 * @light: the answer
 *
 * The search negotiates congestion: circuits lit together raise the price of guides and elements
 * that both want, until they part (McMurchie and Ebeling, PathFinder, FPGA 1995). It first tries
 * one path for each circuit in all steps, then one for each time that it is lit. The driver's
 * validator judges the result, step by step. O(rounds * circuits * (circuits of a step * hops +
 * fabric * log)). The call proves infeasibility for a circuit alone, or by a cut (Ford and
 * Fulkerson, 1956). A cut limits the number of paths out of an accelerator, a server or a half of
 * the fabric.
 *
 * Return: 0, whatever the verdict; -EINVAL, -ENOENT (no such accelerator), -E2BIG (too many steps
 * or circuits for the driver) or -ENOMEM. Causes of -EINVAL: the schedule is not feasible; it
 * has other ranks; ranks share accelerators or are of several slices; unknown options.
 */
int morph_schedule_light(const struct morph_schedule *schedule, struct morph_ledger *ledger,
			 const uint32_t *accelerators, uint32_t ranks,
			 const struct morph_light_opts *opts, struct morph_steps *steps,
			 struct morph_light *light);

/**
 * struct morph_lit_opts - where a plan needs paths
 * @sz: sizeof(struct morph_lit_opts)
 * @ledger: the held resources of the fabric; only memory of the search changes in it
 * @accelerators: the accelerator of each rank of the collective
 * @light: as morph_schedule_light(), or NULL; its hold_steps are those of the last plan tried
 * @most: limit of plans to try, each of which may take seconds; 0: 24
 */
struct morph_lit_opts {
	size_t sz;
	struct morph_ledger *ledger;
	const uint32_t *accelerators;
	const struct morph_light_opts *light;
	uint32_t most;
};

#ifdef __cplusplus
}
#endif

#endif /* MORPH_LIGHT_H */
