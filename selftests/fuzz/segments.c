// SPDX-License-Identifier: GPL-2.0-only
/* The input is a schedule of segments, in Harvest's form. */
#include <errno.h>

#include <morph/formats.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	void *text = eat_bytes(&input, size);
	struct morph_segments *segments = morph_segments_new();
	struct morph_segments_about about;
	char why[256] = "";
	int ret = morph_segments_read(segments, text, size, why, sizeof(why));

	MUST(!ret == !*why);
	MUST(!ret || ret == -EINVAL || ret == -E2BIG);
	morph_segments_about(segments, &about);
	for (uint32_t step = 0; step < about.steps; step++) {
		for (uint32_t at = 0; at < morph_segments_links(segments, step); at++) {
			struct morph_link link;

			MUST(!morph_segments_link(segments, step, at, &link));
			MUST(link.src < about.ranks && link.dst < about.ranks &&
			     link.src != link.dst && link.capacity > 0);
		}
	}
	MUST(!ret || !about.steps);
	morph_segments_free(segments);
	free(text);
	return 0;
}
