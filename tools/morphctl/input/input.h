/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Input files, and standard input. */
#ifndef MORPHCTL_INPUT_H
#define MORPHCTL_INPUT_H

#include <stdio.h>

#include "morphctl/command/command.h"

/* Report an error in a file on stderr. */
enum exit_code refuse_file(const char *path, const char *why);
/* Refuse a text that contains a NUL character. */
enum exit_code refuse_nul(const char *path, const char *text, size_t length);
enum exit_code refuse_line(const char *path, size_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read a file, or standard input for "-", into memory that the caller frees even after an error. A
 * NUL follows it, which @length does not count. Larger files than 2^30 bytes are refused.
 * Prints a message on error.
 */
enum exit_code input_whole(const char *path, char **text, size_t *length);

/* document.c: read a YAML or JSON file, or standard input for "-". The caller owns *document. */
enum exit_code document_read(const char *path, json_t **document);
/*
 * The line of a mapping's key in the document that was read last. Without this key, or for NULL,
 * the line where the value begins. 0: not known.
 */
size_t document_line(const json_t *value, const char *key);
/* Return the first key of @object that is not in @known, a list separated by commas, or NULL. */
const char *document_stray(const json_t *object, const char *known);
/*
 * Return a sentence about the first key of @object that is not in @known, a list separated by
 * commas. The sentence names the new key if @renamed, a list of OLD=NEW, has this one. The caller
 * frees it. NULL: all keys are known.
 */
char *document_stray_key(const json_t *object, const char *known, const char *renamed);
/*
 * Read an integer of at most @most. An absent key leaves *value unchanged. Returns false for other
 * values.
 */
bool document_number(const json_t *object, const char *key, uint64_t most, uint64_t *value);

/* graph.c: a file of links between ranks. */

#define GRAPH_RANKS 4096u /* the largest number of ranks of a slice */
#define GRAPH_LINKS 65536u

struct graph_link {
	uint32_t src, dst;
};

struct graph {
	uint32_t ranks; /* each rank is in a link */
	size_t links_count;
	struct graph_link *links; /* in the order of lines */
};

/* Read a file, or standard input for "-". The caller frees the graph, even after an error. */
enum exit_code graph_read(const char *path, struct graph *graph);
void graph_free(struct graph *graph);

/* matrix.c: a number with an optional unit: K, M and G are 2^10, 2^20 and 2^30. */
bool parse_bytes(const char *text, uint64_t *bytes);
#define MOST_BYTES (1ULL << 50) /* largest chunk, which may be the whole buffer */
#define MOST_RANKS 4096u
/*
 * Read a file of bytes from each rank to each, or standard input for "-". The caller frees the
 * matrix. Messages name the line.
 */
enum exit_code matrix_read(const char *path, uint64_t **matrix, uint32_t *ranks);

#endif /* MORPHCTL_INPUT_H */
