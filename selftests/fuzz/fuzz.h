/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of the targets. A target is one function that accepts any bytes. On an error it ends
 * the process, by a sanitizer or by MUST(). With libFuzzer it gets inputs that reach new code, with
 * replay.c the given files.
 */
#ifndef SELFTESTS_FUZZ_H
#define SELFTESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that must hold for every input. */
#define MUST(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* The input, consumed from the front; after its end every read returns zeros. */
struct input {
	const uint8_t *data;
	size_t left;
};

static inline uint8_t eat8(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->data++;
}

static inline uint16_t eat16(struct input *input)
{
	uint16_t low = eat8(input);

	return (uint16_t)(low | eat8(input) << 8);
}

static inline uint32_t eat32(struct input *input)
{
	uint32_t low = eat16(input);

	return low | (uint32_t)eat16(input) << 16;
}

static inline uint64_t eat64(struct input *input)
{
	uint64_t low = eat32(input);

	return low | (uint64_t)eat32(input) << 32;
}

/*
 * Copy bytes into memory of exactly their size, so that a sanitizer detects reads past the end. The
 * caller frees it.
 */
static inline void *eat_bytes(struct input *input, size_t count)
{
	void *copy = malloc(count);

	if (count > input->left)
		count = input->left;
	if (count)
		memcpy(copy, input->data, count);
	input->data += count;
	input->left -= count;
	return copy;
}

/* Return the rest of the input as a text, which the caller frees. */
static inline char *eat_text(struct input *input)
{
	size_t count = input->left;
	char *text = malloc(count + 1);

	if (count)
		memcpy(text, input->data, count);
	text[count] = '\0';
	input->data += count;
	input->left = 0;
	return text;
}

#endif /* SELFTESTS_FUZZ_H */
