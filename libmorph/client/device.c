// SPDX-License-Identifier: LGPL-2.1-or-later
/* Commands on devices, waiting, and the list of device nodes. */
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include <linux/morph_netlink.h>

#include "internal.h"

#define SECOND_NS 1000000000LL
#define PAUSE_NS 20000L

/*
 * Read the number of planes if the error names a port. The file can be that of a fabric or of a
 * slice. Without an answer, the error has the index of the port.
 */
static void read_planes(struct morph_ctx *ctx, int fd, unsigned long command)
{
	struct morph_fabric_info info = { .head = { .size = sizeof(info) } };

	if (lm_names_port(&ctx->error) && command != MORPH_FABRIC_INFO &&
	    ctx->transport->ops->ioctl(ctx->transport, fd, MORPH_FABRIC_INFO, &info) >= 0)
		ctx->error.planes = info.planes;
}

int lm_ioctl(struct morph_ctx *ctx, int fd, unsigned long command, void *argument, size_t size,
	     const char *format, ...)
{
	struct morph_head *head = argument;
	struct lm_error *error = &ctx->error;
	va_list arguments;
	int result;

	lm_error_clear(ctx);
	head->size = (__u32)size;
	head->detail_ptr = (uintptr_t)error->kernel;
	head->detail_len = sizeof(error->kernel);
	result = ctx->transport->ops->ioctl(ctx->transport, fd, command, argument);
	error->kernel[sizeof(error->kernel) - 1] = '\0';
	if (result >= 0) {
		lm_error_clear(ctx);
		return result;
	}
	error->reason = head->reason;
	error->part = head->part;
	error->index = head->index;
	error->have = head->have;
	error->need = head->need;
	read_planes(ctx, fd, command);
	va_start(arguments, format);
	lm_fail_kernel(ctx, -result, format, arguments);
	va_end(arguments);
	return result;
}

int lm_wait(struct morph_ctx *ctx, int fd, int64_t timeout_ns, const char *what)
{
	int events = ctx->transport->ops->poll(ctx->transport, fd, timeout_ns);

	if (events < 0)
		return lm_fail(ctx, -events, "wait for %s: %s", what, strerror(-events));
	if (events & POLLIN)
		return 1;
	if (events & (POLLHUP | POLLERR | POLLNVAL))
		return lm_fail(ctx, ENODEV, "wait for %s: the object was removed", what);
	return 0;
}

int64_t lm_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

void lm_pause(void)
{
	const struct timespec wait = { .tv_nsec = PAUSE_NS };

	nanosleep(&wait, NULL);
}

bool lm_is_ours(int error)
{
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EINTR;
}

/* Turn one line "ACTION KIND NUMBER PATH" into an object; NULL when out of memory. */
struct morph_object *lm_device_parse(const char *line)
{
	char action[16], kind[16];
	struct morph_object *object;
	unsigned int number;
	int path = 0;

	if (sscanf(line, "%15s %15s %u %n", action, kind, &number, &path) != 3 || !path)
		return NULL;
	object = lm_object_new(MORPH_OBJECT_DEVICE, NULL);
	if (!object)
		return NULL;
	if (lm_put_text(object, LM_LOCAL_DEVICE_ACTION, action, sizeof(action)) ||
	    lm_put_text(object, LM_LOCAL_DEVICE_KIND, kind, sizeof(kind)) ||
	    lm_put_uint(object, LM_LOCAL_DEVICE_NUMBER, number) ||
	    lm_put_text(object, LM_LOCAL_DEVICE_PATH, line + path, strcspn(line + path, "\n"))) {
		morph_object_free(object);
		return NULL;
	}
	return object;
}

static int compare_devices(const struct morph_object *a, const struct morph_object *b)
{
	int kinds = strcmp(morph_object_text(a, "kind"), morph_object_text(b, "kind"));
	uint32_t left = morph_object_uint(a, "number"), right = morph_object_uint(b, "number");

	return kinds ? kinds : (left > right) - (left < right);
}

int morph_devices(struct morph_ctx *ctx, struct morph_list **out)
{
	struct morph_list *list = lm_list_new();
	char *text = NULL;
	int error;

	*out = NULL;
	if (!list)
		return lm_no_memory(ctx, "list devices");
	error = ctx->transport->ops->devices(ctx->transport, &text);
	if (error < 0) {
		morph_list_free(list);
		return lm_fail(ctx, -error, "list devices: %s", strerror(-error));
	}
	error = 0;
	for (char *line = text; *line && !error; line += *line == '\n') {
		error = lm_list_add(list, lm_device_parse(line));
		line += strcspn(line, "\n");
	}
	free(text);
	if (error) {
		morph_list_free(list);
		return lm_fail(ctx, -error, "list devices: %s", strerror(-error));
	}
	lm_list_sort(list, compare_devices);
	*out = list;
	return 0;
}
