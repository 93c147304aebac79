/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From fibres to light: ways inside servers, found by the router and judged as the driver judges. */
#ifndef LM_PLAN_LIGHT_H
#define LM_PLAN_LIGHT_H

#include "place.h"

#define LIGHT_OWNER (UINT32_MAX - 1) /* whose slice has no number yet */

/* A circuit that is to be lit. */
struct wanted {
	struct rank_pair ranks; /* of @src and @dst, for people */
	uint32_t src, dst; /* accelerators */
	uint32_t lanes; /* how many */
	uint64_t among; /* these */
	struct strand
		*strands; /* its fibres, one server after the other; perhaps others in the end */
	uint32_t count; /* of @strands */
	struct optics_path *old; /* by which it is lit now and goes out then; NULL: it is not */
	bool dark; /* it goes out before it is lit: set where there is no way beside @old */
};

/* Circuits of one slice, on their way to light. Arrays but @wanted are lm_light_room()'s. */
struct lighting {
	struct morph_ledger *ledger;
	uint32_t owner; /* the slice, or LIGHT_OWNER */
	bool transit_own;
	struct wanted *wanted;
	uint32_t count;
	uint32_t *order; /* in which circuits are routed */
	uint8_t *stuck; /* by circuit: how often it had no way */
	struct optics_path *paths; /* by circuit; without hops: none is claimed */
	struct optics_hop *hops;
	void *work; /* of the router */
};

/* Room for so many circuits at most: 0 or a noted -ENOMEM. */
int lm_light_room(struct lighting *lighting, uint32_t most);
void lm_light_free(struct lighting *lighting);

/* The ledger's state inside servers, before it was tried what could be lit. */
struct light_before {
	uint8_t *states;
	uint32_t *pins;
};

/*
 * From what the ledger says the state becomes one to route in, with all fibres closed: each
 * circuit has its own opened. The accelerators of @plan are LIGHT_OWNER's. lm_light_end() gives
 * back what lm_light_begin() took, whatever was claimed or released between. 0 or a noted -ENOMEM.
 */
int lm_light_begin(struct morph_ledger *ledger, const struct morph_plan *plan,
		   struct light_before *before);
/* The same with fibres open, and ranks on those accelerators. */
int lm_light_begin_at(struct morph_ledger *ledger, const uint32_t *accelerators, uint32_t ranks,
		      struct light_before *before);
void lm_light_end(struct morph_ledger *ledger, struct light_before *before);

/*
 * Ways for all that is wanted, legal together: they are claimed, and what was lit by old ones is
 * released. 0, or a noted -EBUSY (no ways were found; nothing is claimed, what is old may be
 * released) or what the judge says.
 */
int lm_light(struct lighting *lighting);

/* morph_txn_add_plan(); *stuck: the circuit that has no way, after -EBUSY. */
int lm_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan, struct morph_ledger *ledger,
		    uint32_t *stuck);

/* Guides of a path, OPTICS_MAX_HOPS at most; returns how many. */
uint32_t lm_light_guides(const struct optics_path *path, uint32_t *guides);

#endif /* LM_PLAN_LIGHT_H */
