/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of attrs_gen.c. */
#ifndef LM_SCHEMA_H
#define LM_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include <morph/morph.h>

#include "attrs_gen.h"

struct lm_word {
	const char *word;
	uint32_t value;
};

struct lm_enum {
	const struct lm_word *words;
	uint32_t count;
};

/* One attribute; @number is the netlink number, or one of attrs_gen.h. */
struct lm_attr {
	const char *name;
	const char *doc;
	uint16_t number;
	uint8_t type; /* enum morph_attr_type */
	uint8_t enumeration; /* enum morph_enum, for MORPH_ATTR_ENUM */
	uint8_t object; /* enum morph_object_type, for MORPH_ATTR_OBJECT */
	bool list;
};

struct lm_schema {
	const char *name;
	const struct lm_attr *attrs;
	uint32_t count;
};

struct lm_command {
	const char *name;
	uint32_t number;
	uint32_t object;
};

extern const struct lm_enum lm_enums[LM_ENUMS_COUNT];
extern const struct lm_schema lm_schemas[LM_SCHEMAS_COUNT]; /* gaps are zero */
extern const struct lm_command lm_commands[];
extern const unsigned int lm_commands_count;

/* The schema of @type, or NULL. */
const struct lm_schema *lm_schema(uint32_t type);

/* The slot of the attribute with netlink number @number, or -1. */
int lm_schema_slot(const struct lm_schema *schema, uint32_t number);

/* Fill a caller's structure about an attribute with @values values. */
void lm_attr_describe(const struct lm_attr *attr, size_t values, struct morph_attr *out);

/* The command with netlink number @number, or NULL. */
const struct lm_command *lm_command(uint32_t number);

#endif /* LM_SCHEMA_H */
