// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatcher for the commands of both kinds of files: it checks sizes, flags and reserved fields,
 * and copies the results and the reason of a failure. Also access to arrays.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core/base/base.h"
#include "core/slice/slice.h"
#include "ioctl.h"

/* Longest structure and longest array entry that are accepted. */
#define MOST_BYTES	4096u

/* ------------------------------------------------------------------ answers */

int morph_check_writable(void __user *to, const void *copy, size_t bytes)
{
	const u8 *from = copy;
	u8 __user *at = to;

	BUILD_BUG_ON(MOST_BYTES > PAGE_SIZE);	/* no page lies between the two bytes */
	if (put_user(from[0], at) || put_user(from[bytes - 1], at + bytes - 1))
		return -EFAULT;
	return 0;
}

/* Copy the reason, cut to the caller's buffer. An error here does not fail the call. */
static void put_detail(struct morph_call *call)
{
	size_t bytes = min_t(size_t, call->head.detail_len, sizeof(call->refusal.text));
	char __user *buffer = u64_to_user_ptr(call->head.detail_ptr);

	if (!buffer || !bytes)
		return;
	bytes = strnlen(call->refusal.text, bytes - 1);
	if (!copy_to_user(buffer, call->refusal.text, bytes))
		put_user('\0', buffer + bytes);
}

static void fill_head(struct morph_call *call, int ret)
{
	const struct morph_refusal *refusal = &call->refusal;
	struct morph_head *head = &call->head;

	head->reason = ret ? refusal->reason : MORPH_REASON_NONE;
	head->part = ret ? refusal->part : MORPH_PART_NONE;
	head->index = ret ? refusal->index : 0;
	head->have = ret ? refusal->have : 0;
	head->need = ret ? refusal->need : 0;
	if (ret)
		put_detail(call);
}

/* Install the new file for its owner, or undo its creation in reverse order. */
static void settle_new_file(struct morph_call *call, int ret)
{
	struct morph_slice *slice = call->new_slice;

	if (!call->new_file)
		return;
	if (!ret) {
		fd_install(call->new_fd, call->new_file);
	} else {
		fput(call->new_file);
		put_unused_fd(call->new_fd);
	}
	if (!slice)
		return;
	if (ret) {
		morph_fabric_lock(call->fabric);
		if (!slice->dying)
			morph_slice_release(slice, 0);
		morph_fabric_unlock(call->fabric);
	}
	morph_slice_put(slice);
}

/* ----------------------------------------------------------------- requests */

/* Memory for the whole structure, not only its head. */
static void *call_structure(struct morph_call *call)
{
	return (char *)call + offsetof(struct morph_call, head);
}

/* Copy the structure in. If it is longer than the kernel's version, the rest must be zero. */
static int get_structure(struct morph_call *call, const struct morph_command *command,
			 void __user *user, u32 bytes)
{
	int ret;

	if (bytes < command->least)
		return morph_refuse_field(call, -EINVAL,
					  "size is %u, must be at least %u",
					  bytes, command->least);
	if (bytes > MOST_BYTES)
		return morph_refuse_field(call, -E2BIG, "size is %u, must be at most %u",
					  bytes, MOST_BYTES);
	ret = copy_struct_from_user(call_structure(call), command->bytes, user, bytes);
	if (ret == -E2BIG)
		return morph_refuse_field(call, ret,
					  "the structure must be zero beyond its first %u bytes",
					  command->bytes);
	if (!ret)
		call->answer_bytes = min_t(u32, bytes, command->bytes);
	return ret;
}

static int check_structure(struct morph_call *call, const struct morph_command *command)
{
	u32 unknown = call->head.flags & ~command->flags;

	if (unknown)
		return morph_refuse_field(call, -EOPNOTSUPP,
					  "flags 0x%x are unknown, 0x%x are known", unknown,
					  command->flags);
	if (command->reserved && *(u32 *)(call_structure(call) + command->reserved))
		return morph_refuse_field(call, -EOPNOTSUPP,
					  "the reserved field at byte %u must be zero",
					  command->reserved);
	return 0;
}

/* Checked without the lock, to skip copies after the removal of the fabric. */
static bool call_is_late(const struct morph_call *call)
{
	if (READ_ONCE(call->fabric->state) == MORPH_FABRIC_GONE)
		return true;
	return call->file && READ_ONCE(call->file->slice->dying);
}

/*
 * Commands that a file opened for reading permits. Those with verbs that change something call
 * morph_check_writes() for these verbs.
 */
static bool permits_reading(unsigned int number)
{
	switch (_IOC_NR(number)) {
	case _IOC_NR(MORPH_FABRIC_INFO):
	case _IOC_NR(MORPH_FABRIC_READ_ACCELERATORS):
	case _IOC_NR(MORPH_FABRIC_READ_GUIDES):
	case _IOC_NR(MORPH_FABRIC_READ_ELEMENTS):
	case _IOC_NR(MORPH_FABRIC_READ_EDGES):
	case _IOC_NR(MORPH_SLICE_INFO):
	case _IOC_NR(MORPH_CIRCUIT_PATH):
	case _IOC_NR(MORPH_TXN_STEP):
	case _IOC_NR(MORPH_SCHEDULE_ACT):
	case _IOC_NR(MORPH_SCHEDULE_INFO):
	case _IOC_NR(MORPH_RING_ACT):
		return true;
	}
	return false;
}

int morph_check_writes(struct morph_call *call)
{
	if (call->writes)
		return 0;
	return morph_refuse(&call->refusal, -EBADF, MORPH_REASON_STATE, 0, 0,
			    "the file was opened for reading only");
}

static int run_command(struct morph_call *call, const struct morph_command *command,
		       unsigned int number, void __user *user, u32 bytes)
{
	int ret;

	if (call_is_late(call))
		return morph_refuse(&call->refusal, -ENODEV, MORPH_REASON_STATE, 0, 0,
				    call->file ? "the slice is gone" : "the fabric is gone");
	ret = permits_reading(number) ? 0 : morph_check_writes(call);
	if (!ret)
		ret = get_structure(call, command, user, bytes);
	if (!ret)
		ret = check_structure(call, command);
	if (!ret)
		ret = morph_check_writable(user, call_structure(call), call->answer_bytes);
	if (!ret)
		ret = command->run(call);
	return ret;
}

long morph_dispatch(struct morph_call *call, const struct morph_command *commands, u32 count,
		    unsigned int number, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	const struct morph_command *command;
	u32 bytes, index = _IOC_NR(number);
	int ret;

	if (_IOC_TYPE(number) != MORPH_IOC || index >= count)
		return -ENOTTY;
	command = &commands[array_index_nospec(index, count)];
	if (!command->run)
		return -ENOTTY;
	if (get_user(bytes, (u32 __user *)user))
		return -EFAULT;
	if (bytes < sizeof(call->head))
		return call_is_late(call) ? -ENODEV : -EINVAL;
	/* Copy the head first: it says where to put the reason of any refusal. */
	if (copy_from_user(&call->head, user, sizeof(call->head)))
		return -EFAULT;
	call->answer_bytes = sizeof(call->head);
	ret = run_command(call, command, number, user, bytes);
	call->head.size = bytes;	/* it may have changed meanwhile */
	fill_head(call, ret);
	if (copy_to_user(user, call_structure(call), call->answer_bytes) && !ret && !call->stands)
		ret = -EFAULT;
	settle_new_file(call, ret);
	if (ret && call->undo)
		call->undo(call);
	return ret;
}

/* ------------------------------------------------------------------- arrays */

static void __user *array_at(const struct morph_array *array, u32 index)
{
	return u64_to_user_ptr(array->ptr + (u64)array->stride * index);
}

int morph_array_check(struct morph_call *call, const struct morph_array *array, size_t least,
		      const char *name)
{
	if (array->stride < least)
		return morph_refuse_field(call, -EINVAL, "%s.stride is %u, must be at least %zu",
					  name, array->stride, least);
	if (array->stride > MOST_BYTES)
		return morph_refuse_field(call, -E2BIG, "%s.stride is %u, must be at most %u",
					  name, array->stride, MOST_BYTES);
	return 0;
}

int morph_array_get(struct morph_call *call, const struct morph_array *array, u32 index,
		    void *entry, size_t bytes, const char *name)
{
	int ret;

	ret = copy_struct_from_user(entry, bytes, array_at(array, index), array->stride);
	if (ret == -E2BIG)
		return morph_refuse_field(call, ret,
					  "%s[%u] must be zero beyond its first %zu bytes", name,
					  index, bytes);
	return ret;
}

int morph_array_put(const struct morph_array *array, u32 first, const void *entries, u32 count,
		    size_t bytes)
{
	size_t known = min_t(size_t, array->stride, bytes);
	void __user *to;
	u32 i;

	if (array->stride == bytes)
		return copy_to_user(array_at(array, first), entries, bytes * count) ? -EFAULT : 0;
	for (i = 0; i < count; i++) {
		to = array_at(array, first + i);
		if (copy_to_user(to, entries + bytes * i, known) ||
		    clear_user(to + known, array->stride - known))
			return -EFAULT;
	}
	return 0;
}

/* Copy a few values. This has less work than copy_from_user(), which checks both buffers. */
static int get_few_u32(u32 *values, const u32 __user *from, u32 count)
{
	u32 i;

	if (!user_read_access_begin(from, array_size(count, sizeof(*values))))
		return -EFAULT;
	for (i = 0; i < count; i++)
		unsafe_get_user(values[i], &from[i], fault);
	user_read_access_end();
	return 0;
fault:
	user_read_access_end();
	return -EFAULT;
}

int morph_array_fill_u32(struct morph_call *call, const struct morph_array *array, u32 *values,
			 const char *name)
{
	u32 i;
	int ret;

	ret = morph_array_check(call, array, sizeof(*values), name);
	if (!ret && array->stride == sizeof(*values) && array->count <= MORPH_FEW_GUIDES)
		return get_few_u32(values, array_at(array, 0), array->count);
	if (!ret && array->stride == sizeof(*values))
		return copy_from_user(values, array_at(array, 0),
				      array_size(array->count, sizeof(*values))) ? -EFAULT : 0;
	for (i = 0; i < array->count && !ret; i++)
		ret = morph_array_get(call, array, i, &values[i], sizeof(*values), name);
	return ret;
}

u32 *morph_array_get_u32(struct morph_call *call, const struct morph_array *array,
			 const char *name)
{
	u32 *values;
	int ret;

	values = kvmalloc_array(array->count, sizeof(*values), GFP_KERNEL_ACCOUNT);
	if (!values)
		return ERR_PTR(-ENOMEM);
	ret = morph_array_fill_u32(call, array, values, name);
	if (!ret)
		return values;
	kvfree(values);
	return ERR_PTR(ret);
}

int morph_array_answer(struct morph_call *call, struct morph_array *array, const void *entries,
		       u32 count, size_t bytes, const char *name)
{
	u32 room = array->count;

	array->count = count;
	if (!array->ptr)
		return 0;
	if (room < count) {
		morph_refuse_field(call, -EMSGSIZE, "%s has room for %u entries, there are %u",
				   name, room, count);
		call->refusal.have = room;
		call->refusal.need = count;
		return -EMSGSIZE;
	}
	return morph_array_put(array, 0, entries, count, bytes);
}
