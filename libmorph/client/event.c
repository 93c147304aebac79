// SPDX-License-Identifier: LGPL-2.1-or-later
/* A slice's events, read in batches into a buffer that is used again. */
#include "internal.h"

#define DEFAULT_CAPACITY 64
#define MAX_CAPACITY 65536
#define LARGEST_RECORD 4096 /* of a kernel that knows more than this library */

struct morph_events {
	struct morph_list *list;
	char *records;
	size_t bytes;
};

MORPH_API struct morph_events *morph_events_new(struct morph_ctx *ctx, size_t capacity)
{
	struct morph_events *events = calloc(1, sizeof(*events));

	if (!capacity)
		capacity = DEFAULT_CAPACITY;
	if (capacity > MAX_CAPACITY)
		capacity = MAX_CAPACITY;
	if (events) {
		events->list = lm_list_new();
		events->bytes = capacity * sizeof(struct morph_event);
		events->records = calloc(1, events->bytes);
	}
	if (!events || !events->list || !events->records) {
		morph_events_free(events);
		lm_no_memory(ctx, "make a buffer for %zu events", capacity);
		return NULL;
	}
	return events;
}

MORPH_API void morph_events_free(struct morph_events *events)
{
	if (!events)
		return;
	morph_list_free(events->list);
	free(events->records);
	free(events);
}

size_t morph_events_count(const struct morph_events *events)
{
	return morph_list_count(events->list);
}

MORPH_API const struct morph_object *morph_events_get(const struct morph_events *events,
						      size_t index)
{
	return morph_list_get(events->list, index);
}

MORPH_API int morph_slice_wait(struct morph_slice *slice, int64_t timeout_ns)
{
	return lm_wait(slice->ctx, slice->fd, timeout_ns, "events of the slice");
}

/* Read records; a kernel with larger ones than the buffer says EINVAL. */
static ssize_t read_records(struct morph_slice *slice, struct morph_events *events)
{
	struct lm_transport *transport = slice->ctx->transport;
	ssize_t bytes;

	bytes = transport->ops->read(transport, slice->fd, events->records, events->bytes);
	if (bytes == -EINVAL && events->bytes < LARGEST_RECORD) {
		char *records = realloc(events->records, LARGEST_RECORD);

		if (!records)
			return -ENOMEM;
		events->records = records;
		events->bytes = LARGEST_RECORD;
		bytes = transport->ops->read(transport, slice->fd, records, events->bytes);
	}
	return bytes;
}

/* A record of the kernel's size as one of ours: cut, or with zeros at its end. */
static struct morph_object *record_parse(const char *record, uint32_t size, uint32_t fabric)
{
	struct morph_event event;

	memset(&event, 0, sizeof(event));
	memcpy(&event, record, size < sizeof(event) ? size : sizeof(event));
	return lm_from_event(&event, fabric);
}

MORPH_API int morph_slice_read_events(struct morph_slice *slice, struct morph_events *events)
{
	ssize_t bytes, at = 0;

	lm_list_clear(events->list);
	bytes = read_records(slice, events);
	if (bytes < 0)
		return lm_fail(slice->ctx, (int)-bytes, "read events of slice %u: %s",
			       slice->number, strerror((int)-bytes));
	while (at < bytes) {
		size_t left = (size_t)(bytes - at);
		uint32_t size = 0;

		if (left >= sizeof(size))
			memcpy(&size, events->records + at, sizeof(size));
		if (size < 2 * sizeof(__u32) || size > left)
			return lm_fail(
				slice->ctx, EPROTO,
				"read events of slice %u: a record of %u bytes where %zu are left",
				slice->number, size, left);
		if (lm_list_add(events->list,
				record_parse(events->records + at, size, slice->fabric)))
			return lm_no_memory(slice->ctx, "read events of slice %u", slice->number);
		at += size;
	}
	return (int)morph_list_count(events->list);
}
