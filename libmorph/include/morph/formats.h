/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libmorph-formats: files of other programs, in and out. Not part of <morph/morph.h>; links libmorph-formats. */
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
 * A library of its own beside libmorph, for programs that read and write what others do: algorithms in MSCCL's XML, execution
 * traces of Chakra, profiles of Open MPI, schedules as Harvest publishes them. Calls take what is in a file, not its
 * name. They keep nothing outside of the objects that they are given, which are used by one thread at a time.
 *
 * What is read may be anything: its size is limited, and whatever is wrong is told with the line, or the byte, and the
 * reason. The sentence goes to the caller's buffer, which may be NULL:
 *
 *	char why[256];
 *
 *	if (morph_msccl_read(collective, text, length, 1 << 20, why, sizeof(why)))
 *		fprintf(stderr, "%s: %s\n", path, why);
 */

/* --------------------------------------------------------------- MSCCL's XML */

/**
 * morph_msccl_read() - an algorithm in MSCCL's XML becomes a collective
 * @collective: the collective; what was in it is forgotten
 * @text: the file
 * @length: its size in bytes, 64 MiB at most
 * @bytes: the buffer of each rank, of which a chunk is the share that nchunksperloop says, rounded up
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Steps s, r, rcs, rrs, rrc, rrcs, cpy, re and nop. The first send of a threadblock to a gpu on a channel is matched with
 * the first receive from it, and so on. What is moved is followed through buffers and copies: a chunk of the collective is
 * what is summed together, wherever it lies, and begins and ends where it does in the file, which has to be as @coll says:
 * allreduce, allgather, reduce_scatter, alltoall and broadcast; of any other, not in place, chunks end
 * where they are in an output buffer.
 *
 * Rounds are levels of dependency: of the longest path of messages that a send waits for, because it sends what they
 * brought, or by depid and deps. Steps of a threadblock are in the same round or later ones. What a threadblock sends
 * in a round is one transfer.
 *
 * The rounds are carried out as morph_collective_run() does it: each gpu's part is summed once.
 *
 * O(n log n) in the chunks that all buffers have and all steps move, at most 2^22 of each, and that call's.
 *
 * Return: 0; -EINVAL (malformed), -EBADMSG (it does not do what it says, or not with one of each chunk for each rank),
 * -E2BIG, -ENOMEM, or what morph_collective_begin() and those after it say.
 */
int morph_msccl_read(struct morph_collective *collective, const char *text, size_t length,
		     uint64_t bytes, char *why, size_t room);

/**
 * morph_msccl_write() - a collective becomes an algorithm in MSCCL's XML
 * @collective: the collective
 * @name: what it is to be called, of letters, digits, and any of "_-."
 * @buffer: where to put it, without a NUL; NULL to ask for the size
 * @bytes: its size
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Transfers of a round between the same two ranks are on channels of their own. What a rank does in a round waits for
 * all that it did in the one before in which it did anything. So what is read back has the same transfers, chunks in the
 * order of where they begin, and the rounds, but for those that only a rank that was idle kept apart.
 *
 * In the file all chunks have the same size, the greatest common divisor of those of the collective. Read back with
 * that times nchunksperloop bytes they have as many as before. Those without bytes that nobody sends are left out.
 *
 * Return: the size in bytes; -ENOSPC when @bytes is less; -EINVAL (a name that is none; a chunk without bytes
 * is sent beside others), -E2BIG (more than 2^20 chunks of the file's size) or -ENOMEM.
 */
ssize_t morph_msccl_write(const struct morph_collective *collective, const char *name, char *buffer,
			  size_t bytes, char *why, size_t room);

/* --------------------------------------------------- Chakra's execution traces */

struct morph_trace;

/**
 * morph_trace_new() - begin a trace, without ranks
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
 * morph_trace_read() - add what a rank does, from its file PREFIX.RANK.et
 * @trace: the trace
 * @rank: the rank, below 4096
 * @data: the file: protobuf messages, each behind its length
 * @length: its size in bytes, 1 GiB at most
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * O(n log n). Where it fails the trace is as before.
 *
 * Return: 0; -EINVAL (malformed; an operation waits for one that there is not, or for itself), -EEXIST (the
 * rank was read before), -E2BIG (more than 2^24 operations, or 2^26 dependencies) or -ENOMEM.
 */
int morph_trace_read(struct morph_trace *trace, uint32_t rank, const void *data, size_t length,
		     char *why, size_t room);

/**
 * morph_trace_convert() - what ranks send one another becomes a collective
 * @trace: the trace
 * @collective: the collective; what was in it is forgotten
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * For traces that have sends and receives, and no collectives: such as those of an algorithm. Sends and
 * receives are matched by ranks and tag, in the order of files. Traces do not tell what is in a message: each is a chunk that
 * begins where it is sent and ends where it is received. Rounds are levels of dependency.
 *
 * O(n log n).
 *
 * Return: 0; -EINVAL (a rank that sends to itself or to none; it has a collective), -EBADMSG (a send without a
 * receive or the reverse, another size; messages wait for one another), -ENOMEM, or what morph_collective_begin() and
 * those after it say.
 */
int morph_trace_convert(const struct morph_trace *trace, struct morph_collective *collective,
			char *why, size_t room);

/* ------------------------------------------------------- profiles of Open MPI */

/**
 * morph_monitoring_read() - add what ranks sent, from a profile of Open MPI's pml_monitoring
 * @bytes: bytes[src * ranks + dst], to which is added
 * @ranks: how many
 * @text: the file, PREFIX.RANK.prof, or several one after the other
 * @length: its size in bytes
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Messages of programs (E), of the library, such as those of collectives (I), and one-sided ones (S, R). Lines that tell of
 * collectives as programs called them (C, D, A2A, A2O, O2A) are of what is in I already, and are left out. A rank sends
 * another 2^50 bytes at most, as chunks of a collective are limited.
 * Where it fails, lines before the one that is wrong were added.
 *
 * Return: 0 or -EINVAL.
 */
int morph_monitoring_read(uint64_t *bytes, uint32_t ranks, const char *text, size_t length,
			  char *why, size_t room);

/* -------------------------------------------------- schedules as Harvest has them */

struct morph_segments;

/**
 * morph_segments_read() - read a schedule of topologies, as Harvest (arXiv 2602.09188) publishes
 * them
 * @text: the file, JSON
 * @length: its size in bytes, 64 MiB at most
 * @out: where to put the schedule, freed by morph_segments_free(); left alone on failure
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * Steps are numbered one after the other; where the file begins does not matter.
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
 * struct morph_segments_about - what a schedule of segments says of itself
 * @collective: its name; owned by the schedule
 * @ranks: the highest that a link names, plus one
 * @steps: how many
 * @reconfigurations: how often the topology changes
 * @reconfiguration_ns: what each of them takes
 * @all_reconfigurations_ns: what all of them take
 * @cost_ns: what all takes, but for the first topology, which is there before
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
 * @capacity: of how many circuits it is, which may be a fraction
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
 * morph_segments_write() - a schedule becomes one of segments
 * @schedule: a feasible schedule
 * @collective: what it is of
 * @delay: what it was planned with
 * @name: what the collective is called, of letters, digits, and any of "_-."
 * @buffer: where to put it, without a NUL; NULL to ask for the size
 * @bytes: its size
 * @why: where to put a sentence that says what is wrong; may be NULL
 * @room: its size
 *
 * The topology of a step is all circuits of the holds over which its round is sent, a capacity for each plane. A step
 * in which nothing is sent has that of the one before. What a reconfiguration takes is what a change of one circuit of
 * each rank does; the first topology is there before, so that what it takes to set it is not in the cost. Of what planes do
 * while others send the form says nothing.
 *
 * Return: the size in bytes; -ENOSPC when @bytes is less; -EINVAL (not feasible, a name that is none, or a schedule of
 * another collective) or -ENOMEM.
 */
ssize_t morph_segments_write(const struct morph_schedule *schedule,
			     const struct morph_collective *collective,
			     const struct morph_delay *delay, const char *name, char *buffer,
			     size_t bytes, char *why, size_t room);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_FORMATS_H */
