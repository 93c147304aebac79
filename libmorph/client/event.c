// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events of a slice, read in batches. */
#include "internal.h"

#define MOST_EVENTS 64 /* of one call */
#define LARGEST_RECORD 4096 /* of a newer kernel */
#define RECORDS_BYTES (MOST_EVENTS * sizeof(struct morph_event))

_Static_assert(RECORDS_BYTES >= LARGEST_RECORD, "the buffer is smaller than the largest record");

MORPH_API int morph_slice_wait(struct morph_slice *slice, int64_t timeout_ns)
{
	return lm_wait(slice->ctx, slice->fd, timeout_ns, "events of the slice");
}

/* A record of the kernel's size in this library's size: cut, or extended with zeros. */
static struct morph_object *record_parse(const char *record, uint32_t size, uint32_t fabric)
{
	struct morph_event event;

	memset(&event, 0, sizeof(event));
	memcpy(&event, record, size < sizeof(event) ? size : sizeof(event));
	return lm_from_event(&event, fabric);
}

/* Append records to a list as events. */
static int parse_records(struct morph_slice *slice, const char *records, size_t bytes,
			 struct morph_list *list)
{
	size_t at = 0;

	while (at < bytes) {
		size_t left = bytes - at;
		uint32_t size = 0;

		if (left >= sizeof(size))
			memcpy(&size, records + at, sizeof(size));
		if (size < 2 * sizeof(__u32) || size > left)
			return lm_fail(
				slice->ctx, EPROTO,
				"read events of slice %u: a record of %u bytes where %zu are left",
				slice->number, size, left);
		if (lm_list_add(list, record_parse(records + at, size, slice->fabric)))
			return lm_no_memory(slice->ctx, "read events of slice %u", slice->number);
		at += size;
	}
	return 0;
}

MORPH_API int morph_slice_read_events(struct morph_slice *slice, struct morph_list **out)
{
	struct lm_transport *transport = slice->ctx->transport;
	struct morph_list *list = lm_list_new();
	struct morph_event *records = calloc(MOST_EVENTS, sizeof(*records));
	ssize_t bytes;
	int error;

	*out = NULL;
	if (!list || !records) {
		error = lm_no_memory(slice->ctx, "read events of slice %u", slice->number);
		goto free;
	}
	bytes = transport->ops->read(transport, slice->fd, records, RECORDS_BYTES);
	if (bytes < 0)
		error = lm_fail(slice->ctx, (int)-bytes, "read events of slice %u: %s",
				slice->number, strerror((int)-bytes));
	else
		error = parse_records(slice, (const char *)records, (size_t)bytes, list);
free:
	free(records);
	if (error) {
		morph_list_free(list);
		return error;
	}
	*out = list;
	return (int)morph_list_count(list);
}
