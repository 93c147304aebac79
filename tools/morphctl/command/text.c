// SPDX-License-Identifier: GPL-2.0-or-later
/* Text for people, wrapped to the width of the terminal. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "morphctl/command/command.h"

#define NARROWEST 20 /* columns; on a narrower terminal, lines are wider than it */
#define LEAST_LINE 10 /* columns of text, behind any indentation */
#define HANGING 2 /* indentation of the lines that continue a sentence */

static size_t known_width;
static bool wide; /* --wide */

static size_t at_least(size_t width)
{
	return width < NARROWEST ? NARROWEST : width;
}

static size_t width_of_terminal(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return ANY_WIDTH;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return 80;
	return at_least(size.ws_col);
}

static size_t find_width(void)
{
	const char *columns = getenv("COLUMNS");
	uint64_t given_width;

	if (columns && parse_u64(columns, 1, UINT16_MAX, &given_width))
		return at_least(given_width);
	return width_of_terminal(STDOUT_FILENO);
}

size_t text_width_of_messages(void)
{
	return wide ? ANY_WIDTH : width_of_terminal(STDERR_FILENO);
}

void text_limit(size_t width)
{
	if (text_width() > width)
		known_width = width;
}

size_t text_width(void)
{
	if (!known_width)
		known_width = find_width();
	return known_width;
}

void text_set_wide(void)
{
	known_width = ANY_WIDTH;
	wide = true;
}

/* Bytes and columns of the first character. libsmartcols prints an invalid byte as \xNN. */
static size_t character(const char *text, size_t *columns)
{
	mbstate_t state = { 0 };
	wchar_t letter;
	size_t length = mbrtowc(&letter, text, strlen(text), &state);

	if (length == 0 || length > strlen(text)) {
		*columns = 4;
		return 1;
	}
	*columns = iswprint((wint_t)letter) ? (size_t)wcwidth(letter) : 4 * length;
	return length;
}

size_t text_fit(const char *text, size_t length, size_t room, size_t *columns)
{
	size_t bytes = 0, more;

	*columns = 0;
	while (bytes < length) {
		size_t next = character(text + bytes, &more);

		if (*columns + more > room)
			break;
		*columns += more;
		bytes += next;
	}
	return bytes;
}

size_t text_columns(const char *text)
{
	size_t columns;

	text_fit(text, strlen(text), ANY_WIDTH, &columns);
	return columns;
}

/* State of a paragraph that is being written. */
struct paragraph {
	FILE *stream;
	size_t column, indent, width;
	bool begun; /* a word is on the line */
};

static void next_line(struct paragraph *paragraph)
{
	fprintf(paragraph->stream, "\n%*s", (int)paragraph->indent, "");
	paragraph->column = paragraph->indent;
	paragraph->begun = false;
}

/* The part of a long word that fits into @room: up to its last divider if it has one. */
static size_t part_of_word(const char *word, size_t length, size_t room)
{
	size_t columns, fits = text_fit(word, length, room, &columns), divider = fits;

	while (divider && !strchr(",|", word[divider - 1]))
		divider--;
	return divider ? divider : fits ? fits : 1;
}

static void put_word(struct paragraph *paragraph, const char *word, size_t length)
{
	size_t columns, part;

	text_fit(word, length, ANY_WIDTH, &columns);
	if (paragraph->begun && paragraph->column + 1 + columns > paragraph->width)
		next_line(paragraph);
	if (paragraph->begun) {
		fputc(' ', paragraph->stream);
		paragraph->column++;
	}
	while (paragraph->column + columns > paragraph->width) {
		part = part_of_word(word, length, paragraph->width - paragraph->column);
		fwrite(word, 1, part, paragraph->stream);
		word += part;
		length -= part;
		text_fit(word, length, ANY_WIDTH, &columns);
		if (length)
			next_line(paragraph);
	}
	fwrite(word, 1, length, paragraph->stream);
	paragraph->column += columns;
	paragraph->begun = true;
}

void text_wrap(FILE *stream, const char *text, size_t column, size_t indent, size_t width)
{
	struct paragraph paragraph = { stream, column, indent, width, false };

	if (paragraph.width < indent + LEAST_LINE)
		paragraph.width = indent + LEAST_LINE;
	while (*text) {
		size_t length = strcspn(text, " ");

		if (length)
			put_word(&paragraph, text, length);
		text += length + (text[length] == ' ');
	}
}

/* Sentences on standard output, and the part of a line that say() has not printed yet. */
static char *unsaid;

static void say_line(const char *line)
{
	if (text_width() == ANY_WIDTH)
		fputs(line, stdout);
	else
		text_wrap(stdout, line, 0, HANGING, text_width());
	putchar('\n');
}

void say(const char *format, ...)
{
	char *text, *line, *rest, *all;
	va_list arguments;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	if (asprintf(&all, "%s%s", unsaid ? unsaid : "", text) < 0)
		all = NULL;
	free(text);
	free(unsaid);
	for (line = needed(all); (rest = strchr(line, '\n')); line = rest + 1) {
		*rest = '\0';
		say_line(line);
	}
	unsaid = *line ? needed(strdup(line)) : NULL;
	free(all);
}
