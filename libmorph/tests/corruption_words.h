/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words of a collective and a schedule, and the functions that corrupt them. */
#ifndef CORRUPTION_WORDS_H
#define CORRUPTION_WORDS_H

#include "corruption.h"

#define HEAD 5 /* words */
#define COLLECTIVE_HEAD 5
#define SCHEDULE_HEAD 14
#define CHUNK 4
#define TRANSFER 5
#define HOLD 8
#define SEND 11

/* Positions of the parts of a schedule. */
struct laid {
	uint32_t *head; /* behind that of all wire forms */
	uint32_t *matchings, *circuits, *holds, *sends, *hops;
	uint32_t residents, matchings_count, circuits_count, holds_count, sends_count, hops_count;
};

/* Positions of the parts of a collective. */
struct laid_collective {
	uint32_t ranks, chunks_count, rounds_count, transfers_count;
	uint32_t *chunks, *rounds, *transfers, *runs;
};

struct laid lay(uint32_t *schedule);
struct laid_collective lay_collective(uint32_t *collective);

static inline uint64_t long_at(const uint32_t *low)
{
	return low[0] | (uint64_t)low[1] << 32;
}

static inline void set_long(uint32_t *low, uint64_t value)
{
	low[0] = (uint32_t)value;
	low[1] = (uint32_t)(value >> 32);
}

static inline void add(uint32_t *low, int64_t more)
{
	set_long(low, long_at(low) + (uint64_t)more);
}

static inline uint32_t *hold_at(const struct laid *laid, uint32_t number)
{
	return laid->holds + HOLD * (size_t)number;
}

static inline uint32_t *send_at(const struct laid *laid, uint32_t number)
{
	return laid->sends + SEND * (size_t)number;
}

/* The rank that sends one of the transfers of a send. */
uint32_t sender(const struct written *written, const uint32_t *send, uint32_t number);

/* Check whether a hold has a circuit. */
bool leads(const struct laid *laid, const uint32_t *hold, uint32_t src, uint32_t dst);

/* Circuits of a hold that are new on its plane when it is set. */
uint32_t count_new(const struct laid *laid, const uint32_t *hold);

/*
 * Time to set a hold, with the holds that are set at the same time if changes stop planes or the
 * fabric; 0: the hold has no new circuit.
 */
uint64_t takes(const struct written *written, const struct laid *laid, const uint32_t *hold);

/* Each function returns false, and changes nothing, if the result could be valid. */
typedef bool corrupter(struct written *written, uint64_t *seed);

corrupter corrupt_lit, corrupt_set, corrupt_dark, corrupt_queue, corrupt_port, corrupt_twice,
	corrupt_first, corrupt_left, corrupt_gap; /* corruption_light.c */
corrupter corrupt_way, corrupt_overlap, corrupt_beside, corrupt_change; /* corruption_sends.c */
corrupter corrupt_turn, corrupt_early, corrupt_sum, corrupt_copy, corrupt_begin,
	corrupt_end; /* corruption_data.c */

#endif /* CORRUPTION_WORDS_H */
