// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The shim: finds the iteration in the operations of a rank. No call marks its begin. An iteration
 * is found where the last operations equal the ones before them. From two equal iterations
 * morph_phases learns their stages. An operation out of order is a stray, and the search for an
 * iteration starts again.
 */
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define REMEMBERED 8192 /* operations; an iteration has at most half of them */
#define STAGES 1024

struct done {
	struct shim_comm *comm;
	uint64_t counter;
	uint64_t begin_ns, end_ns;
};

static struct {
	struct morph_ctx *ctx;
	struct morph_phases *phases;
	struct done *list; /* the last operations */
	uint64_t first, count; /* number of the first one in the list, and their count */
	struct morph_stage stages[STAGES];
	uint32_t stages_count;
	uint64_t length; /* operations of all stages */
	bool follows; /* the rank is at a learnt stage */
	uint32_t at;
	uint64_t in_stage; /* operations of the stage so far */
	uint32_t learned, strays;
} learn;

bool shim_learn_new(void)
{
	MORPH_OPTS(morph_phases_opts, opts, .mode = MORPH_PHASE_UNCONTROLLED, .stages = STAGES);

	learn.list = calloc(REMEMBERED, sizeof(*learn.list));
	if (learn.list && !morph_ctx_new(NULL, &learn.ctx)) {
		learn.phases = morph_phases_new(learn.ctx, (uint32_t)shim.size, &opts);
		if (!learn.phases)
			shim_say("phases are not observed: %s", morph_error_text(learn.ctx));
	}
	return learn.phases;
}

struct morph_phases *shim_learn_phases(uint32_t *learned, uint32_t *strays)
{
	*learned = learn.learned;
	*strays = learn.strays;
	return learn.phases;
}

void shim_learn_comm(struct shim_comm *comm)
{
	int group;

	if (comm->size < 2)
		return;
	group = morph_phases_add_group(learn.phases, comm->members, (uint32_t)comm->size);
	if (group >= 0 && !morph_phases_add_ring(learn.phases, (uint32_t)group, 0, comm->members))
		comm->group = group;
	else
		shim_say("a communicator is not observed: %s", morph_error_text(learn.ctx));
}

struct shim_comm *shim_comm_of_group(uint32_t group)
{
	for (int at = 0; at < shim.comms_count; at++)
		if (shim.comms[at]->group == (int)group)
			return shim.comms[at];
	return NULL;
}

/* ---------------------------------------------------------------- iterations */

static bool alike(uint64_t one, uint64_t other, uint64_t count)
{
	for (uint64_t at = 0; at < count; at++)
		if (learn.list[one + at].comm != learn.list[other + at].comm)
			return false;
	return true;
}

/* The length of the last iteration, if @next begins a stage and another equal iteration; or 0. */
static uint64_t find_iteration(const struct shim_comm *next)
{
	uint64_t count = learn.count;

	for (uint64_t length = 2; 2 * length <= count; length++)
		if (learn.list[count - length].comm == next &&
		    alike(count - 2 * length, count - length, length))
			return length;
	return 0;
}

static int report_iteration(uint64_t first, uint64_t length)
{
	struct morph_phase_trace *trace = calloc(length + 1, sizeof(*trace));
	int error = -1;

	for (uint64_t at = 0; trace && at < length; at++) {
		const struct done *done = &learn.list[first + at];

		trace[at] = (struct morph_phase_trace){
			.rank = (uint32_t)shim.rank,
			.group = (uint32_t)done->comm->group,
			.counter = done->counter,
			.begin_ns = done->begin_ns,
			.end_ns = done->end_ns > done->begin_ns ? done->end_ns : done->begin_ns,
		};
	}
	if (trace)
		error = morph_phases_learn(learn.phases, trace, length);
	free(trace);
	return error;
}

/* A longer iteration is not learnt; what is known then belongs to another one. */
static bool has_room(uint64_t first, uint64_t length)
{
	uint32_t stages = 1;

	for (uint64_t at = 1; at < length; at++)
		stages += learn.list[first + at].comm != learn.list[first + at - 1].comm;
	if (stages > STAGES)
		shim_say("an iteration of %u stages is too long to learn: at most %d", stages,
			 STAGES);
	return stages <= STAGES;
}

/* @next begins the third equal iteration. */
static void learn_iteration(const struct shim_comm *next)
{
	uint64_t length = find_iteration(next), first = learn.count - 2 * length;
	uint32_t rank = (uint32_t)shim.rank, count;

	if (!length || !has_room(first, length) || report_iteration(first, length) ||
	    report_iteration(first + length, length))
		return;
	count = morph_phases_stages(learn.phases, rank);
	if (count < 2)
		return;
	for (uint32_t at = 0; at < count; at++)
		morph_phases_stage(learn.phases, rank, at, &learn.stages[at]);
	learn.stages_count = count;
	learn.length = length;
	learn.learned++;
	learn.follows = true;
	learn.at = 0;
	learn.in_stage = 1;
}

/*
 * Find a place in the learnt stages where these two follow each other, searching from the last
 * known place.
 */
static void find_again(const struct shim_comm *last, const struct shim_comm *next)
{
	uint32_t count = learn.stages_count;

	for (uint32_t more = 1; more <= count; more++) {
		uint32_t at = (learn.at + more) % count, before = (at + count - 1) % count;

		if ((int)learn.stages[at].group != next->group ||
		    (int)learn.stages[before].group != last->group)
			continue;
		learn.follows = true;
		learn.at = at;
		learn.in_stage = 1;
		return;
	}
}

static bool follow(const struct shim_comm *comm)
{
	const struct morph_stage *stage = &learn.stages[learn.at];

	if (learn.in_stage < stage->count && (int)stage->group == comm->group) {
		learn.in_stage++;
		return true;
	}
	if (learn.in_stage < stage->count)
		return false;
	learn.at = (learn.at + 1) % learn.stages_count;
	learn.in_stage = 1;
	if ((int)learn.stages[learn.at].group != comm->group)
		return false;
	/* Learn the windows of one more equal iteration. */
	if (!learn.at && learn.count >= learn.length)
		report_iteration(learn.count - learn.length, learn.length);
	return true;
}

/* ---------------------------------------------------------------- operations */

static void remember(struct shim_comm *comm)
{
	const uint64_t half = REMEMBERED / 2;
	uint64_t now = shim_now_ns();

	if (learn.count == REMEMBERED) {
		if (!learn.learned)
			shim_say(
				"found no iteration in %d operations; an iteration of more than %llu cannot be learned",
				REMEMBERED, (unsigned long long)half);
		memcpy(learn.list, learn.list + half, half * sizeof(*learn.list));
		learn.first += half;
		learn.count = half;
	}
	learn.list[learn.count++] = (struct done){ comm, comm->operations++, now, 0 };
}

uint64_t shim_learn_begin(struct shim_comm *comm)
{
	struct shim_comm *last = learn.count ? learn.list[learn.count - 1].comm : NULL;

	if (learn.follows && !follow(comm)) {
		learn.follows = false;
		learn.strays++;
	}
	if (!learn.follows && last && last != comm) {
		learn_iteration(comm);
		if (!learn.follows)
			find_again(last, comm);
	}
	remember(comm);
	return learn.first + learn.count - 1;
}

struct shim_comm *shim_learn_end(uint64_t sequence)
{
	if (sequence >= learn.first)
		learn.list[sequence - learn.first].end_ns = shim_now_ns();
	/* Only the last operation of a stage announces the next one. */
	if (!learn.follows || learn.in_stage < learn.stages[learn.at].count ||
	    sequence != learn.first + learn.count - 1)
		return NULL;
	return shim_comm_of_group(learn.stages[(learn.at + 1) % learn.stages_count].group);
}
