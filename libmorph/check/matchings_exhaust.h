/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All settings of the elements, and sets of rounds out of them. */
#ifndef CHECK_MATCHINGS_EXHAUST_H
#define CHECK_MATCHINGS_EXHAUST_H

#include "matchings.h"

#define WORDS 3U
#define MOST_PAIRS (64 * WORDS)
#define MOST_PORTS (8 * WORDS) /* of a choice; a byte each in a key */

/* The pairs of a round, a bit each; or the partner of each port, a byte each. */
struct key {
	uint64_t word[WORDS];
};

struct keys {
	struct key *list;
	size_t count, room;
};

struct exhaust {
	struct matchings_check *it;
	uint32_t rounds, pairs, full; /* full: most pairs of a round */
	const uint32_t *weights; /* by pair; NULL: 1 each */
	uint64_t heaviest; /* the most that a round weighs */
	uint64_t tries;
	uint32_t *state; /* by element, in the present setting */
	uint32_t *owner; /* by receive port: the endpoint, or NONE */
	uint32_t *arrival; /* by endpoint, in the present setting: where its light arrives */
	struct keys candidates, live;

	/*
	 * If the search chose the ports. A choice is a set of ports, a bit each: its mask. Tables
	 * have an entry for each value of the lower or the upper HALF bits of a mask.
	 */
	struct keys matchings;
	uint8_t *bits; /* number of bits set in each value of a half */
	/* The number of a choice is low[lower half] + high[upper half]. */
	uint32_t *low, *high;
	uint32_t *number; /* of each choice, among those left; or NONE */
	uint32_t *first; /* key of each number in the batch */
	uint32_t begin, end; /* numbers of the batch */
	struct key *marks; /* by number */
	uint32_t choices, left;
	struct keys batch;
};

/* matchings_exhaust.c. Each returns 0 or a report. */
int ck_exhaust_reserve(struct exhaust *exhaust, struct keys *keys, size_t count);
/* Count tries, up to the limit. */
int ck_exhaust_spend(struct exhaust *exhaust, uint64_t tries);
/* List whom each port is joined to, a byte each, in all settings. */
int ck_exhaust_list(struct exhaust *exhaust);
/* The pairs that meet where light of each endpoint arrives at exhaust->arrival. */
struct key ck_exhaust_met(const struct exhaust *exhaust);
/* No set of exhaust->rounds out of these keys joins all pairs. Sorts the keys. */
int ck_exhaust_refute(struct exhaust *exhaust, struct keys *keys);

/* matchings_choose.c: no ports have exhaust->rounds rounds, for any kind of circuits. */
int ck_exhaust_choose(struct exhaust *exhaust);

#endif /* CHECK_MATCHINGS_EXHAUST_H */
