// SPDX-License-Identifier: GPL-2.0-only
/* The input is a profile of Open MPI's pml_monitoring. */
#include <errno.h>

#include <morph/formats.h>

#include "fuzz.h"

#define RANKS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	void *text = eat_bytes(&input, size);
	uint64_t *bytes = calloc(RANKS * RANKS, sizeof(*bytes));
	char why[256] = "";
	int ret = morph_monitoring_read(bytes, RANKS, text, size, why, sizeof(why));

	MUST(!ret == !*why);
	MUST(!ret || ret == -EINVAL);
	free(bytes);
	free(text);
	return 0;
}
