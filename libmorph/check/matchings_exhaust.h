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
	uint32_t balanced[MOST_PAIRS]; /* weights that suit the rounds of a choice */
	uint64_t heaviest; /* the most that a round weighs */
	/*
	 * If not 0: the number of senders and of receivers. Pair side * i + j is sender i to
	 * receiver j, and each of them may miss one other: the port of its own endpoint.
	 */
	uint32_t side;
	uint64_t own_most[MOST_PORTS]; /* by sender: the most that one of its pairs weighs */
	bool own_sender[MOST_PORTS], own_receiver[MOST_PORTS]; /* those that miss one */
	uint64_t tries, reserve; /* reserve: tries that a short attempt leaves */
	uint32_t *state; /* by element, in the present setting */
	uint32_t *owner; /* by receive port: the endpoint, or NONE */
	uint32_t *arrival; /* by endpoint, in the present setting: where its light arrives */
	struct keys candidates, live;
	struct keys matchings; /* of all ports, if the search chose the ports */
};

/* The place of a pair among the pairs of all endpoints. */
static inline uint32_t ck_exhaust_pair(uint32_t low, uint32_t high)
{
	return high * (high - 1) / 2 + low;
}

/* matchings_exhaust.c. Each returns 0 or a report. */
int ck_exhaust_wrong_memory(struct exhaust *exhaust);
int ck_exhaust_reserve(struct exhaust *exhaust, struct keys *keys, size_t count);
/* Count tries, up to the limit. -EAGAIN in a short attempt. */
int ck_exhaust_spend(struct exhaust *exhaust, uint64_t tries);
/* List whom each port is joined to, a byte each, in all settings. */
int ck_exhaust_list(struct exhaust *exhaust);
/* The pairs that meet where light of each endpoint arrives at exhaust->arrival. */
struct key ck_exhaust_met(const struct exhaust *exhaust);
/* No set of exhaust->rounds out of these keys joins all pairs. Sorts the keys. */
int ck_exhaust_refute(struct exhaust *exhaust, struct keys *keys);
/* Likewise, with weights of its own unless a short attempt is enough. */
int ck_exhaust_refute_briefly(struct exhaust *exhaust, struct keys *keys);

/*
 * matchings_full.c: no ports have the fewest rounds of pairs that the number of endpoints allows:
 * n-1 for an even number n, n for an odd one.
 */
int ck_exhaust_choose_full(struct exhaust *exhaust);

/* matchings_choose.c: no ports have exhaust->rounds rounds, for any kind of circuits. */
int ck_exhaust_choose(struct exhaust *exhaust);

#endif /* CHECK_MATCHINGS_EXHAUST_H */
