// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Sentences and errnos of reasons. */
#include "optics.h"

struct reason {
	const char *text;
	int error;
};

static const struct reason reasons[] = {
	[OPTICS_OK] = { "no rule is violated", 0 },
	[OPTICS_BAD_PROFILE] = { "the device profile is malformed", -EINVAL },
	[OPTICS_BAD_PORT] = {
		"the port does not exist, belongs to another tenant, or is both ends", -EINVAL
	},
	[OPTICS_BAD_PATH] = { "guides and element states of the path are not connected", -EINVAL },
	[OPTICS_NO_ROUTE] = { "no route exists, even on an idle fabric", -EHOSTUNREACH },
	[OPTICS_BLOCKED] = { "routes exist, but other tenants hold them", -EBUSY },
	[OPTICS_GAVE_UP] = { "search budget exhausted before a result", -EAGAIN },
	[OPTICS_LANES] = { "too few lanes are free", -ENOSPC },
	[OPTICS_ELEMENT_PINNED] = { "an element is held in another state", -EBUSY },
	[OPTICS_UNUSABLE] = { "hardware on the path is failed, quarantined or cordoned", -EIO },
	[OPTICS_MARGIN] = { "too little light would arrive", -ERANGE },
	[OPTICS_OVERLOAD] = { "too much light would arrive", -ERANGE },
	[OPTICS_ISOLATION] = { "leakage between tenants would be too strong", -EXDEV },
	[OPTICS_TRANSIT] = { "the path crosses a tile of another tenant", -EXDEV },
	[OPTICS_PORT_BUSY] = { "a transmit or receive port is in use", -EBUSY },
};

const char *optics_reason_text(u32 reason)
{
	if (reason >= ARRAY_SIZE(reasons))
		return "an unknown rule is violated";
	return reasons[reason].text;
}

int optics_reason_errno(u32 reason)
{
	if (reason >= ARRAY_SIZE(reasons))
		return -EINVAL;
	return reasons[reason].error;
}
