// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl spare plan: how many spares an availability target needs */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define COVERAGE "spares-count,covered-percent"
#define AVAILABILITY 99.9 /* percent */
#define MOST_SERVERS 64u /* of a model of risk */
#define MOST_ACCELERATORS 4096u /* of all servers */
#define MOST_HOURS 1e6
#define NOT_COUNTED UINT32_MAX

/*
 * Parts that fail. A part takes down one accelerator, a whole server, or all servers of a supply.
 */
enum part {
	ACCELERATOR,
	SERVER,
	SUPPLY,
	PARTS
};

static const char *const parts[PARTS] = { "accelerator", "server", "supply" };

struct spare_plan {
	struct run *run;
	uint32_t servers, accelerators; /* total accelerators, spares included */
	uint32_t each[MOST_SERVERS]; /* accelerators of each server */
	uint32_t present; /* spares of the fabric; NOT_COUNTED: no fabric */
	double down[PARTS]; /* share of time that each part is down */
	double availability; /* percent */
	uint32_t supply_servers;
	struct morph_risk *risk;
	struct morph_spare_count count;
};

/* ---------------------------------------------------------------------- options */

/* Read HOURS/HOURS or PERCENT% as a share of time. */
static bool parse_rate(const char *text, double *share)
{
	char *end;
	double number = strtod(text, &end), repair;

	if (end == text || !isfinite(number) || number < 0)
		return false;
	if (!strcmp(end, "%")) {
		*share = number / 100;
		return number <= 100;
	}
	if (*end != '/' || number <= 0 || number > MOST_HOURS)
		return false;
	text = end + 1;
	repair = strtod(text, &end);
	if (end == text || *end || !isfinite(repair) || repair < 0 || repair > MOST_HOURS)
		return false;
	*share = repair / (number + repair);
	return true;
}

static enum exit_code read_failure(struct spare_plan *plan, char *word)
{
	char *rate = strchr(word, '=');
	size_t part = 0;

	if (rate)
		*rate++ = '\0';
	while (part < PARTS && strcmp(word, parts[part]))
		part++;
	if (!rate || part == PARTS)
		return usage_error(plan->run,
				   "--failures: unknown part '%s'; known parts: %s=, %s=, %s=",
				   word, parts[ACCELERATOR], parts[SERVER], parts[SUPPLY]);
	if (!parse_rate(rate, &plan->down[part]))
		return usage_error(
			plan->run,
			"--failures must be hours between failures / hours of a repair, as 40000/24, or percent of the time, as 0.1%%; not '%s'",
			rate);
	return EXIT_CODE_OK;
}

static enum exit_code read_failures(struct spare_plan *plan)
{
	const char *text = plan->run->option[OPTION_FAILURES];
	enum exit_code code = EXIT_CODE_OK;
	char *copy, *place = NULL;

	if (!text)
		return usage_error(
			plan->run,
			"--failures is missing: how often parts are down, as accelerator=40000/24");
	copy = needed(strdup(text));
	for (char *word = strtok_r(copy, ",", &place); word && !code;
	     word = strtok_r(NULL, ",", &place))
		code = read_failure(plan, word);
	free(copy);
	return code;
}

static enum exit_code read_options(struct spare_plan *plan)
{
	struct run *run = plan->run;
	const char *text = run->option[OPTION_AVAILABILITY];
	enum exit_code code = read_failures(plan);
	char *end;

	if (code)
		return code;
	plan->availability = text ? strtod(text, &end) : AVAILABILITY;
	if (text && (end == text || *end || !(plan->availability > 0 && plan->availability <= 100)))
		return usage_error(
			run, "--availability must be a percentage above 0, up to 100, not '%s'",
			text);
	if (!option_u32(run, OPTION_SUPPLY_SERVERS, &plan->supply_servers))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_SUPPLY_SERVERS) && !plan->supply_servers)
		return usage_error(run, "--supply-servers must be 1 or more");
	if (given(run, OPTION_SUPPLY_SERVERS) && plan->down[SUPPLY] <= 0)
		return usage_error(run, "--supply-servers requires --failures supply=...");
	if (!given(run, OPTION_SUPPLY_SERVERS) && plan->down[SUPPLY] > 0)
		return usage_error(
			run, "--failures supply=... requires --supply-servers: how many share one");
	return EXIT_CODE_OK;
}

/* ---------------------------------------------------------------------- servers */

static enum exit_code take_servers(struct spare_plan *plan, uint32_t servers, uint32_t each)
{
	if (!servers || servers > MOST_SERVERS)
		return usage_error(
			plan->run,
			"%u servers; a plan has 1 to %u; plan one rack with --servers and --accelerators",
			servers, MOST_SERVERS);
	if (!each || each > MOST_ACCELERATORS / servers)
		return usage_error(
			plan->run,
			"%u accelerators in each of %u servers; must be at least 1 in a server, and at most %u in total",
			each, servers, MOST_ACCELERATORS);
	plan->servers = servers;
	plan->accelerators = servers * each;
	for (uint32_t at = 0; at < servers; at++)
		plan->each[at] = each;
	return EXIT_CODE_OK;
}

static enum exit_code servers_of_options(struct spare_plan *plan)
{
	struct run *run = plan->run;
	uint32_t servers = 0, each = 0;

	if (given(run, OPTION_FABRIC) || given(run, OPTION_PROFILE))
		return usage_error(run, "--servers and --accelerators describe a fabric; omit --%s",
				   given(run, OPTION_FABRIC) ? "fabric" : "profile");
	if (!given(run, OPTION_SERVERS) || !given(run, OPTION_OF_EACH))
		return usage_error(run, "--servers and --accelerators require each other");
	if (!option_u32(run, OPTION_SERVERS, &servers) || !option_u32(run, OPTION_OF_EACH, &each))
		return EXIT_CODE_USAGE;
	return take_servers(plan, servers, each);
}

/* Read the number of accelerators of each server from a profile. */
static enum exit_code servers_of_profile(struct spare_plan *plan)
{
	struct morph_object *info = NULL;
	struct morph_model *model = NULL;
	uint32_t fabric, servers, all;
	json_t *record;
	enum exit_code code = profile_model(plan->run, &fabric, &model);
	int error;

	if (code)
		return code;
	error = morph_model_info(plan->run->client->ctx, model, &info);
	code = client_reply(plan->run, error, info, &record);
	morph_model_put(model);
	if (code)
		return code;
	servers = number_of(record, "hosts-count", 0);
	all = number_of(record, "accelerators-count", 0);
	json_decref(record);
	if (!servers || all % servers)
		return usage_error(
			plan->run,
			"the profile has %u accelerators in %u servers that differ; give --servers and --accelerators",
			all, servers);
	return take_servers(plan, servers, all / servers);
}

static enum exit_code servers_of_fabric(struct spare_plan *plan)
{
	json_t *records = NULL, *record;
	enum exit_code code = client_open(plan->run);
	uint32_t fabric, each[MOST_SERVERS] = { 0 };
	size_t i;

	if (!code)
		code = client_fabric(plan->run, &fabric);
	if (!code)
		code = client_dump(plan->run, MORPH_OBJECT_ACCELERATOR, fabric, &records);
	if (code)
		return code;
	plan->present = 0;
	json_array_foreach(records, i, record)
	{
		uint32_t host = number_of(record, "host", 0);

		if (host >= MOST_SERVERS) {
			code = take_servers(plan, host + 1, 1);
			break;
		}
		each[host]++;
		plan->accelerators++;
		plan->present += key_is(record, "use", "spare");
	}
	for (uint32_t host = 0; host < MOST_SERVERS; host++)
		if (each[host])
			plan->each[plan->servers++] = each[host];
	json_decref(records);
	return code;
}

static enum exit_code find_servers(struct spare_plan *plan)
{
	struct run *run = plan->run;

	if (given(run, OPTION_SERVERS) || given(run, OPTION_OF_EACH))
		return servers_of_options(plan);
	if (given(run, OPTION_PROFILE) && !given(run, OPTION_FABRIC))
		return servers_of_profile(plan);
	if (given(run, OPTION_PROFILE))
		return usage_error(run, "--fabric and --profile are mutually exclusive");
	return servers_of_fabric(plan);
}

/* ------------------------------------------------------------------------- plan */

static int add_supplies(struct spare_plan *plan)
{
	uint32_t servers[MOST_SERVERS], count = 0;
	int error = 0;

	if (plan->down[SUPPLY] <= 0)
		return 0;
	for (uint32_t at = 0; at < plan->servers && error >= 0; at++) {
		servers[count++] = at;
		if (count < plan->supply_servers && at + 1 < plan->servers)
			continue;
		error = morph_risk_add_shared(plan->risk, servers, count, plan->down[SUPPLY]);
		count = 0;
	}
	return error;
}

static int solve(struct spare_plan *plan)
{
	int error = 0;

	plan->risk = needed(morph_risk_new(plan->run->client->ctx));
	for (uint32_t at = 0; at < plan->servers && error >= 0; at++)
		error = morph_risk_add_server(plan->risk, plan->each[at], plan->down[ACCELERATOR],
					      plan->down[SERVER]);
	if (error >= 0)
		error = add_supplies(plan);
	plan->count.sz = sizeof(plan->count);
	if (error >= 0)
		error = morph_risk_spares(plan->risk, plan->availability / 100, &plan->count);
	return error;
}

/* Check that accelerators remain for tenants. */
static bool is_feasible(const struct spare_plan *plan)
{
	return plan->count.enough < plan->accelerators;
}

static bool has_enough(const struct spare_plan *plan)
{
	return plan->present == NOT_COUNTED || plan->present >= plan->count.enough;
}

static json_t *coverage_records(const struct spare_plan *plan)
{
	json_t *records = json_array();

	for (uint32_t spares = 0; spares <= plan->count.enough + 1 && spares <= plan->accelerators;
	     spares++)
		json_array_append_new(
			records,
			json_pack("{s:I, s:f}", "spares-count", (json_int_t)spares,
				  "covered-percent",
				  100 * (1 - morph_risk_at_least(plan->risk, spares + 1))));
	return records;
}

static json_t *plan_record(const struct spare_plan *plan)
{
	json_t *record = json_pack(
		"{s:s, s:I, s:I, s:f, s:I, s:f, s:I}", "verdict",
		verdict_word(is_feasible(plan) ? MORPH_FEASIBLE : MORPH_INFEASIBLE),
		"servers-count", (json_int_t)plan->servers, "accelerators-count",
		(json_int_t)plan->accelerators, "availability-percent", plan->availability,
		"spares-count", (json_int_t)plan->count.enough, "short-percent",
		100 * plan->count.short_of, "published-count", (json_int_t)plan->count.published);

	if (plan->present != NOT_COUNTED)
		json_object_set_new(record, "present-count", json_integer(plan->present));
	json_object_set_new(record, "coverage", coverage_records(plan));
	return record;
}

static void write_plan(const struct spare_plan *plan, const json_t *record)
{
	uint32_t enough = plan->count.enough;

	if (!is_feasible(plan))
		say("not reachable: %g %% of the time needs a spare for each of the %u accelerators\n",
		    plan->availability, plan->accelerators);
	else
		say("%u spare%s for %g %% of the time: %u accelerators in %u server%s, spares included\n",
		    enough, PLURAL(enough), plan->availability, plan->accelerators, plan->servers,
		    PLURAL(plan->servers));
	say("too few for %.3g %% of the time; the published rule takes %u\n",
	    100 * plan->count.short_of, plan->count.published);
	if (plan->present != NOT_COUNTED && has_enough(plan))
		say("the fabric has %u: enough\n", plan->present);
	else if (plan->present != NOT_COUNTED)
		say("the fabric has %u: add %u with 'morphctl spare add'\n", plan->present,
		    enough - plan->present);
	say("\n");
	emit_table(plan->run, COVERAGE, json_object_get(record, "coverage"));
}

enum exit_code spare_plan(struct run *run)
{
	struct spare_plan plan = { .run = run, .present = NOT_COUNTED };
	enum exit_code code = read_options(&plan);
	int error;

	if (!code)
		code = find_servers(&plan);
	if (!code)
		code = client_open(run);
	if (code)
		return code;
	error = solve(&plan);
	if (error < 0) {
		code = client_error(run, error);
	} else {
		json_t *record = plan_record(&plan);

		if (given(run, OPTION_JSON))
			emit_document(record);
		else
			write_plan(&plan, record);
		json_decref(record);
		code = is_feasible(&plan) && has_enough(&plan) ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	}
	morph_risk_free(plan.risk);
	return code;
}
