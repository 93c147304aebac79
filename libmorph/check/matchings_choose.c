// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proofs that a number of rounds is too small at any ports, for any kind of circuits. The proof
 * tries all ports, with two exceptions:
 *
 * - Two endpoints never meet in a matching that can be a round. If too many endpoints lack a
 *   circuit in one round, the other rounds have too few.
 * - A rotation or a reflection of the rim maps the matchings to themselves, and these ports to
 *   ports that precede them. For duplex and directed circuits, an exchange of transmit and receive
 *   ports is such a map too, since light passes back the same way.
 *
 * For directed circuits, the proof tries the ports that send and those that receive. A sender and
 * a receiver that never meet are the ports of one endpoint, so each has one such pair at most.
 */
#include "matchings_exhaust.h"

#define NOBODY 0xff
#define JOINS (MOST_PORTS * MOST_PORTS) /* from a port to a port */

struct choice {
	struct exhaust *exhaust;
	uint32_t kind, all, ports; /* all: number of endpoints */
	uint32_t most_idle; /* endpoints that can lack a circuit in a round */
	uint32_t maps, map[2 * MOST_PORTS]; /* symmetries of the rim */
	/* By two joins, a bit: whether some matching has both. */
	uint64_t both[JOINS][JOINS / 64];

	uint32_t endpoints; /* that have ports so far; of directed circuits: that send */
	uint32_t receivers; /* that receive so far, of directed circuits */
	uint32_t tx[MOST_PORTS], rx[MOST_PORTS]; /* by endpoint */
	uint8_t owner[MOST_PORTS]; /* by port: the endpoint that receives there */
	bool taken[MOST_PORTS]; /* by port */
	bool lonely[MOST_PORTS]; /* by sender: it misses a receiver */
	uint32_t *live; /* matchings that can be rounds, a list for each port given */
	size_t room;
};

/* A list of matchings: choice->live[from], and so on. */
struct live {
	size_t from;
	uint32_t count;
};

static const uint8_t *partners(const struct choice *choice, uint32_t matching)
{
	return (const uint8_t *)&choice->exhaust->matchings.list[matching];
}

/* ------------------------------------------------------------------ joins */

static uint32_t join_of(uint32_t from, uint32_t to)
{
	return from * MOST_PORTS + to;
}

static void note_joins(struct choice *choice)
{
	for (uint32_t at = 0; at < choice->exhaust->matchings.count; at++) {
		const uint8_t *partner = partners(choice, at);
		uint64_t joins[JOINS / 64] = { 0 };

		for (uint32_t port = 0; port < choice->ports; port++)
			if (partner[port] != NOBODY)
				joins[join_of(port, partner[port]) / 64] |=
					1ULL << join_of(port, partner[port]) % 64;
		for (uint32_t port = 0; port < choice->ports; port++)
			for (uint32_t word = 0; word < JOINS / 64 && partner[port] != NOBODY;
			     word++)
				choice->both[join_of(port, partner[port])][word] |= joins[word];
	}
}

static bool has_both(const struct choice *choice, uint32_t one, uint32_t other)
{
	return choice->both[one][other / 64] >> other % 64 & 1;
}

/* Whether the last endpoint can meet each other one in some matching. */
static bool can_meet(const struct choice *choice)
{
	uint32_t last = choice->endpoints - 1, one = 0;

	while (one < last && has_both(choice, join_of(choice->tx[last], choice->rx[one]),
				      join_of(choice->tx[one], choice->rx[last])))
		one++;
	return one == last;
}

/* The senders that a matching joins to a receiver, as a mask. */
static uint32_t reached_by(const struct choice *choice, uint32_t rx)
{
	uint32_t mask = 0;

	for (uint32_t one = 0; one < choice->endpoints; one++) {
		uint32_t join = join_of(choice->tx[one], rx);

		mask |= has_both(choice, join, join) ? 1U << one : 0;
	}
	return mask;
}

/* ------------------------------------------------------------------ symmetries */

static uint32_t image_of(const struct choice *choice, uint32_t map, uint32_t port)
{
	return (map < choice->ports ? port + map : 2 * choice->ports + map - port) % choice->ports;
}

static int compare_keys(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct key));
}

/* List the maps of the rim that map each matching to one of the matchings, and light back. */
static void find_maps(struct choice *choice)
{
	const struct keys *matchings = &choice->exhaust->matchings;

	for (uint32_t map = 0; map < 2 * choice->ports; map++) {
		bool fits = true;

		for (uint32_t at = 0; at < matchings->count && fits; at++) {
			uint8_t image[MOST_PORTS];

			memset(image, NOBODY, sizeof(image));
			for (uint32_t port = 0; port < choice->ports; port++) {
				uint8_t other = partners(choice, at)[port];

				if (other == NOBODY)
					continue;
				fits = fits && partners(choice, at)[other] == port;
				image[image_of(choice, map, port)] =
					(uint8_t)image_of(choice, map, other);
			}
			fits = fits && bsearch(image, matchings->list, matchings->count,
					       sizeof(struct key), compare_keys);
		}
		if (fits)
			choice->map[choice->maps++] = map;
	}
}

static void sort(uint32_t *codes, uint32_t count)
{
	for (uint32_t at = 1; at < count; at++)
		for (uint32_t to = at; to && codes[to - 1] > codes[to]; to--) {
			uint32_t code = codes[to];

			codes[to] = codes[to - 1];
			codes[to - 1] = code;
		}
}

static bool precedes(const uint32_t *one, const uint32_t *other, uint32_t count)
{
	uint32_t at = 0;

	while (at < count && one[at] == other[at])
		at++;
	return at < count && one[at] < other[at];
}

/* Write the ports of the endpoints as sorted numbers, after a map. @turned: tx and rx exchanged. */
static void write_codes(const struct choice *choice, uint32_t map, bool turned, uint32_t *codes)
{
	const uint32_t *tx = turned ? choice->rx : choice->tx;
	const uint32_t *rx = turned ? choice->tx : choice->rx;
	uint32_t count = choice->endpoints;

	for (uint32_t at = 0; at < count; at++) {
		codes[at] = image_of(choice, map, tx[at]);
		if (choice->kind != MORPH_CHECK_DIRECTED)
			codes[at] = codes[at] * MOST_PORTS + image_of(choice, map, rx[at]);
	}
	sort(codes, count);
	if (choice->kind != MORPH_CHECK_DIRECTED)
		return;
	for (uint32_t at = 0; at < choice->receivers; at++)
		codes[count + at] = image_of(choice, map, rx[at]);
	sort(codes + count, choice->receivers);
}

/* Whether some symmetry gives ports that precede the present ones. */
static bool has_smaller(const struct choice *choice)
{
	uint32_t codes[2 * MOST_PORTS], images[2 * MOST_PORTS];
	uint32_t count = choice->endpoints + choice->receivers;
	bool turns = choice->kind == MORPH_CHECK_DUPLEX || choice->receivers == choice->all;

	write_codes(choice, 0, false, codes);
	for (uint32_t at = 0; at < choice->maps; at++)
		for (uint32_t turned = 0; turned < (turns ? 2 : 1); turned++) {
			write_codes(choice, choice->map[at], turned, images);
			if (precedes(images, codes, count))
				return true;
		}
	return false;
}

/* ------------------------------------------------------------------ lists of matchings */

/* Start an empty list behind another one that has room for all of it. Spends tries. */
static int start_list(struct choice *choice, struct live list, struct live *behind)
{
	size_t need = list.from + 2 * (size_t)list.count;

	*behind = (struct live){ list.from + list.count, 0 };
	if (!choice->live || choice->room < need) {
		size_t room = 2 * need + 1;
		uint32_t *grown = realloc(choice->live, room * sizeof(*grown));

		if (!grown) {
			ck_exhaust_wrong_memory(choice->exhaust);
			return -ENOMEM;
		}
		choice->live = grown;
		choice->room = room;
	}
	return ck_exhaust_spend(choice->exhaust, list.count + 1UL);
}

/* The endpoint that an endpoint meets in a matching; MOST_PORTS: a later one; NOBODY: none. */
static uint32_t met_by(const struct choice *choice, const uint8_t *partner, uint32_t endpoint)
{
	uint8_t port = partner[choice->tx[endpoint]], other;

	if (port == NOBODY)
		return NOBODY;
	if (!choice->taken[port])
		return MOST_PORTS;
	other = choice->owner[port];
	if (other == NOBODY || other == endpoint ||
	    partner[choice->tx[other]] != choice->rx[endpoint])
		return NOBODY;
	return other;
}

/*
 * Keep the matchings that can be rounds: all of them, while all endpoints can be idle. @meet:
 * whether all endpoints meet in some of them.
 */
static int keep_live(struct choice *choice, struct live list, struct live *kept, bool *meet)
{
	uint32_t met[MOST_PORTS] = { 0 }, other[MOST_PORTS];
	int ret;

	*kept = list;
	*meet = can_meet(choice);
	if (!*meet || choice->endpoints <= choice->most_idle)
		return ck_exhaust_spend(choice->exhaust, 1);
	ret = start_list(choice, list, kept);

	for (uint32_t at = 0; at < list.count && !ret; at++) {
		uint32_t matching = choice->live[list.from + at], idle = 0;

		for (uint32_t one = 0; one < choice->endpoints; one++) {
			other[one] = met_by(choice, partners(choice, matching), one);
			idle += other[one] == NOBODY;
		}
		if (idle > choice->most_idle)
			continue;
		choice->live[kept->from + kept->count++] = matching;
		for (uint32_t one = 0; one < choice->endpoints; one++)
			if (other[one] < MOST_PORTS)
				met[one] |= 1U << other[one];
	}
	for (uint32_t one = 0; one < choice->endpoints; one++)
		*meet = *meet && (met[one] | 1U << one) == (1U << choice->endpoints) - 1;
	return ret;
}

/*
 * Likewise, where enough senders reach a port that can receive. Ports from @next on still can.
 * @met: the senders that reach the last receiver, as a mask.
 */
static int keep_reaching(struct choice *choice, struct live list, uint32_t next, struct live *kept,
			 uint32_t *met)
{
	uint32_t last = choice->receivers - 1; /* of no use without a receiver */
	int ret;

	*kept = list;
	*met = choice->receivers ? reached_by(choice, choice->rx[last]) : 0;
	if (choice->endpoints <= choice->most_idle)
		return ck_exhaust_spend(choice->exhaust, 1);
	ret = start_list(choice, list, kept);
	*met = 0;
	for (uint32_t at = 0; at < list.count && !ret; at++) {
		uint32_t matching = choice->live[list.from + at], idle = 0, from = 0;

		for (uint32_t one = 0; one < choice->endpoints; one++) {
			uint8_t port = partners(choice, matching)[choice->tx[one]];

			if (port != NOBODY && choice->owner[port] != NOBODY)
				from |= choice->owner[port] == last ? 1U << one : 0;
			else
				idle += port == NOBODY || choice->taken[port] || port < next;
		}
		if (idle > choice->most_idle)
			continue;
		choice->live[kept->from + kept->count++] = matching;
		*met |= from;
	}
	return ret;
}

/* ------------------------------------------------------------------ pairs, duplex circuits */

static int try_ports(struct choice *choice, struct live list);

/* No set of rounds joins all pairs at these ports. */
static int refute_choice(struct choice *choice, struct live list)
{
	struct exhaust *exhaust = choice->exhaust;
	struct keys *keys = &exhaust->candidates;
	int ret = ck_exhaust_reserve(exhaust, keys, list.count);

	keys->count = 0;
	for (uint32_t at = 0; at < list.count && !ret; at++) {
		const uint8_t *partner = partners(choice, choice->live[list.from + at]);

		for (uint32_t one = 0; one < choice->endpoints; one++) {
			uint32_t other = met_by(choice, partner, one);

			exhaust->arrival[one] = other < MOST_PORTS ? other : NONE;
		}
		keys->list[keys->count++] = ck_exhaust_met(exhaust);
	}
	return ret ? ret : ck_exhaust_refute_briefly(exhaust, keys);
}

/* The next endpoint has these ports: try all ports of the later ones. */
static int try_endpoint(struct choice *choice, struct live list, uint32_t tx, uint32_t rx)
{
	struct live kept;
	bool meet;
	int ret = 0;

	if (choice->taken[tx] || choice->taken[rx])
		return 0;
	choice->taken[tx] = choice->taken[rx] = true;
	choice->owner[rx] = (uint8_t)choice->endpoints;
	choice->tx[choice->endpoints] = tx;
	choice->rx[choice->endpoints++] = rx;
	if (!has_smaller(choice)) {
		ret = keep_live(choice, list, &kept, &meet);
		if (!ret && meet)
			ret = try_ports(choice, kept);
	}
	choice->endpoints--;
	choice->owner[rx] = NOBODY;
	choice->taken[tx] = choice->taken[rx] = false;
	return ret;
}

/* Try all ports of the next endpoint. The endpoints are sorted by the ports where they send. */
static int try_ports(struct choice *choice, struct live list)
{
	uint32_t first = choice->endpoints ? choice->tx[choice->endpoints - 1] + 1 : 0;
	bool pairs = choice->kind == MORPH_CHECK_PAIRS;
	int ret = 0;

	if (choice->endpoints == choice->all)
		return refute_choice(choice, list);
	for (uint32_t tx = first; tx < choice->ports && !ret; tx++) {
		if (pairs)
			ret = try_endpoint(choice, list, tx, tx);
		for (uint32_t rx = 0; rx < choice->ports && !pairs && !ret; rx++)
			if (rx != tx)
				ret = try_endpoint(choice, list, tx, rx);
	}
	return ret;
}

/* ------------------------------------------------------------------ directed circuits */

/* No set of rounds joins all senders to all receivers, but one for each. */
static int refute_split(struct choice *choice, struct live list)
{
	struct exhaust *exhaust = choice->exhaust;
	struct keys *keys = &exhaust->candidates;
	uint32_t pairs = exhaust->pairs;
	int ret = ck_exhaust_reserve(exhaust, keys, list.count);

	keys->count = 0;
	for (uint32_t at = 0; at < list.count && !ret; at++) {
		const uint8_t *partner = partners(choice, choice->live[list.from + at]);
		struct key key = { { 0 } };

		for (uint32_t one = 0; one < choice->all; one++) {
			uint8_t port = partner[choice->tx[one]];
			uint32_t pair;

			if (port == NOBODY || choice->owner[port] == NOBODY)
				continue;
			pair = one * choice->all + choice->owner[port];
			key.word[pair / 64] |= 1ULL << pair % 64;
		}
		keys->list[keys->count++] = key;
	}
	exhaust->side = choice->all;
	exhaust->pairs = choice->all * choice->all;
	if (!ret)
		ret = ck_exhaust_refute_briefly(exhaust, keys);
	exhaust->side = 0;
	exhaust->pairs = pairs;
	return ret;
}

/* Try all ports of the next receivers, from a port on. */
static int try_receivers(struct choice *choice, struct live list, uint32_t first)
{
	int ret = 0;

	if (choice->receivers == choice->all)
		return has_smaller(choice) ? 0 : refute_split(choice, list);
	for (uint32_t rx = first; rx < choice->ports && !ret; rx++) {
		uint32_t met, missing;
		struct live kept;

		if (choice->taken[rx])
			continue;
		choice->owner[rx] = (uint8_t)choice->receivers;
		choice->rx[choice->receivers++] = rx;
		ret = keep_reaching(choice, list, rx + 1, &kept, &met);
		missing = ~met & ((1U << choice->all) - 1);
		if (!ret && !missing) {
			ret = try_receivers(choice, kept, rx + 1);
		} else if (!ret && !(missing & (missing - 1))) {
			bool *lonely = &choice->lonely[__builtin_ctz(missing)];

			if (!*lonely) {
				*lonely = true;
				ret = try_receivers(choice, kept, rx + 1);
				*lonely = false;
			}
		}
		choice->receivers--;
		choice->owner[rx] = NOBODY;
	}
	return ret;
}

/* Try all ports of the next senders, from a port on. */
static int try_senders(struct choice *choice, struct live list, uint32_t first)
{
	int ret = 0;

	if (choice->endpoints == choice->all)
		return try_receivers(choice, list, 0);
	for (uint32_t tx = first; tx < choice->ports && !ret; tx++) {
		struct live kept;
		uint32_t met;

		choice->taken[tx] = true;
		choice->tx[choice->endpoints++] = tx;
		if (!has_smaller(choice)) {
			ret = keep_reaching(choice, list, 0, &kept, &met);
			if (!ret)
				ret = try_senders(choice, kept, tx + 1);
		}
		choice->endpoints--;
		choice->taken[tx] = false;
	}
	return ret;
}

/* ------------------------------------------------------------------ proofs */

/* The endpoints that can lack a circuit in a round, if the other rounds have all pairs. */
static uint32_t count_idle(const struct exhaust *exhaust)
{
	uint32_t slack = exhaust->rounds * exhaust->full - exhaust->pairs;
	uint32_t least = exhaust->full > slack ? exhaust->full - slack : 0;

	if (exhaust->it->input->kind != MORPH_CHECK_DIRECTED)
		least *= 2;
	return exhaust->it->input->endpoints - least;
}

static int prove(struct choice *choice)
{
	int ret = ck_exhaust_list(choice->exhaust);
	struct live list = { 0, (uint32_t)choice->exhaust->matchings.count }, none;

	if (!ret)
		ret = start_list(choice, list, &none);
	if (ret)
		return ret;
	for (uint32_t at = 0; at < list.count; at++)
		choice->live[at] = at;
	note_joins(choice);
	find_maps(choice);
	return choice->kind == MORPH_CHECK_DIRECTED ? try_senders(choice, list, 0) :
						      try_ports(choice, list);
}

int ck_exhaust_choose(struct exhaust *exhaust)
{
	struct choice *choice = calloc(1, sizeof(*choice));
	int ret;

	if (!choice)
		return ck_exhaust_wrong_memory(exhaust);
	choice->exhaust = exhaust;
	choice->kind = exhaust->it->input->kind;
	choice->all = exhaust->it->input->endpoints;
	choice->ports = exhaust->it->tx_ports;
	choice->most_idle = count_idle(exhaust);
	memset(choice->owner, NOBODY, sizeof(choice->owner));
	ret = prove(choice);
	free(choice->live);
	free(choice);
	return ret;
}
