/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph-formats: files of other programs. Not part of <morph/morph.h>; link libmorph-formats. */
#ifndef MORPH_FORMATS_H
#define MORPH_FORMATS_H

#include <morph/collective.h>
#include <morph/delay.h>
#include <morph/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DOC: Files of other programs
 *
 * A separate library for files of other programs: algorithms in MSCCL's XML, execution traces of
 * Chakra, profiles of Open MPI, schedules in Harvest's format. Calls take the content of a file,
 * not its name. They keep no state outside of the given objects, which one thread at a time uses.
 *
 * The calls accept arbitrary input of limited size. They report errors with the line or the byte,
 * and the reason. The sentence goes to the caller's buffer, which may be NULL:
 *
 *	char why[256];
 *
 *	if (morph_msccl_read(collective, text, length, 1 << 20, why, sizeof(why)))
 *		fprintf(stderr, "%s: %s\n", path, why);
 */

/* --------------------------------------------------------------- MSCCL's XML */

/**
 * morph_msccl_read() - read an algorithm in MSCCL's XML as a collective
 * @collective: the collective; its content is replaced
 * @text: the file
 * @length: its size in bytes, at most 64 MiB
 * @bytes: the buffer of each rank; nchunksperloop gives the share of a chunk, rounded up
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * The steps are s, r, rcs, rrs, rrc, rrcs, cpy, re and nop. The first send of a threadblock to a
 * gpu on a channel matches the first receive from it, and so on. The call follows data through
 * buffers and copies. A chunk of the collective is the data that is summed together, wherever it
 * lies. It begins and ends as in the file, which must agree with @coll: allreduce, allgather,
 * reduce_scatter, alltoall or broadcast. In any other collective, not in place, chunks end at their
 * place in an output buffer.
 *
 * Rounds are levels of dependency: the longest path of messages that a send waits for, because of
 * their data or by depid and deps. Later steps of a threadblock are in the same round or a later
 * one. The sends of a threadblock in a round are one transfer.
 *
 * The call verifies the rounds like morph_collective_run(): each gpu's part is summed once.
 *
 * O(n log n) in the chunks of all buffers and of all steps, at most 2^22 of each, plus that call's.
 *
 * Return: 0; -EINVAL (malformed), -EBADMSG (the data does not end as @coll says, or chunks of ranks
 * differ), -E2BIG, -ENOMEM, or the errors of the morph_collective_ calls.
 */
int morph_msccl_read(struct morph_collective *collective, const char *text, size_t length,
		     uint64_t bytes, char *why, size_t room);

/**
 * morph_msccl_write() - write a collective as an algorithm in MSCCL's XML
 * @collective: the collective
 * @name: its name, of letters, digits, and any of "_-."
 * @buffer: where to put it, without a NUL; NULL to ask for the size
 * @bytes: its size
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * Transfers of a round between the same two ranks use separate channels. In a round, a rank waits
 * for all of its work in its previous active round. Reading the file gives the same transfers, and
 * chunks in the order of where they begin. The rounds are the same, except those that only an idle
 * rank kept apart.
 *
 * In the file all chunks have the same size: the greatest common divisor of the collective's sizes.
 * To restore the sizes, read with that size times nchunksperloop bytes. Chunks without bytes that
 * no rank sends are left out.
 *
 * Return: the size in bytes; -ENOSPC if @bytes is less; -EINVAL (an invalid name; a chunk without
 * bytes is sent beside others), -E2BIG (more than 2^20 chunks of the file's size) or -ENOMEM.
 */
ssize_t morph_msccl_write(const struct morph_collective *collective, const char *name, char *buffer,
			  size_t bytes, char *why, size_t room);

/* --------------------------------------------------- Chakra's execution traces */

struct morph_trace;

/**
 * morph_trace_new() - make a trace without ranks
 *
 * Return: the trace, freed by morph_trace_free(); NULL when out of memory.
 */
struct morph_trace *morph_trace_new(void);

/**
 * morph_trace_free() - free a trace
 * @trace: the trace, or NULL
 */
void morph_trace_free(struct morph_trace *trace);

/**
 * morph_trace_read() - add the operations of a rank, from its file PREFIX.RANK.et
 * @trace: the trace
 * @rank: the rank, below 4096
 * @data: the file: protobuf messages, each after its length
 * @length: its size in bytes, at most 1 GiB
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * O(n log n). On failure the trace is unchanged.
 *
 * Return: 0; -EINVAL (malformed; an operation waits for a missing one, or for itself), -EEXIST (the
 * rank was read before), -E2BIG (more than 2^24 operations, or 2^26 dependencies) or -ENOMEM.
 */
int morph_trace_read(struct morph_trace *trace, uint32_t rank, const void *data, size_t length,
		     char *why, size_t room);

/**
 * morph_trace_convert() - convert the messages of a trace to a collective
 * @trace: the trace
 * @collective: the collective; its content is replaced
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * For traces with sends and receives and without collectives, such as those of an algorithm. Sends
 * and receives match by ranks and tag, in the order of files. Traces do not have the content of
 * messages: each message is a chunk that begins at the sender and ends at the receiver. Rounds are
 * levels of dependency.
 *
 * O(n log n).
 *
 * Return: 0; -EINVAL (a rank that sends to itself or to none; a collective), -EBADMSG (unmatched
 * sends, receives or sizes; messages wait for each other), -ENOMEM, or the
 * errors of the morph_collective_ calls.
 */
int morph_trace_convert(const struct morph_trace *trace, struct morph_collective *collective,
			char *why, size_t room);

/* ------------------------------------------------------- profiles of Open MPI */

/**
 * morph_monitoring_read() - add the messages of a profile of Open MPI's pml_monitoring
 * @bytes: bytes[src * ranks + dst], to which the call adds
 * @ranks: number of ranks
 * @text: the file, PREFIX.RANK.prof, or several in sequence
 * @length: its size in bytes
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * Reads messages of programs (E), of the library, such as those of collectives (I), and one-sided
 * ones (S, R). It leaves out lines about collectives (C, D, A2A, A2O, O2A), because I already has
 * their messages. A rank sends another at most 2^50 bytes, the limit of a chunk. On failure, the
 * lines before the wrong one were added.
 *
 * Return: 0 or -EINVAL.
 */
int morph_monitoring_read(uint64_t *bytes, uint32_t ranks, const char *text, size_t length,
			  char *why, size_t room);

/* -------------------------------------------------- schedules as Harvest has them */

struct morph_segments;

/**
 * morph_segments_read() - read a schedule of topologies in Harvest's format (arXiv 2602.09188)
 * @text: the file, JSON
 * @length: its size in bytes, at most 64 MiB
 * @out: where to put the schedule, freed by morph_segments_free(); unchanged on failure
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * Steps are numbered consecutively, from any number on.
 *
 * Return: 0, -EINVAL (malformed), -E2BIG or -ENOMEM.
 */
int morph_segments_read(const char *text, size_t length, struct morph_segments **out, char *why,
			size_t room);

/**
 * morph_segments_free() - free a schedule of segments
 * @segments: the schedule, or NULL
 */
void morph_segments_free(struct morph_segments *segments);

/**
 * struct morph_segments_about - the sizes and times of a schedule of segments
 * @collective: its name; owned by the schedule
 * @ranks: the highest rank of a link, plus one
 * @steps: number of steps
 * @reconfigurations: number of changes of the topology
 * @reconfiguration_ns: duration of each
 * @all_reconfigurations_ns: duration of all
 * @cost_ns: total time, without the first topology, which exists before
 */
struct morph_segments_about {
	const char *collective;
	uint32_t ranks;
	uint32_t steps;
	uint32_t reconfigurations;
	double reconfiguration_ns;
	double all_reconfigurations_ns;
	double cost_ns;
};

/**
 * morph_segments_about() - read name, sizes and cost of a schedule of segments
 * @segments: the schedule
 * @out: where to put it
 */
void morph_segments_about(const struct morph_segments *segments, struct morph_segments_about *out);

/**
 * struct morph_link - a link of a topology
 * @src: rank that sends
 * @dst: rank that receives
 * @capacity: number of circuits, which may be a fraction
 */
struct morph_link {
	uint32_t src;
	uint32_t dst;
	double capacity;
};

/**
 * morph_segments_link() - read a link of a step
 * @segments: the schedule
 * @step: the step, from 0
 * @number: the number of the link, from 0
 * @out: where to put it
 *
 * To read all links of a step, count @number up until the call fails.
 *
 * Return: 0, or -ENOENT (no such step, or it has no more links).
 */
int morph_segments_link(const struct morph_segments *segments, uint32_t step, uint32_t number,
			struct morph_link *out);

/**
 * morph_segments_write() - write a schedule as one of segments
 * @schedule: a feasible schedule
 * @collective: its collective
 * @delay: its delay
 * @name: name of the collective, of letters, digits, and any of "_-."
 * @buffer: where to put it, without a NUL; NULL to ask for the size
 * @bytes: its size
 * @why: where to put the error as a sentence; may be NULL
 * @room: its size
 *
 * The topology of a step is all circuits of the holds that carry its round, with a capacity for
 * each plane. A step without sends has the previous topology. The duration of a reconfiguration is
 * that of a change of one circuit of each rank. The first topology exists before, so the cost does
 * not include setting it. The format cannot express planes that change while others send.
 *
 * Return: the size in bytes; -ENOSPC if @bytes is less; -EINVAL (not feasible, an invalid name, or
 * a schedule of another collective) or -ENOMEM.
 */
ssize_t morph_segments_write(const struct morph_schedule *schedule,
			     const struct morph_collective *collective,
			     const struct morph_delay *delay, const char *name, char *buffer,
			     size_t bytes, char *why, size_t room);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_FORMATS_H */
