// SPDX-License-Identifier: GPL-2.0-or-later
/* What changed between two states of a fabric: a sentence for each tile, slice and arrow. */
#include <stdarg.h>
#include <stdlib.h>

#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *text_of(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	return text;
}

/* Takes over @text. Returns the number of the change. */
static size_t add(struct topo *topo, char *text)
{
	topo->changes =
		needed(realloc(topo->changes, (topo->changes_count + 1) * sizeof(*topo->changes)));
	topo->changes[topo->changes_count] = text;
	return ++topo->changes_count;
}

/* Add ", before: ..." parts to a sentence. */
static void add_part(char **text, const char *what, const char *before, const char *now)
{
	char *all;

	if (!strcmp(before, now))
		return;
	all = text_of("%s%s%s %s, before %s", *text ? *text : "", *text ? "; " : "", what, now,
		      before);
	free(*text);
	*text = all;
}

/* ------------------------------------------------------------------------ accelerators */

static const struct topo_tile *find_tile(const struct topo *topo, uint32_t id)
{
	for (size_t i = 0; i < topo->tiles_count; i++)
		if (topo->tiles[i].id == id)
			return &topo->tiles[i];
	return NULL;
}

static char *describe_use(const struct topo *topo, const struct topo_tile *tile)
{
	char *name, *text;

	if (tile->slice < 0)
		return text_of("%s", tile->use);
	name = topo_slice_name(&topo->slices[tile->slice]);
	text = text_of("%s rank %u%s", name, tile->rank, tile->lent ? " (lent spare)" : "");
	free(name);
	return text;
}

static void compare_tile(struct topo *topo, struct topo_tile *tile, const struct topo *old,
			 const struct topo_tile *before)
{
	char *use = describe_use(topo, tile), *old_use = describe_use(old, before), *text = NULL;

	add_part(&text, "health", before->health, tile->health);
	add_part(&text, "use", old_use, use);
	add_part(&text, "cordoned", before->cordoned ? "yes" : "no", tile->cordoned ? "yes" : "no");
	if (text)
		tile->change = add(topo, text_of("accelerator %u: %s", tile->id, text));
	free(text);
	free(use);
	free(old_use);
}

static void compare_tiles(struct topo *topo, const struct topo *old)
{
	for (size_t i = 0; i < topo->tiles_count; i++) {
		struct topo_tile *tile = &topo->tiles[i];
		const struct topo_tile *before = find_tile(old, tile->id);

		if (before)
			compare_tile(topo, tile, old, before);
		else
			tile->change = add(topo, text_of("accelerator %u: new", tile->id));
	}
	for (size_t i = 0; i < old->tiles_count; i++)
		if (!find_tile(topo, old->tiles[i].id))
			add(topo, text_of("accelerator %u: removed", old->tiles[i].id));
}

/* ------------------------------------------------------------------------------ slices */

static const struct topo_slice *find_slice(const struct topo *topo, uint32_t id)
{
	for (size_t i = 0; i < topo->slices_count; i++)
		if (topo->slices[i].id == id)
			return &topo->slices[i];
	return NULL;
}

static char *name_slice(const struct topo_slice *slice)
{
	return *slice->name ? text_of("slice %s", slice->name) : text_of("slice %u", slice->id);
}

static void report_slice(struct topo *topo, const struct topo_slice *slice, const char *what)
{
	char *name = name_slice(slice);

	add(topo, text_of("%s: %s", name, what));
	free(name);
}

static void compare_slices(struct topo *topo, const struct topo *old)
{
	for (size_t i = 0; i < topo->slices_count; i++) {
		const struct topo_slice *slice = &topo->slices[i];
		const struct topo_slice *before = find_slice(old, slice->id);
		char *text = NULL;

		if (!before)
			report_slice(topo, slice, "new");
		else
			add_part(&text, "state", before->state, slice->state);
		if (text)
			report_slice(topo, slice, text);
		free(text);
	}
	for (size_t i = 0; i < old->slices_count; i++)
		if (!find_slice(topo, old->slices[i].id))
			report_slice(topo, &old->slices[i], "removed");
}

/* ---------------------------------------------------------------------------- circuits */

static uint32_t slice_id(const struct topo *topo, const struct topo_arrow *arrow)
{
	return arrow->slice < 0 ? NUMBER_NONE : topo->slices[arrow->slice].id;
}

static bool same_ends(const struct topo *topo, const struct topo_arrow *a, const struct topo *old,
		      const struct topo_arrow *b)
{
	return topo->tiles[a->from].id == old->tiles[b->from].id &&
	       topo->tiles[a->to].id == old->tiles[b->to].id &&
	       slice_id(topo, a) == slice_id(old, b);
}

/* Find an arrow of the old state that no other one equals, or NULL. */
static size_t find_arrow(const struct topo *topo, const struct topo_arrow *arrow,
			 const struct topo *old, const bool *matched, bool equal)
{
	size_t i;

	for (i = 0; i < old->arrows_count; i++) {
		const struct topo_arrow *before = &old->arrows[i];

		if (!matched[i] && same_ends(topo, arrow, old, before) &&
		    (!equal ||
		     (!strcmp(before->state, arrow->state) && before->circuits == arrow->circuits &&
		      before->lanes == arrow->lanes)))
			break;
	}
	return i;
}

static char *describe_arrow(const struct topo_arrow *arrow)
{
	return text_of("%u circuit%s, %u lane%s, %s", arrow->circuits, PLURAL(arrow->circuits),
		       arrow->lanes, PLURAL(arrow->lanes), arrow->state);
}

/* @before, @now: NULL if there was or is no such arrow. */
static size_t report_arrow(struct topo *topo, const struct topo *of, const struct topo_arrow *ends,
			   const struct topo_arrow *before, const struct topo_arrow *now)
{
	char *name = ends->slice < 0 ? text_of("hidden slice") :
				       name_slice(&of->slices[ends->slice]);
	char *old_text = before ? describe_arrow(before) : text_of("none");
	char *text = now ? describe_arrow(now) : text_of("removed");
	size_t number = add(topo, text_of("circuits from %u to %u, %s: %s, before %s",
					  of->tiles[ends->from].id, of->tiles[ends->to].id, name,
					  text, old_text));

	free(name);
	free(text);
	free(old_text);
	return number;
}

/* Keep a removed arrow in the picture. Its ends are tiles of the new state. */
static void keep_removed(struct topo *topo, const struct topo *old, const struct topo_arrow *before,
			 size_t number)
{
	const struct topo_tile *from = find_tile(topo, old->tiles[before->from].id);
	const struct topo_tile *to = find_tile(topo, old->tiles[before->to].id);
	struct topo_arrow *arrow;

	if (!from || !to)
		return;
	arrow = &topo->arrows[topo->arrows_count++];
	*arrow = *before;
	arrow->from = (size_t)(from - topo->tiles);
	arrow->to = (size_t)(to - topo->tiles);
	arrow->slice = -1;
	arrow->state = ARROW_REMOVED;
	arrow->change = number;
}

static void compare_arrows(struct topo *topo, const struct topo *old)
{
	bool *matched = needed(calloc(old->arrows_count + 1, sizeof(*matched)));
	bool *known = needed(calloc(topo->arrows_count + 1, sizeof(*known)));
	size_t count = topo->arrows_count, at;

	topo->arrows = needed(
		realloc(topo->arrows, (count + old->arrows_count + 1) * sizeof(*topo->arrows)));
	for (size_t i = 0; i < count; i++) {
		at = find_arrow(topo, &topo->arrows[i], old, matched, true);
		if (at < old->arrows_count)
			matched[at] = known[i] = true;
	}
	for (size_t i = 0; i < count; i++) {
		struct topo_arrow *arrow = &topo->arrows[i];

		if (known[i])
			continue;
		at = find_arrow(topo, arrow, old, matched, false);
		if (at < old->arrows_count)
			matched[at] = true;
		arrow->change = report_arrow(
			topo, topo, arrow, at < old->arrows_count ? &old->arrows[at] : NULL, arrow);
	}
	for (size_t i = 0; i < old->arrows_count; i++)
		if (!matched[i])
			keep_removed(topo, old, &old->arrows[i],
				     report_arrow(topo, old, &old->arrows[i], &old->arrows[i],
						  NULL));
	free(matched);
	free(known);
}

void topo_compare(struct topo *topo, const struct topo *old)
{
	char *time = topo_time(old->document);

	compare_tiles(topo, old);
	compare_slices(topo, old);
	compare_arrows(topo, old);
	topo->caption =
		text_of("%s since %s%s", topo->changes_count ? "Changes" : "No changes",
			*time ? time : "a state without a time",
			topo->own || old->own ? "; slices of other tenants may be missing" : "");
	free(time);
}
