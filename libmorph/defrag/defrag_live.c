// SPDX-License-Identifier: LGPL-2.1-or-later
/* The slices of a fabric's kernel, as plans whose circuits can move. */
#include <errno.h>

#include "defrag.h"
#include "../model/live.h"
#include "../protect/protect.h"

/* A slice while it is read. */
struct reading {
	struct morph_defrag *defrag;
	const struct morph_ledger *ledger;
	const struct live *live;
	const struct morph_object *slice;
	struct running *running; /* the next one of the list of slices */
	uint32_t rack;
	const char *why; /* reason why it stays although it is completely known; or NULL */
};

static const char no_memory[] = "out of memory"; /* not a reason to stay */

void lm_running_free(struct running *running)
{
	if (running->kept)
		morph_ledger_unkeep(running->kept->keeper, running->kept);
	morph_protection_free(running->kept);
	if (running->lit)
		morph_plan_free(running->plan);
	free(running->lit);
	free(running->hops);
	free(running->spares);
}

static const struct morph_object *circuit_of(const struct reading *reading, size_t *at)
{
	for (; *at < morph_list_count(reading->live->circuits); (*at)++) {
		const struct morph_object *it = morph_list_get(reading->live->circuits, *at);

		if (morph_object_uint(it, "slice") == reading->running->slice)
			return it;
	}
	return NULL;
}

static uint32_t count_circuits(const struct reading *reading)
{
	uint32_t count = 0;

	for (size_t at = 0; circuit_of(reading, &at); at++)
		count++;
	return count;
}

/* ------------------------------------------------------------------------ ranks */

/* Read the accelerators of all ranks. Returns NULL, or why the slice stays. */
static const char *read_ranks(struct reading *reading)
{
	const struct morph_ledger *ledger = reading->ledger;
	struct morph_plan *plan = reading->running->plan;

	for (size_t at = 0; at < plan->ranks; at++) {
		const struct morph_object *it = morph_object_nested_at(reading->slice, "rank", at);
		uint32_t rank = morph_object_uint(it, "rank"),
			 chip = morph_object_uint(it, "accelerator");
		uint32_t rack;

		if (rank >= plan->ranks || chip >= ledger->graph->accelerators_count)
			return "this profile does not have its ranks";
		plan->accelerators[rank] = chip;
		reading->running->spares[rank] = morph_object_values(it, "spare") ?
							 morph_object_uint(it, "spare") :
							 UINT32_MAX;
		rack = ledger->sites.host_rack[ledger->graph->accelerators[chip].host];
		if (at && rack != reading->rack && !reading->why)
			reading->why = "it lies in several racks";
		reading->rack = rack;
	}
	return NULL;
}

/* --------------------------------------------------------------------- circuits */

/* The end of a guide at an element, or 2. */
static uint32_t end_at(const struct optics_guide *guide, uint32_t element)
{
	uint32_t end = 0;

	while (end < 2 &&
	       (guide->end[end].type != MORPH_END_ELEMENT || guide->end[end].index != element))
		end++;
	return end;
}

/* The path of a lit circuit. The states of its elements are those of the ledger. */
static bool read_path(const struct reading *reading, const struct morph_object *circuit,
		      struct optics_path *path)
{
	const struct optics_graph *graph = reading->ledger->graph;
	uint32_t src = morph_object_uint(circuit, "src-accelerator");
	uint32_t tx = src * graph->params.planes + morph_object_uint(circuit, "src-plane");
	uint32_t count = (uint32_t)morph_object_values(circuit, "guide"), code;

	if (!count || count > OPTICS_MAX_HOPS || tx >= graph->ports_count ||
	    graph->tx_guide[tx] == OPTICS_NONE)
		return false;
	path->tx = tx;
	path->lanes = morph_object_uint(circuit, "lanes");
	path->hops_count = count;
	code = graph->tx_guide[tx];
	for (uint32_t hop = 0; hop < count; hop++) {
		const struct optics_end *far = &graph->guides[code >> 1].end[!(code & 1)];
		uint32_t next, end;

		if (lm_object_uint_at(circuit, "guide", hop) != code >> 1)
			return false;
		path->hops[hop] = (struct optics_hop){ .guide = code, .element = OPTICS_NONE };
		if (hop + 1 == count) {
			path->rx = far->index * graph->params.planes + far->port;
			return far->type == MORPH_END_RX;
		}
		next = lm_object_uint_at(circuit, "guide", hop + 1);
		if (far->type != MORPH_END_ELEMENT || next >= graph->guides_count)
			return false;
		end = end_at(&graph->guides[next], far->index);
		if (end == 2)
			return false;
		path->hops[hop].element = far->index;
		path->hops[hop].state = reading->ledger->state->element_state[far->index];
		code = next * 2 + end;
	}
	return false;
}

/* The hop that a path takes from this guide on, or NULL. */
static const struct strand *strand_at(const struct sites *sites, uint32_t host,
				      const struct optics_path *path, uint32_t hop)
{
	for (uint32_t at = sites->strands_first[host]; at < sites->strands_first[host + 1]; at++) {
		const struct strand *strand = &sites->strands[at];
		uint32_t same = 0;

		while (same < strand->guides_count && hop + same < path->hops_count &&
		       strand->guides[same] == path->hops[hop + same].guide)
			same++;
		if (same == strand->guides_count)
			return strand;
	}
	return NULL;
}

/* The number of servers that light of the slice can cross. */
static uint32_t servers_of(const struct reading *reading)
{
	const struct morph_ledger *ledger = reading->ledger;

	return reading->why ? ledger->graph->hosts_count :
			      ledger->sites.racks[reading->rack].hosts_count;
}

/* The fibres of a path. Returns NULL, or why the slice stays. */
static const char *read_strands(struct reading *reading, const struct optics_path *path,
				uint32_t circuit)
{
	const struct morph_ledger *ledger = reading->ledger;
	const struct optics_graph *graph = ledger->graph;
	struct morph_plan *plan = reading->running->plan;
	uint32_t host = graph->accelerators[path->tx / graph->params.planes].host;
	struct circuit_way *way = &plan->ways[circuit];

	*way = (struct circuit_way){ .first = plan->strands_count };
	for (uint32_t hop = 0; hop < path->hops_count; hop++) {
		uint32_t guide = path->hops[hop].guide >> 1;
		const struct strand *strand;

		if (graph->guides[guide].class < MORPH_GUIDE_FIBRE)
			continue;
		strand = strand_at(&ledger->sites, host, path, hop);
		if (!strand)
			return "this profile does not have its circuits";
		if (strand->guides_count > 1 && !reading->why)
			reading->why = "its circuits cross circuit switches";
		if (ledger->guide_lanes[guide] != path->lanes)
			return "it shares a fibre with another slice";
		if (way->count + 1 == servers_of(reading))
			return "a circuit passes a server twice";
		if (lm_plan_add_strand(plan, strand))
			return no_memory;
		way->count++;
		host = strand->to;
		hop += strand->guides_count - 1;
	}
	return NULL;
}

/* Returns NULL, or why the slice stays. */
static const char *read_circuit(struct reading *reading, const struct morph_object *it,
				uint32_t circuit)
{
	struct running *running = reading->running;
	struct lit *lit = &running->lit[circuit];

	if (morph_object_uint(it, "state") != MORPH_CIRCUIT_LIT)
		return "not all of its circuits are lit";
	if (!morph_object_values(it, "src-rank") || !morph_object_values(it, "dst-rank"))
		return "its circuits cross edges";
	lit->number = morph_object_uint(it, "id");
	lit->path.hops = &running->hops[(size_t)circuit * OPTICS_MAX_HOPS];
	running->plan->circuits[circuit] =
		(struct rank_pair){ (uint16_t)morph_object_uint(it, "src-rank"),
				    (uint16_t)morph_object_uint(it, "dst-rank") };
	if (running->plan->circuits[circuit].src >= running->plan->ranks ||
	    running->plan->circuits[circuit].dst >= running->plan->ranks ||
	    !read_path(reading, it, &lit->path))
		return "this profile does not have its circuits";
	return read_strands(reading, &lit->path, circuit);
}

static int reserve(struct reading *reading, uint32_t count, uint32_t ranks)
{
	struct morph_ctx *ctx = reading->defrag->ctx;
	struct running *running = reading->running;
	struct morph_plan *plan = morph_plan_new(ctx);

	running->plan = plan;
	running->lit = calloc(count + 1UL, sizeof(*running->lit));
	running->hops = calloc(count + 1UL, OPTICS_MAX_HOPS * sizeof(*running->hops));
	running->spares = calloc(ranks, sizeof(*running->spares));
	if (plan) {
		plan->circuits = calloc(count + 1UL, sizeof(*plan->circuits));
		plan->ways = calloc(count + 1UL, sizeof(*plan->ways));
	}
	if (!plan || !running->lit || !running->hops || !running->spares || !plan->circuits ||
	    !plan->ways) {
		morph_plan_free(plan);
		free(running->lit);
		free(running->hops);
		free(running->spares);
		lm_no_memory(ctx, "read slice %u", running->slice);
		return -ENOMEM;
	}
	plan->verdict = MORPH_FEASIBLE;
	plan->bands = 1;
	plan->checksum = reading->ledger->graph->params.checksum;
	plan->transit = morph_object_uint(reading->slice, "transit");
	plan->circuits_room = plan->circuits_count = count;
	plan->ranks = ranks;
	return 0;
}

/* ----------------------------------------------------------------------- slices */

static const char *read_all(struct reading *reading)
{
	struct morph_plan *plan = reading->running->plan;
	const struct morph_object *it;
	uint32_t circuit = 0;
	const char *why = read_ranks(reading);

	for (size_t at = 0; !why && (it = circuit_of(reading, &at)); at++) {
		why = read_circuit(reading, it, circuit++);
		if (!why && optics_weight64(morph_object_uint(it, "lanes")) > plan->lanes)
			plan->lanes = optics_weight64(morph_object_uint(it, "lanes"));
	}
	return why;
}

static int note_stay(struct morph_defrag *defrag, uint32_t slice, const char *why)
{
	int ret = DEFRAG_GROW(defrag, stays, 1);

	if (!ret)
		defrag->stays.list[defrag->stays.count++] = (struct stay){ slice, why };
	return ret;
}

/* Add a slice that is completely known, whether it can move or not. */
static int add_running(struct reading *reading)
{
	struct morph_defrag *defrag = reading->defrag;
	int ret;

	if (!reading->why) {
		defrag->slices.count++;
		return 0;
	}
	ret = DEFRAG_GROW(defrag, fixed, 1);
	if (!ret)
		ret = note_stay(defrag, reading->running->slice, reading->why);
	if (!ret)
		defrag->fixed.list[defrag->fixed.count++] = *reading->running;
	return ret;
}

static int read_slice(struct reading *reading, uint32_t controller)
{
	uint32_t slice = morph_object_uint(reading->slice, "id"), circuits;
	uint32_t its = morph_object_uint(reading->slice, "controller");
	size_t ranks = morph_object_values(reading->slice, "rank");
	int ret = DEFRAG_GROW(reading->defrag, slices, 1);
	const char *why;

	if (ret)
		return ret;
	reading->running = &reading->defrag->slices.list[reading->defrag->slices.count];
	*reading->running = (struct running){
		.slice = slice,
		/* The kernel holds the fibres of a slice's own spare. */
		.repaired = morph_object_uint(reading->slice, "failover") ==
				    MORPH_FAILOVER_AUTOMATIC &&
			    !morph_object_uint(reading->slice, "reserved"),
	};
	reading->why = its && its != controller ? "another controller controls it" : NULL;
	circuits = count_circuits(reading);
	if (!circuits)
		return 0; /* nothing to move */
	if (morph_object_uint(reading->slice, "state") != MORPH_SLICE_OK)
		return note_stay(reading->defrag, slice, "it is not healthy");
	if (!ranks || ranks > MOST_RANKS)
		return note_stay(reading->defrag, slice,
				 "it has more ranks than the planner supports");
	ret = reserve(reading, circuits, (uint32_t)ranks);
	if (ret)
		return ret;
	why = read_all(reading);
	if (!why)
		ret = add_running(reading);
	else
		ret = why == no_memory ? -ENOMEM : note_stay(reading->defrag, slice, why);
	if (why || ret)
		lm_running_free(reading->running);
	return ret;
}

MORPH_API int morph_defrag_read(struct morph_defrag *defrag, struct morph_ledger *ledger,
				uint32_t fabric, uint32_t controller)
{
	struct live live = { .accelerators = NULL };
	struct reading reading = { .defrag = defrag, .ledger = ledger, .live = &live };
	int ret = lm_ledger_state(ledger);

	morph_defrag_clear(defrag);
	if (!ret)
		ret = lm_live_read(ledger, fabric, controller, true, &live);
	if (!ret)
		ret = lm_live_take(ledger, &live);
	for (size_t at = 0; at < morph_list_count(live.slices) && !ret; at++) {
		reading.slice = morph_list_get(live.slices, at);
		ret = read_slice(&reading, controller);
	}
	lm_live_free(&live);
	if (ret)
		morph_defrag_clear(defrag);
	return ret;
}

static int keep(struct running *running, struct morph_ledger *ledger)
{
	struct morph_protection *protection = morph_protection_new(ledger->ctx);
	int ret;

	if (!protection) {
		lm_no_memory(ledger->ctx, "keep a protection");
		return -ENOMEM;
	}
	protection->first = running->spares;
	ret = morph_protect(ledger, running->plan, protection);
	protection->first = NULL;
	if (!ret)
		ret = morph_ledger_keep(ledger, protection);
	if (ret) {
		morph_protection_free(protection);
		return ret;
	}
	running->kept = protection;
	for (uint32_t rank = 0; rank < protection->ranks_count; rank++)
		ret += protection->ranks[rank].verdict == MORPH_FEASIBLE;
	return ret;
}

/* The number of ranks with a spare, or a negative errno. */
static int keep_all(struct running *list, uint32_t count, struct morph_ledger *ledger)
{
	int ranks = 0;

	for (uint32_t at = 0; at < count; at++) {
		int ret = list[at].lit && list[at].repaired && !list[at].kept ?
				  keep(&list[at], ledger) :
				  0;

		if (ret < 0)
			return ret;
		ranks += ret;
	}
	return ranks;
}

MORPH_API int morph_defrag_keep(struct morph_defrag *defrag, struct morph_ledger *ledger)
{
	int ranks = keep_all(defrag->slices.list, defrag->slices.count, ledger), more;

	if (ranks < 0)
		return ranks;
	more = keep_all(defrag->fixed.list, defrag->fixed.count, ledger);
	return more < 0 ? more : ranks + more;
}
