// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert the records of dumps to tiles, boxes and arrows. */
#include <stdlib.h>
#include <time.h>

#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

static void *zeroed(size_t count, size_t size)
{
	return needed(calloc(count ? count : 1, size));
}

static int find_slice(const struct topo *topo, uint32_t id)
{
	for (size_t i = 0; i < topo->slices_count; i++)
		if (topo->slices[i].id == id)
			return (int)i;
	return -1;
}

static void read_slices(struct topo *topo)
{
	json_t *list = json_object_get(topo->document, "slices"), *record;
	size_t i;

	topo->slices = zeroed(json_array_size(list), sizeof(*topo->slices));
	json_array_foreach(list, i, record)
	{
		struct topo_slice *slice = &topo->slices[topo->slices_count++];

		slice->id = number_of(record, "id", NUMBER_NONE);
		slice->name = text_of_key(record, "name");
		slice->state = text_of_key(record, "state");
	}
}

/* A slice that no dump contains is known by the number in its tiles. */
static int slice_of_tile(struct topo *topo, uint32_t id)
{
	int place = find_slice(topo, id);

	if (place >= 0 || id == NUMBER_NONE)
		return place;
	topo->slices =
		needed(realloc(topo->slices, (topo->slices_count + 1) * sizeof(*topo->slices)));
	topo->slices[topo->slices_count] = (struct topo_slice){ .id = id, .name = "", .state = "" };
	return (int)topo->slices_count++;
}

static const char *host_name(const json_t *record)
{
	return text_of_key(record, "host-name");
}

static void read_tiles(struct topo *topo)
{
	json_t *list = json_object_get(topo->document, "accelerators"), *record;
	size_t i;

	topo->tiles = zeroed(json_array_size(list), sizeof(*topo->tiles));
	topo->boxes = zeroed(json_array_size(list), sizeof(*topo->boxes));
	json_array_foreach(list, i, record)
	{
		struct topo_tile *tile = &topo->tiles[topo->tiles_count++];
		struct topo_box *box = topo->boxes;
		const char *const axes[] = { "x", "y", "z" };

		tile->id = number_of(record, "id", NUMBER_NONE);
		tile->host = number_of(record, "host", 0);
		for (int axis = 0; axis < 3; axis++)
			tile->at[axis] = number_of(record, axes[axis], 0);
		tile->use = text_of_key(record, "use");
		tile->lent = flag_of(record, "lent");
		tile->health = text_of_key(record, "health");
		tile->cordoned = flag_of(record, "cordoned");
		tile->rank = number_of(record, "rank", NUMBER_NONE);
		tile->slice = slice_of_tile(topo, number_of(record, "slice", NUMBER_NONE));
		while (box < &topo->boxes[topo->boxes_count] &&
		       (box->host != tile->host || box->z != tile->at[2]))
			box++;
		if (box == &topo->boxes[topo->boxes_count])
			topo->boxes_count++;
		*box = (struct topo_box){ .host = tile->host,
					  .z = tile->at[2],
					  .name = host_name(record) };
	}
}

static size_t tile_place(const struct topo *topo, uint32_t id)
{
	size_t i;

	for (i = 0; i < topo->tiles_count; i++)
		if (topo->tiles[i].id == id)
			break;
	return i;
}

/* Without CAP_NET_ADMIN, accelerators have no slice, but the caller's own slices have ranks. */
static void read_ranks(struct topo *topo)
{
	json_t *list = json_object_get(topo->document, "slices"), *record, *rank;
	size_t i, k;

	json_array_foreach(list, i, record)
		json_array_foreach(json_object_get(record, "ranks"), k, rank)
	{
		size_t place = tile_place(topo, number_of(rank, "accelerator", NUMBER_NONE));
		struct topo_tile *tile = &topo->tiles[place];

		if (place == topo->tiles_count || tile->slice >= 0)
			continue;
		tile->slice = find_slice(topo, number_of(record, "id", NUMBER_NONE));
		tile->rank = number_of(rank, "rank", NUMBER_NONE);
	}
}

static void count_tiles(struct topo *topo)
{
	for (size_t i = 0; i < topo->tiles_count; i++) {
		const struct topo_tile *tile = &topo->tiles[i];

		if (tile->slice >= 0)
			topo->slices[tile->slice].tiles++;
		else
			topo->unknown |= !strcmp(tile->use, "held");
	}
}

/* The tile of one end. A device node names the ranks of a circuit, but no accelerators. */
static size_t end_place(const struct topo *topo, const json_t *record, int slice,
			const char *accelerator, const char *rank)
{
	uint32_t number = number_of(record, rank, NUMBER_NONE);
	size_t i;

	if (json_object_get(record, accelerator))
		return tile_place(topo, number_of(record, accelerator, NUMBER_NONE));
	for (i = 0; i < topo->tiles_count; i++)
		if (slice >= 0 && topo->tiles[i].slice == slice && topo->tiles[i].rank == number)
			break;
	return i;
}

static void add_circuit(struct topo *topo, const json_t *record)
{
	int slice = find_slice(topo, number_of(record, "slice", NUMBER_NONE));
	struct topo_arrow arrow = {
		.from = end_place(topo, record, slice, "src-accelerator", "src-rank"),
		.to = end_place(topo, record, slice, "dst-accelerator", "dst-rank"),
		.slice = slice,
		.state = text_of_key(record, "state"),
	};
	struct topo_arrow *at = topo->arrows, *end = at + topo->arrows_count;

	if (arrow.from == topo->tiles_count || arrow.to == topo->tiles_count)
		return;
	while (at < end && (at->from != arrow.from || at->to != arrow.to ||
			    at->slice != arrow.slice || strcmp(at->state, arrow.state)))
		at++;
	if (at == end) {
		*at = arrow;
		topo->arrows_count++;
	}
	at->circuits++;
	at->lanes += (unsigned int)__builtin_popcountll(wide_of(record, "lane-mask"));
	at->mbps += wide_of(record, "bandwidth-mbps");
	if (arrow.slice >= 0)
		topo->slices[arrow.slice].circuits++;
}

static void read_circuits(struct topo *topo)
{
	json_t *list = json_object_get(topo->document, "circuits"), *record;
	size_t i;

	topo->arrows = zeroed(json_array_size(list), sizeof(*topo->arrows));
	json_array_foreach(list, i, record) add_circuit(topo, record);
}

static int by_slice(const void *left, const void *right)
{
	const struct topo_slice *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

bool topo_from_document(struct topo *topo, json_t *document)
{
	static const char *const lists[] = { "accelerators", "slices", "circuits" };

	*topo = (struct topo){ .document = document };
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (json_is_array(json_object_get(document, lists[i])))
			continue;
		warn_line("topo: the document lacks the array '%s'; it must be what "
			  "'morphctl topo -o json' writes",
			  lists[i]);
		return false;
	}
	topo->own = key_is(document, "visible", "own");
	read_slices(topo);
	qsort(topo->slices, topo->slices_count, sizeof(*topo->slices), by_slice);
	read_tiles(topo);
	read_ranks(topo);
	count_tiles(topo);
	read_circuits(topo);
	topo_choose_colors(topo);
	return true;
}

char *topo_slice_name(const struct topo_slice *slice)
{
	char *name;

	if ((*slice->name ? asprintf(&name, "%s", slice->name) :
			    asprintf(&name, "slice %u", slice->id)) < 0)
		name = NULL;
	return needed(name);
}

bool topo_unwell(const struct topo_tile *tile)
{
	return *tile->health && strcmp(tile->health, "ok");
}

char *topo_time(const json_t *document)
{
	time_t seconds = (time_t)(wide_of(document, "taken-unix-ns") / 1000000000);
	char *text = needed(malloc(40));
	struct tm utc;

	*text = 0;
	if (seconds && gmtime_r(&seconds, &utc))
		strftime(text, 40, "%Y-%m-%d %H:%M:%S UTC", &utc);
	return text;
}

void topo_free(struct topo *topo)
{
	for (size_t i = 0; i < topo->changes_count; i++)
		free(topo->changes[i]);
	free(topo->changes);
	free(topo->caption);
	for (int axis = 0; axis < 2; axis++) {
		free(topo->axis[axis].centre);
		free(topo->axis[axis].need);
		free(topo->axis[axis].begin);
	}
	free(topo->tiles);
	free(topo->boxes);
	free(topo->arrows);
	free(topo->slices);
	json_decref(topo->document);
}
