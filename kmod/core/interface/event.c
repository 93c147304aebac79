// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events for a slice's owner, with one queue per open slice file.
 *
 * The event ring of a file is allocated at open, so that queueing never fails. Its last slot is not
 * part of the ring. It holds the record of lost events, from the first event that did not fit until
 * the record itself can be queued or read. The record also counts all events in between, which
 * keeps the order.
 *
 * fabric->event_lock guards the event rings and the lists of files. file->read_lock admits one
 * reader at a time. Only a reader removes events, so the head does not move while the reader copies
 * it without the spinlock.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/base/base.h"
#include "core/base/trace.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"

#define RING_BYTES	(array_size(MORPH_EVENT_SLOTS + 1, sizeof(struct morph_event)))
#define FILE_BYTES	(sizeof(struct morph_file) + RING_BYTES)

static struct morph_event *lost_record(struct morph_file *file)
{
	return &file->ring[MORPH_EVENT_SLOTS];
}

static void ring_push(struct morph_file *file, const struct morph_event *event)
{
	file->ring[(file->head + file->count++) % MORPH_EVENT_SLOTS] = *event;
}

/* Count an event that did not fit. The record has the state of the last lost event. */
static void ring_lose(struct morph_file *file, const struct morph_event *event)
{
	struct morph_event *record = lost_record(file);

	*record = *event;
	record->type = MORPH_EVENT_LOST;
	record->rank = MORPH_ANY;
	record->circuit = MORPH_ANY;
	record->txn = 0;
	record->outcome = MORPH_OUTCOME_NONE;
	record->part = MORPH_PART_NONE;
	record->index = 0;
	record->old_accelerator = MORPH_ANY;
	record->new_accelerator = MORPH_ANY;
	record->old_host = MORPH_ANY;
	record->new_host = MORPH_ANY;
	memset(record->old_pci, 0, sizeof(record->old_pci));
	memset(record->new_pci, 0, sizeof(record->new_pci));
	memset(record->old_uuid, 0, sizeof(record->old_uuid));
	memset(record->new_uuid, 0, sizeof(record->new_uuid));
	record->dark_ns = 0;
	memset(&record->times, 0, sizeof(record->times));
	file->lost++;
	file->lost_total++;
	record->lost = file->lost;
}

/* Append the record of lost events to the ring, which has a free slot. */
static void ring_push_lost(struct morph_file *file)
{
	ring_push(file, lost_record(file));
	file->lost = 0;
}

void morph_event_queue(struct morph_slice *slice, const struct morph_event *event)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_file *file;

	lockdep_assert_held(&fabric->lock);
	morph_stat(fabric, MORPH_STAT_EVENTS);
	spin_lock(&interface_of(fabric)->event_lock);
	list_for_each_entry(file, &slice_interface(slice)->files, node) {
		if (file->lost && file->count <= MORPH_EVENT_SLOTS - 2)
			ring_push_lost(file);
		if (!file->lost && file->count < MORPH_EVENT_SLOTS) {
			ring_push(file, event);
		} else {
			ring_lose(file, event);
			morph_stat(fabric, MORPH_STAT_EVENTS_LOST);
			trace_morph_event_lost(fabric->id, slice->number, event->type,
					       file->lost);
		}
		wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
	}
	spin_unlock(&interface_of(fabric)->event_lock);
	morph_netlink_event(slice, event);
}

void morph_event_hangup(struct morph_slice *slice)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_file *file;

	lockdep_assert_held(&fabric->lock);
	spin_lock(&interface_of(fabric)->event_lock);
	list_for_each_entry(file, &slice_interface(slice)->files, node) {
		file->gone = true;
		wake_up_all(&file->wait);
	}
	spin_unlock(&interface_of(fabric)->event_lock);
}

/**
 * morph_file_alloc() - allocate the data of an open slice file
 * @slice: the slice; the file takes a reference
 * @refusal: filled on -EDQUOT; may be NULL
 *
 * The slice's user is charged for the file and its event ring.
 *
 * Context: process context, no lock held.
 * Return: the file, or an error pointer: ENODEV if the slice is ending, EDQUOT, ENOMEM.
 */
struct morph_file *morph_file_alloc(struct morph_slice *slice, struct morph_refusal *refusal)
{
	struct morph_fabric *fabric = slice->fabric;
	struct morph_file *file;
	int ret;

	ret = morph_user_charge(slice->user, MORPH_RES_BYTES, FILE_BYTES, refusal);
	if (ret)
		return ERR_PTR(ret);
	ret = -ENOMEM;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		goto err_uncharge;
	file->ring = kvzalloc(RING_BYTES, GFP_KERNEL_ACCOUNT);
	if (!file->ring)
		goto err_free;
	init_waitqueue_head(&file->wait);
	mutex_init(&file->read_lock);
	file->slice = slice;

	morph_fabric_lock(fabric);
	ret = slice->dying ? -ENODEV : morph_fabric_check(fabric);
	if (!ret) {
		kref_get(&slice->kref);
		slice_tenancy(slice)->files_count++;
		spin_lock(&interface_of(fabric)->event_lock);
		list_add_tail(&file->node, &slice_interface(slice)->files);
		spin_unlock(&interface_of(fabric)->event_lock);
	}
	morph_fabric_unlock(fabric);
	if (!ret)
		return file;

	kvfree(file->ring);
err_free:
	kfree(file);
err_uncharge:
	morph_user_uncharge(slice->user, MORPH_RES_BYTES, FILE_BYTES);
	return ERR_PTR(ret);
}

/* The last file of an unnamed slice ends the slice; that never waits for the device. */
void morph_file_free(struct morph_file *file)
{
	struct morph_slice *slice = file->slice;
	struct morph_fabric *fabric = slice->fabric;
	bool last, unused = false;

	morph_queue_close_file(file);
	/* If this is the last file, pause the rebuilding of protections. */
	last = data_race(!slice_tenancy(slice)->named && slice_tenancy(slice)->files_count == 1);
	if (last)
		atomic_inc(&slices_of(fabric)->urgent);
	morph_fabric_lock(fabric);
	spin_lock(&interface_of(fabric)->event_lock);
	list_del(&file->node);
	spin_unlock(&interface_of(fabric)->event_lock);
	if (!--slice_tenancy(slice)->files_count && !slice_tenancy(slice)->named && !slice->dying) {
		unused = morph_slice_release_unused(slice);
		if (!unused)
			morph_slice_release(slice, 0);
	}
	if (last)
		morph_protection_unpause(fabric);
	morph_fabric_unlock(fabric);
	if (unused) {
		morph_slice_finish(slice);
		morph_slice_put(slice);
	}

	morph_user_uncharge(slice->user, MORPH_RES_BYTES, FILE_BYTES);
	kvfree(file->ring);
	kfree(file);
	morph_slice_put(slice);
}

/*
 * Copy the oldest event but keep it queued; false if there is none. Caller holds file->read_lock.
 */
static bool file_peek(struct morph_file *file, struct morph_event *event)
{
	struct morph_fabric *fabric = file->slice->fabric;
	bool found;

	spin_lock(&interface_of(fabric)->event_lock);
	if (!file->count && file->lost)
		ring_push_lost(file);
	found = file->count;
	if (found)
		*event = file->ring[file->head];
	spin_unlock(&interface_of(fabric)->event_lock);
	return found;
}

static void file_pop(struct morph_file *file)
{
	struct morph_fabric *fabric = file->slice->fabric;

	spin_lock(&interface_of(fabric)->event_lock);
	file->head = (file->head + 1) % MORPH_EVENT_SLOTS;
	file->count--;
	spin_unlock(&interface_of(fabric)->event_lock);
}

/* The size of a record in the first version: a program of it may pass a buffer for one. */
#define RECORD_LEAST	offsetofend(struct morph_event, times)

/*
 * Copy queued events out, whole records only; return 0 if there are none. If the buffer is too
 * small for a whole record, it gets the beginning of one, as a program of an earlier version
 * expects.
 */
static ssize_t file_drain(struct morph_file *file, char __user *buffer, size_t bytes)
{
	struct morph_event event;
	const size_t each = min(bytes, sizeof(event));
	size_t done = 0;

	if (mutex_lock_interruptible(&file->read_lock))
		return -ERESTARTSYS;
	while (bytes - done >= each && file_peek(file, &event)) {
		event.size = each;
		if (copy_to_user(buffer + done, &event, each)) {
			mutex_unlock(&file->read_lock);
			return done ? done : -EFAULT;
		}
		file_pop(file);
		done += each;
	}
	mutex_unlock(&file->read_lock);
	return done;
}

/* The state that poll() and a sleeping reader check. */
static __poll_t file_ready(struct morph_file *file)
{
	struct morph_fabric *fabric = file->slice->fabric;
	__poll_t mask = 0;

	spin_lock(&interface_of(fabric)->event_lock);
	if (file->count || file->lost)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (file->gone)
		mask |= EPOLLHUP;
	spin_unlock(&interface_of(fabric)->event_lock);
	return mask;
}

ssize_t morph_file_read(struct morph_file *file, char __user *buffer, size_t bytes, bool nonblock)
{
	bool gone;
	ssize_t ret;

	if (bytes < RECORD_LEAST)
		return -EINVAL;
	for (;;) {
		/* Check this first, so that events queued before the hang-up can still be read. */
		gone = file_ready(file) & EPOLLHUP;
		ret = file_drain(file, buffer, bytes);
		if (ret)
			return ret;
		if (gone)
			return -ENODEV;
		if (nonblock)
			return -EAGAIN;
		if (wait_event_interruptible(file->wait, file_ready(file)))
			return -ERESTARTSYS;
	}
}

__poll_t morph_file_poll(struct morph_file *file, struct file *filp, struct poll_table_struct *wait)
{
	poll_wait(filp, &file->wait, wait);
	return file_ready(file);
}
