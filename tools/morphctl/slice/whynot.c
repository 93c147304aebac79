// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl slice why-not */
#include <stdlib.h>

#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

enum exit_code why_not_ask(struct run *run, uint32_t fabric, const struct morph_why_not_opts *opts,
			   json_t **answer)
{
	struct morph_object *object = NULL;
	struct morph_why_not_opts own = *opts;
	int error = morph_admin_why_not(run->client->ctx, fabric, opts, &object);

	/* A tenant asks through the node of the fabric. */
	if (client_is_closed(run, error)) {
		own.flags |= MORPH_WHY_NOT_OWN;
		error = morph_admin_why_not(run->client->ctx, fabric, &own, &object);
	}
	return client_reply(run, error, object, answer);
}

static void print_answer(const struct run *run, const json_t *answer)
{
	const json_t *chosen = json_object_get(answer, "chosen-accelerators");
	const char *text = text_of_key(answer, "text");
	char *list, *part;

	if (key_is(answer, "reason", "none")) {
		list = format_list("chosen", chosen);
		say("yes%s%s\n", json_array_size(chosen) ? ": would get accelerators " : "",
		    json_array_size(chosen) ? list : "");
		free(list);
		return;
	}
	say("blocked by %s", text_of_key(answer, "reason"));
	/* The kernel gives no index if no single part is the cause. */
	if (json_object_get(answer, "index") && !key_is(answer, "part", "none")) {
		part = part_name(run, answer);
		say(", %s", part);
		free(part);
	}
	if (wide_of(answer, "need"))
		say(": %" JSON_INTEGER_FORMAT " requested, %" JSON_INTEGER_FORMAT " available",
		    json_integer_value(json_object_get(answer, "need")),
		    json_integer_value(json_object_get(answer, "have")));
	say("\n");
	if (*text)
		say("%s\n", text);
}

enum exit_code why_not_answer(struct run *run, uint32_t fabric,
			      const struct morph_why_not_opts *opts)
{
	json_t *answer;
	enum exit_code code = why_not_ask(run, fabric, opts, &answer);
	struct view view;

	if (!code) {
		view = client_view(run, MORPH_OBJECT_WHY_NOT, NULL);
		if (given(run, OPTION_JSON) || given(run, OPTION_FIELDS))
			code = emit_one(run, &view, answer);
		else
			print_answer(run, answer);
		if (!code && !key_is(answer, "reason", "none"))
			code = EXIT_CODE_FAILED;
	}
	json_decref(answer);
	return code;
}

/*
 * Planners answer requests with options that the kernel does not have. A ring with a number of
 * ranks is such a request.
 */
static bool is_planned(const struct run *run)
{
	static const enum option_id ids[] = {
		OPTION_TORUS,	  OPTION_MESH,	       OPTION_GRAPH,   OPTION_SIMPLEX,
		OPTION_STEPS,	  OPTION_BANDWIDTH,    OPTION_TIER,    OPTION_WAVELENGTHS,
		OPTION_OBJECTIVE, OPTION_UNPROTECT,    OPTION_PROFILE, OPTION_CONTROLLER,
		OPTION_EPOCH,	  OPTION_WHOLE_SERVERS
	};

	for (size_t at = 0; at < sizeof(ids) / sizeof(ids[0]); at++)
		if (given(run, ids[at]))
			return true;
	return given(run, OPTION_RING) && *run->option[OPTION_RING];
}

static enum exit_code ask_planner(struct run *run)
{
	const char *ring = run->option[OPTION_RING];

	if (given(run, OPTION_ACCELERATORS))
		return usage_error(
			run, "--accelerators is only valid with --ring, --lanes and --transit");
	if (ring && !*ring)
		return usage_error(run, "--ring requires the number of ranks here");
	run->option[OPTION_RING_OF] = ring;
	return why_not_plan(run);
}

enum exit_code slice_why_not(struct run *run)
{
	MORPH_OPTS(morph_why_not_opts, opts);
	uint32_t *accelerators = NULL, fabric;
	enum exit_code code;

	if (is_planned(run))
		return ask_planner(run);
	if (given(run, OPTION_COUNT) == given(run, OPTION_ACCELERATORS))
		return usage_error(run, "requires either --count or --accelerators, or a shape");
	if (!option_u32(run, OPTION_COUNT, &opts.count) ||
	    !option_word(run, OPTION_TRANSIT, &opts.transit) ||
	    !option_u32(run, OPTION_LANES, &opts.lanes_count))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_COUNT) && !opts.count)
		return usage_error(run, "--count must be at least 1");
	if (given(run, OPTION_LANES) && !given(run, OPTION_RING))
		return usage_error(run, "--lanes is only valid with --ring");
	if (given(run, OPTION_RING))
		opts.flags |= MORPH_WHY_NOT_RING;
	code = client_fabric(run, &fabric);
	if (!code && given(run, OPTION_ACCELERATORS))
		code = resolve_accelerators(run, fabric, run->option[OPTION_ACCELERATORS],
					    &accelerators, &opts.accelerators_count);
	opts.accelerators = accelerators;
	if (!code)
		code = why_not_answer(run, fabric, &opts);
	free(accelerators);
	return code;
}
