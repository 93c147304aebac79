// SPDX-License-Identifier: MIT
/*
 * Allocate a slice, light a ring over its ranks, read it back, and end it.
 *
 *	slice [FABRIC ACCELERATORS [NAME]]
 *
 * FABRIC is a number, a name or a UUID. With 0 ACCELERATORS the slice gets accelerators 0 and 1. A
 * slice without a name ends with the program.
 *
 * cc slice.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Print the details of a refusal besides its sentence. */
static void print_refusal(struct morph_ctx *ctx)
{
	MORPH_OPTS(morph_error, error);

	morph_error_get(ctx, &error);
	fprintf(stderr, "the kernel says '%s': part %" PRIu32 ", index %" PRIu32 "\n",
		error.kernel_text, error.part, error.index);
}

static int print_fabric(struct morph_fabric *fabric)
{
	struct morph_object *info;
	int error = morph_fabric_info(fabric, &info);

	if (error)
		return error;
	printf("fabric %s, profile %s: %" PRIu64 " accelerators are free\n",
	       morph_object_text(info, "name"), morph_object_text(info, "profile"),
	       morph_object_uint(info, "free"));
	morph_object_free(info);
	return 0;
}

/* List each fabric of this machine if none was named. */
static int list_fabrics(struct morph_ctx *ctx)
{
	struct morph_list *list;

	if (morph_fabrics(ctx, &list))
		return fail(ctx, "fabrics");
	printf("libmorph %s, %zu fabrics\n", morph_library_version(), morph_list_count(list));
	for (size_t at = 0; at < morph_list_count(list); at++)
		printf("%s\n", morph_object_text(morph_list_get(list, at), "name"));
	morph_list_free(list);
	return 0;
}

/* @count accelerators; 0: accelerators 0 and 1, with accelerator 2 as their only spare. */
static struct morph_request *make_request(struct morph_ctx *ctx, uint32_t count, const char *name)
{
	static const uint32_t accelerators[] = { 0, 1 }, spares[] = { 2 };
	MORPH_OPTS(morph_request_opts, opts, .failover = MORPH_FAILOVER_AUTOMATIC,
		   .transit = MORPH_TRANSIT_ANY, .spare_policy = MORPH_SPARES_ANY, .name = name,
		   .mode = name ? 0660 : 0);
	struct morph_request *request = morph_request_new(ctx);

	if (!request)
		return NULL;
	if (!count) {
		opts.spares = spares;
		opts.spares_count = 1;
		opts.flags = MORPH_REQUEST_RESERVE_SPARE;
	}
	if (morph_request_set_opts(request, &opts) ||
	    (count ? morph_request_set_count(request, count) :
		     morph_request_set_accelerators(request, accelerators, 2))) {
		morph_request_free(request);
		return NULL;
	}
	return request;
}

static int print_slice(struct morph_slice *slice)
{
	struct morph_list *circuits;
	struct morph_object *info;
	int error = morph_slice_read(slice, &info, &circuits);

	if (error)
		return error;
	for (size_t rank = 0; rank < morph_object_values(info, "rank"); rank++)
		printf("rank %zu: accelerator %" PRIu64 "\n", rank,
		       morph_object_uint(morph_object_nested_at(info, "rank", rank),
					 "accelerator"));
	for (size_t at = 0; at < morph_list_count(circuits); at++) {
		const struct morph_object *circuit = morph_list_get(circuits, at);

		printf("circuit %" PRIu64 ": rank %" PRIu64 " to rank %" PRIu64 "\n",
		       morph_object_uint(circuit, "id"), morph_object_uint(circuit, "src-rank"),
		       morph_object_uint(circuit, "dst-rank"));
	}
	morph_list_free(circuits);
	morph_object_free(info);
	return 0;
}

/* Another process, or a container, can receive the fd; it needs no device node. */
static int use_fd(struct morph_ctx *ctx, int fd)
{
	struct morph_slice *same;
	int error = morph_slice_from_fd(ctx, dup(fd), &same);

	if (error)
		return error;
	error = print_slice(same);
	morph_slice_close(same);
	return error;
}

static int use_slice(struct morph_ctx *ctx, struct morph_fabric *fabric, uint32_t count,
		     const char *name)
{
	struct morph_request *request = make_request(ctx, count, name);
	struct morph_slice *slice;
	int error;

	if (!request)
		return fail(ctx, "request");
	error = morph_slice_create(fabric, request, &slice);
	morph_request_free(request);
	if (error) {
		print_refusal(ctx);
		return fail(ctx, "slice");
	}
	error = morph_slice_light_ring(slice, NULL, NULL);
	if (!error)
		error = use_fd(ctx, morph_slice_get_fd(slice));
	/* The driver tries spare 0 first if the accelerator of rank 0 fails. */
	if (!error && morph_slice_prefer(slice, 0, 0))
		printf("no preference: %s\n", morph_error_text(ctx));
	morph_slice_close(slice);
	if (name && !error)
		error = morph_slice_delete(fabric, name, false);
	return error ? fail(ctx, "ring") : 0;
}

int main(int argc, char **argv)
{
	struct morph_fabric *fabric;
	struct morph_ctx *ctx;
	int status;

	if (argc == 2) {
		fprintf(stderr, "usage: slice [FABRIC ACCELERATORS [NAME]]\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	if (argc == 1) {
		status = list_fabrics(ctx);
	} else if (morph_fabric_open(ctx, argv[1], &fabric)) {
		status = fail(ctx, argv[1]);
	} else {
		status = print_fabric(fabric) ?
				 fail(ctx, argv[1]) :
				 use_slice(ctx, fabric, (uint32_t)atoi(argv[2]), argv[3]);
		morph_fabric_close(fabric);
	}
	morph_ctx_free(ctx);
	return status;
}
