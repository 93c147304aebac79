/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From fibres to light: paths inside servers, from the driver's router and checked by its
 * validator.
 */
#ifndef LM_PLAN_LIGHT_H
#define LM_PLAN_LIGHT_H

#include "place.h"

#define LIGHT_OWNER (UINT32_MAX - 1) /* owner of a slice without a number */

/* A circuit to light. */
struct wanted {
	struct rank_pair ranks; /* of @src and @dst, for messages */
	uint32_t src, dst; /* accelerators */
	uint32_t lanes; /* number of lanes */
	uint64_t among; /* mask of allowed lanes */
	struct strand *strands; /* its fibres, hop by hop; the router can replace them */
	uint32_t count; /* number of its fibres */
	struct optics_path *old; /* path that it has now and leaves; NULL: it is not lit */
	bool dark; /* it goes dark first; set if no path fits beside @old */
};

/* Circuits of one slice that become lit. lm_light_room() allocates all arrays but @wanted. */
struct lighting {
	struct morph_ledger *ledger;
	uint32_t owner; /* the slice, or LIGHT_OWNER */
	bool transit_own;
	struct wanted *wanted;
	uint32_t count;
	uint32_t *order; /* order in which circuits are routed */
	uint8_t *stuck; /* by circuit: number of failed attempts */
	struct optics_path *paths; /* by circuit; without hops if none is claimed */
	struct optics_hop *hops;
	void *work; /* of the router */
};

/* Allocate the arrays for at most @most circuits. 0 or a noted -ENOMEM. */
int lm_light_room(struct lighting *lighting, uint32_t most);
void lm_light_free(struct lighting *lighting);

/* The ledger's state inside servers before lm_light_begin(). */
struct light_before {
	uint8_t *states;
	uint32_t *pins;
};

/*
 * Prepare the ledger's state for routing with all fibres closed; each circuit opens its own. The
 * accelerators of @plan belong to LIGHT_OWNER. lm_light_end() restores the state, regardless of
 * later claims and releases. 0 or a noted -ENOMEM.
 */
int lm_light_begin(struct morph_ledger *ledger, const struct morph_plan *plan,
		   struct light_before *before);
/* The same with open fibres, and with ranks on these accelerators. */
int lm_light_begin_at(struct morph_ledger *ledger, const uint32_t *accelerators, uint32_t ranks,
		      struct light_before *before);
void lm_light_end(struct morph_ledger *ledger, struct light_before *before);

/*
 * Find and claim legal paths for all circuits, and release old paths. 0; a noted -EBUSY if no paths
 * were found (nothing is claimed, old paths may be released); or the error of the validator.
 */
int lm_light(struct lighting *lighting);

/* morph_txn_add_plan(); *stuck: the circuit without a path, after -EBUSY. */
int lm_txn_add_plan(struct morph_txn *txn, struct morph_plan *plan, struct morph_ledger *ledger,
		    uint32_t *stuck);

/* Guides of a path, at most OPTICS_MAX_HOPS. Returns their number. */
uint32_t lm_light_guides(const struct optics_path *path, uint32_t *guides);

#endif /* LM_PLAN_LIGHT_H */
