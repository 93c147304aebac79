// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a schedule of segments, in Harvest's form. The target plans rounds with its links,
 * and reads the written plan again.
 */
#include <errno.h>

#include <morph/formats.h>

#include "../../libmorph/internal/planner.h"
#include "transport.h"

#define SETTLE_NS 1000

/* Limits of the plans: larger ones take longer and reach no more code. */
#define RANKS 16
#define ROUNDS 8
#define LINKS 64

/*
 * Each link of a step sends its own chunk. Return false if a limit is exceeded or there is nothing
 * to send.
 */
static bool build(const struct morph_segments *segments, struct morph_collective *collective)
{
	struct morph_segments_about about;
	uint32_t links = 0;

	morph_segments_about(segments, &about);
	if (!about.ranks || about.ranks > RANKS || about.steps > ROUNDS)
		return false;
	MUST(!morph_collective_begin(collective, about.ranks));
	for (uint32_t step = 0; step < about.steps; step++) {
		MUST(morph_collective_add_round(collective) == (int)step);
		struct morph_link link;

		for (uint32_t at = 0; !morph_segments_link(segments, step, at, &link); at++) {
			int chunk;

			if (links++ == LINKS)
				return false;
			chunk = morph_collective_add_chunk(collective, link.src, link.dst, 4096);
			MUST(chunk >= 0 && morph_collective_add_transfer(collective, link.src,
									 link.dst, false) >= 0);
			MUST(!morph_collective_add_run(collective, (uint32_t)chunk, 1));
		}
	}
	return true;
}

/* Add a circuit for each transfer to the step of its round. */
static void check_steps(const struct morph_segments *segments,
			const struct morph_collective *collective)
{
	for (uint32_t round = 0; round < morph_collective_rounds(collective); round++) {
		for (uint32_t at = 0; at < morph_collective_transfers(collective, round); at++) {
			struct morph_transfer transfer;
			struct morph_link link = { 0 };
			bool found = false;

			MUST(!morph_collective_transfer(collective, round, at, &transfer));
			for (uint32_t which = 0;
			     !found && !morph_segments_link(segments, round, which, &link); which++)
				found = link.src == transfer.src && link.dst == transfer.dst;
			MUST(found);
		}
	}
}

static void write_and_read(const struct morph_collective *collective,
			   const struct morph_delay *delay, const struct morph_schedule *schedule)
{
	struct morph_segments *segments;
	char why[256] = "", *text;
	ssize_t bytes =
		morph_segments_write(schedule, collective, delay, "a", NULL, 0, why, sizeof(why));
	struct morph_segments_about about;

	MUST(bytes > 0);
	text = malloc((size_t)bytes);
	MUST(text && morph_segments_write(schedule, collective, delay, "a", text, (size_t)bytes,
					  NULL, 0) == bytes);
	MUST(!morph_segments_read(text, (size_t)bytes, &segments, why, sizeof(why)));
	free(text);
	morph_segments_about(segments, &about);
	MUST(about.steps == morph_collective_rounds(collective));
	/* The first topology exists from the start, and takes no time to set. */
	MUST(about.cost_ns + (morph_schedule_sends(schedule) ? SETTLE_NS : 0) ==
	     (double)morph_schedule_ns(schedule, NULL));
	check_steps(segments, collective);
	morph_segments_free(segments);
}

static void plan(const struct morph_segments *segments)
{
	MORPH_OPTS(morph_schedule_opts, opts, .policy = MORPH_POLICY_EACH_ROUND, .planes = 4);
	struct input none = { 0 };
	struct morph_ctx *ctx = transport_ctx(&none, true);
	struct morph_collective *collective = morph_collective_new(ctx);
	struct morph_schedule *schedule = morph_schedule_new(ctx);
	struct morph_delay *delay = morph_delay_new(ctx);
	uint64_t settle_ns = SETTLE_NS;

	MUST(!morph_delay_set_link(delay, 500, 100, 100000));
	MUST(!morph_delay_set_part(delay, MORPH_DELAY_SETTLE, &settle_ns, 1));
	if (build(segments, collective) &&
	    !morph_schedule_plan(schedule, collective, delay, &opts) &&
	    morph_schedule_verdict(schedule) == MORPH_FEASIBLE)
		write_and_read(collective, delay, schedule);
	morph_schedule_free(schedule);
	morph_collective_free(collective);
	morph_delay_free(delay);
	morph_ctx_free(ctx);
}

static void check_links(const struct morph_segments *segments)
{
	struct morph_segments_about about;

	morph_segments_about(segments, &about);
	for (uint32_t step = 0; step < about.steps; step++) {
		struct morph_link link;

		for (uint32_t at = 0; !morph_segments_link(segments, step, at, &link); at++)
			MUST(link.src < about.ranks && link.dst < about.ranks &&
			     link.src != link.dst && link.capacity > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	void *text = eat_bytes(&input, size);
	struct morph_segments *segments = NULL;
	char why[256] = "";
	int ret = morph_segments_read(text, size, &segments, why, sizeof(why));

	MUST(!ret == !*why && !ret == !!segments);
	MUST(!ret || ret == -EINVAL || ret == -E2BIG);
	MUST(!ret || !strncmp(why, "line ", 5));
	if (segments) {
		check_links(segments);
		plan(segments);
	}
	morph_segments_free(segments);
	free(text);
	return 0;
}
