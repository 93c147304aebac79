// SPDX-License-Identifier: GPL-2.0-only
/*
 * The structures of the device ABI have no holes, and 32-bit programs use the same layout.
 * core/base/layout.c asserts the offsets at build time, from the same list.
 */
#include <kunit/test.h>
#include <linux/morph.h>

#include "suites.h"

#define MOST_ROWS	512u

struct row {
	const char *type;
	const char *field;	/* NULL: the structure itself; its fields follow */
	u32 offset;		/* structure: its first size */
	u32 bytes;
	u32 align;
};

static struct row rows[MOST_ROWS];
static u32 rows_count;

static void add_row(struct row row)
{
	if (rows_count < MOST_ROWS)
		rows[rows_count] = row;
	rows_count++;
}

#define LAYOUT(name, first_bytes)				\
	add_row((struct row){					\
		.type = #name,					\
		.offset = first_bytes,				\
		.bytes = sizeof(struct name),			\
		.align = __alignof__(struct name),		\
	})
#define AT(name, member, at)						\
	add_row((struct row){						\
		.type = #name,						\
		.field = #member,					\
		.offset = offsetof(struct name, member),		\
		.bytes = sizeof_field(struct name, member),		\
		.align = __alignof__(((struct name *)NULL)->member),	\
	})

static int layout_init(struct kunit_suite *suite)
{
	rows_count = 0;
#include "core/base/layout.h"
	return rows_count <= MOST_ROWS ? 0 : -E2BIG;
}

/* The next structure, as a test parameter. */
static const void *layout_next(const void *prev, char *desc)
{
	const struct row *row = prev ? (const struct row *)prev + 1 : rows;

	while (row < rows + rows_count && row->field)
		row++;
	if (row == rows + rows_count)
		return NULL;
	strscpy(desc, row->type, KUNIT_PARAM_DESC_SIZE);
	return row;
}

/* Each field of a structure. */
#define for_each_field(field, type) \
	for ((field) = (type) + 1; (field) < rows + rows_count && (field)->field; (field)++)

/* A hole would copy uninitialised memory to user space. */
static void layout_has_no_holes(struct kunit *test)
{
	const struct row *type = test->param_value, *field;
	u32 end = 0;

	for_each_field(field, type) {
		KUNIT_EXPECT_EQ_MSG(test, end, field->offset, "before %s.%s", type->type,
				    field->field);
		end = field->offset + field->bytes;
	}
	KUNIT_EXPECT_EQ_MSG(test, end, type->bytes, "at the end of %s", type->type);
}

/* 32-bit programs align 64-bit numbers to 4 bytes, unless the type has an attribute. */
static void layout_is_aligned_by_itself(struct kunit *test)
{
	const struct row *type = test->param_value, *field;
	u32 most = 1;

	for_each_field(field, type) {
		KUNIT_EXPECT_EQ_MSG(test, 0u, field->offset % field->align, "%s.%s", type->type,
				    field->field);
		most = max(most, field->align);
	}
	KUNIT_EXPECT_EQ_MSG(test, most, type->align, "%s", type->type);
	KUNIT_EXPECT_EQ_MSG(test, 0u, type->bytes % type->align, "%s", type->type);
}

static void layout_has_only_grown(struct kunit *test)
{
	const struct row *type = test->param_value;

	KUNIT_EXPECT_GE(test, type->bytes, type->offset);
}

/* Size and flags come first, because the dispatcher reads them before all other fields. */
static void layout_begins_with_the_head(struct kunit *test)
{
	const struct row *row;
	u32 heads = 0;

	for (row = rows; row < rows + rows_count; row++) {
		if (!row->field || strcmp(row->field, "head"))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, 0u, row->offset, "%s", row->type);
		KUNIT_EXPECT_EQ_MSG(test, sizeof(struct morph_head), (size_t)row->bytes, "%s",
				    row->type);
		heads++;
	}
	KUNIT_EXPECT_GE(test, heads, 10u);
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE_PARAM(layout_has_no_holes, layout_next),
	KUNIT_CASE_PARAM(layout_is_aligned_by_itself, layout_next),
	KUNIT_CASE_PARAM(layout_has_only_grown, layout_next),
	KUNIT_CASE(layout_begins_with_the_head),
	{}
};

struct kunit_suite morph_layout_suite = {
	.name = "morph_layout",
	.suite_init = layout_init,
	.test_cases = layout_cases,
};
