// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From steps to transactions: paths inside servers, each in the state that the fabric will then
 * have.
 */
#include <errno.h>

#include "defrag.h"
#include "../place/light.h"

/* Progress through the steps. */
struct walk {
	struct morph_defrag *defrag;
	struct lighting lighting;
};

/* ----------------------------------------------------------------------- a step */

/* The circuits that a step lights. */
static void want(struct walk *walk, const struct step *step)
{
	const struct morph_defrag *defrag = walk->defrag;
	const struct morph_plan *plan = lm_defrag_plan_of(defrag, step->slice);
	struct running *running = step->slice ? lm_defrag_running(defrag, step->slice) : NULL;

	walk->lighting.owner = step->slice ? step->slice : LIGHT_OWNER;
	walk->lighting.transit_own = plan->transit == MORPH_TRANSIT_OWN;
	walk->lighting.count = step->count;
	for (uint32_t at = 0; at < step->count; at++) {
		const struct change *change = &defrag->changes.list[step->first + at];
		const struct rank_pair *pair = &plan->circuits[change->circuit];
		struct lit *lit = running ? &running->lit[change->circuit] : NULL;
		bool moves = lit && lit->path.hops_count;

		walk->lighting.wanted[at] = (struct wanted){
			.ranks = *pair,
			.src = plan->accelerators[pair->src],
			.dst = plan->accelerators[pair->dst],
			.lanes = lit ? optics_weight64(lit->path.lanes) : plan->lanes,
			.among = walk->lighting.ledger->graph->all_lanes,
			.strands = &defrag->strands.list[change->first],
			.count = change->count,
			.old = moves ? &lit->path : NULL,
			.dark = step->kind == MORPH_DEFRAG_SWITCH,
		};
		if (step->kind == MORPH_DEFRAG_SWITCH && moves)
			optics_release(walk->lighting.ledger->state, &lit->path);
	}
}

/* An earlier step can use a planned fibre. Choose another one between the same servers. */
static void choose_again(struct walk *walk, struct wanted *wanted)
{
	const struct morph_ledger *ledger = walk->lighting.ledger;
	const struct sites *sites = &ledger->sites;

	for (uint32_t at = 0; at < wanted->count; at++) {
		struct strand *strand = &wanted->strands[at];
		uint32_t other = sites->strands_first[strand->from];

		if (!ledger->state->guide_lanes[strand->guides[0] >> 1])
			continue;
		for (; other < sites->strands_first[strand->from + 1]; other++)
			if (sites->strands[other].to == strand->to &&
			    sites->strands[other].guides_count == 1 &&
			    lm_strand_healthy(ledger, &sites->strands[other]) &&
			    lm_strand_unkept(ledger, &sites->strands[other]) &&
			    !ledger->state->guide_lanes[sites->strands[other].guides[0] >> 1])
				*strand = sites->strands[other];
	}
}

/* Record the guides of each change, and the new paths as lit. */
static int keep(struct walk *walk, const struct step *step)
{
	struct morph_defrag *defrag = walk->defrag;
	struct running *running = step->slice ? lm_defrag_running(defrag, step->slice) : NULL;

	for (uint32_t at = 0; at < step->count; at++) {
		struct change *change = &defrag->changes.list[step->first + at];
		const struct optics_path *path = &walk->lighting.paths[at];
		int ret = DEFRAG_GROW(defrag, guides, OPTICS_MAX_HOPS);

		if (ret)
			return ret;
		change->guides_first = defrag->guides.count;
		change->guides_count =
			lm_light_guides(path, &defrag->guides.list[defrag->guides.count]);
		defrag->guides.count += change->guides_count;
		change->lanes = path->lanes;
		change->dark = step->kind == MORPH_DEFRAG_MOVE && walk->lighting.wanted[at].dark;
		if (running) {
			struct optics_path *mine = &running->lit[change->circuit].path;
			struct optics_hop *hops = mine->hops;

			memcpy(hops, path->hops, path->hops_count * sizeof(*hops));
			*mine = *path;
			mine->hops = hops;
		}
	}
	return 0;
}

static void go_out(struct walk *walk, const struct step *step)
{
	struct running *running = lm_defrag_running(walk->defrag, step->slice);

	for (uint32_t at = 0; at < step->count; at++) {
		const struct change *change = &walk->defrag->changes.list[step->first + at];
		struct optics_path *path = &running->lit[change->circuit].path;

		optics_release(walk->lighting.ledger->state, path);
		path->hops_count = 0;
	}
}

static int do_step(struct walk *walk, const struct step *step)
{
	int ret;

	if (step->kind == MORPH_DEFRAG_BREAK) {
		go_out(walk, step);
		return 0;
	}
	want(walk, step);
	for (uint32_t at = 0; at < step->count; at++)
		choose_again(walk, &walk->lighting.wanted[at]);
	ret = lm_light(&walk->lighting);
	return ret ? ret : keep(walk, step);
}

/* -------------------------------------------------------------------- all of them */

/* The paths of the kernel before the walk, which changes them. */
struct paths_before {
	struct lit *lit;
	struct optics_hop *hops;
};

static int save_paths(struct morph_defrag *defrag, struct paths_before *before)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct running *running = &defrag->slices.list[at];
		size_t count = running->plan->circuits_count + 1UL;
		size_t hops = count * OPTICS_MAX_HOPS;

		before[at].lit = malloc(count * sizeof(*running->lit));
		before[at].hops = malloc(hops * sizeof(*running->hops));
		if (!before[at].lit || !before[at].hops)
			return lm_no_memory(defrag->ctx, "light the moves");
		memcpy(before[at].lit, running->lit, count * sizeof(*running->lit));
		memcpy(before[at].hops, running->hops, hops * sizeof(*running->hops));
	}
	return 0;
}

static void restore_paths(struct morph_defrag *defrag, struct paths_before *before, bool saved)
{
	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		struct running *running = &defrag->slices.list[at];
		size_t count = running->plan->circuits_count + 1UL;

		if (saved) {
			memcpy(running->lit, before[at].lit, count * sizeof(*running->lit));
			memcpy(running->hops, before[at].hops,
			       count * OPTICS_MAX_HOPS * sizeof(*running->hops));
		}
		free(before[at].lit);
		free(before[at].hops);
	}
	free(before);
}

static int walk_steps(struct walk *walk)
{
	struct morph_defrag *defrag = walk->defrag;
	struct paths_before *paths = calloc(defrag->slices.count + 1UL, sizeof(*paths));
	struct light_before before;
	int ret = 0;

	if (!paths)
		return lm_no_memory(defrag->ctx, "light the moves");
	ret = save_paths(defrag, paths);
	if (ret) {
		restore_paths(defrag, paths, false);
		return ret;
	}
	ret = lm_light_begin(walk->lighting.ledger, defrag->plan, &before);
	if (!ret) {
		for (uint32_t at = 0; at < defrag->steps.count && !ret; at++)
			ret = do_step(walk, &defrag->steps.list[at]);
		lm_light_end(walk->lighting.ledger, &before);
	}
	restore_paths(defrag, paths, true);
	return ret;
}

static int check(const struct morph_defrag *defrag, const struct morph_ledger *ledger)
{
	if (defrag->verdict != MORPH_FEASIBLE)
		return lm_fail(defrag->ctx, EINVAL, "no feasible answer to light");
	if (defrag->plan->checksum != ledger->graph->params.checksum || !ledger->state)
		return lm_fail(defrag->ctx, EINVAL,
			       "the ledger was not read by morph_defrag_read() for this answer");
	for (uint32_t at = 0; at < defrag->slices.count; at++)
		if (!defrag->slices.list[at].lit)
			return lm_fail(defrag->ctx, EINVAL,
				       "slice %u was added as a plan, so its light is unknown",
				       defrag->slices.list[at].slice);
	return 0;
}

/* Record the fibres of the request's circuits in its plan, because they can differ from before. */
static void note_request(struct morph_defrag *defrag)
{
	const struct step *step = &defrag->steps.list[defrag->steps.count - 1];
	struct morph_plan *plan = defrag->plan;

	for (uint32_t at = 0; at < step->count; at++) {
		const struct change *change = &defrag->changes.list[step->first + at];

		if (change->count)
			memcpy(&plan->strands[plan->ways[change->circuit].first],
			       &defrag->strands.list[change->first],
			       change->count * sizeof(*plan->strands));
	}
}

MORPH_API int morph_defrag_light(struct morph_defrag *defrag, struct morph_ledger *ledger,
				 struct morph_defrag_result *out)
{
	struct walk walk = { .defrag = defrag, .lighting = { .ledger = ledger } };
	uint32_t most = 0;
	int ret = lm_opts_check(defrag->ctx, out, sizeof(*out), "morph_defrag_result");

	if (!ret)
		ret = check(defrag, ledger);
	if (ret)
		return ret;
	defrag->lit = false;
	defrag->guides.count = 0;
	for (uint32_t at = 0; at < defrag->steps.count; at++)
		if (defrag->steps.list[at].count > most)
			most = defrag->steps.list[at].count;
	walk.lighting.wanted = calloc(most + 1UL, sizeof(*walk.lighting.wanted));
	if (!walk.lighting.wanted)
		return lm_no_memory(defrag->ctx, "light the moves");
	ret = lm_light_room(&walk.lighting, most);
	if (!ret)
		ret = walk_steps(&walk);
	if (!ret)
		ret = lm_defrag_report_tenants(defrag);
	lm_light_free(&walk.lighting);
	free(walk.lighting.wanted);
	if (ret)
		return ret;
	note_request(defrag);
	defrag->lit = true;
	if (out)
		lm_defrag_report(defrag, out);
	return 0;
}

/* ------------------------------------------------------------------- transactions */

static int add_change(struct morph_txn *txn, const struct morph_defrag *defrag,
		      const struct step *step, const struct change *change)
{
	const struct rank_pair *pair =
		&lm_defrag_plan_of(defrag, step->slice)->circuits[change->circuit];
	uint32_t number = 0;
	MORPH_OPTS(morph_circuit_opts, opts, .guides = &defrag->guides.list[change->guides_first],
		   .guides_count = change->guides_count, .lanes = change->lanes,
		   .lanes_count = optics_weight64(change->lanes));

	if (step->slice)
		number = lm_defrag_running(defrag, step->slice)->lit[change->circuit].number;
	switch (step->kind) {
	case MORPH_DEFRAG_BREAK:
		return morph_txn_remove(txn, number);
	case MORPH_DEFRAG_MOVE:
	case MORPH_DEFRAG_SWITCH:
		return morph_txn_move(txn, number, &opts);
	default:
		return morph_txn_add(txn, pair->src, pair->dst, &opts);
	}
}

MORPH_API int morph_txn_add_step(struct morph_txn *txn, const struct morph_defrag *defrag,
				 uint32_t number)
{
	size_t before = morph_txn_count(txn);
	const struct step *step;
	int ret = 0;

	if (!defrag->lit)
		return lm_fail(defrag->ctx, EINVAL,
			       "paths inside servers are missing; call morph_defrag_light() first");
	if (number >= defrag->steps.count)
		return lm_fail(defrag->ctx, ENOENT, "no step %u: there are %u steps", number,
			       defrag->steps.count);
	step = &defrag->steps.list[number];
	for (uint32_t at = 0; at < step->count && ret >= 0; at++)
		ret = add_change(txn, defrag, step, &defrag->changes.list[step->first + at]);
	if (ret < 0)
		morph_txn_truncate(txn, before);
	return ret < 0 ? ret : 0;
}

/* Whether a circuit becomes lit again between two steps. */
static bool made(const struct morph_defrag *defrag, uint32_t from, uint32_t to, uint32_t slice,
		 uint32_t circuit)
{
	for (uint32_t at = from; at < to; at++) {
		const struct step *step = &defrag->steps.list[at];

		for (uint32_t its = 0; step->slice == slice && its < step->count; its++)
			if (step->kind == MORPH_DEFRAG_MAKE &&
			    defrag->changes.list[step->first + its].circuit == circuit)
				return true;
	}
	return false;
}

MORPH_API int morph_txn_add_broken(struct morph_txn *txn, const struct morph_defrag *defrag,
				   uint32_t done, uint32_t slice)
{
	size_t before = morph_txn_count(txn);
	int ret = 0;

	if (!defrag->lit || done > defrag->steps.count)
		return lm_fail(defrag->ctx, EINVAL, "%u steps cannot have run: there are %u steps",
			       done, defrag->lit ? defrag->steps.count : 0);
	for (uint32_t at = 0; at < done && ret >= 0; at++) {
		const struct step *step = &defrag->steps.list[at];

		for (uint32_t its = 0; its < step->count && ret >= 0; its++) {
			uint32_t circuit = defrag->changes.list[step->first + its].circuit;
			const struct running *running;
			const struct rank_pair *pair;
			MORPH_OPTS(morph_circuit_opts, opts);

			if (step->slice != slice || step->kind != MORPH_DEFRAG_BREAK ||
			    made(defrag, at, done, slice, circuit))
				continue;
			running = lm_defrag_running(defrag, slice);
			pair = &running->plan->circuits[circuit];
			opts.lanes_count = optics_weight64(running->lit[circuit].path.lanes);
			ret = morph_txn_add(txn, pair->src, pair->dst, &opts);
		}
	}
	if (ret < 0)
		morph_txn_truncate(txn, before);
	return ret < 0 ? ret : 0;
}
