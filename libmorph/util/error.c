// SPDX-License-Identifier: LGPL-2.1-or-later
/* Failures that are noted in a context. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

int lm_no_memory(struct morph_ctx *ctx, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return morph_error_set(ctx, ENOMEM, "%s: out of memory", what);
}
