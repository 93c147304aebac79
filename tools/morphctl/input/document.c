// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read files in YAML or JSON as JSON values. The reader parses JSON as YAML.
 *
 * It accepts the part of YAML that JSON has: mappings, lists and scalars. A plain scalar is null,
 * true, false or a number if it is one in JSON, except for exponents. Other scalars are strings,
 * such as 0660, yes and 0000:3b:00.0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "morphctl/input/input.h"

#define DEEPEST 32u

struct reader {
	yaml_parser_t parser;
	const char *path;
	unsigned int depth;
};

/* Lines of the document that was read last: where a value begins, and each key of a mapping. */
struct line {
	const json_t *value;
	const char *key; /* in memory of the mapping; NULL: the value itself */
	size_t number;
};

static struct line *lines;
static size_t lines_count, lines_room;

/* jansson has one value each for true, false and null, so only their keys have lines. */
static void note_line(const json_t *value, const char *key, yaml_mark_t mark)
{
	if (json_is_boolean(value) || json_is_null(value))
		return;
	if (lines_count == lines_room) {
		lines_room = lines_room ? 2 * lines_room : 1024;
		lines = needed(reallocarray(lines, lines_room, sizeof(*lines)));
	}
	lines[lines_count++] = (struct line){ .value = value, .key = key, .number = mark.line + 1 };
}

size_t document_line(const json_t *value, const char *key)
{
	size_t number = 0;

	for (size_t at = 0; at < lines_count; at++) {
		if (lines[at].value != value)
			continue;
		if (!lines[at].key)
			number = lines[at].number;
		else if (key && !strcmp(lines[at].key, key))
			return lines[at].number;
	}
	return number;
}

static void wrong(const struct reader *reader, yaml_mark_t mark, const char *what)
{
	warn_line("%s: line %zu, column %zu: %s", reader->path, mark.line + 1, mark.column + 1,
		  what);
}

/* Report libyaml's error and the context that it was parsing. */
static void wrong_syntax(const struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem ? parser->problem : "out of memory";

	if (parser->error == YAML_READER_ERROR)
		warn_line("%s: byte %zu: %s; the text must be UTF-8", reader->path,
			  parser->problem_offset, problem);
	else if (parser->context)
		warn_line("%s: line %zu, column %zu: %s, %s that begins at line %zu, column %zu",
			  reader->path, parser->problem_mark.line + 1,
			  parser->problem_mark.column + 1, problem, parser->context,
			  parser->context_mark.line + 1, parser->context_mark.column + 1);
	else
		wrong(reader, parser->problem_mark, problem);
}

/* Read the next event. The caller deletes it, unless the function returns false. */
static bool next(struct reader *reader, yaml_event_t *event)
{
	if (yaml_parser_parse(&reader->parser, event))
		return true;
	wrong_syntax(reader);
	return false;
}

static bool is_whole_number(const char *text)
{
	const char *digits = text + (*text == '-');

	return *digits && strspn(digits, "0123456789") == strlen(digits) &&
	       (*digits != '0' || !digits[1]);
}

/* Accept digits, a point, and digits. */
static bool is_decimal_number(const char *text)
{
	const char *digits = text + (*text == '-');
	size_t length = strspn(digits, "0123456789");
	const char *rest = digits + length + 1;

	return length && (*digits != '0' || length == 1) && digits[length] == '.' && *rest &&
	       strspn(rest, "0123456789") == strlen(rest);
}

static json_t *plain_value(const char *text)
{
	long long number;

	if (!*text || !strcmp(text, "~") || !strcmp(text, "null"))
		return json_null();
	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return json_boolean(*text == 't');
	if (is_decimal_number(text))
		return json_real(strtod(text, NULL));
	errno = 0;
	number = is_whole_number(text) ? strtoll(text, NULL, 10) : 0;
	return is_whole_number(text) && !errno ? json_integer(number) : json_string(text);
}

static json_t *scalar_value(struct reader *reader, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (strlen(text) != event->data.scalar.length) {
		wrong(reader, event->start_mark, "NUL character; remove it");
		return NULL;
	}
	return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_value(text) :
								     json_string(text);
}

static json_t *read_value(struct reader *reader, const yaml_event_t *event);

static json_t *read_list(struct reader *reader)
{
	json_t *list = json_array();
	yaml_event_t event;
	bool good = true;

	while (good && next(reader, &event)) {
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return list;
		}
		good = !json_array_append_new(list, read_value(reader, &event));
		yaml_event_delete(&event);
	}
	json_decref(list);
	return NULL;
}

/* Read the value of a key into the object. */
static bool read_member(struct reader *reader, json_t *object, const yaml_event_t *key)
{
	const char *name = (const char *)key->data.scalar.value;
	yaml_event_t event;
	json_t *value;

	if (key->type != YAML_SCALAR_EVENT || strlen(name) != key->data.scalar.length) {
		wrong(reader, key->start_mark, "a key must be a word");
		return false;
	}
	if (json_object_get(object, name)) {
		wrong(reader, key->start_mark, "a duplicate key; each key may appear once");
		return false;
	}
	if (!next(reader, &event))
		return false;
	value = read_value(reader, &event);
	yaml_event_delete(&event);
	if (!value || json_object_set_new(object, name, value))
		return false;
	note_line(object, json_object_iter_key(json_object_iter_at(object, name)), key->start_mark);
	return true;
}

static json_t *read_mapping(struct reader *reader)
{
	json_t *object = json_object();
	yaml_event_t event;
	bool good = true;

	while (good && next(reader, &event)) {
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return object;
		}
		good = read_member(reader, object, &event);
		yaml_event_delete(&event);
	}
	json_decref(object);
	return NULL;
}

static bool has_tag(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return event->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.tag;
	default:
		return false;
	}
}

/* Read the value that begins with an event; NULL after a message. */
static json_t *read_value(struct reader *reader, const yaml_event_t *event)
{
	json_t *value;

	if (has_tag(event)) {
		wrong(reader, event->start_mark, "tag not supported; remove it");
		return NULL;
	}
	if (event->type == YAML_ALIAS_EVENT) {
		wrong(reader, event->start_mark, "alias not supported; write the value");
		return NULL;
	}
	if (event->type == YAML_SCALAR_EVENT) {
		value = scalar_value(reader, event);
		if (value)
			note_line(value, NULL, event->start_mark);
		return value;
	}
	if (reader->depth == DEEPEST) {
		wrong(reader, event->start_mark, "nested too deep; at most 32 levels are read");
		return NULL;
	}
	reader->depth++;
	value = event->type == YAML_SEQUENCE_START_EVENT ? read_list(reader) : read_mapping(reader);
	reader->depth--;
	if (value)
		note_line(value, NULL, event->start_mark);
	return value;
}

/*
 * Read the only document of a file: stream start, document start, value, document end, stream end.
 */
static json_t *read_stream(struct reader *reader)
{
	json_t *value = NULL;
	yaml_event_t event;
	bool end = false;

	while (!end && next(reader, &event)) {
		end = event.type == YAML_STREAM_END_EVENT;
		if (event.type == YAML_DOCUMENT_START_EVENT && value) {
			wrong(reader, event.start_mark, "a second document; a file has one");
			end = true;
			json_decref(value);
			value = NULL;
		} else if (end && !value) {
			wrong(reader, event.start_mark, "the file is empty");
		} else if (event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT ||
			   event.type == YAML_SEQUENCE_START_EVENT ||
			   event.type == YAML_MAPPING_START_EVENT) {
			value = read_value(reader, &event);
			end = !value;
		}
		yaml_event_delete(&event);
	}
	if (end)
		return value;
	json_decref(value);
	return NULL;
}

enum exit_code document_read(const char *path, json_t **document)
{
	struct reader reader = { .path = path };
	size_t length;
	char *text;
	enum exit_code code = input_whole(path, &text, &length);

	*document = NULL;
	if (code) {
		free(text);
		return code;
	}
	if (!yaml_parser_initialize(&reader.parser))
		needed(NULL);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
	lines_count = 0;
	*document = read_stream(&reader);
	yaml_parser_delete(&reader.parser);
	free(text);
	return *document ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

static bool is_listed(const char *word, const char *list)
{
	size_t length = strlen(word);

	for (const char *at = list;; at++) {
		if (strcspn(at, ",") == length && !strncmp(at, word, length))
			return true;
		at += strcspn(at, ",");
		if (!*at)
			return false;
	}
}

/* The new name of a key, which ends at a comma or at the end of the text, or NULL. */
static const char *new_name(const char *key, const char *renamed)
{
	size_t length = strlen(key);
	const char *comma;

	for (; renamed; renamed = comma ? comma + 1 : NULL) {
		if (!strncmp(renamed, key, length) && renamed[length] == '=')
			return renamed + length + 1;
		comma = strchr(renamed, ',');
	}
	return NULL;
}

const char *document_stray(const json_t *object, const char *known)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (!is_listed(key, known))
			return key;
	}
	return NULL;
}

char *document_stray_key(const json_t *object, const char *known, const char *renamed)
{
	const char *key = document_stray(object, known), *new;
	char *sentence;
	int length;

	if (!key)
		return NULL;
	new = new_name(key, renamed);
	length = new ? asprintf(&sentence, "'%s' is now '%.*s'", key, (int)strcspn(new, ","), new) :
		       asprintf(&sentence, "unknown key '%s'; known keys: %s", key, known);
	return needed(length < 0 ? NULL : sentence);
}

bool document_number(const json_t *object, const char *key, uint64_t most, uint64_t *value)
{
	const json_t *it = json_object_get(object, key);

	if (!it)
		return true;
	if (!json_is_integer(it) || json_integer_value(it) < 0 ||
	    (uint64_t)json_integer_value(it) > most)
		return false;
	*value = (uint64_t)json_integer_value(it);
	return true;
}
