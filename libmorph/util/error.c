// SPDX-License-Identifier: LGPL-2.1-or-later
/* The last failure of a context. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static struct lm_error *error_of(struct morph_ctx *ctx)
{
	return (struct lm_error *)ctx;
}

void lm_error_clear(struct morph_ctx *ctx)
{
	memset(error_of(ctx), 0, sizeof(struct lm_error));
}

void lm_error_add(struct lm_error *error, const char *format, ...)
{
	size_t used = strlen(error->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
	va_end(arguments);
}

static void note(struct morph_ctx *ctx, int code, const char *format, va_list arguments)
{
	struct lm_error *error = error_of(ctx);

	lm_error_clear(ctx);
	error->code = code;
	vsnprintf(error->text, sizeof(error->text), format, arguments);
}

int lm_fail(struct morph_ctx *ctx, int code, const char *format, ...)
{
	va_list arguments;

	if (!ctx)
		return -code;
	va_start(arguments, format);
	note(ctx, code, format, arguments);
	va_end(arguments);
	return -code;
}

int lm_no_memory(struct morph_ctx *ctx, const char *format, ...)
{
	va_list arguments;

	if (!ctx)
		return -ENOMEM;
	va_start(arguments, format);
	note(ctx, ENOMEM, format, arguments);
	va_end(arguments);
	lm_error_add(error_of(ctx), ": out of memory");
	return -ENOMEM;
}
