// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which transfers of a round go over the same plane: edges of a bipartite graph are coloured with as many
 * colours as its largest degree (König, Math. Ann. 77, 1916), by paths that alternate between two colours.
 */
#include "schedule.h"

/* By rank and colour: the transfer that has it there, or NO_TRANSFER. */
#define NO_TRANSFER UINT32_MAX

struct colouring {
	const struct transfer *transfers;
	uint32_t *colours;
	uint32_t most; /* colours */
	uint32_t *sent, *received;
};

static uint32_t *at_src(struct colouring *colouring, uint32_t transfer, uint32_t colour)
{
	return &colouring->sent[colouring->transfers[transfer].src * colouring->most + colour];
}

static uint32_t *at_dst(struct colouring *colouring, uint32_t transfer, uint32_t colour)
{
	return &colouring->received[colouring->transfers[transfer].dst * colouring->most + colour];
}

static uint32_t first_free(const uint32_t *held)
{
	uint32_t colour = 0;

	while (held[colour] != NO_TRANSFER)
		colour++;
	return colour;
}

/*
 * Along the path that begins with the transfer that reaches @transfer's receiver in colour @one, those of
 * colour @one get @other and the other way round; it does not come to @transfer's sender, where @one is free.
 */
static void alternate(struct colouring *colouring, uint32_t transfer, uint32_t one, uint32_t other)
{
	uint32_t next = *at_dst(colouring, transfer, one), carried = NO_TRANSFER;
	bool receives = true; /* we stand at the receiver of @next */

	*at_dst(colouring, transfer, one) = NO_TRANSFER;
	while (next != NO_TRANSFER) {
		uint32_t old = colouring->colours[next];
		uint32_t colour = old == one ? other : one;
		uint32_t *here = receives ? at_dst(colouring, next, colour) :
					    at_src(colouring, next, colour);
		uint32_t *there = receives ? at_src(colouring, next, colour) :
					     at_dst(colouring, next, colour);
		uint32_t *left = receives ? at_src(colouring, next, old) :
					    at_dst(colouring, next, old);

		carried = *there;
		*here = next;
		*there = next;
		if (*left == next)
			*left = NO_TRANSFER;
		colouring->colours[next] = colour;
		next = carried;
		receives = !receives;
	}
}

static void colour(struct colouring *colouring, uint32_t transfer)
{
	uint32_t sends = first_free(at_src(colouring, transfer, 0));
	uint32_t receives = first_free(at_dst(colouring, transfer, 0));

	if (sends != receives && *at_dst(colouring, transfer, sends) != NO_TRANSFER)
		alternate(colouring, transfer, sends, receives);
	colouring->colours[transfer] = sends;
	*at_src(colouring, transfer, sends) = transfer;
	*at_dst(colouring, transfer, sends) = transfer;
}

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
	struct colouring colouring = { .transfers = transfers, .colours = colours };
	size_t room;

	if (!counts)
		return lm_fail(ctx, ENOMEM, "plan a schedule: out of memory");
	colouring.most = most_of_a_rank(counts, ranks, transfers, count);
	free(counts);
	room = (size_t)ranks * colouring.most;
	colouring.sent = reallocarray(NULL, 2 * room + 1, sizeof(*colouring.sent));
	if (!colouring.sent)
		return lm_fail(ctx, ENOMEM, "plan a schedule: out of memory");
	memset(colouring.sent, 0xff, 2 * room * sizeof(*colouring.sent));
	colouring.received = colouring.sent + room;
	for (uint32_t at = 0; at < count; at++)
		colour(&colouring, at);
	free(colouring.sent);
	return (int)colouring.most;
}
