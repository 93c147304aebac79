// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl plan --lost: a schedule that goes on without some ports */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "value.h"

#define MOST_LOSSES 256

static enum exit_code malformed(struct run *run, const char *text)
{
	return usage_error(
		run,
		"--lost wants ports as 3:1, 3:1t or 3:1r,4:0 and from when on as @20000, "
		"not '%s'",
		text);
}

/* RANK:PLANE, and t or r where it is one port of both. */
static const char *parse_loss(const char *text, struct morph_loss *loss)
{
	char *end;

	*loss = (struct morph_loss){ .ports = MORPH_LOSS_TRANSMIT | MORPH_LOSS_RECEIVE };
	if (*text < '0' || *text > '9')
		return NULL;
	loss->rank = (uint32_t)strtoul(text, &end, 10);
	if (end[0] != ':' || end[1] < '0' || end[1] > '9')
		return NULL;
	loss->plane = (uint32_t)strtoul(end + 1, &end, 10);
	if (*end == 't' || *end == 'r')
		loss->ports = *end++ == 't' ? MORPH_LOSS_TRANSMIT : MORPH_LOSS_RECEIVE;
	return end;
}

static enum exit_code parse_lost(struct run *run, struct morph_replan_opts *opts,
				 struct morph_loss *losses)
{
	const char *whole = run->option[OPTION_LOST], *text = whole;
	char *end;

	for (;;) {
		text = opts->count < MOST_LOSSES ? parse_loss(text, &losses[opts->count++]) : NULL;
		if (!text || (*text && *text != ',' && *text != '@'))
			return malformed(run, whole);
		if (*text != ',')
			break;
		text++;
	}
	if (!*text)
		return EXIT_CODE_OK;
	if (text[1] < '0' || text[1] > '9')
		return malformed(run, whole);
	opts->from_ns = strtoull(text + 1, &end, 10);
	return *end ? malformed(run, whole) : EXIT_CODE_OK;
}

enum exit_code plan_lost(struct run *run, const struct morph_collective *collective,
			 const struct morph_delay *delay, struct morph_schedule **schedule,
			 struct morph_replanned *replanned)
{
	struct morph_loss losses[MOST_LOSSES];
	MORPH_OPTS(morph_replan_opts, opts, .losses = losses);
	enum exit_code code = parse_lost(run, &opts, losses);
	struct morph_schedule *old = *schedule;
	int error;

	if (code || morph_schedule_verdict(old) != MORPH_FEASIBLE)
		return code;
	*schedule = needed(morph_schedule_new(run->client->ctx));
	error = morph_schedule_replan(*schedule, old, collective, delay, &opts, replanned);
	morph_schedule_free(old);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

void plan_lost_write(const struct morph_replanned *replanned)
{
	printf("without the ports that are lost: of %u circuits that went over them %u are on other planes; %u transfers go over "
	       "others, %u circuits are set for a turn, %u again\n"
	       "%u circuits differ, and all has arrived %llu ns later\n\n",
	       replanned->lost, replanned->moved, replanned->shared, replanned->turns,
	       replanned->again, replanned->changed, (unsigned long long)replanned->later_ns);
}

json_t *plan_lost_record(const struct morph_replanned *replanned)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "lost", (json_int_t)replanned->lost,
			 "changed", (json_int_t)replanned->changed, "moved",
			 (json_int_t)replanned->moved, "shared", (json_int_t)replanned->shared,
			 "turns", (json_int_t)replanned->turns, "again",
			 (json_int_t)replanned->again, "later-ns", (json_int_t)replanned->later_ns);
}
