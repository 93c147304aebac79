// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl schedule plan --lost: a schedule that continues without some ports */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/output/output.h"
#include "morphctl/schedule/schedule.h"

#define MOST_LOSSES 256

static enum exit_code malformed(struct run *run, const char *text)
{
	return usage_error(
		run, "--lost must be ports as 3.1, 3.1t or 3.1r,4.0 and a time as @20000, not '%s'",
		text);
}

/* A number that is too large is no rank or plane. */
static uint32_t number_at(const char *text, char **end)
{
	unsigned long value = strtoul(text, end, 10);

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Parse RANK.PLANE, with t or r for a single direction of the port. */
static const char *parse_loss(const char *text, struct morph_loss *loss)
{
	char *end;

	*loss = (struct morph_loss){ .ports = MORPH_LOSS_TRANSMIT | MORPH_LOSS_RECEIVE };
	if (*text < '0' || *text > '9')
		return NULL;
	loss->rank = number_at(text, &end);
	if (end[0] != '.' || end[1] < '0' || end[1] > '9')
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
	uint32_t ranks = collective_info(planning->collective).ranks;

	for (uint32_t at = 0; at < opts->count; at++)
		if (opts->losses[at].rank >= ranks || opts->losses[at].plane >= planning->planes)
			return usage_error(
				planning->run,
				"--lost must be ranks below %u and planes below %u, not '%s'",
				ranks, planning->planes, planning->run->option[OPTION_LOST]);
	return EXIT_CODE_OK;
}

/*
 * Plan by one policy from the beginning, without the lost ports. The result replaces the present
 * schedule if that one ends later or is not feasible.
 */
static int try_from_start(struct planning *planning, const struct morph_schedule_opts *how,
			  const struct morph_replan_opts *opts)
{
	struct morph_ctx *ctx = planning->run->client->ctx;
	struct morph_schedule *whole = needed(morph_schedule_new(ctx));
	struct morph_schedule *trial = needed(morph_schedule_new(ctx));
	struct morph_schedule *kept = planning->schedule;
	struct morph_replanned replanned = { 0 };
	int error = morph_schedule_plan(whole, planning->collective, planning->delay, how);

	if (!error && schedule_result(whole).verdict == MORPH_FEASIBLE)
		error = morph_schedule_replan(trial, whole, planning->collective, planning->delay,
					      opts, &replanned);
	if (!error && schedule_result(trial).verdict == MORPH_FEASIBLE &&
	    (schedule_result(kept).verdict != MORPH_FEASIBLE ||
	     schedule_result(trial).ns < schedule_result(kept).ns)) {
		planning->schedule = trial;
		planning->replanned = replanned;
		trial = kept;
	}
	morph_schedule_free(trial);
	morph_schedule_free(whole);
	return error;
}

/*
 * If the schedule cannot continue, plan again from the beginning, by the policy that ends first
 * without the ports. This is not possible for topologies of a file, which have a single policy.
 */
static int replan_from_start(struct planning *planning, struct morph_replan_opts *opts,
			     uint64_t before_ns)
{
	MORPH_OPTS(morph_schedule_opts, how, .planes = planning->planes);
	uint64_t end_ns = opts->from_ns; /* the new plan begins when the ports are lost */
	int error = 0;

	if (schedule_result(planning->schedule).verdict != MORPH_UNDECIDED ||
	    planning->topologies.count)
		return 0;
	snprintf(planning->stuck, sizeof(planning->stuck), "%s",
		 schedule_result(planning->schedule).why);
	opts->from_ns = 0;
	for (how.policy = 1; !error && how.policy < MORPH_POLICIES; how.policy++) {
		error = try_from_start(planning, &how, opts);
		/* Skip a policy that cannot plan this or gives up. */
		error = error == -ENOMEM ? error : 0;
	}
	if (error || schedule_result(planning->schedule).verdict != MORPH_FEASIBLE) {
		*planning->stuck = '\0';
		return error;
	}
	end_ns += schedule_result(planning->schedule).ns;
	planning->replanned.later_ns = end_ns > before_ns ? end_ns - before_ns : 0;
	return 0;
}

enum exit_code plan_lost(struct planning *planning)
{
	struct morph_loss losses[MOST_LOSSES];
	MORPH_OPTS(morph_replan_opts, opts, .losses = losses);
	enum exit_code code = parse_lost(planning->run, &opts, losses);
	struct morph_schedule *old = planning->schedule;
	uint64_t before_ns;
	int error;

	if (!code)
		code = check_lost(planning, &opts);
	if (code || schedule_result(old).verdict != MORPH_FEASIBLE)
		return code;
	before_ns = schedule_result(old).ns;
	planning->schedule = needed(morph_schedule_new(planning->run->client->ctx));
	error = morph_schedule_replan(planning->schedule, old, planning->collective,
				      planning->delay, &opts, &planning->replanned);
	morph_schedule_free(old);
	planning->is_replanned = !error;
	if (!error)
		error = replan_from_start(planning, &opts, before_ns);
	return error < 0 ? plan_error(planning->run, error) : EXIT_CODE_OK;
}

void plan_lost_write(const struct planning *planning)
{
	const struct morph_replanned *replanned = &planning->replanned;

	if (!planning->is_replanned)
		return;
	if (*planning->stuck) {
		say("without the lost ports the plan cannot continue: %s\n"
		    "new plan from the beginning by policy %s: finishes %s later\n\n",
		    planning->stuck,
		    morph_enum_name(MORPH_ENUM_POLICY, schedule_result(planning->schedule).policy),
		    amount_ns(replanned->later_ns).text);
		return;
	}
	say("the lost ports carried %u circuit%s: %u moved to other planes, %u transfer%s over other circuits, "
	    "%u circuit%s set temporarily, %u set again\n"
	    "%u circuit%s differ%s; finishes %s later\n\n",
	    replanned->lost, PLURAL(replanned->lost), replanned->moved, replanned->shared,
	    PLURAL(replanned->shared), replanned->turns, PLURAL(replanned->turns), replanned->again,
	    replanned->changed, PLURAL(replanned->changed), replanned->changed == 1 ? "s" : "",
	    amount_ns(replanned->later_ns).text);
}

/* Label the rows of tables that ignore the lost ports. */
static void label_rows(json_t *report)
{
	static const char *const tables[] = { "choices", "alternatives", "baselines", "methods" };

	for (size_t table = 0; table < sizeof(tables) / sizeof(tables[0]); table++) {
		json_t *list = json_object_get(report, tables[table]), *record;
		size_t at;

		json_array_foreach(list, at, record)
		{
			const char *text = json_string_value(json_object_get(record, "text"));

			if (!json_object_get(record, "finish-ns"))
				continue;
			json_object_set_new(record, "text",
					    json_sprintf("%s%sbefore the loss", text ? text : "",
							 text ? "; " : ""));
		}
	}
}

void plan_lost_add(const struct planning *planning, json_t *report)
{
	const struct morph_replanned *replanned = &planning->replanned;
	json_t *record;

	if (!planning->is_replanned)
		return;
	if (*planning->stuck)
		record = json_pack("{s:b, s:s, s:I}", "from-start", 1, "text", planning->stuck,
				   "later-ns", (json_int_t)replanned->later_ns);
	else
		record = json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "from-start", 0,
				   "lost-circuits-count", (json_int_t)replanned->lost,
				   "changed-circuits-count", (json_int_t)replanned->changed,
				   "moved-circuits-count", (json_int_t)replanned->moved,
				   "shared-transfers-count", (json_int_t)replanned->shared,
				   "turn-circuits-count", (json_int_t)replanned->turns,
				   "again-circuits-count", (json_int_t)replanned->again, "later-ns",
				   (json_int_t)replanned->later_ns);
	json_object_set_new(report, "replanned", record);
	label_rows(report);
}
