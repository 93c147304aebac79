// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl plan: when circuits change in a collective */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "request.h"
#include "value.h"

#define ALTERNATIVES "policy,verdict,finish-ns,changes,circuits-set,text"
#define ROUNDS "round,from-ns,until-ns,hops"
#define ALGORITHMS "algorithm,policy,rounds-count,finish-ns"

enum format {
	TEXT,
	PICTURE,
	RECORD
};

static const char *const kinds[] = { "all-reduce", "reduce-scatter", "all-gather", "all-to-all",
				     "broadcast" };

/* ------------------------------------------------------------------ what is asked */

bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	char *end;

	*bytes = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9')
		return false;
	if (*end && strchr(units, *end))
		shift = 10 * (unsigned int)(strchr(units, *end++) - units + 1);
	if (*end || *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* What an algorithm is told, and how much there is. */
static enum exit_code ask_algorithm(struct planning *planning)
{
	struct morph_collective_opts *wanted = &planning->wanted;
	struct run *run = planning->run;
	uint32_t algorithm = 0;

	wanted->sz = sizeof(*wanted);
	wanted->bytes = 1 << 20;
	if (!option_u32(run, OPTION_RANKS, &wanted->ranks) ||
	    !option_word(run, OPTION_ALGORITHM, &algorithm) ||
	    !option_u32(run, OPTION_RADIX, &wanted->radix) ||
	    !option_u32(run, OPTION_SEGMENTS, &wanted->segments) ||
	    !option_u32(run, OPTION_ROOT, &wanted->root))
		return EXIT_CODE_USAGE;
	wanted->algorithm = given(run, OPTION_ALGORITHM) ? algorithm + 1 : 0;
	if (given(run, OPTION_BUFFER_BYTES) &&
	    !parse_bytes(run->option[OPTION_BUFFER_BYTES], &wanted->bytes))
		return usage_error(run,
				   "--bytes wants a number, or one as 64K, 16M or 1G, not '%s'",
				   run->option[OPTION_BUFFER_BYTES]);
	return EXIT_CODE_OK;
}

/* All of a torus, or 0 where that is none or more than there may be. */
static uint32_t ranks_of(const uint32_t extent[3])
{
	uint64_t ranks = 1;

	if (!extent[0] || (!extent[1] && extent[2]))
		return 0;
	for (uint32_t axis = 0; axis < 3 && ranks <= MOST_RANKS; axis++)
		ranks *= extent[axis] ? extent[axis] : 1;
	return ranks <= MOST_RANKS ? (uint32_t)ranks : 0;
}

static enum exit_code ask_collective(struct planning *planning)
{
	struct morph_collective_opts *wanted = &planning->wanted;
	struct run *run = planning->run;
	uint32_t kind = 0;

	while (kind < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[kind], run->argv[0]))
		kind++;
	if (kind == sizeof(kinds) / sizeof(kinds[0]))
		return usage_error(
			run,
			"the collective is all-reduce, reduce-scatter, all-gather, all-to-all or "
			"broadcast, not '%s'",
			run->argv[0]);
	if (given(run, OPTION_TORUS)) {
		if (!parse_torus(run->option[OPTION_TORUS], wanted->extent))
			return usage_error(run, "--shape wants extents as 2x4x4, not '%s'",
					   run->option[OPTION_TORUS]);
		wanted->ranks = ranks_of(wanted->extent);
	}
	if (planning->target.slice && !given(run, OPTION_TORUS) && !given(run, OPTION_RANKS))
		wanted->ranks = planning->target.ranks;
	else if (planning->topologies.count && !given(run, OPTION_TORUS) &&
		 !given(run, OPTION_RANKS))
		wanted->ranks = planning->topologies.ranks;
	else if (given(run, OPTION_TORUS) == given(run, OPTION_RANKS))
		return usage_error(run, "wants one of --ranks and --shape");
	if (!wanted->ranks || wanted->ranks > MOST_RANKS)
		return usage_error(run, "a collective is among 1 to %u ranks, --%s has others",
				   MOST_RANKS, given(run, OPTION_TORUS) ? "shape" : "ranks");
	if (wanted->root >= wanted->ranks)
		return usage_error(run, "--root is %u, the last of %u ranks is %u", wanted->root,
				   wanted->ranks, wanted->ranks - 1);
	wanted->kind = kind + 1;
	snprintf(planning->title, sizeof(planning->title), "%s of %llu bytes among %u ranks",
		 kinds[kind], (unsigned long long)wanted->bytes, wanted->ranks);
	return EXIT_CODE_OK;
}

/* Names of what a delay has: first of rounds, then those of enum morph_delay_part. */
static const char *const parts[] = { "round",	"hop",	"drain",  "barrier",
				     "program", "port", "settle", "relock" };

#define MOST_MBPS (1ULL << 40)

/* PART=NS, divided by commas. */
static enum exit_code parse_delay(struct planning *planning, uint64_t ns[8])
{
	const char *text = planning->run->option[OPTION_DELAY];

	while (text && *text) {
		size_t length = strcspn(text, "="), part = 0;
		char *end;

		while (part < 8 &&
		       (strlen(parts[part]) != length || strncmp(parts[part], text, length)))
			part++;
		if (part == 8 || text[length] != '=' || text[length + 1] < '0' ||
		    text[length + 1] > '9')
			return usage_error(
				planning->run,
				"--delay wants nanoseconds as settle=3700,relock=500: of "
				"round, hop, drain, barrier, program, port, settle and "
				"relock, not '%s'",
				text);
		ns[part] = strtoull(text + length + 1, &end, 10);
		if (*end && *end != ',')
			return usage_error(planning->run,
					   "--delay wants whole nanoseconds, not '%s'", text);
		text = *end ? end + 1 : end;
	}
	return EXIT_CODE_OK;
}

static enum exit_code ask_delay(struct planning *planning)
{
	uint64_t ns[8] = { 0 }, mbps = 100000;
	uint32_t scope = MORPH_DELAY_PORT_SCOPE;
	enum exit_code code;
	int error;

	if (!option_u64(planning->run, OPTION_PORT_BANDWIDTH, &mbps) ||
	    !option_word(planning->run, OPTION_SCOPE, &scope))
		return EXIT_CODE_USAGE;
	if (!mbps || mbps > MOST_MBPS)
		return usage_error(planning->run, "--bandwidth wants 1 to %llu, not '%s'",
				   MOST_MBPS, planning->run->option[OPTION_PORT_BANDWIDTH]);
	code = parse_delay(planning, ns);
	if (code)
		return code;
	error = morph_delay_set_link(planning->delay, ns[0], ns[1], mbps);
	if (!error)
		error = morph_delay_set_scope(planning->delay, scope);
	for (uint32_t part = 0; !error && part < MORPH_DELAY_PARTS; part++)
		error = morph_delay_set_part(planning->delay, part, &ns[2 + part], 1);
	return error < 0 ? client_error(planning->run, error) : EXIT_CODE_OK;
}

/* Combine: the plan of the file's all-to-all, turned round. */
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
		planning->choices[algorithm] = (struct morph_choice){
			.algorithm = algorithm,
			.policy = morph_schedule_policy(planning->schedule),
			.rounds = morph_collective_rounds(planning->collective),
			.ns = morph_schedule_ns(planning->schedule, NULL),
			.chosen = true
		};
	morph_collective_free(there);
	return error;
}

static enum exit_code solve(struct planning *planning)
{
	MORPH_OPTS(morph_schedule_opts, opts, .planes = 1);
	int error;

	if (!option_u32(planning->run, OPTION_PLANES, &opts.planes) ||
	    !option_word(planning->run, OPTION_POLICY, &opts.policy) ||
	    !option_u64(planning->run, OPTION_STEPS, &opts.budget))
		return EXIT_CODE_USAGE;
	if (!opts.planes || opts.planes > MOST_PLANES)
		return usage_error(planning->run, "--planes wants 1 to %u, not '%s'", MOST_PLANES,
				   planning->run->option[OPTION_PLANES]);
	planning->planes = opts.planes;
	if (planning->topologies.count) {
		enum exit_code code = topologies_solve(planning, &opts);

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
	if (error < 0)
		return client_error(planning->run, error);
	if (!given(planning->run, OPTION_LOST))
		return EXIT_CODE_OK;
	return plan_lost(planning);
}

/* ------------------------------------------------------------------------ answer */

/* Begin without the last rank, or wait for it? */
static void write_payoff(const struct morph_payoff *payoff)
{
	if (!payoff->rest_ns)
		return;
	printf("without the last rank there is work for %llu ns, and then for %llu ns with it; the best other algorithm "
	       "takes %llu ns from when it comes\n",
	       (unsigned long long)payoff->late_ns, (unsigned long long)payoff->rest_ns,
	       (unsigned long long)payoff->other_ns);
	if (payoff->pays_ns == UINT64_MAX)
		printf("it does not pay, however late that rank is\n\n");
	else
		printf("it pays where that rank is more than %llu ns late\n\n",
		       (unsigned long long)payoff->pays_ns);
}

static void write_roles(const json_t *report)
{
	uint32_t elected = number_of(report, "elected-rank", NUMBER_NONE);

	if (elected == NUMBER_NONE)
		printf("no rank takes part\n\n");
	else
		printf("%u ranks take part, of which rank %u hands the plan in\n\n",
		       number_of(report, "ranks-involved", 0), elected);
}

static void write_times(const json_t *report)
{
	uint64_t bound = wide_of(report, "bound-ns"), gap = wide_of(report, "gap-ns");

	printf("all has arrived after %llu ns; no schedule of these rounds takes less than %llu ns, "
	       "by %s: a gap of %llu ns",
	       (unsigned long long)wide_of(report, "finish-ns"), (unsigned long long)bound,
	       text_of_key(report, "bound-kind"), (unsigned long long)gap);
	if (bound)
		printf(", %.1f %%", 100 * (double)gap / (double)bound);
	printf("\ncircuits change %u times, %llu are set\n\n", number_of(report, "changes", 0),
	       (unsigned long long)wide_of(report, "circuits-set"));
}

static void write_report(struct planning *planning, const json_t *report)
{
	struct timeline timeline;

	printf("%s: %s%s%s\n", planning->title, text_of_key(report, "algorithm"),
	       planning->rounds_given ? "" : ", ", text_of_key(report, "policy"));
	if (key_is(report, "verdict", "feasible")) {
		write_times(report);
		if (planning->matrix)
			write_roles(report);
		write_payoff(&planning->payoff);
		plan_other_write(planning);
		plan_light_write(&planning->light);
		if (given(planning->run, OPTION_LOST))
			plan_lost_write(&planning->replanned);
		target_write(planning);
		timeline_make(&timeline, planning->schedule, planning->planes);
		timeline_write_text(stdout, &timeline);
		timeline_free(&timeline);
	} else {
		printf("%s: %s\n", text_of_key(report, "verdict"), text_of_key(report, "text"));
	}
	putchar('\n');
	if (json_array_size(json_object_get(report, "choice")) > 1) {
		emit_table(planning->run, ALGORITHMS, json_object_get(report, "choice"));
		putchar('\n');
	}
	emit_table(planning->run, ALTERNATIVES, json_object_get(report, "alternative"));
	plan_against_write(planning->run, report);
	if (json_array_size(json_object_get(report, "round"))) {
		putchar('\n');
		emit_table(planning->run, ROUNDS, json_object_get(report, "round"));
	}
}

/* Who is waited for, and who hands the plan in. */
static void add_roles(struct planning *planning, json_t *report)
{
	uint32_t ranks = planning->wanted.ranks, elected;

	if (!planning->matrix)
		return;
	elected = morph_matrix_elect(planning->matrix, ranks);
	json_object_set_new(report, "ranks-involved",
			    json_integer(morph_matrix_roles(planning->matrix, ranks, NULL)));
	if (elected != UINT32_MAX)
		json_object_set_new(report, "elected-rank", json_integer(elected));
}

/* What algorithms came to, and which of them it is. */
static void add_choices(struct planning *planning, json_t *report)
{
	json_t *list = json_array();

	for (uint32_t at = 1; at < MORPH_ALGORITHMS; at++) {
		const struct morph_choice *choice = &planning->choices[at];
		const char *name = morph_algorithm_name(at);
		json_t *record;

		if (!choice->algorithm)
			continue;
		record = json_pack("{s:s, s:i}", "algorithm", name, "rounds-count",
				   (int)choice->rounds);
		if (choice->policy) {
			json_object_set_new(record, "policy",
					    json_string(morph_policy_name(choice->policy)));
			json_object_set_new(record, "finish-ns",
					    json_integer((json_int_t)choice->ns));
		}
		if (choice->chosen)
			json_object_set_new(report, "algorithm", json_string(name));
		json_array_append_new(list, record);
	}
	json_object_set_new(report, "choice", list);
	if (!planning->payoff.rest_ns)
		return;
	json_object_set_new(report, "algorithm",
			    json_string(morph_algorithm_name(MORPH_STRAGGLAR)));
	json_object_set_new(report, "late-ns", json_integer((json_int_t)planning->payoff.late_ns));
	json_object_set_new(report, "rest-ns", json_integer((json_int_t)planning->payoff.rest_ns));
	json_object_set_new(report, "other-ns",
			    json_integer((json_int_t)planning->payoff.other_ns));
	if (planning->payoff.pays_ns != UINT64_MAX)
		json_object_set_new(report, "pays-ns",
				    json_integer((json_int_t)planning->payoff.pays_ns));
}

static enum exit_code answer(struct planning *planning, enum format format)
{
	struct view view = client_view(planning->run, MORPH_OBJECT_SCHEDULE, NULL);
	const char *title = planning->run->option[OPTION_TITLE];
	bool feasible = morph_schedule_verdict(planning->schedule) == MORPH_FEASIBLE;
	bool lit = !planning->light.verdict || planning->light.verdict == MORPH_FEASIBLE;
	struct morph_object *object = NULL;
	struct timeline timeline;
	enum exit_code code;
	json_t *report = NULL;
	int error;

	if (format == PICTURE && feasible) {
		timeline_make(&timeline, planning->schedule, planning->planes);
		timeline_write_svg(stdout, &timeline, title ? title : planning->title);
		timeline_free(&timeline);
		if (!lit)
			warn_line("%s", planning->light.why);
		return lit ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	}
	if (format == PICTURE) {
		warn_line("there is nothing to draw: %s", morph_schedule_why(planning->schedule));
		return EXIT_CODE_FAILED;
	}
	error = morph_schedule_describe(planning->schedule, &object);
	code = client_reply(planning->run, error, object, &report);
	if (report) {
		add_choices(planning, report);
		add_roles(planning, report);
		plan_light_add(&planning->light, report);
		plan_other_add(planning, report);
		code = plan_against_add(planning, report);
		if (given(planning->run, OPTION_LOST))
			json_object_set_new(report, "replanned",
					    plan_lost_record(&planning->replanned));
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

static enum exit_code format_given(struct run *run, enum format *format)
{
	uint32_t word = TEXT;

	if (!option_word(run, OPTION_PLAN_FORMAT, &word))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_JSON) && given(run, OPTION_PLAN_FORMAT))
		return usage_error(run, "--format and --json exclude each other");
	*format = given(run, OPTION_JSON) ? RECORD : (enum format)word;
	if (*format == PICTURE && given(run, OPTION_FIELDS))
		return usage_error(run, "--fields goes with --format text and json");
	/* It is what emitters ask for. */
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
		code = ask_algorithm(planning);
	if (!code)
		code = file ? ask_file(planning) : ask_collective(planning);
	if (!code)
		code = target_fits(planning);
	return code ? code : ask_delay(planning);
}

static enum exit_code plan(struct planning *planning, enum format format)
{
	struct morph_ctx *ctx = planning->run->client->ctx;
	enum exit_code code;

	planning->collective = needed(morph_collective_new(ctx));
	planning->delay = needed(morph_delay_new(ctx));
	planning->schedule = needed(morph_schedule_new(ctx));
	planning->steps = needed(morph_steps_new(ctx));
	code = target_open(planning->run, &planning->target);
	if (!code)
		code = ask(planning);
	if (!code)
		code = solve(planning);
	if (!code)
		code = plan_light(planning);
	if (!code)
		code = plan_other(planning);
	if (!code)
		code = write_files(planning);
	if (!code)
		code = answer(planning, format);
	free(planning->matrix);
	json_decref(planning->topologies.written);
	topologies_free(&planning->topologies);
	target_close(&planning->target);
	morph_steps_free(planning->steps);
	morph_schedule_free(planning->schedule);
	morph_delay_free(planning->delay);
	morph_collective_free(planning->collective);
	return code;
}

enum exit_code plan_collective(struct run *run)
{
	struct planning planning = { .run = run };
	enum format format = TEXT;
	enum exit_code code = format_given(run, &format);

	if (!code)
		code = target_check(run);
	if (!code)
		code = client_open(run);
	return code ? code : plan(&planning, format);
}
