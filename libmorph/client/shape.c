// SPDX-License-Identifier: LGPL-2.1-or-later
/* Commands of the device as bytes without addresses, and the reverse. */
#include <stddef.h>

#include "internal.h"
#include "recording.h"

#define LARGEST_STRUCT 512

/* An array that a command points to; @inner: offset of an array in each entry, or 0. */
struct shape_array {
	uint16_t offset;
	uint16_t inner;
};

struct lm_command_shape {
	unsigned long command;
	const char *name;
	size_t bytes;
	struct shape_array arrays[4];
	uint16_t arrays_count;
	uint16_t fd; /* offset of the fd that the command returns, or 0 */
	uint16_t address; /* offset of an address that is not followed, or 0 */
};

#define SHAPE(number, type) .command = number, .name = #number, .bytes = sizeof(struct type)

static const struct lm_command_shape shapes[] = {
	{ SHAPE(MORPH_FABRIC_INFO, morph_fabric_info) },
	{ SHAPE(MORPH_FABRIC_READ_ACCELERATORS, morph_fabric_read),
	  .arrays = { { offsetof(struct morph_fabric_read, entries), 0 } }, .arrays_count = 1 },
	{ SHAPE(MORPH_FABRIC_READ_GUIDES, morph_fabric_read),
	  .arrays = { { offsetof(struct morph_fabric_read, entries), 0 } }, .arrays_count = 1 },
	{ SHAPE(MORPH_FABRIC_READ_ELEMENTS, morph_fabric_read),
	  .arrays = { { offsetof(struct morph_fabric_read, entries), 0 } }, .arrays_count = 1 },
	{ SHAPE(MORPH_FABRIC_READ_EDGES, morph_fabric_read),
	  .arrays = { { offsetof(struct morph_fabric_read, entries), 0 } }, .arrays_count = 1 },
	{ SHAPE(MORPH_SLICE_CREATE, morph_slice_create),
	  .arrays = { { offsetof(struct morph_slice_create, accelerators), 0 },
		      { offsetof(struct morph_slice_create, spares), 0 } },
	  .arrays_count = 2, .fd = offsetof(struct morph_slice_create, out_fd) },
	{ SHAPE(MORPH_SLICE_DELETE, morph_slice_delete) },
	{ SHAPE(MORPH_GRANT_CREATE, morph_grant_create),
	  .fd = offsetof(struct morph_grant_create, out_fd) },
	{ SHAPE(MORPH_SLICE_INFO, morph_slice_info),
	  .arrays = { { offsetof(struct morph_slice_info, ranks), 0 },
		      { offsetof(struct morph_slice_info, circuits), 0 } },
	  .arrays_count = 2 },
	{ SHAPE(MORPH_CIRCUIT_PATH, morph_circuit_path),
	  .arrays = { { offsetof(struct morph_circuit_path, guides), 0 },
		      { offsetof(struct morph_circuit_path, elements), 0 } },
	  .arrays_count = 2 },
	{ SHAPE(MORPH_TXN_RUN, morph_txn_run),
	  .arrays = { { offsetof(struct morph_txn_run, changes),
			offsetof(struct morph_change, guides) } },
	  .arrays_count = 1 },
	{ SHAPE(MORPH_TXN_STEP, morph_txn_step) },
	{ SHAPE(MORPH_RANK_REPORT, morph_rank_act) },
	{ SHAPE(MORPH_RANK_REPLACE, morph_rank_act) },
	{ SHAPE(MORPH_SLICE_POLICY, morph_slice_policy) },
	{ SHAPE(MORPH_RANK_PREFER, morph_rank_act) },
	{ SHAPE(MORPH_SCHEDULE_LOAD, morph_schedule_load),
	  .arrays = { { offsetof(struct morph_schedule_load, circuits), 0 },
		      { offsetof(struct morph_schedule_load, guides), 0 },
		      { offsetof(struct morph_schedule_load, held), 0 },
		      { offsetof(struct morph_schedule_load, steps), 0 } },
	  .arrays_count = 4 },
	{ SHAPE(MORPH_SCHEDULE_ACT, morph_schedule_act) },
	{ SHAPE(MORPH_SCHEDULE_INFO, morph_schedule_info),
	  .arrays = { { offsetof(struct morph_schedule_info, steps), 0 } }, .arrays_count = 1 },
	{ SHAPE(MORPH_RING_SETUP, morph_ring_setup),
	  .address = offsetof(struct morph_ring_setup, user_ptr) },
	{ SHAPE(MORPH_RING_ACT, morph_ring_act) },
};

_Static_assert(sizeof(struct morph_slice_info) <= LARGEST_STRUCT &&
		       sizeof(struct morph_txn_run) <= LARGEST_STRUCT &&
		       sizeof(struct morph_fabric_info) <= LARGEST_STRUCT,
	       "LARGEST_STRUCT is too small");

const struct lm_command_shape *lm_shape(unsigned long command)
{
	for (size_t at = 0; at < ARRAY_SIZE(shapes); at++)
		if (shapes[at].command == command)
			return &shapes[at];
	return NULL;
}

const char *lm_shape_name(const struct lm_command_shape *shape)
{
	return shape->name;
}

size_t lm_shape_bytes(const struct lm_command_shape *shape)
{
	return shape->bytes;
}

int32_t *lm_shape_fd(const struct lm_command_shape *shape, void *argument)
{
	return shape->fd ? (int32_t *)((char *)argument + shape->fd) : NULL;
}

static struct morph_array array_at(const void *structure, uint16_t offset)
{
	struct morph_array array;

	memcpy(&array, (const char *)structure + offset, sizeof(array));
	return array;
}

static void array_set_ptr(void *structure, uint16_t offset, uint64_t ptr)
{
	struct morph_array array = array_at(structure, offset);

	array.ptr = ptr;
	memcpy((char *)structure + offset, &array, sizeof(array));
}

static uint64_t address_at(const struct lm_command_shape *shape, const void *structure)
{
	uint64_t address = 0;

	if (shape->address)
		memcpy(&address, (const char *)structure + shape->address, sizeof(address));
	return address;
}

static void address_set(const struct lm_command_shape *shape, void *structure, uint64_t address)
{
	if (shape->address)
		memcpy((char *)structure + shape->address, &address, sizeof(address));
}

static void *array_data(const struct morph_array *array)
{
	return (void *)(uintptr_t)array->ptr;
}

/* ------------------------------------------------------------------- saving */

static void save_array(const struct shape_array *shape, const struct morph_array *array,
		       struct lm_bytes *bytes)
{
	char *entry = array_data(array);

	if (!entry)
		return;
	if (!shape->inner) {
		lm_bytes_add(bytes, entry, (size_t)array->count * array->stride);
		return;
	}
	for (uint32_t at = 0; at < array->count; at++, entry += array->stride) {
		struct morph_array inner = array_at(entry, shape->inner);
		char copy[LARGEST_STRUCT];

		memcpy(copy, entry, array->stride);
		array_set_ptr(copy, shape->inner, !!inner.ptr);
		lm_bytes_add(bytes, copy, array->stride);
		if (inner.ptr)
			lm_bytes_add(bytes, array_data(&inner), (size_t)inner.count * inner.stride);
	}
}

void lm_shape_save(const struct lm_command_shape *shape, const void *argument, const void *asked,
		   bool answer, struct lm_bytes *bytes)
{
	struct morph_head head;
	char copy[LARGEST_STRUCT];

	memcpy(copy, argument, shape->bytes);
	memcpy(&head, copy, sizeof(head));
	head.detail_ptr = !!head.detail_ptr;
	memcpy(copy, &head, sizeof(head));
	address_set(shape, copy, !!address_at(shape, argument));
	for (int at = 0; at < shape->arrays_count; at++) {
		struct morph_array array = array_at(copy, shape->arrays[at].offset);

		array_set_ptr(copy, shape->arrays[at].offset, !!array.ptr);
	}
	lm_bytes_add(bytes, copy, shape->bytes);
	for (int at = 0; at < shape->arrays_count; at++) {
		struct morph_array array = array_at(asked, shape->arrays[at].offset);

		save_array(&shape->arrays[at], &array, bytes);
	}
	memcpy(&head, asked, sizeof(head));
	if (answer && head.detail_ptr)
		lm_bytes_add(bytes, (const void *)(uintptr_t)head.detail_ptr, head.detail_len);
}

/* ---------------------------------------------------------------- restoring */

/* Bytes consumed from the front. */
struct source {
	const uint8_t *data;
	size_t left;
};

static bool take(struct source *source, void *into, size_t count)
{
	if (count > source->left)
		return false;
	memcpy(into, source->data, count);
	source->data += count;
	source->left -= count;
	return true;
}

static bool restore_array(const struct shape_array *shape, const struct morph_array *array,
			  struct source *source)
{
	char *entry = array_data(array);

	if (!entry)
		return true;
	if (!shape->inner)
		return take(source, entry, (size_t)array->count * array->stride);
	for (uint32_t at = 0; at < array->count; at++, entry += array->stride) {
		struct morph_array inner = array_at(entry, shape->inner);

		if (!take(source, entry, array->stride))
			return false;
		array_set_ptr(entry, shape->inner, inner.ptr);
		if (inner.ptr &&
		    !take(source, array_data(&inner), (size_t)inner.count * inner.stride))
			return false;
	}
	return true;
}

bool lm_shape_restore(const struct lm_command_shape *shape, void *argument,
		      const struct lm_bytes *bytes)
{
	struct source source = { bytes->data, bytes->count };
	struct morph_head head, answer;
	char asked[LARGEST_STRUCT];

	memcpy(asked, argument, shape->bytes);
	if (!take(&source, argument, shape->bytes))
		return false;
	address_set(shape, argument, address_at(shape, asked));
	for (int at = 0; at < shape->arrays_count; at++) {
		struct morph_array array = array_at(asked, shape->arrays[at].offset);

		array_set_ptr(argument, shape->arrays[at].offset, array.ptr);
		if (!restore_array(&shape->arrays[at], &array, &source))
			return false;
	}
	memcpy(&head, asked, sizeof(head));
	memcpy(&answer, argument, sizeof(answer));
	answer.detail_ptr = head.detail_ptr;
	memcpy(argument, &answer, sizeof(answer));
	return (!head.detail_ptr ||
		take(&source, (void *)(uintptr_t)head.detail_ptr, head.detail_len)) &&
	       !source.left;
}
