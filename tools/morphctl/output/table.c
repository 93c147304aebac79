// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables as wide as the terminal, printed by libsmartcols. Where a table is too wide, its last
 * columns are left out, wide values are cut, and values of the last column continue on further
 * lines. --wide prints the whole table.
 */
#include <ctype.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "morphctl/output/output.h"

#define GAP 2 /* columns of the terminal between two columns of a table */
#define DOTS "..."
#define LEAST_WRAPPED 14 /* columns of the terminal */

struct column {
	const char *key;
	char *heading;
	size_t width; /* of its widest value */
	bool number;
};

struct table {
	struct column *columns;
	size_t columns_count, lines_count;
	char **cells; /* line by line */
	bool headings;
};

static bool colored(void)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(off && *off) && term && strcmp(term, "dumb");
}

static char **cell_of(const struct table *table, size_t line, size_t column)
{
	return &table->cells[line * table->columns_count + column];
}

/* The heading takes over @text. */
static void set_column(struct table *table, size_t column, const char *key, char *text)
{
	struct column *into = &table->columns[column];

	into->key = key;
	into->heading = text;
	into->width = table->headings ? text_columns(text) : 0;
	into->number = table->lines_count;
}

static void set_cell(struct table *table, size_t line, size_t column, char *text)
{
	size_t width = text_columns(text);

	*cell_of(table, line, column) = text;
	if (width > table->columns[column].width)
		table->columns[column].width = width;
}

static struct table new_table(size_t columns, size_t lines, bool headings)
{
	return (struct table){
		.columns = needed(calloc(columns + 1, sizeof(struct column))),
		.columns_count = columns,
		.lines_count = lines,
		.cells = needed(calloc(columns * lines + 1, sizeof(char *))),
		.headings = headings,
	};
}

static void free_table(struct table *table)
{
	for (size_t i = 0; i < table->columns_count; i++)
		free(table->columns[i].heading);
	for (size_t i = 0; i < table->columns_count * table->lines_count; i++)
		free(table->cells[i]);
	free(table->columns);
	free(table->cells);
}

/* ------------------------------------------------------------------------- width */

/* Wider values can be cut to this width. */
static size_t narrow_width(void)
{
	size_t quarter = text_width() / 4;

	return quarter < 24 ? quarter : 24;
}

/* Headings cannot be cut. @wraps: the values continue on further lines. */
static size_t least_width(const struct table *table, const struct column *column, bool wraps)
{
	size_t heading = table->headings ? text_columns(column->heading) : 0;
	size_t least = wraps && narrow_width() > LEAST_WRAPPED ? LEAST_WRAPPED : narrow_width();

	if (least < heading)
		least = heading;
	return column->width < least ? column->width : least;
}

/* Values of the last column continue on further lines, numbers do not. */
static bool wraps(const struct table *table, size_t column, size_t count)
{
	return column + 1 == count && !table->columns[column].number;
}

/* The number of columns that fit into @width, at least one. */
static size_t columns_shown(const struct table *table, size_t width)
{
	size_t before = 0, count = 0;

	while (count < table->columns_count) {
		const struct column *column = &table->columns[count];
		bool as_last = wraps(table, count, count + 1);

		if (count && before + least_width(table, column, as_last) > width)
			break;
		before += least_width(table, column, false) + GAP;
		count++;
	}
	return count;
}

/*
 * Narrow the widest of the first @count columns until they fit into @width. Equally wide columns
 * become narrower together.
 */
static void narrow(struct table *table, size_t count, size_t width)
{
	for (;;) {
		size_t total = count ? GAP * (count - 1) : 0, second = 0, least = 0, step;
		struct column *widest = NULL;

		for (size_t i = 0; i < count; i++) {
			struct column *column = &table->columns[i];
			size_t limit = least_width(table, column, wraps(table, i, count));

			total += column->width;
			if (column->width <= limit)
				continue;
			if (!widest || column->width >= widest->width) {
				second = widest ? widest->width : 0;
				widest = column;
				least = limit;
			} else if (column->width > second) {
				second = column->width;
			}
		}
		if (total <= width || !widest)
			return;
		if (least < second)
			least = second < widest->width ? second : widest->width - 1;
		step = total - width;
		widest->width = widest->width - least > step ? widest->width - step : least;
	}
}

/* Cut @text to @width columns. The result ends in dots. */
static char *cut(const char *text, size_t width)
{
	size_t columns, room = width > strlen(DOTS) ? width - strlen(DOTS) : 0;
	size_t length = text_fit(text, strlen(text), room, &columns);
	char *result;

	if (asprintf(&result, "%.*s" DOTS, (int)length, text) < 0)
		result = NULL;
	return needed(result);
}

static char *wrapped(const char *text, size_t width)
{
	char *result = NULL;
	size_t size;
	FILE *stream = needed(open_memstream(&result, &size));

	text_wrap(stream, text, 0, 0, width);
	fclose(stream);
	return needed(result);
}

/* Cut the values of a column to its width, or wrap them. Returns true if cut. */
static bool fit_column(struct table *table, size_t column, bool wrap)
{
	size_t width = table->columns[column].width;
	bool any = false;

	for (size_t line = 0; line < table->lines_count; line++) {
		char **cell = cell_of(table, line, column), *text = *cell;

		if (text_columns(text) <= width)
			continue;
		*cell = wrap ? wrapped(text, width) : cut(text, width);
		any = any || !wrap;
		free(text);
	}
	return any;
}

/* Name the hidden columns. Without headings, scripts read the output, so this is a message. */
static void print_hint(const struct table *table, size_t shown, bool any_cut)
{
	if (shown == table->columns_count && !any_cut)
		return;
	if (!table->headings) {
		warn_line("the terminal is too narrow for all values; --wide shows them");
		return;
	}
	if (shown == table->columns_count) {
		say("values that end in " DOTS " are longer; --wide shows all of them\n");
		return;
	}
	say("hidden:");
	for (size_t i = shown; i < table->columns_count; i++)
		say("%s %s", i > shown ? "," : "", table->columns[i].heading);
	say("; --wide shows all columns\n");
}

/* ----------------------------------------------------------------------- printing */

/* Print a table completely or end the program: libsmartcols fails only when memory is short. */
static void done(int error)
{
	needed(error ? NULL : "");
}

static void add_columns(struct libscols_table *into, const struct table *table, size_t shown)
{
	for (size_t i = 0; i < shown; i++) {
		const struct column *from = &table->columns[i];
		bool last = wraps(table, i, shown);
		struct libscols_column *column = needed(scols_table_new_column(
			into, from->heading, 0,
			(from->number ? SCOLS_FL_RIGHT : 0) | (last ? SCOLS_FL_WRAP : 0)));

		if (!last)
			continue;
		done(scols_column_set_wrapfunc(column, scols_wrapnl_chunksize,
					       scols_wrapnl_nextchunk, NULL));
		done(scols_column_set_safechars(column, "\n"));
	}
}

static void add_lines(struct libscols_table *into, const struct table *table, size_t shown,
		      const char *const *keys)
{
	for (size_t i = 0; i < table->lines_count; i++) {
		struct libscols_line *line = needed(scols_table_new_line(into, NULL));

		for (size_t k = 0; k < shown; k++) {
			const char *text = *cell_of(table, i, k);
			const char *key = keys ? keys[i] : table->columns[k].key;
			const char *color = format_color(key, text);

			done(scols_line_set_data(line, k, text));
			if (color)
				done(scols_cell_set_color(scols_line_get_cell(line, k), color));
		}
	}
}

/* @keys: the key of each line, or NULL if each column has a key. */
static void print(struct table *table, const char *const *keys)
{
	struct libscols_table *out = needed(scols_new_table());
	size_t shown = columns_shown(table, text_width());
	bool any_cut = false;

	narrow(table, shown, text_width());
	for (size_t i = 0; i < shown; i++)
		any_cut |= fit_column(table, i, wraps(table, i, shown));
	scols_table_enable_noheadings(out, !table->headings);
	scols_table_enable_colors(out, colored());
	done(scols_table_set_column_separator(out, "  "));
	/* The columns fit already: libsmartcols must neither cut nor fill them. */
	scols_table_set_termforce(out, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(out, 1 << 15);
	add_columns(out, table, shown);
	add_lines(out, table, shown, keys);
	if (table->lines_count)
		done(scols_print_table(out));
	scols_unref_table(out);
	if (table->lines_count)
		print_hint(table, shown, any_cut);
}

static char *upper(const char *text)
{
	char *copy = needed(strdup(text));

	for (char *at = copy; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return copy;
}

void table_print(const json_t *names, const json_t *records, bool headings)
{
	struct table table = new_table(json_array_size(names), json_array_size(records), headings);
	json_t *name, *record;
	size_t i, k;

	json_array_foreach(names, i, name)
	{
		const char *key = json_string_value(name);

		set_column(&table, i, key, upper(format_heading(key)));
		json_array_foreach(records, k, record)
		{
			const json_t *value = json_object_get(record, key);

			set_cell(&table, k, i, format_value(key, value));
			if (value && !format_is_number(key, value))
				table.columns[i].number = false;
		}
	}
	print(&table, NULL);
	free_table(&table);
}

void table_print_record(const json_t *names, const json_t *record)
{
	size_t count = json_array_size(names), i;
	const char **keys = needed(calloc(count + 1, sizeof(*keys)));
	struct table table = new_table(2, count, false);
	json_t *name;

	set_column(&table, 0, "", needed(strdup("")));
	set_column(&table, 1, "", needed(strdup("")));
	table.columns[0].number = table.columns[1].number = false;
	json_array_foreach(names, i, name)
	{
		keys[i] = json_string_value(name);
		set_cell(&table, i, 0, needed(strdup(format_heading(keys[i]))));
		set_cell(&table, i, 1, format_value(keys[i], json_object_get(record, keys[i])));
	}
	print(&table, keys);
	free_table(&table);
	free(keys);
}
