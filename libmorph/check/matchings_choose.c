// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proofs that a number of rounds is too small at any ports, for any kind of circuits. All ports are
 * tried, except where two endpoints never meet in any setting.
 */
#include "matchings_exhaust.h"

struct choice {
	struct exhaust *exhaust;
	uint32_t endpoints; /* that have ports so far */
	uint32_t tx[MOST_PORTS], rx[MOST_PORTS]; /* by endpoint */
	bool taken[MOST_PORTS]; /* by port */
	bool meets[MOST_PORTS][MOST_PORTS]; /* by port: whether some setting joins it to a port */
};

static int try_ports(struct choice *choice);

static const uint8_t *partners(const struct exhaust *exhaust, size_t matching)
{
	return (const uint8_t *)&exhaust->matchings.list[matching];
}

static void set_meets(struct choice *choice)
{
	const struct exhaust *exhaust = choice->exhaust;

	for (size_t matching = 0; matching < exhaust->matchings.count; matching++)
		for (uint32_t port = 0; port < exhaust->it->tx_ports; port++) {
			uint8_t other = partners(exhaust, matching)[port];

			if (other != 0xff)
				choice->meets[port][other] = true;
		}
}

/* The least number of endpoints that send in a round, if the other rounds have all pairs. */
static uint32_t least_senders(const struct exhaust *exhaust)
{
	uint32_t slack = exhaust->rounds * exhaust->full - exhaust->pairs;
	uint32_t least = exhaust->full > slack ? exhaust->full - slack : 0;

	return exhaust->it->input->kind == MORPH_CHECK_DIRECTED ? least : 2 * least;
}

/* Set where light of each endpoint arrives. Returns the number of endpoints that reach another. */
static uint32_t set_arrivals(struct choice *choice, const uint8_t *partner)
{
	const struct exhaust *exhaust = choice->exhaust;
	uint32_t senders = 0;

	for (uint32_t at = 0; at < choice->endpoints; at++) {
		uint8_t port = partner[choice->tx[at]];

		exhaust->arrival[at] = port == 0xff ? NONE : exhaust->owner[port];
		senders += exhaust->arrival[at] != NONE;
	}
	return senders;
}

/* No set of rounds joins all pairs at these ports. */
static int refute_choice(struct choice *choice)
{
	struct exhaust *exhaust = choice->exhaust;
	struct keys *keys = &exhaust->candidates;
	uint32_t least = least_senders(exhaust);
	int ret = ck_exhaust_spend(exhaust, exhaust->matchings.count);

	memset(exhaust->owner, 0xff, exhaust->it->rx_ports * sizeof(*exhaust->owner));
	for (uint32_t at = 0; at < choice->endpoints; at++)
		exhaust->owner[choice->rx[at]] = at;
	keys->count = 0;
	if (!ret)
		ret = ck_exhaust_reserve(exhaust, keys, exhaust->matchings.count);
	for (size_t matching = 0; matching < exhaust->matchings.count && !ret; matching++)
		if (set_arrivals(choice, partners(exhaust, matching)) >= least)
			keys->list[keys->count++] = ck_exhaust_met(exhaust);
	return ret ? ret : ck_exhaust_refute(exhaust, keys);
}

/* The next endpoint has these ports: try all ports of the later ones. */
static int try_endpoint(struct choice *choice, uint32_t tx, uint32_t rx)
{
	int ret = 0;

	if (choice->taken[tx] || choice->taken[rx])
		return 0;
	for (uint32_t at = 0; at < choice->endpoints; at++)
		if (!choice->meets[tx][choice->rx[at]] || !choice->meets[choice->tx[at]][rx])
			return 0;
	choice->taken[tx] = choice->taken[rx] = true;
	choice->tx[choice->endpoints] = tx;
	choice->rx[choice->endpoints++] = rx;
	ret = ck_exhaust_spend(choice->exhaust, 1);
	if (!ret)
		ret = try_ports(choice);
	choice->endpoints--;
	choice->taken[tx] = choice->taken[rx] = false;
	return ret;
}

/* Try all ports of the next endpoint. The endpoints are sorted by the ports where they send. */
static int try_ports(struct choice *choice)
{
	const struct matchings_check *it = choice->exhaust->it;
	bool pairs = it->input->kind == MORPH_CHECK_PAIRS;
	uint32_t first = choice->endpoints ? choice->tx[choice->endpoints - 1] + 1 : 0;
	int ret = 0;

	if (choice->endpoints == it->input->endpoints)
		return refute_choice(choice);
	for (uint32_t tx = first; tx < it->tx_ports && !ret; tx++) {
		if (pairs)
			ret = try_endpoint(choice, tx, tx);
		for (uint32_t rx = 0; rx < it->rx_ports && !pairs && !ret; rx++)
			if (rx != tx)
				ret = try_endpoint(choice, tx, rx);
	}
	return ret;
}

int ck_exhaust_choose(struct exhaust *exhaust)
{
	struct choice choice = { .exhaust = exhaust };
	int ret = ck_exhaust_list(exhaust);

	set_meets(&choice);
	return ret ? ret : try_ports(&choice);
}
