// SPDX-License-Identifier: MIT
/*
 * Wait for the events of a slice, and print all of their attributes.
 *
 *	events SLICE [SECONDS]
 *
 * cc events.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000ll

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Print every attribute of an object. */
static void print_object(const struct morph_object *object)
{
	MORPH_OPTS(morph_attr, attr);
	MORPH_OPTS(morph_value, value);

	printf("object of type %" PRIu32, morph_object_type(object));
	for (size_t at = 0; morph_object_attr(object, at, &attr); at++) {
		morph_object_value(object, attr.name, 0, &value);
		if (attr.type == MORPH_ATTR_STRING)
			printf(" %s=%s", attr.name, value.text);
		else if (attr.type == MORPH_ATTR_SINT)
			printf(" %s=%" PRId64, attr.name, value.sint);
		else if (attr.type == MORPH_ATTR_ENUM)
			printf(" %s=%s", attr.name,
			       morph_enum_name(attr.enumeration, (uint32_t)value.uint));
		else if (attr.type == MORPH_ATTR_UINT)
			printf(" %s=%" PRIu64, attr.name, value.uint);
	}
	printf("\n");
}

static int read_events(struct morph_slice *slice)
{
	struct morph_list *events;
	int count = morph_slice_read_events(slice, &events);

	if (count < 0)
		return count;
	for (size_t at = 0; at < (size_t)count; at++)
		print_object(morph_list_get(events, at));
	morph_list_free(events);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t timeout_ns = argc > 2 ? atoll(argv[2]) * SECOND_NS : -1;
	struct morph_slice *slice;
	struct morph_ctx *ctx;
	int ready, status = 1;

	if (argc < 2) {
		fprintf(stderr, "usage: events SLICE [SECONDS]\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	if (morph_slice_open(ctx, argv[1], &slice)) {
		fail(ctx, argv[1]);
		goto free_ctx;
	}
	/* A program with its own poll loop uses morph_slice_get_fd() and POLLIN instead. */
	printf("fd %d\n", morph_slice_get_fd(slice));
	while ((ready = morph_slice_wait(slice, timeout_ns)) > 0)
		if (read_events(slice))
			break;
	status = ready ? fail(ctx, "events") : 0;
	morph_slice_close(slice);
free_ctx:
	morph_ctx_free(ctx);
	return status;
}
