/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exact search in small fabrics. A setting gives each element a state, so it joins some endpoints
 * by circuits. Each round of an answer is a part of a setting's circuits. The search lists the
 * different sets of circuits of all settings, and covers all pairs by them.
 */
#ifndef LM_MATCHINGS_EXACT_H
#define LM_MATCHINGS_EXACT_H

#include "rounds.h"

#define EXACT_MOST_SETTINGS (1u << 22)
#define EXACT_MOST_ROUNDS 64
#define EXACT_MOST_WORDS 3 /* of 64 pairs each */
#define EXACT_MOST_PAIRS (64 * EXACT_MOST_WORDS)
#define EXACT_MOST_ENDS 24 /* of a mesh whose ports the search chooses */
#define EXACT_KEY_WORDS (EXACT_MOST_ENDS / 8) /* of a matching of all ports, a byte each */
#define EXACT_ALONE 0xff /* partner of a port that has none */

/* Results besides noted errors, which are negative. */
enum exact_result {
	EXACT_UNDECIDED, /* the fabric is too large, or the budget is spent */
	EXACT_REFUTED, /* no set of rounds exists */
	EXACT_FOUND,
};

/* Memory of a number of entries. It grows only. */
struct exact_block {
	void *memory;
	size_t bytes;
};

/* Different keys, in the order in which they were added. */
struct exact_set {
	uint32_t words; /* of a key */
	uint32_t count;
	uint32_t slots_count; /* a power of two */
	uint64_t *keys;
	uint32_t *slots; /* key + 1; 0: empty */
	struct exact_block keys_block, slots_block;
};

/* A set of rounds that cover all pairs, as far as it has been chosen. */
struct exact_cover {
	const uint64_t *keys; /* the pairs of each candidate */
	uint32_t words; /* of a key */
	uint32_t pairs, rounds;
	uint32_t full; /* the most pairs of a round */
	uint32_t weight[EXACT_MOST_PAIRS]; /* by pair */
	uint32_t heaviest; /* the most that a candidate weighs */
	/*
	 * If not 0: the number of senders and of receivers. The pair of sender i and receiver j is
	 * side * i + j, and each of them may miss one pair: its own.
	 */
	uint32_t side;
	uint32_t own_most[EXACT_MOST_ENDS]; /* by sender: the most that a pair of it weighs */
	uint8_t own_row[EXACT_MOST_ENDS]; /* by sender: the receiver of its own pair */
	uint32_t own_columns; /* mask of the receivers that have an own pair */
	uint64_t covered[EXACT_MOST_WORDS];
	uint32_t chosen[EXACT_MOST_ROUNDS]; /* candidates */
	uint32_t *live; /* lists of candidates that can still be chosen, one for each round */
	struct exact_block live_block;
};

struct exact {
	struct morph_ctx *ctx;
	struct rounds *rounds;
	uint32_t hops; /* limit of the elements of a route; 0: none */
	uint64_t steps; /* left of the budget */

	uint32_t settings; /* number of combinations of usable states */
	uint32_t radix; /* most usable states of an element */
	uint32_t *usable; /* by element: number of its usable states, at least 1 */
	uint32_t *state; /* by element and digit: a usable state */
	uint32_t *leads; /* by arc where light enters and digit: as mesh.next */
	uint32_t *digit; /* by element: its state in the present setting */
	uint32_t *owner; /* by end: the endpoint that receives there, or MESH_NONE */
	uint32_t *reached; /* by endpoint: where its light arrives in the present setting */
	struct mesh_block block;

	struct exact_set candidates; /* pairs of the settings */
	uint32_t *setting; /* by candidate */
	struct exact_block setting_block;
	struct exact_cover cover;

	struct exact_set matchings; /* of all ports: the partner of each, a byte */
	/* exact_ports.c */
	struct mesh_block choice_block;
	struct exact_block seen_block, entries_block;
	uint32_t share; /* see lm_exact_choose_any() */
	bool separated; /* no ports of the mesh have routes for all pairs: exact_any.c */
};

/* ------------------------------------------------------------------ exact.c */

/* Whether a fabric has so few settings that the search applies. O(turns). */
bool lm_exact_applies(const struct mesh *mesh);

/* One move of the search's budget pays for this number of steps. */
#define EXACT_STEPS 16384

/* Room for routes of at most @limit elements; 0: of those of the router and of the exact search. */
uint32_t lm_exact_stride(const struct rounds *rounds, uint32_t limit);

/*
 * Search rounds->rounds rounds, with at most @steps settings, sets of ports and candidates to
 * visit. If it finds rounds, it sets the ports and routes of @rounds. Memory of @rounds is laid
 * out. Subtracts the visited ones from @steps. Returns an exact_result, or a noted -ENOMEM.
 */
int lm_exact_search(struct exact *exact, struct rounds *rounds, uint32_t hops, uint64_t *steps);

/* Likewise, search ports that have routes for all pairs, with any rounds. Sets the ports. */
int lm_exact_join(struct exact *exact, struct rounds *rounds, uint32_t hops, uint64_t *steps);

void lm_exact_free(struct exact *exact);

/* Begin with the first setting. */
void lm_exact_begin(struct exact *exact);
/* Go to the next setting; false after the last one. */
bool lm_exact_next(struct exact *exact);

/*
 * Follow light in the present setting. Returns the end where it arrives, or MESH_NONE if it arrives
 * nowhere or passes more elements than the limit.
 */
uint32_t lm_exact_follow(const struct exact *exact, uint32_t arc);

/* Make room; keeps the content. 0, or a noted -ENOMEM. */
int lm_exact_reserve(struct exact *exact, struct exact_block *block, size_t bytes);

/* Remove all keys. 0, or a noted -ENOMEM. */
int lm_exact_clear(struct exact *exact, struct exact_set *set, uint32_t words);
/* Whether a set has a key. */
bool lm_exact_has(const struct exact_set *set, const uint64_t *key);
/* Add a key: 1, 0 if the set has it, or a noted -ENOMEM. */
int lm_exact_add(struct exact *exact, struct exact_set *set, const uint64_t *key);

/*
 * Add the circuits of exact->reached to the candidates, as those of a setting, if they are @least
 * at least. 0, or a noted -ENOMEM.
 */
int lm_exact_add_reached(struct exact *exact, uint32_t setting, uint32_t least);

/* List the different matchings of all ports. 0, or a noted -ENOMEM. */
int lm_exact_list_matchings(struct exact *exact);

/* Number of maps of the ports that lm_exact_is_symmetry() tries; 0 leaves each port. */
static inline uint32_t exact_maps(const struct exact *exact)
{
	return 2 * exact->rounds->mesh.ends;
}

/* The image of a port: a rotation of the rim, or a reflection. */
static inline uint32_t exact_image(const struct exact *exact, uint32_t map, uint32_t end)
{
	uint32_t ends = exact->rounds->mesh.ends;
	uint32_t image = map < ends ? map + end : map - end;

	return image < ends ? image : image - ends;
}

/* Whether the image of each matching is a matching. O(matchings * ports). */
bool lm_exact_is_symmetry(const struct exact *exact, uint32_t map);

/* The partner of each port in a matching. */
static inline const uint8_t *exact_partners(const struct exact *exact, uint32_t matching)
{
	return (const uint8_t *)&exact->matchings.keys[(size_t)matching * EXACT_KEY_WORDS];
}

/* ------------------------------------------------------------------ exact_cover.c */

/* Cover all pairs by exact->candidates: an exact_result, or a noted -ENOMEM. */
int lm_exact_cover(struct exact *exact, uint32_t rounds);
/* Likewise, with weights that suit the candidates. If refuted, they are exact->cover.weight. */
int lm_exact_cover_weighed(struct exact *exact, uint32_t rounds);
/* Likewise, with weights only if a short search without them does not decide. */
int lm_exact_cover_briefly(struct exact *exact, uint32_t rounds);

static inline uint32_t exact_pair(uint32_t low, uint32_t high)
{
	return high * (high - 1) / 2 + low;
}

/* ------------------------------------------------------------------ exact_ports.c */

/*
 * Search ports at which n-1 rounds cover all pairs of an even number n of endpoints, or n rounds
 * those of an odd one. Sets the ports of exact->rounds. Returns an exact_result, or a noted
 * -ENOMEM.
 */
int lm_exact_choose(struct exact *exact);

/* ------------------------------------------------------------------ exact_any.c */

/*
 * Likewise for any kind, number of endpoints and rounds->rounds. Sets exact->separated if no number
 * of rounds is enough. Uses 1 / exact->share of the budget at most.
 */
int lm_exact_choose_any(struct exact *exact);

/* Likewise, with as many rounds as pairs: the first ports that have routes for all pairs. */
int lm_exact_choose_joined(struct exact *exact);

/* Set exact->separated if no ports have routes for all pairs. The matchings are listed. */
void lm_exact_find_separated(struct exact *exact);

#endif /* LM_MATCHINGS_EXACT_H */
