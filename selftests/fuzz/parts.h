/* SPDX-License-Identifier: GPL-2.0-only */
/* Inputs of several parts, in the form of the checkers. */
#ifndef SELFTESTS_FUZZ_PARTS_H
#define SELFTESTS_FUZZ_PARTS_H

#include "../../libmorph/check/check.h"
#include "fuzz.h"

/* Read the length of a part and its available data, which the caller frees. */
static inline struct morph_check_bytes eat_part(struct input *input)
{
	size_t bytes = eat32(input);

	if (bytes > input->left)
		bytes = input->left;
	return (struct morph_check_bytes){ .data = eat_bytes(input, bytes), .bytes = bytes };
}

#endif /* SELFTESTS_FUZZ_PARTS_H */
