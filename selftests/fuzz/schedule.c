// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is data for the checker of schedules: number of planes, then collective, delay,
 * optional previous schedule, and schedule, each with its length before it. The checker must give a
 * verdict on any bytes, and the same verdict again.
 */
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct morph_check_schedule_input check = { .planes = size ? data[0] : 0 };
	struct input input = { data + !!size, size - !!size };
	char report[256];
	int ret;

	check.collective = eat_part(&input);
	check.delay = eat_part(&input);
	check.after = eat_part(&input);
	check.schedule = eat_part(&input);
	ret = morph_check_schedule(&check, report, sizeof(report));
	MUST(!ret == !*report);
	MUST(morph_check_schedule(&check, NULL, 0) == ret);
	free((void *)(uintptr_t)check.collective.data);
	free((void *)(uintptr_t)check.delay.data);
	free((void *)(uintptr_t)check.after.data);
	free((void *)(uintptr_t)check.schedule.data);
	return 0;
}
