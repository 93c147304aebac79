/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes, events, notifications, queues and state pages: the interface to the rest of the core. */
#ifndef MORPH_CORE_INTERFACE_INTERFACE_H
#define MORPH_CORE_INTERFACE_INTERFACE_H

#include <linux/cdev.h>

#include "core/base/base.h"
#include "core/recovery/recovery.h"
#include "core/schedule/schedule.h"

struct morph_controller;
struct morph_devlink;
struct morph_file;
struct morph_hwmon;
struct morph_schedule;
struct morph_slice_params;
struct poll_table_struct;
struct vm_area_struct;

/* Register subscriptions and waiters. Only while the module loads. */
void morph_interface_register(void);

/* The interface layer's part of the fabric. */
struct morph_interface {
	struct morph_recovery recovery;	/* first: structure of the layers below */
	struct cdev cdev;
	spinlock_t event_lock;		/* queues of files; see event.c */
	struct dentry *debugfs;
	struct morph_hwmon *hwmon;	/* NULL: none; hwmon.c */
	struct morph_devlink *devlink;	/* NULL: none; written under fabric->lock; devlink.c */
	wait_queue_head_t hangup;	/* of poll() on the fabric file */
	bool hung_up;
};

static inline struct morph_interface *interface_of(const struct morph_fabric *fabric)
{
	return container_of(recovery_of(fabric), struct morph_interface, recovery);
}

/* The interface layer's part of a slice. fabric->lock guards all fields except files. */
struct morph_slice_interface {
	struct morph_slice_scheduling scheduling;	/* first: structure of the layers below */
	struct list_head files;		/* of morph_file.node; event_lock */
	struct list_head queues;	/* of struct morph_queue: queue.c */
	u32 last_queue;			/* last assigned number */
	struct morph_state_page *state_page; /* NULL: not mapped yet; state_page.c */
	struct list_head consumers;	/* of struct morph_consumer: consumer.c */
	struct device *node_dev;	/* node of a named slice, or NULL */
	struct cdev *node_cdev;
};

static inline struct morph_slice_interface *slice_interface(const struct morph_slice *slice)
{
	return container_of(slice_scheduling(slice), struct morph_slice_interface, scheduling);
}

/* The interface layer's part of a circuit. fabric->lock guards all fields. */
struct morph_circuit_interface {
	struct morph_circuit_scheduling scheduling;	/* first: structure of the layers below */
	/* Last bandwidth that the state page got; 0 while nobody watches. */
	u64 reported_mbps;
	/* The same for consumers. They do not see a move that keeps the light. */
	u64 consumer_mbps;
	bool hinted_lit;	/* the last hint was that it is lit */
};

static inline struct morph_circuit_interface *
circuit_interface(const struct morph_circuit *circuit)
{
	return container_of(circuit_scheduling(circuit), struct morph_circuit_interface,
			    scheduling);
}

int morph_chardev_init(void);
void morph_chardev_exit(void);
int morph_chardev_add_fabric(struct morph_fabric *fabric);
void morph_chardev_del_fabric(struct morph_fabric *fabric);
/* morph_slice_create(), and the node /dev/morph/sliceN for a named slice. */
int morph_chardev_create_slice(struct morph_fabric *fabric, const struct morph_slice_params *params,
			       struct morph_slice **slice, struct morph_refusal *refusal);
/* Change uid and mode of a named slice's node. */
int morph_chardev_change_slice(struct morph_slice *slice, kuid_t uid, umode_t mode,
			       struct morph_refusal *refusal);
/* Does not wait: open files stay and return ENODEV. */
void morph_chardev_del_slice(struct morph_slice *slice);
/* Create a file for a slice without installing it. *file gets the struct file; returns the fd. */
int morph_chardev_slice_fd(struct morph_slice *slice, struct file **file,
			   struct morph_refusal *refusal);
/* The same for a fabric: the grant is charged for slices that the file creates. */
int morph_chardev_grant_fd(struct morph_fabric *fabric, struct morph_user *grant,
			   struct file **file, struct morph_refusal *refusal);

/* Events of a slice, queued for each of its files. */

/* One open slice file with its queue. */
struct morph_file {
	struct morph_slice *slice;	/* with a reference */
	struct list_head node;		/* head: slice_interface(slice)->files; event_lock */
	wait_queue_head_t wait;
	struct mutex read_lock;		/* one reader at a time; taken before event_lock */
	/* Guarded by event_lock. */
	struct morph_event *ring;	/* MORPH_EVENT_SLOTS, and a slot for lost events */
	u32 head, count;
	u64 lost, lost_total;
	bool gone;			/* slice was deleted or fabric unregistered */
};

/*
 * Queue an event on all files of the slice, and notify the monitor group. Never fails and never
 * allocates for the files. Caller holds fabric->lock.
 */
void morph_event_queue(struct morph_slice *slice, const struct morph_event *event);
/* Wake every file with POLLHUP. Caller holds fabric->lock. */
void morph_event_hangup(struct morph_slice *slice);
/* Takes a reference; counts in files_count. Error pointer: ENODEV, EDQUOT, ENOMEM. */
struct morph_file *morph_file_alloc(struct morph_slice *slice, struct morph_refusal *refusal);
void morph_file_free(struct morph_file *file);
ssize_t morph_file_read(struct morph_file *file, char __user *buffer, size_t bytes, bool nonblock);
__poll_t morph_file_poll(struct morph_file *file, struct file *filp,
			 struct poll_table_struct *wait);

/* The netlink family: its interface to the rest of the core. */

int morph_netlink_init(void);
void morph_netlink_exit(void);
/* Notifications; they do nothing without listeners. Caller holds fabric->lock. */
void morph_netlink_fabric(struct morph_fabric *fabric);
void morph_netlink_accelerator(struct morph_fabric *fabric, u32 index);
void morph_netlink_slice(struct morph_slice *slice);
void morph_netlink_txn(struct morph_txn *txn);
void morph_netlink_hardware(struct morph_fabric *fabric, u32 part, u32 index);
void morph_netlink_controller(struct morph_fabric *fabric,
			      const struct morph_controller *controller, u32 state);
void morph_netlink_event(struct morph_slice *slice, const struct morph_event *event);

/* Queues request steps through shared memory. The state page is mapped in the same way. */

/* ----------------------------------------------------------------- mapped.c */

/* Memory of the kernel that programs may map. Constant besides kref. */
struct morph_mapped {
	struct kref kref;		/* of its creator and of each mapping */
	struct morph_user *user;	/* charged for bytes; with a reference */
	void *memory;
	size_t bytes;			/* whole pages */
};

/* Charges the bytes. Error pointer: EDQUOT, ENOMEM. */
struct morph_mapped *morph_mapped_create(struct morph_user *user, size_t bytes,
					 struct morph_refusal *refusal);
void morph_mapped_put(struct morph_mapped *mapped);
/* Map from the begin; -EINVAL: the mapping is longer than the memory. */
int morph_mapped_map(struct morph_mapped *mapped, struct vm_area_struct *vma);

/* ------------------------------------------------------------------ queue.c */

/* Create a queue of a file; *number gets its number. Takes fabric->lock. */
int morph_queue_setup(struct morph_file *file, const struct morph_ring_setup *setup, u32 *number,
		      struct morph_refusal *refusal);
/* WAKE, CLOSE or QUERY; the results are filled. */
int morph_queue_act(struct morph_file *file, struct morph_ring_act *act,
		    struct morph_refusal *refusal);
/* Map a queue of the file's slice; -EINVAL: no such queue, or another size. */
int morph_queue_mmap(struct morph_file *file, u32 number, struct vm_area_struct *vma);
/* The file is closed: end its queues. Never waits. */
void morph_queue_close_file(struct morph_file *file);
/* The slice ends: wake threads that wait for it. Caller holds fabric->lock. */
void morph_queue_wake_slice(struct morph_slice *slice);

/* ------------------------------------------------------------- state_page.c */

/* Zeroed, accounted memory for mapping by pages; free it with vfree(). Call without locks. */
void *morph_shared_alloc(size_t bytes);
/* Map it from its start for the size of the area, which the caller has checked. */
int morph_shared_map(struct vm_area_struct *vma, void *memory);

/* Keep the reported bandwidth of the slice's circuits current. Caller holds fabric->lock. */
void morph_state_watch(struct morph_slice *slice);
/* Map the slice's state page, which the first call allocates. */
int morph_state_mmap(struct morph_slice *slice, struct vm_area_struct *vma);
/*
 * Write the light of a transaction's circuits to the page: of all, or of those with light_changed.
 * A reader of the page sees all of the change or nothing of it. Caller holds fabric->lock.
 */
void morph_state_txn(struct morph_txn *txn, bool all);
/* Write the light of a circuit that went dark without a command. Caller holds fabric->lock. */
void morph_state_dark(struct morph_circuit *circuit);
/* Correct the light of each circuit in the page, and the generation. Caller holds fabric->lock. */
void morph_state_all(struct morph_slice *slice);
/* All light is lost: the slice ends, or its fabric unregisters. Caller holds fabric->lock. */
void morph_state_lose(struct morph_slice *slice, bool pause);
/* A schedule has lit a step, or changed its state. Caller holds fabric->lock. */
void morph_state_schedule(const struct morph_schedule *schedule);

/* --------------------------------------------------------------- consumer.c */

/* Report consumer_mbps of a circuit to the slice's consumers. Caller holds fabric->lock. */
void morph_consumer_light(const struct morph_circuit *circuit);
/* All light of the slice is lost; its consumers get no more reports. Caller holds fabric->lock. */
void morph_consumer_end(struct morph_slice *slice);

/* ------------------------------------------------------------------- info.c */

/* Fill a record. Caller holds fabric->lock. */
void morph_fabric_fill_info(struct morph_fabric *fabric, struct morph_fabric_info *info);
void morph_accelerator_fill_info(struct morph_fabric *fabric, u32 index,
				 struct morph_accelerator_info *info);
void morph_guide_fill_info(struct morph_fabric *fabric, u32 index, struct morph_guide_info *info);
void morph_element_fill_info(struct morph_fabric *fabric, u32 index,
			     struct morph_element_info *info);
void morph_edge_fill_info(struct morph_fabric *fabric, u32 index, struct morph_edge_info *info);

/* ---------------------------------------------------------------- debugfs.c */

void morph_debugfs_init(void);
void morph_debugfs_exit(void);
void morph_debugfs_add(struct morph_fabric *fabric);
void morph_debugfs_remove(struct morph_fabric *fabric);

/* ---------------------------------------------------------------- devlink.c */

/* Health reporters on the provider's device; without a bound device there are none. */
void morph_devlink_add(struct morph_fabric *fabric);
void morph_devlink_remove(struct morph_fabric *fabric);
/* The number of failed parts or of degraded slices may have changed. Caller holds fabric->lock. */
void morph_devlink_update(struct morph_fabric *fabric);

/* ------------------------------------------------------------------ hwmon.c */

/* Sensors on the provider's device; without a device, or on an error, there are none. */
void morph_hwmon_add(struct morph_fabric *fabric);
void morph_hwmon_remove(struct morph_fabric *fabric);

/* -------------------------------------------------------------------- pci.c */

int morph_pci_init(void);
void morph_pci_exit(void);

/* ---------------------------------------------------------------- why_not.c */

/**
 * struct morph_question - a request for a slice to try
 * @accelerators: accelerators in the order of ranks, or NULL: the kernel chooses
 * @count: number of accelerators
 * @transit: enum morph_transit
 * @ring: also try a circuit from each rank to the next, and from the last to the first
 * @lanes: lanes of each circuit of the ring; 0: 1
 * @user: charged for the memory of the trial, or NULL: an administrator asks
 */
struct morph_question {
	const u32 *accelerators;
	u32 count;
	u32 transit;
	bool ring;
	u32 lanes;
	struct morph_user *user;
};

/* @chosen has @count entries. Takes fabric->lock. */
int morph_why_not(struct morph_fabric *fabric, const struct morph_question *question, u32 *chosen,
		  struct morph_refusal *refusal);

#endif /* MORPH_CORE_INTERFACE_INTERFACE_H */
