// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device nodes and files: /dev/morph/fabricN, /dev/morph/sliceN for named slices, and the anonymous
 * file of a new slice.
 *
 * A file of a fabric holds a reference to the fabric's device, so the fabric outlives its provider;
 * the file then only returns ENODEV. A file of a slice holds a reference to the slice. The
 * permissions of a file are fixed when it is opened, except for the deletion of slices.
 */
#include <linux/anon_inodes.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"
#include "ioctl.h"

/* Minor numbers: first those of fabrics, by their id, then nodes of slices. */
#define FIRST_SLICE_MINOR	MORPH_MAX_FABRICS
#define MINORS			(MINORMASK + 1)

static dev_t first_device;
/*
 * Nodes of slices by minor number. Numbers are allocated cyclically: a container that was given a
 * node by number must not open the slice of the next tenant.
 */
static DEFINE_XARRAY_ALLOC(slice_minors);

/* Guards node_dev and node_cdev of all slices; outside fabric->lock. */
static DEFINE_MUTEX(node_lock);

/* Without this function the driver core would choose another name and mode. */
static char *node_name(const struct device *dev)
{
	return kasprintf(GFP_KERNEL | __GFP_NOFAIL, "morph/%s", dev_name(dev));
}

static char *fabric_devnode(COMPAT_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0660;
	return node_name(dev);
}

/* Allocated, since the driver core may access it after the module has unloaded. */
struct class *morph_class;

/* -------------------------------------------------------------- fabric file */

static const struct morph_command fabric_commands[] = {
	MORPH_COMMAND(MORPH_FABRIC_INFO, morph_do_fabric_info, morph_fabric_info, seq, 0),
	MORPH_READ(MORPH_FABRIC_READ_ACCELERATORS, morph_do_read_accelerators),
	MORPH_READ(MORPH_FABRIC_READ_GUIDES, morph_do_read_guides),
	MORPH_READ(MORPH_FABRIC_READ_ELEMENTS, morph_do_read_elements),
	MORPH_READ(MORPH_FABRIC_READ_EDGES, morph_do_read_edges),
	MORPH_COMMAND_RESERVED(MORPH_SLICE_CREATE, morph_do_slice_create, morph_slice_create,
			       out_generation,
			       MORPH_SLICE_RESERVED | MORPH_SLICE_DRY_RUN | MORPH_SLICE_LEND |
			       MORPH_SLICE_RING,
			       reserved),
	MORPH_COMMAND_RESERVED(MORPH_SLICE_DELETE, morph_do_slice_delete, morph_slice_delete, name,
			       MORPH_SLICE_FORCE, reserved),
	MORPH_COMMAND_RESERVED(MORPH_GRANT_CREATE, morph_do_grant_create, morph_grant_create,
			       out_grant, 0, reserved),
};

/* One open file of a fabric, of the user who opened the node, or of a grant. */
struct fabric_file {
	struct morph_fabric *fabric;	/* with a reference */
	struct morph_user *user;	/* charged for slices and this file; with a reference */
};

/*
 * Takes its own references. The file of a grant is charged even beyond its limit, so that a grant
 * may have no bytes at all.
 */
static struct fabric_file *fabric_file_alloc(struct morph_fabric *fabric, struct morph_user *user,
					     struct morph_refusal *refusal)
{
	struct fabric_file *file;
	int ret = 0;

	if (user->grant)
		morph_user_charge_anyway(user, MORPH_RES_BYTES, sizeof(*file));
	else
		ret = morph_user_charge(user, MORPH_RES_BYTES, sizeof(*file), refusal);
	if (ret)
		return ERR_PTR(ret);
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file) {
		morph_user_uncharge(user, MORPH_RES_BYTES, sizeof(*file));
		return ERR_PTR(-ENOMEM);
	}
	get_device(&fabric->dev);
	file->fabric = fabric;
	file->user = morph_user_ref(user);
	return file;
}

static void fabric_file_free(struct fabric_file *file)
{
	morph_user_uncharge(file->user, MORPH_RES_BYTES, sizeof(*file));
	morph_user_put(file->user);
	put_device(&file->fabric->dev);
	kfree(file);
}

static int fabric_open(struct inode *inode, struct file *filp)
{
	struct morph_interface *interface =
		container_of(inode->i_cdev, struct morph_interface, cdev);
	struct morph_fabric *fabric = &interface->recovery.slices.txns.ledger.hardware.fabric;
	struct fabric_file *file;
	struct morph_user *user;

	if (READ_ONCE(interface_of(fabric)->hung_up))
		return -ENODEV;
	user = morph_user_of(filp->f_cred);
	if (!user)
		return -ENOMEM;
	file = fabric_file_alloc(fabric, user, NULL);
	morph_user_put(user);
	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int fabric_close(struct inode *inode, struct file *filp)
{
	fabric_file_free(filp->private_data);
	return 0;
}

static long fabric_ioctl(struct file *filp, unsigned int number, unsigned long arg)
{
	struct fabric_file *file = filp->private_data;
	struct morph_call call = {
		.fabric = file->fabric,
		.user = file->user,
		.writes = filp->f_mode & FMODE_WRITE,
	};

	return morph_dispatch(&call, fabric_commands, ARRAY_SIZE(fabric_commands), number, arg);
}

/* Only the removal of the fabric wakes poll(). */
static __poll_t fabric_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct fabric_file *file = filp->private_data;

	poll_wait(filp, &interface_of(file->fabric)->hangup, wait);
	return READ_ONCE(interface_of(file->fabric)->hung_up) ? EPOLLHUP : 0;
}

#ifdef CONFIG_PROC_FS
static void fabric_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct fabric_file *file = filp->private_data;

	seq_printf(m, "morph-fabric:\t%u\n", file->fabric->id);
	if (file->user->grant)
		seq_printf(m, "morph-grant:\t%u\n", file->user->grant);
}
#endif

static const struct file_operations fabric_fops = {
	.owner = THIS_MODULE,
	.open = fabric_open,
	.release = fabric_close,
	.unlocked_ioctl = fabric_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = fabric_poll,
#ifdef CONFIG_PROC_FS
	.show_fdinfo = fabric_show_fdinfo,
#endif
};

int morph_chardev_grant_fd(struct morph_fabric *fabric, struct morph_user *grant,
			   struct file **result, struct morph_refusal *refusal)
{
	struct fabric_file *file;
	struct file *filp;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = fabric_file_alloc(fabric, grant, refusal);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	filp = anon_inode_getfile("[morph-grant]", &fabric_fops, file, O_RDWR | O_CLOEXEC);
	if (IS_ERR(filp)) {
		fabric_file_free(file);
		put_unused_fd(fd);
		return PTR_ERR(filp);
	}
	*result = filp;
	return fd;
}

int morph_chardev_add_fabric(struct morph_fabric *fabric)
{
	init_waitqueue_head(&interface_of(fabric)->hangup);
	cdev_init(&interface_of(fabric)->cdev, &fabric_fops);
	interface_of(fabric)->cdev.owner = THIS_MODULE;
	fabric->dev.devt = MKDEV(MAJOR(first_device), fabric->id);
	return cdev_device_add(&interface_of(fabric)->cdev, &fabric->dev);
}

void morph_chardev_del_fabric(struct morph_fabric *fabric)
{
	cdev_device_del(&interface_of(fabric)->cdev, &fabric->dev);
	WRITE_ONCE(interface_of(fabric)->hung_up, true);
	wake_up_all(&interface_of(fabric)->hangup);
}

/* --------------------------------------------------------------- slice file */

static const struct morph_command slice_commands[] = {
	MORPH_COMMAND(MORPH_FABRIC_INFO, morph_do_fabric_info, morph_fabric_info, seq, 0),
	MORPH_READ(MORPH_FABRIC_READ_ACCELERATORS, morph_do_read_accelerators),
	MORPH_READ(MORPH_FABRIC_READ_GUIDES, morph_do_read_guides),
	MORPH_READ(MORPH_FABRIC_READ_ELEMENTS, morph_do_read_elements),
	MORPH_READ(MORPH_FABRIC_READ_EDGES, morph_do_read_edges),
	MORPH_COMMAND(MORPH_SLICE_INFO, morph_do_slice_info, morph_slice_info, circuits, 0),
	MORPH_COMMAND_RESERVED(MORPH_CIRCUIT_PATH, morph_do_circuit_path, morph_circuit_path,
			       elements, 0, reserved),
	MORPH_COMMAND_RESERVED(MORPH_TXN_RUN, morph_do_txn_run, morph_txn_run, out_times,
			       MORPH_TXN_DRY_RUN | MORPH_TXN_EACH | MORPH_TXN_PREPARE, reserved),
	MORPH_COMMAND_RESERVED(MORPH_TXN_STEP, morph_do_txn_step, morph_txn_step, cookie, 0,
			       reserved),
	MORPH_COMMAND(MORPH_RANK_REPORT, morph_do_rank_report, morph_rank_act, out_health, 0),
	MORPH_COMMAND(MORPH_RANK_REPLACE, morph_do_rank_replace, morph_rank_act, out_health, 0),
	MORPH_COMMAND(MORPH_RANK_PREFER, morph_do_rank_prefer, morph_rank_act, out_health, 0),
	MORPH_COMMAND_RESERVED(MORPH_SLICE_POLICY, morph_do_slice_policy, morph_slice_policy,
			       reserved, 0, reserved),
	MORPH_COMMAND_RESERVED(MORPH_SCHEDULE_LOAD, morph_do_schedule_load, morph_schedule_load,
			       out_wrong_circuit, MORPH_SCHEDULE_LOOP, reserved),
	MORPH_COMMAND(MORPH_SCHEDULE_ACT, morph_do_schedule_act, morph_schedule_act, out_times, 0),
	MORPH_COMMAND(MORPH_SCHEDULE_INFO, morph_do_schedule_info, morph_schedule_info, steps, 0),
	MORPH_COMMAND_RESERVED(MORPH_RING_SETUP, morph_do_ring_setup, morph_ring_setup, reserved,
			       MORPH_RING_USER, reserved),
	MORPH_COMMAND(MORPH_RING_ACT, morph_do_ring_act, morph_ring_act, out_sleeps, 0),
};

static long slice_ioctl(struct file *filp, unsigned int number, unsigned long arg)
{
	struct morph_file *file = filp->private_data;
	struct morph_call call = {
		.fabric = file->slice->fabric,
		.file = file,
		.writes = filp->f_mode & FMODE_WRITE,
	};

	return morph_dispatch(&call, slice_commands, ARRAY_SIZE(slice_commands), number, arg);
}

static ssize_t slice_read(struct file *filp, char __user *buffer, size_t bytes, loff_t *offset)
{
	return morph_file_read(filp->private_data, buffer, bytes, filp->f_flags & O_NONBLOCK);
}

static __poll_t slice_poll(struct file *filp, struct poll_table_struct *wait)
{
	return morph_file_poll(filp->private_data, filp, wait);
}

/* Map the slice's state page at offset 0, or a queue at its own offset. */
static int slice_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct morph_file *file = filp->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u32 number = offset / MORPH_RING_OFFSET(1);

	if (!offset)
		return morph_state_mmap(file->slice, vma);
	if (offset != MORPH_RING_OFFSET(number))
		return -EINVAL;
	return morph_queue_mmap(file, number, vma);
}

static int slice_close(struct inode *inode, struct file *filp)
{
	morph_file_free(filp->private_data);
	return 0;
}

#ifdef CONFIG_PROC_FS
static void slice_show_fdinfo(struct seq_file *m, struct file *filp)
{
	static const char *const states[] = {
		[MORPH_SLICE_OK] = "ok",
		[MORPH_SLICE_REPAIRING] = "repairing",
		[MORPH_SLICE_DEGRADED] = "degraded",
		[MORPH_SLICE_LOST] = "lost",
		[MORPH_SLICE_DYING] = "dying",
	};
	struct morph_file *file = filp->private_data;
	struct morph_slice *slice = file->slice;

	morph_fabric_lock(slice->fabric);
	seq_printf(m, "morph-fabric:\t%u\n", slice->fabric->id);
	seq_printf(m, "morph-slice:\t%u\n", slice->number);
	seq_printf(m, "morph-name:\t%s\n", slice_tenancy(slice)->name);
	seq_printf(m, "morph-state:\t%s\n", states[slice_tenancy(slice)->state]);
	seq_printf(m, "morph-generation:\t%llu\n", slice->generation);
	morph_fabric_unlock(slice->fabric);
}
#endif

static int slice_open(struct inode *inode, struct file *filp);

/* The anonymous file and the node differ only in the way they are opened. */
static const struct file_operations slice_fops = {
	.owner = THIS_MODULE,
	.open = slice_open,
	.release = slice_close,
	.read = slice_read,
	.poll = slice_poll,
	.mmap = slice_mmap,
	.unlocked_ioctl = slice_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
#ifdef CONFIG_PROC_FS
	.show_fdinfo = slice_show_fdinfo,
#endif
};

int morph_chardev_slice_fd(struct morph_slice *slice, struct file **result,
			   struct morph_refusal *refusal)
{
	struct morph_file *file;
	struct file *filp;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = morph_file_alloc(slice, refusal);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	filp = anon_inode_getfile("[morph-slice]", &slice_fops, file, O_RDWR | O_CLOEXEC);
	if (IS_ERR(filp)) {
		morph_file_free(file);
		put_unused_fd(fd);
		return PTR_ERR(filp);
	}
	*result = filp;
	return fd;
}

/* ----------------------------------------------------- nodes of named slices */

/* Outlives the slice while the node's inode is open. */
struct slice_node {
	struct device dev;
	struct cdev cdev;
	struct morph_slice *slice;	/* with a reference */
	kuid_t uid;
	umode_t mode;
};

static struct slice_node *to_slice_node(const struct device *dev)
{
	return container_of(dev, struct slice_node, dev);
}

static int slice_open(struct inode *inode, struct file *filp)
{
	struct slice_node *node = container_of(inode->i_cdev, struct slice_node, cdev);
	struct morph_file *file;

	file = morph_file_alloc(node->slice, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static char *slice_devnode(COMPAT_DEVNODE_CONST struct device *dev, umode_t *mode, kuid_t *uid,
			   kgid_t *gid)
{
	const struct slice_node *node = to_slice_node(dev);

	if (mode)
		*mode = node->mode;
	if (uid)
		*uid = node->uid;
	if (gid)
		*gid = GLOBAL_ROOT_GID;
	return node_name(dev);
}

static void slice_node_release(struct device *dev)
{
	struct slice_node *node = to_slice_node(dev);

	xa_erase(&slice_minors, MINOR(dev->devt));
	morph_user_uncharge(node->slice->user, MORPH_RES_BYTES, sizeof(*node));
	morph_slice_put(node->slice);
	kfree(node);
}

static const struct device_type slice_node_type = {
	.name = "slice",
	.devnode = slice_devnode,
	.release = slice_node_release,
};

static struct slice_node *slice_node_alloc(struct morph_slice *slice, kuid_t uid, umode_t mode)
{
	static u32 next_minor;		/* node_lock */
	struct slice_node *node;
	u32 minor;

	lockdep_assert_held(&node_lock);
	node = kzalloc(sizeof(*node), GFP_KERNEL_ACCOUNT);
	if (!node)
		return NULL;
	if (xa_alloc_cyclic(&slice_minors, &minor, node, XA_LIMIT(FIRST_SLICE_MINOR, MINORS - 1),
			    &next_minor, GFP_KERNEL_ACCOUNT) < 0) {
		kfree(node);
		return NULL;
	}
	/* One for each slice, so charge it beyond the limit if necessary. */
	morph_user_charge_anyway(slice->user, MORPH_RES_BYTES, sizeof(*node));
	kref_get(&slice->kref);
	node->slice = slice;
	node->uid = uid;
	node->mode = mode;
	device_initialize(&node->dev);
	node->dev.class = morph_class;
	node->dev.type = &slice_node_type;
	node->dev.devt = MKDEV(MAJOR(first_device), minor);
	cdev_init(&node->cdev, &slice_fops);
	node->cdev.owner = THIS_MODULE;
	return node;
}

/* Remove the node; the caller drops its device after it has released node_lock. */
static struct device *slice_node_remove(struct morph_slice *slice)
{
	struct device *dev = slice_interface(slice)->node_dev;

	lockdep_assert_held(&node_lock);
	if (dev)
		cdev_device_del(slice_interface(slice)->node_cdev, dev);
	slice_interface(slice)->node_dev = NULL;
	slice_interface(slice)->node_cdev = NULL;
	return dev;
}

/* Add a node in place of the present one, since both cannot have the name at once. */
static int slice_node_add(struct morph_slice *slice, kuid_t uid, umode_t mode)
{
	struct slice_node *node;
	int ret;

	node = slice_node_alloc(slice, uid, mode);
	if (!node)
		return -ENOMEM;
	ret = dev_set_name(&node->dev, "slice%u", slice->number);
	if (!ret) {
		put_device(slice_node_remove(slice));
		ret = cdev_device_add(&node->cdev, &node->dev);
	}
	if (ret) {
		put_device(&node->dev);
		return ret;
	}
	slice_interface(slice)->node_dev = &node->dev;
	slice_interface(slice)->node_cdev = &node->cdev;
	return 0;
}

static bool slice_ends(struct morph_slice *slice)
{
	bool dying;

	morph_fabric_lock(slice->fabric);
	dying = slice->dying;
	morph_fabric_unlock(slice->fabric);
	return dying;
}

/*
 * Create the node of a slice with this owner and mode from the start; without memory, restore the
 * previous node. The caller holds a slice reference. node_lock orders this with the end of the
 * slice: either the slice is not dying yet, and its end removes the node, or there is no node.
 */
static int slice_set_node(struct morph_slice *slice, kuid_t uid, umode_t mode)
{
	bool had;
	int ret;

	mutex_lock(&node_lock);
	had = slice_interface(slice)->node_dev;
	ret = slice_ends(slice) ? -ENODEV : slice_node_add(slice, uid, mode);
	if (!ret) {
		morph_fabric_lock(slice->fabric);
		slice_tenancy(slice)->uid = uid;
		slice_tenancy(slice)->mode = mode;
		morph_fabric_unlock(slice->fabric);
	} else if (had && !slice_interface(slice)->node_dev &&
		   slice_node_add(slice, slice_tenancy(slice)->uid, slice_tenancy(slice)->mode)) {
		dev_err(&slice->fabric->dev,
			"no memory for the node of slice %u; set its mode again\n",
			slice->number);
	}
	mutex_unlock(&node_lock);
	return ret;
}

int morph_chardev_create_slice(struct morph_fabric *fabric, const struct morph_slice_params *params,
			       struct morph_slice **result, struct morph_refusal *refusal)
{
	struct morph_slice *slice;
	int ret;

	ret = morph_slice_create(fabric, params, &slice, refusal);
	*result = slice;
	if (ret || !slice || !slice_tenancy(slice)->named)
		return ret;
	ret = slice_set_node(slice, slice_tenancy(slice)->uid, slice_tenancy(slice)->mode);
	if (!ret)
		return 0;
	morph_fabric_lock(fabric);
	if (!slice->dying)
		morph_slice_release(slice, 0);
	morph_fabric_unlock(fabric);
	morph_slice_put(slice);
	*result = NULL;
	return ret;
}

int morph_chardev_change_slice(struct morph_slice *slice, kuid_t uid, umode_t mode,
			       struct morph_refusal *refusal)
{
	int ret;

	if (!slice_tenancy(slice)->named)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_STATE, 0, 0,
				    "only a named slice has a node with owner and mode");
	if (mode & ~0777)
		return morph_refuse(refusal, -EINVAL, MORPH_REASON_ARGUMENT, 0, 0,
				    "mode must have permission bits only");
	ret = slice_set_node(slice, uid, mode);
	if (ret)
		return ret;
	morph_fabric_lock(slice->fabric);
	slice->fabric->seq++;
	morph_netlink_slice(slice);
	morph_fabric_unlock(slice->fabric);
	return 0;
}

void morph_chardev_del_slice(struct morph_slice *slice)
{
	struct device *dev;

	mutex_lock(&node_lock);
	dev = slice_node_remove(slice);
	mutex_unlock(&node_lock);
	put_device(dev);
}

/* ------------------------------------------------------------------- module */

int morph_chardev_init(void)
{
	int ret;

	morph_class = COMPAT_CLASS_CREATE("morph");
	if (IS_ERR(morph_class))
		return PTR_ERR(morph_class);
	morph_class->devnode = fabric_devnode;
	ret = alloc_chrdev_region(&first_device, 0, MINORS, "morph");
	if (ret)
		class_destroy(morph_class);
	return ret;
}

void morph_chardev_exit(void)
{
	unregister_chrdev_region(first_device, MINORS);
	class_destroy(morph_class);
	xa_destroy(&slice_minors);
}
