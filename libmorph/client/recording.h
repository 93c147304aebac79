/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recordings: JSON lines, one for each request to the kernel.
 *
 *	{"op":"ioctl","handle":2,"text":"MORPH_SLICE_INFO","before":"..","after":"..","result":0}
 *
 * @handle numbers open files: each gets the least free number, from 1, below LM_MAX_HANDLES; 0:
 *	none. @text is the path or the name of the command. @before and @after are the data to and
 *	from the kernel, in hexadecimal, with "z16." for 16 zero bytes. In a command's structure,
 *	pointers are 1 (or 0 for NULL), an fd is its handle, and arrays follow the structure. In
 *	@after the sentence about a failure comes last. Recordings depend on the byte order and the
 *	ABI, not on addresses, fds or process ids.
 *
 * Memory that is shared with the kernel is recorded when it is mapped; later writes are not. So a
 * replayed state keeps its recorded value, and a replayed queue answers nothing.
 */
#ifndef LM_RECORDING_H
#define LM_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Limit of open files in a recording. */
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

/* False, and *why set, if @text is not a line of a recording. Clears @line first. */
bool lm_line_parse(struct lm_line *line, const char *text, const char **why);

/* The text of a line that describes mapped memory. */
#define LM_MAP_TEXT_BYTES 64
void lm_map_text(char text[LM_MAP_TEXT_BYTES], uint64_t offset, size_t bytes, bool write);

/* ---------------------------------------------------------- commands to bytes */

struct lm_command_shape;

/* NULL for an unknown command. */
const struct lm_command_shape *lm_shape(unsigned long command);
const char *lm_shape_name(const struct lm_command_shape *shape);
size_t lm_shape_bytes(const struct lm_command_shape *shape);

/* The fd that the command returns, in its structure; NULL if it returns none. */
int32_t *lm_shape_fd(const struct lm_command_shape *shape, void *argument);

/*
 * Append the structure at @argument and its arrays. @asked is a copy of the structure from before
 * the call, with the positions and sizes of arrays.
 * @answer: append the sentence too.
 */
void lm_shape_save(const struct lm_command_shape *shape, const void *argument, const void *asked,
		   bool answer, struct lm_bytes *bytes);

/* Restore an answer of lm_shape_save() into @argument. False if it does not fit. */
bool lm_shape_restore(const struct lm_command_shape *shape, void *argument,
		      const struct lm_bytes *bytes);

#endif /* LM_RECORDING_H */
