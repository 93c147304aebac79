// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phases on a slice: locks of the ranks in each phase. They end with their process. */
#define _FILE_OFFSET_BITS 64 /* 32-bit programs need it for these locks */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "slice_phases.h"

int lm_locks_open(struct morph_slice_phases *phasing, const char *path)
{
	struct morph_ctx *ctx = phasing->slice->ctx;
	char node[sizeof(LM_DEV_DIR) + 24];

	snprintf(node, sizeof(node), LM_DEV_DIR "/slice%u", phasing->slice->number);
	path = path ? path : node;
	phasing->uses = open(path, O_RDWR | O_CLOEXEC);
	phasing->changes = phasing->uses < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (phasing->changes < 0)
		return lm_fail(ctx, errno, "open %s, for locks of phases: %s", path,
			       strerror(errno));
	return 0;
}

static off_t place_of(const struct morph_slice_phases *phasing, enum lm_lock_kind kind,
		      uint32_t phase)
{
	off_t place = (off_t)phasing->schedule * LM_LOCKS_ROOM;

	if (kind == LM_LOCK_CHANGE)
		return place;
	return place + 1 + (off_t)(kind - LM_LOCK_USE) * MORPH_SCHEDULE_MOST_STEPS + phase;
}

static struct flock lock_of(short type, off_t first, off_t bytes)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = first,
		.l_len = bytes,
	};
}

static int set_lock(struct morph_slice_phases *phasing, int fd, short type, off_t first,
		    off_t bytes)
{
	struct flock lock = lock_of(type, first, bytes);

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return -EAGAIN;
	return lm_fail(phasing->slice->ctx, errno, "lock phases of slice %u: %s",
		       phasing->slice->number, strerror(errno));
}

void lm_locks_close(struct morph_slice_phases *phasing)
{
	const int files[] = { phasing->uses, phasing->changes };

	for (size_t at = 0; at < ARRAY_SIZE(files); at++) {
		if (files[at] < 0)
			continue;
		/* A child that was forked meanwhile has them too, while it has the file open. */
		set_lock(phasing, files[at], F_UNLCK, place_of(phasing, LM_LOCK_CHANGE, 0),
			 LM_LOCKS_ROOM);
		close(files[at]);
	}
}

int lm_lock_share(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase)
{
	return set_lock(phasing, phasing->uses, F_RDLCK, place_of(phasing, kind, phase), 1);
}

int lm_lock_alone(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase)
{
	return set_lock(phasing, phasing->changes, F_WRLCK, place_of(phasing, kind, phase), 1);
}

int lm_lock_uses(struct morph_slice_phases *phasing)
{
	return set_lock(phasing, phasing->changes, F_WRLCK, place_of(phasing, LM_LOCK_USE, 0),
			phasing->count);
}

bool lm_lock_is_shared(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase)
{
	struct flock lock = lock_of(F_WRLCK, place_of(phasing, kind, phase), 1);

	return !fcntl(phasing->changes, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

void lm_lock_drop(struct morph_slice_phases *phasing, enum lm_lock_kind kind, uint32_t phase)
{
	set_lock(phasing, phasing->uses, F_UNLCK, place_of(phasing, kind, phase), 1);
}

void lm_lock_drop_phases(struct morph_slice_phases *phasing)
{
	set_lock(phasing, phasing->changes, F_UNLCK, place_of(phasing, LM_LOCK_USE, 0),
		 LM_LOCKS_ROOM - 1);
}

void lm_lock_drop_alone(struct morph_slice_phases *phasing)
{
	set_lock(phasing, phasing->changes, F_UNLCK, place_of(phasing, LM_LOCK_CHANGE, 0),
		 LM_LOCKS_ROOM);
}
