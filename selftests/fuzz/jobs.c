// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is the demo's file of jobs, for a fabric of several servers and a demo of limited
 * length.
 */
#include "fuzz.h"
#include "demo.h"

#define SEATS_MOST 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint32_t seats = eat8(&input) % SEATS_MOST + 1, i;
	long long length_ms = eat8(&input) * 1000 + 1;
	struct job *jobs = calloc(JOBS_MAX, sizeof(*jobs));
	char *text, why[128] = "";
	FILE *file;
	int count;

	size = input.left;
	if (!size) {
		free(jobs);
		return 0;
	}
	text = eat_text(&input);
	file = fmemopen(text, size, "r");
	count = jobs_read(file, jobs, JOBS_MAX, why, sizeof(why));
	fclose(file);
	MUST(count < 0 ? why[0] != '\0' : count > 0 && (uint32_t)count <= JOBS_MAX);
	if (count > 0)
		jobs_pace(jobs, count, seats, length_ms);
	for (i = 0; (int)i < count; i++) {
		MUST(jobs[i].accelerators > 0 && jobs[i].duration_s > 0);
		MUST(jobs[i].arrives_ms >= (i ? jobs[i - 1].arrives_ms : 0));
		MUST(jobs[i].arrives_ms <= length_ms + 1);
		MUST(jobs[i].ends_ms >= SHORTEST_MS);
		MUST(jobs[i].ends_ms <= seats * length_ms + SHORTEST_MS);
	}
	free(jobs);
	free(text);
	return 0;
}
