// SPDX-License-Identifier: MIT
/*
 * Check plans that somebody else has made: the checkers share no code with the planners. Each
 * argument is a file with bytes as the header describes them; '-' stands for no bytes.
 *
 *	check plan PROFILE LEDGER REQUEST PLAN
 *	check protection PROFILE LEDGER REQUEST PLAN PROTECTION
 *	check defrag PROFILE LEDGER REQUEST RUNNING ANSWER
 *	check bandwidth PROBLEM ANSWER
 *	check schedule COLLECTIVE DELAY PLANES AFTER SCHEDULE
 *	check light PROFILE LEDGER SCHEDULE STEPS ACCELERATOR...
 *
 * cc check.c -lmorph-check -lm
 */
#include <morph/check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MOST 8
#define RANKS_MOST 256

static struct morph_check_bytes files[FILES_MOST];
static char report[256];

static int read_file(const char *path, struct morph_check_bytes *out)
{
	FILE *file;
	char *data = NULL;
	long size;

	if (!strcmp(path, "-"))
		return 0;
	file = fopen(path, "rb");
	if (!file)
		return 1;
	if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET)) {
		data = malloc((size_t)size + 1);
		out->bytes = data ? fread(data, 1, (size_t)size, file) : 0;
	}
	fclose(file);
	out->data = data;
	return !data;
}

static int check_light(int count, char **words)
{
	uint32_t accelerators[RANKS_MOST];
	struct morph_check_light_input input = {
		.profile = files[0],
		.ledger = files[1],
		.schedule = files[2],
		.steps = files[3],
		.accelerators = accelerators,
		.ranks = (uint32_t)count,
	};

	for (int rank = 0; rank < count; rank++)
		accelerators[rank] = (uint32_t)atoi(words[rank]);
	return morph_check_light(&input, report, sizeof(report));
}

static int check_schedule(uint32_t planes)
{
	struct morph_check_schedule_input input = {
		.collective = files[0],
		.delay = files[1],
		.planes = planes,
		.after = files[3],
		.schedule = files[4],
	};

	return morph_check_schedule(&input, report, sizeof(report));
}

/* What the kind of the answer is, and how many files there are. */
static int check(const char *kind, int count, char **words)
{
	struct morph_check_input plan = { files[0], files[1], files[2], files[3], 0 };
	struct morph_check_protection_input protection = { files[0], files[1], files[2],
							   files[3], files[4], 0 };
	struct morph_check_defrag_input defrag = { files[0], files[1], files[2],
						   files[3], files[4], 0 };
	struct morph_check_bandwidth_input bandwidth = { files[0], files[1], 0 };

	if (!strcmp(kind, "plan") && count == 4)
		return morph_check(&plan, report, sizeof(report));
	if (!strcmp(kind, "protection") && count == 5)
		return morph_check_protection(&protection, report, sizeof(report));
	if (!strcmp(kind, "defrag") && count == 5)
		return morph_check_defrag(&defrag, report, sizeof(report));
	if (!strcmp(kind, "bandwidth") && count == 2)
		return morph_check_bandwidth(&bandwidth, report, sizeof(report));
	if (!strcmp(kind, "schedule") && count == 5)
		return check_schedule((uint32_t)atoi(words[2]));
	if (!strcmp(kind, "light") && count > 4 && count - 4 <= RANKS_MOST)
		return check_light(count - 4, words + 4);
	snprintf(report, sizeof(report), "no such check of %d files", count);
	return -1;
}

int main(int argc, char **argv)
{
	bool numbers = argc > 1 && !strcmp(argv[1], "schedule");
	int error, most = argc > 1 && !strcmp(argv[1], "light") ? 4 : FILES_MOST;

	if (argc < 4) {
		fprintf(stderr,
			"usage: check plan|protection|defrag|bandwidth|schedule|light FILE...\n");
		return 2;
	}
	for (int at = 0; at + 2 < argc && at < most; at++)
		if (!(numbers && at == 2) && read_file(argv[at + 2], &files[at])) {
			perror(argv[at + 2]);
			return 1;
		}
	error = check(argv[1], argc - 2, argv + 2);
	printf("%s\n", error ? report : "it is what it says");
	for (int at = 0; at < FILES_MOST; at++)
		free((void *)files[at].data);
	return error ? 1 : 0;
}
