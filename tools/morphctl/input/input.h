/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that people and other programs write, and standard input. */
#ifndef MORPHCTL_INPUT_H
#define MORPHCTL_INPUT_H

#include <stdio.h>

#include "morphctl/command/command.h"

/* "-" is standard input. What can't be opened is told. */
enum exit_code input_open(const char *path, FILE **file);
void input_close(FILE *file);
/* What is wrong with a file, on stderr. */
enum exit_code refuse_file(const char *path, const char *why);
enum exit_code refuse_line(const char *path, size_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A file in memory of its own, freed by the caller, with a NUL behind it that is not counted. What
 * is wrong is told.
 */
enum exit_code input_whole(const char *path, char **text, size_t *length);

/* document.c: read a YAML or JSON file, or standard input for "-"; *document is the caller's. */
enum exit_code document_read(const char *path, json_t **document);
/*
 * The first key of @object that is none of those divided by commas in @known; NULL: there is none.
 */
const char *document_stray_key(const json_t *object, const char *known);
/* A whole number up to @most, which stays as it was where it is absent; false: it is none. */
bool document_number(const json_t *object, const char *key, uint64_t most, uint64_t *value);

/* graph.c: a file of links between ranks. */

#define GRAPH_RANKS 4096u /* as many as a slice has at most */
#define GRAPH_LINKS 65536u

struct graph_link {
	uint32_t src, dst;
};

struct graph {
	uint32_t ranks; /* each of them is in a link */
	size_t links_count;
	struct graph_link *links; /* in the order of lines */
};

/*
 * Read a file, or standard input for "-". The graph is the caller's to free, also after a message.
 */
enum exit_code graph_read(const char *path, struct graph *graph);
void graph_free(struct graph *graph);

/* matrix.c: a number, and what it is counted in: K, M and G are 2^10, 2^20 and 2^30. */
bool parse_bytes(const char *text, uint64_t *bytes);
#define MOST_BYTES (1ULL << 50) /* of a chunk, which may be all there is */
#define MOST_RANKS 4096u
/*
 * A file of bytes from each rank to each, or standard input for "-"; the matrix is the caller's to
 * free. What is wrong is told with its line.
 */
enum exit_code matrix_read(const char *path, uint64_t **matrix, uint32_t *ranks);

#endif /* MORPHCTL_INPUT_H */
