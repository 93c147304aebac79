// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is data for the checkers of defragmentation and of protections: the choice of the
 * checker, then profile, ledger, request, running slices or plan, and answer. Each has its length
 * before it. A checker must give a verdict on any bytes, and the same verdict again.
 */
#include "parts.h"

#define STEPS 4096
#define PARTS 5

static int check(uint8_t which, const struct morph_check_bytes parts[PARTS], char *report,
		 size_t room)
{
	const struct morph_check_defrag_input defrag = {
		.profile = parts[0],
		.ledger = parts[1],
		.request = parts[2],
		.running = parts[3],
		.answer = parts[4],
		.steps = STEPS,
	};
	const struct morph_check_protection_input protection = {
		.profile = parts[0],
		.ledger = parts[1],
		.request = parts[2],
		.plan = parts[3],
		.protection = parts[4],
		.steps = STEPS,
	};

	return which & 1 ? morph_check_protection(&protection, report, room) :
			   morph_check_defrag(&defrag, report, room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct morph_check_bytes parts[PARTS];
	uint8_t which = eat8(&input);
	char report[256];
	int ret;

	for (size_t at = 0; at < PARTS; at++)
		parts[at] = eat_part(&input);
	ret = check(which, parts, report, sizeof(report));
	MUST(!ret == !*report);
	MUST(check(which, parts, NULL, 0) == ret);
	for (size_t at = 0; at < PARTS; at++)
		free((void *)(uintptr_t)parts[at].data);
	return 0;
}
