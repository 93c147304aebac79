// SPDX-License-Identifier: GPL-2.0-only
/* The build of the core checks the layout of the device ABI. */
#include <linux/build_bug.h>
#include <linux/morph.h>
#include <linux/stddef.h>

#define LAYOUT(type, first_bytes) static_assert(sizeof(struct type) >= (first_bytes) && \
						!(sizeof(struct type) % 4))
#define AT(type, field, offset) static_assert(offsetof(struct type, field) == (offset))

#include "layout.h"
