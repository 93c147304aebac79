// SPDX-License-Identifier: GPL-2.0-only
/* The layout of the device ABI is checked whenever the core is built. */
#include <linux/build_bug.h>
#include <linux/morph.h>
#include <linux/stddef.h>

#define LAYOUT(type, first_bytes) static_assert(sizeof(struct type) >= (first_bytes) && \
						!(sizeof(struct type) % 4))
#define AT(type, field, offset) static_assert(offsetof(struct type, field) == (offset))

#include "layout.h"
