// SPDX-License-Identifier: LGPL-2.1-or-later
/* Simulation of failures and repairs in the order of time, in replications. */
#include <math.h>

#include "coverage.h"
#include "../util/mix.h"
#include "../util/student.h"
#include "../model/router.h"
#include "../util/heap.h"

#define REPLICATIONS 20
#define FAILURES 500

/* ------------------------------------------------------------------ memory */

static bool remake(void *list, size_t count, size_t bytes)
{
	void *made = calloc(count ? count : 1, bytes), *old;

	memcpy(&old, list, sizeof(old));
	free(old);
	memcpy(list, &made, sizeof(made));
	return made;
}

static bool make_block(struct cover_block *block, void *now, size_t bytes)
{
	void *first = malloc(bytes ? bytes : 1);

	free(block->first);
	*block = (struct cover_block){ .now = now, .first = first, .bytes = bytes };
	if (first && bytes)
		memcpy(first, now, bytes);
	return first;
}

static uint32_t count_things(const struct morph_coverage *coverage, uint32_t part)
{
	switch (part) {
	case MORPH_COVERAGE_ACCELERATOR:
		return coverage->graph->accelerators_count;
	case MORPH_COVERAGE_LASER:
		return coverage->graph->ports_count;
	case MORPH_COVERAGE_SERVER:
		return coverage->graph->hosts_count;
	case MORPH_COVERAGE_SUPPLY:
		return coverage->supplies_count;
	default:
		return coverage->hosts.bundles_count;
	}
}

/* Failures of an accelerator without rank or role do not count. */
static bool matters(const struct morph_coverage *coverage, uint32_t part, uint32_t index)
{
	uint32_t chip = part == MORPH_COVERAGE_LASER ? index / coverage->graph->params.planes :
						       index;

	if (part != MORPH_COVERAGE_ACCELERATOR && part != MORPH_COVERAGE_LASER)
		return true;
	return coverage->chips[chip].spare || coverage->chips[chip].rank != COVER_NONE;
}

static bool make_things(struct morph_coverage *coverage)
{
	uint32_t most = 0;

	for (uint32_t part = 0; part < MORPH_COVERAGE_PARTS; part++)
		most += count_things(coverage, part);
	if (!remake(&coverage->things, most, sizeof(*coverage->things)) ||
	    !remake(&coverage->heap, most, sizeof(*coverage->heap)))
		return false;
	coverage->things_count = 0;
	for (uint32_t part = 0; part < MORPH_COVERAGE_PARTS; part++)
		for (uint32_t at = 0; at < count_things(coverage, part); at++)
			if (coverage->rates[part].active > 0 && matters(coverage, part, at))
				coverage->things[coverage->things_count++] =
					(struct cover_thing){ .part = part, .index = at };
	return true;
}

/* List the circuits of each rank. Every circuit has two ranks. */
static bool list_circuits(struct morph_coverage *coverage)
{
	uint32_t *first;

	if (!remake(&coverage->first_circuit, coverage->ranks_count + 2, sizeof(uint32_t)) ||
	    !remake(&coverage->of_rank, 2 * (size_t)coverage->circuits_count, sizeof(uint32_t)))
		return false;
	first = coverage->first_circuit;
	coverage->wanted = coverage->ends_count = 0;
	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		first[coverage->circuits[at].src + 2]++;
		first[coverage->circuits[at].dst + 2]++;
		coverage->wanted += coverage->circuits[at].lanes;
	}
	for (uint32_t rank = 0; rank < coverage->ranks_count; rank++) {
		if (first[rank + 2] > coverage->ends_count)
			coverage->ends_count = first[rank + 2];
		first[rank + 2] += first[rank + 1];
	}
	for (uint32_t at = 0; at < coverage->circuits_count; at++) {
		coverage->of_rank[first[coverage->circuits[at].src + 1]++] = at;
		coverage->of_rank[first[coverage->circuits[at].dst + 1]++] = at;
	}
	return remake(&coverage->paths, coverage->ends_count, sizeof(*coverage->paths));
}

static bool make_room(struct morph_coverage *coverage)
{
	const struct optics_graph *graph = coverage->graph;

	coverage->spares_count = 0;
	for (uint32_t at = 0; at < graph->accelerators_count; at++)
		coverage->spares_count += coverage->chips[at].spare;
	return make_block(&coverage->blocks[COVER_STATE], coverage->state,
			  optics_state_bytes(graph)) &&
	       make_block(&coverage->blocks[COVER_RANKS], coverage->ranks,
			  coverage->ranks_count * sizeof(*coverage->ranks)) &&
	       make_block(&coverage->blocks[COVER_CIRCUITS], coverage->circuits,
			  coverage->circuits_count * sizeof(*coverage->circuits)) &&
	       make_block(&coverage->blocks[COVER_CHIPS], coverage->chips,
			  graph->accelerators_count * sizeof(*coverage->chips)) &&
	       list_circuits(coverage) && make_things(coverage) &&
	       remake(&coverage->kept_ranks, coverage->ranks_count,
		      sizeof(*coverage->kept_ranks)) &&
	       remake(&coverage->kept_circuits, coverage->circuits_count,
		      sizeof(*coverage->kept_circuits)) &&
	       remake(&coverage->hit_ranks, coverage->ranks_count, sizeof(uint32_t)) &&
	       remake(&coverage->hit_circuits, coverage->circuits_count, sizeof(uint32_t)) &&
	       remake(&coverage->distances, coverage->hosts.nodes_count, sizeof(uint32_t)) &&
	       remake(&coverage->queue, coverage->hosts.nodes_count, sizeof(uint32_t)) &&
	       remake(&coverage->host_causes, graph->hosts_count, sizeof(uint16_t));
}

/* Restore the initial state. */
static void restore(struct morph_coverage *coverage)
{
	for (size_t at = 0; at < ARRAY_SIZE(coverage->blocks); at++) {
		const struct cover_block *block = &coverage->blocks[at];

		if (block->bytes)
			memcpy(block->now, block->first, block->bytes);
	}
	memset(coverage->host_causes, 0,
	       coverage->graph->hosts_count * sizeof(*coverage->host_causes));
	coverage->down = 0;
	coverage->lit = coverage->wanted;
	coverage->tally = (struct cover_tally){ 0 };
}

static int prepare(struct morph_coverage *coverage, uint32_t steps, bool revertive)
{
	void *work;

	coverage->revertive = revertive;
	if (!coverage->ranks_count)
		return lm_fail(coverage->ctx, EINVAL, "no slice was added");
	coverage->steps = steps ? steps : OPTICS_ROUTE_STEPS;
	if (coverage->steps > coverage->work_steps) {
		work = router_work(coverage->steps);
		if (!work)
			return lm_no_memory(coverage->ctx, "find coverage");
		free(coverage->work);
		coverage->work = work;
		coverage->work_steps = coverage->steps;
	}
	if (!coverage->ready && !make_room(coverage))
		return lm_no_memory(coverage->ctx, "find coverage");
	coverage->ready = true;
	return 0;
}

/* ------------------------------------------------------------------- events */

static double draw(uint64_t *random, double mean)
{
	return -log(1 - mix_unit(mix_next(random))) * mean;
}

/* A heap of things, the next one to change first. */
struct agenda {
	const struct cover_thing *things;
	uint32_t *heap, held;
};

static struct agenda agenda_of(const struct morph_coverage *coverage)
{
	return (struct agenda){ .things = coverage->things, .heap = coverage->heap };
}

static uint32_t at_place(const struct agenda *agenda, size_t place)
{
	return place == HEAP_HELD ? agenda->held : agenda->heap[place];
}

static bool is_before(const void *context, size_t one, size_t other)
{
	const struct agenda *agenda = context;

	return agenda->things[at_place(agenda, one)].next <
	       agenda->things[at_place(agenda, other)].next;
}

static void move(void *context, size_t to, size_t from)
{
	struct agenda *agenda = context;

	*(to == HEAP_HELD ? &agenda->held : &agenda->heap[to]) = at_place(agenda, from);
}

/* Draw the initial state: each thing is down with its mean share of time. */
static void begin(struct morph_coverage *coverage, uint64_t *random)
{
	struct agenda agenda = agenda_of(coverage);

	restore(coverage);
	for (uint32_t at = 0; at < coverage->things_count; at++) {
		struct cover_thing *thing = &coverage->things[at];
		const struct cover_rate *rate = &coverage->rates[thing->part];
		bool down = mix_unit(mix_next(random)) <
			    rate->repair / (rate->active + rate->repair);

		thing->down = false;
		thing->next = draw(random, down ? rate->repair : rate->active);
		coverage->heap[at] = at;
		if (down)
			lm_cover_change(coverage, thing, true);
	}
	heap_build(&agenda, coverage->things_count, is_before, move);
	coverage->tally = (struct cover_tally){ 0 };
}

static bool any_waits(const struct morph_coverage *coverage)
{
	for (uint32_t rank = 0; rank < coverage->ranks_count; rank++)
		if (coverage->ranks[rank].failed)
			return true;
	return false;
}

/* Integrate the present state until @time. */
static void let_pass(struct morph_coverage *coverage, double time)
{
	struct cover_tally *tally = &coverage->tally;
	double passed = time - tally->time;

	tally->time = time;
	tally->waiting += any_waits(coverage) ? passed : 0;
	tally->counted_waiting += coverage->down > coverage->spares_count ? passed : 0;
	tally->bandwidth += passed * (double)coverage->lit;
}

static void replicate(struct morph_coverage *coverage, uint64_t random, uint32_t failures)
{
	struct agenda agenda = agenda_of(coverage);

	begin(coverage, &random);
	while (coverage->tally.failures < failures) {
		struct cover_thing *thing = &coverage->things[coverage->heap[0]];
		const struct cover_rate *rate = &coverage->rates[thing->part];

		let_pass(coverage, thing->next);
		lm_cover_change(coverage, thing, !thing->down);
		thing->next += draw(&random, thing->down ? rate->repair : rate->active);
		heap_sink(&agenda, 0, coverage->things_count, is_before, move);
	}
}

/* ------------------------------------------------------------------ answers */

/* The figures of a replication, in the order of the result. */
#define FIGURES 5

struct sums {
	double values[FIGURES], squares[FIGURES]; /* squares: squared distances from the mean */
	uint32_t count;
	int64_t extra_fibres;
};

static void add_up(struct morph_coverage *coverage, struct sums *sums,
		   struct morph_coverage_result *result)
{
	const struct cover_tally *tally = &coverage->tally;
	double failures = tally->failures ? (double)tally->failures : 1;
	double time = tally->time > 0 ? tally->time : 1;
	double wanted = coverage->wanted ? (double)coverage->wanted : 1;
	const double figures[FIGURES] = {
		(double)tally->outcomes[COVER_REPLACED] / failures,
		(double)tally->counted / failures,
		tally->waiting / time,
		tally->counted_waiting / time,
		coverage->wanted ? tally->bandwidth / time / wanted : 1,
	};

	sums->count++;
	for (int at = 0; at < FIGURES; at++) {
		/* Welford, Technometrics 4, 1962. */
		double off = figures[at] - sums->values[at];

		sums->values[at] += off / sums->count;
		sums->squares[at] += off * (figures[at] - sums->values[at]);
	}
	sums->extra_fibres += tally->extra_fibres;
	result->failures += tally->failures;
	result->replaced += tally->outcomes[COVER_REPLACED];
	result->no_spare += tally->outcomes[COVER_NO_SPARE];
	result->no_route += tally->outcomes[COVER_NO_ROUTE];
	result->no_margin += tally->outcomes[COVER_NO_MARGIN];
	result->gave_up += tally->outcomes[COVER_GAVE_UP];
	result->rerouted += tally->rerouted;
	result->dark += tally->dark;
	result->moved += tally->moved;
}

static void set_result(const struct morph_coverage *coverage, const struct sums *sums,
		       struct morph_coverage_result *result, struct morph_coverage_result *out)
{
	struct morph_coverage_estimate *const estimates[FIGURES] = {
		&result->covered,	  &result->counted,   &result->waiting,
		&result->counted_waiting, &result->bandwidth,
	};

	for (int at = 0; at < FIGURES; at++) {
		double freedom = sums->count - 1;
		double half = sums->count < 2 ?
				      0 :
				      student_quantile(freedom) *
					      sqrt(sums->squares[at] / freedom / sums->count);

		*estimates[at] = (struct morph_coverage_estimate){
			.mean = sums->values[at],
			.low = fmax(sums->values[at] - half, 0),
			.high = fmin(sums->values[at] + half, 1),
		};
	}
	result->sz = out->sz;
	result->least_margin_mdb = coverage->least_margin;
	result->extra_fibres = result->moved ? (double)sums->extra_fibres / (double)result->moved :
					       0;
	memcpy(out, result, out->sz < sizeof(*result) ? out->sz : sizeof(*result));
}

static int check_opts(const struct morph_coverage *coverage, const struct morph_coverage_opts *opts,
		      struct morph_coverage_opts *mine)
{
	int error = lm_opts_check(coverage->ctx, opts, sizeof(*mine), "morph_coverage_opts");

	if (error)
		return error;
	lm_opts_copy(mine, opts, sizeof(*mine));
	if (!mine->replications)
		mine->replications = REPLICATIONS;
	if (!mine->failures)
		mine->failures = FAILURES;
	if (mine->replications < 2)
		return lm_fail(coverage->ctx, EINVAL,
			       "an interval requires at least 2 replications, not 1");
	return 0;
}

/* Whether any accelerator of a slice can fail. If not, a run would never end. */
static bool any_fails(const struct morph_coverage *coverage)
{
	for (uint32_t at = 0; at < coverage->things_count; at++)
		if (coverage->things[at].part == MORPH_COVERAGE_ACCELERATOR ||
		    coverage->things[at].part == MORPH_COVERAGE_SERVER)
			return true;
	return false;
}

int morph_coverage_run(struct morph_coverage *coverage, const struct morph_coverage_opts *opts,
		       struct morph_coverage_result *out)
{
	struct morph_coverage_result result = { 0 };
	struct morph_coverage_opts mine = { 0 };
	struct sums sums = { 0 };
	int error = lm_opts_check(coverage->ctx, out, sizeof(*out), "morph_coverage_result");

	if (!error)
		error = check_opts(coverage, opts, &mine);
	if (!error)
		error = prepare(coverage, mine.steps, mine.revertive);
	if (!error && !any_fails(coverage))
		error = lm_fail(coverage->ctx, EINVAL,
				"neither accelerators nor servers have a rate: nothing would fail");
	if (error)
		return error;
	for (uint32_t at = 0; at < mine.replications; at++) {
		replicate(coverage, mix(mine.seed) ^ mix(at + 1), mine.failures);
		add_up(coverage, &sums, &result);
	}
	restore(coverage);
	set_result(coverage, &sums, &result, out);
	return 0;
}

int morph_coverage_try(struct morph_coverage *coverage, const uint32_t *accelerators, size_t count,
		       struct morph_coverage_result *out)
{
	struct morph_coverage_result result = { 0 };
	struct sums sums = { 0 };
	int error = lm_opts_check(coverage->ctx, out, sizeof(*out), "morph_coverage_result");

	for (size_t at = 0; !error && at < count; at++)
		if (accelerators[at] >= coverage->graph->accelerators_count)
			error = lm_fail(coverage->ctx, ENOENT,
					"no accelerator %u: the fabric has %u", accelerators[at],
					coverage->graph->accelerators_count);
	if (!error)
		error = prepare(coverage, 0, false);
	if (error)
		return error;
	restore(coverage);
	for (size_t at = 0; at < count; at++) {
		struct cover_thing thing = { .part = MORPH_COVERAGE_ACCELERATOR,
					     .index = accelerators[at] };

		lm_cover_change(coverage, &thing, true);
	}
	let_pass(coverage, 1);
	add_up(coverage, &sums, &result);
	restore(coverage);
	set_result(coverage, &sums, &result, out);
	return 0;
}
