// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is data for the checker of placements: profile, ledger, request and plan, each with its
 * length before it. The checker must give a verdict on any bytes, and a positive verdict again.
 */
#include "parts.h"

#define STEPS 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct morph_check_input check = { .steps = STEPS };
	struct morph_check_bytes *const parts[] = { &check.profile, &check.ledger, &check.request,
						    &check.plan };
	char report[256];
	int ret;

	for (size_t at = 0; at < 4; at++)
		*parts[at] = eat_part(&input);
	ret = morph_check(&check, report, sizeof(report));
	MUST(!ret == !*report);
	MUST(morph_check(&check, NULL, 0) == ret);
	for (size_t at = 0; at < 4; at++)
		free((void *)(uintptr_t)parts[at]->data);
	return 0;
}
