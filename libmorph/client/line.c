// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing and reading of lines of recordings. */
#include <ctype.h>
#include <limits.h>

#include "internal.h"
#include "recording.h"

#define LEAST_RUN 8 /* least run of zero bytes that becomes a "z" */
#define MOST_BYTES (256u << 20) /* limit of the zeros that a few digits can stand for */

void lm_bytes_add(struct lm_bytes *bytes, const void *data, size_t count)
{
	if (bytes->failed || !count)
		return;
	if (bytes->count + count > bytes->room) {
		size_t room = bytes->count + count + bytes->room;
		uint8_t *grown = realloc(bytes->data, room);

		if (!grown) {
			bytes->failed = true;
			return;
		}
		bytes->data = grown;
		bytes->room = room;
	}
	memcpy(bytes->data + bytes->count, data, count);
	bytes->count += count;
}

void lm_line_clear(struct lm_line *line)
{
	free(line->text);
	free(line->before.data);
	free(line->after.data);
	memset(line, 0, sizeof(*line));
}

void lm_map_text(char text[LM_MAP_TEXT_BYTES], uint64_t offset, size_t bytes, bool write)
{
	snprintf(text, LM_MAP_TEXT_BYTES, "%zu bytes at %llu, %s", bytes,
		 (unsigned long long)offset, write ? "written" : "read");
}

/* ------------------------------------------------------------------ writing */

static void write_bytes(FILE *out, const struct lm_bytes *bytes)
{
	size_t at = 0;

	while (at < bytes->count) {
		size_t run = 0;

		while (at + run < bytes->count && !bytes->data[at + run])
			run++;
		if (run >= LEAST_RUN) {
			fprintf(out, "z%zu.", run);
			at += run;
		} else {
			fprintf(out, "%02x", bytes->data[at++]);
		}
	}
}

static void write_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c < ' ')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
}

void lm_line_write(FILE *out, const struct lm_line *line)
{
	fprintf(out, "{\"op\":\"%s\",\"handle\":%d,\"text\":\"", line->op, line->handle);
	write_text(out, line->text ? line->text : "");
	fputs("\",\"before\":\"", out);
	write_bytes(out, &line->before);
	fputs("\",\"after\":\"", out);
	write_bytes(out, &line->after);
	fprintf(out, "\",\"result\":%d}\n", line->result);
}

/* ------------------------------------------------------------------ reading */

static void skip_space(const char **at)
{
	while (isspace((unsigned char)**at))
		(*at)++;
}

static bool expect(const char **at, char c)
{
	skip_space(at);
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/*
 * Parse the character after a backslash: \" \\ 
 *  and \u00XX. False for any other.
 */
static bool parse_escape(const char **at, char *c)
{
	const char *code = *at + 1;

	switch (**at) {
	case '"':
	case '\\':
		*c = *(*at)++;
		return true;
	case 'n':
		*c = '\n';
		(*at)++;
		return true;
	case 'u':
		if (strncmp(code, "00", 2) || hex_digit(code[2]) < 0 || hex_digit(code[3]) < 0)
			return false;
		*c = (char)(hex_digit(code[2]) << 4 | hex_digit(code[3]));
		*at += 5;
		return true;
	}
	return false;
}

/* Parse a JSON string; NULL if malformed. */
static char *parse_string(const char **at)
{
	char *text, *end;
	bool good = true;

	if (!expect(at, '"'))
		return NULL;
	text = end = malloc(strlen(*at) + 1);
	while (text && good && **at && **at != '"') {
		char c = *(*at)++;

		if (c == '\\')
			good = parse_escape(at, &c);
		*end++ = c;
	}
	if (!text || !good || **at != '"') {
		free(text);
		return NULL;
	}
	(*at)++;
	*end = '\0';
	return text;
}

static bool add_zeros(struct lm_bytes *bytes, size_t count)
{
	static const uint8_t zeros[256];

	if (count > MOST_BYTES || bytes->count > MOST_BYTES)
		return false;
	for (size_t part; count; count -= part) {
		part = count < sizeof(zeros) ? count : sizeof(zeros);
		lm_bytes_add(bytes, zeros, part);
	}
	return true;
}

static bool parse_bytes(const char *text, struct lm_bytes *bytes)
{
	while (*text) {
		if (*text == 'z') {
			char *end;
			size_t run = strtoul(text + 1, &end, 10);

			if (*end != '.' || !add_zeros(bytes, run))
				return false;
			text = end + 1;
		} else {
			uint8_t byte;

			if (hex_digit(text[0]) < 0 || hex_digit(text[1]) < 0)
				return false;
			byte = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
			lm_bytes_add(bytes, &byte, 1);
			text += 2;
		}
	}
	return !bytes->failed;
}

static bool parse_number(const char **at, int *number)
{
	long value;
	char *end;

	skip_space(at);
	value = strtol(*at, &end, 10);
	if (end == *at || value < INT_MIN || value > INT_MAX)
		return false;
	*number = (int)value;
	*at = end;
	return true;
}

static bool parse_text_field(struct lm_line *line, const char *key, const char **at)
{
	char *text = parse_string(at);
	bool good = text;

	if (!text)
		return false;
	if (!strcmp(key, "text")) {
		free(line->text);
		line->text = text;
		return true;
	}
	if (!strcmp(key, "before"))
		good = parse_bytes(text, &line->before);
	else if (!strcmp(key, "after"))
		good = parse_bytes(text, &line->after);
	else if (!strcmp(key, "op") && strlen(text) < sizeof(line->op))
		strcpy(line->op, text);
	else
		good = false;
	free(text);
	return good;
}

static bool parse_field(struct lm_line *line, const char **at)
{
	char *key = parse_string(at);
	bool good = key && expect(at, ':');

	if (good && !strcmp(key, "handle"))
		good = parse_number(at, &line->handle);
	else if (good && !strcmp(key, "result"))
		good = parse_number(at, &line->result);
	else if (good)
		good = parse_text_field(line, key, at);
	free(key);
	return good;
}

bool lm_line_parse(struct lm_line *line, const char *text, const char **why)
{
	const char *at = text;

	lm_line_clear(line);
	*why = "a field is malformed or unknown";
	if (!expect(&at, '{')) {
		*why = "a line begins with {";
		return false;
	}
	do {
		if (!parse_field(line, &at))
			return false;
	} while (expect(&at, ','));
	if (!expect(&at, '}')) {
		*why = "a line ends with }";
		return false;
	}
	skip_space(&at);
	*why = *at ? "something follows the }" : "op is missing";
	return !*at && line->op[0];
}
