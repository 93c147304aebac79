/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What runs, and an answer of defragmentation, as the checker reads them. */
#ifndef CHECK_DEFRAG_H
#define CHECK_DEFRAG_H

#include <morph/wire.h>

#include "internal.h"

/* A circuit that runs. */
struct lit {
	uint32_t slice; /* its place among those that run */
	uint32_t circuit, src, dst; /* ranks */
	uint32_t src_host, dst_host;
	const uint8_t *strands; /* as it goes now */
	uint32_t count;
	const uint8_t *first_strands; /* as it went at first */
	uint32_t first_count;
	bool may_move; /* it is not pinned, and on sound hardware */
	bool dark;
	uint32_t step; /* that changed it last, and one more */
	bool moved, interrupted;
	uint64_t dark_ns;
};

struct slice {
	uint32_t number, transit, pinned, ranks, circuits, strands;
	const uint8_t *accelerators, *circuit_words, *strand_words;
	uint32_t first_lit; /* its circuits in lit */
};

struct answer_words {
	uint32_t verdict, moved, least, dark;
	uint32_t steps, changes, strands, tenants, refusals, metrics, lengths;
	const uint8_t *step_words, *change_words, *strand_words, *tenant_words;
	const uint8_t *refusal_words, *metric_words, *length_words;
};

struct defrag {
	struct check check; /* its plan: the request's ranks */
	struct used used;
	uint32_t slices_count, lit_count;
	struct slice *slices;
	struct lit *lit;
	struct answer_words answer;
	uint64_t light_ns;
};

#define wrong(defrag, ...) ck_wrong(&(defrag)->check, __VA_ARGS__)

static inline const uint8_t *strand_at(const uint8_t *strands, uint32_t number)
{
	return strands + 4 * (size_t)number * MORPH_WIRE_STRAND;
}

/* All steps, on what runs as it was at first: 0 or a report. */
int ck_replay(struct defrag *defrag);

/* Room for the request without what may move, in a rack. */
int ck_reroute_refused(struct defrag *defrag);

/* That no answer leads fewer circuits another way. */
int ck_reroute_least(struct defrag *defrag);

#endif /* CHECK_DEFRAG_H */
