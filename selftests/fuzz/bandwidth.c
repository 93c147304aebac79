// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is data for the checker of bandwidths: problem and answer, each with its length before
 * it. The checker must give a verdict on any bytes, and the same verdict again.
 */
#include "parts.h"

#define STEPS 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct morph_check_bandwidth_input check = { .steps = STEPS };
	char report[256];
	int ret;

	check.problem = eat_part(&input);
	check.answer = eat_part(&input);
	ret = morph_check_bandwidth(&check, report, sizeof(report));
	MUST(!ret == !*report);
	MUST(morph_check_bandwidth(&check, NULL, 0) == ret);
	free((void *)(uintptr_t)check.problem.data);
	free((void *)(uintptr_t)check.answer.data);
	return 0;
}
