// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of errors. */
#include <stdarg.h>
#include <stdio.h>

#include "sweep.h"

const char *say(const char *format, ...)
{
	/* Large enough for two states of a stage. */
	static char texts[4][2 * PICTURE_BYTES + 200];
	static unsigned int turn;
	char *text = texts[turn++ % COUNT(texts)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(texts[0]), format, arguments);
	va_end(arguments);
	return text;
}
