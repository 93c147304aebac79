// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is an algorithm in MSCCL's XML. The library must write each algorithm that it reads,
 * and read its own output.
 */
#include <errno.h>

#include <morph/formats.h>

#include "transport.h"

/* Each error has a reason as a sentence, and a line number except for limits. */
static void check_refusal(int ret, const char *why)
{
	MUST(ret == -EINVAL || ret == -EBADMSG || ret == -E2BIG);
	MUST(ret == -E2BIG ? *why : !strncmp(why, "line ", 5));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input none = { 0 }, input = { data, size };
	struct morph_ctx *ctx = transport_ctx(&none, true);
	struct morph_collective *collective = morph_collective_new(ctx);
	void *text = eat_bytes(&input, size);
	char why[256] = "";
	int ret = morph_msccl_read(collective, text, size, 1 << 20, why, sizeof(why));

	free(text);
	if (ret) {
		check_refusal(ret, why);
	} else {
		ssize_t bytes = morph_msccl_write(collective, "a", NULL, 0, why, sizeof(why));

		MUST(bytes > 0 || bytes == -E2BIG);
		text = malloc(bytes > 0 ? (size_t)bytes : 1);
		if (bytes > 0) {
			MUST(morph_msccl_write(collective, "a", text, (size_t)bytes, NULL, 0) ==
			     bytes);
			ret = morph_msccl_read(collective, text, (size_t)bytes, 1 << 20, why,
					       sizeof(why));
			MUST(!ret || ret == -E2BIG);
		}
		free(text);
	}
	morph_collective_free(collective);
	morph_ctx_free(ctx);
	return 0;
}
