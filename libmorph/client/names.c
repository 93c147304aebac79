// SPDX-License-Identifier: LGPL-2.1-or-later
/* Access to words and schemas in the tables of attrs_gen.c. */
#include <ctype.h>
#include <stdio.h>

#include "internal.h"

static const struct lm_enum *enum_of(uint32_t enumeration)
{
	return enumeration < LM_ENUMS_COUNT ? &lm_enums[enumeration] : NULL;
}

MORPH_API const char *morph_enum_word(uint32_t enumeration, size_t position)
{
	const struct lm_enum *table = enum_of(enumeration);

	return table && position < table->count ? table->words[position].word : NULL;
}

MORPH_API const char *morph_enum_name(uint32_t enumeration, uint32_t value)
{
	const struct lm_enum *table = enum_of(enumeration);

	for (uint32_t at = 0; table && at < table->count; at++)
		if (table->words[at].value == value)
			return table->words[at].word;
	return NULL;
}

static bool same_word(const char *word, const char *given)
{
	for (; *word && *given; word++, given++)
		if (*word != (*given == '_' ? '-' : tolower((unsigned char)*given)))
			return false;
	return !*word && !*given;
}

MORPH_API int64_t morph_enum_value(uint32_t enumeration, const char *word)
{
	const struct lm_enum *table = enum_of(enumeration);

	for (uint32_t at = 0; table && at < table->count; at++)
		if (same_word(table->words[at].word, word))
			return table->words[at].value;
	return -EINVAL;
}

/* ----------------------------------------------------------------- schemas */

const struct lm_schema *lm_schema(uint32_t type)
{
	if (type >= LM_SCHEMAS_COUNT || !lm_schemas[type].name)
		return NULL;
	return &lm_schemas[type];
}

int lm_schema_slot(const struct lm_schema *schema, uint32_t number)
{
	for (uint32_t slot = 0; slot < schema->count; slot++)
		if (schema->attrs[slot].number == number)
			return (int)slot;
	return -1;
}

const struct lm_command *lm_command(uint32_t number)
{
	for (unsigned int at = 0; at < lm_commands_count; at++)
		if (lm_commands[at].number == number)
			return &lm_commands[at];
	return NULL;
}

const char *morph_object_type_name(uint32_t type)
{
	const struct lm_schema *schema = lm_schema(type);

	return schema ? schema->name : NULL;
}

MORPH_API bool morph_schema_attr(uint32_t type, size_t position, struct morph_attr *out)
{
	const struct lm_schema *schema = lm_schema(type);

	if (!schema || position >= schema->count)
		return false;
	lm_attr_describe(&schema->attrs[position], 0, out);
	return true;
}

/* ----------------------------------------------------------- uuid, numbers */

bool lm_uuid_parse(const char *text, uint8_t bytes[MORPH_UUID_BYTES])
{
	int digits = 0;

	for (; *text; text++) {
		if (*text == '-' && (digits == 8 || digits == 12 || digits == 16 || digits == 20))
			continue;
		if (!isxdigit((unsigned char)*text) || digits == 2 * MORPH_UUID_BYTES)
			return false;
		bytes[digits / 2] =
			(uint8_t)(bytes[digits / 2] << 4 |
				  (isdigit((unsigned char)*text) ? *text - '0' :
								   (*text | 0x20) - 'a' + 10));
		digits++;
	}
	return digits == 2 * MORPH_UUID_BYTES;
}

bool lm_number(const char *text, uint32_t *value)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

const char *lm_only_name(const char *which)
{
	static const char prefix[] = "name:";

	return strncmp(which, prefix, sizeof(prefix) - 1) ? NULL : which + sizeof(prefix) - 1;
}

static bool is_number(const char *name, int base)
{
	char *end;

	(void)strtoll(name, &end, base);
	return *name && !*end;
}

bool lm_reads_as_number(const char *name)
{
	/* 08 is a number for programs that read decimal digits only. */
	return is_number(name, 0) || is_number(name, 10);
}
