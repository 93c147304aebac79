// SPDX-License-Identifier: LGPL-2.1-or-later
/* A context that uses no kernel. */
#include "alone.h"

struct morph_ctx *ctx;

int begin(void **state)
{
	(void)state;
	ctx = fake_ctx(&fake_new()->transport);
	return 0;
}

int end(void **state)
{
	(void)state;
	morph_ctx_free(ctx);
	return 0;
}
