// SPDX-License-Identifier: GPL-2.0-or-later
/* From options to a request. */
#include <string.h>

#include "request.h"
#include "value.h"

/* Up to three extents, divided by 'x'. */
static bool parse_torus(const char *text, uint32_t extent[3])
{
	char rest;
	int count = sscanf(text, "%9ux%9ux%9u%c", &extent[0], &extent[1], &extent[2], &rest);

	return count >= 1 && count <= 3 && strspn(text, "0123456789x") == strlen(text) &&
	       text[strlen(text) - 1] != 'x';
}

static enum exit_code ask_shape(struct run *run, struct morph_request *request)
{
	uint32_t extent[3] = { 1, 1, 1 }, count = 0;
	int error;

	if (given(run, OPTION_COUNT) + given(run, OPTION_TORUS) + given(run, OPTION_RING_OF) +
		    given(run, OPTION_MESH) !=
	    1)
		return usage_error(run, "wants one of --count, --shape, --ring and --mesh");
	if (!option_u32(run, OPTION_COUNT, &count) || !option_u32(run, OPTION_RING_OF, &count) ||
	    !option_u32(run, OPTION_MESH, &count))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_TORUS) && !parse_torus(run->option[OPTION_TORUS], extent))
		return usage_error(run, "--shape wants extents as 2x4x4, not '%s'",
				   run->option[OPTION_TORUS]);
	if (given(run, OPTION_TORUS))
		error = morph_request_set_torus(request, extent[0], extent[1], extent[2]);
	else if (given(run, OPTION_RING_OF))
		error = morph_request_set_ring(request, count);
	else if (given(run, OPTION_MESH))
		error = morph_request_set_mesh(request, count);
	else
		error = morph_request_set_count(request, count);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

static enum exit_code ask_bandwidth(struct run *run, const struct morph_model *model,
				    struct morph_request *request)
{
	struct morph_object *info = NULL;
	uint64_t mbps = 0;
	uint32_t lanes = 0;
	int error;

	if (!option_u64(run, OPTION_BANDWIDTH, &mbps) || !option_u32(run, OPTION_LANES, &lanes))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_BANDWIDTH) && given(run, OPTION_LANES))
		return usage_error(run, "--bandwidth and --lanes exclude each other");
	error = morph_model_info(run->client->ctx, model, &info);
	if (error < 0)
		return client_error(run, error);
	if (given(run, OPTION_LANES))
		mbps = lanes * morph_get_fabric_lane_mbps(info);
	morph_object_free(info);
	morph_request_set_mbps(request, mbps);
	return EXIT_CODE_OK;
}

enum exit_code request_given(struct run *run, const struct morph_model *model,
			     struct morph_request **request)
{
	uint32_t transit = MORPH_TRANSIT_ANY, objective = MORPH_OBJECTIVE_FRAGMENTATION;
	uint32_t wavelengths = 1, tier = MORPH_TIER_STITCHED - MORPH_TIER_CONTIGUOUS;
	enum exit_code code;

	*request = needed(morph_request_new(run->client->ctx));
	if (!option_word(run, OPTION_TRANSIT, &transit) ||
	    !option_word(run, OPTION_OBJECTIVE, &objective) ||
	    !option_word(run, OPTION_TIER, &tier) ||
	    !option_u32(run, OPTION_WAVELENGTHS, &wavelengths))
		return EXIT_CODE_USAGE;
	if (morph_request_set_wavelengths(*request, wavelengths) < 0)
		return usage_error(run, "--wavelengths: %s", morph_error_text(run->client->ctx));
	morph_request_set_transit(*request, transit);
	morph_request_set_objective(*request, objective);
	morph_request_set_tier(*request, tier + MORPH_TIER_CONTIGUOUS);
	code = ask_shape(run, *request);
	return code ? code : ask_bandwidth(run, model, *request);
}
