// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines of recordings: written, and read back. */
#include <ctype.h>

#include "internal.h"
#include "recording.h"

#define LEAST_RUN 8 /* zero bytes that are worth a "z" */

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

/* A string of JSON, of which recordings use \" \\ \n and \u00XX; NULL when malformed. */
static char *parse_string(const char **at)
{
	char *text, *end;

	if (!expect(at, '"'))
		return NULL;
	text = end = malloc(strlen(*at) + 1);
	while (text && **at && **at != '"') {
		char c = *(*at)++;

		if (c == '\\') {
			c = *(*at)++;
			if (c == 'n') {
				c = '\n';
			} else if (c == 'u' && !strncmp(*at, "00", 2) && hex_digit((*at)[2]) >= 0 &&
				   hex_digit((*at)[3]) >= 0) {
				c = (char)(hex_digit((*at)[2]) << 4 | hex_digit((*at)[3]));
				*at += 4;
			} else if (c != '"' && c != '\\') {
				break;
			}
		}
		*end++ = c;
	}
	if (!text || **at != '"') {
		free(text);
		return NULL;
	}
	(*at)++;
	*end = '\0';
	return text;
}

static bool parse_bytes(const char *text, struct lm_bytes *bytes)
{
	while (*text) {
		uint8_t byte = 0;
		size_t run = 1;

		if (*text == 'z') {
			char *end;

			run = strtoul(text + 1, &end, 10);
			if (*end != '.' || run > UINT32_MAX)
				return false;
			text = end + 1;
		} else {
			if (hex_digit(text[0]) < 0 || hex_digit(text[1]) < 0)
				return false;
			byte = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
			text += 2;
		}
		while (run--)
			lm_bytes_add(bytes, &byte, 1);
	}
	return !bytes->failed;
}

static bool parse_number(const char **at, int *number)
{
	char *end;

	skip_space(at);
	*number = (int)strtol(*at, &end, 10);
	if (end == *at)
		return false;
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
