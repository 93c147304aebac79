/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/formats.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_FORMATS_H
#define LM_INTERNAL_FORMATS_H

#include <morph/formats.h>

/**
 * enum morph_trace_kind - what an operation is
 * @MORPH_TRACE_OTHER: something that neither computes nor communicates, such as memory or metadata
 * @MORPH_TRACE_COMPUTE: it computes
 * @MORPH_TRACE_SEND: it sends to a rank
 * @MORPH_TRACE_RECEIVE: it receives from a rank
 * @MORPH_TRACE_COLLECTIVE: it takes part in a collective
 */
enum morph_trace_kind {
	MORPH_TRACE_OTHER = 0,
	MORPH_TRACE_COMPUTE = 1,
	MORPH_TRACE_SEND = 2,
	MORPH_TRACE_RECEIVE = 3,
	MORPH_TRACE_COLLECTIVE = 4,
};

/**
 * enum morph_trace_collective_kind - Chakra's collectives, by Chakra's numbers
 * @MORPH_TRACE_ALL_REDUCE: all-reduce
 * @MORPH_TRACE_REDUCE: reduce
 * @MORPH_TRACE_ALL_GATHER: all-gather
 * @MORPH_TRACE_GATHER: gather
 * @MORPH_TRACE_SCATTER: scatter
 * @MORPH_TRACE_BROADCAST: broadcast
 * @MORPH_TRACE_ALL_TO_ALL: all-to-all
 * @MORPH_TRACE_REDUCE_SCATTER: reduce-scatter
 * @MORPH_TRACE_REDUCE_SCATTER_BLOCK: reduce-scatter, with the same for each
 * @MORPH_TRACE_BARRIER: barrier
 */
enum morph_trace_collective_kind {
	MORPH_TRACE_ALL_REDUCE = 0,
	MORPH_TRACE_REDUCE = 1,
	MORPH_TRACE_ALL_GATHER = 2,
	MORPH_TRACE_GATHER = 3,
	MORPH_TRACE_SCATTER = 4,
	MORPH_TRACE_BROADCAST = 5,
	MORPH_TRACE_ALL_TO_ALL = 6,
	MORPH_TRACE_REDUCE_SCATTER = 7,
	MORPH_TRACE_REDUCE_SCATTER_BLOCK = 8,
	MORPH_TRACE_BARRIER = 9,
};

/**
 * struct morph_operation - something that a rank does
 * @id: its number in the file
 * @kind: enum morph_trace_kind
 * @collective: of a collective, enum morph_trace_collective_kind
 * @src: of a send or receive, the rank that sends
 * @dst: of a send or receive, the rank that receives
 * @tag: of a send or receive, the tag that identifies it
 * @bytes: of an operation that communicates, the number of bytes
 * @start_us: when it began, in microseconds, as the file counts them
 * @duration_us: how long it took, in microseconds
 * @dependencies: how many operations it waits for
 * @waits_for: their numbers, as of morph_trace_operation(), those of control first, then those of
 * 	data; owned by the trace
 * @name: what it is called; owned by the trace
 * @group: of a collective, the name of its group of ranks, or ""; owned by the trace
 */
struct morph_operation {
	uint64_t id;
	uint32_t kind;
	uint32_t collective;
	uint32_t src;
	uint32_t dst;
	uint64_t tag;
	uint64_t bytes;
	uint64_t start_us;
	uint64_t duration_us;
	uint32_t dependencies;
	const uint32_t *waits_for;
	const char *name;
	const char *group;
};

/**
 * morph_trace_operation() - read an operation of a rank
 * @trace: the trace
 * @rank: the rank
 * @number: its number, from 0, in the order of the file
 * @out: where to put it
 *
 * To read all operations of a rank, count @number up until the call fails.
 *
 * Return: 0, or -ENOENT (the rank was not read, or has no more operations).
 */
int morph_trace_operation(const struct morph_trace *trace, uint32_t rank, uint32_t number,
			  struct morph_operation *out);

#endif /* LM_INTERNAL_FORMATS_H */
