// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert options of morphctl matchings find to a problem. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/matchings/matchings.h"
#include "morphctl/slice/slice.h"

/* -------------------------------------------------------------------------- lists */

/* A list of numbers, or of pairs of numbers that a mark separates. */
struct list {
	uint32_t *firsts, *seconds;
	size_t count;
};

static bool parse_number(const char *text, uint32_t *number)
{
	uint64_t wide;

	if (!parse_u64(text, 0, UINT32_MAX - 1, &wide))
		return false;
	*number = (uint32_t)wide;
	return true;
}

/* A state, by number. The states of a mesh have names. */
static bool parse_state(const char *text, uint32_t *state)
{
	if (strcmp(text, "bar") && strcmp(text, "cross"))
		return parse_number(text, state);
	*state = *text == 'c';
	return true;
}

/* A transmit and a receive port. One of them can be absent. */
static bool parse_ports(const char *tx, const char *rx, uint32_t *first, uint32_t *second)
{
	*first = MORPH_ANY;
	*second = MORPH_ANY;
	return (*tx || *rx) && (!*tx || parse_number(tx, first)) &&
	       (!*rx || parse_number(rx, second));
}

static bool parse_item(char *item, char mark, uint32_t *first, uint32_t *second)
{
	char *rest = mark ? strchr(item, mark) : NULL;

	if (mark == '-' && !strcmp(item, "-")) {
		*first = MORPH_ANY;
		return true;
	}
	if (!mark || mark == '-')
		return parse_number(item, first);
	if (!rest)
		return false;
	*rest++ = '\0';
	return mark == ':' ? parse_ports(item, rest, first, second) :
			     parse_number(item, first) && parse_state(rest, second);
}

/*
 * Read a list separated by commas. @mark separates the two parts of an item; '-': an item is a
 * number or this mark; 0: it is a number. @form describes items. The caller frees the arrays.
 */
static enum exit_code read_list(struct run *run, enum option_id id, char mark, const char *form,
				struct list *list)
{
	size_t room = strlen(run->option[id]) + 1;
	char *copy = needed(strdup(run->option[id])), *rest = copy;
	bool good = true;

	list->firsts = needed(calloc(room, sizeof(*list->firsts)));
	list->seconds = needed(calloc(room, sizeof(*list->seconds)));
	for (char *item = strsep(&rest, ","); item && good; item = strsep(&rest, ",")) {
		good = parse_item(item, mark, &list->firsts[list->count],
				  &list->seconds[list->count]);
		list->count++;
	}
	free(copy);
	if (good)
		return EXIT_CODE_OK;
	return usage_error(run, "--%s must be %s, not '%s'", option_specs[id].name, form,
			   run->option[id]);
}

/* --------------------------------------------------------------------------- a mesh */

/* Spread ports over the rim: N ports for pairs, otherwise N transmit and N receive ports. */
static enum exit_code spread_ports(struct matchings_search *search, const char *text)
{
	struct morph_matchings_problem *problem = &search->problem;
	uint64_t rim = 4ULL * (problem->width + problem->height), count;
	uint32_t each = problem->kind == MORPH_MATCHINGS_PAIRS ? 1 : 2;

	if (!parse_u64(text, 2, MORPH_MATCHINGS_MOST_ENDPOINTS, &count) || count * each > rim)
		return usage_error(
			search->run,
			"--ports even:N must have 2 to %u endpoints, not '%s'; the mesh has %llu ports",
			(uint32_t)(rim / each < MORPH_MATCHINGS_MOST_ENDPOINTS ?
					   rim / each :
					   MORPH_MATCHINGS_MOST_ENDPOINTS),
			text, (unsigned long long)rim);
	problem->endpoints = (uint32_t)count;
	search->tx = needed(calloc(count, sizeof(*search->tx)));
	search->rx = needed(calloc(count, sizeof(*search->rx)));
	for (uint32_t at = 0; at < count; at++) {
		search->tx[at] = (uint32_t)(each * at * rim / (each * count));
		search->rx[at] = (uint32_t)((each * at + each - 1) * rim / (each * count));
	}
	return EXIT_CODE_OK;
}

static enum exit_code read_ports(struct matchings_search *search)
{
	struct run *run = search->run;
	bool pairs = search->problem.kind == MORPH_MATCHINGS_PAIRS;
	const char *text = run->option[OPTION_PORTS];
	struct list list = { 0 };
	enum exit_code code;

	if (!strncmp(text, "even:", 5))
		return spread_ports(search, text + 5);
	code = read_list(run, OPTION_PORTS, pairs ? '\0' : ':',
			 pairs ? "even:N, or ports separated by commas, as 0,9,18" :
				 "even:N, or transmit and receive ports, as 0:1,5:9",
			 &list);
	search->tx = list.firsts;
	search->rx = list.seconds;
	if (!code && list.count > MORPH_MATCHINGS_MOST_ENDPOINTS)
		return usage_error(run, "--ports must have at most %u endpoints, not %zu",
				   MORPH_MATCHINGS_MOST_ENDPOINTS, list.count);
	search->problem.endpoints = (uint32_t)list.count;
	return code;
}

static enum exit_code ask_mesh(struct matchings_search *search)
{
	static const enum option_id others[] = { OPTION_PROFILE, OPTION_FABRIC, OPTION_AT,
						 OPTION_NO_VALIDATE };
	struct morph_matchings_problem *problem = &search->problem;
	struct run *run = search->run;
	uint32_t extent[3] = { 0 };

	for (size_t at = 0; at < sizeof(others) / sizeof(others[0]); at++)
		if (given(run, others[at]))
			return usage_error(run, "--mesh-size and --%s are mutually exclusive",
					   option_specs[others[at]].name);
	if (!parse_torus(run->option[OPTION_MESH_SIZE], extent) || !extent[1] || extent[2])
		return usage_error(run, "--mesh-size must be WxH, as 9x9, not '%s'",
				   run->option[OPTION_MESH_SIZE]);
	problem->width = extent[0];
	problem->height = extent[1];
	if (given(run, OPTION_PORTS) == given(run, OPTION_ENDPOINTS))
		return usage_error(run,
				   "a mesh requires --endpoints, to choose the ports, or --ports");
	if (given(run, OPTION_PORTS))
		return read_ports(search);
	return option_u32(run, OPTION_ENDPOINTS, &problem->endpoints) ? EXIT_CODE_OK :
									EXIT_CODE_USAGE;
}

/* ------------------------------------------------------------------------- a fabric */

enum exit_code matchings_unusable(struct run *run, uint32_t fabric, uint32_t **elements,
				  size_t *count)
{
	json_t *records = NULL, *record;
	enum exit_code code = client_dump(run, MORPH_OBJECT_ELEMENT, fabric, &records);
	size_t i;

	*elements = needed(calloc(json_array_size(records) + 1, sizeof(**elements)));
	*count = 0;
	json_array_foreach(records, i, record) if (!key_is(record, "health", "ok") ||
						   flag_of(record, "cordoned"))(
		*elements)[(*count)++] = number_of(record, "id", 0);
	json_decref(records);
	return code;
}

/* Without --at: all accelerators of a profile; of a fabric, the healthy ones that are no spares. */
static enum exit_code list_accelerators(struct matchings_search *search, uint32_t fabric,
					struct list *list)
{
	uint32_t all = number_of(search->fabric, "accelerators-count", 0);
	enum exit_code code = EXIT_CODE_OK;
	json_t *records = NULL, *record;
	size_t i;

	list->firsts = needed(calloc(all + 1UL, sizeof(*list->firsts)));
	if (fabric == MORPH_ANY) {
		for (; list->count < all; list->count++)
			list->firsts[list->count] = (uint32_t)list->count;
		return EXIT_CODE_OK;
	}
	code = client_dump(search->run, MORPH_OBJECT_ACCELERATOR, fabric, &records);
	json_array_foreach(records, i, record) if (list->count < all &&
						   key_is(record, "health", "ok") &&
						   !key_is(record, "use", "spare"))
		list->firsts[list->count++] = number_of(record, "id", 0);
	json_decref(records);
	return code;
}

/* The endpoints are the ports of plane 0. */
static enum exit_code take_accelerators(struct matchings_search *search, const struct list *list)
{
	uint32_t all = number_of(search->fabric, "accelerators-count", 0);
	uint32_t planes = number_of(search->fabric, "planes-count", 1);

	if (list->count > MORPH_MATCHINGS_MOST_ENDPOINTS)
		return usage_error(search->run,
				   "%zu accelerators; must be at most %u; name some with --at",
				   list->count, MORPH_MATCHINGS_MOST_ENDPOINTS);
	search->tx = needed(calloc(list->count + 1, sizeof(*search->tx)));
	search->rx = needed(calloc(list->count + 1, sizeof(*search->rx)));
	for (size_t at = 0; at < list->count; at++) {
		if (list->firsts[at] >= all)
			return usage_error(search->run, "no accelerator %u (0-%u)",
					   list->firsts[at], all - 1);
		search->tx[at] = list->firsts[at] * planes;
		search->rx[at] = search->tx[at];
	}
	search->problem.endpoints = (uint32_t)list->count;
	return EXIT_CODE_OK;
}

static enum exit_code ask_fabric(struct matchings_search *search)
{
	struct run *run = search->run;
	struct morph_object *info = NULL;
	struct list list = { 0 };
	uint32_t fabric;
	enum exit_code code;
	int error;

	if (given(run, OPTION_PORTS) || given(run, OPTION_ENDPOINTS))
		return usage_error(run, "--%s is only valid with --mesh-size; use --at",
				   given(run, OPTION_PORTS) ? "ports" : "endpoints");
	code = profile_model(run, &fabric, &search->model);
	if (code)
		return code;
	search->problem.model = search->model;
	error = morph_model_info(run->client->ctx, search->model, &info);
	code = client_reply(run, error, info, &search->fabric);
	if (!code && given(run, OPTION_AT))
		code = read_list(run, OPTION_AT, '\0', "accelerators separated by commas, as 0,1,5",
				 &list);
	else if (!code)
		code = list_accelerators(search, fabric, &list);
	if (!code)
		code = take_accelerators(search, &list);
	if (!code && fabric != MORPH_ANY)
		code = matchings_unusable(run, fabric, &search->failed,
					  &search->problem.failed_count);
	free(list.firsts);
	free(list.seconds);
	return code;
}

/* ------------------------------------------------------------------------ targets */

/* Convert an accelerator to the endpoint at its port. */
static enum exit_code find_endpoint(const struct matchings_search *search, uint32_t *target)
{
	uint32_t planes = number_of(search->fabric, "planes-count", 1), at = 0;

	while (at < search->problem.endpoints && search->tx[at] / planes != *target)
		at++;
	if (at == search->problem.endpoints)
		return usage_error(search->run, "accelerator %u is no endpoint; name it with --at",
				   *target);
	*target = at;
	return EXIT_CODE_OK;
}

/* Endpoints without an entry send to none. */
static enum exit_code ask_targets(struct matchings_search *search)
{
	struct run *run = search->run;
	struct list list = { 0 };
	enum exit_code code;

	if (!given(run, OPTION_TARGETS))
		return EXIT_CODE_OK;
	if (given(run, OPTION_ENDPOINTS))
		return usage_error(run, "--targets requires --ports instead of --endpoints");
	code = read_list(run, OPTION_TARGETS, '-', "targets separated by commas, as 3,0,-,1",
			 &list);
	if (!code && list.count > search->problem.endpoints)
		code = usage_error(
			run, "--targets has %zu entries; must be at most %u, one for each endpoint",
			list.count, search->problem.endpoints);
	search->targets = needed(calloc(search->problem.endpoints + 1UL, sizeof(uint32_t)));
	for (uint32_t at = 0; at < search->problem.endpoints && !code; at++) {
		search->targets[at] = at < list.count ? list.firsts[at] : MORPH_ANY;
		if (search->model && search->targets[at] != MORPH_ANY)
			code = find_endpoint(search, &search->targets[at]);
	}
	free(list.firsts);
	free(list.seconds);
	return code;
}

/* ----------------------------------------------------------------- faults and limits */

static void add_failed(struct matchings_search *search, uint32_t element)
{
	struct morph_matchings_problem *problem = &search->problem;

	search->failed = needed(
		reallocarray(search->failed, problem->failed_count + 1, sizeof(*search->failed)));
	search->failed[problem->failed_count++] = element;
}

static enum exit_code ask_failed(struct matchings_search *search)
{
	struct list list = { 0 };
	enum exit_code code;

	if (!given(search->run, OPTION_FAILED))
		return EXIT_CODE_OK;
	code = read_list(search->run, OPTION_FAILED, '\0', "elements separated by commas, as 3,17",
			 &list);
	for (size_t at = 0; at < list.count && !code; at++)
		add_failed(search, list.firsts[at]);
	free(list.firsts);
	free(list.seconds);
	return code;
}

static enum exit_code ask_stuck(struct matchings_search *search)
{
	struct list list = { 0 };
	enum exit_code code;

	if (!given(search->run, OPTION_STUCK))
		return EXIT_CODE_OK;
	code = read_list(search->run, OPTION_STUCK, '=', "elements and their states, as 3=bar,17=1",
			 &list);
	search->stuck = list.firsts;
	search->stuck_states = list.seconds;
	search->problem.stuck_count = list.count;
	return code;
}

static enum exit_code ask_limits(struct matchings_search *search)
{
	struct morph_matchings_problem *problem = &search->problem;
	struct run *run = search->run;

	problem->seed = 1;
	problem->first = given(run, OPTION_FIRST);
	problem->unjudged = given(run, OPTION_NO_VALIDATE);
	if (!option_u32(run, OPTION_ROUNDS, &problem->rounds) ||
	    !option_u32(run, OPTION_HOPS, &problem->hops) ||
	    !option_u64(run, OPTION_SEED, &problem->seed) ||
	    !option_u64(run, OPTION_BUDGET, &problem->moves))
		return EXIT_CODE_USAGE;
	if (problem->first && problem->rounds)
		return usage_error(run, "--first and --rounds are mutually exclusive");
	return EXIT_CODE_OK;
}

enum exit_code matchings_request(struct matchings_search *search)
{
	struct morph_matchings_problem *problem = &search->problem;
	struct run *run = search->run;
	bool mesh = given(run, OPTION_MESH_SIZE);
	enum exit_code code;

	problem->sz = sizeof(*problem);
	problem->kind = mesh && !given(run, OPTION_TARGETS) ? MORPH_MATCHINGS_PAIRS :
							      MORPH_MATCHINGS_DIRECTED;
	if (!option_word(run, OPTION_KIND, &problem->kind))
		return EXIT_CODE_USAGE;
	code = ask_limits(search);
	if (!code)
		code = mesh ? ask_mesh(search) : ask_fabric(search);
	if (!code)
		code = ask_targets(search);
	if (!code)
		code = ask_failed(search);
	if (!code)
		code = ask_stuck(search);
	problem->targets = search->targets;
	problem->tx = search->tx;
	problem->rx = problem->kind == MORPH_MATCHINGS_PAIRS ? NULL : search->rx;
	problem->failed = search->failed;
	problem->stuck = search->stuck;
	problem->stuck_states = search->stuck_states;
	return code;
}
