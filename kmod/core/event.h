/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened to a slice, queued for each of its files. */
#ifndef MORPH_CORE_EVENT_H
#define MORPH_CORE_EVENT_H

#include "core.h"

struct poll_table_struct;

/* One open slice file with its queue. */
struct morph_file {
	struct morph_slice *slice;	/* counted */
	struct list_head node;		/* head: slice->files; event_lock */
	wait_queue_head_t wait;
	struct mutex read_lock;		/* one reader at a time; outside event_lock */
	/* event_lock */
	struct morph_event *ring;	/* MORPH_EVENT_SLOTS, and one for the lost */
	u32 head, count;
	u64 lost, lost_total;
	bool gone;			/* the slice was deleted or the fabric is gone */
};

/* Fill the common part of an event about a slice. fabric->lock held. */
void morph_event_init(struct morph_event *event, struct morph_slice *slice, u32 type);
/*
 * Queue an event on all files of the slice, tell the monitor group. Never fails
 * and never allocates for the files. fabric->lock held.
 */
void morph_event_queue(struct morph_slice *slice, const struct morph_event *event);
/* Wake every file with POLLHUP. fabric->lock held. */
void morph_event_hangup(struct morph_slice *slice);
/* Takes a reference; counted in files_count. Error pointer: ENODEV, EDQUOT, ENOMEM. */
struct morph_file *morph_file_alloc(struct morph_slice *slice, struct morph_refusal *refusal);
void morph_file_free(struct morph_file *file);
ssize_t morph_file_read(struct morph_file *file, char __user *buffer, size_t bytes, bool nonblock);
__poll_t morph_file_poll(struct morph_file *file, struct file *filp,
			 struct poll_table_struct *wait);

#endif /* MORPH_CORE_EVENT_H */
