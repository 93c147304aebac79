// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that rounds of circuits join all pairs of endpoints, by following their light. */
#include "matchings.h"

struct rounds {
	struct matchings_check *it;
	uint32_t *met; /* by source * endpoints + target: the round, plus 1 */
	uint32_t *sends, *receives; /* by endpoint: the last round with a circuit, plus 1 */
	uint32_t *user; /* by place: the last circuit that passes it, plus 1 */
	uint64_t total;
	uint32_t longest;
};

/* Whether light that leaves at a place arrives at @target: an element, or a receiver. */
static bool arrives(const struct matchings_check *it, uint32_t place, uint32_t target)
{
	uint32_t next = it->next[place];

	if (next == NONE || next & RECEIVER || target & RECEIVER)
		return next == target;
	return next / ELEMENT_PORTS == target;
}

/*
 * The port of an element by which light goes on to @target, or NONE. The element can be in any
 * state; @state is preferred if several ports lead there.
 */
static uint32_t exit_to(const struct matchings_check *it, uint32_t entry, uint32_t state,
			uint32_t target)
{
	uint32_t element = entry / ELEMENT_PORTS, states = ck_matchings_states(it, element);

	for (uint32_t at = 0; at <= states; at++) {
		uint32_t tried = at ? at - 1 : state, port;

		port = ck_matchings_joined(it, element, tried, entry % ELEMENT_PORTS);
		if (port != NONE && arrives(it, element * ELEMENT_PORTS + port, target))
			return port;
	}
	return NONE;
}

static uint32_t target_of(const struct matchings_check *it,
			  const struct morph_check_matchings_circuit *circuit, uint32_t hop)
{
	if (hop + 1 < circuit->count)
		return it->input->elements[circuit->first + hop + 1];
	return RECEIVER | ck_matchings_rx(it, circuit->dst);
}

/* The elements are adjacent, and each arm has one circuit of the round. */
static int check_arms(struct rounds *rounds, uint32_t round, uint32_t number)
{
	struct matchings_check *it = rounds->it;
	const struct morph_check_matchings_circuit *circuits = it->input->circuits;
	const struct morph_check_matchings_circuit *circuit = &circuits[number];
	const uint32_t *elements = it->input->elements + circuit->first;
	const uint16_t *states = it->input->states + (size_t)round * it->elements;
	uint32_t at = it->entry[it->input->tx[circuit->src]], src = circuit->src,
		 dst = circuit->dst;

	if (!circuit->count || at == NONE || at & RECEIVER || at / ELEMENT_PORTS != elements[0])
		return ck_wrong(&it->check, EBADMSG,
				"round %u: circuit %u-%u does not begin at the port of endpoint %u",
				round, src, dst, src);
	for (uint32_t hop = 0; hop < circuit->count; hop++) {
		uint32_t element = elements[hop], target = target_of(it, circuit, hop);
		uint32_t port = exit_to(it, at, states[element], target), *in, *out;

		if (port == NONE && target & RECEIVER)
			return ck_wrong(
				&it->check, EBADMSG,
				"round %u: circuit %u-%u does not end at the port of endpoint %u",
				round, src, dst, dst);
		if (port == NONE)
			return ck_wrong(
				&it->check, EBADMSG,
				"round %u: circuit %u-%u: element %u does not lead to element %u",
				round, src, dst, element, target);
		in = &rounds->user[at];
		out = &rounds->user[element * ELEMENT_PORTS + port];
		if (*in == *out && *in > it->input->round_first[round])
			return ck_wrong(
				&it->check, EBADMSG,
				"round %u: circuits %u-%u and %u-%u use one arm of element %u",
				round, circuits[*in - 1].src, circuits[*in - 1].dst, src, dst,
				element);
		*in = *out = number + 1;
		at = it->next[element * ELEMENT_PORTS + port];
	}
	return 0;
}

/* In the states of the round, light passes exactly these elements. check_arms() was successful. */
static int check_light(struct rounds *rounds, uint32_t round, uint32_t number)
{
	struct matchings_check *it = rounds->it;
	const struct morph_check_matchings_circuit *circuit = &it->input->circuits[number];
	const uint16_t *states = it->input->states + (size_t)round * it->elements;
	uint32_t at = it->entry[it->input->tx[circuit->src]], src = circuit->src,
		 dst = circuit->dst;

	for (uint32_t hop = 0; hop < circuit->count; hop++) {
		uint32_t element = at / ELEMENT_PORTS, state = states[element], port;

		if (it->only[element] == FAILED)
			return ck_wrong(&it->check, EBADMSG,
					"round %u: circuit %u-%u passes the failed element %u",
					round, src, dst, element);
		if (state == NO_STATE)
			return ck_wrong(
				&it->check, EBADMSG,
				"round %u: circuit %u-%u passes element %u, which has no state",
				round, src, dst, element);
		port = ck_matchings_joined(it, element, state, at % ELEMENT_PORTS);
		if (port == NONE ||
		    !arrives(it, element * ELEMENT_PORTS + port, target_of(it, circuit, hop)))
			return ck_wrong(
				&it->check, EBADMSG,
				"round %u: light of circuit %u-%u leaves its route at element %u in state %u",
				round, src, dst, element, state);
		at = it->next[element * ELEMENT_PORTS + port];
	}
	return 0;
}

/* An endpoint has one circuit in a round, in each direction. */
static int join_once(struct rounds *rounds, uint32_t round, uint32_t *joined, uint32_t endpoint)
{
	if (joined[endpoint] == round + 1)
		return ck_wrong(&rounds->it->check, EBADMSG,
				"round %u: endpoint %u has two circuits", round, endpoint);
	joined[endpoint] = round + 1;
	return 0;
}

static uint32_t *meeting(struct rounds *rounds, uint32_t src, uint32_t dst)
{
	bool swap = rounds->it->input->kind == MORPH_CHECK_PAIRS && src > dst;

	return &rounds->met[(swap ? dst : src) * rounds->it->input->endpoints + (swap ? src : dst)];
}

static int check_pair(struct rounds *rounds, uint32_t round, uint32_t number)
{
	struct matchings_check *it = rounds->it;
	const struct morph_check_matchings_circuit *circuit = &it->input->circuits[number];
	bool pairs = it->input->kind == MORPH_CHECK_PAIRS;
	uint32_t src = circuit->src, dst = circuit->dst, *met;
	int ret;

	if (src >= it->input->endpoints || dst >= it->input->endpoints || src == dst)
		return ck_wrong(&it->check, EBADMSG,
				"round %u: circuit %u-%u does not join two of %u endpoints", round,
				src, dst, it->input->endpoints);
	if (it->input->targets && it->input->targets[src] != dst)
		return ck_wrong(&it->check, EBADMSG,
				"round %u: circuit %u-%u does not lead to a target", round, src,
				dst);
	ret = join_once(rounds, round, rounds->sends, src);
	if (!ret)
		ret = join_once(rounds, round, pairs ? rounds->sends : rounds->receives, dst);
	if (ret)
		return ret;
	met = meeting(rounds, src, dst);
	if (*met)
		return ck_wrong(&it->check, EBADMSG, "endpoints %u and %u meet in rounds %u and %u",
				src, dst, *met - 1, round);
	*met = round + 1;
	if (it->input->hops && circuit->count > it->input->hops)
		return ck_wrong(&it->check, EBADMSG,
				"round %u: circuit %u-%u passes %u elements, more than %u", round,
				src, dst, circuit->count, it->input->hops);
	rounds->total += circuit->count;
	if (circuit->count > rounds->longest)
		rounds->longest = circuit->count;
	return 0;
}

static int check_stuck(struct rounds *rounds, uint32_t round)
{
	struct matchings_check *it = rounds->it;
	const uint16_t *states = it->input->states + (size_t)round * it->elements;

	for (size_t at = 0; at < it->input->stuck_count; at++) {
		uint32_t element = it->input->stuck[at];

		if (states[element] != NO_STATE && states[element] != it->input->stuck_states[at])
			return ck_wrong(
				&it->check, EBADMSG,
				"round %u: element %u is in state %u, but stuck in state %u", round,
				element, states[element], it->input->stuck_states[at]);
	}
	return 0;
}

static int check_round(struct rounds *rounds, uint32_t round)
{
	static int (*const rules[])(struct rounds * rounds, uint32_t round,
				    uint32_t number) = { check_pair, check_arms, check_light };
	uint32_t first = rounds->it->input->round_first[round];
	uint32_t end = rounds->it->input->round_first[round + 1];
	int ret = check_stuck(rounds, round);

	for (uint32_t rule = 0; rule < 3; rule++)
		for (uint32_t number = first; number < end && !ret; number++)
			ret = rules[rule](rounds, round, number);
	return ret;
}

/* All pairs meet in the rounds, and the circuits have the stated numbers of elements. */
static int check_all(struct rounds *rounds)
{
	struct matchings_check *it = rounds->it;
	const struct morph_check_matchings_input *input = it->input;
	int ret = 0;

	for (uint32_t round = 0; round < input->rounds && !ret; round++)
		ret = check_round(rounds, round);
	if (ret)
		return ret;
	for (uint32_t src = 0; src < input->endpoints; src++)
		for (uint32_t dst = 0; dst < input->endpoints; dst++) {
			uint32_t met = *meeting(rounds, src, dst);

			if (ck_matchings_wanted(it, src, dst) && !met)
				return ck_wrong(&it->check, EBADMSG,
						"endpoints %u and %u never meet", src, dst);
			if (src != dst && input->kind == MORPH_CHECK_DUPLEX &&
			    met != *meeting(rounds, dst, src))
				return ck_wrong(
					&it->check, EBADMSG,
					"round %u: circuit %u-%u has no circuit back in the same round",
					met - 1, src, dst);
		}
	if (input->total && input->total != rounds->total)
		return ck_wrong(&it->check, EBADMSG, "all circuits pass %llu elements, not %llu",
				(unsigned long long)rounds->total,
				(unsigned long long)input->total);
	if (input->longest && input->longest != rounds->longest)
		return ck_wrong(&it->check, EBADMSG,
				"the longest circuit passes %u elements, not %u", rounds->longest,
				input->longest);
	return 0;
}

static int check_rounds(struct matchings_check *it)
{
	struct rounds rounds = { .it = it };
	size_t endpoints = it->input->endpoints;
	int ret;

	rounds.met = calloc(endpoints * endpoints, sizeof(*rounds.met));
	rounds.sends = calloc(endpoints, sizeof(*rounds.sends));
	rounds.receives = calloc(endpoints, sizeof(*rounds.receives));
	rounds.user = calloc((size_t)it->elements * ELEMENT_PORTS + 1, sizeof(*rounds.user));
	if (!rounds.met || !rounds.sends || !rounds.receives || !rounds.user)
		ret = ck_wrong(&it->check, ENOMEM, "out of memory");
	else
		ret = check_all(&rounds);
	free(rounds.met);
	free(rounds.sends);
	free(rounds.receives);
	free(rounds.user);
	return ret;
}

int morph_check_matchings(const struct morph_check_matchings_input *input, char *report,
			  size_t room)
{
	struct matchings_check it = {
		.check = { .report = report, .report_room = report ? room : 0 }, .input = input
	};
	int ret;

	if (it.check.report_room)
		report[0] = '\0';
	ret = ck_matchings_read(&it);
	if (!ret)
		ret = ck_matchings_bound(&it);
	if (!ret && input->rounds)
		ret = check_rounds(&it);
	ck_matchings_free(&it);
	return ret;
}
