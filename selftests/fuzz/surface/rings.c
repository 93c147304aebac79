// SPDX-License-Identifier: GPL-2.0-only
/* Use a slice file without calls: map its memory, and write to it. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/morph.h>

#include "surface.h"

#define MOST_MAPPED 4u
#define PATIENCE_US 50000

struct mapped {
	uint8_t *at;
	size_t bytes;
	uint32_t entries, submitted;
	bool written;
};

static struct mapped mapped[MOST_MAPPED];
static unsigned int mapped_count;

/* Kinds: 1 means read only, 2 means private. */
int ring_map(int fd, const uint64_t values[MAP_FIELDS])
{
	uint32_t entries = values[1] ? (uint32_t)values[1] % (2 * MORPH_RING_MOST) : 8;
	struct mapped next = { .entries = entries, .written = !(values[2] & 1) && values[0] };

	next.bytes = values[0] ? MORPH_RING_BYTES(entries) : MORPH_STATE_BYTES(4);
	next.at = mmap(NULL, next.bytes, next.written ? PROT_READ | PROT_WRITE : PROT_READ,
		       values[2] & 2 ? MAP_PRIVATE : MAP_SHARED, fd,
		       (off_t)MORPH_RING_OFFSET((uint32_t)values[0]));
	if (next.at == MAP_FAILED)
		return errno;
	if (mapped_count < MOST_MAPPED)
		mapped[mapped_count++] = next;
	else
		munmap(next.at, next.bytes);
	return 0;
}

/* The next entry of the latest queue, and the number of completions that were read. */
int ring_submit(const uint64_t values[SUBMIT_FIELDS])
{
	struct mapped *ring = mapped_count ? &mapped[mapped_count - 1] : NULL;
	volatile struct morph_ring_entry *entry;
	volatile struct morph_ring_page *page;
	uint64_t lap;

	if (!ring || !ring->written || !ring->entries)
		return EBADF;
	page = (void *)ring->at;
	entry = (void *)(ring->at + MORPH_RING_ENTRIES);
	entry += ring->submitted % ring->entries;
	lap = ring->submitted++ / ring->entries & 1 ? 0 : MORPH_RING_LAP;
	page->seen = (uint32_t)values[4];
	entry->words[0] = lap | (values[0] & 0x7f) << MORPH_RING_OP_SHIFT |
			  (values[3] & 0xffffff) << MORPH_RING_TAG_SHIFT | (uint32_t)values[1];
	entry->words[1] = lap | (values[2] & ~MORPH_RING_LAP);
	usleep(2000); /* let its thread look */
	return 0;
}

void rings_forget(void)
{
	while (mapped_count) {
		struct mapped *last = &mapped[--mapped_count];

		munmap(last->at, last->bytes);
	}
}

static void wake(int signal)
{
	(void)signal;
}

/* No other process would end the wait of a program that waits for itself. */
void patience(bool short_one)
{
	struct itimerval timer = { .it_interval.tv_usec = short_one ? PATIENCE_US : 0,
				   .it_value.tv_usec = short_one ? PATIENCE_US : 0 };
	struct sigaction action = { .sa_handler = wake };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}
