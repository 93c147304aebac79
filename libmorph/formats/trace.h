/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internal structures of traces. */
#ifndef LM_FORMATS_TRACE_H
#define LM_FORMATS_TRACE_H

#include "../internal/formats.h"
#include "formats.h"

#define MOST_RANKS 4096
#define NONE UINT32_MAX

/* An operation of a rank; @src and @dst can be NONE. */
struct operation {
	uint64_t id, tag, bytes, start_us, duration_us;
	uint32_t kind, collective, src, dst;
	uint32_t first, count; /* dependencies */
	uint32_t name, group; /* offsets in the texts */
	uint32_t byte; /* offset in the file where its message begins */
};

struct rank {
	LIST_OF(struct operation) operations;
	LIST_OF(uint32_t) dependencies; /* operations */
	LIST_OF(char) texts;
};

struct morph_trace {
	uint32_t ranks;
	struct rank *list[MOST_RANKS]; /* by rank; NULL: not read */
};

/* Number of operations of a rank; 0 if it was not read. */
static inline uint32_t lm_trace_count(const struct morph_trace *trace, uint32_t rank)
{
	return rank < trace->ranks && trace->list[rank] ? trace->list[rank]->operations.count : 0;
}

#endif /* LM_FORMATS_TRACE_H */
