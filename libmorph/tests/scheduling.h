/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schedules for tests: whatever is planned goes through the checker. */
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include "../check/check.h"
#include "alone.h"

/* A schedule, and what it is held against, in words. */
struct written {
	uint32_t *collective, *delay, *after, *schedule;
	size_t collective_bytes, delay_bytes, after_bytes, schedule_bytes;
	uint32_t planes;
};

/* @after: what it follows, or NULL. */
struct written write_schedule(const struct morph_collective *collective,
			      const struct morph_delay *delay, uint32_t planes,
			      const struct morph_schedule *after,
			      const struct morph_schedule *schedule);
void forget_written(struct written *written);
int check_written(const struct written *written, char report[256]);

/* Fails the test where the checker says so. */
void assert_sound(const struct morph_collective *collective, const struct morph_delay *delay,
		  uint32_t planes, const struct morph_schedule *after,
		  const struct morph_schedule *schedule);

/*
 * Rounds of transfers by chance, of chunks that begin at one rank and end at another; of one
 * collective in four half of the rounds are exchanges of all with all instead, of a chunk that each
 * sums.
 */
struct morph_collective *random_rounds(uint64_t *seed, uint32_t ranks, uint32_t rounds,
				       uint32_t transfers);

/* All-reduce in one round: each sends its part to all others. */
struct morph_collective *exchange(uint32_t ranks, uint64_t bytes);

/*
 * All-reduce on a ring, a chunk for each rank: what is sent in a round waits for the round before.
 */
struct morph_collective *ring(uint32_t ranks, uint64_t bytes);

/* Rounds of 500 ns, hops of 100 ns, 100 Gb/s, changes of 3.7 us and 10 ns for each circuit. */
struct morph_delay *some_delay(uint32_t scope);

#endif /* SCHEDULING_H */
