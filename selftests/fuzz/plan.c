// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is what the checker of plans reads: profile, ledger, request and plan, each with its
 * length before it. It must say something of any bytes; and what it says is sound, it must say
 * again.
 */
#include <morph/check.h>

#include "fuzz.h"

#define STEPS 4096

static struct morph_check_bytes eat_part(struct input *input)
{
	size_t bytes = eat32(input);

	if (bytes > input->left)
		bytes = input->left;
	return (struct morph_check_bytes){ .data = eat_bytes(input, bytes), .bytes = bytes };
}

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
