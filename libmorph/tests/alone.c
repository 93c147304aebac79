// SPDX-License-Identifier: LGPL-2.1-or-later
/* A context with a fake kernel. */
#include "alone.h"

struct fake *fake;
struct morph_ctx *ctx;

int begin(void **state)
{
	(void)state;
	fake = fake_new();
	ctx = fake_ctx(&fake->transport);
	return 0;
}

int end(void **state)
{
	(void)state;
	morph_ctx_free(ctx);
	return 0;
}
