/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the device files, private to chardev.c and ioctl*.c.
 *
 * A handler gets the whole structure in kernel memory, reads and fills it, and returns 0 or a
 * negative errno. The dispatcher copies the structure back in either case. A handler that
 * creates a file stores it in the call. The dispatcher installs the file only after the results
 * have been copied to the caller.
 *
 * The dispatcher checks that the answer can be written before it calls the handler. Another thread
 * may still unmap the memory meanwhile. Then the dispatcher undoes what the handler has created
 * (EFAULT), but reports the success of a change that stands.
 */
#ifndef MORPH_IOCTL_H
#define MORPH_IOCTL_H

#include "core/base/base.h"
#include "core/interface/interface.h"
#include "core/slice/slice.h"
#include "core/txn/txn.h"

struct morph_call {
	struct morph_fabric *fabric;
	struct morph_file *file;	/* NULL on the fabric file */
	struct morph_user *user;	/* on the fabric file: user charged for its slices */
	bool writes;			/* the file was opened for writing */
	struct morph_refusal refusal;
	u32 answer_bytes;		/* size of the head until the whole is copied in */
	/* A file to be installed as new_fd. */
	struct file *new_file;
	int new_fd;
	struct morph_slice *new_slice;	/* slice of that file, with a reference, or NULL */
	/* Removes what the handler has created, if the answer cannot be written; or NULL. */
	void (*undo)(struct morph_call *call);
	bool stands;			/* the change stands even if the answer cannot be written */
	union {
		struct morph_head head;
		struct morph_fabric_info fabric_info;
		struct morph_fabric_read fabric_read;
		struct morph_slice_create slice_create;
		struct morph_slice_delete slice_delete;
		struct morph_grant_create grant_create;
		struct morph_slice_info slice_info;
		struct morph_circuit_path circuit_path;
		struct morph_txn_run txn_run;
		struct morph_txn_step txn_step;
		struct morph_rank_act rank_act;
		struct morph_slice_policy slice_policy;
		struct morph_schedule_load schedule_load;
		struct morph_schedule_act schedule_act;
		struct morph_schedule_info schedule_info;
		struct morph_ring_setup ring_setup;
		struct morph_ring_act ring_act;
	};
};

/**
 * struct morph_command - a row of a file type's table, at the command's number
 * @run: handler; NULL: no such command
 * @bytes: size of the structure
 * @least: its size in the first version
 * @flags: flags that are known
 * @reserved: offset of a 32-bit field that must be zero, or 0
 */
struct morph_command {
	int (*run)(struct morph_call *call);
	u16 bytes;
	u16 least;
	u32 flags;
	u16 reserved;
};

/* @last: the last field of the structure's first version */
#define MORPH_COMMAND(number, handler, type, last, known)	\
	[_IOC_NR(number)] = {					\
		.run = handler,					\
		.bytes = sizeof(struct type),			\
		.least = offsetofend(struct type, last),	\
		.flags = known,					\
	}

#define MORPH_COMMAND_RESERVED(number, handler, type, last, known, zero)	\
	[_IOC_NR(number)] = {					\
		.run = handler,					\
		.bytes = sizeof(struct type),			\
		.least = offsetofend(struct type, last),	\
		.flags = known,					\
		.reserved = offsetof(struct type, zero),	\
	}

/* A row for a command that reads a range of entries. */
#define MORPH_READ(number, handler)					\
	MORPH_COMMAND_RESERVED(number, handler, morph_fabric_read, seq, 0, reserved)

/* Run a command of a table. */
long morph_dispatch(struct morph_call *call, const struct morph_command *commands, u32 count,
		    unsigned int number, unsigned long arg);

/* Return -EBADF if the file was not opened for writing. */
int morph_check_writes(struct morph_call *call);

/* Refuse a field of the request. */
#define morph_refuse_field(call, error, ...) \
	morph_refuse(&(call)->refusal, error, MORPH_REASON_ARGUMENT, 0, 0, __VA_ARGS__)

/*
 * Check that an answer of at most a page can be written, before anything is changed. Writes the
 * first and the last byte of @copy, which are there already. Return 0 or -EFAULT.
 */
int morph_check_writable(void __user *to, const void *copy, size_t bytes);

/* ------------------------------------------------------------------- arrays */

/* The size of an entry in the first version. @last: the last field of that version */
#define MORPH_ENTRY_LEAST(type, last)	offsetofend(struct type, last)

/*
 * Check that an entry of the first version, of @least bytes, fits in the stride. Programs of that
 * version pass this stride, even if the structure has grown since.
 */
int morph_array_check(struct morph_call *call, const struct morph_array *array, size_t least,
		      const char *name);
/* Copy one entry in. If it is longer than the kernel's version, the rest must be zero. */
int morph_array_get(struct morph_call *call, const struct morph_array *array, u32 index,
		    void *entry, size_t bytes, const char *name);
/*
 * Copy entries out, from position @first on. Cut them to a shorter stride, and fill the rest of a
 * longer one with zeros.
 */
int morph_array_put(const struct morph_array *array, u32 first, const void *entries, u32 count,
		    size_t bytes);
/* Fill an array of __u32 in the caller's memory, or in memory that the caller frees by kvfree(). */
int morph_array_fill_u32(struct morph_call *call, const struct morph_array *array, u32 *values,
			 const char *name);
u32 *morph_array_get_u32(struct morph_call *call, const struct morph_array *array,
			 const char *name);
/*
 * Return a whole array: @array->count becomes @count. With ptr 0, copy nothing. -EMSGSIZE if the
 * buffer is too small.
 */
int morph_array_answer(struct morph_call *call, struct morph_array *array, const void *entries,
		       u32 count, size_t bytes, const char *name);

/* ----------------------------------------------------------------- handlers */

int morph_do_fabric_info(struct morph_call *call);
int morph_do_read_accelerators(struct morph_call *call);
int morph_do_read_guides(struct morph_call *call);
int morph_do_read_elements(struct morph_call *call);
int morph_do_read_edges(struct morph_call *call);
int morph_do_slice_create(struct morph_call *call);
int morph_do_slice_delete(struct morph_call *call);
int morph_do_grant_create(struct morph_call *call);

int morph_do_slice_info(struct morph_call *call);
int morph_do_circuit_path(struct morph_call *call);
int morph_do_txn_run(struct morph_call *call);
int morph_do_txn_step(struct morph_call *call);
int morph_do_rank_report(struct morph_call *call);
int morph_do_rank_prefer(struct morph_call *call);
int morph_do_rank_replace(struct morph_call *call);
int morph_do_slice_policy(struct morph_call *call);
int morph_do_schedule_load(struct morph_call *call);
int morph_do_schedule_act(struct morph_call *call);
int morph_do_schedule_info(struct morph_call *call);
int morph_do_ring_setup(struct morph_call *call);
int morph_do_ring_act(struct morph_call *call);

#endif /* MORPH_IOCTL_H */
