// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feed a target the given files, or the files of given directories: replay NAME PATH... Use one
 * process for each, so that one crash does not hide another. TAP.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

static unsigned int fed, crashed;

static void feed(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat about;
	size_t size;

	if (!file || fstat(fileno(file), &about)) {
		perror(path);
		exit(2);
	}
	size = (size_t)about.st_size;
	data = malloc(size);
	if (fread(data, 1, size, file) != size)
		exit(2);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	exit(0);
}

static void try(const char *name, const char *path)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		feed(path);
	fed++;
	if (child > 0 && waitpid(child, &status, 0) == child && !status)
		return;
	crashed++;
	printf("# again: build/selftests/fuzz/%s %s %s\n", name, name, path);
}

static void walk(const char *name, const char *path)
{
	struct dirent **entries;
	char inner[4096];
	int count = scandir(path, &entries, NULL, alphasort);

	if (count < 0) {
		try(name, path);
		return;
	}
	for (int at = 0; at < count; at++) {
		snprintf(inner, sizeof(inner), "%s/%s", path, entries[at]->d_name);
		if (entries[at]->d_name[0] != '.')
			walk(name, inner);
		free(entries[at]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "?";

	for (int at = 2; at < argc; at++)
		walk(name, argv[at]);
	printf("# %s: %u inputs, %u of them crash\n", name, fed, crashed);
	printf("1..1\n%sok 1 - %s\n", fed && !crashed ? "" : "not ", name);
	return !fed || crashed;
}
