// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * morphctl traffic apply: reserve a controller's part of the solution in the kernel, fibre by fibre
 */
#include <errno.h>
#include <stdlib.h>

#include "morphctl/controller/controller.h"
#include "morphctl/lanes/lanes.h"
#include "morphctl/output/output.h"

#define FIBRES \
	"guide,src-host,dst-host,reserved-lanes-count,asked-lanes-count,granted-lanes-count,result"
#define SHORT "src-host,dst-host,lanes-count,granted-lanes-count"

struct fibre {
	uint32_t guide, link;
	uint32_t lanes; /* lanes of the fibre */
	uint32_t held; /* lanes that the controller held before */
	uint32_t spare; /* lanes that no controller holds */
	uint32_t asked, granted;
	const char *result; /* NULL: no request was made */
	bool refused; /* the rest of its lanes has been reserved */
};

struct applying {
	struct traffic traffic;
	struct token token;
	struct fibre *fibres; /* sorted by link, then by reserved lanes, most first */
	size_t count;
	uint32_t conflicts;
	bool changed; /* some reservation has changed */
	enum exit_code code; /* of the error that ended the command early */
};

/* --------------------------------------------------------------------- the fibres */

static uint32_t lanes_in(uint64_t mask)
{
	return (uint32_t)__builtin_popcountll(mask);
}

static int by_link(const void *one, const void *other)
{
	const struct fibre *a = one, *b = other;

	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	if (a->held != b->held)
		return a->held > b->held ? -1 : 1;
	return (a->guide > b->guide) - (a->guide < b->guide);
}

static uint32_t held_lanes(const struct applying *applying, uint32_t guide)
{
	json_t *record;
	size_t i;

	json_array_foreach(applying->traffic.reservations, i, record)
	{
		if (number_of(record, "controller", 0) == applying->token.controller &&
		    number_of(record, "guide", NUMBER_NONE) == guide)
			return number_of(record, "lanes-count", 0);
	}
	return 0;
}

static enum exit_code read_fibres(struct applying *applying)
{
	struct traffic *traffic = &applying->traffic;
	struct morph_list *list = NULL;
	int error = morph_admin_list(traffic->run->client->ctx, MORPH_OBJECT_GUIDE, traffic->fabric,
				     MORPH_ANY, &list);

	if (error < 0)
		return client_error(traffic->run, error);
	applying->fibres = needed(calloc(morph_list_count(list) + 1, sizeof(struct fibre)));
	for (size_t at = 0; at < morph_list_count(list); at++) {
		const struct morph_object *guide = morph_list_get(list, at);
		int link =
			morph_traffic_guide_link(traffic->problem, morph_object_uint(guide, "id"));

		if (link < 0)
			continue;
		applying->fibres[applying->count++] = (struct fibre){
			.guide = morph_object_uint(guide, "id"),
			.link = (uint32_t)link,
			.lanes = lanes_in(morph_object_uint(guide, "lanes")),
			.spare = lanes_in(morph_object_uint(guide, "lanes-free")),
			.held = held_lanes(applying, morph_object_uint(guide, "id")),
		};
	}
	morph_list_free(list);
	qsort(applying->fibres, applying->count, sizeof(struct fibre), by_link);
	return EXIT_CODE_OK;
}

static uint32_t least(uint32_t one, uint32_t other)
{
	return one < other ? one : other;
}

/*
 * Choose the request for each fibre of a link. The controller keeps its present lanes; unreserved
 * lanes make up the rest. Only the kernel knows whether circuits of its own or of other tenants use
 * the missing lanes.
 */
static void share(struct fibre *fibres, size_t count, uint32_t wanted)
{
	for (size_t at = 0; at < count; at++) {
		fibres[at].asked = least(fibres[at].held, wanted);
		wanted -= fibres[at].asked;
	}
	for (size_t at = 0; at < count; at++) {
		uint32_t more = least(fibres[at].spare, wanted);

		fibres[at].asked += more;
		wanted -= more;
	}
	for (size_t at = 0; at < count; at++) {
		uint32_t more = least(fibres[at].lanes - fibres[at].asked, wanted);

		fibres[at].asked += more;
		wanted -= more;
	}
}

/* -------------------------------------------------------------------- reserving */

static int reserve(struct applying *applying, const struct fibre *fibre, uint32_t lanes)
{
	const struct traffic *traffic = &applying->traffic;

	return morph_controller_reserve(traffic->run->client->ctx, traffic->fabric,
					applying->token.controller, applying->token.epoch,
					fibre->guide, lanes, 0, NULL);
}

/* Lanes of a fibre that no controller has reserved. */
static uint32_t lanes_free(const struct applying *applying, const struct fibre *fibre)
{
	const struct traffic *traffic = &applying->traffic;
	struct morph_object *guide = NULL;
	uint32_t lanes = 0;

	if (!morph_admin_get(traffic->run->client->ctx, MORPH_OBJECT_GUIDE, traffic->fabric,
			     MORPH_ANY, fibre->guide, &guide))
		lanes = lanes_in(morph_object_uint(guide, "lanes-free"));
	morph_object_free(guide);
	return lanes;
}

/*
 * Request @lanes lanes. If other controllers hold too many, request the remaining lanes. A refused
 * request leaves the reservation unchanged. Returns true if the controller got its request or the
 * remaining lanes.
 */
static bool ask(struct applying *applying, struct fibre *fibre, uint32_t lanes)
{
	uint32_t had = fibre->result ? fibre->granted : fibre->held;
	int error = reserve(applying, fibre, lanes);

	fibre->asked = lanes;
	fibre->result = "granted";
	if (error == -EBUSY) {
		applying->conflicts++;
		fibre->refused = true;
		fibre->result = "conflict";
		lanes = least(had + lanes_free(applying, fibre), lanes);
		error = reserve(applying, fibre, lanes);
	}
	if (!error) {
		fibre->granted = lanes;
		applying->changed = true;
		return true;
	}
	fibre->refused = true;
	fibre->granted = had;
	/* Another controller was faster again, or the fibre is failed or cordoned. */
	fibre->result = error == -EBUSY ? "conflict" : error == -EIO ? "unusable" : "failed";
	if (error != -EBUSY && error != -EIO)
		applying->code = client_error(applying->traffic.run, error);
	return false;
}

static uint32_t granted(const struct fibre *fibres, size_t count)
{
	uint32_t sum = 0;

	for (size_t at = 0; at < count; at++)
		sum += fibres[at].granted;
	return sum;
}

/*
 * Reserve as share() decided. Request refused lanes from other fibres, and give back unneeded ones.
 */
static void reserve_link(struct applying *applying, struct fibre *fibres, size_t count,
			 uint32_t wanted)
{
	for (size_t at = 0; at < count && !applying->code; at++)
		if (fibres[at].asked)
			ask(applying, &fibres[at], fibres[at].asked);
	for (size_t at = 0; at < count && !applying->code; at++) {
		uint32_t more = least(fibres[at].lanes - fibres[at].granted,
				      wanted - least(wanted, granted(fibres, count)));

		if (more && !fibres[at].refused)
			ask(applying, &fibres[at], fibres[at].granted + more);
	}
	for (size_t at = 0; at < count && !applying->code; at++)
		if (fibres[at].held && !fibres[at].result && ask(applying, &fibres[at], 0))
			fibres[at].result = "given-back";
}

/* Visit the fibres of each link in turn. */
typedef void link_fn(struct applying *applying, struct fibre *fibres, size_t count, uint32_t wanted,
		     json_t *records);

static void each_link(struct applying *applying, link_fn *act, json_t *records)
{
	for (size_t at = 0, end; at < applying->count; at = end) {
		uint32_t link = applying->fibres[at].link;

		for (end = at; end < applying->count && applying->fibres[end].link == link;)
			end++;
		act(applying, &applying->fibres[at], end - at,
		    traffic_link_lanes(&applying->traffic, link, applying->token.controller),
		    records);
	}
}

static void carry_out(struct applying *applying, struct fibre *fibres, size_t count,
		      uint32_t wanted, json_t *records)
{
	(void)records;
	share(fibres, count, wanted);
	if (!given(applying->traffic.run, OPTION_DRY_RUN))
		reserve_link(applying, fibres, count, wanted);
}

/* -------------------------------------------------------------------- telling it */

static json_t *new_record(const struct applying *applying, uint32_t link)
{
	MORPH_OPTS(morph_traffic_link, info);

	morph_traffic_link(applying->traffic.problem, link, &info);
	return json_pack("{s:I, s:I}", "src-host", (json_int_t)info.src_host, "dst-host",
			 (json_int_t)info.dst_host);
}

/* Add the fibres with a request or a reservation to give back. */
static void add_fibres(struct applying *applying, struct fibre *fibres, size_t count,
		       uint32_t wanted, json_t *records)
{
	bool dry = given(applying->traffic.run, OPTION_DRY_RUN);

	(void)wanted;
	for (size_t at = 0; at < count; at++) {
		const struct fibre *fibre = &fibres[at];
		json_t *record;

		if (!fibre->asked && !fibre->held)
			continue;
		record = new_record(applying, fibre->link);
		json_object_set_new(record, "guide", json_integer(fibre->guide));
		json_object_set_new(record, "reserved-lanes-count", json_integer(fibre->held));
		json_object_set_new(record, "asked-lanes-count", json_integer(fibre->asked));
		if (!dry && fibre->result) {
			json_object_set_new(record, "granted-lanes-count",
					    json_integer(fibre->granted));
			json_object_set_new(record, "result", json_string(fibre->result));
		}
		json_array_append_new(records, record);
	}
}

/* Links that have fewer lanes than the solution. */
static void add_short(struct applying *applying, struct fibre *fibres, size_t count,
		      uint32_t wanted, json_t *records)
{
	uint32_t have = granted(fibres, count);
	json_t *record;

	if (have >= wanted)
		return;
	record = new_record(applying, fibres[0].link);
	json_object_set_new(record, "lanes-count", json_integer(wanted));
	json_object_set_new(record, "granted-lanes-count", json_integer(have));
	json_array_append_new(records, record);
}

/* Lanes of the solution for the controller, over all links. */
static uint32_t wanted_lanes(const struct applying *applying)
{
	uint32_t sum = 0;

	for (uint32_t link = 0; link < applying->traffic.links; link++)
		sum += traffic_link_lanes(&applying->traffic, link, applying->token.controller);
	return sum;
}

static json_t *report_of(struct applying *applying)
{
	bool dry = given(applying->traffic.run, OPTION_DRY_RUN);
	json_t *fibres = json_array(), *missing = json_array(), *report;

	each_link(applying, add_fibres, fibres);
	report = json_pack("{s:I, s:I, s:I, s:o}", "controller",
			   (json_int_t)applying->token.controller, "epoch",
			   (json_int_t)applying->token.epoch, "lanes-count",
			   (json_int_t)wanted_lanes(applying), "fibres", fibres);
	if (!dry) {
		each_link(applying, add_short, missing);
		json_object_set_new(report, "granted-lanes-count",
				    json_integer(granted(applying->fibres, applying->count)));
		json_object_set_new(report, "conflicts-count", json_integer(applying->conflicts));
		json_object_set(report, "short-links", missing);
	}
	json_decref(missing);
	return report;
}

static void write_report(struct run *run, json_t *report)
{
	json_t *fibres = json_object_get(report, "fibres"),
	       *missing = json_object_get(report, "short-links");

	if (given(run, OPTION_DRY_RUN))
		say("controller %u would ask for %u lanes\n", number_of(report, "controller", 0),
		    number_of(report, "lanes-count", 0));
	else
		say("controller %u has %u of %u lanes; %u conflicts\n",
		    number_of(report, "controller", 0), number_of(report, "granted-lanes-count", 0),
		    number_of(report, "lanes-count", 0), number_of(report, "conflicts-count", 0));
	if (json_array_size(fibres)) {
		say("\n");
		emit_table(
			run,
			given(run, OPTION_DRY_RUN) ?
				"guide,src-host,dst-host,reserved-lanes-count,asked-lanes-count" :
				FIBRES,
			fibres);
	}
	if (json_array_size(missing)) {
		say("\nshort of lanes:\n");
		emit_table(run, SHORT, missing);
	}
}

/* ------------------------------------------------------------------------ the command */

static enum exit_code check(struct run *run, struct token *token)
{
	enum exit_code code = token_given(run, token);

	if (code)
		return code;
	if (!token->controller || !token->epoch)
		return usage_error(run, "--controller N and --epoch N are required (N >= 1)");
	if (given(run, OPTION_PROFILE) && !given(run, OPTION_FABRIC))
		return usage_error(run,
				   "--profile requires --fabric: the kernel has the reservations");
	return EXIT_CODE_OK;
}

/* A controller that is not in the file would lose all its reservations. */
static enum exit_code check_demands(const struct applying *applying)
{
	const struct traffic *traffic = &applying->traffic;

	for (size_t at = 0; at < traffic->demands_count; at++)
		if (traffic->demands[at].controller == applying->token.controller)
			return EXIT_CODE_OK;
	warn_line(
		"%s: no demand of controller %u; 'morphctl controller drop' returns all its reservations",
		traffic->run->argv[0], applying->token.controller);
	return EXIT_CODE_USAGE;
}

/* All of the solution, a part of it, or nothing was reserved. */
static enum exit_code code_of(const struct applying *applying, const json_t *report)
{
	if (applying->code)
		return applying->changed ? EXIT_CODE_PARTIAL : applying->code;
	if (!json_array_size(json_object_get(report, "short-links")))
		return EXIT_CODE_OK;
	return number_of(report, "granted-lanes-count", 0) ? EXIT_CODE_PARTIAL : EXIT_CODE_BUSY;
}

enum exit_code traffic_apply(struct run *run)
{
	struct applying applying = { .traffic.run = run };
	enum exit_code code = check(run, &applying.token);
	json_t *report;

	if (!code)
		code = solve_traffic(&applying.traffic);
	if (!code)
		code = check_demands(&applying);
	if (!code)
		code = read_fibres(&applying);
	if (!code) {
		each_link(&applying, carry_out, NULL);
		report = report_of(&applying);
		if (given(run, OPTION_JSON))
			emit_document(report);
		else
			write_report(run, report);
		code = code_of(&applying, report);
		json_decref(report);
	}
	free(applying.fibres);
	traffic_free(&applying.traffic);
	return code;
}
