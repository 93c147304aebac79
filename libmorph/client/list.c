// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists of objects. */
#include "internal.h"

struct morph_list {
	struct morph_object **objects;
	size_t count;
	size_t room;
	uint64_t seq;
};

struct morph_list *lm_list_new(void)
{
	return calloc(1, sizeof(struct morph_list));
}

int lm_list_add(struct morph_list *list, struct morph_object *object)
{
	if (!object)
		return -ENOMEM;
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 16;
		struct morph_object **objects = reallocarray(list->objects, room, sizeof(*objects));

		if (!objects) {
			morph_object_free(object);
			return -ENOMEM;
		}
		list->objects = objects;
		list->room = room;
	}
	list->objects[list->count++] = object;
	return 0;
}

struct morph_object *lm_list_pop(struct morph_list *list)
{
	return list->count ? list->objects[--list->count] : NULL;
}

static bool is_continued(const struct morph_object *object, const struct morph_object *next)
{
	uint32_t type = morph_object_type(object);

	return (type == MORPH_OBJECT_SLICE || type == MORPH_OBJECT_TXN) &&
	       morph_object_type(next) == type &&
	       morph_object_uint(object, "fabric") == morph_object_uint(next, "fabric") &&
	       morph_object_uint(object, "id") == morph_object_uint(next, "id");
}

int lm_list_join(struct morph_list *list)
{
	size_t kept = 0;
	int error = 0;

	for (size_t at = 0; at < list->count; at++) {
		if (!error && kept && is_continued(list->objects[kept - 1], list->objects[at])) {
			error = lm_object_absorb(list->objects[kept - 1], list->objects[at]);
			morph_object_free(list->objects[at]);
		} else {
			list->objects[kept++] = list->objects[at];
		}
	}
	list->count = kept;
	return error;
}

void lm_list_clear(struct morph_list *list)
{
	while (list->count)
		morph_object_free(list->objects[--list->count]);
	list->seq = 0;
}

void lm_list_set_seq(struct morph_list *list, uint64_t seq)
{
	list->seq = seq;
}

/* Insertion sort: stable, and fast for nearly sorted input. */
void lm_list_sort(struct morph_list *list,
		  int (*compare)(const struct morph_object *a, const struct morph_object *b))
{
	for (size_t at = 1; at < list->count; at++) {
		struct morph_object *object = list->objects[at];
		size_t place = at;

		for (; place && compare(list->objects[place - 1], object) > 0; place--)
			list->objects[place] = list->objects[place - 1];
		list->objects[place] = object;
	}
}

MORPH_API void morph_list_free(struct morph_list *list)
{
	if (!list)
		return;
	lm_list_clear(list);
	free(list->objects);
	free(list);
}

MORPH_API size_t morph_list_count(const struct morph_list *list)
{
	return list ? list->count : 0;
}

MORPH_API const struct morph_object *morph_list_get(const struct morph_list *list, size_t index)
{
	return index < morph_list_count(list) ? list->objects[index] : NULL;
}

const struct morph_object *morph_list_find(const struct morph_list *list, const char *name,
					   uint64_t value)
{
	for (size_t at = 0; at < morph_list_count(list); at++)
		if (morph_object_has(list->objects[at], name) &&
		    morph_object_uint(list->objects[at], name) == value)
			return list->objects[at];
	return NULL;
}

uint64_t morph_list_seq(const struct morph_list *list)
{
	return list ? list->seq : 0;
}
