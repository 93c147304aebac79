// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lower bounds of the number of rounds, from shortest routes under lengths of arms. */
#include "matchings.h"

struct reached {
	uint64_t length;
	uint32_t place; /* where light enters an element */
};

struct routes {
	struct matchings_check *it;
	const uint32_t *lengths; /* by arm; NULL: 1 each */
	size_t *first_arm; /* by element */
	uint64_t *length; /* by place, from the source */
	uint64_t *arrival; /* by receive port, from the source */
	struct reached *heap;
	size_t heap_count, heap_size;
};

static bool usable(const struct matchings_check *it, uint32_t element, uint32_t state)
{
	return it->only[element] == ANY_STATE || it->only[element] == state;
}

/* Number the arms: joins of each state of each element, by their lower port. */
static size_t number_arms(struct routes *routes)
{
	const struct matchings_check *it = routes->it;
	size_t arms = 0;

	for (uint32_t element = 0; element < it->elements; element++) {
		routes->first_arm[element] = arms;
		for (uint32_t state = 0; state < ck_matchings_states(it, element); state++)
			for (uint32_t port = 0; port < ELEMENT_PORTS; port++) {
				uint32_t other = ck_matchings_joined(it, element, state, port);

				arms += other != NONE && port < other;
			}
	}
	return arms;
}

static bool heap_push(struct routes *routes, struct reached reached)
{
	size_t at = routes->heap_count;

	if (at == routes->heap_size) {
		size_t size = 2 * at + 64;
		struct reached *heap = realloc(routes->heap, size * sizeof(*heap));

		if (!heap)
			return false;
		routes->heap = heap;
		routes->heap_size = size;
	}
	for (; at && routes->heap[(at - 1) / 2].length > reached.length; at = (at - 1) / 2)
		routes->heap[at] = routes->heap[(at - 1) / 2];
	routes->heap[at] = reached;
	routes->heap_count++;
	return true;
}

static struct reached heap_pop(struct routes *routes)
{
	struct reached *heap = routes->heap, top = heap[0], last = heap[--routes->heap_count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= routes->heap_count)
			break;
		if (child + 1 < routes->heap_count && heap[child + 1].length < heap[child].length)
			child++;
		if (heap[child].length >= last.length)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

static uint64_t add(uint64_t one, uint64_t other)
{
	return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

static bool reach(struct routes *routes, uint32_t place, uint64_t length)
{
	uint64_t *shortest;

	if (place == NONE)
		return true;
	shortest = place & RECEIVER ? &routes->arrival[place & ~RECEIVER] : &routes->length[place];
	if (length >= *shortest)
		return true;
	*shortest = length;
	return place & RECEIVER || heap_push(routes, (struct reached){ length, place });
}

/* Light passes the element in each of its states. */
static bool pass(struct routes *routes, struct reached reached)
{
	const struct matchings_check *it = routes->it;
	uint32_t element = reached.place / ELEMENT_PORTS, entry = reached.place % ELEMENT_PORTS;
	size_t arm = routes->first_arm[element];
	bool pushed = true;

	for (uint32_t state = 0; state < ck_matchings_states(it, element); state++)
		for (uint32_t port = 0; port < ELEMENT_PORTS; port++) {
			uint32_t other = ck_matchings_joined(it, element, state, port), exit;
			uint64_t length;

			if (other == NONE || port > other)
				continue;
			length = routes->lengths ? routes->lengths[arm] : 1;
			arm++;
			if ((port != entry && other != entry) || !usable(it, element, state))
				continue;
			exit = element * ELEMENT_PORTS + (port == entry ? other : port);
			pushed &= reach(routes, it->next[exit], add(reached.length, length));
		}
	return pushed;
}

static int measure_from(struct routes *routes, uint32_t tx_port)
{
	const struct matchings_check *it = routes->it;
	bool pushed;

	memset(routes->length, 0xff,
	       (size_t)it->elements * ELEMENT_PORTS * sizeof(*routes->length));
	memset(routes->arrival, 0xff, it->rx_ports * sizeof(*routes->arrival));
	pushed = reach(routes, it->entry[tx_port], 0);
	while (routes->heap_count && pushed) {
		struct reached reached = heap_pop(routes);

		if (reached.length == routes->length[reached.place])
			pushed = pass(routes, reached);
	}
	return pushed ? 0 : ck_wrong(&routes->it->check, ENOMEM, "out of memory");
}

/* Add up the shortest routes of all pairs. */
static int measure_all(struct routes *routes, const uint32_t *lengths, uint64_t *sum)
{
	struct matchings_check *it = routes->it;
	uint32_t endpoints = it->input->endpoints;

	routes->lengths = lengths;
	*sum = 0;
	for (uint32_t src = 0; src < endpoints; src++) {
		int ret = 0;

		if (!it->input->targets || it->input->targets[src] != NONE)
			ret = measure_from(routes, it->input->tx[src]);
		if (ret)
			return ret;
		for (uint32_t dst = 0; dst < endpoints; dst++) {
			uint64_t length;

			if (!ck_matchings_wanted(it, src, dst))
				continue;
			length = routes->arrival[ck_matchings_rx(it, dst)];
			if (length == UNREACHABLE)
				return ck_wrong(&it->check, EBADMSG,
						"endpoint %u has no route to endpoint %u", src,
						dst);
			*sum = add(*sum, length);
		}
	}
	return 0;
}

/* The arms of all elements together, each in the state with the longest arms. */
static uint64_t capacity(const struct routes *routes)
{
	const struct matchings_check *it = routes->it;
	uint64_t sum = 0;
	size_t arm = 0;

	for (uint32_t element = 0; element < it->elements; element++) {
		uint64_t most = 0;

		for (uint32_t state = 0; state < ck_matchings_states(it, element); state++) {
			uint64_t length = 0;

			for (uint32_t port = 0; port < ELEMENT_PORTS; port++) {
				uint32_t other = ck_matchings_joined(it, element, state, port);

				if (other == NONE || port > other)
					continue;
				length += routes->lengths ? routes->lengths[arm] : 1;
				arm++;
			}
			if (usable(it, element, state) && length > most)
				most = length;
		}
		sum += most;
	}
	return sum;
}

static int check_quotient(struct routes *routes, uint64_t sum)
{
	struct matchings_check *it = routes->it;
	uint64_t arms = capacity(routes), rounds;

	if (!arms)
		return ck_wrong(&it->check, EBADMSG, "all lengths are 0");
	rounds = sum / arms + !!(sum % arms);
	if (rounds != it->input->bound)
		return ck_wrong(
			&it->check, EBADMSG,
			"the lengths %llu of routes and %llu of a round prove %llu rounds, not %u",
			(unsigned long long)sum, (unsigned long long)arms,
			(unsigned long long)rounds, it->input->bound);
	return 0;
}

static int check_degree(struct matchings_check *it)
{
	uint32_t rounds = it->input->endpoints - 1;

	if (it->input->targets)
		rounds = 1;
	/* Of an odd number of endpoints that meet in pairs, one has no circuit. */
	if (it->input->kind != MORPH_CHECK_DIRECTED)
		rounds |= 1;
	if (rounds != it->input->bound)
		return ck_wrong(&it->check, EBADMSG, "%u endpoints need %u rounds, not %u",
				it->input->endpoints, rounds, it->input->bound);
	return 0;
}

static int check_kind(struct routes *routes, size_t arms, uint64_t distance)
{
	const struct morph_check_matchings_input *input = routes->it->input;
	struct check *check = &routes->it->check;
	uint64_t sum;
	int ret;

	if (input->bound_kind == MORPH_CHECK_EXHAUSTIVE)
		return ck_matchings_exhaust(routes->it);
	if (input->ports_chosen && input->bound_kind != MORPH_CHECK_DEGREE)
		return ck_wrong(
			check, EBADMSG,
			"a bound of kind %u does not hold for other ports than the chosen ones",
			input->bound_kind);
	switch (input->bound_kind) {
	case MORPH_CHECK_DEGREE:
		return check_degree(routes->it);
	case MORPH_CHECK_DISTANCE:
		return check_quotient(routes, distance);
	case MORPH_CHECK_CUT:
		return ck_matchings_cut(routes->it);
	case MORPH_CHECK_FRACTIONAL:
		if (input->lengths_count != arms)
			return ck_wrong(check, EBADMSG, "%llu lengths of %llu arms",
					(unsigned long long)input->lengths_count,
					(unsigned long long)arms);
		ret = measure_all(routes, input->lengths, &sum);
		return ret ? ret : check_quotient(routes, sum);
	}
	return ck_wrong(check, EBADMSG, "a bound of kind %u has no proof", input->bound_kind);
}

/*
 * An answer without rounds: one pair has no route, within the limit of elements if there is one. A
 * duplex pair has no two routes in one round.
 */
static int check_unreachable(struct routes *routes)
{
	const struct morph_check_matchings_input *input = routes->it->input;
	uint64_t length;
	int ret;

	if (input->src >= input->endpoints || input->dst >= input->endpoints ||
	    input->src == input->dst ||
	    (input->targets && input->targets[input->src] != input->dst))
		return ck_wrong(&routes->it->check, EBADMSG,
				"the refusal has no pair: endpoints %u and %u", input->src,
				input->dst);
	if (input->cut_count)
		return ck_matchings_cut(routes->it);
	ret = measure_from(routes, input->tx[input->src]);
	if (ret)
		return ret;
	length = routes->arrival[ck_matchings_rx(routes->it, input->dst)];
	if (length == UNREACHABLE || (input->hops && length > input->hops))
		return 0;
	/* The shortest way may need two states of one element. */
	ret = ck_matchings_route(routes->it, &length);
	if (ret || length == UNREACHABLE)
		return ret;
	if (input->kind == MORPH_CHECK_DUPLEX)
		return ck_wrong(&routes->it->check, EBADMSG,
				"one round can join endpoints %u and %u both ways by %llu elements",
				input->src, input->dst, (unsigned long long)length);
	return ck_wrong(&routes->it->check, EBADMSG,
			"endpoint %u has a route to endpoint %u of %llu elements", input->src,
			input->dst, (unsigned long long)length);
}

/*
 * A refusal of any number of rounds, if the search chose the ports. As many rounds as pairs are
 * enough wherever all pairs can meet.
 */
static int check_any_rounds(struct routes *routes)
{
	const struct morph_check_matchings_input *input = routes->it->input;
	uint64_t pairs = (uint64_t)input->endpoints * (input->endpoints - 1);

	pairs /= input->kind == MORPH_CHECK_DIRECTED ? 1 : 2;
	if (input->bound_kind != MORPH_CHECK_EXHAUSTIVE || input->bound <= pairs)
		return ck_wrong(
			&routes->it->check, EBADMSG,
			"a bound of %u rounds does not exclude a round for each of %llu pairs",
			input->bound, (unsigned long long)pairs);
	return ck_matchings_exhaust(routes->it);
}

static int check_with(struct routes *routes)
{
	const struct morph_check_matchings_input *input = routes->it->input;
	size_t arms = number_arms(routes);
	uint64_t distance;
	int ret = 0;

	if (!input->rounds && !input->limit)
		return input->ports_chosen ? check_any_rounds(routes) : check_unreachable(routes);
	/* If the search chose the ports, a refusal has none, and its ports may lack routes. */
	if (!input->rounds && input->ports_chosen)
		distance = 0;
	else
		ret = measure_all(routes, NULL, &distance);
	if (ret)
		return ret;
	if (input->distance && input->distance != distance)
		return ck_wrong(&routes->it->check, EBADMSG,
				"the shortest routes have %llu elements, not %llu",
				(unsigned long long)distance, (unsigned long long)input->distance);
	ret = check_kind(routes, arms, distance);
	if (!ret && !input->rounds && input->limit >= input->bound)
		return ck_wrong(&routes->it->check, EBADMSG,
				"a bound of %u rounds does not exclude %u rounds", input->bound,
				input->limit);
	return ret;
}

int ck_matchings_bound(struct matchings_check *it)
{
	struct routes routes = { .it = it };
	size_t elements = it->elements;
	int ret;

	routes.first_arm = malloc((elements + 1) * sizeof(*routes.first_arm));
	routes.length = malloc((elements * ELEMENT_PORTS + 1) * sizeof(*routes.length));
	routes.arrival = malloc(((size_t)it->rx_ports + 1) * sizeof(*routes.arrival));
	if (!routes.first_arm || !routes.length || !routes.arrival)
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	else
		ret = check_with(&routes);
	free(routes.first_arm);
	free(routes.length);
	free(routes.arrival);
	free(routes.heap);
	return ret;
}
