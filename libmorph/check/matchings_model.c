// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where light goes between the elements of a fabric or mesh, and the endpoints at its ports. */
#include "matchings.h"

#define MOST_ENDPOINTS 256U

static int wrong_memory(struct matchings_check *it)
{
	return ck_wrong(&it->check, ENOMEM, "out of memory");
}

/* Where light arrives that enters a guide at one of its ends. */
static uint32_t beyond(const struct fabric *fabric, uint32_t guide_code)
{
	struct end end = ck_guide_end(fabric, guide_code >> 1, !(guide_code & 1));

	if (end.type == END_ELEMENT)
		return end.index * ELEMENT_PORTS + end.port;
	if (end.type == END_RX)
		return RECEIVER | (end.index * fabric->planes + end.port);
	return NONE;
}

static int read_profile(struct matchings_check *it)
{
	const struct fabric *fabric = &it->check.fabric;
	size_t places, ports;
	int ret = ck_fabric_read(&it->check, &it->input->profile);

	if (ret)
		return ret;
	it->elements = fabric->elements;
	it->tx_ports = it->rx_ports = fabric->accelerators * fabric->planes;
	places = (size_t)it->elements * ELEMENT_PORTS;
	ports = it->tx_ports;
	it->next = malloc((places + 1) * sizeof(*it->next));
	it->entry = malloc((ports + 1) * sizeof(*it->entry));
	if (!it->next || !it->entry)
		return wrong_memory(it);
	memset(it->entry, 0xff, ports * sizeof(*it->entry));
	for (size_t place = 0; place < places; place++) {
		uint32_t code = fabric->port_guide[place];

		it->next[place] = code == NONE ? NONE : beyond(fabric, code);
	}
	for (uint32_t code = 0; code < 2 * fabric->guides; code++) {
		struct end end = ck_guide_end(fabric, code >> 1, code & 1);

		if (end.type == END_TX)
			it->entry[end.index * fabric->planes + end.port] = beyond(fabric, code);
	}
	return 0;
}

uint32_t ck_matchings_states(const struct matchings_check *it, uint32_t element)
{
	return it->input->profile.data ? ck_states(&it->check.fabric, element) : 2;
}

uint32_t ck_matchings_joined(const struct matchings_check *it, uint32_t element, uint32_t state,
			     uint32_t port)
{
	if (it->input->profile.data)
		return ck_joined(&it->check.fabric, element, state, port);
	/* Bar joins 0-1 and 2-3, cross joins 0-2 and 1-3. */
	return state < 2 && port < 4 ? port ^ (1 + state) : NONE;
}

uint32_t ck_matchings_rx(const struct matchings_check *it, uint32_t endpoint)
{
	return it->input->kind == MORPH_CHECK_PAIRS ? it->input->tx[endpoint] :
						      it->input->rx[endpoint];
}

bool ck_matchings_wanted(const struct matchings_check *it, uint32_t src, uint32_t dst)
{
	if (it->input->targets)
		return it->input->targets[src] == dst;
	return it->input->kind == MORPH_CHECK_PAIRS ? src < dst : src != dst;
}

/* Each endpoint has another one as its target, or none. No two have the same one. */
static int check_targets(struct matchings_check *it)
{
	const uint32_t *targets = it->input->targets;
	uint32_t endpoints = it->input->endpoints, count = 0;

	if (!targets)
		return 0;
	if (it->input->kind != MORPH_CHECK_DIRECTED || it->input->ports_chosen)
		return ck_wrong(&it->check, EINVAL,
				"only directed circuits between given ports have targets");
	for (uint32_t src = 0; src < endpoints; src++) {
		if (targets[src] == NONE)
			continue;
		count++;
		if (targets[src] >= endpoints || targets[src] == src)
			return ck_wrong(&it->check, EINVAL, "endpoint %u has no target %u", src,
					targets[src]);
		for (uint32_t other = 0; other < src; other++)
			if (targets[other] == targets[src])
				return ck_wrong(&it->check, EBADMSG,
						"endpoints %u and %u have the same target %u",
						other, src, targets[src]);
	}
	return count ? 0 : ck_wrong(&it->check, EINVAL, "no endpoint has a target");
}

/* Whether a circuit needs the transmit or the receive port of an endpoint. */
static bool is_used(const struct matchings_check *it, uint32_t endpoint, bool receives)
{
	for (uint32_t other = 0; other < it->input->endpoints; other++)
		if (receives ? ck_matchings_wanted(it, other, endpoint) :
			       ck_matchings_wanted(it, endpoint, other))
			return true;
	return false;
}

/* Each port has one endpoint. In a mesh, transmit and receive ports have the same numbers. */
static int check_ports(struct matchings_check *it)
{
	bool mesh = !it->input->profile.data, two = it->input->kind != MORPH_CHECK_PAIRS;
	uint32_t ports = it->tx_ports, owners = 2 * it->input->endpoints;
	uint32_t *owner = calloc(2 * (size_t)ports + 1, sizeof(*owner));
	int ret = 0;

	if (!owner)
		return wrong_memory(it);
	for (uint32_t at = 0; at < owners && !ret; at += two ? 1 : 2) {
		uint32_t port = at % 2 ? it->input->rx[at / 2] : it->input->tx[at / 2];
		uint32_t place = port + (mesh || at % 2 == 0 ? 0 : ports);

		if (port == NONE && two && !is_used(it, at / 2, at % 2))
			continue;
		if (port >= ports)
			ret = ck_wrong(&it->check, EINVAL, "no port %u (0-%u)", port, ports - 1);
		else if (owner[place])
			ret = ck_wrong(&it->check, EBADMSG,
				       "port %u belongs to endpoints %u and %u", port,
				       owner[place] - 1, at / 2);
		else
			owner[place] = at / 2 + 1;
	}
	free(owner);
	return ret;
}

static int read_faults(struct matchings_check *it)
{
	const struct morph_check_matchings_input *input = it->input;

	it->only = malloc(((size_t)it->elements + 1) * sizeof(*it->only));
	if (!it->only)
		return wrong_memory(it);
	memset(it->only, 0xff, (size_t)it->elements * sizeof(*it->only));
	for (size_t at = 0; at < input->failed_count + input->stuck_count; at++) {
		bool failed = at < input->failed_count;
		size_t stuck = at - input->failed_count;
		uint32_t element = failed ? input->failed[at] : input->stuck[stuck];

		if (element >= it->elements)
			return ck_wrong(&it->check, EINVAL, "no element %u (0-%u)", element,
					it->elements - 1);
		if (!failed && input->stuck_states[stuck] >= ck_matchings_states(it, element))
			return ck_wrong(&it->check, EINVAL, "element %u has no state %u", element,
					input->stuck_states[stuck]);
		it->only[element] = failed ? FAILED : input->stuck_states[stuck];
	}
	return 0;
}

int ck_matchings_read(struct matchings_check *it)
{
	const struct morph_check_matchings_input *input = it->input;
	int ret;

	if (input->kind > MORPH_CHECK_PAIRS)
		return ck_wrong(&it->check, EINVAL, "kind %u does not exist", input->kind);
	if (input->kind == MORPH_CHECK_PAIRS && input->profile.data)
		return ck_wrong(&it->check, EINVAL,
				"a profile has no ports that pass light both ways");
	if (input->endpoints < 2 || input->endpoints > MOST_ENDPOINTS)
		return ck_wrong(&it->check, EINVAL, "%u endpoints, not 2 to 256", input->endpoints);
	ret = input->profile.data ? read_profile(it) : ck_mesh_build(it);
	if (!ret)
		ret = check_targets(it);
	if (!ret)
		ret = check_ports(it);
	if (!ret)
		ret = read_faults(it);
	return ret;
}

void ck_matchings_free(struct matchings_check *it)
{
	ck_fabric_free(&it->check.fabric);
	free(it->next);
	free(it->entry);
	free(it->only);
}
