// SPDX-License-Identifier: GPL-2.0-only
/* The input is data that libmorph reads from devices: records of events, and lists of nodes. */
#include "../../libmorph/internal/client.h"
#include "transport.h"

static void read_events(struct morph_ctx *ctx)
{
	struct morph_slice slice = { .ctx = ctx, .fd = FUZZ_HANDLE, .number = 1 };
	struct morph_list *events;
	int count = morph_slice_read_events(&slice, &events);

	MUST(count < 0 ? !events : (size_t)count == morph_list_count(events));
	read_list(events);
	morph_list_free(events);
}

static void read_devices(struct morph_ctx *ctx)
{
	struct morph_list *list;

	if (!morph_devices(ctx, &list))
		read_list(list);
	morph_list_free(list);
}

static void read_watch(struct morph_ctx *ctx)
{
	struct morph_object *object;
	struct morph_watch *watch;

	MUST(!morph_watch_new(ctx, &watch));
	if (morph_watch_read(watch, &object) > 0)
		read_object(object);
	morph_object_free(object);
	morph_watch_free(watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(struct morph_ctx * ctx) = {
		read_events,
		read_devices,
		read_watch,
	};
	struct input input = { data, size };
	unsigned int which = eat8(&input) % ARRAY_SIZE(readers);
	struct morph_ctx *ctx = transport_ctx(&input, true);

	readers[which](ctx);
	morph_ctx_free(ctx);
	return 0;
}
