// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks an answer of defragmentation. */
#include <morph/wire.h>

#include "defrag.h"

#define DEFAULT_STEPS (1ULL << 28)

/* ---------------------------------------------------------------------- reading */

static int read_slice(struct defrag *defrag, struct slice *slice, const uint8_t **at, size_t *words)
{
	uint64_t need;

	if (*words < 6)
		return wrong(defrag, EINVAL, "the running slices are malformed");
	slice->number = word(*at, 0);
	slice->transit = word(*at, 1);
	slice->pinned = word(*at, 2);
	slice->ranks = word(*at, 3);
	slice->circuits = word(*at, 4);
	slice->strands = word(*at, 5);
	need = 6 + (uint64_t)slice->ranks + 4 * (uint64_t)slice->circuits +
	       MORPH_WIRE_STRAND * (uint64_t)slice->strands;
	if (*words < need || !slice->number)
		return wrong(defrag, EINVAL, "the running slices are malformed");
	slice->accelerators = *at + 24;
	slice->circuit_words = slice->accelerators + 4 * (size_t)slice->ranks;
	slice->strand_words = slice->circuit_words + 16 * (size_t)slice->circuits;
	slice->first_lit = defrag->lit_count;
	defrag->lit_count += slice->circuits;
	*at += 4 * need;
	*words -= need;
	for (const struct slice *other = defrag->slices; other < slice; other++)
		if (other->number == slice->number)
			return wrong(defrag, EINVAL, "slice %u runs twice", slice->number);
	for (uint32_t rank = 0; rank < slice->ranks; rank++)
		if (word(slice->accelerators, rank) >= defrag->check.fabric.accelerators ||
		    ck_owner(&defrag->check.fabric, word(slice->accelerators, rank)) !=
			    slice->number)
			return wrong(defrag, EBADMSG,
				     "rank %u: slice %u does not have its accelerator", rank,
				     slice->number);
	return 0;
}

static uint32_t host_of(const struct defrag *defrag, const struct slice *slice, uint32_t rank)
{
	return ck_host(&defrag->check.fabric, word(slice->accelerators, rank));
}

static int read_circuit(struct defrag *defrag, const struct slice *slice, uint32_t circuit)
{
	const uint8_t *words = slice->circuit_words + 16 * (size_t)circuit;
	struct lit *lit = &defrag->lit[slice->first_lit + circuit];
	uint32_t first = word(words, 2);

	lit->slice = (uint32_t)(slice - defrag->slices);
	lit->circuit = circuit;
	lit->src = word(words, 0);
	lit->dst = word(words, 1);
	lit->count = word(words, 3);
	if (lit->src >= slice->ranks || lit->dst >= slice->ranks || first > slice->strands ||
	    lit->count > slice->strands - first || lit->count >= MOST_SEATS)
		return wrong(defrag, EINVAL, "circuit %u of slice %u is malformed", circuit,
			     slice->number);
	lit->strands = slice->strand_words + 4 * (size_t)first * MORPH_WIRE_STRAND;
	lit->src_host = host_of(defrag, slice, lit->src);
	lit->dst_host = host_of(defrag, slice, lit->dst);
	lit->first_strands = lit->strands;
	lit->first_count = lit->count;
	return 0;
}

static int read_running(struct defrag *defrag, const struct morph_check_bytes *bytes)
{
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_RUNNING, &words);
	int ret = 0;

	if (!at || !words || word(at, 0) > words)
		return wrong(defrag, EINVAL, "the running slices are malformed");
	defrag->slices_count = word(at, 0);
	if (defrag->slices_count &&
	    word((const uint8_t *)bytes->data, 3) != defrag->check.fabric.checksum)
		return wrong(defrag, EINVAL, "the running slices are for another profile");
	defrag->slices = calloc((size_t)defrag->slices_count + 1, sizeof(*defrag->slices));
	if (!defrag->slices)
		return wrong(defrag, ENOMEM, "out of memory");
	at += 4;
	words--;
	for (uint32_t slice = 0; slice < defrag->slices_count && !ret; slice++)
		ret = read_slice(defrag, &defrag->slices[slice], &at, &words);
	if (!ret && words)
		ret = wrong(defrag, EINVAL, "the running slices differ from their declared size");
	if (ret)
		return ret;
	defrag->lit = calloc((size_t)defrag->lit_count + 1, sizeof(*defrag->lit));
	if (!defrag->lit)
		return wrong(defrag, ENOMEM, "out of memory");
	for (uint32_t slice = 0; slice < defrag->slices_count && !ret; slice++)
		for (uint32_t at_it = 0; at_it < defrag->slices[slice].circuits && !ret; at_it++)
			ret = read_circuit(defrag, &defrag->slices[slice], at_it);
	return ret;
}

static int read_answer(struct defrag *defrag, const struct morph_check_bytes *bytes)
{
	struct answer_words *answer = &defrag->answer;
	struct plan *plan = &defrag->check.plan;
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_DEFRAG, &words);
	uint32_t *const fields[] = { &answer->verdict, &plan->tier,	 &plan->ranks,
				     &plan->whole,     &answer->moved,	 &answer->least,
				     &answer->dark,    &answer->steps,	 &answer->changes,
				     &answer->strands, &answer->tenants, &answer->refusals,
				     &answer->metrics, &answer->lengths };
	uint64_t need;

	if (!at || words < 14)
		return wrong(defrag, EINVAL, "the answer is malformed");
	for (uint32_t field = 0; field < 14; field++)
		*fields[field] = word(at, field);
	need = 14 + 2 * (uint64_t)plan->ranks + 4 * (uint64_t)answer->steps +
	       3 * (uint64_t)answer->changes + MORPH_WIRE_STRAND * (uint64_t)answer->strands +
	       5 * (uint64_t)answer->tenants + 6 * (uint64_t)answer->refusals +
	       2 * (uint64_t)answer->metrics + 3 * (uint64_t)answer->lengths;
	if (words != need)
		return wrong(defrag, EINVAL, "the answer differs from its declared size");
	plan->rank_words = at + 4 * (size_t)14;
	answer->step_words = plan->rank_words + 8 * (size_t)plan->ranks;
	answer->change_words = answer->step_words + 16 * (size_t)answer->steps;
	answer->strand_words = answer->change_words + 12 * (size_t)answer->changes;
	answer->tenant_words =
		answer->strand_words + 4 * MORPH_WIRE_STRAND * (size_t)answer->strands;
	answer->refusal_words = answer->tenant_words + 20 * (size_t)answer->tenants;
	answer->metric_words = answer->refusal_words + 24 * (size_t)answer->refusals;
	answer->length_words = answer->metric_words + 8 * (size_t)answer->metrics;
	if (word((const uint8_t *)bytes->data, 3) != defrag->check.fabric.checksum)
		return wrong(defrag, EBADMSG, "the answer is for another profile");
	if (plan->ranks != defrag->check.request.ranks)
		return wrong(defrag, EBADMSG, "the answer has %u ranks, not %u", plan->ranks,
			     defrag->check.request.ranks);
	return 0;
}

/* ----------------------------------------------------------------- what is lit */

/* Whether a circuit can leave its fibres. It cannot if they are unusable or kept. */
static bool loose(const struct defrag *defrag, const struct lit *lit)
{
	const struct fabric *fabric = &defrag->check.fabric;

	for (uint32_t at = 0; at < lit->count; at++) {
		const uint8_t *strand = strand_at(lit->strands, at);

		for (uint32_t hop = 0; hop < word(strand, 0); hop++) {
			uint32_t guide = word(strand, 1 + 3 * (size_t)hop) >> 1;

			if (ck_guide_marked(fabric, guide) || ck_guide_kept(fabric, guide))
				return false;
		}
	}
	return true;
}

/*
 * Follow the paths of running circuits. Dark guides and elements count as in use here. So a path
 * consists of lit ones, and no two paths share one.
 */
static int follow_running(struct defrag *defrag)
{
	struct check *check = &defrag->check;
	struct used seen = { NULL, NULL };
	int ret = ck_used_read(check, &seen);

	for (uint32_t at = 0; !ret && at < check->fabric.guides; at++)
		seen.guides[at] = ck_guide_dark(&check->fabric, at);
	for (uint32_t at = 0; !ret && at < check->fabric.elements; at++)
		seen.elements[at] = !ck_element_held(&check->fabric, at);
	for (uint32_t at = 0; !ret && at < defrag->lit_count; at++) {
		struct lit *lit = &defrag->lit[at];
		uint32_t host = lit->src_host;

		for (uint32_t hop = 0; hop < lit->count && host != NONE; hop++) {
			host = ck_follow_strand(check, &seen, strand_at(lit->strands, hop), hop,
						host);
			if (host != NONE &&
			    check->fabric.rack[host] != check->fabric.rack[lit->src_host])
				host = NONE;
		}
		if (host != lit->dst_host)
			ret = wrong(defrag, EBADMSG, "circuit %u of slice %u has another path",
				    lit->circuit, defrag->slices[lit->slice].number);
		lit->may_move = !ret && !defrag->slices[lit->slice].pinned && lit->count &&
				loose(defrag, lit);
	}
	ck_used_free(&seen);
	return ret;
}

/* ---------------------------------------------------------------------- figures */

static int check_tenants(struct defrag *defrag)
{
	const struct answer_words *answer = &defrag->answer;
	uint32_t tenants = 0, moved = 0, dark = 0;

	for (uint32_t at = 0; at < defrag->slices_count; at++) {
		const struct slice *slice = &defrag->slices[at];
		uint32_t its_moved = 0, its_dark = 0;
		uint64_t longest = 0, stated;
		const uint8_t *words;

		for (uint32_t circuit = 0; circuit < slice->circuits; circuit++) {
			const struct lit *lit = &defrag->lit[slice->first_lit + circuit];

			its_moved += lit->moved;
			its_dark += lit->interrupted;
			longest = lit->dark_ns > longest ? lit->dark_ns : longest;
		}
		moved += its_moved;
		dark += its_dark;
		if (!its_moved)
			continue;
		if (tenants == answer->tenants)
			return wrong(defrag, EBADMSG,
				     "slice %u moves, but the answer does not list it",
				     slice->number);
		words = answer->tenant_words + 20 * (size_t)tenants++;
		stated = word(words, 3) | (uint64_t)word(words, 4) << 32;
		if (word(words, 0) != slice->number || word(words, 1) != its_moved ||
		    word(words, 2) != its_dark || stated != longest)
			return wrong(defrag, EBADMSG,
				     "slice %u: %u circuits move, %u are dark for at most %llu ns",
				     slice->number, its_moved, its_dark,
				     (unsigned long long)longest);
	}
	if (tenants != answer->tenants || moved != answer->moved || dark != answer->dark)
		return wrong(defrag, EBADMSG, "%u circuits of %u tenants move, %u go dark", moved,
			     tenants, dark);
	if (answer->least > moved)
		return wrong(defrag, EBADMSG, "%u circuits move: the minimum is not %u", moved,
			     answer->least);
	return 0;
}

static int check_feasible(struct defrag *defrag)
{
	int ret = ck_members(&defrag->check);

	if (!ret)
		ret = ck_replay(defrag);
	if (!ret)
		ret = check_tenants(defrag);
	if (!ret && defrag->answer.least)
		ret = ck_reroute_least(defrag);
	return ret;
}

static int judge(struct defrag *defrag)
{
	int ret = follow_running(defrag);

	if (ret)
		return ret;
	switch (defrag->answer.verdict) {
	case 1:
		return check_feasible(defrag);
	case 2:
		return ck_reroute_refused(defrag);
	case 3:
		return 0; /* without a text */
	}
	return wrong(defrag, EBADMSG, "verdict %u does not exist", defrag->answer.verdict);
}

int morph_check_defrag(const struct morph_check_defrag_input *input, char *report, size_t room)
{
	struct defrag *defrag = calloc(1, sizeof(*defrag));
	struct check *check;
	int ret;

	if (report && room)
		report[0] = '\0';
	if (!defrag)
		return -ENOMEM;
	check = &defrag->check;
	check->steps = input->steps ? input->steps : DEFAULT_STEPS;
	check->report = report;
	check->report_room = report ? room : 0;
	ret = ck_fabric_read(check, &input->profile);
	if (!ret)
		ret = ck_ledger_read(check, &input->ledger);
	if (!ret)
		ret = ck_request_read(check, &input->request);
	if (!ret && check->request.bands > 1)
		ret = ck_wrong(check, EINVAL, "the request's circuits share fibres");
	if (!ret)
		ret = read_running(defrag, &input->running);
	if (!ret)
		ret = read_answer(defrag, &input->answer);
	if (!ret)
		ret = ck_used_read(check, &defrag->used);
	if (!ret) {
		defrag->light_ns = ck_light_ns(&check->fabric);
		ret = judge(defrag);
	}
	ck_used_free(&defrag->used);
	free(defrag->slices);
	free(defrag->lit);
	ck_fabric_free(&check->fabric);
	free(defrag);
	return ret;
}
