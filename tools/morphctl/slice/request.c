// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert options to a planner's request. */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

bool parse_torus(const char *text, uint32_t extent[3])
{
	for (uint32_t axis = 0; axis < 3 && *text >= '0' && *text <= '9'; axis++) {
		char *end;
		unsigned long value = strtoul(text, &end, 10);

		if (!value || value > UINT32_MAX)
			return false;
		extent[axis] = (uint32_t)value;
		if (!*end)
			return true;
		if (*end != 'x')
			return false;
		text = end + 1;
	}
	return false;
}

/* Read links from a file: a circuit in each direction, or one circuit. */
static enum exit_code ask_graph(struct run *run, struct morph_request *request)
{
	bool simplex = given(run, OPTION_SIMPLEX);
	struct graph graph;
	enum exit_code code = graph_read(run->option[OPTION_GRAPH], &graph);
	int error = code ? 0 : morph_request_set_count(request, graph.ranks);

	for (size_t at = 0; at < graph.links_count && !code && !error; at++) {
		const struct graph_link *link = &graph.links[at];

		error = morph_request_add_circuit(request, link->src, link->dst);
		if (!error && !simplex)
			error = morph_request_add_circuit(request, link->dst, link->src);
	}
	graph_free(&graph);
	return error < 0 ? client_error(run, error) : code;
}

static enum exit_code ask_shape(struct run *run, struct morph_request *request)
{
	uint32_t extent[3] = { 1, 1, 1 }, count = 0;
	int error;

	if (given(run, OPTION_COUNT) + given(run, OPTION_TORUS) + given(run, OPTION_RING_OF) +
		    given(run, OPTION_MESH) + given(run, OPTION_GRAPH) !=
	    1)
		return usage_error(
			run,
			"requires exactly one of --count, --shape, --ring, --mesh and --graph");
	if (!option_u32(run, OPTION_COUNT, &count) || !option_u32(run, OPTION_RING_OF, &count) ||
	    !option_u32(run, OPTION_MESH, &count))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_TORUS) && !parse_torus(run->option[OPTION_TORUS], extent))
		return usage_error(run, "--shape must be extents such as 2x4x4, not '%s'",
				   run->option[OPTION_TORUS]);
	if (given(run, OPTION_GRAPH))
		return ask_graph(run, request);
	if (given(run, OPTION_TORUS))
		error = morph_request_set_shape(request, MORPH_SHAPE_TORUS, extent[0], extent[1],
						extent[2]);
	else if (given(run, OPTION_RING_OF))
		error = morph_request_set_shape(request, MORPH_SHAPE_RING, count, 1, 1);
	else if (given(run, OPTION_MESH))
		error = morph_request_set_shape(request, MORPH_SHAPE_MESH, count, 1, 1);
	else
		error = morph_request_set_count(request, count);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

static enum exit_code ask_bandwidth(struct run *run, const struct morph_model *model,
				    struct asked *asked)
{
	struct morph_object *info = NULL;
	uint32_t lanes = 0;
	int error;

	if (!option_u64(run, OPTION_BANDWIDTH, &asked->opts.mbps) ||
	    !option_u32(run, OPTION_LANES, &lanes))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_BANDWIDTH) && given(run, OPTION_LANES))
		return usage_error(run, "--bandwidth and --lanes are mutually exclusive");
	error = morph_model_info(run->client->ctx, model, &info);
	if (error < 0)
		return client_error(run, error);
	if (given(run, OPTION_LANES))
		asked->opts.mbps = lanes * morph_object_uint(info, "lane-mbps");
	morph_object_free(info);
	return EXIT_CODE_OK;
}

/* Options for the search and its objective. */
static enum exit_code ask_search(struct run *run, struct asked *asked)
{
	/* No command has both options. */
	if (!option_word(run, OPTION_OBJECTIVE, &asked->opts.objective) ||
	    !option_word(run, OPTION_PLACEMENT, &asked->opts.objective) ||
	    !option_u64(run, OPTION_STEPS, &asked->opts.steps))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_STEPS) && !asked->opts.steps)
		return usage_error(run, "--steps must be at least 1");
	return EXIT_CODE_OK;
}

/* Options that the shape depends on, or that only the library can check. */
static enum exit_code ask_fabric(struct run *run, struct asked *asked)
{
	uint32_t tier = MORPH_TIER_STITCHED - MORPH_TIER_CONTIGUOUS;
	struct morph_request_opts *opts = &asked->opts;

	if (!option_word(run, OPTION_TRANSIT, &opts->transit) ||
	    !option_word(run, OPTION_TIER, &tier) ||
	    !option_u32(run, OPTION_WAVELENGTHS, &opts->wavelengths))
		return EXIT_CODE_USAGE;
	opts->tier = tier + MORPH_TIER_CONTIGUOUS;
	opts->servers = given(run, OPTION_WHOLE_SERVERS) ? MORPH_SERVERS_WHOLE :
							   MORPH_SERVERS_SHARED;
	opts->flags = given(run, OPTION_SIMPLEX) ? MORPH_REQUEST_SIMPLEX : 0;
	/* For the library, 0 is the default. */
	if (!opts->wavelengths)
		return usage_error(
			run, "--wavelengths must be 1 (circuits do not share fibres) to 16, not 0");
	if (morph_request_set_opts(asked->request, opts) < 0)
		return usage_error(run, "--wavelengths: %s", morph_error_text(run->client->ctx));
	return EXIT_CODE_OK;
}

enum exit_code request_given(struct run *run, const struct morph_model *model, struct asked *asked)
{
	MORPH_OPTS(morph_request_opts, opts, .transit = MORPH_TRANSIT_ANY, .wavelengths = 1);
	enum exit_code code;
	int error;

	*asked = (struct asked){ .opts = opts };
	asked->request = needed(morph_request_new(run->client->ctx));
	code = ask_fabric(run, asked);
	if (!code)
		code = ask_search(run, asked);
	if (!code)
		code = ask_shape(run, asked->request);
	if (!code)
		code = ask_bandwidth(run, model, asked);
	if (code)
		return code;
	error = morph_request_set_opts(asked->request, &asked->opts);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

void asked_free(struct asked *asked)
{
	morph_request_free(asked->request);
	asked->request = NULL;
}
