/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Light for schedules: which circuits are lit in which step, and their ways. */
#ifndef LM_SCHEDULE_LIGHT_H
#define LM_SCHEDULE_LIGHT_H

#include <morph/light.h>

#include "../place/light.h"
#include "schedule.h"

#define NO_LIT UINT32_MAX

/* A circuit of the table. */
struct lit {
	uint32_t plane, src, dst; /* ranks */
	uint32_t next; /* of the same plane and rank that sends; NO_LIT: none */
	uint32_t last; /* step that holds it */
	uint32_t uses, uses_count; /* of used_in */
	uint32_t hops_count; /* 0: it has no way */
	uint32_t number; /* in what the driver takes */
	uint64_t lanes;
};

/* What is lit from one change to the next. */
struct lit_step {
	uint64_t set_ps, lit_ps;
	uint32_t first, count; /* of held */
};

/* Steps and circuits of a schedule; those of the first planes only, perhaps. */
struct lit_table {
	uint32_t ranks, planes;
	ARRAY_OF(struct lit) circuits;
	ARRAY_OF(struct lit_step) steps;
	ARRAY_OF(uint32_t) held; /* circuits of one step after those of another */
	uint32_t *used_in; /* steps of one circuit after those of another */
	uint32_t *hold_steps; /* the step with which each hold is set */
	struct optics_hop *hops; /* OPTICS_MAX_HOPS for each circuit */
};

/*
 * light_table.c: what is lit when. @split: what is lit again after a while is a circuit of its own, and
 * may go another way. 0, or a noted -ENOMEM or -E2BIG. O(holds + steps * planes * ranks).
 */
int lm_lit_table(struct lit_table *table, const struct morph_schedule *schedule, uint32_t planes,
		 bool split, bool loop);
void lm_lit_table_free(struct lit_table *table);

static inline struct optics_hop *lit_hops(const struct lit_table *table, uint32_t circuit)
{
	return &table->hops[(size_t)circuit * OPTICS_MAX_HOPS];
}

/* Of a coded guide: how light got there, and at which price. */
struct way_label {
	uint64_t price, lanes; /* those free so far */
	uint32_t from, loss_mdb;
	uint32_t mark; /* of the search that set it */
	uint32_t place; /* in the heap, and one; 0: it has left it */
	uint32_t state; /* of the element behind @from's guide */
};

/* What ways cost. Circuits that are lit together with the one that is routed have entered theirs. */
struct way_prices {
	uint32_t pressure; /* times what each other user adds */
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
	int64_t most_mdb; /* loss */
	struct way_prices prices;
	struct way_label *labels;
	uint32_t *heap, heap_count, mark;
	uint32_t *stamps; /* of circuits */
	uint32_t stamp;
	void *work; /* of the driver's router */
	uint8_t *states; /* of elements, and */
	struct optics_path *paths; /* of the fullest step, for the judge */
	uint64_t rerouted;
};

/* light_search.c: the cheapest way of a circuit; hops_count is 0 where there is none. O(fabric * log). */
void lm_way_search(struct ways *ways, uint32_t circuit);
int lm_ways_room(struct ways *ways);
void lm_ways_free(struct ways *ways);
/* A way as the driver's router and judge have it. */
struct optics_path lm_way_path(const struct ways *ways, uint32_t circuit);
static inline uint32_t way_port(const struct ways *ways, uint32_t rank, uint32_t plane)
{
	return ways->accelerators[rank] * ways->ledger->graph->params.planes + plane;
}

/* light_negotiate.c */
enum negotiated {
	NEGOTIATED_ALL,
	NEGOTIATED_ALONE, /* *circuit has no way, even alone */
	NEGOTIATED_NOT, /* *circuit is in another's way, or another in its */
};

/*
 * Ways for the whole table: from the round of that number on, the first of all being 0; after so many, or when it
 * gets no better, it is given up.
 */
enum negotiated lm_ways_negotiate(struct ways *ways, uint32_t first, uint32_t rounds,
				  uint32_t *circuit);
/* Whoever goes that way again pays more. */
void lm_way_grudge(struct ways *ways, uint32_t circuit);

/*
 * light_judge.c: can each step's circuits be claimed and validated together, as when the driver loads them? Says in
 * *light which can't. It is the last thing that is done with the ledger's state.
 */
bool lm_ways_refused(struct ways *ways, struct morph_light *light, uint32_t *circuit);
/* The driver's way of a circuit with nothing lit but what is others': 0, or what optics_route() says. */
int lm_way_alone(struct ways *ways, uint32_t circuit, struct optics_refusal *refusal);
/* Of one that has none: why. */
void lm_way_refused_alone(struct ways *ways, uint32_t circuit, struct morph_light *light);

/*
 * light_cut.c: does more light of a step leave some accelerators than can? Fills *light where it does.
 * 0 or a noted -ENOMEM.
 */
int lm_ways_cut(struct ways *ways, struct morph_light *light);

#endif /* LM_SCHEDULE_LIGHT_H */
