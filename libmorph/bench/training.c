// SPDX-License-Identifier: LGPL-2.1-or-later
/* Simulation of training, event by event. */
#include <errno.h>
#include <string.h>

#include "../internal/client.h"
#include "training.h"

#define NEVER UINT64_MAX
#define GATHERS_FORWARD 17
#define GATHERS_BACKWARD 18
#define REDUCES 20

/* ------------------------------------------------------------------- shapes */

static uint32_t add_group(struct training *training, enum training_circuits circuits,
			  uint32_t count)
{
	struct training_group *group = &training->group[training->groups];

	group->circuits = circuits;
	group->count = count;
	return training->groups++;
}

static void add_step(struct training *training, uint32_t rank, uint64_t compute_ns, uint32_t group,
		     uint64_t ns)
{
	training->step[rank][training->steps[rank]++] =
		(struct training_step){ .compute_ns = compute_ns, .ns = ns, .group = group };
}

/* A rank's position, and its groups. */
struct place {
	uint32_t rank;
	uint32_t data, tensor; /* groups */
	uint32_t from_above, to_below, from_below, to_above; /* groups; NOTHING at the ends */
};

#define NOTHING UINT32_MAX

static void gather(struct training *training, const struct training_shape *shape,
		   const struct place *place, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		add_step(training, place->rank, 0, place->data, shape->gather_ns);
}

/* Add one of the stage's microbatches: receive, compute, and send. */
static void work(struct training *training, const struct training_shape *shape,
		 const struct place *place, bool down, uint64_t compute_ns)
{
	uint32_t from = down ? place->from_above : place->from_below;
	uint32_t to = down ? place->to_below : place->to_above;

	if (from != NOTHING)
		add_step(training, place->rank, 0, from, shape->send_ns);
	if (compute_ns)
		add_step(training, place->rank, compute_ns, place->tensor, shape->tensor_ns);
	if (to != NOTHING)
		add_step(training, place->rank, 0, to, shape->send_ns);
}

static void fill(struct training *training, const struct training_shape *shape,
		 const struct place *place)
{
	add_step(training, place->rank, shape->optimizer_ns, place->tensor, shape->tensor_ns);
	gather(training, shape, place, GATHERS_FORWARD);
	for (uint32_t at = 0; at < shape->microbatches; at++)
		work(training, shape, place, true, shape->forward_ns);
	gather(training, shape, place, GATHERS_BACKWARD);
	for (uint32_t at = 0; at < shape->microbatches; at++)
		work(training, shape, place, false, 2 * shape->forward_ns);
	gather(training, shape, place, REDUCES);
	work(training, shape, place, false, 0);
}

/* Groups along a dimension: ranks that differ in it only. */
static uint32_t add_line(struct training *training, uint32_t first, uint32_t count, uint32_t stride,
			 enum training_circuits circuits)
{
	uint32_t group = add_group(training, circuits, count);

	for (uint32_t at = 0; at < count; at++)
		training->group[group].members[at] = first + at * stride;
	return group;
}

/* Down: from this rank to the next one; up: the reverse. */
static uint32_t add_pair(struct training *training, uint32_t from, uint32_t to)
{
	uint32_t group = add_group(training, TRAINING_SIMPLEX, 2);

	training->group[group].members[0] = from;
	training->group[group].members[1] = to;
	return group;
}

void training_3d(struct training *training, const struct training_shape *shape)
{
	uint32_t layer = shape->data * shape->tensor;
	static struct place places[TRAINING_RANKS];

	memset(training, 0, sizeof(*training));
	training->ranks = layer * shape->pipeline;
	for (uint32_t rank = 0; rank < training->ranks; rank++)
		places[rank] = (struct place){ .rank = rank,
					       .from_above = NOTHING,
					       .to_below = NOTHING,
					       .from_below = NOTHING,
					       .to_above = NOTHING };
	for (uint32_t rank = 0; rank < training->ranks; rank++) {
		uint32_t tensor = rank % shape->tensor, data = rank / shape->tensor % shape->data;

		if (!tensor) {
			uint32_t group =
				add_line(training, rank, shape->tensor, 1, TRAINING_ELECTRICAL);

			for (uint32_t at = 0; at < shape->tensor; at++)
				places[rank + at].tensor = group;
		}
		if (!data) {
			uint32_t group =
				add_line(training, rank, shape->data, shape->tensor, TRAINING_RING);

			for (uint32_t at = 0; at < shape->data; at++)
				places[rank + at * shape->tensor].data = group;
		}
		if (rank + layer < training->ranks) {
			places[rank].to_below = add_pair(training, rank, rank + layer);
			places[rank + layer].from_above = places[rank].to_below;
			places[rank].from_below = add_pair(training, rank + layer, rank);
			places[rank + layer].to_above = places[rank].from_below;
		}
	}
	for (uint32_t rank = 0; rank < training->ranks; rank++)
		fill(training, shape, &places[rank]);
}

void training_square(struct training *training, uint32_t side, const uint64_t *windows_ns,
		     uint32_t count, uint64_t ns)
{
	memset(training, 0, sizeof(*training));
	training->ranks = side * side;
	for (uint32_t row = 0; row < side; row++)
		add_line(training, row * side, side, 1, TRAINING_RING);
	for (uint32_t column = 0; column < side; column++)
		add_line(training, column, side, side, TRAINING_RING);
	for (uint32_t rank = 0; rank < training->ranks; rank++)
		for (uint32_t at = 0; at < count; at++)
			add_step(training, rank, windows_ns[at],
				 at % 2 ? side + rank % side : rank / side, ns);
}

struct morph_phases *training_phases(struct morph_ctx *ctx, const struct training *training,
				     const struct morph_phases_opts *opts)
{
	struct morph_phases *phases = morph_phases_new(ctx, training->ranks, opts);
	int ret = phases ? 0 : -ENOMEM;

	for (uint32_t at = 0; ret >= 0 && at < training->groups; at++) {
		const struct training_group *group = &training->group[at];

		ret = morph_phases_add_group(phases, group->members, group->count);
		if (ret >= 0 && group->circuits == TRAINING_RING)
			ret = morph_phases_add_ring(phases, at, 0, group->members);
		else if (ret >= 0 && group->circuits == TRAINING_SIMPLEX)
			ret = morph_phases_add_circuit(phases, at, 0, group->members[0],
						       group->members[1]);
	}
	if (ret >= 0)
		return phases;
	morph_phases_free(phases);
	return NULL;
}

/* ------------------------------------------------------------------ running */

enum doing {
	COMPUTING,
	WAITING,
	COMMUNICATING,
	DONE,
};

struct actor {
	enum doing doing;
	uint32_t step, iteration;
	uint64_t until_ns;
	uint64_t counters[TRAINING_GROUPS];
};

struct run {
	struct morph_phases *phases;
	const struct training *training;
	uint32_t iterations;
	uint64_t change_ns, now_ns;
	struct actor actors[TRAINING_RANKS];
	uint64_t lit_ns[TRAINING_GROUPS]; /* end of a group's change; NEVER: none */
	uint32_t over; /* ranks that have finished the iteration before the last */
	uint64_t over_ns; /* the last of them */
	uint64_t done_ns; /* end of the last rank in the last iteration */
	struct morph_phase_counts before; /* the last iteration */
	struct training_log *log; /* or NULL */
};

int training_call_phases(struct morph_phases *phases, const struct training_call *call)
{
	switch (call->kind) {
	case TRAINING_ITERATE:
		return morph_phases_iterate(phases, call->rank);
	case TRAINING_BEGIN:
		return morph_phases_begin(phases, call->rank, call->group, call->counter,
					  call->now_ns);
	case TRAINING_END:
		return morph_phases_end(phases, call->rank, call->group, call->now_ns);
	case TRAINING_CHANGED:
		return morph_phases_changed(phases, call->group, true, call->now_ns);
	}
	return -EINVAL;
}

static int call_phases(struct run *run, enum training_call_kind kind, uint32_t rank, uint32_t group,
		       uint64_t counter)
{
	const struct training_call call = { .kind = kind,
					    .rank = rank,
					    .group = group,
					    .counter = counter,
					    .now_ns = run->now_ns };

	if (run->log && run->log->count < run->log->room)
		run->log->calls[run->log->count] = call;
	if (run->log)
		run->log->count++;
	return training_call_phases(run->phases, &call);
}

static const struct training_step *step_of(const struct run *run, uint32_t rank)
{
	return &run->training->step[rank][run->actors[rank].step];
}

static void obey(struct run *run)
{
	struct morph_phase_act act;

	while (morph_phases_next(run->phases, &act)) {
		const struct training_group *group = &run->training->group[act.group];

		if (act.kind == MORPH_PHASE_CHANGE)
			run->lit_ns[act.group] = run->now_ns + run->change_ns;
		for (uint32_t at = 0; act.kind == MORPH_PHASE_GO && at < group->count; at++) {
			struct actor *actor = &run->actors[group->members[at]];

			actor->doing = COMMUNICATING;
			actor->until_ns = run->now_ns + step_of(run, group->members[at])->ns;
		}
	}
}

static void compute(struct run *run, uint32_t rank)
{
	struct actor *actor = &run->actors[rank];

	actor->doing = COMPUTING;
	actor->until_ns = run->now_ns + step_of(run, rank)->compute_ns;
}

/* The rank has done its last step. */
static int turn_over(struct run *run, uint32_t rank)
{
	struct actor *actor = &run->actors[rank];

	actor->step = 0;
	actor->iteration++;
	if (actor->iteration + 1 == run->iterations && ++run->over == run->training->ranks) {
		run->over_ns = run->now_ns;
		morph_phases_counts(run->phases, &run->before);
	}
	if (actor->iteration == run->iterations) {
		actor->doing = DONE;
		actor->until_ns = NEVER;
		run->done_ns = run->now_ns;
		return 0;
	}
	return call_phases(run, TRAINING_ITERATE, rank, 0, 0);
}

/* The rank's activity has ended. */
static int advance(struct run *run, uint32_t rank)
{
	struct actor *actor = &run->actors[rank];
	uint32_t group = step_of(run, rank)->group;
	int ret;

	if (actor->doing == COMPUTING) {
		actor->doing = WAITING;
		actor->until_ns = NEVER;
		return call_phases(run, TRAINING_BEGIN, rank, group, actor->counters[group]++);
	}
	ret = call_phases(run, TRAINING_END, rank, group, 0);
	if (!ret && ++actor->step == run->training->steps[rank])
		ret = turn_over(run, rank);
	if (!ret && actor->doing != DONE)
		compute(run, rank);
	return ret;
}

/* The next event: changes before ranks, lower numbers before higher. False: none. */
static bool happen(struct run *run, int *ret)
{
	const struct training *training = run->training;
	uint32_t group = NOTHING, rank = NOTHING;
	uint64_t next_ns = NEVER;

	for (uint32_t at = 0; at < training->groups; at++)
		if (run->lit_ns[at] < next_ns) {
			next_ns = run->lit_ns[at];
			group = at;
		}
	for (uint32_t at = 0; at < training->ranks; at++)
		if (run->actors[at].until_ns < next_ns) {
			next_ns = run->actors[at].until_ns;
			rank = at;
		}
	if (next_ns == NEVER)
		return false;
	run->now_ns = next_ns;
	if (rank != NOTHING) {
		*ret = advance(run, rank);
	} else {
		run->lit_ns[group] = NEVER;
		*ret = call_phases(run, TRAINING_CHANGED, 0, group, 0);
	}
	obey(run);
	return true;
}

static void report(const struct run *run, struct training_result *result)
{
	memset(result, 0, sizeof(*result));
	morph_phases_counts(run->phases, &result->counts);
	result->iteration_ns = run->done_ns - run->over_ns;
	result->stall_ns = result->counts.stall_ns - run->before.stall_ns;
	result->changes = result->counts.changes - run->before.changes;
	for (uint32_t rank = 0; rank < run->training->ranks; rank++) {
		uint64_t compute_ns = 0;

		for (uint32_t at = 0; at < run->training->steps[rank]; at++)
			compute_ns += run->training->step[rank][at].compute_ns;
		if (compute_ns > result->compute_ns)
			result->compute_ns = compute_ns;
	}
}

bool training_run(struct morph_phases *phases, const struct training *training, uint32_t iterations,
		  uint64_t change_ns, struct training_log *log, struct training_result *result)
{
	static struct run run;
	int ret = 0;

	memset(&run, 0, sizeof(run));
	run.phases = phases;
	run.training = training;
	run.iterations = iterations;
	run.change_ns = change_ns;
	run.log = log;
	memset(run.lit_ns, 0xff, sizeof(run.lit_ns));
	for (uint32_t rank = 0; !ret && rank < training->ranks; rank++) {
		compute(&run, rank);
		ret = call_phases(&run, TRAINING_ITERATE, rank, 0, 0);
	}
	while (!ret && happen(&run, &ret))
		;
	for (uint32_t rank = 0; rank < training->ranks; rank++)
		if (ret || run.actors[rank].doing != DONE)
			return false;
	report(&run, result);
	return true;
}
