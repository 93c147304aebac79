/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules for tests. The checker checks each planned schedule. */
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include "../check/check.h"
#include "alone.h"

/* A schedule and its inputs in the wire form. */
struct written {
	uint32_t *collective, *delay, *after, *schedule;
	size_t collective_bytes, delay_bytes, after_bytes, schedule_bytes;
	uint32_t planes;
};

/* @after: the schedule before, or NULL. */
struct written write_schedule(const struct morph_collective *collective,
			      const struct morph_delay *delay, uint32_t planes,
			      const struct morph_schedule *after,
			      const struct morph_schedule *schedule);
void forget_written(struct written *written);
int check_written(const struct written *written, char report[256]);

/* Fail the test if the checker rejects the schedule. */
void assert_valid(const struct morph_collective *collective, const struct morph_delay *delay,
		  uint32_t planes, const struct morph_schedule *after,
		  const struct morph_schedule *schedule);

/*
 * Random rounds of transfers, with chunks that begin at one rank and end at another. In one
 * collective of four, half of the rounds are instead exchanges of all ranks with all, of a chunk
 * that each rank sums.
 */
struct morph_collective *random_rounds(uint64_t *seed, uint32_t ranks, uint32_t rounds,
				       uint32_t transfers);

/* An all-reduce in one round: each rank sends its part to all others. */
struct morph_collective *exchange(uint32_t ranks, uint64_t bytes);

/*
 * An all-reduce on a ring, with a chunk for each rank. Each send of a round waits for the round
 * before.
 */
struct morph_collective *ring(uint32_t ranks, uint64_t bytes);

/* Rounds of 500 ns, hops of 100 ns, 100 Gb/s, changes of 3.7 us and 10 ns for each circuit. */
struct morph_delay *some_delay(uint32_t scope);

#endif /* SCHEDULING_H */
