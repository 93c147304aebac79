// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A fake kernel that accounts for its resources. It carries steps out and checks that no resource
 * is used twice.
 */
#include "../internal/planner.h"
#include "kernel.h"

#define CIRCUITS ARRAY_SIZE(kernel.circuits)
#define DATAGRAM 30000

struct kernel kernel;

/* ------------------------------------------------------------------ the light */

static void claim(const struct circuit *circuit)
{
	struct morph_ledger *books = kernel.books;

	for (uint32_t hop = 0; hop < circuit->path.hops_count; hop++) {
		const struct optics_hop *at = &circuit->hops[hop];

		assert_false(books->guide_marked[at->guide >> 1]);
		assert_int_equal(books->guide_lanes[at->guide >> 1] & circuit->path.lanes, 0);
		morph_ledger_load(books, at->guide >> 1,
				  books->guide_lanes[at->guide >> 1] | circuit->path.lanes);
		if (at->element == OPTICS_NONE)
			continue;
		assert_true(!books->state->element_pins[at->element] ||
			    books->state->element_state[at->element] == at->state);
		optics_set_state(books->state, at->element, at->state);
		books->state->element_pins[at->element]++;
	}
}

static void release(const struct circuit *circuit)
{
	struct morph_ledger *books = kernel.books;

	for (uint32_t hop = 0; hop < circuit->path.hops_count; hop++) {
		const struct optics_hop *at = &circuit->hops[hop];

		morph_ledger_load(books, at->guide >> 1,
				  books->guide_lanes[at->guide >> 1] & ~circuit->path.lanes);
		if (at->element != OPTICS_NONE)
			books->state->element_pins[at->element]--;
	}
}

static uint32_t joining(const struct optics_graph *graph, uint32_t element, uint8_t from,
			uint8_t to)
{
	uint32_t state = 0;

	while (optics_joined(graph, element, state, from) != to) {
		state++;
		assert_true(state < graph->kinds[graph->elements[element].kind].states);
	}
	return state;
}

/* Follow the path of a change guide by guide, as the kernel does. */
static void follow(const struct morph_change *change, struct circuit *circuit)
{
	const struct optics_graph *graph = kernel.books->graph;
	const uint32_t *guides = (const void *)(uintptr_t)change->guides.ptr;
	struct optics_end at = { .type = MORPH_END_TX };

	circuit->path = (struct optics_path){ .lanes = change->lanes,
					      .hops_count = change->guides.count,
					      .hops = circuit->hops };
	for (uint32_t hop = 0; hop < change->guides.count; hop++) {
		const struct optics_guide *guide = &graph->guides[guides[hop]];
		uint32_t end = guide->end[0].type == at.type &&
					       (!hop || guide->end[0].index == at.index) ?
				       0 :
				       1;

		assert_int_equal(guide->end[end].type, at.type);
		if (hop) {
			assert_int_equal(guide->end[end].index, at.index);
			circuit->hops[hop - 1].element = at.index;
			circuit->hops[hop - 1].state =
				joining(graph, at.index, at.port, guide->end[end].port);
		} else {
			circuit->path.tx =
				guide->end[end].index * graph->params.planes + guide->end[end].port;
		}
		circuit->hops[hop] = (struct optics_hop){ guides[hop] << 1 | end, OPTICS_NONE, 0 };
		at = guide->end[!end];
	}
	assert_int_equal(at.type, MORPH_END_RX);
	circuit->path.rx = at.index * graph->params.planes + at.port;
}

struct circuit *kernel_find(uint32_t slice, uint32_t number)
{
	for (uint32_t at = 0; at < kernel.count; at++)
		if (kernel.circuits[at].slice == slice && kernel.circuits[at].number == number)
			return &kernel.circuits[at];
	fail_msg("slice %u has no circuit %u", slice, number);
	return NULL;
}

static void add(uint32_t slice, const struct morph_change *change)
{
	struct circuit *circuit = &kernel.circuits[kernel.count++];

	assert_true(kernel.count <= CIRCUITS);
	*circuit = (struct circuit){ .slice = slice,
				     .number = kernel.count,
				     .src_rank = change->src_rank,
				     .dst_rank = change->dst_rank };
	follow(change, circuit);
	claim(circuit);
}

/* Move a circuit to its new path: beside the old one, unless the change announces a dark period. */
static void move(uint32_t slice, const struct morph_change *change, bool dark)
{
	struct circuit *circuit = kernel_find(slice, change->circuit), fresh = *circuit;

	follow(change, &fresh);
	assert_int_equal(fresh.path.tx / kernel.books->graph->params.planes,
			 circuit->path.tx / kernel.books->graph->params.planes);
	assert_int_equal(fresh.path.rx / kernel.books->graph->params.planes,
			 circuit->path.rx / kernel.books->graph->params.planes);
	if (dark)
		release(circuit);
	claim(&fresh);
	if (!dark)
		release(circuit);
	*circuit = fresh;
	circuit->path.hops = circuit->hops;
}

void kernel_run_step(const struct morph_defrag *defrag, uint32_t number, uint32_t request)
{
	struct morph_txn *txn = morph_txn_new(defrag->ctx);
	MORPH_OPTS(morph_defrag_step, step);
	uint32_t slice;

	assert_int_equal(morph_defrag_step(defrag, number, &step), 0);
	assert_int_equal(morph_txn_add_step(txn, defrag, number), 0);
	assert_int_equal(txn->count, step.changes);
	slice = step.slice ? step.slice : request;
	for (uint32_t at = 0; at < txn->count; at++) {
		MORPH_OPTS(morph_defrag_change, change);

		assert_int_equal(morph_defrag_change(defrag, number, at, &change), 0);
		if (txn->changes[at].op == MORPH_CHANGE_ADD) {
			add(slice, &txn->changes[at]);
		} else if (txn->changes[at].op == MORPH_CHANGE_MOVE) {
			move(slice, &txn->changes[at], change.dark);
		} else {
			struct circuit *circuit = kernel_find(slice, txn->changes[at].circuit);

			release(circuit);
			circuit->slice = 0;
		}
	}
	morph_txn_free(txn);
}

/* ----------------------------------------------------------------- what it tells */

/* Pack many messages into one datagram, as the kernel does. */
static struct nl_msg *one_more(struct fake *it, uint32_t command)
{
	struct fake_datagram *datagram = &it->queue[(it->last + FAKE_ROOM - 1) % FAKE_ROOM];
	struct nlmsghdr *header = kernel.last ? nlmsg_hdr(kernel.last) : NULL;

	if (header && it->first != it->last && datagram->length > 0 &&
	    datagram->length < DATAGRAM) {
		size_t bytes = NLMSG_ALIGN(datagram->length);

		header->nlmsg_seq = it->request_now->nlmsg_seq;
		datagram->bytes = realloc(datagram->bytes, bytes + header->nlmsg_len);
		assert_non_null(datagram->bytes);
		memcpy(datagram->bytes + bytes, header, header->nlmsg_len);
		datagram->length = (ssize_t)(bytes + header->nlmsg_len);
		nlmsg_free(kernel.last);
	} else if (header) {
		fake_queue(it, kernel.last, it->request_now->nlmsg_seq);
	}
	kernel.last = command ? fake_message(command, NLM_F_MULTI) : NULL;
	return kernel.last;
}

static void tell_accelerators(struct fake *it)
{
	const struct morph_ledger *books = kernel.books;

	for (uint32_t at = 0; at < books->graph->accelerators_count; at++) {
		struct nl_msg *message = one_more(it, MORPH_CMD_ACCELERATOR_GET);

		nla_put_u32(message, MORPH_A_ACCELERATOR_ID, at);
		nla_put_u32(message, MORPH_A_ACCELERATOR_USE,
			    books->spare[at] ? MORPH_USE_SPARE :
			    books->owner[at] ? MORPH_USE_HELD :
					       MORPH_USE_FREE);
		if (books->owner[at])
			nla_put_u32(message, MORPH_A_ACCELERATOR_SLICE, books->owner[at]);
		nla_put_u8(message, MORPH_A_ACCELERATOR_CORDONED, books->chip_marked[at]);
	}
}

static void tell_guides(struct fake *it)
{
	const struct morph_ledger *books = kernel.books;

	for (uint32_t at = 0; at < books->graph->guides_count; at++) {
		struct nl_msg *message = one_more(it, MORPH_CMD_GUIDE_GET);

		nla_put_u32(message, MORPH_A_GUIDE_ID, at);
		nla_put_u64(message, MORPH_A_GUIDE_LANES, books->graph->all_lanes);
		nla_put_u64(message, MORPH_A_GUIDE_LANES_FREE,
			    books->graph->all_lanes & ~books->guide_lanes[at]);
		nla_put_u8(message, MORPH_A_GUIDE_CORDONED, books->guide_marked[at]);
	}
}

static void tell_elements(struct fake *it)
{
	const struct optics_state *state = kernel.books->state;

	for (uint32_t at = 0; at < kernel.books->graph->elements_count; at++) {
		struct nl_msg *message = one_more(it, MORPH_CMD_ELEMENT_GET);

		nla_put_u32(message, MORPH_A_ELEMENT_ID, at);
		nla_put_u32(message, MORPH_A_ELEMENT_STATE, state->element_state[at]);
		nla_put_u32(message, MORPH_A_ELEMENT_PINS, state->element_pins[at]);
	}
}

static void tell_slices(struct fake *it)
{
	const struct morph_defrag *defrag = kernel.corner->defrag;

	for (uint32_t at = 0; at < defrag->slices.count; at++) {
		const struct morph_plan *plan = defrag->slices.list[at].plan;
		uint32_t slice = defrag->slices.list[at].slice;
		struct nl_msg *message = one_more(it, MORPH_CMD_SLICE_GET);

		nla_put_u32(message, MORPH_A_SLICE_ID, slice);
		nla_put_u32(message, MORPH_A_SLICE_STATE, kernel.state[slice]);
		nla_put_u32(message, MORPH_A_SLICE_TRANSIT, plan->transit);
		nla_put_u32(message, MORPH_A_SLICE_FAILOVER, kernel.failover[slice]);
		nla_put_u32(message, MORPH_A_SLICE_RESERVED, kernel.reserved[slice]);
		if (kernel.controller[slice])
			nla_put_u32(message, MORPH_A_SLICE_CONTROLLER, kernel.controller[slice]);
		for (uint32_t rank = 0; rank < plan->ranks; rank++) {
			struct nlattr *nest = nla_nest_start(message, MORPH_A_SLICE_RANK);

			nla_put_u32(message, MORPH_A_RANK_RANK, rank);
			nla_put_u32(message, MORPH_A_RANK_ACCELERATOR, plan->accelerators[rank]);
			if (kernel.spare)
				nla_put_u32(message, MORPH_A_RANK_SPARE, kernel.spare);
			nla_nest_end(message, nest);
		}
	}
}

static void tell_circuits(struct fake *it)
{
	uint32_t planes = kernel.books->graph->params.planes;

	for (uint32_t at = 0; at < kernel.count; at++) {
		const struct circuit *circuit = &kernel.circuits[at];
		struct nl_msg *message;

		if (!circuit->slice)
			continue;
		message = one_more(it, MORPH_CMD_CIRCUIT_GET);
		nla_put_u32(message, MORPH_A_CIRCUIT_SLICE, circuit->slice);
		nla_put_u32(message, MORPH_A_CIRCUIT_ID, circuit->number);
		nla_put_u32(message, MORPH_A_CIRCUIT_STATE, circuit->state);
		nla_put_u32(message, MORPH_A_CIRCUIT_SRC_RANK, circuit->src_rank);
		if (circuit->dst_rank != MORPH_ANY)
			nla_put_u32(message, MORPH_A_CIRCUIT_DST_RANK, circuit->dst_rank);
		nla_put_u32(message, MORPH_A_CIRCUIT_SRC_ACCELERATOR, circuit->path.tx / planes);
		nla_put_u32(message, MORPH_A_CIRCUIT_DST_ACCELERATOR, circuit->path.rx / planes);
		nla_put_u32(message, MORPH_A_CIRCUIT_SRC_PLANE, circuit->path.tx % planes);
		nla_put_u32(message, MORPH_A_CIRCUIT_DST_PLANE, circuit->path.rx % planes);
		nla_put_u64(message, MORPH_A_CIRCUIT_LANES, circuit->path.lanes);
		for (uint32_t hop = 0; hop < circuit->path.hops_count; hop++)
			nla_put_u32(message, MORPH_A_CIRCUIT_GUIDE, circuit->hops[hop].guide >> 1);
	}
}

static void tell_fabric(struct fake *it, const struct nlmsghdr *request)
{
	struct nl_msg *message = fake_message(MORPH_CMD_FABRIC_GET, 0);

	nla_put_u32(message, MORPH_A_FABRIC_PROFILE_CHECKSUM,
		    morph_model_checksum(kernel.corner->bench->model));
	nla_put_u64(message, MORPH_A_FABRIC_SEQ, 1);
	fake_queue(it, message, request->nlmsg_seq);
	fake_ack(it);
}

static void answer(struct fake *it, const struct nlmsghdr *request)
{
	switch (fake_command(request)) {
	case MORPH_CMD_FABRIC_GET:
		tell_fabric(it, request);
		return;
	case MORPH_CMD_ACCELERATOR_GET:
		tell_accelerators(it);
		break;
	case MORPH_CMD_GUIDE_GET:
		tell_guides(it);
		break;
	case MORPH_CMD_ELEMENT_GET:
		tell_elements(it);
		break;
	case MORPH_CMD_HARDWARE_GET:
	case MORPH_CMD_RESERVATION_GET:
		break;
	case MORPH_CMD_SLICE_GET:
		tell_slices(it);
		break;
	case MORPH_CMD_CIRCUIT_GET:
		tell_circuits(it);
		break;
	default:
		fail_msg("command %u", fake_command(request));
	}
	one_more(it, 0);
	fake_done(it);
}

/* ----------------------------------------------------------------------- its life */

/* Make the fibres of a plan usable. */
static void open_fibres(const struct morph_plan *plan)
{
	for (uint32_t at = 0; at < plan->strands_count; at++)
		morph_ledger_mark(kernel.books, MORPH_PART_GUIDE, plan->strands[at].guides[0] >> 1,
				  false);
}

bool kernel_boot(struct corner *corner)
{
	struct bench *bench = corner->bench;
	struct morph_ledger *books;
	int ret = 0;

	kernel_end();
	kernel.corner = corner;
	assert_int_equal(morph_ledger_new(bench->ctx, bench->model, &kernel.books), 0);
	books = kernel.books;
	assert_int_equal(lm_ledger_state(books), 0);
	/* Bar the fibres that are in use in the corner's ledger and belong to no slice. */
	for (uint32_t at = 0; at < books->graph->guides_count; at++)
		if (books->graph->guides[at].class == MORPH_GUIDE_FIBRE)
			morph_ledger_mark(books, MORPH_PART_GUIDE, at,
					  bench->ledger->guide_lanes[at]);
	for (uint32_t at = 0; at < books->graph->accelerators_count; at++)
		morph_ledger_mark(books, MORPH_PART_ACCELERATOR, at,
				  bench->ledger->chip_marked[at]);
	for (uint32_t at = 0; at < corner->defrag->slices.count; at++)
		open_fibres(corner->defrag->slices.list[at].plan);
	for (uint32_t at = 0; at < corner->defrag->slices.count && !ret; at++) {
		const struct running *running = &corner->defrag->slices.list[at];
		struct morph_plan *plan = running->plan;
		struct morph_txn *txn = morph_txn_new(bench->ctx);

		ret = morph_txn_add_plan(txn, plan, books);
		for (uint32_t change = 0; change < txn->count; change++)
			add(running->slice, &txn->changes[change]);
		for (uint32_t rank = 0; rank < plan->ranks; rank++)
			morph_ledger_hold(books, plan->accelerators[rank], running->slice);
		kernel.controller[running->slice] = running->pinned ? CONTROLLER : 0;
		morph_txn_free(txn);
	}
	((struct fake *)bench->ctx->transport)->request = answer;
	return !ret;
}

void kernel_end(void)
{
	morph_ledger_free(kernel.books);
	memset(&kernel, 0, sizeof(kernel));
}

int kernel_teardown(void **state)
{
	kernel_end();
	return placing_teardown(state);
}
