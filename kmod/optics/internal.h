/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Declarations that only files of this directory share. */
#ifndef MORPH_OPTICS_INTERNAL_H
#define MORPH_OPTICS_INTERNAL_H

#include "optics.h"

/* The record of @section at @index. optics_blob_check() has checked the section. */
static inline const void *optics_record(const void *blob,
					const struct morph_profile_section *section, u32 index)
{
	return (const u8 *)blob + (size_t)le64_to_cpu(section->offset) +
	       (size_t)index * le32_to_cpu(section->stride);
}

/* The offset of a record or field in the blob, for refusals. */
static inline s64 optics_offset(const void *blob, const void *field)
{
	return (const u8 *)field - (const u8 *)blob;
}

/* Check head, checksum, section bounds and the numbers of the header; 0 or -EINVAL. */
int optics_blob_check(const void *blob, u64 bytes, struct optics_refusal *refusal);

/* Check a NUL-terminated name, padded with zeros. @strict: not empty, only [a-z0-9_-]. */
bool optics_name_ok(const char *name, u32 bytes, bool strict);

/* Fill @refusal, if not NULL, and return the errno of @reason. */
static inline int optics_refuse(struct optics_refusal *refusal, u32 reason, u32 part, u32 index,
				s64 have, s64 need)
{
	if (refusal) {
		refusal->reason = reason;
		refusal->part = part;
		refusal->index = index;
		refusal->planes = 0;
		refusal->item = OPTICS_NONE;
		refusal->have = have;
		refusal->need = need;
	}
	return optics_reason_errno(reason);
}

/* The profile breaks a rule at byte @offset. */
static inline int optics_bad_profile(struct optics_refusal *refusal, s64 offset)
{
	return optics_refuse(refusal, OPTICS_BAD_PROFILE, OPTICS_PART_NONE, OPTICS_NONE, offset, 0);
}

#define OPTICS_DEAD	0x7fffffff	/* no exit */

/* A graph under construction, as bound.c completes it. */
struct optics_bound {
	struct optics_graph *graph;
	struct optics_element *elements;
	s32 *cost;		/* optics_graph.slack at the end; scratch of each round */
	struct optics_arc *arcs;
	u32 *place_arcs;
};

/*
 * The place of light that entered at @end, an element, and of light that leaves there. On
 * a tile, a place is a set of elements. Elsewhere, it is the side of one element at which
 * light entered.
 */
static inline u32 optics_place_entered(const struct optics_graph *graph,
				       const struct optics_end *end)
{
	const struct optics_element *element = &graph->elements[end->index];

	if (element->tile != OPTICS_NONE)
		return element->place;
	return element->place + (graph->kinds[element->kind].side >> end->port & 1);
}

static inline u32 optics_place_left(const struct optics_graph *graph, const struct optics_end *end)
{
	const struct optics_element *element = &graph->elements[end->index];
	u32 side = graph->kinds[element->kind].side;

	if (element->tile != OPTICS_NONE || !side)
		return element->place;
	return element->place + !(side >> end->port & 1);
}

/* Name places, compute slack and arcs. O(fabric), because paths in a place are short. */
void optics_bound_build(struct optics_bound *b);

/* The maximum number of arcs of a profile. Kinds of elements have been checked. */
u64 optics_bound_arcs(const void *blob);

/*
 * A cost is a single number: the loss in the high bits, the number of switched elements in
 * the low ones. Sums and comparisons use it directly. In a difference the second part may be
 * negative.
 */
#define OPTICS_COST_BITS	8u

static inline u32 optics_cost(u32 loss_mdb, u32 changes)
{
	return (loss_mdb << OPTICS_COST_BITS) + changes;
}

static inline s32 optics_cost_without_changes(s32 cost)
{
	u32 half = 1u << (OPTICS_COST_BITS - 1);

	return (s32)(((u32)cost + half) & ~(2 * half - 1));
}

/* The far end of a guide that light enters at its coded end. */
static inline const struct optics_end *optics_far_end(const struct optics_graph *graph, u32 code)
{
	return &graph->guides[code >> 1].end[!(code & 1)];
}

/* The end of a circuit at @end, which is no element. */
static inline u32 optics_circuit_end(const struct optics_graph *graph, const struct optics_end *end)
{
	if (end->type == MORPH_END_EDGE)
		return optics_edge_end(graph, end->index);
	return end->index * graph->params.planes + end->port;
}

/* Like optics_refuse(), for an end of a circuit: a laser, a receiver, or an edge. */
static inline int optics_refuse_end(const struct optics_graph *graph,
				    struct optics_refusal *refusal, u32 reason, u32 part, u32 end,
				    s64 have, s64 need)
{
	int error;

	if (optics_end_is_edge(graph, end)) {
		part = OPTICS_PART_EDGE;
		end -= graph->ports_count;
	}
	error = optics_refuse(refusal, reason, part, end, have, need);
	if (refusal && (part == OPTICS_PART_LASER || part == OPTICS_PART_RECEIVER))
		refusal->planes = graph->params.planes;
	return error;
}

static inline u64 optics_low_mask(u32 bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

#endif /* MORPH_OPTICS_INTERNAL_H */
