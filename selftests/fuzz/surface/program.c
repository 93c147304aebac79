// SPDX-License-Identifier: GPL-2.0-only
/* Programs: reading, writing and random changes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "surface.h"

uint64_t random_state = 1;

uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 11) % limit;
}

static const char *const reference_names[REFERENCES] = {
	[REF_FABRIC] = "@fabric", [REF_SLICE] = "@slice", [REF_TXN] = "@txn",
	[REF_BUFFER] = "@buffer", [REF_BRINK] = "@brink",
};

/* ------------------------------------------------------------------- reading */

static bool read_number(struct value *value, const char *text)
{
	char *end;

	for (int at = 1; at < REFERENCES; at++) {
		size_t length = strlen(reference_names[at]);

		if (strncmp(text, reference_names[at], length))
			continue;
		value->reference = (uint8_t)at;
		value->number = strtoull(text + length, &end, 10);
		return !*end;
	}
	value->reference = REF_NONE;
	value->number = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	return *text && !*end;
}

/* name=value, or name[entry]=value */
static bool read_value(const struct command *command, struct call *call, char *word)
{
	struct value value = { 0 };
	char *text = strchr(word, '='), *bracket;

	if (!text)
		return false;
	*text++ = '\0';
	if (!strcmp(word, "fd") || !strcmp(word, "fail")) {
		*(word[1] == 'd' ? &call->fd : &call->fail) = (uint8_t)strtoul(text, NULL, 0);
		return true;
	}
	bracket = strchr(word, '[');
	if (bracket) {
		*bracket = '\0';
		value.entry = (uint8_t)(strtoul(bracket + 1, NULL, 10) % MOST_ENTRIES);
	}
	for (value.field = 0; value.field < command->fields_count; value.field++)
		if (!strcmp(command->fields[value.field].name, word))
			break;
	if (value.field == command->fields_count || call->count == MOST_VALUES ||
	    !read_number(&value, text))
		return false;
	call->values[call->count++] = value;
	return true;
}

static bool read_call(struct program *program, char *line)
{
	struct call *call = &program->calls[program->count];
	size_t length = 0;
	char *rest, *word;

	memset(call, 0, sizeof(*call));
	for (call->command = 0; call->command < commands_count; call->command++) {
		length = strlen(commands[call->command].name);
		if (!strncmp(line, commands[call->command].name, length) &&
		    (!line[length] || isspace((unsigned char)line[length])))
			break;
	}
	if (call->command == commands_count || program->count == MOST_CALLS)
		return false;
	for (word = strtok_r(line + length, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest))
		if (!read_value(&commands[call->command], call, word))
			return false;
	program->count++;
	return true;
}

bool program_read(struct program *program, const char *text, unsigned int *line)
{
	char *copy = strdup(text), *rest = copy, *one;
	bool good = true;

	program->count = 0;
	for (*line = 0; good && (one = strsep(&rest, "\n"));) {
		++*line;
		if (*one && *one != '#')
			good = read_call(program, one);
	}
	free(copy);
	return good && program->count;
}

/* ------------------------------------------------------------------- writing */

size_t program_write(const struct program *program, char text[PROGRAM_BYTES])
{
	FILE *out = fmemopen(text, PROGRAM_BYTES, "w");
	long length;

	for (unsigned int at = 0; at < program->count; at++) {
		const struct call *call = &program->calls[at];
		const struct command *command = &commands[call->command];

		fputs(command->name, out);
		if (call->fd)
			fprintf(out, " fd=%u", call->fd);
		if (call->fail)
			fprintf(out, " fail=%u", call->fail);
		for (unsigned int i = 0; i < call->count; i++) {
			const struct value *value = &call->values[i];
			const struct field *field = &command->fields[value->field];

			fprintf(out, " %s", field->name);
			if (field->list != NO_LIST)
				fprintf(out, "[%u]", value->entry);
			if (value->reference)
				fprintf(out, "=%s%llu", reference_names[value->reference],
					(unsigned long long)value->number);
			else
				fprintf(out, value->number < 4096 ? "=%llu" : "=%#llx",
					(unsigned long long)value->number);
		}
		fputc('\n', out);
	}
	fflush(out);
	length = ftell(out);
	fclose(out);
	return (size_t)length;
}

/* ------------------------------------------------------------------ changing */

static uint64_t interesting(unsigned int bytes)
{
	static const uint64_t numbers[] = {
		0,	    1,		2,	    3,		4,	    5,
		7,	    8,		15,	    16,		31,	    32,
		33,	    47,		48,	    63,		64,	    65,
		80,	    127,	128,	    200,	255,	    256,
		1024,	    4095,	4096,	    65535,	1000000,    0x7fffffff,
		0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 1ull << 32, 3600000000000ull,
		1ull << 63, ~0ull,	~1ull,
	};
	uint64_t number = numbers[random_below(sizeof(numbers) / sizeof(numbers[0]))];

	switch (random_below(6)) {
	case 0:
		number = random_below(6);
		break;
	case 1:
		number = 1ull << random_below(64);
		break;
	case 2:
		number = random_state;
		break;
	}
	return bytes && bytes < 8 ? number & ((1ull << 8 * bytes) - 1) : number;
}

static bool named(const struct field *field, const char *word)
{
	size_t have = strlen(field->name), need = strlen(word);

	return have >= need && !strcmp(field->name + have - need, word);
}

static void fill_value(const struct command *command, struct value *value)
{
	const struct field *field;

	value->field = (uint8_t)random_below(command->fields_count);
	field = &command->fields[value->field];
	value->entry = (uint8_t)(random_below(3) ? 0 : random_below(MOST_ENTRIES));
	value->reference = REF_NONE;
	value->number = random_below(3) ? random_below(4) : interesting(field->bytes);
	if (named(field, "fabric") && random_below(8))
		value->reference = REF_FABRIC;
	else if ((named(field, "slice") || named(field, "id")) && random_below(4))
		value->reference = REF_SLICE;
	else if (named(field, "txn") && random_below(4))
		value->reference = REF_TXN;
	else if (named(field, "ptr") && random_below(4))
		value->reference = (uint8_t)(REF_BUFFER + random_below(2));
	else if (named(field, "nlflags") && random_below(2))
		value->number = 0x300; /* a dump */
	if (value->reference)
		value->number = value->reference == REF_FABRIC ? 0 : random_below(2);
	if (command->how == HOW_NETLINK && named(field, "id") && !random_below(3))
		value->reference = REF_TXN;
}

static void fill_call(struct call *call)
{
	const struct command *command;
	unsigned int count;

	memset(call, 0, sizeof(*call));
	call->command = (uint16_t)random_below(commands_count);
	command = &commands[call->command];
	if (command->how == HOW_PULL && random_below(8)) /* the calls after it have no fabric */
		command = &commands[call->command = 0];
	call->fd = (uint8_t)(random_below(4) ? random_below(3) : 0);
	count = command->fields_count ? 1 + random_below(6) : 0;
	for (call->count = 0; call->count < count; call->count++)
		fill_value(command, &call->values[call->count]);
}

static void change_values(struct call *call)
{
	const struct command *command = &commands[call->command];
	struct value *value = &call->values[call->count ? random_below(call->count) : 0];

	if (!command->fields_count)
		return;
	switch (random_below(4)) {
	case 0:
		if (call->count < MOST_VALUES)
			fill_value(command, &call->values[call->count++]);
		break;
	case 1:
		if (call->count)
			*value = call->values[--call->count];
		break;
	case 2:
		if (call->count)
			fill_value(command, value);
		break;
	default:
		value->number = interesting(command->fields[value->field].bytes);
		value->reference = REF_NONE;
	}
}

static void insert_call(struct program *program, const struct call *call)
{
	unsigned int at = random_below(program->count + 1u);

	if (program->count == MOST_CALLS)
		return;
	memmove(&program->calls[at + 1], &program->calls[at],
		(program->count - at) * sizeof(*call));
	program->calls[at] = *call;
	program->count++;
}

static void remove_call(struct program *program, unsigned int at)
{
	memmove(&program->calls[at], &program->calls[at + 1],
		(--program->count - at) * sizeof(program->calls[0]));
}

void program_mutate(struct program *program, const struct program *other)
{
	unsigned int steps = 1 + random_below(4);
	struct call call;

	while (steps--) {
		struct call *some = &program->calls[random_below(program->count)];

		switch (random_below(10)) {
		case 0:
		case 1:
			fill_call(&call);
			insert_call(program, &call);
			break;
		case 2:
			call = other->calls[random_below(other->count)];
			insert_call(program, &call);
			break;
		case 3:
			if (program->count > 1)
				remove_call(program, random_below(program->count));
			break;
		case 4:
			some->fd = (uint8_t)random_below(4);
			break;
		case 5:
			some->fail = (uint8_t)(random_below(3) ? 0 : 1 + random_below(24));
			break;
		default:
			change_values(some);
		}
	}
}
