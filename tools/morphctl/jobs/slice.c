// SPDX-License-Identifier: GPL-2.0-or-later
/* The slice of morphctl jobs apply: its ranks, and the circuits and schedules that it has. */
#include <stdlib.h>

#include "morphctl/jobs/lighting.h"

static enum exit_code refuse_rank(const struct lighting *lighting, uint32_t site)
{
	warn_line("%s: site %u is rank %u, but slice '%s' has ranks 0 to %u",
		  lighting->run->argv[0], site, lighting->file.ranks[site], lighting->run->argv[1],
		  lighting->ranks - 1);
	return EXIT_CODE_USAGE;
}

/* Find the site of each rank. */
static enum exit_code find_sites(struct lighting *lighting)
{
	const struct jobs_file *file = &lighting->file;

	lighting->sites = needed(calloc(lighting->ranks, sizeof(uint32_t)));
	for (uint32_t rank = 0; rank < lighting->ranks; rank++)
		lighting->sites[rank] = MORPH_ANY;
	for (uint32_t site = 0; site < file->problem.site_count; site++) {
		if (file->ranks[site] == MORPH_ANY)
			continue;
		if (file->ranks[site] >= lighting->ranks)
			return refuse_rank(lighting, site);
		lighting->sites[file->ranks[site]] = site;
	}
	return EXIT_CODE_OK;
}

enum exit_code lighting_open(struct lighting *lighting)
{
	size_t cells;
	enum exit_code code;
	int error = morph_slice_open(lighting->run->client->ctx, lighting->run->argv[1],
				     &lighting->slice);

	if (error)
		return client_no_slice(lighting->run, error);
	code = lighting_read(lighting);
	if (code)
		return code;
	lighting->ranks = (uint32_t)morph_object_values(lighting->info, "rank");
	cells = (size_t)lighting->ranks * lighting->ranks;
	lighting->lit = needed(calloc(cells, sizeof(uint32_t)));
	lighting->wanted = needed(calloc(cells, sizeof(uint32_t)));
	return find_sites(lighting);
}

enum exit_code lighting_read(struct lighting *lighting)
{
	int error;

	morph_object_free(lighting->info);
	morph_list_free(lighting->circuits);
	morph_list_free(lighting->schedules);
	lighting->info = NULL;
	lighting->circuits = lighting->schedules = NULL;
	error = morph_slice_schedules(lighting->slice, &lighting->schedules);
	if (!error)
		error = morph_slice_read(lighting->slice, &lighting->info, &lighting->circuits);
	return error ? client_error(lighting->run, error) : EXIT_CODE_OK;
}

void lighting_close(struct lighting *lighting)
{
	free(lighting->sites);
	free(lighting->lit);
	free(lighting->wanted);
	morph_object_free(lighting->info);
	morph_list_free(lighting->circuits);
	morph_list_free(lighting->schedules);
	morph_slice_close(lighting->slice);
}

bool lighting_is_lit(const struct lighting *lighting, const struct morph_object *circuit)
{
	uint64_t lanes = morph_object_uint(circuit, "lanes");

	return morph_object_uint(circuit, "state") != MORPH_CIRCUIT_FAILED &&
	       (uint32_t)__builtin_popcountll(lanes) >= lighting->lanes;
}

bool lighting_is_scheduled(const struct lighting *lighting, const struct morph_object *circuit)
{
	uint64_t id = morph_object_uint(circuit, "id");

	for (size_t at = 0; at < morph_list_count(lighting->schedules); at++) {
		const struct morph_object *schedule = morph_list_get(lighting->schedules, at);
		uint64_t first = morph_object_uint(schedule, "first-circuit");

		if (id >= first && id - first < morph_object_uint(schedule, "circuits-count"))
			return true;
	}
	return false;
}
