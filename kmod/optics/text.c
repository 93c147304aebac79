// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Sentences and errnos of reasons. */
#include "optics.h"

struct reason {
	const char *text;
	int error;
};

static const struct reason reasons[] = {
	[OPTICS_OK] = { "no rule was broken", 0 },
	[OPTICS_BAD_PROFILE] = { "the device profile is malformed", -EINVAL },
	[OPTICS_BAD_PORT] = { "no such port, not the caller's, or the same at both ends", -EINVAL },
	[OPTICS_BAD_PATH] = { "guides and element states of the path do not join up", -EINVAL },
	[OPTICS_NO_ROUTE] = { "no route exists, whoever holds what", -EHOSTUNREACH },
	[OPTICS_BLOCKED] = { "routes exist, but others hold them", -EBUSY },
	[OPTICS_GAVE_UP] = { "the search gave up before it could tell", -EAGAIN },
	[OPTICS_LANES] = { "too few lanes are free", -ENOSPC },
	[OPTICS_ELEMENT_PINNED] = { "an element is held in another state", -EBUSY },
	[OPTICS_UNUSABLE] = { "hardware on the way is failed, quarantined or cordoned", -EIO },
	[OPTICS_MARGIN] = { "too little light would arrive", -ERANGE },
	[OPTICS_OVERLOAD] = { "too much light would arrive", -ERANGE },
	[OPTICS_ISOLATION] = { "leakage between tenants would be too strong", -EXDEV },
	[OPTICS_TRANSIT] = { "the path crosses a tile of another tenant", -EXDEV },
	[OPTICS_PORT_BUSY] = { "a transmit or receive port is in use", -EBUSY },
};

const char *optics_reason_text(u32 reason)
{
	if (reason >= ARRAY_SIZE(reasons))
		return "an unknown rule was broken";
	return reasons[reason].text;
}

int optics_reason_errno(u32 reason)
{
	if (reason >= ARRAY_SIZE(reasons))
		return -EINVAL;
	return reasons[reason].error;
}
