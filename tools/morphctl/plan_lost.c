// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl plan --lost: a schedule that goes on without some ports */
#include <errno.h>
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

/* What is too large for a number of a rank or plane is none that there is. */
static uint32_t number_at(const char *text, char **end)
{
	unsigned long value = strtoul(text, end, 10);

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* RANK:PLANE, and t or r where it is one port of both. */
static const char *parse_loss(const char *text, struct morph_loss *loss)
{
	char *end;

	*loss = (struct morph_loss){ .ports = MORPH_LOSS_TRANSMIT | MORPH_LOSS_RECEIVE };
	if (*text < '0' || *text > '9')
		return NULL;
	loss->rank = number_at(text, &end);
	if (end[0] != ':' || end[1] < '0' || end[1] > '9')
		return NULL;
	loss->plane = number_at(end + 1, &end);
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
	errno = 0;
	opts->from_ns = strtoull(text + 1, &end, 10);
	return *end || errno ? malformed(run, whole) : EXIT_CODE_OK;
}

static enum exit_code check_lost(const struct planning *planning,
				 const struct morph_replan_opts *opts)
{
	uint32_t ranks = morph_collective_ranks(planning->collective);

	for (uint32_t at = 0; at < opts->count; at++)
		if (opts->losses[at].rank >= ranks || opts->losses[at].plane >= planning->planes)
			return usage_error(
				planning->run,
				"--lost wants ranks below %u and planes below %u, not '%s'", ranks,
				planning->planes, planning->run->option[OPTION_LOST]);
	return EXIT_CODE_OK;
}

enum exit_code plan_lost(struct planning *planning)
{
	struct morph_loss losses[MOST_LOSSES];
	MORPH_OPTS(morph_replan_opts, opts, .losses = losses);
	enum exit_code code = parse_lost(planning->run, &opts, losses);
	struct morph_schedule *old = planning->schedule;
	int error;

	if (!code)
		code = check_lost(planning, &opts);
	if (code || morph_schedule_verdict(old) != MORPH_FEASIBLE)
		return code;
	planning->schedule = needed(morph_schedule_new(planning->run->client->ctx));
	error = morph_schedule_replan(planning->schedule, old, planning->collective,
				      planning->delay, &opts, &planning->replanned);
	morph_schedule_free(old);
	return error < 0 ? plan_error(planning->run, error) : EXIT_CODE_OK;
}

void plan_lost_write(const struct morph_replanned *replanned)
{
	printf("without the ports that are lost, over which %u circuit%s went: %u on other planes; %u transfer%s over others, "
	       "%u circuit%s set for a turn, %u again\n"
	       "%u circuit%s differ%s, and all has arrived %llu ns later\n\n",
	       replanned->lost, PLURAL(replanned->lost), replanned->moved, replanned->shared,
	       PLURAL(replanned->shared), replanned->turns, PLURAL(replanned->turns),
	       replanned->again, replanned->changed, PLURAL(replanned->changed),
	       replanned->changed == 1 ? "s" : "", (unsigned long long)replanned->later_ns);
}

json_t *plan_lost_record(const struct morph_replanned *replanned)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "lost", (json_int_t)replanned->lost,
			 "changed", (json_int_t)replanned->changed, "moved",
			 (json_int_t)replanned->moved, "shared", (json_int_t)replanned->shared,
			 "turns", (json_int_t)replanned->turns, "again",
			 (json_int_t)replanned->again, "later-ns", (json_int_t)replanned->later_ns);
}
