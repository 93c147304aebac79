/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bandwidth problem, as shared by its builder, its filling and its assignment of wavelengths.
 * Ports of an accelerator and fibres of a guide are both a *resource*: it has a capacity of
 * circuits of each wavelength. Hops that use the same resources have the same *type*.
 */
#ifndef LM_PLAN_BANDWIDTH_H
#define LM_PLAN_BANDWIDTH_H

#include "../internal/planner.h"
#include "../util/array.h"

struct bw_resource {
	enum morph_bandwidth_part part;
	uint32_t index; /* of the accelerator or guide */
	uint32_t fibres; /* capacity, in circuits of each wavelength */
	uint32_t first, count; /* types in users that use it */
	uint64_t load; /* circuits of all wavelengths, at the levels of the groups */
};

struct bw_hop {
	uint32_t group;
	uint32_t next; /* hop of the same group; ~0: none */
	uint32_t circuits;
	uint32_t first, count; /* in ways: resources that it uses */
	uint32_t type;
	uint32_t before; /* circuits of earlier hops of the same type */
};

struct bw_group {
	uint32_t least, most;
	uint32_t hops; /* the last one; ~0: none */
	uint32_t first, count; /* in uses */
	uint32_t level; /* lanes in the plan that the search examines */
	uint32_t bandwidth; /* lanes in the answer */
	struct morph_bandwidth_group stop;
};

/* Circuits that use a resource, for one lane of the group. */
struct bw_use {
	uint32_t resource;
	uint32_t circuits;
};

struct bw_type {
	uint32_t first, count; /* in ways, of the first hop of this type */
	uint32_t wanted; /* circuits, at the levels of the groups */
};

/* Circuits of each type and wavelength, and load of each resource and wavelength. */
struct bw_colours {
	uint16_t *taken; /* by type, then wavelength */
	uint16_t *load; /* by resource, then wavelength */
	uint32_t *placed; /* by type, of all wavelengths */
};

/* Types that can conflict with each other, and the resources where they do. */
struct bw_component {
	uint32_t *types, *resources;
	uint32_t types_count, resources_count;
	bool *inside; /* by type: of this component or an earlier one */
};

struct morph_bandwidth {
	struct morph_ctx *ctx;
	uint32_t wavelengths;
	ARRAY_OF(struct bw_resource) resources;
	ARRAY_OF(uint32_t)
	accelerators; /* resource of its transmit ports; the next one: receive ports */
	ARRAY_OF(uint32_t) guides; /* resource */
	ARRAY_OF(struct bw_group) groups;
	ARRAY_OF(struct bw_hop) hops;
	ARRAY_OF(uint32_t) ways; /* resources of all hops */
	struct morph_bandwidth_group short_of; /* the reason if there is no plan */

	/* Allocated by the first solution after an addition. */
	bool prepared, solved;
	enum morph_verdict verdict; /* of the last solution */
	enum morph_bandwidth_proof proof;
	struct bw_use *uses; /* of all groups */
	uint32_t *users; /* of all resources: types */
	uint32_t types_count;
	struct bw_type *types;
	uint32_t over; /* resources whose load exceeds the capacity */
	struct bw_colours now, good, kept; /* under trial; last one that fits; of the answer */
	struct bw_chain *chain; /* memory of lm_bw_colour() */
	struct bw_exhaust *exhaust; /* memory of lm_bw_exhaust() */
	struct bw_weigh *weigh; /* memory of lm_bw_outweighs() */
	uint32_t *active; /* groups that can rise */
	uint32_t *plans[2]; /* followed plans of this level and of the next one: level by group */
	uint32_t room; /* number of plans that fit into each of these */

	/* Of one solution. */
	uint64_t steps, limit, share; /* the share limits one search for wavelengths */
};

enum bw_answer {
	BW_NO,
	BW_YES,
	BW_UNKNOWN, /* out of steps */
};

/* Lay out the problem for solving. 0, -EINVAL, -E2BIG or -ENOMEM. */
int lm_bw_prepare(struct morph_bandwidth *bw);
void lm_bw_unprepare(struct morph_bandwidth *bw);

/* Steps that a scan of all types counts as. */
static inline uint64_t lm_bw_look(const struct morph_bandwidth *bw)
{
	return (uint64_t)bw->types_count * bw->wavelengths / 64;
}

/* Add circuits of one wavelength in @bw->now; a negative number removes them. */
void lm_bw_shift(struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength, int circuits);

/* The number of additional circuits of a type that fit in this wavelength in @bw->now. */
uint32_t lm_bw_room(const struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength);

void lm_bw_copy(const struct morph_bandwidth *bw, struct bw_colours *to,
		const struct bw_colours *from);
void lm_bw_clear(const struct morph_bandwidth *bw, struct bw_colours *colours);

/*
 * Find wavelengths for the circuits that the types want. No resource has more circuits than all of
 * its wavelengths together carry. On success they are in @bw->good.
 */
enum bw_answer lm_bw_colour(struct morph_bandwidth *bw);

/* The same by exhaustive search up to step @last. On success they are in @bw->now. */
enum bw_answer lm_bw_exhaust(struct morph_bandwidth *bw, uint64_t last);

/*
 * Whether weights prove that a component has more circuits than its wavelengths carry. False if no
 * such weights are found up to step @last.
 */
bool lm_bw_outweighs(struct morph_bandwidth *bw, const struct bw_component *component,
		     uint64_t last);
void lm_bw_weigh_forget(struct morph_bandwidth *bw);

/* The wavelength of a circuit of hop @number; circuits count from 0. O(wavelengths). */
uint32_t lm_bw_lane(const struct morph_bandwidth *bw, uint32_t number, uint32_t circuit);

/* Memory of the functions above; NULL when out of memory. */
struct bw_chain *lm_bw_chain_new(const struct morph_bandwidth *bw);
struct bw_exhaust *lm_bw_exhaust_new(const struct morph_bandwidth *bw);
void lm_bw_exhaust_free(struct bw_exhaust *exhaust);
struct bw_weigh *lm_bw_weigh_new(const struct morph_bandwidth *bw);
void lm_bw_weigh_free(struct bw_weigh *weigh);

#endif /* LM_PLAN_BANDWIDTH_H */
