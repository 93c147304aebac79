// SPDX-License-Identifier: MIT
/*
 * Request the steps of a schedule through shared memory, without a system call for each, and read
 * the lit circuits there. Code on a device uses the same memory with <morph/device.h>.
 *
 *	queue SLICE SCHEDULE [device]
 *
 * cc queue.c $(pkg-config --cflags --libs libmorph)
 */
#include <inttypes.h>
#include <morph/device.h>
#include <morph/morph.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000ll

static int fail(struct morph_ctx *ctx, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, morph_error_text(ctx));
	return 1;
}

/* Print the position of the slice, and the circuits from rank 0 to rank 1. */
static int print_state(struct morph_slice *slice)
{
	MORPH_OPTS(morph_state_slice, now);
	struct morph_state_pair pair;
	struct morph_state *state;
	int error = morph_slice_state_map(slice, &state);

	if (error)
		return error;
	error = morph_state_slice(state, &now);
	if (!error)
		error = morph_state_read(state, 0, 1, &pair);
	if (!error)
		printf("generation %" PRIu64 ", position %" PRIu64 "\n", now.generation,
		       now.position);
	morph_state_close(state);
	return error;
}

/* The same in code on a device, which has the address of the memory and makes no calls. */
static void ask_from_device(void *base, uint32_t entries, uint64_t position)
{
	struct morph_device_ring device = { .base = base, .entries = entries };
	struct morph_device_answer answer;

	if (morph_device_submit(&device, MORPH_DEVICE_GO, 1, 0, position))
		return;
	while (!morph_device_answered(&device, &answer))
		;
	printf("request %u: position %llu\n", answer.tag, answer.position);
}

static int ask(struct morph_queue *ring, uint64_t position)
{
	MORPH_OPTS(morph_queue_status, status);
	MORPH_OPTS(morph_queue_answer, answer);
	int error = morph_queue_ask(ring, MORPH_RING_GO, 0, position, 7);

	if (!error)
		error = morph_queue_wake(ring);
	if (!error)
		error = morph_queue_answer(ring, SECOND_NS, &answer);
	if (error < 0)
		return error;
	printf("request %" PRIu32 ": position %" PRIu64 ", error %" PRId32 "\n", answer.tag,
	       answer.position, answer.error);
	error = morph_queue_state(ring, &status);
	if (!error)
		printf("%" PRIu64 " requests taken\n", status.taken);
	return error;
}

int main(int argc, char **argv)
{
	MORPH_OPTS(morph_queue_open_opts, opts, .entries = 64);
	struct morph_slice *slice;
	MORPH_OPTS(morph_queue_status, queue);
	struct morph_queue *ring;
	struct morph_ctx *ctx;
	int status = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: queue SLICE SCHEDULE [device]\n");
		return 2;
	}
	if (morph_ctx_new(NULL, &ctx))
		return 1;
	if (morph_slice_open(ctx, argv[1], &slice)) {
		status = fail(ctx, argv[1]);
		goto out;
	}
	if (morph_slice_open_queue(slice, (uint32_t)atoi(argv[2]), &opts, &ring)) {
		status = fail(ctx, "queue");
	} else {
		if (argc == 4 && morph_queue_state(ring, &queue) >= 0)
			ask_from_device(queue.base, queue.entries, 2);
		else if (ask(ring, 2) || print_state(slice))
			status = fail(ctx, "queue");
		morph_queue_close(ring);
	}
	morph_slice_close(slice);
out:
	morph_ctx_free(ctx);
	return status;
}
