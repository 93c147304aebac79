/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running slices and an answer of defragmentation, as the checker reads them. */
#ifndef CHECK_DEFRAG_H
#define CHECK_DEFRAG_H

#include <morph/wire.h>

#include "internal.h"

/* A running circuit. */
struct lit {
	uint32_t slice; /* index of its slice */
	uint32_t circuit, src, dst; /* ranks */
	uint32_t src_host, dst_host;
	const uint8_t *strands; /* present path */
	uint32_t count;
	const uint8_t *first_strands; /* first path */
	uint32_t first_count;
	bool may_move; /* it is not pinned, and its hardware is healthy */
	bool dark;
	uint32_t step; /* last step that changed it, plus one */
	bool moved, interrupted;
	uint64_t dark_ns;
};

struct slice {
	uint32_t number, transit, pinned, ranks, circuits, strands;
	const uint8_t *accelerators, *circuit_words, *strand_words;
	uint32_t first_lit; /* its first circuit in lit */
};

struct answer_words {
	uint32_t verdict, moved, least, dark;
	uint32_t steps, changes, strands, tenants, refusals, metrics, lengths;
	const uint8_t *step_words, *change_words, *strand_words, *tenant_words;
	const uint8_t *refusal_words, *metric_words, *length_words;
};

struct defrag {
	struct check check; /* its plan has the request's ranks */
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

/* Replay all steps from the initial state. 0 or a report. */
int ck_replay(struct defrag *defrag);

/* Whether the request really does not fit in a rack, whatever the routes of movable circuits. */
int ck_reroute_refused(struct defrag *defrag);

/* Whether no answer moves fewer circuits. */
int ck_reroute_least(struct defrag *defrag);

#endif /* CHECK_DEFRAG_H */
