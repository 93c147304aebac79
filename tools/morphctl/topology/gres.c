// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of Slurm's gres.conf: one device for each accelerator of a server, and as Links the number
 * of lanes between it and each of the others.
 */
#include <stdlib.h>
#include <string.h>

#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

static const char *host_of(const struct topo *topo, uint32_t host)
{
	for (size_t i = 0; i < topo->boxes_count; i++)
		if (topo->boxes[i].host == host)
			return topo->boxes[i].name;
	return "";
}

static unsigned int lit_lanes(const struct topo *topo, size_t from, size_t to)
{
	unsigned int lanes = 0;

	for (size_t i = 0; i < topo->arrows_count; i++)
		if (topo->arrows[i].from == from && topo->arrows[i].to == to &&
		    !strcmp(topo->arrows[i].state, "lit"))
			lanes += topo->arrows[i].lanes;
	return lanes;
}

/* Slurm has one number for both directions. */
static unsigned int links(const struct topo *topo, size_t a, size_t b)
{
	unsigned int there = lit_lanes(topo, a, b), back = lit_lanes(topo, b, a);

	return there > back ? there : back;
}

static void write_device(FILE *stream, const struct topo *topo, size_t tile, size_t index,
			 const char *pattern)
{
	uint32_t host = topo->tiles[tile].host;
	const char *mark = strchr(pattern, '#'), *separator = " Links=";

	if (topo->tiles[tile].lent || !strcmp(topo->tiles[tile].use, "spare"))
		fprintf(stream, "# accelerator %u, the next line, is a spare\n",
			topo->tiles[tile].id);
	fprintf(stream, "NodeName=%s Name=gpu File=%.*s%zu%s", host_of(topo, host),
		(int)(mark - pattern), pattern, index, mark + 1);
	for (size_t i = 0; i < topo->tiles_count; i++) {
		if (topo->tiles[i].host != host)
			continue;
		fputs(separator, stream);
		separator = ",";
		if (i == tile)
			fputs("-1", stream);
		else
			fprintf(stream, "%u", links(topo, tile, i));
	}
	fputs("\n", stream);
}

static size_t place_of_host(const struct topo *topo, size_t tile)
{
	size_t i;

	for (i = 0; topo->tiles[i].host != topo->tiles[tile].host; i++)
		;
	return i;
}

void topo_write_gres(FILE *stream, const struct topo *topo, const char *pattern)
{
	char *time = topo_time(topo->document);

	fprintf(stream, "# gres.conf by morphctl topo, %s%s\n", *time ? "taken at " : TIME_UNKNOWN,
		time);
	if (topo->own)
		fputs("# " INCOMPLETE "\n", stream);
	for (size_t first = 0; first < topo->tiles_count; first++) {
		size_t index = 0;

		if (place_of_host(topo, first) != first)
			continue;
		for (size_t i = first; i < topo->tiles_count; i++)
			if (topo->tiles[i].host == topo->tiles[first].host)
				write_device(stream, topo, i, index++, pattern);
	}
	free(time);
}
