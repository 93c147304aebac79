// SPDX-License-Identifier: LGPL-2.1-or-later
/* Two ends of edges, with the kernel's state of each: see edge_sites.h. */
#include "edge_sites.h"

struct site sites[2];
struct site_requests requests;

static struct site *site_of(const struct fake *fake, uint32_t fabric)
{
	for (size_t at = 0; at < ARRAY_SIZE(sites); at++)
		if (sites[at].fake == fake && sites[at].fabric == fabric)
			return &sites[at];
	fail_msg("unexpected request for fabric %u", fabric);
	return NULL;
}

uint32_t edge_weight(uint64_t lanes)
{
	return (uint32_t)__builtin_popcountll(lanes);
}

static uint64_t lowest(uint64_t lanes, uint32_t count)
{
	uint64_t rest = lanes;

	while (rest && count--)
		rest &= rest - 1;
	return lanes & ~rest;
}

uint64_t site_may_have(const struct site *site)
{
	return LANES & ~(site->theirs | (site->prepared & ~site->ours));
}

/* No end may give up earlier lanes until both ends have the wanted lanes. */
void sites_check_kept(void)
{
	bool both = edge_weight(sites[0].ours & sites[1].ours) >= requests.wanted;

	for (size_t at = 0; at < ARRAY_SIZE(sites); at++)
		assert_true(both || !(sites[at].had & ~sites[at].ours));
}

/*
 * As the kernel, choose the present lanes first, then the lanes of its own slices, then the lowest
 * free lane.
 */
static int reserve(struct site *site, uint64_t epoch, uint32_t count, uint64_t among)
{
	uint64_t left = site_may_have(site) & among, chosen;

	if (epoch != site->epoch)
		return ESTALE;
	if (!count) {
		site->ours = site->bears = 0;
		return 0;
	}
	if (count > edge_weight(among & LANES))
		return EINVAL;
	if (site->marked)
		return EIO;
	if (edge_weight(left) < count) {
		site->conflicts++;
		return EBUSY;
	}
	chosen = lowest(left & site->ours, count);
	chosen |= lowest(left & site->lit & ~chosen, count - edge_weight(chosen));
	chosen |= lowest(left & ~chosen, count - edge_weight(chosen));
	site->ours = chosen;
	site->bears = epoch;
	sites_check_kept();
	return 0;
}

/* Another controller is faster: it takes the lowest requested lane that is not reserved yet. */
static void overtake(struct site *site, uint64_t among)
{
	if (site == &sites[1] && requests.reserved++ < requests.overtaken)
		site->theirs |= lowest(among & LANES & ~site->ours, 1);
}

/* Read a number of 4 or 8 bytes from the request; 0 if it is absent. */
static uint64_t number(const struct nlmsghdr *request, int attribute)
{
	const struct genlmsghdr *genl = nlmsg_data(request);
	struct nlattr *attr =
		nla_find(genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), attribute);

	if (!attr)
		return 0;
	return nla_len(attr) == sizeof(uint64_t) ? nla_get_u64(attr) : nla_get_u32(attr);
}

static int set_reservation(struct site *site, const struct nlmsghdr *request)
{
	uint64_t among = number(request, MORPH_A_RESERVATION_LANES);

	if (!among)
		among = UINT64_MAX;
	if (!requests.first)
		requests.first = site;
	overtake(site, among);
	return reserve(site, number(request, MORPH_A_RESERVATION_EPOCH),
		       (uint32_t)number(request, MORPH_A_RESERVATION_LANES_COUNT), among);
}

static void put_edge(struct nl_msg *message, const struct site *site)
{
	nla_put_u32(message, MORPH_A_EDGE_GUIDE, site->guide);
	if (site->peer_uuid) {
		nla_put(message, MORPH_A_EDGE_PEER_UUID, MORPH_UUID_BYTES, site->peer_uuid);
		nla_put_u32(message, MORPH_A_EDGE_PEER_EDGE, site->peer_edge);
	}
	if (site->lit | site->prepared || site->decides != OURS)
		nla_put_u32(message, MORPH_A_EDGE_SLICE, SLICE);
}

static void tell_circuit(struct site *site, const struct nlmsghdr *request, uint32_t edge,
			 uint32_t state, uint64_t lanes)
{
	struct nl_msg *message = fake_message(MORPH_CMD_CIRCUIT_GET, NLM_F_MULTI);

	nla_put_u32(message, edge % 2 ? MORPH_A_CIRCUIT_SRC_EDGE : MORPH_A_CIRCUIT_DST_EDGE,
		    edge / 2);
	nla_put_u32(message, MORPH_A_CIRCUIT_STATE, state);
	nla_put_u64(message, MORPH_A_CIRCUIT_LANES, lanes);
	fake_queue(site->fake, message, request->nlmsg_seq);
}

/*
 * List all circuits of the slice: those that leave and enter, one at another edge, and a prepared
 * one.
 */
static void tell_circuits(struct site *site, const struct nlmsghdr *request)
{
	uint64_t leaves = site->lit & 0xff, enters = site->lit & ~leaves;

	tell_circuit(site, request, 2 * site->edge, MORPH_CIRCUIT_LIT, leaves);
	tell_circuit(site, request, 2 * site->edge + 1, MORPH_CIRCUIT_FAILED, enters);
	tell_circuit(site, request, 2 * site->edge, MORPH_CIRCUIT_PREPARED, site->prepared);
	tell_circuit(site, request, 2 * site->edge + 3, MORPH_CIRCUIT_LIT, LANES);
	fake_done(site->fake);
}

static void put_object(struct nl_msg *message, const struct site *site, uint32_t command)
{
	switch (command) {
	case MORPH_CMD_FABRIC_GET:
		nla_put(message, MORPH_A_FABRIC_UUID, MORPH_UUID_BYTES, site->uuid);
		break;
	case MORPH_CMD_EDGE_GET:
		put_edge(message, site);
		break;
	case MORPH_CMD_SLICE_GET:
		nla_put_u32(message, MORPH_A_SLICE_CONTROLLER, site->decides);
		break;
	case MORPH_CMD_GUIDE_GET:
		nla_put_u64(message, MORPH_A_GUIDE_LANES_FREE,
			    LANES & ~(site->theirs | site->ours | site->lit | site->prepared));
		break;
	default:
		nla_put_u64(message, MORPH_A_RESERVATION_LANES, site->ours);
	}
}

/* Attributes of each command besides the fabric. */
static const struct {
	uint32_t command;
	int fabric, named;
} commands[] = {
	{ MORPH_CMD_FABRIC_GET, MORPH_A_FABRIC_ID, MORPH_A_FABRIC_ID },
	{ MORPH_CMD_EDGE_GET, MORPH_A_EDGE_FABRIC, MORPH_A_EDGE_ID },
	{ MORPH_CMD_SLICE_GET, MORPH_A_SLICE_FABRIC, MORPH_A_SLICE_ID },
	{ MORPH_CMD_CIRCUIT_GET, MORPH_A_CIRCUIT_FABRIC, MORPH_A_CIRCUIT_SLICE },
	{ MORPH_CMD_GUIDE_GET, MORPH_A_GUIDE_FABRIC, MORPH_A_GUIDE_ID },
	{ MORPH_CMD_RESERVATION_GET, MORPH_A_RESERVATION_FABRIC, MORPH_A_RESERVATION_GUIDE },
	{ MORPH_CMD_RESERVATION_SET, MORPH_A_RESERVATION_FABRIC, MORPH_A_RESERVATION_GUIDE },
};

static void check_named(const struct site *site, uint32_t command, uint64_t named)
{
	switch (command) {
	case MORPH_CMD_FABRIC_GET:
		assert_int_equal(named, site->fabric);
		break;
	case MORPH_CMD_EDGE_GET:
		assert_int_equal(named, site->edge);
		break;
	case MORPH_CMD_SLICE_GET:
	case MORPH_CMD_CIRCUIT_GET:
		assert_int_equal(named, SLICE);
		break;
	default:
		assert_int_equal(named, site->guide);
	}
}

static int act(struct site *site, uint32_t command, const struct nlmsghdr *request)
{
	requests.count++;
	if (requests.count >= requests.refused_at && requests.count < requests.refused_until)
		return requests.error;
	if (command == MORPH_CMD_SLICE_GET && site->slice_gone)
		return ENOENT;
	if (command == MORPH_CMD_RESERVATION_SET || command == MORPH_CMD_RESERVATION_GET)
		assert_int_equal(number(request, MORPH_A_RESERVATION_CONTROLLER), OURS);
	return command == MORPH_CMD_RESERVATION_SET ? set_reservation(site, request) : 0;
}

void sites_answer(struct fake *fake, const struct nlmsghdr *request)
{
	uint32_t command = fake_command(request);
	struct nl_msg *message;
	struct site *site;
	size_t at = 0;
	int error;

	while (commands[at].command != command)
		assert_true(++at < ARRAY_SIZE(commands));
	site = site_of(fake, (uint32_t)number(request, commands[at].fabric));
	check_named(site, command, number(request, commands[at].named));
	error = act(site, command, request);
	if (error) {
		fake_refuse(fake, error, "no", 0, 0, 0);
		return;
	}
	if (command == MORPH_CMD_CIRCUIT_GET) {
		tell_circuits(site, request);
		return;
	}
	message = fake_message(command, 0);
	put_object(message, site, command);
	fake_queue(fake, message, request->nlmsg_seq);
	fake_ack(fake);
}
