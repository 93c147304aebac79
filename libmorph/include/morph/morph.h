/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph: programmable photonic fabrics between accelerators, for programs. This header has the
 * calls of libmorph.so; those of libmorph-plan.so are in <morph/plan.h>.
 *
 * DOC: Overview
 *
 * A program finds a fabric, requests a slice of accelerators, lights circuits between the slice's
 * ranks, and waits for events:
 *
 *	struct morph_ctx *ctx;
 *	struct morph_fabric *fabric;
 *	struct morph_request *request;
 *	struct morph_slice *slice;
 *
 *	if (morph_ctx_new(NULL, &ctx))
 *		return 1;
 *	if (morph_fabric_open(ctx, "0", &fabric))
 *		errx(1, "%s", morph_error_text(ctx));
 *	request = morph_request_new(ctx);
 *	morph_request_set_count(request, 4);
 *	if (morph_slice_create(fabric, request, &slice))
 *		errx(1, "%s", morph_error_text(ctx));
 *	morph_slice_light_ring(slice, NULL, NULL);
 *
 * The library returns the kernel's state as snapshots: struct morph_object, immutable, freed by the
 * caller. They have the attributes (and the attribute names) of the netlink specification, over
 * netlink and over a device. Programs build requests with struct morph_request and struct
 * morph_txn.
 *
 * DOC: Results
 *
 * A call that returns int returns 0 or a count on success, and a negative errno on failure. The
 * errnos are those of <linux/morph.h>. After a failure, morph_error_text() gives a sentence.
 * morph_error_get() gives the details that the kernel reported: the broken rule, the hardware, the
 * available and the requested amount. A pointer given through an argument is NULL when the call
 * failed, unless the call says otherwise. The library prints nothing and has no global state.
 *
 * DOC: Lifetime and threads
 *
 * A context and everything made with it belong to one thread at a time; threads take a context
 * each. The context is freed last. Every free and close call accepts NULL. Snapshots do not refer
 * to their context and outlive it.
 *
 * DOC: Options
 *
 * Structures of options begin with their size, so that they can grow. Make them with MORPH_OPTS();
 * a field left out is zero and means the default. A NULL pointer means all defaults. Options that
 * this library does not know must be zero, else the call fails with E2BIG.
 *
 * DOC: Timeouts
 *
 * Timeouts are nanoseconds: 0 checks and returns, a negative one waits forever.
 */
#ifndef MORPH_MORPH_H
#define MORPH_MORPH_H

#include <morph/types.h>
#include <morph/object.h>
#include <morph/names.h>
#include <morph/fabric.h>
#include <morph/request.h>
#include <morph/slice.h>
#include <morph/txn.h>
#include <morph/event.h>
#include <morph/admin.h>
#include <morph/controller.h>
#include <morph/steps.h>
#include <morph/running.h>
#include <morph/slice_phases.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MORPH_LIBRARY_MAJOR 1
#define MORPH_LIBRARY_MINOR 0
#define MORPH_LIBRARY_PATCH 0

/**
 * struct morph_ctx_opts - options of morph_ctx_new()
 * @sz: size of this structure
 * @record_path: write all messages between library and kernel to this file; the default is the
 *	environment's MORPH_RECORD, unless set-user-ID
 * @replay_path: do not talk to a kernel; answer from this recording, and abort the program with a
 *	message when it asks for something else
 * @dump_retries: how often a torn dump is repeated, 0 for 8
 * @unrecorded: 1 for a context of planners only, which asks no kernel: ignore MORPH_RECORD
 */
struct morph_ctx_opts {
	size_t sz;
	const char *record_path;
	const char *replay_path;
	uint32_t dump_retries;
	uint32_t unrecorded;
};

/**
 * morph_ctx_new() - make a context
 * @opts: options, or NULL
 * @out: the context, freed by morph_ctx_free(); NULL on failure
 *
 * Opens nothing yet. The first call that needs a device or socket opens it, so that a container
 * with only the fd of a device can use the library.
 *
 * Return: 0, -ENOMEM, -E2BIG, -EINVAL (record and replay at once), or the error of open() for the
 * recording.
 */
int morph_ctx_new(const struct morph_ctx_opts *opts, struct morph_ctx **out);

/**
 * morph_ctx_free() - free a context
 * @ctx: the context, or NULL; nothing made with it may be used afterwards, except snapshots
 */
void morph_ctx_free(struct morph_ctx *ctx);

/**
 * morph_library_version() - the version of the library that is loaded
 *
 * Return: a static string such as "0.1.0". Never fails.
 */
const char *morph_library_version(void);

/**
 * morph_error_set() - note a failure, as the calls of the library do
 * @ctx: the context; NULL notes nothing
 * @code: positive errno; 0 clears the last failure
 * @format: the sentence, as for printf()
 * @...: its arguments
 *
 * Libraries above this one note the errors of their calls in it.
 *
 * Return: -@code.
 */
int morph_error_set(struct morph_ctx *ctx, int code, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/**
 * morph_error_text() - read a sentence about the last call that failed
 * @ctx: the context
 *
 * It has the request, then the kernel's sentence if there is one, the details that this sentence
 * lacks, and the attribute that the kernel rejects. Device and netlink give the same sentence.
 *
 * Return: text that is valid until the next call; never NULL.
 */
const char *morph_error_text(const struct morph_ctx *ctx);

/**
 * struct morph_error - the details of the last call that failed
 * @sz: size of this structure, set by the caller: MORPH_OPTS()
 * @code: positive errno; 0 if no call has failed yet, or if a later call that asks the kernel has
 *	succeeded
 * @reason: enum morph_reason, the rule that the request broke; MORPH_REASON_NONE: not known
 * @part: enum morph_part, the kind of hardware in the way; MORPH_PART_NONE: none
 * @index: index of that hardware, or number of another object in the sentence; MORPH_ANY: not a
 *	single one
 * @have: available amount, in the unit of @reason; 0: not known
 * @need: requested amount, in the unit of @reason; 0: not known
 * @kernel_text: the kernel's sentence with its numbers, or ""; valid until the next call
 * @attribute: name of the attribute that the kernel rejects, with the names of the nests around it
 *	("change.src-rank"), or ""; valid until the next call
 */
struct morph_error {
	size_t sz;
	int32_t code;
	uint32_t reason;
	uint32_t part;
	uint32_t index;
	int64_t have;
	int64_t need;
	const char *kernel_text;
	const char *attribute;
};

/**
 * morph_error_get() - read the details of the last failure
 * @ctx: the context
 * @out: the details, within @out->sz. Never fails
 */
void morph_error_get(const struct morph_ctx *ctx, struct morph_error *out);

#ifdef __cplusplus
}
#endif

#endif /* MORPH_MORPH_H */
