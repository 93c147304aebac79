// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half circuits over netlink: two fabrics whose edges are connected to each other, and who may read
 * them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "nl.h"

#define LONG 600000000000ULL
#define COOKIE 0x77
#define UUID_A "11111111-1111-4111-8111-111111111111"
#define UUID_B "22222222-2222-4222-8222-222222222222"

/* edge4: edge 0 is at accelerator 1 and leads to edge 4 of the peer, and the reverse. */
#define OUT 0
#define IN 4
#define EDGES 8
#define AT_EDGE 1

/* One side: a fabric, and a slice of the accelerator at the edge and another one. */
struct side {
	struct sim sim;
	unsigned int slice, txn;
};

FIXTURE(half)
{
	struct nl nl;
	struct side a, b;
};

static unsigned int create(struct nl *nl, struct side *side, unsigned int first,
			   unsigned int second)
{
	nl_begin(nl, MORPH_CMD_SLICE_CREATE, 0);
	nl_put_u32(nl, MORPH_A_SLICE_FABRIC, side->sim.number);
	nl_put_text(nl, MORPH_A_SLICE_NAME, first == AT_EDGE ? side->sim.name : "other");
	nl_put_u32(nl, MORPH_A_SLICE_OWNER, 0);
	nl_put_u32(nl, MORPH_A_SLICE_MODE, 0600);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, first);
	nl_put_u32(nl, MORPH_A_SLICE_ACCELERATOR, second);
	return nl_do(nl) ? 0 : REPLY_U32(nl, MORPH_A_SLICE_ID);
}

static void side_start(struct nl *nl, struct side *side, const char *settings)
{
	sim_start(&side->sim, "edge4", settings);
	side->slice = create(nl, side, AT_EDGE, 0);
}

static void side_stop(struct side *side)
{
	slice_delete(side->sim.fd, side->slice, NULL, MORPH_SLICE_FORCE);
	sim_wait_free(&side->sim, 4);
	sim_stop(&side->sim);
}

FIXTURE_SETUP(half)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	side_start(&self->nl, &self->a, "uuid=" UUID_A " peer=" UUID_B);
	side_start(&self->nl, &self->b, "uuid=" UUID_B " peer=" UUID_A);
	ASSERT_NE(0, self->a.slice);
	ASSERT_NE(0, self->b.slice);
}

FIXTURE_TEARDOWN(half)
{
	side_stop(&self->a);
	side_stop(&self->b);
	nl_close(&self->nl);
}

/* Build a change that adds a circuit on lane 0, with these two attributes as its ends. */
static void put_half(struct nl *nl, uint16_t src, uint32_t from, uint16_t dst, uint32_t to)
{
	size_t nest = nl_nest(nl, MORPH_A_TXN_CHANGE);

	nl_put_u32(nl, MORPH_A_CHANGE_OP, MORPH_CHANGE_ADD);
	nl_put_u32(nl, src, from);
	nl_put_u32(nl, dst, to);
	nl_put_u64(nl, MORPH_A_CHANGE_LANES, 1);
	nl_nest_end(nl, nest);
}

static void put_out(struct nl *nl)
{
	put_half(nl, MORPH_A_CHANGE_SRC_RANK, 0, MORPH_A_CHANGE_DST_EDGE, OUT);
}

static void put_in(struct nl *nl)
{
	put_half(nl, MORPH_A_CHANGE_SRC_EDGE, IN, MORPH_A_CHANGE_DST_RANK, 0);
}

/* Wait until a transaction has ended, and compare its outcome. It is then the reply. */
static bool wait_outcome(struct nl *nl, const struct side *side, uint32_t outcome)
{
	return nl_wait_outcome(nl, side->sim.number, side->txn) == (int)outcome;
}

/* Prepare both halves of this side, one in each direction. */
static bool prepare(struct nl *nl, struct side *side)
{
	nl_apply(nl, side->sim.number, side->slice);
	nl_put(nl, MORPH_A_TXN_PREPARE, NULL, 0);
	nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, LONG);
	nl_put_u64(nl, MORPH_A_TXN_COOKIE, COOKIE);
	put_out(nl);
	put_in(nl);
	if (nl_do(nl))
		return false;
	side->txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	return wait_outcome(nl, side, MORPH_OUTCOME_PREPARED);
}

static bool step(struct nl *nl, const struct side *side, uint32_t verb, uint32_t outcome)
{
	nl_begin(nl, MORPH_CMD_TXN_STEP, 0);
	nl_put_u32(nl, MORPH_A_TXN_FABRIC, side->sim.number);
	nl_put_u32(nl, MORPH_A_TXN_ID, side->txn);
	nl_put_u32(nl, MORPH_A_TXN_VERB, verb);
	return !nl_do(nl) && wait_outcome(nl, side, outcome);
}

static uint32_t change_u32(const struct nlattr *change, uint16_t type)
{
	return nl_get_u32(nl_find_nested(change, type));
}

static int get_edge(struct nl *nl, const struct side *side, unsigned int edge)
{
	nl_begin(nl, MORPH_CMD_EDGE_GET, 0);
	nl_put_u32(nl, MORPH_A_EDGE_FABRIC, side->sim.number);
	nl_put_u32(nl, MORPH_A_EDGE_ID, edge);
	return nl_do(nl);
}

/* ------------------------------------------------------------------ circuits */

/* Attributes of a slice's half circuits in a dump of circuits. */
struct halves {
	unsigned int slice, count;
	uint32_t out_edge, out_state, in_edge, in_state;
	bool has_other_end; /* a rank, an accelerator or a plane in place of an edge */
};

static bool has(const struct nlmsghdr *message, uint16_t a, uint16_t b, uint16_t c)
{
	return nl_find(message, a) || nl_find(message, b) || nl_find(message, c);
}

static void note_circuit(const struct nlmsghdr *message, void *context)
{
	struct halves *halves = context;
	const struct nlattr *to = nl_find(message, MORPH_A_CIRCUIT_DST_EDGE);
	const struct nlattr *from = nl_find(message, MORPH_A_CIRCUIT_SRC_EDGE);
	uint32_t state = nl_get_u32(nl_find(message, MORPH_A_CIRCUIT_STATE));

	if (nl_get_u32(nl_find(message, MORPH_A_CIRCUIT_SLICE)) != halves->slice)
		return;
	halves->count++;
	if (to) {
		halves->out_edge = nl_get_u32(to);
		halves->out_state = state;
		halves->has_other_end |= has(message, MORPH_A_CIRCUIT_DST_RANK,
					     MORPH_A_CIRCUIT_DST_ACCELERATOR,
					     MORPH_A_CIRCUIT_DST_PLANE);
	}
	if (from) {
		halves->in_edge = nl_get_u32(from);
		halves->in_state = state;
		halves->has_other_end |= has(message, MORPH_A_CIRCUIT_SRC_RANK,
					     MORPH_A_CIRCUIT_SRC_ACCELERATOR,
					     MORPH_A_CIRCUIT_SRC_PLANE);
	}
}

static struct halves read_halves(struct nl *nl, const struct side *side)
{
	struct halves halves = { .slice = side->slice, .out_edge = -1, .in_edge = -1 };

	nl_begin(nl, MORPH_CMD_CIRCUIT_GET, 0);
	nl_put_u32(nl, MORPH_A_CIRCUIT_FABRIC, side->sim.number);
	if (nl_dump(nl, note_circuit, &halves))
		halves.count = 999;
	return halves;
}

TEST_F(half, there_and_back)
{
	struct nl *nl = &self->nl;
	struct halves halves;

	ASSERT_TRUE(prepare(nl, &self->a));
	ASSERT_TRUE(prepare(nl, &self->b));
	ASSERT_TRUE(step(nl, &self->a, MORPH_TXN_COMMIT, MORPH_OUTCOME_UNCONFIRMED));
	halves = read_halves(nl, &self->a);
	EXPECT_EQ(2, halves.count);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, halves.out_state);
	EXPECT_EQ(MORPH_CIRCUIT_WAITING, halves.in_state);
	ASSERT_TRUE(step(nl, &self->b, MORPH_TXN_COMMIT, MORPH_OUTCOME_UNCONFIRMED));
	EXPECT_EQ(1, sim_lit_lanes(&self->a.sim, AT_EDGE));
	EXPECT_EQ(1, sim_lit_lanes(&self->b.sim, AT_EDGE));
	ASSERT_TRUE(step(nl, &self->a, MORPH_TXN_CONFIRM, MORPH_OUTCOME_COMMITTED));
	ASSERT_TRUE(step(nl, &self->b, MORPH_TXN_CONFIRM, MORPH_OUTCOME_COMMITTED));
	EXPECT_EQ(COOKIE, REPLY_U64(nl, MORPH_A_TXN_COOKIE));
	halves = read_halves(nl, &self->b);
	EXPECT_EQ(2, halves.count);
	EXPECT_EQ(OUT, halves.out_edge);
	EXPECT_EQ(IN, halves.in_edge);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, halves.in_state);
	EXPECT_FALSE(halves.has_other_end);
}

/* The reply lists the changes of a transaction in the form of the request. */
TEST_F(half, transaction_names_its_edges)
{
	struct nl *nl = &self->nl;
	const struct nlattr *change;

	ASSERT_TRUE(prepare(nl, &self->a));
	change = nl_find(nl_reply(nl), MORPH_A_TXN_CHANGE);
	EXPECT_EQ(OUT, change_u32(change, MORPH_A_CHANGE_DST_EDGE));
	EXPECT_EQ(0, change_u32(change, MORPH_A_CHANGE_SRC_RANK));
	EXPECT_EQ(NULL, nl_find_nested(change, MORPH_A_CHANGE_DST_RANK));
	change = nl_next(nl_reply(nl), MORPH_A_TXN_CHANGE, change);
	EXPECT_EQ(IN, change_u32(change, MORPH_A_CHANGE_SRC_EDGE));
	EXPECT_EQ(NULL, nl_find_nested(change, MORPH_A_CHANGE_SRC_RANK));
}

TEST_F(half, confirm_wants_the_peers_light)
{
	struct nl *nl = &self->nl;

	ASSERT_TRUE(prepare(nl, &self->b));
	ASSERT_TRUE(step(nl, &self->b, MORPH_TXN_COMMIT, MORPH_OUTCOME_UNCONFIRMED));
	ASSERT_TRUE(step(nl, &self->b, MORPH_TXN_CONFIRM, MORPH_OUTCOME_UNCONFIRMED));
	EXPECT_EQ((uint32_t)-EAGAIN, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(MORPH_REASON_PEER, REPLY_U32(nl, MORPH_A_TXN_REASON));
	EXPECT_EQ(MORPH_CIRCUIT_WAITING, read_halves(nl, &self->b).in_state);
	ASSERT_TRUE(step(nl, &self->b, MORPH_TXN_REVERT, MORPH_OUTCOME_ROLLED_BACK));
	EXPECT_EQ(0, read_halves(nl, &self->b).count);
	EXPECT_TRUE(sim_all_dark(&self->b.sim));
}

/* ---------------------------------------------------------------------- edges */

TEST_F(half, edge_names_peer_lanes_and_slice)
{
	struct nl *nl = &self->nl;
	const struct nlattr *uuid;

	ASSERT_EQ(0, get_edge(nl, &self->a, OUT));
	EXPECT_STREQ("out0", nl_get_text(nl_find(nl_reply(nl), MORPH_A_EDGE_NAME)));
	EXPECT_EQ(IN, REPLY_U32(nl, MORPH_A_EDGE_PEER_EDGE));
	uuid = nl_find(nl_reply(nl), MORPH_A_EDGE_PEER_UUID);
	ASSERT_NE(NULL, uuid);
	EXPECT_EQ(0x22, ((const uint8_t *)(uuid + 1))[0]);
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_EDGE_LANES_OUT));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_EDGE_SLICE));

	ASSERT_TRUE(prepare(nl, &self->a));
	ASSERT_EQ(0, get_edge(nl, &self->a, OUT));
	EXPECT_EQ(1, REPLY_U64(nl, MORPH_A_EDGE_LANES_OUT));
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_EDGE_LANES_IN));
	EXPECT_EQ(self->a.slice, REPLY_U32(nl, MORPH_A_EDGE_SLICE));
	ASSERT_EQ(0, get_edge(nl, &self->a, IN));
	EXPECT_EQ(1, REPLY_U64(nl, MORPH_A_EDGE_LANES_IN));
	ASSERT_TRUE(step(nl, &self->a, MORPH_TXN_REVERT, MORPH_OUTCOME_ROLLED_BACK));
	ASSERT_EQ(0, get_edge(nl, &self->a, OUT));
	EXPECT_EQ(0, REPLY_U64(nl, MORPH_A_EDGE_LANES_OUT));
	EXPECT_EQ(NULL, nl_find(nl_reply(nl), MORPH_A_EDGE_SLICE));
}

TEST_F(half, edge_of_another_slice)
{
	struct nl *nl = &self->nl;
	struct side other = self->a;

	ASSERT_TRUE(prepare(nl, &self->a));
	other.slice = create(nl, &other, 2, 3);
	ASSERT_NE(0, other.slice) TH_LOG("%s", nl->text);
	nl_apply(nl, other.sim.number, other.slice);
	put_half(nl, MORPH_A_CHANGE_SRC_RANK, 0, MORPH_A_CHANGE_DST_EDGE, OUT);
	ASSERT_EQ(0, nl_do(nl));
	other.txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	EXPECT_TRUE(wait_outcome(nl, &other, MORPH_OUTCOME_NONE));
	EXPECT_EQ((uint32_t)-EBUSY, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	EXPECT_EQ(0, slice_delete(other.sim.fd, other.slice, NULL, MORPH_SLICE_FORCE));
}

TEST_F(half, edges_are_dumped)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, MORPH_CMD_EDGE_GET, 0);
	nl_put_u32(nl, MORPH_A_EDGE_FABRIC, self->b.sim.number);
	ASSERT_EQ(0, nl_dump(nl, NULL, NULL));
	EXPECT_EQ(EDGES, nl->messages);
	EXPECT_EQ(ENOENT, get_edge(nl, &self->b, EDGES));
	EXPECT_EQ(MORPH_A_EDGE_ID, nl->bad_attr);
}

/* ------------------------------------------------------------------- refusals */

/* Return the answer to a dry run of a circuit between these ends. */
static int wrong_ends(struct nl *nl, const struct side *side, uint16_t src, uint32_t from,
		      uint16_t dst, uint32_t to)
{
	nl_apply(nl, side->sim.number, side->slice);
	nl_put(nl, MORPH_A_TXN_DRY_RUN, NULL, 0);
	put_half(nl, src, from, dst, to);
	return nl_do(nl);
}

TEST_F(half, rank_and_edge_are_not_mixed_up)
{
	const uint16_t src_rank = MORPH_A_CHANGE_SRC_RANK, src_edge = MORPH_A_CHANGE_SRC_EDGE;
	const uint16_t dst_rank = MORPH_A_CHANGE_DST_RANK, dst_edge = MORPH_A_CHANGE_DST_EDGE;
	struct nl *nl = &self->nl;

	EXPECT_EQ(ENOENT, wrong_ends(nl, &self->a, src_rank, 0, dst_rank, MORPH_RANK_EDGE | OUT));
	EXPECT_EQ(MORPH_A_CHANGE_DST_RANK, nl->bad_attr);
	EXPECT_EQ(ENOENT, wrong_ends(nl, &self->a, src_rank, 0, dst_edge, MORPH_RANK_EDGE | OUT));
	EXPECT_EQ(MORPH_A_CHANGE_DST_EDGE, nl->bad_attr);
	/* Two sources, and no destination. */
	EXPECT_EQ(EINVAL, wrong_ends(nl, &self->a, src_rank, 0, src_edge, IN));
	EXPECT_NE(NULL, strstr(nl->text, "dst-edge"));

	/* An edge at both ends, an edge that does not exist, and an edge of the wrong direction. */
	ASSERT_EQ(0, wrong_ends(nl, &self->a, src_edge, IN, dst_edge, OUT));
	EXPECT_EQ((uint32_t)-EINVAL, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	ASSERT_EQ(0, wrong_ends(nl, &self->a, src_rank, 0, dst_edge, EDGES));
	EXPECT_EQ((uint32_t)-ENOENT, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	ASSERT_EQ(0, wrong_ends(nl, &self->a, src_rank, 0, dst_edge, IN));
	EXPECT_EQ((uint32_t)-EHOSTUNREACH, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	ASSERT_EQ(0, wrong_ends(nl, &self->a, src_rank, 0, dst_edge, OUT));
	EXPECT_EQ(0, REPLY_U32(nl, MORPH_A_TXN_STATUS));
}

/*
 * In independent changes, the driver verifies and lights outgoing light. It refuses incoming light,
 * which nothing would verify.
 */
TEST_F(half, each_for_itself)
{
	struct nl *nl = &self->nl;
	const struct nlattr *change;

	nl_apply(nl, self->a.sim.number, self->a.slice);
	nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
	put_in(nl);
	put_out(nl);
	ASSERT_EQ(0, nl_do(nl));
	self->a.txn = REPLY_U32(nl, MORPH_A_TXN_ID);
	ASSERT_TRUE(wait_outcome(nl, &self->a, MORPH_OUTCOME_COMMITTED));
	EXPECT_EQ((uint32_t)-EINVAL, REPLY_U32(nl, MORPH_A_TXN_STATUS));
	change = nl_find(nl_reply(nl), MORPH_A_TXN_CHANGE);
	EXPECT_EQ((uint32_t)-EINVAL, change_u32(change, MORPH_A_CHANGE_STATUS));
	EXPECT_EQ(MORPH_REASON_STATE, change_u32(change, MORPH_A_CHANGE_REASON));
	change = nl_next(nl_reply(nl), MORPH_A_TXN_CHANGE, change);
	EXPECT_EQ(0, change_u32(change, MORPH_A_CHANGE_STATUS));
	EXPECT_EQ(1, read_halves(nl, &self->a).count);
	EXPECT_EQ(MORPH_CIRCUIT_LIT, read_halves(nl, &self->a).out_state);
}

TEST_F(half, each_goes_with_no_other_flag)
{
	const uint16_t others[] = { MORPH_A_TXN_PREPARE, MORPH_A_TXN_DRY_RUN };
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		nl_apply(nl, self->a.sim.number, self->a.slice);
		nl_put(nl, MORPH_A_TXN_EACH, NULL, 0);
		nl_put(nl, others[i], NULL, 0);
		if (others[i] == MORPH_A_TXN_PREPARE)
			nl_put_u64(nl, MORPH_A_TXN_LEASE_NS, LONG);
		put_out(nl);
		EXPECT_EQ(EINVAL, nl_do(nl));
		EXPECT_EQ(MORPH_A_TXN_EACH, nl->bad_attr);
	}
}

TEST_HARNESS_MAIN
