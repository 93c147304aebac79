// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a file of bytes from each rank to each, one line for each rank. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"

#define BLANKS " \t\r\n"
#define DIVIDERS ",;" BLANKS

bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno)
		return false;
	if (*end && strchr(units, *end))
		shift = 10 * (unsigned int)(strchr(units, *end++) - units + 1);
	if (*end || *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

struct table {
	const char *path;
	uint64_t *cells;
	size_t line; /* of the file */
	uint32_t rows, columns; /* the first row gives the number of columns */
};

static uint32_t count_words(const char *line)
{
	uint32_t count = 0;

	for (line += strspn(line, DIVIDERS); *line; line += strspn(line, DIVIDERS)) {
		line += strcspn(line, DIVIDERS);
		count++;
	}
	return count;
}

/*
 * The first empty column before a comma, counted from 1; 0: none. A comma after the last column is
 * allowed.
 */
static uint32_t empty_cell(const char *line)
{
	uint32_t column = 1;

	for (line += strspn(line, BLANKS); *line; line += strspn(line, BLANKS)) {
		size_t word = strcspn(line, DIVIDERS);

		line += word;
		line += strspn(line, BLANKS);
		if (!word && *line)
			return column;
		if (*line == ',' || *line == ';')
			line++;
		column++;
	}
	return 0;
}

/* '#' begins a comment. */
static enum exit_code read_row(struct table *table, char *line)
{
	uint32_t count, column = 0;
	char *place = NULL;

	line[strcspn(line, "#")] = '\0';
	column = empty_cell(line);
	if (column)
		return refuse_line(table->path, table->line,
				   "row %u: column %u is empty; write 0 for no bytes",
				   table->rows + 1, column);
	count = count_words(line);
	if (!count)
		return EXIT_CODE_OK;
	if (!table->cells) {
		if (count > MOST_RANKS)
			return refuse_line(table->path, table->line,
					   "%u numbers; a matrix has at most %u ranks", count,
					   MOST_RANKS);
		table->columns = count;
		table->cells = needed(calloc((size_t)count * count, sizeof(*table->cells)));
	}
	if (count != table->columns)
		return refuse_line(table->path, table->line, "%u number%s, but %u in the first row",
				   count, PLURAL(count), table->columns);
	if (table->rows == table->columns)
		return refuse_line(table->path, table->line,
				   "one more row than the %u of a matrix of %u columns",
				   table->rows, table->columns);
	for (char *word = strtok_r(line, DIVIDERS, &place); word;
	     word = strtok_r(NULL, DIVIDERS, &place), column++) {
		uint64_t *cell = &table->cells[(size_t)table->rows * table->columns + column];

		if (!parse_bytes(word, cell))
			return refuse_line(
				table->path, table->line,
				"column %u: '%s' is not a number of bytes such as 4096, 64K, 16M or 1G",
				column + 1, word);
		if (*cell > MOST_BYTES)
			return refuse_line(table->path, table->line,
					   "column %u: '%s' is more than 2^50 bytes", column + 1,
					   word);
	}
	table->rows++;
	return EXIT_CODE_OK;
}

enum exit_code matrix_read(const char *path, uint64_t **matrix, uint32_t *ranks)
{
	struct table table = { .path = path };
	char *text, *line, *rest;
	size_t length;
	enum exit_code code = input_whole(path, &text, &length);

	if (!code)
		code = refuse_nul(path, text, length);
	rest = text;
	while (!code && (line = strsep(&rest, "\n"))) {
		table.line++;
		code = read_row(&table, line);
	}
	free(text);
	if (!code && (!table.rows || table.rows < table.columns)) {
		warn_line(
			"%s: %u row%s of %u number%s; a matrix must have equal numbers of rows and columns",
			path, table.rows, PLURAL(table.rows), table.columns, PLURAL(table.columns));
		code = EXIT_CODE_USAGE;
	}
	if (code) {
		free(table.cells);
		return code;
	}
	*matrix = table.cells;
	*ranks = table.columns;
	return EXIT_CODE_OK;
}
