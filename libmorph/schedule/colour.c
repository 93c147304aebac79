// SPDX-License-Identifier: LGPL-2.1-or-later
/* Assigns the transfers of a round to planes: colours the graph of sending and receiving ranks. */
#include "schedule.h"

#include "../util/colouring.h"

static uint32_t most_of_a_rank(uint32_t *counts, uint32_t ranks, const struct transfer *transfers,
			       uint32_t count)
{
	uint32_t most = 0;

	for (uint32_t at = 0; at < count; at++) {
		uint32_t sent = ++counts[transfers[at].src];
		uint32_t received = ++counts[ranks + transfers[at].dst];

		most = sent > most ? sent : most;
		most = received > most ? received : most;
	}
	return most;
}

int lm_colour_round(struct morph_ctx *ctx, uint32_t ranks, const struct transfer *transfers,
		    uint32_t count, uint32_t *colours)
{
	uint32_t *counts = calloc(2 * (size_t)ranks, sizeof(*counts));
	struct colouring colouring = { 0 };
	size_t room;

	if (!counts)
		return lm_no_memory(ctx, "plan a schedule");
	colouring.colours = most_of_a_rank(counts, ranks, transfers, count);
	free(counts);
	room = (size_t)ranks * colouring.colours;
	colouring.out = reallocarray(NULL, 2 * room + 1, sizeof(*colouring.out));
	colouring.edges = reallocarray(NULL, count + 1UL, sizeof(*colouring.edges));
	if (!colouring.out || !colouring.edges) {
		free(colouring.out);
		free(colouring.edges);
		return lm_no_memory(ctx, "plan a schedule");
	}
	memset(colouring.out, 0xff, 2 * room * sizeof(*colouring.out));
	colouring.in = colouring.out + room;
	for (uint32_t at = 0; at < count; at++) {
		colouring.edges[at] =
			(struct coloured){ .src = transfers[at].src, .dst = transfers[at].dst };
		lm_colouring_add(&colouring, at);
	}
	for (uint32_t at = 0; at < count; at++)
		colours[at] = colouring.edges[at].colour;
	free(colouring.out);
	free(colouring.edges);
	return (int)colouring.colours;
}
