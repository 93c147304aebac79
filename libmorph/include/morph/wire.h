/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: requests, ledgers and plans in bytes. Included by <morph/plan.h>. */
#ifndef MORPH_WIRE_H
#define MORPH_WIRE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: The wire form
 *
 * What planners take and give is written in one form, for whoever has no business with the
 * library's memory: the checker, other programs, files. It is a sequence of 32-bit words,
 * little-endian. First the head, MORPH_WIRE_HEAD words: magic, version, enum morph_wire_kind,
 * the checksum of the profile (0 in a request), and the number of words in all. Then:
 *
 * A request: ranks; circuits; lanes of a circuit, and in the high half of the word how many
 * other circuits may share its fibres; enum morph_tier; enum morph_transit, and in the high half of
 * the word enum morph_servers; the three extents of a torus, or zeros. For each circuit the rank that sends and the one that
 * receives.
 *
 * A ledger: accelerators; elements; guides. For each accelerator the slice that has it, or 0,
 * and whether it is marked (bit 0), and a spare (bit 1). For each element whether it is marked (bit 0), whether circuits
 * between servers pass it (bit 1), and whether it is kept for a protection (bit 2). For each guide whether it is marked
 * (bit 0), and kept (bit 1), and the low and the high half of its lanes in use.
 *
 * Running slices: how many. For each its number; enum morph_transit; whether it is pinned; the
 * numbers of its ranks, circuits and strands; for each rank its accelerator; for each circuit the
 * rank that sends, the one that receives, its first strand and how many it has; the strands, as in a
 * plan.
 *
 * An answer of defragmentation: enum morph_verdict; enum morph_tier; ranks; whether parts that fill
 * a server stay together; circuits that are moved, how many go another way at least, and that go
 * dark; the numbers of steps, changes, strands, tenants, refusals, metrics and lengths. For each
 * rank its accelerator and its part. For each step enum morph_defrag_kind, its slice, or 0 for the one that was
 * requested, its first change and how many it has. For each change its circuit, first strand and
 * number of strands. The strands. For each tenant its slice, how many of its circuits are
 * moved, how many go dark, and the low and the high half of the nanoseconds for which the one is
 * dark that is so longest. For each refusal: lowest host of the rack; enum morph_wire_refusal; what
 * there is; what is needed; first metric; number of metrics. For each metric its first length and
 * how many it has. For each length the server that its fibres leave, the one that they reach, as
 * the rack counts them in the order of hosts, and the length. What all circuits of the rack need at
 * least, by these lengths, is more than those of all fibres that can be had together; links
 * without a length have none.
 *
 * A protection: enum morph_verdict; the numbers of ranks, ways, strands and refusals. For each rank
 * enum morph_verdict, its spare, or UINT32_MAX, its first way and how many it has, its first refusal and
 * how many it has. For each way the plan's circuit, its first strand and how many it has. The strands. For
 * each refusal the spare; enum morph_wire_spare; the low and the high half of the set of the rack's servers
 * where light departs, and of the set in which it arrives. These differ at most by servers that light may not
 * cross; out of the one, to arrive outside of the other, more circuits lead than there are fibres.
 *
 * A bandwidth problem: wavelengths; the numbers of accelerators, guides, groups, hops, and of the guides
 * of all hops together. For each accelerator its transmit and its receive ports. For each guide its fibres.
 * For each group what it must have, and what it has use for, UINT32_MAX for whatever it can get. For each hop its
 * group, the accelerator that sends, the one that receives, circuits for each unit, its first guide and how many
 * it has. The guides.
 *
 * Its answer: enum morph_verdict; enum morph_bandwidth_proof; the numbers of groups, hops, and circuits. Why all can't
 * have their least, as a stop: enum morph_bandwidth_part, index, and the low and the high half of what there
 * is and of what is needed. For each group what it gets, and its stop. For each hop how many circuits it has. For each
 * circuit, hop by hop, its wavelength, those of a hop in ascending order.
 *
 * A collective: ranks; the numbers of chunks, rounds, transfers and runs. For each chunk the rank where it begins,
 * and where it ends, or UINT32_MAX for each rank, and the low and the high half of its bytes. For each round its first
 * transfer and how many it has. For each transfer the rank that sends, the one that receives, whether it is summed there,
 * its first run and how many it has. For each run its first chunk and how many it has.
 *
 * A delay: enum morph_delay_scope; then, in picoseconds, each the low and the high half of what a round takes, a hop, the
 * megabits per second of a port, what a change takes, and what each circuit of it takes besides.
 *
 * A schedule: enum morph_verdict; ranks; planes; the low and the high half of the picoseconds after which all has arrived;
 * enum morph_schedule_bound, and the low and the high half of that bound; how many of the first holds are lit when it
 * starts; the numbers of matchings, circuits, holds, sends and hops. For each matching its first circuit and how many it
 * has. For each circuit the rank that sends and the one that receives. For each hold its plane, its matching, and the low and
 * the high half of the picoseconds from the start when it is set, lit and dark. For each send its round, its first transfer
 * of those of the round, and how many, its first hop and how many it has, and the low and the high half of the bytes of
 * each transfer, and of the picoseconds when it begins and when all has arrived. For each hop its hold. A circuit that
 * was there when its hold is set, and is so without a gap, is not set anew, and with MORPH_DELAY_PORT_SCOPE it
 * stays lit. With the other scopes all circuits that are set at once on a plane, or on any, are one change, and the next
 * begins when they are lit. Sends over the same circuit have the same times, or have nothing of them in common.
 *
 * Plans of a shim: ranks; planes; enum morph_policy; the root of broadcasts; the low and the high half of the budget; sizes between
 * two powers of two; the low and the high half of the nanoseconds that the last rank is late; a delay, as above; how many plans. For each enum morph_collective_kind; its size, counted in as many from each
 * power of two to the next, from 1 byte on; one more than the number of the plan whose circuits are lit before it, or 0; enum
 * morph_algorithm, its radix, its segments and its three extents, as struct morph_choice has them; enum morph_policy; how many words its schedule has; and the schedule, its head among them. Last the CRC-32 of all
 * words before.
 *
 * Steps, with the checksum of the profile in the head, 0 where it is not stated: whether they are a loop; the low and the
 * high half of the slice's generation; the numbers of circuits, steps, guides, and entries of what is held. For each circuit the
 * rank that sends, the one that receives, the plane of each, 65535 for any; how many lanes, and the low and the high half
 * of those that it may have; its first guide and how many it has. For each step its first entry and how many it has; enum
 * morph_step_begin; the low and the high half of the nanoseconds after the step before was lit when it begins, and when it is
 * to be lit. The guides. For each entry its circuit.
 *
 * A plan: enum morph_verdict; enum morph_tier; ranks; whether parts that fill a server stay
 * together; the fibres, how many there are at least, the servers, how many there are at least;
 * the numbers of circuits, strands, refusals and cuts. For each rank its accelerator and its
 * part. For each circuit its first strand and how many it has, one after the other, and in the
 * high half of that word its wavelength: of as many as share a fibre, numbered from 0, each of which
 * has as many lanes, side by side. For each
 * strand, a way from one server to the next: how many guides, then for each of five guides the
 * guide times two plus the end at which light enters it, the element behind it, and that
 * element's state; what is not there is UINT32_MAX. For each refusal: lowest host of the rack, or UINT32_MAX
 * of all racks together; enum morph_wire_refusal; what there is; what is needed; first cut; number of cuts. For each
 * cut the low and the high half of a set of the rack's servers, counted in the order of hosts.
 */
#define MORPH_WIRE_MAGIC 0x4c504d57U /* "WMPL" */
#define MORPH_WIRE_VERSION 5U
#define MORPH_WIRE_HEAD 5U /* words */
#define MORPH_WIRE_STRAND 16U /* words of a strand */

/**
 * enum morph_wire_kind - what is written
 * @MORPH_WIRE_REQUEST: a request
 * @MORPH_WIRE_LEDGER: a ledger
 * @MORPH_WIRE_PLAN: a plan
 * @MORPH_WIRE_RUNNING: slices that run
 * @MORPH_WIRE_DEFRAG: an answer of defragmentation
 * @MORPH_WIRE_PROTECTION: a protection
 * @MORPH_WIRE_BANDWIDTH: a bandwidth problem
 * @MORPH_WIRE_SHARES: its answer
 * @MORPH_WIRE_COLLECTIVE: a collective
 * @MORPH_WIRE_DELAY: what rounds and changes take
 * @MORPH_WIRE_SCHEDULE: a schedule
 * @MORPH_WIRE_SHIM: plans of a shim
 * @MORPH_WIRE_STEPS: circuits of a slice step by step
 */
enum morph_wire_kind {
	MORPH_WIRE_REQUEST = 1,
	MORPH_WIRE_LEDGER = 2,
	MORPH_WIRE_PLAN = 3,
	MORPH_WIRE_RUNNING = 4,
	MORPH_WIRE_DEFRAG = 5,
	MORPH_WIRE_PROTECTION = 6,
	MORPH_WIRE_BANDWIDTH = 7,
	MORPH_WIRE_SHARES = 8,
	MORPH_WIRE_COLLECTIVE = 9,
	MORPH_WIRE_DELAY = 10,
	MORPH_WIRE_SCHEDULE = 11,
	MORPH_WIRE_SHIM = 12,
	MORPH_WIRE_STEPS = 13,
};

/**
 * enum morph_wire_refusal - why a rack does not do
 * @MORPH_WIRE_COUNT: fewer accelerators are free than are wanted; of all racks together, where parts
 *	fill servers: in servers that are free
 * @MORPH_WIRE_CUTS: each box has an accelerator that is not free, or no routes; each embedding of the
 *	parts wants more out of one of the cuts than there is room for, or more fibres than there
 *	are by its distances, or has no routes. Of defragmentation: what each embedding wants, and
 *	what runs, is too long by one of the metrics, or has no ways
 * @MORPH_WIRE_DOUBT: nothing was found, and nothing proven
 */
enum morph_wire_refusal {
	MORPH_WIRE_COUNT = 0,
	MORPH_WIRE_CUTS = 1,
	MORPH_WIRE_DOUBT = 2,
};

/**
 * enum morph_wire_spare - why a spare does not do
 * @MORPH_WIRE_SPARE_CUT: more circuits lead out of a set of servers than there are fibres
 * @MORPH_WIRE_SPARE_SEARCHED: no cut forbids it, but all ways were tried in vain
 * @MORPH_WIRE_SPARE_DOUBT: nothing was found, and nothing proven
 */
enum morph_wire_spare {
	MORPH_WIRE_SPARE_CUT = 0,
	MORPH_WIRE_SPARE_SEARCHED = 1,
	MORPH_WIRE_SPARE_DOUBT = 2,
};

/**
 * morph_ledger_write() - a ledger in bytes
 * @ledger: the ledger
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_ledger_write(const struct morph_ledger *ledger, void *buffer, size_t bytes);

/**
 * morph_collective_write() - a collective in bytes
 * @collective: the collective
 * @buffer: where to; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC when @bytes is less.
 */
ssize_t morph_collective_write(const struct morph_collective *collective, void *buffer,
			       size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_WIRE_H */
