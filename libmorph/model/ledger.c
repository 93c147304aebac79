// SPDX-License-Identifier: LGPL-2.1-or-later
/* The resources of a fabric that are in use: accelerators, fibres, and unusable hardware. */
#include "../place/place.h"

static int ledger_arrays(struct morph_ledger *ledger)
{
	const struct optics_graph *graph = ledger->graph;

	ledger->owner = calloc(graph->accelerators_count + 1, sizeof(*ledger->owner));
	ledger->chip_marked = calloc(graph->accelerators_count + 1, sizeof(bool));
	ledger->spare = calloc(graph->accelerators_count + 1, sizeof(bool));
	ledger->element_marked = calloc(graph->elements_count + 1, sizeof(bool));
	ledger->element_held = calloc(graph->elements_count + 1, sizeof(*ledger->element_held));
	ledger->element_kept = calloc(graph->elements_count + 1, sizeof(*ledger->element_kept));
	ledger->guide_marked = calloc(graph->guides_count + 1, sizeof(bool));
	ledger->guide_lanes = calloc(graph->guides_count + 1, sizeof(*ledger->guide_lanes));
	ledger->guide_kept = calloc(graph->guides_count + 1, sizeof(*ledger->guide_kept));
	ledger->host_free = calloc(graph->hosts_count + 1, sizeof(*ledger->host_free));
	ledger->rack_free = calloc(ledger->sites.racks_count + 1, sizeof(*ledger->rack_free));
	ledger->rack_order = calloc(ledger->sites.racks_count + 1, sizeof(*ledger->rack_order));
	if (!ledger->owner || !ledger->chip_marked || !ledger->spare || !ledger->element_marked ||
	    !ledger->element_held || !ledger->element_kept || !ledger->guide_marked ||
	    !ledger->guide_lanes || !ledger->guide_kept || !ledger->host_free ||
	    !ledger->rack_free || !ledger->rack_order)
		return -ENOMEM;
	return 0;
}

/* Count an accelerator as free, or as not free. */
static void count_free(struct morph_ledger *ledger, uint32_t accelerator, int by)
{
	uint32_t host = ledger->graph->accelerators[accelerator].host;
	uint32_t rack = ledger->sites.host_rack[host];

	ledger->host_free[host] = (uint16_t)(ledger->host_free[host] + by);
	ledger->rack_free[rack] = (uint16_t)(ledger->rack_free[rack] + by);
}

MORPH_API int morph_ledger_new(struct morph_ctx *ctx, struct morph_model *model,
			       struct morph_ledger **out)
{
	struct morph_ledger *ledger = calloc(1, sizeof(*ledger));
	int ret = -ENOMEM;

	*out = NULL;
	if (!ledger)
		return lm_no_memory(ctx, "begin a ledger");
	ledger->ctx = ctx;
	ledger->model = morph_model_get(model);
	ledger->graph = lm_model_graph(model);
	ret = lm_sites_build(&ledger->sites, ledger->graph);
	if (!ret)
		ret = ledger_arrays(ledger);
	if (ret) {
		morph_ledger_free(ledger);
		return lm_fail(ctx, -ret, "begin a ledger: %s",
			       ret == -E2BIG ?
				       "a rack has more than 64 servers or 256 accelerators" :
				       "out of memory");
	}
	for (uint32_t at = 0; at < ledger->graph->accelerators_count; at++) {
		ledger->spare[at] = sites_spare(&ledger->sites, at);
		if (lm_ledger_free(ledger, at))
			count_free(ledger, at, 1);
	}
	*out = ledger;
	return 0;
}

MORPH_API void morph_ledger_free(struct morph_ledger *ledger)
{
	if (!ledger)
		return;
	free(ledger->owner);
	free(ledger->chip_marked);
	free(ledger->spare);
	free(ledger->element_marked);
	free(ledger->element_held);
	free(ledger->element_kept);
	free(ledger->guide_marked);
	free(ledger->guide_lanes);
	free(ledger->guide_kept);
	free(ledger->host_free);
	free(ledger->rack_free);
	free(ledger->rack_order);
	free(ledger->state);
	free(ledger->search.partners);
	free(ledger->crossing);
	lm_sites_free(&ledger->sites);
	morph_model_put(ledger->model);
	free(ledger);
}

int lm_ledger_state(struct morph_ledger *ledger)
{
	void *block;

	if (ledger->state)
		return 0;
	block = malloc(optics_state_bytes(ledger->graph));
	if (!block)
		return lm_no_memory(ledger->ctx, "record the resources of circuits");
	ledger->state = optics_state_init(block, ledger->graph);
	return 0;
}

bool lm_ledger_free(const struct morph_ledger *ledger, uint32_t accelerator)
{
	return !ledger->owner[accelerator] && !ledger->chip_marked[accelerator] &&
	       !ledger->spare[accelerator];
}

bool lm_ledger_spare(const struct morph_ledger *ledger, uint32_t accelerator)
{
	return ledger->spare[accelerator] && !ledger->owner[accelerator] &&
	       !ledger->chip_marked[accelerator];
}

bool lm_strand_dark(const struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes)
{
	for (uint32_t at = 0; at < strand->guides_count; at++) {
		uint32_t code = strand->guides[at];
		const struct optics_guide *guide = &ledger->graph->guides[code >> 1];

		if (ledger->guide_marked[code >> 1] || ledger->guide_lanes[code >> 1] & lanes ||
		    ledger->element_marked[guide->end[code & 1].index] ||
		    ledger->element_marked[guide->end[!(code & 1)].index])
			return false;
		if (at && ledger->element_held[strand->elements[at - 1]])
			return false;
	}
	return true;
}

bool lm_strand_unkept(const struct morph_ledger *ledger, const struct strand *strand)
{
	for (uint32_t at = 0; at < strand->guides_count; at++)
		if (ledger->guide_kept[strand->guides[at] >> 1] ||
		    (at && ledger->element_kept[strand->elements[at - 1]]))
			return false;
	return true;
}

bool lm_strand_open(const struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes)
{
	return lm_strand_dark(ledger, strand, lanes) && lm_strand_unkept(ledger, strand);
}

bool lm_strand_free(const struct morph_ledger *ledger, const struct strand *strand)
{
	return lm_strand_open(ledger, strand, ledger->graph->all_lanes);
}

/* ---------------------------------------------------------------- what is told */

static int unknown(struct morph_ledger *ledger, const char *part, uint32_t index, uint32_t count)
{
	return lm_fail(ledger->ctx, ENOENT, "%s %u: the fabric has %u", part, index, count);
}

static int check_accelerator(struct morph_ledger *ledger, uint32_t accelerator)
{
	uint32_t count = ledger->graph->accelerators_count;

	return accelerator < count ? 0 : unknown(ledger, "accelerator", accelerator, count);
}

MORPH_API int morph_ledger_hold(struct morph_ledger *ledger, uint32_t accelerator, uint32_t slice)
{
	int ret = check_accelerator(ledger, accelerator);
	bool was;

	if (ret)
		return ret;
	was = lm_ledger_free(ledger, accelerator);
	ledger->owner[accelerator] = slice;
	count_free(ledger, accelerator, lm_ledger_free(ledger, accelerator) - was);
	return 0;
}

MORPH_API int morph_ledger_mark(struct morph_ledger *ledger, uint32_t part, uint32_t index,
				bool unusable)
{
	bool was;
	int ret;

	switch (part) {
	case MORPH_PART_ACCELERATOR:
		ret = check_accelerator(ledger, index);
		if (ret)
			return ret;
		was = lm_ledger_free(ledger, index);
		ledger->chip_marked[index] = unusable;
		count_free(ledger, index, lm_ledger_free(ledger, index) - was);
		return 0;
	case MORPH_PART_ELEMENT:
		if (index >= ledger->graph->elements_count)
			return unknown(ledger, "element", index, ledger->graph->elements_count);
		ledger->element_marked[index] = unusable;
		return 0;
	case MORPH_PART_GUIDE:
		if (index >= ledger->graph->guides_count)
			return unknown(ledger, "guide", index, ledger->graph->guides_count);
		ledger->guide_marked[index] = unusable;
		return 0;
	}
	return lm_fail(ledger->ctx, EINVAL,
		       "part %u cannot be marked; only accelerators, elements and guides can",
		       part);
}

MORPH_API int morph_ledger_set_spare(struct morph_ledger *ledger, uint32_t accelerator, bool spare)
{
	int ret = check_accelerator(ledger, accelerator);
	bool was;

	if (ret)
		return ret;
	was = lm_ledger_free(ledger, accelerator);
	ledger->spare[accelerator] = spare;
	count_free(ledger, accelerator, lm_ledger_free(ledger, accelerator) - was);
	return 0;
}

int morph_ledger_load(struct morph_ledger *ledger, uint32_t guide, uint64_t lanes)
{
	if (guide >= ledger->graph->guides_count)
		return unknown(ledger, "guide", guide, ledger->graph->guides_count);
	if (lanes & ~ledger->graph->all_lanes)
		return lm_fail(ledger->ctx, EINVAL, "lanes %#llx: a guide has %#llx",
			       (unsigned long long)lanes,
			       (unsigned long long)ledger->graph->all_lanes);
	ledger->guide_lanes[guide] = lanes;
	return 0;
}

/* ------------------------------------------------------------------ taking plans */

int lm_plan_check(const struct morph_ledger *ledger, const struct morph_plan *plan)
{
	if (plan->verdict != MORPH_FEASIBLE)
		return lm_fail(ledger->ctx, EINVAL, "the plan is not feasible");
	if (plan->checksum != ledger->graph->params.checksum)
		return lm_fail(
			ledger->ctx, EINVAL,
			"the plan is for a profile with checksum %08x, the ledger's has %08x",
			plan->checksum, ledger->graph->params.checksum);
	return 0;
}

void lm_strand_light(struct morph_ledger *ledger, const struct strand *strand, uint64_t lanes,
		     bool hold)
{
	for (uint32_t at = 0; at < strand->guides_count; at++) {
		uint64_t *lit = &ledger->guide_lanes[strand->guides[at] >> 1];

		*lit = hold ? *lit | lanes : *lit & ~lanes;
		/* A circuit takes switches whole, in all wavelengths. */
		if (at)
			ledger->element_held[strand->elements[at - 1]] = hold;
	}
}

void lm_strand_hold(struct morph_ledger *ledger, const struct strand *strand, bool hold)
{
	lm_strand_light(ledger, strand, ledger->graph->all_lanes, hold);
}

/* The first hop of a plan that is not dark in its circuit's lanes, or NULL. */
static const struct strand *first_lit(const struct morph_ledger *ledger,
				      const struct morph_plan *plan)
{
	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		const struct circuit_way *way = &plan->ways[at];
		uint64_t lanes = lm_way_lanes(ledger->graph, plan, way);

		for (uint32_t hop = way->first; hop < way->first + way->count; hop++)
			if (!lm_strand_open(ledger, &plan->strands[hop], lanes))
				return &plan->strands[hop];
	}
	return NULL;
}

static void light_plan(struct morph_ledger *ledger, const struct morph_plan *plan, bool hold)
{
	for (uint32_t at = 0; at < plan->circuits_count; at++) {
		const struct circuit_way *way = &plan->ways[at];
		uint64_t lanes = lm_way_lanes(ledger->graph, plan, way);

		for (uint32_t hop = way->first; hop < way->first + way->count; hop++)
			lm_strand_light(ledger, &plan->strands[hop], lanes, hold);
	}
}

MORPH_API int morph_ledger_take(struct morph_ledger *ledger, const struct morph_plan *plan,
				uint32_t slice)
{
	int ret = lm_plan_check(ledger, plan);
	const struct strand *lit;

	if (ret)
		return ret;
	if (!slice)
		return lm_fail(ledger->ctx, EINVAL, "slice 0 is not a slice; numbers begin at 1");
	for (uint32_t rank = 0; rank < plan->ranks; rank++)
		if (!lm_ledger_free(ledger, plan->accelerators[rank]))
			return lm_fail(ledger->ctx, EBUSY, "accelerator %u of rank %u is not free",
				       plan->accelerators[rank], rank);
	lit = first_lit(ledger, plan);
	if (lit)
		return lm_fail(ledger->ctx, EBUSY, "fibre %u is not free", lit->guides[0] >> 1);
	for (uint32_t rank = 0; rank < plan->ranks; rank++)
		morph_ledger_hold(ledger, plan->accelerators[rank], slice);
	light_plan(ledger, plan, true);
	return 0;
}

MORPH_API int morph_ledger_give(struct morph_ledger *ledger, const struct morph_plan *plan)
{
	int ret = lm_plan_check(ledger, plan);

	if (ret)
		return ret;
	for (uint32_t rank = 0; rank < plan->ranks; rank++)
		morph_ledger_hold(ledger, plan->accelerators[rank], 0);
	light_plan(ledger, plan, false);
	return 0;
}
