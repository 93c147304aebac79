// SPDX-License-Identifier: GPL-2.0-or-later
/* Colours of slices. */
#include <stdlib.h>

#include "morphctl/topology/topology.h"

/*
 * Two of these colours, or one of them and COLOR_FAILED, differ by at least 20 in CIELAB, also for
 * readers who lack one kind of cone (tests/colors.py).
 */
const struct topo_color topo_palette[] = {
	{ "#0072b2", "#d3e8f5" }, { "#e69f00", "#fdf0d0" }, { "#8000d0", "#ead6f8" },
	{ "#78c0a8", "#e0f4ed" }, { "#4e342e", "#e9dfdc" }, { "#1a237e", "#d5d8ef" },
	{ "#5a0050", "#f0d8ec" },
};

const size_t topo_palette_count = sizeof(topo_palette) / sizeof(topo_palette[0]);

static const struct topo_color of_no_slice = { "#607d8b", "#dfe5e8" };

/*
 * The number of a slice chooses its colour, so that it keeps the colour when other slices come and
 * go. If another slice has the colour, it gets the next one that is free.
 */
void topo_choose_colors(struct topo *topo)
{
	bool *taken = needed(calloc(topo_palette_count, sizeof(*taken)));
	size_t left = topo_palette_count;

	for (size_t i = 0; i < topo->slices_count; i++) {
		struct topo_slice *slice = &topo->slices[i];

		slice->color = (slice->id - 1) % topo_palette_count;
		while (left && taken[slice->color])
			slice->color = (slice->color + 1) % topo_palette_count;
		if (left)
			left--;
		taken[slice->color] = true;
	}
	free(taken);
}

const struct topo_color *topo_color_of(const struct topo *topo, int slice)
{
	return slice < 0 ? &of_no_slice : &topo_palette[topo->slices[slice].color];
}
