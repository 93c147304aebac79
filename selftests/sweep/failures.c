// SPDX-License-Identifier: GPL-2.0-only
/* Failing allocations, by the kernel's fault injection. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocation.h"

#define DEBUGFS "/sys/kernel/debug/"
#define MOST_FAILURES 1000000000

static const char *const kinds[] = { "failslab", "fail_page_alloc" };

static int fail_nth_fd;

void must(int error, const char *what)
{
	if (!error)
		return;
	printf("# %s: %s; %s\n", what, strerror(error), last_detail);
	exit(1);
}

bool is_called(const char *number, const char *name)
{
	char path[300], line[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/comm", number);
	fd = atoi(number) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	if (read(fd, line, sizeof(line) - 1) < 0)
		*line = '\0';
	close(fd);
	return !strncmp(line, name, strlen(name));
}

static void set_knob(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void set_kind(unsigned int kind, const char *knob, const char *value)
{
	char path[80];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", kinds[kind], knob);
	set_knob(path, value);
}

bool failures_ready(bool nosleep)
{
	char most[16];
	unsigned int kind;

	fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth_fd < 0)
		return false;
	snprintf(most, sizeof(most), "%d", MOST_FAILURES);
	for (kind = 0; kind < COUNT(kinds); kind++) {
		set_kind(kind, "ignore-gfp-wait", nosleep ? "Y" : "N");
		set_kind(kind, "verbose", "0");
		set_kind(kind, "times", most);
		set_kind(kind, "task-filter", "Y");
	}
	set_knob(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	set_knob(DEBUGFS "fail_page_alloc/min-order", "0");
	return true;
}

unsigned int failures_count(void)
{
	unsigned int kind, failures = 0;
	char path[80];
	FILE *stream;
	int left;

	for (kind = 0; kind < COUNT(kinds); kind++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/times", kinds[kind]);
		stream = fopen(path, "r");
		if (!stream || fscanf(stream, "%d", &left) != 1) {
			perror(path);
			exit(1);
		}
		fclose(stream);
		failures += MOST_FAILURES - left;
	}
	return failures;
}

/* Write a number to a file of each worker, or find the lowest value. */
static unsigned int workers(const char *file, const char *number)
{
	unsigned int least = MORPH_ANY, value;
	struct dirent *entry;
	char path[300], line[32];
	DIR *dir = opendir("/proc");
	int fd;

	must(!dir, "/proc");
	while ((entry = readdir(dir))) {
		if (!is_called(entry->d_name, "kworker"))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/%s", entry->d_name, file);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		memset(line, 0, sizeof(line));
		if (pread(fd, line, sizeof(line) - 1, 0) > 0) {
			value = atoi(line);
			least = value < least ? value : least;
		}
		if (number && write(fd, number, strlen(number)) < 0)
			perror("# file of a worker");
		close(fd);
	}
	closedir(dir);
	return least;
}

void fail_nth(enum victim victim, unsigned int n)
{
	char number[16];
	int bytes = snprintf(number, sizeof(number), "%u", n);

	if (victim == WORKERS) {
		workers("fail-nth", number);
	} else if (pwrite(fail_nth_fd, number, bytes, 0) != bytes) {
		perror("# fail-nth");
		exit(1);
	}
}

unsigned int fail_nth_left(enum victim victim)
{
	char number[16] = "";

	if (victim == WORKERS)
		return workers("fail-nth", "0"); /* 0 means that one failed */
	if (pread(fail_nth_fd, number, sizeof(number) - 1, 0) <= 0) {
		perror("# fail-nth");
		exit(1);
	}
	fail_nth(SELF, 0);
	return atoi(number);
}

void fail_all(enum victim victim, bool fail)
{
	const char *value = fail ? "1" : "0";
	unsigned int kind;

	if (victim == WORKERS)
		workers("make-it-fail", value);
	else
		set_knob("/proc/thread-self/make-it-fail", value);
	for (kind = 0; kind < COUNT(kinds); kind++)
		set_kind(kind, "probability", fail ? "100" : "0");
}
