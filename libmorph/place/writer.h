/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects that describe results of the planner. */
#ifndef LM_PLAN_WRITER_H
#define LM_PLAN_WRITER_H

#include "place.h"

/* Fills an object. After the first error it adds no more attributes. */
struct writer {
	struct morph_object *object;
	int error;
};

static inline struct writer writer_begin(uint32_t type)
{
	struct writer writer = { .object = morph_object_new(type) };

	writer.error = writer.object ? 0 : -ENOMEM;
	return writer;
}

static inline void put(struct writer *writer, const char *attribute, uint64_t number)
{
	MORPH_OPTS(morph_value, value, .uint = number);

	if (!writer->error)
		writer->error = morph_object_put(writer->object, attribute, &value);
}

static inline void put_text(struct writer *writer, const char *attribute, const char *text)
{
	MORPH_OPTS(morph_value, value, .text = text);

	if (!writer->error)
		writer->error = morph_object_put(writer->object, attribute, &value);
}

/* Takes ownership of @inner. */
static inline void put_inner(struct writer *writer, const char *attribute, struct writer *inner)
{
	MORPH_OPTS(morph_value, value, .object = inner->object);

	if (!writer->error)
		writer->error = inner->error;
	if (writer->error)
		morph_object_free(inner->object);
	else
		writer->error = morph_object_put(writer->object, attribute, &value);
}

/* The object; or NULL, and everything is freed. */
static inline struct morph_object *writer_end(struct writer *writer)
{
	if (!writer->error)
		return writer->object;
	morph_object_free(writer->object);
	return NULL;
}

/* describe.c: a plan, whatever its verdict. */
struct writer lm_plan_write(const struct morph_plan *plan, const struct morph_ledger *ledger);
const char *lm_verdict_text(uint32_t verdict);

/* The fibres of a circuit to the next server. */
void lm_strand_write(struct writer *writer, const struct strand *strand);

#endif /* LM_PLAN_WRITER_H */
