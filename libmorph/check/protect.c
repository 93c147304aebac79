// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks a protection. The accelerator of each rank fails in turn. */
#include <morph/wire.h>

#include "search.h"

#define DEFAULT_STEPS (1ULL << 28)
#define FEASIBLE 1
#define INFEASIBLE 2
#define UNDECIDED 3

#define wrong(protect, ...) ck_wrong(&(protect)->check, __VA_ARGS__)

struct protection_words {
	uint32_t verdict, ranks, ways, strands, refusals;
	const uint8_t *rank_words, *way_words, *strand_words, *refusal_words;
};

struct protect {
	struct check check;
	struct protection_words words;
	uint32_t slice;
	struct used used; /* with the light of all ranks; kept fibres count as free */
	/* Of the present rank. */
	uint32_t number, rack;
	struct used left; /* without its own light */
	struct room *room;
	struct search *search;
	/* Positions in the answer's paths, hops and refusals. */
	uint32_t next_way, next_strand, next_refusal;
};

/* ---------------------------------------------------------------------- reading */

static int read_protection(struct protect *protect, const struct morph_check_bytes *bytes)
{
	struct protection_words *it = &protect->words;
	uint32_t *const fields[] = { &it->verdict, &it->ranks, &it->ways, &it->strands,
				     &it->refusals };
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_PROTECTION, &words);
	uint64_t need;

	if (!at || words < 5)
		return wrong(protect, EINVAL, "the protection is malformed");
	for (uint32_t field = 0; field < 5; field++)
		*fields[field] = word(at, field);
	need = 5 + 6 * ((uint64_t)it->ranks + it->refusals) + 3 * (uint64_t)it->ways +
	       MORPH_WIRE_STRAND * (uint64_t)it->strands;
	if (words != need)
		return wrong(protect, EINVAL, "the protection differs from its declared size");
	it->rank_words = at + 4 * (size_t)5;
	it->way_words = it->rank_words + 24 * (size_t)it->ranks;
	it->strand_words = it->way_words + 12 * (size_t)it->ways;
	it->refusal_words = it->strand_words + 4 * MORPH_WIRE_STRAND * (size_t)it->strands;
	if (word((const uint8_t *)bytes->data, 3) != protect->check.fabric.checksum)
		return wrong(protect, EBADMSG, "the protection is for another profile");
	if (it->ranks != protect->check.plan.ranks)
		return wrong(protect, EBADMSG, "the protection has %u ranks, the plan %u",
			     it->ranks, protect->check.plan.ranks);
	return 0;
}

static uint32_t chip_of(const struct protect *protect, uint32_t rank)
{
	return word(protect->check.plan.rank_words, 2 * (size_t)rank);
}

static uint32_t end_of(const struct protect *protect, uint32_t circuit, uint32_t end)
{
	return word(protect->check.request.pairs, 2 * (size_t)circuit + end);
}

static bool concerns(const struct protect *protect, uint32_t circuit)
{
	return end_of(protect, circuit, 0) == protect->number ||
	       end_of(protect, circuit, 1) == protect->number;
}

/* ----------------------------------------------------------------- what is lit */

static int check_ranks(struct protect *protect)
{
	const struct check *check = &protect->check;

	for (uint32_t rank = 0; rank < check->plan.ranks; rank++) {
		uint32_t chip = chip_of(protect, rank);

		if (chip >= check->fabric.accelerators)
			return wrong(protect, EINVAL, "rank %u of the plan has no accelerator",
				     rank);
		if (!rank)
			protect->slice = ck_owner(&check->fabric, chip);
		if (!protect->slice || ck_owner(&check->fabric, chip) != protect->slice)
			return wrong(protect, EBADMSG,
				     "the slice does not have accelerator %u of rank %u", chip,
				     rank);
	}
	return 0;
}

static const uint8_t *plan_strand(const struct protect *protect, uint32_t circuit, uint32_t hop)
{
	uint32_t first = word(protect->check.plan.way_words, 2 * (size_t)circuit);

	return protect->check.plan.strand_words + 4 * ((size_t)first + hop) * MORPH_WIRE_STRAND;
}

static uint32_t plan_hops(const struct protect *protect, uint32_t circuit)
{
	return word(protect->check.plan.way_words, 2 * (size_t)circuit + 1);
}

/* Follow the plan's circuits. All other fibres count as in use. */
static int follow_plan(struct protect *protect, struct used *dark)
{
	struct check *check = &protect->check;
	const struct fabric *fabric = &check->fabric;

	for (uint32_t at = 0; at < fabric->guides; at++)
		dark->guides[at] = ck_guide_dark(fabric, at);
	for (uint32_t at = 0; at < fabric->elements; at++)
		dark->elements[at] = !ck_element_held(fabric, at);
	for (uint32_t at = 0; at < check->request.circuits; at++) {
		uint32_t host = ck_host(fabric, chip_of(protect, end_of(protect, at, 0)));
		uint32_t first = word(check->plan.way_words, 2 * (size_t)at);
		uint32_t count = plan_hops(protect, at);

		if (first > check->plan.strands || count > check->plan.strands - first)
			return wrong(
				protect, EINVAL,
				"circuit %u of the plan lists fibres beyond the end of the plan",
				at);
		for (uint32_t hop = 0; hop < count && host != NONE; hop++)
			host = ck_follow_strand(check, dark, plan_strand(protect, at, hop),
						first + hop, host);
		if (host != ck_host(fabric, chip_of(protect, end_of(protect, at, 1))))
			return wrong(protect, EBADMSG, "circuit %u of the plan has another path",
				     at);
	}
	return 0;
}

static int read_lit(struct protect *protect)
{
	const struct fabric *fabric = &protect->check.fabric;
	int ret = ck_used_read(&protect->check, &protect->used);

	if (!ret)
		ret = ck_used_read(&protect->check, &protect->left);
	if (!ret)
		ret = follow_plan(protect, &protect->left);
	for (uint32_t at = 0; !ret && at < fabric->guides; at++)
		protect->used.guides[at] = ck_guide_marked(fabric, at) ||
					   !ck_guide_dark(fabric, at);
	return ret;
}

/* The rank's accelerator fails, so its light goes out. */
static void fail(struct protect *protect, uint32_t number)
{
	const struct fabric *fabric = &protect->check.fabric;

	protect->number = number;
	protect->rack = fabric->rack[ck_host(fabric, chip_of(protect, number))];
	memcpy(protect->left.guides, protect->used.guides, fabric->guides * sizeof(bool));
	memcpy(protect->left.elements, protect->used.elements, fabric->elements * sizeof(bool));
	for (uint32_t at = 0; at < protect->check.request.circuits; at++)
		for (uint32_t hop = 0; concerns(protect, at) && hop < plan_hops(protect, at); hop++)
			ck_leave_strand(&protect->check, &protect->left,
					plan_strand(protect, at, hop));
}

/* --------------------------------------------------------------------- protected */

static bool does(const struct protect *protect, uint32_t spare)
{
	const struct fabric *fabric = &protect->check.fabric;

	return spare < fabric->accelerators && ck_ready(fabric, spare) &&
	       fabric->rack[ck_host(fabric, spare)] == protect->rack;
}

/* The server where a circuit begins or ends with the spare. */
static uint32_t host_of(const struct protect *protect, uint32_t circuit, uint32_t end,
			uint32_t spare)
{
	uint32_t rank = end_of(protect, circuit, end);

	return ck_host(&protect->check.fabric,
		       rank == protect->number ? spare : chip_of(protect, rank));
}

/* Whether light must not cross the server: another tenant has a part of it, or could get one. */
static bool stops(const struct protect *protect, uint32_t host)
{
	const struct fabric *fabric = &protect->check.fabric;

	for (uint32_t at = 0; protect->check.request.transit && at < fabric->accelerators; at++)
		if (ck_host(fabric, at) == host && ck_owner(fabric, at) != protect->slice &&
		    (ck_owner(fabric, at) || !ck_spare(fabric, at)))
			return true;
	return false;
}

static int check_way(struct protect *protect, uint32_t circuit, uint32_t spare)
{
	const struct protection_words *it = &protect->words;
	const uint8_t *way = it->way_words + 12 * (size_t)protect->next_way;
	uint32_t host = host_of(protect, circuit, 0, spare), count, first;

	if (protect->next_way == it->ways || word(way, 0) != circuit)
		return wrong(protect, EBADMSG, "rank %u: circuit %u has no path to the spare",
			     protect->number, circuit);
	protect->next_way++;
	first = word(way, 1);
	count = word(way, 2);
	if (first != protect->next_strand || count > it->strands - first)
		return wrong(protect, EBADMSG,
			     "rank %u: the fibres of circuit %u belong to another circuit",
			     protect->number, circuit);
	protect->next_strand += count;
	for (uint32_t hop = 0; hop < count; hop++) {
		if (hop && stops(protect, host))
			return wrong(
				protect, EBADMSG,
				"rank %u: circuit %u crosses host %u, which other slices may share",
				protect->number, circuit, host);
		host = ck_follow_strand(&protect->check, &protect->left,
					it->strand_words +
						4 * ((size_t)first + hop) * MORPH_WIRE_STRAND,
					first + hop, host);
		if (host == NONE)
			return -EBADMSG;
	}
	if (host != host_of(protect, circuit, 1, spare))
		return wrong(protect, EBADMSG, "rank %u: circuit %u ends at host %u",
			     protect->number, circuit, host);
	return 0;
}

static int check_protected(struct protect *protect, uint32_t spare)
{
	int ret = 0;

	if (!does(protect, spare))
		return wrong(protect, EBADMSG,
			     "rank %u: accelerator %u is not a spare that can take over",
			     protect->number, spare);
	for (uint32_t at = 0; at < protect->check.request.circuits && !ret; at++)
		if (concerns(protect, at))
			ret = check_way(protect, at, spare);
	return ret;
}

/* ----------------------------------------------------------------------- refused */

/* List the demands of the rank's circuits for a search of all routes. */
static void list_demands(struct protect *protect, uint32_t spare)
{
	struct search *search = protect->search;
	const struct room *room = protect->room;

	memset(search, 0, sizeof(*search));
	search->check = &protect->check;
	search->room = protect->room;
	for (uint32_t seat = 0; seat < room->seats; seat++)
		search->stops |= (uint64_t)stops(protect, room->hosts[seat]) << seat;
	for (uint32_t at = 0; at < protect->check.request.circuits; at++) {
		uint32_t from, to;

		if (!concerns(protect, at))
			continue;
		from = ck_seat(room, host_of(protect, at, 0, spare));
		to = ck_seat(room, host_of(protect, at, 1, spare));
		if (from == to)
			continue;
		search->demand[search->demands].from = from;
		search->demand[search->demands].to = to;
		search->demand[search->demands++].units = 1;
	}
}

/*
 * A circuit that begins where light departs and ends outside @arrives crosses this cut at least
 * once, because light that continues after its arrival departs there.
 */
static bool is_cut(const struct protect *protect, uint64_t departs, uint64_t arrives)
{
	const struct search *search = protect->search;
	const struct room *room = protect->room;
	uint64_t seats = room->seats < 64 ? (1ULL << room->seats) - 1 : ~0ULL;
	uint32_t wanted = 0, have = 0;

	if ((departs | arrives) & ~seats || arrives & ~departs & ~search->stops)
		return false;
	for (uint32_t at = 0; at < search->demands; at++)
		wanted += departs >> search->demand[at].from & 1 &&
			  !(arrives >> search->demand[at].to & 1);
	for (uint32_t a = 0; a < room->seats; a++)
		for (uint32_t b = 0; b < room->seats; b++)
			if (departs >> a & 1 && !(arrives >> b & 1))
				have += room->room[a][b];
	return wanted > have;
}

static uint64_t long_word(const uint8_t *words, size_t index)
{
	return word(words, index) | (uint64_t)word(words, index + 1) << 32;
}

static bool leaves_rack(const struct protect *protect)
{
	const struct fabric *fabric = &protect->check.fabric;

	for (uint32_t at = 0; at < protect->check.request.circuits; at++)
		for (uint32_t end = 0; concerns(protect, at) && end < 2; end++)
			if (fabric->rack[ck_host(fabric,
						 chip_of(protect, end_of(protect, at, end)))] !=
			    protect->rack)
				return true;
	return false;
}

static int check_refusal(struct protect *protect, const uint8_t *refusal, bool *doubt)
{
	uint32_t spare = word(refusal, 0);
	enum answer answer;

	if (!does(protect, spare))
		return wrong(protect, EBADMSG, "rank %u: refused accelerator %u is not a spare",
			     protect->number, spare);
	if (leaves_rack(protect)) {
		*doubt = true;
		return word(refusal, 1) == MORPH_WIRE_SPARE_DOUBT ?
			       0 :
			       wrong(protect, EBADMSG,
				     "rank %u: its circuits leave the rack, so a refusal cannot be proven",
				     protect->number);
	}
	list_demands(protect, spare);
	switch (word(refusal, 1)) {
	case MORPH_WIRE_SPARE_CUT:
		if (!is_cut(protect, long_word(refusal, 2), long_word(refusal, 4)))
			return wrong(protect, EBADMSG,
				     "rank %u: enough fibres leave the cut for spare %u",
				     protect->number, spare);
		return 0;
	case MORPH_WIRE_SPARE_SEARCHED:
		answer = ck_route_all(protect->search);
		if (answer == GAVE_UP)
			return wrong(protect, EAGAIN, "rank %u, spare %u: out of steps",
				     protect->number, spare);
		if (answer == YES)
			return wrong(protect, EBADMSG, "rank %u: paths to spare %u exist",
				     protect->number, spare);
		return 0;
	case MORPH_WIRE_SPARE_DOUBT:
		*doubt = true;
		return 0;
	}
	return wrong(protect, EBADMSG, "rank %u: the refusal of spare %u has no reason",
		     protect->number, spare);
}

static int check_refusals(struct protect *protect, uint32_t count, bool *doubt)
{
	const struct fabric *fabric = &protect->check.fabric;
	const uint8_t *refusals = protect->words.refusal_words + 24 * (size_t)protect->next_refusal;
	uint32_t spares = 0;
	int ret =
		ck_room_read(&protect->check, &protect->left, false, protect->rack, protect->room);

	for (uint32_t at = 0; at < fabric->accelerators; at++)
		spares += does(protect, at);
	if (!ret && spares != count)
		ret = wrong(protect, EBADMSG, "rank %u: the answer refuses %u of %u spares",
			    protect->number, count, spares);
	for (uint32_t at = 0; at < count && !ret; at++) {
		for (uint32_t other = 0; other < at; other++)
			if (word(refusals, 6 * (size_t)other) == word(refusals, 6 * (size_t)at))
				return wrong(protect, EBADMSG,
					     "rank %u: the answer refuses spare %u twice",
					     protect->number, word(refusals, 6 * (size_t)at));
		ret = check_refusal(protect, refusals + 24 * (size_t)at, doubt);
	}
	return ret;
}

/* ------------------------------------------------------------------------- ranks */

static int check_rank(struct protect *protect, uint32_t number)
{
	const uint8_t *rank = protect->words.rank_words + 24 * (size_t)number;
	uint32_t verdict = word(rank, 0), spare = word(rank, 1);
	uint32_t ways = word(rank, 3), refusals = word(rank, 5), first_way = protect->next_way;
	bool doubt = false;
	int ret = 0;

	fail(protect, number);
	if (word(rank, 2) != protect->next_way || word(rank, 4) != protect->next_refusal ||
	    refusals > protect->words.refusals - protect->next_refusal)
		return wrong(protect, EBADMSG, "rank %u has paths or refusals of another rank",
			     number);
	if (verdict == FEASIBLE)
		ret = check_protected(protect, spare);
	else
		ret = check_refusals(protect, refusals, &doubt);
	if (ret)
		return ret;
	protect->next_refusal += refusals;
	if (protect->next_way - first_way != ways || (verdict == FEASIBLE && refusals) ||
	    (verdict != FEASIBLE && spare != NONE))
		return wrong(protect, EBADMSG,
			     "rank %u has paths that belong to no circuit, or a spare", number);
	if (verdict != FEASIBLE && verdict != (doubt ? UNDECIDED : INFEASIBLE))
		return wrong(protect, EBADMSG,
			     "rank %u: verdict %u contradicts the verdicts on its spares", number,
			     verdict);
	return 0;
}

static int judge(struct protect *protect)
{
	const struct protection_words *it = &protect->words;
	uint32_t verdict = FEASIBLE;
	int ret = 0;

	for (uint32_t rank = 0; rank < it->ranks && !ret; rank++) {
		uint32_t its = word(it->rank_words, 6 * (size_t)rank);

		ret = check_rank(protect, rank);
		if (verdict != INFEASIBLE && its != FEASIBLE)
			verdict = its;
	}
	if (!ret && (protect->next_way != it->ways || protect->next_strand != it->strands ||
		     protect->next_refusal != it->refusals))
		ret = wrong(protect, EBADMSG, "some paths, fibres or refusals belong to no rank");
	if (!ret && verdict != it->verdict)
		ret = wrong(protect, EBADMSG, "verdict %u contradicts the verdicts on the ranks",
			    it->verdict);
	return ret;
}

static int read_all(struct protect *protect, const struct morph_check_protection_input *input)
{
	struct check *check = &protect->check;
	int ret = ck_fabric_read(check, &input->profile);

	if (!ret)
		ret = ck_ledger_read(check, &input->ledger);
	if (!ret)
		ret = ck_request_read(check, &input->request);
	if (!ret)
		ret = ck_plan_read(check, &input->plan);
	if (!ret &&
	    (check->plan.verdict != FEASIBLE || check->plan.circuits != check->request.circuits))
		ret = wrong(protect, EINVAL, "the plan is not a plan of that request");
	if (!ret)
		ret = read_protection(protect, &input->protection);
	if (!ret)
		ret = check_ranks(protect);
	if (!ret)
		ret = read_lit(protect);
	return ret;
}

int morph_check_protection(const struct morph_check_protection_input *input, char *report,
			   size_t room)
{
	struct protect *protect = calloc(1, sizeof(*protect));
	int ret = -ENOMEM;

	if (report && room)
		report[0] = '\0';
	if (!protect)
		return ret;
	protect->check.steps = input->steps ? input->steps : DEFAULT_STEPS;
	protect->check.report = report;
	protect->check.report_room = report ? room : 0;
	protect->room = malloc(sizeof(*protect->room));
	protect->search = malloc(sizeof(*protect->search));
	if (protect->room && protect->search)
		ret = read_all(protect, input);
	else
		ret = wrong(protect, ENOMEM, "out of memory");
	if (!ret)
		ret = judge(protect);
	ck_used_free(&protect->used);
	ck_used_free(&protect->left);
	ck_fabric_free(&protect->check.fabric);
	free(protect->room);
	free(protect->search);
	free(protect);
	return ret;
}
