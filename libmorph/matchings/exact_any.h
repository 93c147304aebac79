/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The present ports of a search of all ports, and the matchings that can be its rounds. */
#ifndef LM_MATCHINGS_EXACT_ANY_H
#define LM_MATCHINGS_EXACT_ANY_H

#include "exact.h"

#define MAPS (2 * EXACT_MOST_ENDS)
#define JOINS (EXACT_MOST_ENDS * (EXACT_MOST_ENDS - 1) / 2) /* of two ports */
#define JOIN_WORDS ((JOINS + 63) / 64)

struct ports {
	struct exact *exact;
	uint32_t ends, endpoints;
	enum morph_matchings_kind kind;
	uint32_t most_idle; /* endpoints that may lack a circuit in a round */
	uint32_t joined[EXACT_MOST_ENDS]; /* mask of the ports that settings join to each port */
	uint64_t together[JOINS][JOIN_WORDS]; /* by join: those that some matching has with it */
	uint8_t image[MAPS][EXACT_MOST_ENDS]; /* by symmetry and port */
	uint32_t symmetries;

	uint32_t used; /* mask of the ports that endpoints have */
	uint32_t count; /* number of endpoints that have ports */
	uint32_t tx[EXACT_MOST_ENDS], rx[EXACT_MOST_ENDS]; /* by endpoint */
	uint8_t owner[EXACT_MOST_ENDS]; /* by port: the endpoint that receives there */
	uint8_t rx_of[EXACT_MOST_ENDS]; /* by port that sends: where its endpoint receives */
	uint32_t receivers; /* number of ports in rx[], of directed circuits */
	uint32_t missed; /* mask of the senders that do not reach some receiver */
	uint32_t *live; /* matchings that can be a round, a list for each port that is given */

	bool complete; /* all endpoints had ports at some time */
	bool first; /* stop there */
};

/* A list of matchings in ports->live. */
struct list {
	size_t first;
	uint32_t count;
};

/* The matchings of a list that a search visits to find those that can be a round. */
static inline uint32_t count_visits(const struct ports *ports, struct list list)
{
	return ports->count > ports->most_idle ? list.count : 0;
}

/* Take steps of the budget for visits of a list; false if it is spent. */
bool lm_exact_spend(struct ports *ports, uint32_t count);

/* Make room behind a list for a part of it. 0, or a noted -ENOMEM. */
int lm_exact_reserve_part(struct ports *ports, struct list list);

/* exact_split.c: let ports from @first on send. Returns an exact_result, or a noted -ENOMEM. */
int lm_exact_send(struct ports *ports, struct list list, uint32_t first);

#endif /* LM_MATCHINGS_EXACT_ANY_H */
