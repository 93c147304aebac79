/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recordings: JSON lines, one per thing asked of the kernel.
 *
 *	{"op":"ioctl","handle":2,"text":"MORPH_SLICE_INFO","before":"..","after":"..","result":0}
 *
 * @handle numbers what is open: each gets the least number, from 1, that nothing open
 * has, below LM_MAX_HANDLES; 0: nothing. @text
 * is the path or the name of the command. @before and @after are what went to the
 * kernel and what came back: hexadecimal, with "z16." for 16 zero bytes. In a
 * command's structure pointers are 1 (or 0 for NULL), an fd is its handle, and arrays
 * follow the structure, then (in @after) the sentence about a failure. Recordings
 * depend on the byte order and the ABI, not on addresses, fds or process ids.
 *
 * Memory that is shared with the kernel is recorded as it is when it is mapped. What is written there afterwards
 * is not: a state replays as it was, and a ring that is replayed answers nothing.
 */
#ifndef LM_RECORDING_H
#define LM_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What can be open at a time, in a recording, is less. */
#define LM_MAX_HANDLES 256

/* Bytes that grow; after a failure to grow @failed stays true. */
struct lm_bytes {
	uint8_t *data;
	size_t count;
	size_t room;
	bool failed;
};

void lm_bytes_add(struct lm_bytes *bytes, const void *data, size_t count);

struct lm_line {
	char op[16];
	int handle;
	int result;
	char *text;
	struct lm_bytes before;
	struct lm_bytes after;
};

void lm_line_clear(struct lm_line *line);
void lm_line_write(FILE *out, const struct lm_line *line);

/* false, with *why set, when @text is no line of a recording. @line is cleared before. */
bool lm_line_parse(struct lm_line *line, const char *text, const char **why);

/* What is mapped, as the text of a line. */
#define LM_MAP_TEXT_BYTES 64
void lm_map_text(char text[LM_MAP_TEXT_BYTES], uint64_t offset, size_t bytes, bool write);

/* ---------------------------------------------------------- commands to bytes */

struct lm_command_shape;

/* NULL for a command that the library does not have. */
const struct lm_command_shape *lm_shape(unsigned long command);
const char *lm_shape_name(const struct lm_command_shape *shape);
size_t lm_shape_bytes(const struct lm_command_shape *shape);

/* The fd that the command gave, in its structure; NULL when it gives none. */
int32_t *lm_shape_fd(const struct lm_command_shape *shape, void *argument);

/*
 * Append the structure at @argument and what it points to. @asked is a copy of the
 * structure as it was before the call: it says where arrays are and how large.
 * @answer: append the sentence too.
 */
void lm_shape_save(const struct lm_command_shape *shape, const void *argument, const void *asked,
		   bool answer, struct lm_bytes *bytes);

/* Put an answer that lm_shape_save() made into @argument; false when it does not fit. */
bool lm_shape_restore(const struct lm_command_shape *shape, void *argument,
		      const struct lm_bytes *bytes);

#endif /* LM_RECORDING_H */
