/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bandwidth problem, as its builder, its filling and its wavelengths share it. Ports of an
 * accelerator and fibres of a guide are one thing here, a resource: of the circuits that use it
 * it takes so many of each wavelength. Hops that use the same resources are of one type.
 */
#ifndef LM_PLAN_BANDWIDTH_H
#define LM_PLAN_BANDWIDTH_H

#include "../internal/planner.h"
#include "../util/array.h"

struct bw_resource {
	enum morph_bandwidth_part part;
	uint32_t index; /* of the accelerator or guide */
	uint32_t fibres; /* circuits that it takes of each wavelength */
	uint32_t first, count; /* in users, types that use it */
	uint64_t load; /* if groups had their level */
};

struct bw_hop {
	uint32_t group;
	uint32_t next; /* of the same group; ~0 for none */
	uint32_t circuits;
	uint32_t first, count; /* in ways */
	uint32_t type;
	uint32_t before; /* circuits of its type that are other hops' */
};

struct bw_group {
	uint32_t least, most;
	uint32_t hops; /* the last one; ~0 for none */
	uint32_t first, count; /* in uses */
	uint32_t level; /* what is being looked at */
	uint32_t bandwidth; /* the answer */
	struct morph_bandwidth_group stop;
};

/* What one unit of a group's bandwidth takes of a resource. */
struct bw_use {
	uint32_t resource;
	uint32_t circuits;
};

struct bw_type {
	uint32_t first, count; /* in ways, of the first such hop */
	uint32_t wanted; /* circuits, if groups had their level */
};

/* How many circuits of each type have which wavelength, and what resources have of it. */
struct bw_colours {
	uint16_t *taken; /* by type, then wavelength */
	uint16_t *load; /* by resource, then wavelength */
	uint32_t *placed; /* by type, of all wavelengths */
};

/* Types that may be in each other's way, and by which resources. */
struct bw_component {
	uint32_t *types, *resources;
	uint32_t types_count, resources_count;
	bool *inside; /* by type: of this one, or of one before */
};

struct morph_bandwidth {
	struct morph_ctx *ctx;
	uint32_t wavelengths;
	ARRAY_OF(struct bw_resource) resources;
	ARRAY_OF(uint32_t)
	accelerators; /* resource of its transmit ports; the next, of the others */
	ARRAY_OF(uint32_t) guides; /* resource */
	ARRAY_OF(struct bw_group) groups;
	ARRAY_OF(struct bw_hop) hops;
	ARRAY_OF(uint32_t) ways; /* resources of all hops */
	struct morph_bandwidth_group short_of; /* why there is no plan */

	/* Made by the first solution after something was added. */
	bool prepared, solved;
	enum morph_verdict verdict; /* of the solution */
	enum morph_bandwidth_proof proof;
	struct bw_use *uses; /* of all groups */
	uint32_t *users; /* types of all resources */
	uint32_t types_count;
	struct bw_type *types;
	uint32_t over; /* resources that have more than they take */
	struct bw_colours now, good, kept; /* being tried; the last that fits; of the answer */
	struct bw_chain *chain; /* memory of lm_bw_colour() */
	struct bw_exhaust *exhaust; /* memory of lm_bw_exhaust() */
	struct bw_weigh *weigh; /* memory of lm_bw_outweighs() */
	uint32_t *active; /* groups that may go up */
	uint32_t *plans[2]; /* that are followed, at this level and the next: level by group */
	uint32_t room; /* for so many plans */

	/* Of one solution. */
	uint64_t steps, limit, share; /* the share is what one search for wavelengths may take */
};

enum bw_answer {
	BW_NO,
	BW_YES,
	BW_UNKNOWN, /* out of steps */
};

/* Lay out all that solving needs; 0, -EINVAL, -E2BIG or -ENOMEM. */
int lm_bw_prepare(struct morph_bandwidth *bw);
void lm_bw_unprepare(struct morph_bandwidth *bw);

/* Steps of looking at all types once. */
static inline uint64_t lm_bw_look(const struct morph_bandwidth *bw)
{
	return (uint64_t)bw->types_count * bw->wavelengths / 64;
}

/* So many circuits more, or less, of one wavelength, in @bw->now. */
void lm_bw_shift(struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength, int circuits);

/* How many more circuits of a type may have that wavelength, in @bw->now. */
uint32_t lm_bw_room(const struct morph_bandwidth *bw, uint32_t type, uint32_t wavelength);

void lm_bw_copy(const struct morph_bandwidth *bw, struct bw_colours *to,
		const struct bw_colours *from);
void lm_bw_clear(const struct morph_bandwidth *bw, struct bw_colours *colours);

/*
 * Whether there are wavelengths for the circuits that types want, of which no resource has more
 * than it takes of all wavelengths together. They are in @bw->good then.
 */
enum bw_answer lm_bw_colour(struct morph_bandwidth *bw);

/* The same by looking at all ways, up to that step; they are in @bw->now then. */
enum bw_answer lm_bw_exhaust(struct morph_bandwidth *bw, uint64_t last);

/*
 * Whether a component's circuits weigh more than its wavelengths take; false if no weights are
 * found for which they do, up to that step.
 */
bool lm_bw_outweighs(struct morph_bandwidth *bw, const struct bw_component *component,
		     uint64_t last);
void lm_bw_weigh_forget(struct morph_bandwidth *bw);

/* The wavelength of the circuit of hop @number that was numbered so. O(wavelengths). */
uint32_t lm_bw_lane(const struct morph_bandwidth *bw, uint32_t number, uint32_t circuit);

/* Memory of these; NULL when out of it. */
struct bw_chain *lm_bw_chain_new(const struct morph_bandwidth *bw);
struct bw_exhaust *lm_bw_exhaust_new(const struct morph_bandwidth *bw);
void lm_bw_exhaust_free(struct bw_exhaust *exhaust);
struct bw_weigh *lm_bw_weigh_new(const struct morph_bandwidth *bw);
void lm_bw_weigh_free(struct bw_weigh *weigh);

#endif /* LM_PLAN_BANDWIDTH_H */
