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

/* The relation of two tiles. */
static json_t *cell(const struct topo *topo, size_t from, size_t to)
{
	unsigned int circuits = lit(topo, from, to);

	if (from == to)
		return json_string(" X ");
	if (circuits)
		return json_sprintf("M%u", circuits);
	return json_string(topo->tiles[from].host == topo->tiles[to].host ? "HOST" : "FAB");
}

static json_t *slice_and_rank(const struct topo *topo, const struct topo_tile *tile)
{
	const struct topo_slice *slice = tile->slice < 0 ? NULL : &topo->slices[tile->slice];

	if (!slice)
		return json_string("-");
	return *slice->name ? json_sprintf("%s:%u", slice->name, tile->rank) :
			      json_sprintf("%u:%u", slice->id, tile->rank);
}

/* Columns after those of the accelerators. */
static const char *const rest[] = { "Host", "Use", "Health", "Slice:Rank" };

#define REST (sizeof(rest) / sizeof(rest[0]))

static json_t *value_of(const struct topo *topo, size_t row, size_t column)
{
	const struct topo_tile *tile = &topo->tiles[row];

	if (column < topo->tiles_count)
		return cell(topo, row, column);
	switch (column - topo->tiles_count) {
	case 0:
		return json_sprintf("%u", tile->host);
	case 1:
		return json_string(tile->lent ? "lent" : tile->use);
	case 2:
		return json_sprintf("%s%s", tile->health, tile->cordoned ? ",cordoned" : "");
	default:
		return slice_and_rank(topo, tile);
	}
}

static json_t *heading_of(const struct topo *topo, size_t column)
{
	return column < topo->tiles_count ? json_sprintf("ACC%u", topo->tiles[column].id) :
					    json_string(rest[column - topo->tiles_count]);
}

static void write_cell(json_t *text)
{
	printf("\t%s", json_string_value(text));
	json_decref(text);
}

/* Programs read this form, which is that of nvidia-smi. */
static void write_tabs(const struct topo *topo)
{
	for (size_t column = 0; column < topo->tiles_count + REST; column++)
		write_cell(heading_of(topo, column));
	printf("\n");
	for (size_t row = 0; row < topo->tiles_count; row++) {
		printf("ACC%u", topo->tiles[row].id);
		for (size_t column = 0; column < topo->tiles_count + REST; column++)
			write_cell(value_of(topo, row, column));
		printf("\n");
	}
	printf("\n");
}

static void write_table(const struct topo *topo, size_t from, size_t to)
{
	json_t *names = json_pack("[s]", ""), *rows = json_array();

	for (size_t column = from; column < to; column++)
		json_array_append_new(names, heading_of(topo, column));
	for (size_t row = 0; row < topo->tiles_count; row++) {
		json_t *record = json_pack("{s:o}", "", heading_of(topo, row));

		for (size_t column = from; column < to; column++)
			json_object_set_new(
				record, json_string_value(json_array_get(names, column - from + 1)),
				value_of(topo, row, column));
		json_array_append_new(rows, record);
	}
	table_print(names, rows, true);
	printf("\n");
	json_decref(names);
	json_decref(rows);
}

/* One table after the other, each with as many accelerators as fit into the terminal. */
static void write_tables(const struct topo *topo)
{
	size_t count = topo->tiles_count, fit;
	char last[16];

	if (count)
		snprintf(last, sizeof(last), "ACC%u  ", topo->tiles[count - 1].id);
	fit = count ? text_width() / strlen(last) - 1 : 1;
	for (size_t from = 0; from < count; from += fit)
		write_table(topo, from, from + fit < count ? from + fit : count);
	write_table(topo, count, count + REST);
}

void topo_write_matrix(const struct topo *topo)
{
	if (text_width() == ANY_WIDTH)
		write_tabs(topo);
	else
		write_tables(topo);
	fputs("Legend:\n\n"
	      "  X    = Self\n"
	      "  M#   = Lit by # circuits, row to column\n"
	      "  HOST = Not lit; both share a host\n"
	      "  FAB  = Not lit; both share the fabric only\n",
	      stdout);
	if (topo->own)
		say("\n" INCOMPLETE "\n");
	if (topo->caption)
		say("\n%s%s\n", topo->caption, topo->changes_count ? ":" : "");
	for (size_t i = 0; i < topo->changes_count; i++)
		say("%s\n", topo->changes[i]);
}
