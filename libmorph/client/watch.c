// SPDX-License-Identifier: LGPL-2.1-or-later
/* Device nodes that appear and disappear, from udev. */
#include "internal.h"

struct morph_watch {
	struct morph_ctx *ctx;
	int fd;
};

int morph_watch_new(struct morph_ctx *ctx, struct morph_watch **out)
{
	struct morph_watch *watch = malloc(sizeof(*watch));
	int fd;

	*out = NULL;
	if (!watch)
		return lm_no_memory(ctx, "watch devices");
	fd = ctx->transport->ops->watch_open(ctx->transport);
	if (fd < 0) {
		free(watch);
		return lm_fail(ctx, -fd, "watch devices: %s", strerror(-fd));
	}
	watch->ctx = ctx;
	watch->fd = fd;
	*out = watch;
	return 0;
}

void morph_watch_free(struct morph_watch *watch)
{
	if (!watch)
		return;
	watch->ctx->transport->ops->close(watch->ctx->transport, watch->fd);
	free(watch);
}

int morph_watch_get_fd(const struct morph_watch *watch)
{
	return watch->fd;
}

int morph_watch_wait(struct morph_watch *watch, int64_t timeout_ns)
{
	return lm_wait(watch->ctx, watch->fd, timeout_ns, "devices");
}

int morph_watch_read(struct morph_watch *watch, struct morph_object **out)
{
	struct morph_ctx *ctx = watch->ctx;
	char *line = NULL;
	int error;

	*out = NULL;
	error = ctx->transport->ops->watch_read(ctx->transport, watch->fd, &line);
	if (error < 0)
		return lm_fail(ctx, -error, "watch devices: %s", strerror(-error));
	*out = lm_device_parse(line);
	free(line);
	return *out ? 1 : lm_no_memory(ctx, "watch devices");
}
