// SPDX-License-Identifier: GPL-2.0-only
/*
 * surface [FILE...]
 *	run programs (default: those in the tree); KTAP
 * surface -v FILE...
 *	run programs, and print the outcome of each call
 * surface explore SECONDS SEED
 *	search for more programs, guided by KCOV
 * surface blind SECONDS SEED
 *	search with random changes, for kernels without KCOV
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "surface.h"

#define MOST_PROGRAMS 4096u

static struct program corpus[MOST_PROGRAMS];
static char *names[MOST_PROGRAMS];
static unsigned int corpus_count;

static void load(const char *path)
{
	static char text[4 * PROGRAM_BYTES];
	FILE *file = fopen(path, "r");
	unsigned int line;

	if (!file || corpus_count == MOST_PROGRAMS) {
		perror(path);
		exit(1);
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	if (!program_read(&corpus[corpus_count], text, &line)) {
		printf("Bail out! %s: line %u is no call\n", path, line);
		exit(1);
	}
	names[corpus_count++] = strdup(path);
}

static int is_program(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".txt");
}

static void load_all(const char *directory)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_program, alphasort);
	char path[512];

	for (int at = 0; at < count; at++) {
		snprintf(path, sizeof(path), "%s/%s", directory, entries[at]->d_name);
		load(path);
		free(entries[at]);
	}
	if (count < 1) {
		printf("Bail out! no programs in %s\n", directory);
		exit(1);
	}
	free(entries);
}

/* A written program must give the same program again. */
static bool survives_text(const struct program *program)
{
	char text[PROGRAM_BYTES], again[PROGRAM_BYTES];
	struct program copy;
	unsigned int line;

	program_write(program, text);
	if (!program_read(&copy, text, &line))
		return false;
	program_write(&copy, again);
	return !strcmp(text, again);
}

static int run_all(struct world *world, bool verbose)
{
	int status = 0;

	printf("1..%u\n", corpus_count);
	for (unsigned int at = 0; at < corpus_count; at++) {
		const char *slash = strrchr(names[at], '/');
		const char *wrong = world_run(world, &corpus[at], verbose);

		if (!wrong && !survives_text(&corpus[at]))
			wrong = "the parsed text differs from the written one";
		if (wrong)
			printf("# %s: %s\n", names[at], wrong);
		status |= !!wrong;
		printf("%s %u %s\n", wrong ? "not ok" : "ok", at + 1,
		       slash ? slash + 1 : names[at]);
		fflush(stdout);
	}
	return status;
}

static int run_explore(struct world *world, unsigned int seconds, bool led)
{
	const char *wrong = explore(world, corpus, corpus_count, MOST_PROGRAMS, seconds, led);

	if (wrong)
		printf("# %s; the program is $RESULTS/program, seed %llu\n", wrong,
		       (unsigned long long)random_state);
	printf("1..1\n%s 1 explore\n", wrong ? "not ok" : "ok");
	return !!wrong;
}

int main(int argc, char **argv)
{
	bool led = argc > 1 && !strcmp(argv[1], "explore");
	bool exploring = led || (argc > 1 && !strcmp(argv[1], "blind"));
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	struct world *world;
	int status;

	printf("KTAP version 1\n");
	for (int at = 1 + verbose; at < argc && !exploring; at++)
		load(argv[at]);
	if (!corpus_count)
		load_all(SEEDS);
	world = world_open();
	if (exploring) {
		random_state = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
		status = run_explore(world, argc > 2 ? (unsigned int)atoi(argv[2]) : 60, led);
	} else {
		status = run_all(world, verbose);
	}
	world_close(world);
	return status;
}
