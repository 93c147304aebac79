// SPDX-License-Identifier: GPL-2.0-only
/* Simulated fabrics for tests: made in configfs, controlled in debugfs. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fabric.h"

#define CONFIGFS "/sys/kernel/config/morph_sim"
#define DEBUGFS "/sys/kernel/debug/morph_sim"
#define CORE_DEBUGFS "/sys/kernel/debug/morph"

char last_detail[160];

unsigned int slowness(void)
{
	const char *text = getenv("SLOWNESS");
	int factor = text ? atoi(text) : 1;

	return factor > 0 ? factor : 1;
}

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fprintf(stderr, "# ");
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(error));
	va_end(args);
	exit(1);
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), error = 0;

	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		error = errno ? errno : EIO;
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

static void configure(const struct sim *sim, const char *attribute, const char *value)
{
	char path[160];

	snprintf(path, sizeof(path), CONFIGFS "/%s/%s", sim->name, attribute);
	if (write_file(path, value))
		give_up("%s = %s", path, value);
}

int open_fabric(unsigned int number)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/morph/fabric%u", number);
	return open(path, O_RDWR | O_CLOEXEC);
}

int fabric_info(int fd, struct morph_fabric_info *info)
{
	*info = (struct morph_fabric_info){ .head.size = sizeof(*info) };
	return ioctl(fd, MORPH_FABRIC_INFO, info);
}

int find_fabric(const char *name, struct morph_fabric_info *info)
{
	struct morph_fabric_info unwanted;
	struct dirent *entry;
	unsigned int number;
	int fd = -1;
	DIR *dir;

	if (!info)
		info = &unwanted;
	dir = opendir("/dev/morph");
	while (dir && fd < 0 && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "fabric%u", &number) != 1)
			continue;
		fd = open_fabric(number);
		if (fd < 0 || (!fabric_info(fd, info) && !strcmp(info->name, name)))
			continue;
		close(fd);
		fd = -1;
	}
	if (dir)
		closedir(dir);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}

/* Find the node of the fabric of that name. */
static void find_node(struct sim *sim)
{
	sim->fd = find_fabric(sim->name, &sim->info);
	if (sim->fd < 0)
		give_up("no node of fabric %s", sim->name);
	sim->number = sim->info.fabric;
}

void sim_start(struct sim *sim, const char *profile, const char *settings)
{
	char path[160], words[256], *word, *rest, *value;
	static unsigned int made;

	snprintf(sim->name, sizeof(sim->name), "test-%d-%u", getpid(), made++);
	snprintf(path, sizeof(path), CONFIGFS "/%s", sim->name);
	if (mkdir(path, 0700))
		give_up("%s", path);
	configure(sim, "profile", profile);
	snprintf(words, sizeof(words), "%s", settings ? settings : "");
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		value = strchr(word, '=');
		*value++ = '\0';
		configure(sim, word, value);
	}
	sim_replug(sim);
}

void sim_replug(struct sim *sim)
{
	configure(sim, "live", "1");
	find_node(sim);
}

void sim_pull(const struct sim *sim)
{
	configure(sim, "live", "0");
}

void sim_stop(struct sim *sim)
{
	char path[160];

	close(sim->fd);
	snprintf(path, sizeof(path), CONFIGFS "/%s", sim->name);
	if (rmdir(path))
		give_up("rmdir %s", path);
}

int sim_control(const struct sim *sim, const char *file, const char *format, ...)
{
	char path[160], line[200];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	snprintf(path, sizeof(path), DEBUGFS "/%s/%s", sim->name, file);
	return write_file(path, line);
}

static long long counter_in(const char *path, const char *key)
{
	long long value, found = -1;
	size_t length = strlen(key);
	char line[256];
	FILE *stream;

	stream = fopen(path, "r");
	if (!stream)
		return -1;
	while (found < 0 && fgets(line, sizeof(line), stream))
		if (!strncmp(line, key, length) && sscanf(line + length, " %lld", &value) == 1)
			found = value;
	fclose(stream);
	return found;
}

long long sim_counter(const struct sim *sim, const char *file, const char *key)
{
	char path[160];

	snprintf(path, sizeof(path), DEBUGFS "/%s/%s", sim->name, file);
	return counter_in(path, key);
}

long long core_counter(const struct sim *sim, const char *file, const char *key)
{
	char path[160];

	snprintf(path, sizeof(path), CORE_DEBUGFS "/fabric%u/%s", sim->number, file);
	return counter_in(path, key);
}

bool core_rests(const struct sim *sim)
{
	return !core_counter(sim, "rest", "signals") && !core_counter(sim, "rest", "urgent") &&
	       !core_counter(sim, "rest", "recoveries") && !core_counter(sim, "rest", "tests") &&
	       core_counter(sim, "operations", "cookie") < 0;
}

/* Examine the receivers that see light; return the mask of those of one accelerator. */
static uint64_t read_receivers(const struct sim *sim, unsigned int accelerator, bool all)
{
	unsigned int port, planes = sim->info.planes;
	unsigned long long lit;
	uint64_t mask = 0;
	char path[160], line[512];
	FILE *stream;

	snprintf(path, sizeof(path), DEBUGFS "/%s/hardware", sim->name);
	stream = fopen(path, "r");
	if (!stream)
		give_up("%s", path);
	while (fgets(line, sizeof(line), stream))
		if (sscanf(line, "receiver %u lit %llx", &port, &lit) == 2 &&
		    (all || port / planes == accelerator))
			mask |= lit;
	fclose(stream);
	return mask;
}

uint64_t sim_lit_lanes(const struct sim *sim, unsigned int accelerator)
{
	return read_receivers(sim, accelerator, false);
}

bool sim_all_dark(const struct sim *sim)
{
	return !read_receivers(sim, 0, true);
}

void sim_refresh(struct sim *sim)
{
	if (fabric_info(sim->fd, &sim->info))
		give_up("info of %s", sim->name);
}

long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void nap(void)
{
	poll(NULL, 0, 2);
}

bool sim_wait_counter(const struct sim *sim, const char *file, const char *key, long long least)
{
	return WAIT_UNTIL(sim_counter(sim, file, key) >= least);
}

bool sim_no_slices(struct sim *sim)
{
	sim_refresh(sim);
	return !sim->info.slices;
}

bool sim_wait_free(struct sim *sim, unsigned int count)
{
	return WAIT_UNTIL((sim_refresh(sim), sim->info.free == count));
}

int fabric_read(int fd, unsigned long command, uint32_t first, struct morph_array entries)
{
	struct morph_fabric_read args = {
		.head.size = sizeof(args),
		.first = first,
		.entries = entries,
	};

	return ioctl(fd, command, &args) ? -1 : (int)args.entries.count;
}

struct morph_accelerator_info read_accelerator(const struct sim *sim, unsigned int index)
{
	struct morph_accelerator_info info = {};

	if (fabric_read(sim->fd, MORPH_FABRIC_READ_ACCELERATORS, index,
			(struct morph_array)ARRAY(&info, 1)) != 1)
		give_up("accelerator %u of %s", index, sim->name);
	return info;
}

bool wait_health(const struct sim *sim, unsigned int index, unsigned int health)
{
	return WAIT_UNTIL(read_accelerator(sim, index).health == health);
}

bool wait_plans(int slice, unsigned int ranks, unsigned int state)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_rank_info infos[ranks];
	struct morph_slice_info info;
	unsigned int have, i;

	while (!slice_read(slice, &info, infos, ranks, NULL, 0) && now_ms() < until) {
		for (have = 0, i = 0; i < ranks; i++)
			have += infos[i].plan == state;
		if (have == ranks)
			return true;
		nap();
	}
	return false;
}

bool slice_wait_state(int slice, unsigned int state)
{
	long long until = now_ms() + PATIENCE_MS;
	struct morph_slice_info info;

	while (!slice_info(slice, &info) && now_ms() < until) {
		if (info.state == state)
			return true;
		nap();
	}
	return false;
}
