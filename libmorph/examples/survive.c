// SPDX-License-Identifier: MIT
/*
 * Run a job that survives failovers: create a slice, light a ring over its ranks, and follow
 * its events. The driver replaces a failed accelerator by itself. The launcher only starts the
 * process of that rank again, on the accelerator that has taken over.
 *
 *	survive FABRIC RANKS [FAILOVERS]
 *
 * The program ends after FAILOVERS completed failovers (default: never), or when the slice or
 * the fabric is gone.
 *
 * cc survive.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/morph.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	struct morph_ctx *ctx;
	struct morph_fabric *fabric;
	struct morph_slice *slice;
	uint64_t replaced; /* accelerators */
	uint64_t failovers; /* replacements when the slice was last whole */
	bool gone; /* the slice, or its fabric */
};

/* A launcher starts, or starts again, the process of this rank here. */
static void start_rank(uint64_t rank, uint64_t accelerator)
{
	printf("start rank %" PRIu64 " on accelerator %" PRIu64 "\n", rank, accelerator);
}

static int start_all_ranks(struct job *job)
{
	struct morph_object *info;
	int error = morph_slice_read(job->slice, &info, NULL);

	if (error)
		return error;
	for (size_t rank = 0; rank < morph_object_values(info, "rank"); rank++)
		start_rank(rank, morph_object_uint(morph_object_nested_at(info, "rank", rank),
						   "accelerator"));
	morph_object_free(info);
	return 0;
}

static int create_slice(struct job *job, const char *fabric, uint32_t ranks)
{
	MORPH_OPTS(morph_request_opts, opts, .failover = MORPH_FAILOVER_AUTOMATIC);
	struct morph_request *request;
	int error = morph_fabric_open(job->ctx, fabric, &job->fabric);

	if (error)
		return error;
	request = morph_request_new(job->ctx);
	error = request ? morph_request_set_count(request, ranks) : -1;
	if (!error)
		error = morph_request_set_opts(request, &opts);
	if (!error)
		error = morph_slice_create(job->fabric, request, &job->slice);
	morph_request_free(request);
	if (!error)
		error = morph_slice_light_ring(job->slice, NULL, NULL);
	return error;
}

static int handle_event(struct job *job, const struct morph_object *event)
{
	uint64_t rank = morph_object_uint(event, "rank");

	switch (morph_object_uint(event, "type")) {
	case MORPH_EVENT_FAILING: /* The driver looks for a spare. */
		printf("stop rank %" PRIu64 "\n", rank);
		return 0;
	case MORPH_EVENT_REPLACED: /* The circuits of the rank are lit again, and verified. */
		start_rank(rank, morph_object_uint(event, "new-accelerator"));
		job->replaced++;
		return 0;
	case MORPH_EVENT_RECOVERED:
		printf("the slice is whole\n");
		job->failovers = job->replaced;
		return 0;
	case MORPH_EVENT_DEGRADED: /* No spare, or no path. The driver tries again. */
		printf("the slice is degraded; wait for the operator\n");
		return 0;
	case MORPH_EVENT_LOST: /* Events came faster than this program read them. */
		return start_all_ranks(job);
	case MORPH_EVENT_SLICE_GONE:
	case MORPH_EVENT_FABRIC_GONE:
		job->gone = true;
		return 0;
	default:
		return 0;
	}
}

/* Wait for events and handle them. A program with its own loop polls morph_slice_get_fd(). */
static int handle_events(struct job *job)
{
	struct morph_list *events = NULL;
	int error = morph_slice_wait(job->slice, -1);

	if (error > 0)
		error = morph_slice_read_events(job->slice, &events);
	if (error < 0 || !events)
		return error;
	error = 0;
	for (size_t at = 0; !error && at < morph_list_count(events); at++)
		error = handle_event(job, morph_list_get(events, at));
	morph_list_free(events);
	return error;
}

int main(int argc, char **argv)
{
	uint64_t most = argc > 3 ? strtoull(argv[3], NULL, 0) : UINT64_MAX;
	struct job job = { 0 };
	int error;

	if (argc < 3) {
		fprintf(stderr, "usage: survive FABRIC RANKS [FAILOVERS]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (morph_ctx_new(NULL, &job.ctx))
		return 1;
	error = create_slice(&job, argv[1], (uint32_t)atoi(argv[2]));
	if (!error)
		error = start_all_ranks(&job);
	while (!error && !job.gone && job.failovers < most)
		error = handle_events(&job);
	if (error)
		fprintf(stderr, "survive: %s\n", morph_error_text(job.ctx));
	morph_slice_close(job.slice); /* A slice without a name ends with its last user. */
	morph_fabric_close(job.fabric);
	morph_ctx_free(job.ctx);
	return error ? 1 : 0;
}
