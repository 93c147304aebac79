// SPDX-License-Identifier: LGPL-2.1-or-later
/* The checker: reads the input and compares it with fabric, ledger and request. */
#include <stdarg.h>
#include <stdio.h>

#include <morph/wire.h>

#include "internal.h"

#define DEFAULT_STEPS (1ULL << 28)

int ck_wrong(struct check *check, int error, const char *format, ...)
{
	va_list arguments;

	if (!check->report_room)
		return -error;
	va_start(arguments, format);
	vsnprintf(check->report, check->report_room, format, arguments);
	va_end(arguments);
	return -error;
}

const uint8_t *ck_body(const struct morph_check_bytes *bytes, uint32_t kind, size_t *words)
{
	const uint8_t *at = bytes->data;

	if (!at || bytes->bytes < 4 * MORPH_WIRE_HEAD || bytes->bytes % 4 ||
	    word(at, 0) != MORPH_WIRE_MAGIC || word(at, 1) != MORPH_WIRE_VERSION ||
	    word(at, 2) != kind || word(at, 4) != bytes->bytes / 4)
		return NULL;
	*words = bytes->bytes / 4 - MORPH_WIRE_HEAD;
	return at + 4 * (size_t)MORPH_WIRE_HEAD;
}

int ck_request_read(struct check *check, const struct morph_check_bytes *bytes)
{
	struct request *request = &check->request;
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_REQUEST, &words);

	if (!at || words < 8 || words != 8 + 2 * (uint64_t)word(at, 1))
		return ck_wrong(check, EINVAL, "the request is malformed");
	request->ranks = word(at, 0);
	request->circuits = word(at, 1);
	request->lanes = word(at, 2) & 0xffff;
	request->bands = (word(at, 2) >> 16) + 1;
	request->tier = word(at, 3);
	request->transit = word(at, 4) & 0xffff;
	request->whole = word(at, 4) >> 16;
	for (uint32_t axis = 0; axis < 3; axis++)
		request->extent[axis] = word(at, 5 + axis);
	request->pairs = at + 4 * (size_t)8;
	if (request->bands > check->fabric.wavelengths ||
	    check->fabric.wavelengths % request->bands)
		return ck_wrong(check, EINVAL, "%u circuits can't share the %u lanes of a fibre",
				request->bands, check->fabric.wavelengths);
	if (!request->ranks || request->ranks > MOST_RANKS)
		return ck_wrong(check, EINVAL, "the request has %u ranks", request->ranks);
	if (request->extent[0] &&
	    (!request->extent[1] || !request->extent[2] || request->extent[0] > MOST_RANKS ||
	     request->extent[1] > MOST_RANKS || request->extent[2] > MOST_RANKS ||
	     request->extent[0] * request->extent[1] * request->extent[2] != request->ranks))
		return ck_wrong(check, EINVAL, "the request's torus does not have %u ranks",
				request->ranks);
	for (uint32_t pair = 0; pair < 2 * request->circuits; pair++)
		if (word(request->pairs, pair) >= request->ranks)
			return ck_wrong(check, EINVAL, "the request has no rank %u",
					word(request->pairs, pair));
	return 0;
}

int ck_plan_read(struct check *check, const struct morph_check_bytes *bytes)
{
	struct plan *plan = &check->plan;
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_PLAN, &words);
	uint32_t *const fields[] = { &plan->verdict, &plan->tier,	   &plan->ranks,
				     &plan->whole,   &plan->fibres,	   &plan->fibres_bound,
				     &plan->servers, &plan->servers_bound, &plan->circuits,
				     &plan->strands, &plan->refusals,	   &plan->cuts };
	uint64_t needed;

	if (!at || words < 12)
		return ck_wrong(check, EINVAL, "the plan is malformed");
	for (uint32_t field = 0; field < 12; field++)
		*fields[field] = word(at, field);
	needed = 12 + 2 * ((uint64_t)plan->ranks + plan->circuits + plan->cuts) +
		 MORPH_WIRE_STRAND * (uint64_t)plan->strands + 6 * (uint64_t)plan->refusals;
	if (words != needed)
		return ck_wrong(check, EINVAL, "the plan differs from its declared size");
	plan->rank_words = at + 4 * (size_t)12;
	plan->way_words = plan->rank_words + 8 * (size_t)plan->ranks;
	plan->strand_words = plan->way_words + 8 * (size_t)plan->circuits;
	plan->refusal_words = plan->strand_words + 4 * MORPH_WIRE_STRAND * (size_t)plan->strands;
	plan->cut_words = plan->refusal_words + 24 * (size_t)plan->refusals;
	if (word((const uint8_t *)bytes->data, 3) != check->fabric.checksum)
		return ck_wrong(check, EBADMSG, "the plan is for another profile");
	if (plan->ranks != check->request.ranks)
		return ck_wrong(check, EBADMSG, "the plan has %u ranks, not %u", plan->ranks,
				check->request.ranks);
	return 0;
}

static int judge(struct check *check)
{
	switch (check->plan.verdict) {
	case 1:
		return ck_feasible(check);
	case 2:
		return ck_refused(check);
	case 3:
		return 0; /* without a text */
	}
	return ck_wrong(check, EBADMSG, "verdict %u does not exist", check->plan.verdict);
}

int morph_check(const struct morph_check_input *input, char *report, size_t room)
{
	struct check check = { .steps = input->steps ? input->steps : DEFAULT_STEPS,
			       .report = report,
			       .report_room = report ? room : 0 };
	int ret;

	if (check.report_room)
		report[0] = '\0';
	ret = ck_fabric_read(&check, &input->profile);
	if (!ret)
		ret = ck_ledger_read(&check, &input->ledger);
	if (!ret)
		ret = ck_request_read(&check, &input->request);
	if (!ret)
		ret = ck_plan_read(&check, &input->plan);
	if (!ret)
		ret = judge(&check);
	ck_fabric_free(&check.fabric);
	return ret;
}
