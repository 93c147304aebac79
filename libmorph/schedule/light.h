/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Light for schedules: the circuits of each step, and their paths. */
#ifndef LM_SCHEDULE_LIGHT_H
#define LM_SCHEDULE_LIGHT_H

#include <morph/light.h>

#include "../place/light.h"
#include "schedule.h"

#define NO_LIT UINT32_MAX

/* A circuit of the table. */
struct lit {
	uint32_t plane, src, dst; /* ranks */
	uint32_t next; /* of the same plane and sending rank; NO_LIT: none */
	uint32_t last; /* last step that holds it */
	uint32_t uses, uses_count; /* of used_in */
	uint32_t hops_count; /* 0: no path */
	uint32_t number; /* number in the driver's table */
	uint64_t lanes;
};

/* The circuits that are lit from one change to the next. */
struct lit_step {
	uint64_t set_ps, lit_ps;
	uint32_t first, count; /* of held */
};

/* Steps and circuits of a schedule, perhaps of the first planes only. */
struct lit_table {
	uint32_t ranks, planes;
	ARRAY_OF(struct lit) circuits;
	ARRAY_OF(struct lit_step) steps;
	ARRAY_OF(uint32_t) held; /* circuits, step after step */
	uint32_t *used_in; /* steps, circuit after circuit */
	uint32_t *hold_steps; /* the step with which each hold is set */
	struct optics_hop *hops; /* OPTICS_MAX_HOPS for each circuit */
};

/*
 * light_table.c: compute which circuits are lit in which step. With @split, a circuit that is lit
 * again later is a circuit of its own and may have another path. Return 0, or a noted -ENOMEM or
 * -E2BIG. O(holds + steps * planes * ranks).
 */
int lm_lit_table(struct lit_table *table, const struct morph_schedule *schedule, uint32_t planes,
		 bool split, bool loop);
void lm_lit_table_free(struct lit_table *table);

static inline struct optics_hop *lit_hops(const struct lit_table *table, uint32_t circuit)
{
	return &table->hops[(size_t)circuit * OPTICS_MAX_HOPS];
}

/* How light reached a coded guide, and the price. */
struct way_label {
	uint64_t price, lanes; /* lanes free so far */
	uint32_t from, loss_mdb;
	uint32_t mark; /* of the search that set it */
	uint32_t place; /* position in the heap, plus one; 0: not in it */
	uint32_t state; /* of the element behind @from's guide */
};

/* Prices of paths. They include circuits that are lit together with the routed one. */
struct way_prices {
	uint32_t pressure; /* multiplier for each other user */
	uint32_t *guide_users, *element_users;
	uint32_t *state_users; /* by first_state[element] + state */
	uint32_t *first_state;
	uint32_t *guide_grudge, *element_grudge;
};

struct ways {
	struct morph_ledger *ledger;
	struct lit_table table;
	const uint32_t *accelerators;
	uint32_t lanes, owner;
	bool transit_own;
	int64_t most_mdb; /* limit of the loss */
	struct way_prices prices;
	struct way_label *labels;
	uint32_t *heap, heap_count, mark;
	uint32_t *stamps; /* by circuit */
	uint32_t stamp;
	void *work; /* of the driver's router */
	uint8_t *states; /* of elements, and */
	struct optics_path *paths; /* of the fullest step, for the judge */
	uint64_t rerouted;
};

/*
 * light_search.c: find the cheapest path of a circuit; hops_count is 0 if there is none. O(fabric *
 * log).
 */
void lm_way_search(struct ways *ways, uint32_t circuit);
int lm_ways_room(struct ways *ways);
void lm_ways_free(struct ways *ways);
/* A path in the form of the driver's router and validator. */
struct optics_path lm_way_path(const struct ways *ways, uint32_t circuit);
static inline uint32_t way_port(const struct ways *ways, uint32_t rank, uint32_t plane)
{
	return ways->accelerators[rank] * ways->ledger->graph->params.planes + plane;
}

/* light_negotiate.c */
enum negotiated {
	NEGOTIATED_ALL,
	NEGOTIATED_ALONE, /* *circuit has no path, even alone */
	NEGOTIATED_NOT, /* *circuit conflicts with another */
};

/*
 * Find paths for the whole table. @round is the number of the first iteration, counted over all
 * calls. Give up after @rounds, or without progress.
 */
enum negotiated lm_ways_negotiate(struct ways *ways, uint32_t first, uint32_t rounds,
				  uint32_t *circuit);
/* Raise the price of this path. */
void lm_way_grudge(struct ways *ways, uint32_t circuit);

/*
 * light_judge.c: can the circuits of each step be claimed and validated together, as when the
 * driver loads them? *light names a circuit that cannot. Call it last, because it changes the
 * ledger's state.
 */
bool lm_ways_refused(struct ways *ways, struct morph_light *light, uint32_t *circuit);
/*
 * The driver's path of a circuit beside other tenants' circuits only: 0, or the error of
 * optics_route().
 */
int lm_way_alone(struct ways *ways, uint32_t circuit, struct optics_refusal *refusal);
/* Why a circuit has no path. */
void lm_way_refused_alone(struct ways *ways, uint32_t circuit, struct morph_light *light);

/*
 * light_cut.c: does a step need more circuits out of some accelerators than can leave? Fill *light
 * if so. Return 0 or a noted -ENOMEM.
 */
int lm_ways_cut(struct ways *ways, struct morph_light *light);

#endif /* LM_SCHEDULE_LIGHT_H */
