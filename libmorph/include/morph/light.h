/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: ways for the circuits of a schedule. Included by <morph/plan.h>. */
#ifndef MORPH_LIGHT_H
#define MORPH_LIGHT_H

#include <morph/place.h>
#include <morph/schedule.h>
#include <morph/steps.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Light of a schedule
 *
 * A schedule says which ranks are joined on which plane when, as if all could be joined at once.
 * morph_schedule_light() asks whether they can: it finds a way on the fabric for each circuit, such
 * that all which are lit at once go together, and puts them down as the steps that the driver takes;
 * or it says why not.
 *
 *	morph_schedule_plan(schedule, collective, delay, &opts);
 *	morph_schedule_light(schedule, ledger, accelerators, ranks, NULL, steps, &light);
 *	if (light.verdict == MORPH_FEASIBLE)
 *		morph_slice_schedule_load(slice, steps, &loaded);
 *
 * Plane j is transmit and receive port j of each rank's accelerator. A step begins whenever circuits
 * are set; what the schedule finds lit is of the first one. What is dark in a plan and used by nothing goes out with
 * the step after. A circuit has one way in all steps where that can be had, and else one for each
 * time that it is lit; it has the same wavelengths from end to end. The answer follows from what is given alone.
 */

/**
 * enum morph_light_reason - what is in the way
 * @MORPH_LIGHT_OK: nothing
 * @MORPH_LIGHT_PORTS: the schedule has more planes than accelerators have ports: @have and @need
 * @MORPH_LIGHT_LANES: a circuit wants more lanes than there are: @have and @need
 * @MORPH_LIGHT_ACCELERATOR: the accelerator of rank @src may not be used
 * @MORPH_LIGHT_ALONE: a circuit has no way even when it is lit alone, as the ledger is: @driver says why
 * @MORPH_LIGHT_CUT: more circuits of a step lead out of some accelerators, to others, than can at once: @have and @need
 * @MORPH_LIGHT_JUDGE: ways were found, but the validator refuses them: @driver says why
 * @MORPH_LIGHT_GAVE_UP: no ways were found, nor a proof that there are none
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
 * struct morph_light_opts - how steps begin, and what circuits may have
 * @sz: sizeof(struct morph_light_opts)
 * @begin: enum morph_step_begin, of all steps; MORPH_STEP_TIME: as the schedule has it, but a microsecond apart at least, and 100 where all that is lit stays
 * @loop: after the last step comes the first; by time, once all of the schedule has arrived
 * @deadline_ns: of all steps, as struct morph_step_opts has it; by time, beyond what is planned
 * @lanes: of each circuit; 0: as many as the schedule's bandwidth takes
 * @transit: enum morph_transit
 * @count_planes: where planes do not go together, find out how many of the first ones do
 * @budget: rounds of the search for ways; 0: as many as pay in most cases
 * @hold_steps: where to put the step with which each hold is set, as many as the schedule has
 *	holds; NULL: nowhere
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
};

/**
 * struct morph_light - whether a schedule has ways, and why not
 * @verdict: enum morph_verdict; MORPH_INFEASIBLE is proven, MORPH_UNDECIDED is given up
 * @reason: enum morph_light_reason
 * @step: the step that can't be, or MORPH_ANY where it is all of them
 * @plane: plane of a circuit that is in the way or has none, or MORPH_ANY
 * @src: rank that sends it; of a cut, of those that lead across one
 * @dst: rank that receives it
 * @driver: enum morph_reason, as the driver would say; or MORPH_REASON_NONE
 * @part: enum morph_part: what is short or in the way
 * @index: which one
 * @have: how much there is, in the unit of the reason
 * @need: how much is needed
 * @planes: how many of the first planes go together: all of a feasible schedule; else 0, unless they were to be counted
 * @steps: how many the schedule has
 * @circuits: how many the table of steps has
 * @rerouted: how often a circuit was given another way before all went together
 * @why: the reason as a sentence; "" of a feasible schedule
 * @final: no other schedule can have ways either: there are fewer ports or lanes than are asked
 *	for, or an accelerator may not be used
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
 * morph_schedule_light() - find ways for all that a schedule lights
 * @schedule: a feasible schedule
 * @ledger: what is held of the fabric; not changed, but for memory that the search uses
 * @accelerators: the accelerator of each rank
 * @ranks: how many, those of the schedule
 * @opts: how steps begin, and what circuits may have; NULL for the defaults
 * @steps: where to put the steps; what was in it is forgotten. Without any where the verdict is not MORPH_FEASIBLE
 * @light: the answer
 *
 * By negotiated congestion: circuits that are lit together raise the price of guides and elements that they
 * both want until they part (McMurchie and Ebeling, PathFinder, FPGA 1995); first with one way for each circuit in all
 * steps, then with one for each time that it is lit. What comes out is judged by the driver's own validator, step by
 * step. O(rounds * circuits * (circuits of a step * hops + fabric * log)). That there are no ways is proven of a
 * circuit alone, or by a cut: most ways that lead out of an accelerator, a server or a half of the fabric at
 * once (Ford and Fulkerson, 1956).
 *
 * Return: 0, whatever the verdict; -EINVAL (the schedule is not feasible, ranks are not its own or share accelerators
 * or are of several slices, unknown options), -ENOENT (no such accelerator), -E2BIG (more steps or circuits than the driver takes) or
 * -ENOMEM.
 */
int morph_schedule_light(const struct morph_schedule *schedule, struct morph_ledger *ledger,
			 const uint32_t *accelerators, uint32_t ranks,
			 const struct morph_light_opts *opts, struct morph_steps *steps,
			 struct morph_light *light);

/**
 * struct morph_lit_opts - where a plan is to have ways
 * @sz: sizeof(struct morph_lit_opts)
 * @ledger: what is held of the fabric; not changed, but for memory that the search uses
 * @accelerators: the accelerator of each rank, as many as the collective has
 * @light: as morph_schedule_light(), or NULL; its hold_steps are of the plan that is tried last
 * @most: of how many plans ways are looked for, each of which may take seconds; 0: 24
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
