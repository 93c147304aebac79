// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is execution traces of Chakra for the ranks from 0 on, each with its length before it.
 */
#include <errno.h>

#include "../../libmorph/internal/formats.h"
#include "parts.h"
#include "transport.h"

static void check_rank(const struct morph_trace *trace, uint32_t rank)
{
	struct morph_operation operation;
	uint32_t count = 0;

	while (!morph_trace_operation(trace, rank, count, &operation))
		count++;
	for (uint32_t at = 0; at < count; at++) {
		MUST(!morph_trace_operation(trace, rank, at, &operation));
		MUST(operation.kind <= MORPH_TRACE_COLLECTIVE);
		MUST(strlen(operation.name) < SIZE_MAX && strlen(operation.group) < SIZE_MAX);
		for (uint32_t which = 0; which < operation.dependencies; which++)
			MUST(operation.waits_for[which] < count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input none = { 0 }, input = { data, size };
	struct morph_ctx *ctx = transport_ctx(&none, true);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_trace *trace = morph_trace_new();
	char why[256] = "";
	bool read = false;
	int ret;

	for (uint32_t rank = 0; input.left && rank < 64; rank++) {
		struct morph_check_bytes file = eat_part(&input);

		ret = morph_trace_read(trace, rank, file.data, file.bytes, why, sizeof(why));
		MUST(!ret || (ret == -E2BIG && *why) ||
		     (ret == -EINVAL && !strncmp(why, "byte ", 5)));
		read |= !ret;
		check_rank(trace, rank);
		free((void *)file.data);
	}
	why[0] = '\0';
	ret = read ? morph_trace_convert(trace, collective, why, sizeof(why)) : 0;
	MUST(!ret || (ret == -E2BIG && *why) ||
	     ((ret == -EINVAL || ret == -EBADMSG) && !strncmp(why, "rank ", 5)));
	morph_trace_free(trace);
	morph_collective_free(collective);
	morph_ctx_free(ctx);
	return 0;
}
