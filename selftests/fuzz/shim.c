// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input corrupts a file of plans: the length of the file, then words with their places. The
 * reader rejects a wrong checksum, so the target corrects the checksum. If the reader accepts the
 * file, the target looks up all plans, and reads the written file again.
 */
#include <endian.h>
#include <errno.h>

#include "../../libmorph/internal/planner.h"
#include "transport.h"

#define RANKS 4
#define PLANES 2
#define KINDS 5
#define ABOUT 22 /* number of words before the checksum: shorter files are only truncated */

static struct morph_shim *make(struct morph_ctx *ctx)
{
	MORPH_OPTS(morph_shim_opts, opts, .ranks = RANKS, .planes = PLANES, .most_bytes = 1 << 22);
	struct morph_delay *delay = morph_delay_new(ctx);
	struct morph_shim *shim;
	uint64_t settle_ns = 1000;

	MUST(!morph_delay_set_link(delay, 500, 100, 100000));
	MUST(!morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1));
	MUST(!morph_shim_new(ctx, delay, &opts, &shim));
	morph_delay_free(delay);
	return shim;
}

/* Use everything in the file. */
static void read_schedule(const struct morph_schedule *schedule)
{
	struct morph_hold hold;
	struct morph_send send;
	uint32_t src, dst;

	for (uint32_t at = 0; at < morph_schedule_holds(schedule); at++) {
		MUST(!morph_schedule_hold(schedule, at, &hold));
		for (uint32_t number = 0; number < hold.circuits; number++)
			MUST(!morph_schedule_circuit(schedule, at, number, &src, &dst));
	}
	for (uint32_t at = 0; at < morph_schedule_sends(schedule); at++) {
		MUST(!morph_schedule_send(schedule, at, &send));
		for (uint32_t hop = 0; hop < send.hops; hop++)
			MUST(morph_schedule_hop(schedule, at, hop) <
			     morph_schedule_holds(schedule));
	}
}

/* Look up each collective after the one before it. Return their number. */
static uint32_t look_up(struct morph_shim *shim)
{
	const struct morph_shim_plan *plan, *last = NULL;
	uint32_t found = 0;

	for (uint32_t kind = 1; kind <= KINDS; kind++) {
		if (morph_shim_lookup(shim, kind, 3000, last, &plan))
			continue;
		read_schedule(morph_shim_plan_schedule(plan));
		last = plan;
		found++;
	}
	return found;
}

/* Return the same valid file at each call. */
static uint8_t *sound(struct morph_ctx *ctx, size_t *bytes)
{
	static uint8_t *file;
	static size_t size;

	if (!file) {
		struct morph_shim *shim = make(ctx);

		MUST(look_up(shim) == KINDS);
		size = (size_t)morph_shim_write(shim, NULL, 0);
		file = malloc(size);
		MUST(file && morph_shim_write(shim, file, size) == (ssize_t)size);
		morph_shim_free(shim);
	}
	*bytes = size;
	return file;
}

static void put(uint8_t *file, size_t word, uint32_t value)
{
	value = htole32(value);
	memcpy(file + 4 * word, &value, 4);
}

static void set_right(uint8_t *file, size_t words)
{
	uint32_t crc = UINT32_MAX;

	put(file, 4, (uint32_t)words);
	for (size_t at = 0; at < 4 * (words - 1); at++) {
		crc ^= file[at];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	put(file, words - 1, ~crc);
}

static void read_corrupt(struct morph_ctx *ctx, const uint8_t *file, size_t bytes)
{
	struct morph_shim *shim = make(ctx), *again = make(ctx);
	int ret = morph_shim_read(shim, file, bytes);
	char why[256] = "";

	if (ret) {
		morph_shim_why(shim, why, sizeof(why));
		MUST(*why && !morph_shim_plans(shim, NULL));
		MUST(ret == -EINVAL || ret == -ESTALE || ret == -EBADMSG || ret == -ENOSPC);
	} else {
		ssize_t size = morph_shim_write(shim, NULL, 0);
		void *copy = malloc((size_t)size);

		MUST(copy && morph_shim_write(shim, copy, (size_t)size) == size);
		MUST(!morph_shim_read(again, copy, (size_t)size));
		free(copy);
		look_up(shim);
	}
	morph_shim_free(shim);
	morph_shim_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input none = { 0 }, input = { data, size };
	struct morph_ctx *ctx = transport_ctx(&none, true);
	size_t bytes, words, left;
	uint8_t *real = sound(ctx, &bytes), *file = malloc(bytes);

	MUST(file);
	memcpy(file, real, bytes);
	left = eat16(&input);
	words = left ? left % (bytes / 4) : bytes / 4;
	words = words < MORPH_WIRE_HEAD + ABOUT ? MORPH_WIRE_HEAD + ABOUT : words;
	while (input.left) {
		size_t at = eat16(&input) % words;

		put(file, at, eat32(&input));
	}
	set_right(file, words);
	real = malloc(4 * words);
	MUST(real);
	memcpy(real, file, 4 * words);
	read_corrupt(ctx, real, 4 * words);
	free(real);
	free(file);
	morph_ctx_free(ctx);
	return 0;
}
