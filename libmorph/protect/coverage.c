// SPDX-License-Identifier: LGPL-2.1-or-later
/* Building a model of coverage: the light of a fabric, and the parts that can fail. */
#include "coverage.h"
#include "../model/router.h"

static int no_memory(struct morph_ctx *ctx)
{
	return lm_no_memory(ctx, "build a model of coverage");
}

static bool make_arrays(struct morph_coverage *coverage)
{
	const struct optics_graph *graph = coverage->graph;
	void *block = malloc(optics_state_bytes(graph));

	coverage->steps = coverage->work_steps = OPTICS_ROUTE_STEPS;
	coverage->work = router_work(coverage->steps);
	coverage->chips = calloc(graph->accelerators_count, sizeof(*coverage->chips));
	coverage->slices = calloc(graph->accelerators_count + 1, sizeof(*coverage->slices));
	coverage->ranks = calloc(graph->accelerators_count + 1, sizeof(*coverage->ranks));
	coverage->supplies = calloc(1, sizeof(*coverage->supplies));
	if (block)
		coverage->state = optics_state_init(block, graph);
	return block && coverage->work && coverage->chips && coverage->slices && coverage->ranks &&
	       coverage->supplies;
}

struct morph_coverage *morph_coverage_new(struct morph_ctx *ctx, struct morph_model *model)
{
	struct morph_coverage *coverage = calloc(1, sizeof(*coverage));

	if (!coverage) {
		no_memory(ctx);
		return NULL;
	}
	coverage->ctx = ctx;
	coverage->model = morph_model_get(model);
	coverage->graph = lm_model_graph(model);
	coverage->least_margin = INT32_MAX;
	if (!make_arrays(coverage) || lm_hosts_make(ctx, &coverage->hosts, coverage->graph)) {
		no_memory(ctx);
		morph_coverage_free(coverage);
		return NULL;
	}
	for (uint32_t at = 0; at < coverage->graph->accelerators_count; at++)
		coverage->chips[at] = (struct cover_chip){
			.rank = COVER_NONE,
			.spare = coverage->graph->accelerators[at].flags &
				 MORPH_ACCELERATOR_F_SPARE,
		};
	return coverage;
}

void morph_coverage_free(struct morph_coverage *coverage)
{
	if (!coverage)
		return;
	lm_hosts_free(&coverage->hosts);
	for (size_t at = 0; at < ARRAY_SIZE(coverage->blocks); at++)
		free(coverage->blocks[at].first);
	free(coverage->state);
	free(coverage->ranks);
	free(coverage->circuits);
	free(coverage->chips);
	free(coverage->slices);
	free(coverage->supplies);
	free(coverage->supplied);
	free(coverage->first_circuit);
	free(coverage->of_rank);
	free(coverage->paths);
	free(coverage->kept_ranks);
	free(coverage->kept_circuits);
	free(coverage->hit_ranks);
	free(coverage->hit_circuits);
	free(coverage->distances);
	free(coverage->queue);
	free(coverage->things);
	free(coverage->heap);
	free(coverage->host_causes);
	free(coverage->work);
	morph_model_put(coverage->model);
	free(coverage);
}

static int check_accelerator(const struct morph_coverage *coverage, uint32_t accelerator)
{
	uint32_t count = coverage->graph->accelerators_count;

	if (accelerator < count)
		return 0;
	return lm_fail(coverage->ctx, ENOENT, "no accelerator %u: the fabric has %u", accelerator,
		       count);
}

int morph_coverage_add_slice(struct morph_coverage *coverage, const uint32_t *accelerators,
			     size_t count)
{
	uint32_t rank = coverage->ranks_count, slice = coverage->slices_count;
	int error = 0;

	if (!count)
		return lm_fail(coverage->ctx, EINVAL, "a slice requires at least 1 accelerator");
	for (size_t at = 0; !error && at < count; at++) {
		uint32_t accelerator = accelerators[at];

		error = check_accelerator(coverage, accelerator);
		if (error)
			break;
		if (coverage->chips[accelerator].spare ||
		    coverage->chips[accelerator].rank != COVER_NONE) {
			error = lm_fail(coverage->ctx, EBUSY, "accelerator %u is %s", accelerator,
					coverage->chips[accelerator].spare ? "a spare" :
									     "already in a slice");
			break;
		}
		coverage->chips[accelerator].rank = rank;
		coverage->ranks[rank++] = (struct cover_rank){
			.slice = slice,
			.accelerator = accelerator,
			.home = accelerator,
		};
	}
	if (error) {
		while (rank-- > coverage->ranks_count)
			coverage->chips[coverage->ranks[rank].accelerator].rank = COVER_NONE;
		return error;
	}
	for (; coverage->ranks_count < rank; coverage->ranks_count++)
		coverage->state->owner[coverage->ranks[coverage->ranks_count].accelerator] =
			slice + 1;
	coverage->ready = false;
	coverage->slices[++coverage->slices_count] = rank;
	return (int)slice;
}

static int check_circuit(const struct morph_coverage *coverage, uint32_t slice,
			 const struct morph_coverage_circuit *circuit)
{
	const struct optics_params *params = &coverage->graph->params;
	uint32_t ranks;

	if (slice >= coverage->slices_count)
		return lm_fail(coverage->ctx, ENOENT, "no slice %u: %u were added", slice,
			       coverage->slices_count);
	ranks = coverage->slices[slice + 1] - coverage->slices[slice];
	if (circuit->src >= ranks || circuit->dst >= ranks)
		return lm_fail(coverage->ctx, ENOENT, "no rank %u: the slice has %u ranks",
			       circuit->src < ranks ? circuit->dst : circuit->src, ranks);
	if (circuit->src == circuit->dst)
		return lm_fail(coverage->ctx, EINVAL, "a circuit from rank %u to itself",
			       circuit->src);
	if (circuit->lanes > params->wavelengths)
		return lm_fail(coverage->ctx, EINVAL, "a guide has %u lanes, not %u",
			       params->wavelengths, circuit->lanes);
	if (circuit->plane > params->planes)
		return lm_fail(coverage->ctx, EINVAL, "an accelerator has %u ports, not %u",
			       params->planes, circuit->plane);
	return 0;
}

/* Space for one more circuit. Paths point into the array. */
static int grow_circuits(struct morph_coverage *coverage)
{
	uint32_t room = coverage->circuits_room ? 2 * coverage->circuits_room : 64;
	struct cover_circuit *grown;

	if (coverage->circuits_count < coverage->circuits_room)
		return 0;
	grown = reallocarray(coverage->circuits, room, sizeof(*grown));
	if (!grown)
		return no_memory(coverage->ctx);
	coverage->circuits = grown;
	coverage->circuits_room = room;
	for (uint32_t at = 0; at < coverage->circuits_count; at++)
		grown[at].path.hops = grown[at].hops;
	return 0;
}

int morph_coverage_add_circuit(struct morph_coverage *coverage, uint32_t slice,
			       const struct morph_coverage_circuit *circuit)
{
	struct morph_coverage_circuit mine;
	struct optics_refusal refusal = { 0 };
	struct cover_circuit *new;
	int error;

	error = lm_opts_check(coverage->ctx, circuit, sizeof(mine), "morph_coverage_circuit");
	if (error)
		return error;
	lm_opts_copy(&mine, circuit, sizeof(mine));
	error = check_circuit(coverage, slice, &mine);
	if (!error)
		error = grow_circuits(coverage);
	if (error)
		return error;
	new = &coverage->circuits[coverage->circuits_count];
	*new = (struct cover_circuit){
		.src = coverage->slices[slice] + mine.src,
		.dst = coverage->slices[slice] + mine.dst,
		.lanes = mine.lanes ? mine.lanes : coverage->graph->params.wavelengths,
	};
	new->path.hops = new->hops;
	error = lm_cover_light(coverage, new, mine.plane ? 1ULL << (mine.plane - 1) : ~0ULL,
			       &refusal);
	if (error)
		return lm_fail(coverage->ctx, -error, "light slice %u from rank %u to rank %u: %s",
			       slice, mine.src, mine.dst, optics_reason_text(refusal.reason));
	coverage->circuits_count++;
	coverage->ready = false;
	return 0;
}

int morph_coverage_set_spares(struct morph_coverage *coverage, const uint32_t *accelerators,
			      size_t count)
{
	for (size_t at = 0; at < count; at++) {
		int error = check_accelerator(coverage, accelerators[at]);

		if (error)
			return error;
		if (coverage->chips[accelerators[at]].rank != COVER_NONE)
			return lm_fail(coverage->ctx, EBUSY, "accelerator %u is in a slice",
				       accelerators[at]);
		for (size_t other = 0; other < at; other++)
			if (accelerators[other] == accelerators[at])
				return lm_fail(coverage->ctx, EBUSY,
					       "accelerator %u is listed twice among the spares",
					       accelerators[at]);
	}
	for (uint32_t at = 0; at < coverage->graph->accelerators_count; at++)
		coverage->chips[at].spare = false;
	for (size_t at = 0; at < count; at++)
		coverage->chips[accelerators[at]].spare = true;
	coverage->ready = false;
	return 0;
}

int morph_coverage_set_rate(struct morph_coverage *coverage, uint32_t part, uint64_t active_ns,
			    uint64_t repair_ns)
{
	if (part >= MORPH_COVERAGE_PARTS)
		return lm_fail(coverage->ctx, EINVAL, "unknown kind of failing part %u", part);
	if (active_ns && !repair_ns)
		return lm_fail(coverage->ctx, EINVAL,
			       "the repair time of a failing part must be above 0");
	coverage->rates[part] = (struct cover_rate){ (double)active_ns, (double)repair_ns };
	coverage->ready = false;
	return 0;
}

int morph_coverage_add_supply(struct morph_coverage *coverage, const uint32_t *hosts, size_t count)
{
	uint32_t before = coverage->supplies[coverage->supplies_count];
	uint32_t *supplied, *supplies;

	if (!count)
		return lm_fail(coverage->ctx, EINVAL, "a supply requires at least 1 server");
	for (size_t at = 0; at < count; at++)
		if (hosts[at] >= coverage->graph->hosts_count)
			return lm_fail(coverage->ctx, ENOENT, "no server %u: the fabric has %u",
				       hosts[at], coverage->graph->hosts_count);
	supplied = reallocarray(coverage->supplied, before + count, sizeof(*supplied));
	if (!supplied)
		return no_memory(coverage->ctx);
	coverage->supplied = supplied;
	memcpy(supplied + before, hosts, count * sizeof(*hosts));
	supplies =
		reallocarray(coverage->supplies, coverage->supplies_count + 2, sizeof(*supplies));
	if (!supplies)
		return no_memory(coverage->ctx);
	coverage->supplies = supplies;
	supplies[++coverage->supplies_count] = before + (uint32_t)count;
	coverage->ready = false;
	return 0;
}
