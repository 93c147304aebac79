// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep programs that reach new code, reduce them to the necessary calls, and mutate them further.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fabric.h"
#include "progress.h"
#include "surface.h"

#define COVER_WORDS (256u << 10)
#define SEEN_BITS 20u
#define REPORT_EVERY_MS 10000

struct search {
	struct world *world;
	const char *results;
	unsigned long *cover; /* the format of KCOV: a count, then that number of addresses */
	int kcov;
	uint8_t *seen; /* by hash of the address */
	uint32_t *fresh; /* hashes that the last program reached first */
	unsigned int fresh_count, points, runs;
};

/* Without KCOV nothing is ever new. */
static bool search_open(struct search *search, bool led)
{
	search->seen = calloc(1u << SEEN_BITS, 1);
	search->fresh = calloc(COVER_WORDS, sizeof(*search->fresh));
	search->cover = calloc(1, sizeof(*search->cover));
	if (!led)
		return true;
	search->kcov = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (search->kcov < 0 || ioctl(search->kcov, KCOV_INIT_TRACE, COVER_WORDS))
		return false;
	search->cover = mmap(NULL, COVER_WORDS * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED,
			     search->kcov, 0);
	return search->cover != MAP_FAILED && !ioctl(search->kcov, KCOV_ENABLE, KCOV_TRACE_PC);
}

static uint32_t hash(unsigned long address)
{
	return (uint32_t)(address * 0x9e3779b97f4a7c15ull >> (64 - SEEN_BITS));
}

/* Save data that the host can read after a crash of this machine. */
static void save(const struct search *search, const char *name, const struct program *program)
{
	char path[512], text[PROGRAM_BYTES];
	size_t length = program_write(program, text);
	int fd;

	snprintf(path, sizeof(path), "%s/%s", search->results, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd >= 0 && write(fd, text, length) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

static const char *run(struct search *search, const struct program *program)
{
	const char *wrong;

	save(search, "program", program);
	__atomic_store_n(&search->cover[0], 0, __ATOMIC_RELAXED);
	wrong = world_run(search->world, program, false);
	search->runs++;
	return wrong;
}

/* Count the places that the last run reached first; after that they are no longer new. */
static unsigned int take_fresh(struct search *search)
{
	unsigned long count = __atomic_load_n(&search->cover[0], __ATOMIC_RELAXED);

	search->fresh_count = 0;
	for (unsigned long at = 1; at <= count; at++) {
		uint32_t place = hash(search->cover[at]);

		if (search->seen[place])
			continue;
		search->seen[place] = 1;
		search->fresh[search->fresh_count++] = place;
	}
	search->points += search->fresh_count;
	return search->fresh_count;
}

/* Does the last run reach everything that the run before the reduction reached first? */
static bool still_reaches(const struct search *search)
{
	unsigned long count = __atomic_load_n(&search->cover[0], __ATOMIC_RELAXED);
	static uint8_t reached[1u << SEEN_BITS];

	memset(reached, 0, sizeof(reached));
	for (unsigned long at = 1; at <= count; at++)
		reached[hash(search->cover[at])] = 1;
	for (unsigned int at = 0; at < search->fresh_count; at++)
		if (!reached[search->fresh[at]])
			return false;
	return true;
}

/* Remove calls that the new places do not need. */
static const char *cut(struct search *search, struct program *program)
{
	const char *wrong = NULL;

	for (unsigned int at = program->count; at-- && program->count > 1 && !wrong;) {
		struct program less = *program;

		memmove(&less.calls[at], &less.calls[at + 1],
			(size_t)(--less.count - at) * sizeof(less.calls[0]));
		wrong = run(search, &less);
		if (!wrong && still_reaches(search))
			*program = less;
	}
	return wrong;
}

const char *explore(struct world *world, struct program *corpus, unsigned int count,
		    unsigned int most, unsigned int seconds, bool led)
{
	struct search search = { .world = world, .results = getenv("RESULTS") ?: "/tmp" };
	long long now = now_ms(), until = now + seconds * 1000ll, reported = now;
	const char *wrong = NULL;
	unsigned int given = count;
	char name[64];

	if (!search_open(&search, led))
		return "no KCOV here: a kernel with it is 6.1-kasan";
	for (unsigned int at = 0; at < given && !wrong; at++) {
		wrong = run(&search, &corpus[at]);
		take_fresh(&search);
	}
	if (led && !wrong && !search.points)
		wrong = "the modules do not report to KCOV: make modules-6.1-kasan builds those that do";
	while (!wrong && now < until) {
		struct program program = corpus[random_below(count)];

		program_mutate(&program, &corpus[random_below(count)]);
		wrong = run(&search, &program);
		if (!wrong && take_fresh(&search) && count < most) {
			wrong = cut(&search, &program);
			snprintf(name, sizeof(name), "found-%04u.txt", count);
			save(&search, name, &program);
			corpus[count++] = program;
		}
		now = now_ms();
		if (now < reported + REPORT_EVERY_MS)
			continue;
		reported = now;
		progress("%u programs, %u places, %u kept, %u fabrics, %lld s left", search.runs,
			 search.points, count, world_fabrics(world), (until - now) / 1000);
	}
	if (led)
		ioctl(search.kcov, KCOV_DISABLE, 0);
	printf("# %u programs, %u places in the modules, %u programs kept, %u of them given\n",
	       search.runs, search.points, count, given);
	return wrong;
}
