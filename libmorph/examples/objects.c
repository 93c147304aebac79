// SPDX-License-Identifier: MIT
/*
 * Attributes of each type of object, words of an enumeration, and a new object, as a library above
 * libmorph creates it. Needs no kernel.
 *
 *	objects WORD
 *
 * cc objects.c $(pkg-config --cflags --libs libmorph)
 */
#include <errno.h>
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>

/* Print names and types of all attributes that a circuit can have. */
static void print_schema(void)
{
	MORPH_OPTS(morph_attr, attr);

	for (size_t at = 0; morph_schema_attr(MORPH_OBJECT_CIRCUIT, at, &attr); at++)
		printf("%s%s: %s\n", attr.name, attr.is_list ? " (list)" : "", attr.doc);
}

/* The value of a word. If it is unknown, print all words. */
static int64_t look_up(const char *word)
{
	int64_t value = morph_enum_value(MORPH_ENUM_HEALTH, word);

	if (value < 0)
		for (size_t at = 0; morph_enum_word(MORPH_ENUM_HEALTH, at); at++)
			printf("%s\n", morph_enum_word(MORPH_ENUM_HEALTH, at));
	return value;
}

/* A plan with one rank. */
static struct morph_object *make_plan(struct morph_ctx *ctx)
{
	struct morph_object *plan = morph_object_new(MORPH_OBJECT_PLAN);
	struct morph_object *rank = morph_object_new(MORPH_OBJECT_PLAN_RANK);
	MORPH_OPTS(morph_value, accelerator, .uint = 7);
	MORPH_OPTS(morph_value, verdict, .text = "feasible");
	MORPH_OPTS(morph_value, inner, .object = rank);

	if (!plan || !rank || morph_object_put(rank, "accelerator", &accelerator)) {
		morph_error_set(ctx, ENOMEM, "no memory for a plan");
		morph_object_free(rank);
		goto fail;
	}
	if (morph_object_put(plan, "verdict", &verdict) || morph_object_put(plan, "rank", &inner)) {
		morph_error_set(ctx, ENOMEM, "no memory for a plan");
		goto fail;
	}
	return plan;
fail:
	morph_object_free(plan);
	return NULL;
}

int main(int argc, char **argv)
{
	struct morph_object *plan;
	struct morph_ctx *ctx;
	int status = 1;

	if (argc != 2) {
		fprintf(stderr, "usage: objects WORD\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	print_schema();
	printf("%s is %" PRId64 "\n", argv[1], look_up(argv[1]));
	plan = make_plan(ctx);
	if (plan) {
		const struct morph_object *rank = morph_object_nested_at(plan, "rank", 0);

		MORPH_OPTS(morph_value, verdict);
		MORPH_OPTS(morph_value, accelerator);

		/* The first value of a list, or the only value of another attribute. */
		if (morph_object_value(plan, "verdict", 0, &verdict) &&
		    morph_object_value(rank, "accelerator", 0, &accelerator))
			printf("%s: accelerator %" PRIu64 ", %" PRId64 "\n", verdict.text,
			       accelerator.uint, accelerator.sint);
		status = 0;
	} else {
		fprintf(stderr, "%s\n", morph_error_text(ctx));
	}
	morph_object_free(plan);
	morph_ctx_free(ctx);
	return status;
}
