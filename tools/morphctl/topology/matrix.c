// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the matrix in the form of 'nvidia-smi topo -m'. */
#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

static unsigned int lit(const struct topo *topo, size_t from, size_t to)
{
	unsigned int circuits = 0;

	for (size_t i = 0; i < topo->arrows_count; i++) {
		const struct topo_arrow *arrow = &topo->arrows[i];

		if (arrow->from == from && arrow->to == to && !strcmp(arrow->state, "lit"))
			circuits += arrow->circuits;
	}
	return circuits;
}

static void write_cell(FILE *stream, const struct topo *topo, size_t from, size_t to)
{
	unsigned int circuits = lit(topo, from, to);

	if (from == to)
		fputs("\t X ", stream);
	else if (circuits)
		fprintf(stream, "\tM%u", circuits);
	else
		fputs(topo->tiles[from].host == topo->tiles[to].host ? "\tHOST" : "\tFAB", stream);
}

static void write_rest(FILE *stream, const struct topo *topo, const struct topo_tile *tile)
{
	const struct topo_slice *slice = tile->slice < 0 ? NULL : &topo->slices[tile->slice];

	fprintf(stream, "\t%u\t%s\t%s%s\t", tile->host, tile->use, tile->health,
		tile->cordoned ? ",cordoned" : "");
	if (!slice)
		fputs("-\n", stream);
	else if (*slice->name)
		fprintf(stream, "%s:%u\n", slice->name, tile->rank);
	else
		fprintf(stream, "%u:%u\n", slice->id, tile->rank);
}

void topo_write_matrix(FILE *stream, const struct topo *topo)
{
	for (size_t i = 0; i < topo->tiles_count; i++)
		fprintf(stream, "\tACC%u", topo->tiles[i].id);
	fputs("\tHost\tUse\tHealth\tSlice:Rank\n", stream);
	for (size_t row = 0; row < topo->tiles_count; row++) {
		fprintf(stream, "ACC%u", topo->tiles[row].id);
		for (size_t column = 0; column < topo->tiles_count; column++)
			write_cell(stream, topo, row, column);
		write_rest(stream, topo, &topo->tiles[row]);
	}
	fputs("\nLegend:\n\n"
	      "  X    = Self\n"
	      "  M#   = Lit from the row to the column by # circuits\n"
	      "  HOST = No light between them; they share a host\n"
	      "  FAB  = No light between them; they share the fabric only\n",
	      stream);
}
