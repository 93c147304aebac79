// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Making room on a fabric that runs. The kernel is a fake with books of its own: what is lit, by which
 * guides and states of elements. Steps are carried out there, where nothing is used twice.
 */
#include <stdio.h>

#include <morph/check.h>

#include "../plan/place.h"
#include "corner.h"

#define FABRIC 3
#define CIRCUITS 512
#define DATAGRAM 30000
#define CONTROLLER 5

struct circuit {
	uint32_t slice, number; /* 0: there is none */
	uint32_t src_rank, dst_rank;
	uint32_t state;
	struct optics_path path;
	struct optics_hop hops[OPTICS_MAX_HOPS];
};

/* What the kernel has. Its ledger is one of the library only in as much as that has room for it. */
static struct {
	struct morph_ledger *books;
	struct corner *corner;
	struct circuit circuits[CIRCUITS];
	uint32_t count;
	uint32_t controller[SLICES + 1], state[SLICES + 1];
	struct nl_msg *last; /* that is not queued yet */
} kernel;

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

/* The path of a change, as the kernel follows its guides. */
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

static struct circuit *find(uint32_t slice, uint32_t number)
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

	assert_true(kernel.count < CIRCUITS);
	*circuit = (struct circuit){ .slice = slice,
				     .number = kernel.count,
				     .src_rank = change->src_rank,
				     .dst_rank = change->dst_rank };
	follow(change, circuit);
	claim(circuit);
}

/* A circuit by its new way: lit beside the old one, unless it was said to go dark. */
static void move(uint32_t slice, const struct morph_change *change, bool dark)
{
	struct circuit *circuit = find(slice, change->circuit), fresh = *circuit;

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

static void run_step(const struct morph_defrag *defrag, uint32_t number, uint32_t request)
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
			struct circuit *circuit = find(slice, txn->changes[at].circuit);

			release(circuit);
			circuit->slice = 0;
		}
	}
	morph_txn_free(txn);
}

/* ----------------------------------------------------------------- what it tells */

/* Many messages go into one datagram, as a kernel does it. */
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
	for (uint32_t slice = 1; slice <= kernel.corner->count; slice++) {
		const struct morph_plan *plan = kernel.corner->plans[slice - 1];
		struct nl_msg *message = one_more(it, MORPH_CMD_SLICE_GET);

		nla_put_u32(message, MORPH_A_SLICE_ID, slice);
		nla_put_u32(message, MORPH_A_SLICE_STATE, kernel.state[slice]);
		nla_put_u32(message, MORPH_A_SLICE_TRANSIT, plan->transit);
		if (kernel.controller[slice])
			nla_put_u32(message, MORPH_A_SLICE_CONTROLLER, kernel.controller[slice]);
		for (uint32_t rank = 0; rank < plan->ranks; rank++) {
			struct nlattr *nest = nla_nest_start(message, MORPH_A_SLICE_RANK);

			nla_put_u32(message, MORPH_A_RANK_RANK, rank);
			nla_put_u32(message, MORPH_A_RANK_ACCELERATOR, plan->accelerators[rank]);
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

/* ----------------------------------------------------------------------- a scene */

/* All that runs in the corner is lit in the kernel; false: it has no ways inside servers. */
static bool boot(struct corner *corner, const bool *barred)
{
	struct bench *bench = corner->bench;
	struct morph_ledger *books;
	int ret = 0;

	morph_ledger_free(kernel.books);
	memset(&kernel, 0, sizeof(kernel));
	kernel.corner = corner;
	assert_int_equal(morph_ledger_new(bench->ctx, bench->model, &kernel.books), 0);
	books = kernel.books;
	assert_int_equal(lm_ledger_state(books), 0);
	for (uint32_t at = 0; at < books->graph->guides_count; at++)
		morph_ledger_mark(books, MORPH_PART_GUIDE, at, barred[at]);
	for (uint32_t at = 0; at < books->graph->accelerators_count; at++)
		morph_ledger_mark(books, MORPH_PART_ACCELERATOR, at,
				  bench->ledger->chip_marked[at]);
	for (uint32_t slice = 1; slice <= corner->count && !ret; slice++) {
		struct morph_plan *plan = corner->plans[slice - 1];
		struct morph_txn *txn = morph_txn_new(bench->ctx);

		ret = morph_txn_add_plan(txn, plan, books);
		for (uint32_t at = 0; at < txn->count; at++)
			add(slice, &txn->changes[at]);
		for (uint32_t rank = 0; rank < plan->ranks; rank++)
			morph_ledger_hold(books, plan->accelerators[rank], slice);
		kernel.controller[slice] =
			corner->defrag->slices.list[slice - 1].pinned ? CONTROLLER : 0;
		morph_txn_free(txn);
	}
	return !ret;
}

static struct morph_defrag_result solve(struct bench *bench, struct morph_defrag *defrag,
					struct morph_ledger *ledger)
{
	MORPH_OPTS(morph_defrag_result, result);

	if (morph_defrag_solve(defrag, ledger, bench->request, NULL, &result))
		fail_msg("%s", morph_error_text(bench->ctx));
	return result;
}

/*
 * Slices that run in a corner, and a request; with @moves only such that something is moved for it.
 * False where there is nothing of the kind.
 */
static bool set(struct corner *corner, uint64_t *seed, bool moves)
{
	struct morph_ledger *ledger = corner->bench->ledger;
	bool *barred = calloc(ledger->graph->guides_count, sizeof(*barred)), up;

	assert_non_null(barred);
	corner_clear(corner);
	corner_choose(corner, 4 + random_below(seed, 3));
	corner_fence(corner, seed, 1 + random_below(seed, 2), 2);
	for (uint32_t at = 0; at < ledger->graph->guides_count; at++)
		barred[at] = ledger->guide_lanes[at];
	corner_run(corner, seed, 1 + random_below(seed, 4));
	corner_ask(corner->bench->request, seed);
	up = (!moves || solve(corner->bench, corner->defrag, corner->bench->ledger).moved) &&
	     boot(corner, barred);
	free(barred);
	((struct fake *)corner->bench->ctx->transport)->request = answer;
	return up;
}

/* The answer, with the fibres that it has by now, is what it says. */
static void check(struct corner *corner, struct morph_defrag *defrag, struct morph_ledger *ledger)
{
	struct bench bench = *corner->bench;
	struct corner live = { .bench = &bench, .defrag = defrag };
	struct answer written;
	char report[256];

	bench.ledger = ledger;
	answer_write(&live, &written);
	if (morph_check_defrag(&written.input, report, sizeof(report)))
		fail_msg("%s", report);
	answer_free(&written);
}

/* Each circuit of the request is lit, on the fibres of the plan. */
static void check_request(const struct morph_defrag *defrag, uint32_t request)
{
	const struct morph_plan *plan = morph_defrag_plan(defrag);
	uint32_t circuit = 0;

	for (uint32_t at = 0; at < kernel.count; at++) {
		const struct circuit *it = &kernel.circuits[at];
		uint32_t strand;

		if (it->slice != request)
			continue;
		strand = plan->ways[circuit].first;
		assert_int_equal(it->src_rank, plan->circuits[circuit].src);
		assert_int_equal(it->dst_rank, plan->circuits[circuit].dst);
		for (uint32_t hop = 0; hop < it->path.hops_count; hop++)
			if (kernel.books->graph->guides[it->hops[hop].guide >> 1].class ==
			    MORPH_GUIDE_FIBRE)
				assert_int_equal(it->hops[hop].guide,
						 plan->strands[strand++].guides[0]);
		assert_int_equal(strand, plan->ways[circuit].first + plan->ways[circuit].count);
		circuit++;
	}
	assert_int_equal(circuit, plan->circuits_count);
}

/* ------------------------------------------------------------------------- tests */

static void what_runs_is_read(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint64_t seed = 5;
	uint32_t strands = 0;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	for (uint32_t round = 0; round < 8; round++) {
		uint32_t next = 0;

		if (!set(&corner, &seed, false))
			continue;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, CONTROLLER), 0);
		for (uint32_t slice = 1; slice <= corner.count; slice++) {
			const struct morph_plan *was = corner.plans[slice - 1], *plan;

			if (!was->circuits_count)
				continue;
			assert_int_equal(defrag->slices.list[next].slice, slice);
			plan = defrag->slices.list[next++].plan;
			assert_int_equal(plan->ranks, was->ranks);
			assert_memory_equal(plan->accelerators, was->accelerators,
					    was->ranks * sizeof(*was->accelerators));
			assert_int_equal(plan->circuits_count, was->circuits_count);
			assert_memory_equal(plan->circuits, was->circuits,
					    was->circuits_count * sizeof(*was->circuits));
			assert_int_equal(plan->strands_count, was->strands_count);
			assert_memory_equal(plan->strands, was->strands,
					    was->strands_count * sizeof(*was->strands));
			strands += plan->strands_count;
		}
		assert_int_equal(defrag->slices.count, next);
		assert_int_equal(defrag->stays.count, 0);
	}
	assert_true(strands > 40);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

static void steps_make_room_in_the_kernel(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	uint32_t moved = 0, stuck = 0;
	uint64_t seed = 7;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	for (uint32_t round = 0; round < 1500; round++) {
		struct morph_defrag_result result;
		uint32_t request = 77;
		int ret;

		if (!set(&corner, &seed, true))
			continue;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
		result = solve(corner.bench, defrag, ledger);
		assert_int_equal(result.verdict,
				 solve(corner.bench, corner.defrag, corner.bench->ledger).verdict);
		ret = morph_defrag_light(defrag, ledger, &result);
		stuck += ret == -EBUSY;
		if (ret == -EBUSY)
			continue;
		assert_int_equal(ret, 0);
		check(&corner, defrag, ledger);
		for (uint32_t step = 0; step < result.steps; step++)
			run_step(defrag, step, request);
		check_request(defrag, request);
		moved += result.moved;
	}
	print_message("%u moved, %u without ways inside servers\n", moved, stuck);
	assert_true(moved > 10);
	assert_true(stuck < 5);
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* Slices that nobody may, or can, move stay, and it is said why. */
static void what_stays_is_told(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	struct circuit *circuit;
	uint32_t fibre = 0;
	uint64_t seed = 5;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	while (!set(&corner, &seed, false) || !corner.plans[0]->strands_count ||
	       kernel.controller[1])
		;
	circuit = kernel.circuits;
	while (kernel.books->graph->guides[circuit->hops[fibre].guide >> 1].class !=
	       MORPH_GUIDE_FIBRE) {
		if (++fibre == circuit->path.hops_count)
			circuit++, fibre = 0;
	}
#define STAYS(change, back, text)                                                  \
	do {                                                                       \
		change;                                                            \
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0); \
		assert_int_equal(defrag->stays.list[0].slice, 1);                  \
		assert_non_null(strstr(defrag->stays.list[0].why, text));          \
		back;                                                              \
	} while (0)
	STAYS(kernel.state[1] = MORPH_SLICE_DEGRADED, kernel.state[1] = 0, "not in order");
	STAYS(kernel.controller[1] = 9, kernel.controller[1] = 0, "another controller");
	STAYS(circuit->state = MORPH_CIRCUIT_CHANGING, circuit->state = 0, "not all");
	STAYS(circuit->dst_rank = MORPH_ANY, circuit->dst_rank = 1, "over edges");
	STAYS(kernel.books->guide_lanes[circuit->hops[fibre].guide >> 1] |= 2,
	      kernel.books->guide_lanes[circuit->hops[fibre].guide >> 1] &= ~2ULL,
	      "shares a fibre");
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

/* What is not solved, or not read from a kernel, can't be lit; steps that are not there have no changes. */
static void wrong_calls_are_refused(void **state)
{
	struct corner corner;
	struct morph_txn *txn;
	uint64_t seed = 11;

	corner_begin(&corner, *state);
	txn = morph_txn_new(corner.bench->ctx);
	assert_int_equal(morph_defrag_light(corner.defrag, corner.bench->ledger, NULL), -EINVAL);
	corner_satisfy(&corner, &seed);
	assert_int_equal(lm_ledger_state(corner.bench->ledger), 0);
	assert_int_equal(morph_defrag_light(corner.defrag, corner.bench->ledger, NULL), -EINVAL);
	assert_non_null(strstr(morph_error_text(corner.bench->ctx), "was added as a plan"));
	assert_int_equal(morph_txn_add_step(txn, corner.defrag, 0), -EINVAL);
	assert_int_equal(morph_txn_add_broken(txn, corner.defrag, 0, 1), -EINVAL);
	assert_int_equal(morph_txn_count(txn), 0);
	morph_txn_free(txn);
	corner_end(&corner);
}

/* Each allocation of what follows the reading fails in turn: that is said, and all can be done again. */
static void without_memory_nothing_is_lit(void **state)
{
	struct corner corner;
	struct morph_defrag *defrag;
	struct morph_ledger *ledger;
	struct morph_object *told;
	uint64_t seed = 7;
	uint32_t failed = 0;

	corner_begin(&corner, *state);
	defrag = morph_defrag_new(corner.bench->ctx);
	assert_int_equal(morph_ledger_new(corner.bench->ctx, corner.bench->model, &ledger), 0);
	do {
		while (!set(&corner, &seed, true))
			;
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), 0);
	} while (!solve(corner.bench, defrag, ledger).moved ||
		 morph_defrag_light(defrag, ledger, NULL));
	for (unsigned int nth = 1;; nth++) {
		int ret;

		fault_at("memory", nth, ENOMEM);
		ret = morph_defrag_light(defrag, ledger, NULL);
		if (!ret) {
			ret = morph_defrag_describe(defrag, ledger, &told);
			morph_object_free(told);
		}
		if (!fault_struck()) {
			assert_int_equal(ret, 0);
			break;
		}
		assert_int_equal(ret, -ENOMEM);
		failed++;
	}
	assert_true(failed > 20);
	for (unsigned int nth = 1; nth < 20000; nth *= 3) {
		fault_at("memory", nth, ENOMEM);
		assert_int_equal(morph_defrag_read(defrag, ledger, FABRIC, 0), -ENOMEM);
		assert_true(fault_struck());
		assert_int_equal(defrag->slices.count, 0);
	}
	morph_ledger_free(ledger);
	morph_defrag_free(defrag);
	corner_end(&corner);
}

static int end(void **state)
{
	morph_ledger_free(kernel.books);
	memset(&kernel, 0, sizeof(kernel));
	return placing_teardown(state);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, placing_setup, end)
	const struct CMUnitTest tests[] = {
		TEST(what_runs_is_read),
		TEST(steps_make_room_in_the_kernel),
		TEST(what_stays_is_told),
		TEST(wrong_calls_are_refused),
		TEST(without_memory_nothing_is_lit),
	};

	return placing_run(argc, argv, "defrag_live", tests, ARRAY_SIZE(tests));
}
