/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph: requests, ledgers and plans in the wire format. Included by <morph/plan.h>. */
#ifndef MORPH_WIRE_H
#define MORPH_WIRE_H

#include <morph/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: The wire format
 *
 * Inputs and answers of planners have one format for users outside the library's memory: the
 * checker, other programs, files. It is a sequence of 32-bit words, little-endian. A 64-bit value
 * is two words, the low half first; they are marked "64". The head has MORPH_WIRE_HEAD words:
 * magic, version, enum morph_wire_kind, the checksum of the profile (0 in a request), and the total
 * number of words. "A list of x" in the following is two words: the index of the first x and the
 * number of x.
 *
 * A section is the part of a path from one server to the next.
 *
 * A request:
 *
 * - ranks; circuits; lanes of a circuit, with the number of other circuits that may share its
 *   fibres in the high half-word
 * - enum morph_tier; enum morph_transit, with enum morph_servers in the high half-word
 * - the three extents of a torus, or zeros
 * - for each circuit: the rank that sends, the rank that receives
 *
 * A ledger:
 *
 * - numbers of accelerators, elements and guides
 * - for each accelerator: its slice or 0; bit 0: marked, bit 1: a spare
 * - for each element: bit 0: marked, bit 1: passed by circuits between servers, bit 2: kept for a
 *   protection
 * - for each guide: bit 0: marked, bit 1: kept; 64: lanes in use
 *
 * Running slices:
 *
 * - number of slices
 * - for each slice: its number; enum morph_transit; whether it is pinned; numbers of its ranks,
 *   circuits and sections
 * - then for each rank of the slice: its accelerator
 * - for each circuit: the rank that sends, the rank that receives, a list of sections
 * - the sections, as in a plan
 *
 * An answer of defragmentation:
 *
 * - enum morph_verdict; enum morph_tier; ranks; whether parts that fill a server stay together
 * - circuits that are moved; lower bound for those that change their path; circuits that go dark
 * - numbers of steps, changes, sections, tenants, refusals, metrics and lengths
 * - for each rank: its accelerator and its part
 * - for each step: enum morph_defrag_kind; its slice, or 0 for the requested one; a list of changes
 * - for each change: its circuit; a list of sections
 * - the sections
 * - for each tenant: its slice; circuits that are moved; circuits that go dark; 64: the longest
 *   dark time of a circuit in nanoseconds
 * - for each refusal: lowest host of the rack; enum morph_wire_refusal; what exists; what is
 *   needed; a list of metrics
 * - for each metric: a list of lengths
 * - for each length: the server that fibres leave, the one that they reach, in the order of hosts
 *   of the rack; the length. By these lengths, all circuits of the rack need more than all fibres
 *   that are available together. Links without a length have none
 *
 * A protection:
 *
 * - enum morph_verdict; numbers of ranks, paths, sections and refusals
 * - for each rank: enum morph_verdict; its spare, or UINT32_MAX; a list of paths; a list of
 *   refusals
 * - for each path: the plan's circuit; a list of sections
 * - the sections
 * - for each refusal: the spare; enum morph_wire_spare; 64: the set of the rack's servers from
 *   which light departs; 64: the set in which it arrives. The sets differ at most by servers that
 *   light may not cross. More circuits lead out of the first, to arrive outside of the second, than
 *   fibres exist
 *
 * A bandwidth problem:
 *
 * - wavelengths; numbers of accelerators, guides, groups, hops, and guides of all hops
 * - for each accelerator: its transmit ports and its receive ports
 * - for each guide: its fibres
 * - for each group: its least bandwidth; its useful bandwidth, UINT32_MAX for no limit
 * - for each hop: its group; the accelerator that sends, the one that receives; circuits per unit;
 *   a list of guides
 * - the guides
 *
 * Its answer:
 *
 * - enum morph_verdict; enum morph_bandwidth_proof; numbers of groups, hops and circuits
 * - the stop that keeps a group from its least bandwidth: enum morph_bandwidth_part; index; 64:
 *   what exists; 64: what is needed
 * - for each group: its bandwidth, and its stop
 * - for each hop: its number of circuits
 * - for each circuit, hop by hop: its wavelength, in ascending order within a hop
 *
 * A collective:
 *
 * - ranks; numbers of chunks, rounds, transfers and runs
 * - for each chunk: the rank where it begins, the rank where it ends, UINT32_MAX for each rank; 64:
 *   its bytes
 * - for each round: a list of transfers
 * - for each transfer: the rank that sends, the rank that receives, whether it is summed; a list of
 *   runs
 * - for each run: a list of chunks
 *
 * A delay:
 *
 * - enum morph_delay_scope
 * - 64, in picoseconds: the time of a round; the time of a hop
 * - 64: the bandwidth of a port in megabits per second
 * - 64, in picoseconds: the time of a change; the further time for each of its circuits
 *
 * A schedule:
 *
 * - enum morph_verdict; ranks; planes; 64: the end in picoseconds
 * - enum morph_schedule_bound; 64: that bound in picoseconds
 * - number of the first holds that are lit at the start; numbers of matchings, circuits, holds,
 *   sends and hops
 * - for each matching: a list of circuits
 * - for each circuit: the rank that sends, the rank that receives
 * - for each hold: its plane; its matching; three of 64: picoseconds from the start at which it is
 *   set, lit and dark
 * - for each send: its round; a list of transfers within the round; a list of hops
 * - also for the send: 64: the bytes of each transfer; two of 64: picoseconds at which it begins
 *   and has arrived
 * - for each hop: its hold
 *
 * A circuit that exists without a gap when its hold is set is not set again. With
 * MORPH_DELAY_PORT_SCOPE it stays lit. With the other scopes, all circuits that are set at once on
 * a plane, or on any, are one change, and the next begins when they are lit. Sends over one circuit
 * have the same times, or do not overlap.
 *
 * Plans of a shim:
 *
 * - ranks; planes; enum morph_policy; the root of broadcasts; 64: the budget; sizes between two
 *   powers of two
 * - 64: nanoseconds by which the last rank is late; a delay, as above; number of plans
 * - for each plan: enum morph_collective_kind; its size, as a count of buckets from 1 byte on
 * - the number of the plan before it, plus 1, or 0
 * - enum morph_algorithm, radix, segments and three extents, as in struct morph_choice; enum
 *   morph_policy
 * - the number of words of its schedule; the schedule, with its head
 * - at the end the CRC-32 of all earlier words
 *
 * Steps. The head has the checksum of the profile, or 0 if it is not stated:
 *
 * - whether they are a loop; 64: the slice's generation; numbers of circuits, steps, guides and
 *   entries
 * - for each circuit: the rank that sends, the rank that receives, the plane of each, 65535 for any
 * - also for the circuit: its number of lanes; 64: the lanes to choose from; a list of guides
 * - for each step: a list of entries; enum morph_step_begin; 64: its begin, and 64: its deadline,
 *   in nanoseconds after the previous step was lit
 * - the guides
 * - for each entry: its circuit
 *
 * A plan:
 *
 * - enum morph_verdict; enum morph_tier; ranks; whether parts that fill a server stay together
 * - fibres; their lower bound; servers; their lower bound; numbers of circuits, sections, refusals
 *   and cuts
 * - for each rank: its accelerator and its part
 * - for each circuit: a list of consecutive sections, with its wavelength in the high half of the
 *   second word. Circuits that share a fibre are numbered from 0; each number stands for as many
 *   adjacent lanes as a circuit has
 * - for each section: the number of guides. For each of five guides: the guide times two plus the
 *   end at which light enters it; the element behind it; the state of that element. Missing ones
 *   are UINT32_MAX
 * - for each refusal: lowest host of the rack, or UINT32_MAX for all racks together; enum
 *   morph_wire_refusal; what exists; what is needed; a list of cuts
 * - for each cut: 64: a set of the rack's servers, in the order of hosts
 */
#define MORPH_WIRE_MAGIC 0x4c504d57U /* "WMPL" */
#define MORPH_WIRE_VERSION 5U
#define MORPH_WIRE_HEAD 5U /* words */
#define MORPH_WIRE_STRAND 16U /* words of a section */

/**
 * enum morph_wire_kind - the content
 * @MORPH_WIRE_REQUEST: a request
 * @MORPH_WIRE_LEDGER: a ledger
 * @MORPH_WIRE_PLAN: a plan
 * @MORPH_WIRE_RUNNING: running slices
 * @MORPH_WIRE_DEFRAG: an answer of defragmentation
 * @MORPH_WIRE_PROTECTION: a protection
 * @MORPH_WIRE_BANDWIDTH: a bandwidth problem
 * @MORPH_WIRE_SHARES: its answer
 * @MORPH_WIRE_COLLECTIVE: a collective
 * @MORPH_WIRE_DELAY: durations of rounds and changes
 * @MORPH_WIRE_SCHEDULE: a schedule
 * @MORPH_WIRE_SHIM: plans of a shim
 * @MORPH_WIRE_STEPS: circuits of a slice, step by step
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
 * enum morph_wire_refusal - reasons against a rack
 * @MORPH_WIRE_COUNT: too few accelerators are free; for all racks together, if parts fill servers:
 *	too few in free servers
 * @MORPH_WIRE_CUTS: each box has an occupied accelerator or no routes. Each embedding of the parts
 *	exceeds the capacity of a cut, needs more fibres by its distances than exist, or has no
 *	routes. For defragmentation: each embedding and the running slices together are too long by
 *	one of the metrics, or have no paths
 * @MORPH_WIRE_DOUBT: neither a solution nor a proof was found
 */
enum morph_wire_refusal {
	MORPH_WIRE_COUNT = 0,
	MORPH_WIRE_CUTS = 1,
	MORPH_WIRE_DOUBT = 2,
};

/**
 * enum morph_wire_spare - reasons against a spare
 * @MORPH_WIRE_SPARE_CUT: more circuits lead out of a set of servers than the number of its fibres
 * @MORPH_WIRE_SPARE_SEARCHED: no cut forbids it, but all paths were tried without success
 * @MORPH_WIRE_SPARE_DOUBT: neither a solution nor a proof was found
 */
enum morph_wire_spare {
	MORPH_WIRE_SPARE_CUT = 0,
	MORPH_WIRE_SPARE_SEARCHED = 1,
	MORPH_WIRE_SPARE_DOUBT = 2,
};

/**
 * morph_ledger_write() - write a ledger in the wire format
 * @ledger: the ledger
 * @buffer: where to put it; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC if @bytes is less.
 */
ssize_t morph_ledger_write(const struct morph_ledger *ledger, void *buffer, size_t bytes);

/**
 * morph_collective_write() - write a collective in the wire format
 * @collective: the collective
 * @buffer: where to put it; NULL to ask for the size
 * @bytes: its size
 *
 * Return: the size in bytes, or -ENOSPC if @bytes is less.
 */
ssize_t morph_collective_write(const struct morph_collective *collective, void *buffer,
			       size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_WIRE_H */
