/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* What the files of this room share, and nobody else needs. */
#ifndef MORPH_OPTICS_INTERNAL_H
#define MORPH_OPTICS_INTERNAL_H

#include "optics.h"

/* The record of @section at @index; the section was checked by optics_blob_check(). */
static inline const void *optics_record(const void *blob,
					const struct morph_profile_section *section, u32 index)
{
	return (const u8 *)blob + (size_t)le64_to_cpu(section->offset) +
	       (size_t)index * le32_to_cpu(section->stride);
}

/* Where a record or a field of the blob lies, for refusals. */
static inline s64 optics_offset(const void *blob, const void *field)
{
	return (const u8 *)field - (const u8 *)blob;
}

/* Check head, checksum, section bounds and the numbers of the header; 0 or -EINVAL. */
int optics_blob_check(const void *blob, u64 bytes, struct optics_refusal *refusal);

/* A NUL-terminated name with nothing after it; @strict: not empty, [a-z0-9_-] only. */
bool optics_name_ok(const char *name, u32 bytes, bool strict);

/* Fill @refusal, when there is one, and return the errno of @reason. */
static inline int optics_refuse(struct optics_refusal *refusal, u32 reason, u32 part, u32 index,
				s64 have, s64 need)
{
	if (refusal) {
		refusal->reason = reason;
		refusal->part = part;
		refusal->index = index;
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

/* Where light that entered a guide at the coded end comes out. */
static inline const struct optics_end *optics_far_end(const struct optics_graph *graph, u32 code)
{
	return &graph->guides[code >> 1].end[!(code & 1)];
}

/* The accelerator that a port belongs to, and the mask of all planes. */
static inline u32 optics_port_accelerator(const struct optics_graph *graph, u32 port)
{
	return port / graph->params.planes;
}

static inline u64 optics_low_mask(u32 bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

#endif /* MORPH_OPTICS_INTERNAL_H */
