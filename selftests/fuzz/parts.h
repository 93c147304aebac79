/* SPDX-License-Identifier: GPL-2.0-only */
/* Inputs of several parts, as the checkers read them. */
#ifndef SELFTESTS_FUZZ_PARTS_H
#define SELFTESTS_FUZZ_PARTS_H

#include "../../libmorph/check/check.h"
#include "fuzz.h"

/* Its length, and as much of it as there is; the data are to be freed. */
static inline struct morph_check_bytes eat_part(struct input *input)
{
	size_t bytes = eat32(input);

	if (bytes > input->left)
		bytes = input->left;
	return (struct morph_check_bytes){ .data = eat_bytes(input, bytes), .bytes = bytes };
}

#endif /* SELFTESTS_FUZZ_PARTS_H */
