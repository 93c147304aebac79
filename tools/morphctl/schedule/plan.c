// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl schedule plan: decide when circuits change during a collective */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/output/output.h"
#include "morphctl/schedule/schedule.h"
#include "morphctl/slice/slice.h"

#define ALTERNATIVES "policy,verdict,finish-ns,changes-count,circuits-set-count,text"
#define ROUNDS "round,from-ns,until-ns,hops-count"
#define ALGORITHMS_ROOM 96

#define FEW_RANKS 512

enum format {
	TEXT,
	PICTURE,
	RECORD
};

/* ------------------------------------------------------------------------- plan */

struct morph_schedule_result schedule_result(const struct morph_schedule *schedule)
{
	MORPH_OPTS(morph_schedule_result, info);

	morph_schedule_result(schedule, &info);
	return info;
}

struct morph_collective_info collective_info(const struct morph_collective *collective)
{
	MORPH_OPTS(morph_collective_info, info);

	morph_collective_info(collective, &info);
	return info;
}

enum exit_code plan_error(struct run *run, int error)
{
	enum exit_code code = client_error(run, error);

	return error == -EINVAL || error == -E2BIG || error == -ERANGE || error == -EOVERFLOW ?
		       EXIT_CODE_USAGE :
		       code;
}

/*
 * List algorithms that can do the collective if the named one cannot. With many ranks this would
 * take long.
 */
static void print_others(struct planning *planning)
{
	struct morph_collective_opts wanted = planning->wanted;
	char names[256] = "";
	size_t length = 0;

	if (wanted.ranks > FEW_RANKS ||
	    morph_collective_build(planning->collective, &wanted) != -EINVAL)
		return;
	for (wanted.algorithm = 1; wanted.algorithm < MORPH_ALGORITHMS; wanted.algorithm++)
		if (wanted.algorithm != MORPH_STRAGGLAR &&
		    !morph_collective_build(planning->collective, &wanted))
			length += (size_t)snprintf(
				names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
				morph_enum_name(MORPH_ENUM_ALGORITHM, wanted.algorithm));
	if (length)
		warn_line("possible algorithms: --algorithm %s", names);
}

/* Plan the combine step: the plan of the file's all-to-all with directions reversed. */
static int solve_back(struct planning *planning, const struct morph_schedule_opts *opts)
{
	struct morph_collective *there = needed(morph_collective_new(planning->run->client->ctx));
	uint32_t algorithm = planning->wanted.algorithm ? planning->wanted.algorithm : MORPH_DIRECT;
	int error;

	planning->wanted.algorithm = algorithm;
	error = morph_collective_build(there, &planning->wanted);
	if (!error)
		error = morph_schedule_combine(planning->schedule, planning->collective, there,
					       planning->delay, opts);
	if (!error)
		planning->choices[algorithm] =
			(struct morph_choice){ .algorithm = algorithm,
					       .policy = schedule_result(planning->schedule).policy,
					       .rounds =
						       collective_info(planning->collective).rounds,
					       .ns = schedule_result(planning->schedule).ns,
					       .chosen = true };
	morph_collective_free(there);
	return error;
}

static enum exit_code solve(struct planning *planning)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	enum exit_code code;
	int error;

	if (!option_u32(planning->run, OPTION_PLANES, &opts.planes) ||
	    !option_word(planning->run, OPTION_POLICY, &opts.policy) ||
	    !option_u64(planning->run, OPTION_BUDGET, &opts.budget))
		return EXIT_CODE_USAGE;
	if (!opts.planes || opts.planes > MOST_PLANES)
		return usage_error(planning->run, "--planes must be 1 to %u, not '%s'", MOST_PLANES,
				   planning->run->option[OPTION_PLANES]);
	planning->planes = opts.planes;
	planning->policy = opts.policy;
	planning->budget = opts.budget;
	code = plan_within_budget(planning);
	if (code)
		return code;
	if (planning->topologies.count) {
		code = topologies_solve(planning, &opts);
		return code || !given(planning->run, OPTION_LOST) ? code : plan_lost(planning);
	}
	if (planning->rounds_given)
		error = morph_schedule_plan(planning->schedule, planning->collective,
					    planning->delay, &opts);
	else if (given(planning->run, OPTION_COMBINE))
		error = solve_back(planning, &opts);
	else if (planning->wanted.algorithm == MORPH_STRAGGLAR &&
		 planning->wanted.kind == MORPH_ALL_REDUCE)
		error = morph_schedule_payoff(planning->schedule, planning->collective,
					      &planning->wanted, planning->delay, &opts,
					      &planning->payoff);
	else
		error = morph_schedule_choose(planning->schedule, planning->collective,
					      &planning->wanted, planning->delay, &opts,
					      planning->choices);
	if (error < 0) {
		code = plan_error(planning->run, error);
		if (error == -EINVAL && planning->wanted.algorithm)
			print_others(planning);
		return code;
	}
	if (planning->payoff.rest_ns)
		planning->rule = planning->payoff;
	else if (planning->wanted.late_ns)
		plan_choices_weigh(planning);
	if (!given(planning->run, OPTION_LOST))
		return EXIT_CODE_OK;
	return plan_lost(planning);
}

/* ------------------------------------------------------------------------ answer */

/* Report whether starting without the last rank pays. */
static void write_payoff(const struct planning *planning)
{
	const struct morph_payoff *payoff = &planning->rule;
	uint64_t ends_ns = plan_choices_end(planning);

	if (ends_ns)
		say("the last rank comes after %s; the collective finishes %s after the other ranks began\n%s",
		    amount_ns(planning->wanted.late_ns).text, amount_ns(ends_ns).text,
		    payoff->rest_ns ? "" : "\n");
	if (!payoff->rest_ns)
		return;
	say("the other ranks have work for %s, and then all ranks for %s; the best other algorithm takes %s after the last rank comes\n",
	    amount_ns(payoff->late_ns).text, amount_ns(payoff->rest_ns).text,
	    amount_ns(payoff->other_ns).text);
	if (payoff->pays_ns == UINT64_MAX)
		say("beginning without the last rank never pays\n\n");
	else
		say("beginning without the last rank pays if it is more than %s late\n\n",
		    amount_ns(payoff->pays_ns).text);
}

static void write_roles(const json_t *report)
{
	uint32_t elected = number_of(report, "elected-rank", NUMBER_NONE);

	if (elected == NUMBER_NONE)
		say("no rank sends or receives\n\n");
	else
		say("%u ranks take part; rank %u loads the plan\n\n",
		    number_of(report, "involved-ranks-count", 0), elected);
}

static void write_times(const json_t *report)
{
	uint64_t bound = wide_of(report, "bound-ns"), gap = wide_of(report, "gap-ns");
	uint64_t set = wide_of(report, "circuits-set-count");
	uint32_t changes = number_of(report, "changes-count", 0);

	say("finishes in %s (lower bound %s, by %s", amount_ns(wide_of(report, "finish-ns")).text,
	    amount_ns(bound).text, text_of_key(report, "bound-kind"));
	/* A smaller gap is not visible in the two times. */
	if (bound && gap >= bound / 2000)
		say(", gap %.1f %%", 100 * (double)gap / (double)bound);
	say(")\ncircuits change %u time%s; %llu circuit%s set\n\n", changes, PLURAL(changes),
	    (unsigned long long)set, PLURAL(set));
}

static bool has_parameter(const json_t *choices, const char *what)
{
	const json_t *record;
	size_t at;

	json_array_foreach(choices, at, record) if (json_object_get(record, what)) return true;
	return false;
}

/* Add columns for the parameters of algorithms if one of the algorithms has any. */
static void list_columns(const json_t *choices, char columns[ALGORITHMS_ROOM])
{
	snprintf(columns, ALGORITHMS_ROOM, "algorithm,%s%s%spolicy,rounds-count,finish-ns,text",
		 has_parameter(choices, "radix") ? "radix," : "",
		 has_parameter(choices, "segments-count") ? "segments-count," : "",
		 has_parameter(choices, "shape") ? "shape," : "");
}

static void write_report(struct planning *planning, const json_t *report)
{
	uint32_t radix = number_of(report, "radix", 0);
	uint32_t segments = number_of(report, "segments-count", 0);
	const char *shape = text_of_key(report, "shape");
	char columns[ALGORITHMS_ROOM];
	struct timeline timeline;

	say("%s: %s", planning->title, text_of_key(report, "algorithm"));
	if (radix)
		say(" of radix %u", radix);
	if (segments)
		say(" of %u segment%s", segments, PLURAL(segments));
	if (*shape)
		say(" on %s", shape);
	say("%s%s\n", planning->rounds_given ? "" : ", ", text_of_key(report, "policy"));
	if (key_is(report, "verdict", "feasible")) {
		write_times(report);
		target_measured_write(planning);
		if (planning->matrix)
			write_roles(report);
		write_payoff(planning);
		plan_other_write(planning);
		plan_light_write(&planning->light);
		plan_lost_write(planning);
		target_write(planning);
		timeline_make(&timeline, planning->schedule, planning->planes);
		timeline_write_text(&timeline);
		timeline_free(&timeline);
	} else {
		say("%s: %s\n", text_of_key(report, "verdict"), text_of_key(report, "text"));
	}
	say("\n");
	if (json_array_size(json_object_get(report, "choices")) > 1) {
		list_columns(json_object_get(report, "choices"), columns);
		emit_table(planning->run, columns, json_object_get(report, "choices"));
		say("\n");
	}
	emit_table(planning->run, ALTERNATIVES, json_object_get(report, "alternatives"));
	plan_against_write(planning->run, report);
	if (json_array_size(json_object_get(report, "rounds"))) {
		say("\n");
		emit_table(planning->run, ROUNDS, json_object_get(report, "rounds"));
	}
}

/*
 * Describe the planned collective. A file with rounds gives no name, and a matrix gives the bytes.
 */
static void add_collective(const struct planning *planning, json_t *report)
{
	const struct morph_collective_opts *wanted = &planning->wanted;

	if (planning->rounds_given)
		return;
	json_object_set_new(report, "collective", json_string(kind_name(wanted->kind)));
	if (!planning->matrix)
		json_object_set_new(report, "buffer-bytes",
				    json_integer((json_int_t)wanted->bytes));
}

/* Add the ranks that steps wait for, and the rank that loads the plan. */
static void add_roles(struct planning *planning, json_t *report)
{
	uint32_t elected, involved;

	if (!planning->matrix)
		return;
	involved = morph_matrix_roles(planning->matrix, planning->wanted.ranks, NULL, &elected);
	json_object_set_new(report, "involved-ranks-count", json_integer(involved));
	if (elected != UINT32_MAX)
		json_object_set_new(report, "elected-rank", json_integer(elected));
}

static enum exit_code answer(struct planning *planning, enum format format)
{
	struct view view = client_view(planning->run, MORPH_OBJECT_SCHEDULE, NULL);
	const char *title = planning->run->option[OPTION_TITLE];
	bool feasible = schedule_result(planning->schedule).verdict == MORPH_FEASIBLE;
	bool lit = !planning->light.verdict || planning->light.verdict == MORPH_FEASIBLE;
	struct morph_object *object = NULL;
	struct timeline timeline;
	enum exit_code code;
	json_t *report = NULL;
	int error;

	if (export_is_answer(planning->run))
		return feasible && lit ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	if (format == PICTURE && feasible) {
		timeline_make(&timeline, planning->schedule, planning->planes);
		timeline_write_svg(stdout, &timeline, title ? title : planning->title);
		timeline_free(&timeline);
		if (!lit)
			warn_line("%s", planning->light.why);
		return lit ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	}
	if (format == PICTURE) {
		warn_line("nothing to draw: %s", schedule_result(planning->schedule).why);
		return EXIT_CODE_FAILED;
	}
	error = morph_schedule_describe(planning->schedule, &object);
	code = client_reply(planning->run, error, object, &report);
	if (report) {
		add_collective(planning, report);
		plan_choices_add(planning, report);
		add_roles(planning, report);
		plan_light_add(&planning->light, report);
		plan_other_add(planning, report);
		code = plan_against_add(planning, report);
		plan_lost_add(planning, report);
		target_measured_add(planning, report);
		if (planning->target.loaded)
			json_object_set(report, "loaded", planning->target.loaded);
	}
	if (!code && (format == RECORD || given(planning->run, OPTION_FIELDS)))
		code = emit_one(planning->run, &view, report);
	else if (!code)
		write_report(planning, report);
	json_decref(report);
	return code || (feasible && lit) ? code : EXIT_CODE_FAILED;
}

bool is_utf8(const char *text, size_t length)
{
	json_t *string = json_stringn(text, length);

	json_decref(string);
	return string;
}

static enum exit_code format_given(struct run *run, enum format *format)
{
	uint32_t word = TEXT;

	if (!option_word(run, OPTION_PLAN_FORMAT, &word))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_JSON) && given(run, OPTION_PLAN_FORMAT))
		return usage_error(run, "--format and --json are mutually exclusive");
	*format = given(run, OPTION_JSON) ? RECORD : (enum format)word;
	if (*format != PICTURE && given(run, OPTION_TITLE))
		return usage_error(run, "--title is only valid with --format svg");
	if (given(run, OPTION_TITLE) &&
	    !is_utf8(run->option[OPTION_TITLE], strlen(run->option[OPTION_TITLE])))
		return usage_error(run, "--title must be UTF-8");
	if (*format == PICTURE && given(run, OPTION_FIELDS))
		return usage_error(run, "--fields is only valid with --format text or json");
	if (*format == RECORD)
		run->option[OPTION_JSON] = "";
	return client_fields(run, MORPH_OBJECT_SCHEDULE);
}

static enum exit_code ask(struct planning *planning)
{
	bool file = false;
	enum exit_code code = from_file(planning->run, &file);

	if (!code)
		code = topologies_read(planning->run, &planning->topologies);
	if (!code)
		code = plan_ask_algorithm(planning);
	if (!code)
		code = file ? ask_file(planning) : plan_ask_collective(planning);
	if (!code)
		code = target_fits(planning);
	return code ? code : plan_ask_delay(planning);
}

static enum exit_code plan(struct planning *planning, enum format format)
{
	struct morph_ctx *ctx = planning->run->client->ctx;
	enum exit_code code;

	planning->collective = needed(morph_collective_new(ctx));
	planning->delay = needed(morph_delay_new(ctx));
	planning->unchanging = needed(morph_delay_new(ctx));
	planning->schedule = needed(morph_schedule_new(ctx));
	planning->steps = needed(morph_steps_new(ctx));
	code = target_open(planning->run, &planning->target);
	if (!code)
		code = ask(planning);
	if (!code) {
		progress_begin("planning the schedule");
		code = solve(planning);
	}
	if (!code)
		code = plan_light(planning);
	if (!code)
		code = plan_other(planning);
	progress_end();
	if (!code)
		code = write_files(planning);
	if (!code)
		code = answer(planning, format);
	free(planning->matrix);
	json_decref(planning->topologies.written);
	topologies_free(&planning->topologies);
	target_close(&planning->target);
	plan_matchings_free(planning);
	morph_steps_free(planning->steps);
	morph_schedule_free(planning->schedule);
	morph_delay_free(planning->unchanging);
	morph_delay_free(planning->delay);
	morph_collective_free(planning->collective);
	return code;
}

enum exit_code schedule_plan(struct run *run)
{
	struct planning planning = { .run = run };
	enum format format = TEXT;
	enum exit_code code;

	/* Functions that emit records read the option that all commands share. */
	run->option[OPTION_JSON] = run->option[OPTION_PLAN_JSON];
	code = export_check(run);
	if (!code)
		code = format_given(run, &format);
	if (!code)
		code = target_check(run);
	if (!code)
		code = client_open(run);
	return code ? code : plan(&planning, format);
}
