/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The wire form's words, which are little-endian: see <morph/wire.h>. Buffers belong to the caller;
 * nothing is allocated. Threads need a struct words each. Each call costs a few instructions.
 */
#ifndef LM_UTIL_WORDS_H
#define LM_UTIL_WORDS_H

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <morph/wire.h>

/* Words on their way into a buffer, which may be too small; they are counted all the same. */
struct words {
	uint8_t *buffer;
	size_t room, count; /* words */
};

static inline void words_put(struct words *words, uint32_t value)
{
	uint32_t word = htole32(value);

	if (words->count < words->room)
		memcpy(words->buffer + 4 * words->count, &word, 4);
	words->count++;
}

static inline void words_put_long(struct words *words, uint64_t value)
{
	words_put(words, (uint32_t)value);
	words_put(words, (uint32_t)(value >> 32));
}

static inline struct words words_begin(void *buffer, size_t bytes, uint32_t kind, uint32_t checksum)
{
	struct words words = { .buffer = buffer, .room = buffer ? bytes / 4 : 0 };

	words_put(&words, MORPH_WIRE_MAGIC);
	words_put(&words, MORPH_WIRE_VERSION);
	words_put(&words, kind);
	words_put(&words, checksum);
	words_put(&words, 0); /* the number of words, when it is known */
	return words;
}

static inline ssize_t words_end(struct words *words)
{
	size_t count = words->count;

	if (words->room >= MORPH_WIRE_HEAD) {
		words->count = MORPH_WIRE_HEAD - 1;
		words_put(words, (uint32_t)count);
	}
	if (words->buffer && words->room < count)
		return -ENOSPC;
	return (ssize_t)(4 * count);
}

/* The word at an address, which may be of any alignment; the caller knows that it is there. */
static inline uint32_t words_at(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return le32toh(word);
}

/* The same for a number of two words, the lower one first. */
static inline uint64_t words_long_at(const uint8_t *at)
{
	return words_at(at) | (uint64_t)words_at(at + 4) << 32;
}

#endif /* LM_UTIL_WORDS_H */
