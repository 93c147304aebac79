// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the state page of a tenant's slice while it changes. A mapping keeps a slice alive as a file
 * does, so tenant_drop() ends both.
 */
#include <string.h>
#include <sys/mman.h>

#include "stress.h"

#define LOOKS 20
#define TRIES 100000000

static bool page_copy(const volatile struct morph_state_page *page, void *copy, size_t bytes)
{
	uint64_t before;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		before = __atomic_load_n(&page->version, __ATOMIC_ACQUIRE);
		if (before & 1)
			continue;
		memcpy(copy, (const void *)page, bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (page->version == before)
			return true;
	}
	return false;
}

/* Return a description of the error in a page of one version, or NULL. */
static const char *page_wrong(const struct morph_state_page *page, size_t bytes)
{
	const struct morph_state_pair *pairs = (const void *)(page + 1);
	unsigned int i, count = page->ranks * page->ranks;

	if (!page->ranks || MORPH_STATE_BYTES(count) != bytes)
		return "ranks";
	if (page->state > MORPH_SCHEDULE_STOPPED)
		return "state";
	if (page->schedule && page->state == MORPH_SCHEDULE_LOADED &&
	    (page->step != MORPH_ANY || page->position))
		return "of a schedule that has not started";
	for (i = 0; i < count; i++)
		if (!pairs[i].hops != !pairs[i].mbps)
			return "hops";
	return NULL;
}

static void look(struct tenant *t)
{
	static __thread uint64_t copy[2048];
	const char *wrong;

	if (!page_copy(t->page, copy, t->page_bytes))
		wrong = "is never consistent";
	else
		wrong = page_wrong((void *)copy, t->page_bytes);
	if (wrong)
		actor_log(&t->actor, "wrong: state page: %s", wrong);
}

static int page_map(struct tenant *t)
{
	struct morph_slice_info info;
	void *page;

	if (slice_info(t->slice, &info))
		return errno;
	t->page_bytes = MORPH_STATE_BYTES((uint64_t)info.ranks.count * info.ranks.count);
	page = mmap(NULL, t->page_bytes, PROT_READ, MAP_SHARED, t->slice, 0);
	t->page = page == MAP_FAILED ? NULL : page;
	return log_call(t, "map-page", t->page ? 0 : -1);
}

int page_read(void *who)
{
	struct tenant *t = who;
	unsigned int i;
	int error = 0;

	if (!t->page)
		error = page_map(t);
	for (i = 0; i < LOOKS && !error; i++)
		look(t);
	return error;
}

/* The slice may have gone before: its page must still be consistent. */
void page_drop(struct tenant *t)
{
	if (!t->page)
		return;
	look(t);
	munmap(t->page, t->page_bytes);
	t->page = NULL;
}
