// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Circuits that all jobs share: the largest demand per circuit is least.
 *
 * Flows first take the circuits that the policy wants for them, in order. Then each pair without
 * a circuit gets one, in the order of its first flow, while both ends have ports: it is admitted.
 * The other pairs wait. Filling then adds one circuit after the other, always to the pair with the
 * largest demand per circuit.
 *
 * The first pair p that cannot rise proves the optimum T = demand(p) / circuits(p). Let q be
 * another pair at the full end, with x circuits. Filling gave q its last circuit when q had the
 * largest demand per circuit, so demand(q) / (x - 1) >= T. With any T' < T, q therefore needs at
 * least x circuits, and p needs one more than it has. This exceeds the ports. A binary search on
 * T (ATRO, arXiv 2507.13717) finds the same T. Filling continues with the other pairs, so that no
 * port stays unused. Of equal pairs, filling prefers one whose next circuit is lit.
 *
 * O(circuits log(pairs)).
 */
#include "../util/heap.h"
#include "jobs.h"

struct filling {
	struct jobs_pair *pairs;
	uint32_t *heap;
	uint32_t held;
};

static uint32_t pair_at(const struct filling *filling, size_t place)
{
	return place == HEAP_HELD ? filling->held : filling->heap[place];
}

/* More demand per circuit first, then a lit circuit, then the lower number. */
static bool before(const void *context, size_t one, size_t other)
{
	const struct filling *filling = context;
	uint32_t first = pair_at(filling, one), second = pair_at(filling, other);
	const struct jobs_pair *a = &filling->pairs[first], *b = &filling->pairs[second];
	jobs_wide mine = (jobs_wide)a->demand * b->circuits;
	jobs_wide its = (jobs_wide)b->demand * a->circuits;

	if (mine != its)
		return mine > its;
	if ((a->circuits < a->lit) != (b->circuits < b->lit))
		return a->circuits < a->lit;
	return first < second;
}

static void move(void *context, size_t to, size_t from)
{
	struct filling *filling = context;
	uint32_t pair = pair_at(filling, from);

	if (to == HEAP_HELD)
		filling->held = pair;
	else
		filling->heap[to] = pair;
}

static bool add_circuit(struct morph_jobs *jobs, struct jobs_pair *pair)
{
	struct jobs_site *one = &jobs->sites.list[pair->one];
	struct jobs_site *other = &jobs->sites.list[pair->other];

	if (pair->circuits >= pair->most || !one->free || !other->free)
		return false;
	pair->circuits++;
	one->free--;
	other->free--;
	return true;
}

/* Give flows the circuits that the policy wants for them, in order. */
static void take(struct morph_jobs *jobs)
{
	for (uint32_t at = 0; at < jobs->flows.count; at++) {
		const struct jobs_flow *flow = &jobs->flows.list[at];
		struct jobs_pair *pair = &jobs->pairs.list[flow->pair];
		struct morph_jobs_view view;
		uint64_t most = pair->most * jobs->problem.circuit_bps, wanted;

		lm_jobs_view(jobs, flow->job, flow->part, &view);
		wanted = jobs->rules.circuits(&view);
		pair->wanted_bps += wanted < most - pair->wanted_bps ? wanted :
								       most - pair->wanted_bps;
		while (pair->circuits * jobs->problem.circuit_bps < pair->wanted_bps &&
		       add_circuit(jobs, pair))
			;
	}
}

static void certify(struct morph_jobs *jobs, const struct jobs_pair *pair)
{
	uint32_t site = MORPH_ANY;

	if (pair->circuits < pair->most)
		site = jobs->sites.list[pair->one].free ? pair->other : pair->one;
	jobs->decision.worst = (struct morph_jobs_worst){
		.one = pair->one,
		.other = pair->other,
		.demand = pair->demand,
		.circuits = pair->circuits,
		.site = site,
	};
}

/* Pairs without demand get no circuits. */
void lm_jobs_fill(struct morph_jobs *jobs, const uint32_t *pairs, uint32_t pair_count)
{
	struct filling filling = { .pairs = jobs->pairs.list, .heap = jobs->heap.list };
	uint32_t count = 0;

	for (uint32_t at = 0; at < pair_count; at++) {
		struct jobs_pair *pair = &jobs->pairs.list[pairs[at]];

		if (pair->demand && (pair->circuits || add_circuit(jobs, pair)))
			filling.heap[count++] = pairs[at];
	}
	heap_build(&filling, count, before, move);
	while (count) {
		struct jobs_pair *pair = &jobs->pairs.list[filling.heap[0]];

		if (!add_circuit(jobs, pair)) {
			if (jobs->decision.worst.one == MORPH_ANY)
				certify(jobs, pair);
			filling.heap[0] = filling.heap[--count];
		}
		if (count)
			heap_sink(&filling, 0, count, before, move);
	}
}

void lm_jobs_share_circuits(struct morph_jobs *jobs)
{
	take(jobs);
	lm_jobs_fill(jobs, jobs->used.list, jobs->used.count);
}
