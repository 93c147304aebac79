/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fabric as drawn: tiles at their positions, and arrows between them. */
#ifndef MORPHCTL_TOPO_H
#define MORPHCTL_TOPO_H

#include "morphctl/command/command.h"

#define TILE_SIZE 58.0

struct topo_tile {
	uint32_t id;
	uint32_t host;
	uint32_t at[3]; /* x, y, z */
	int slice; /* index into topo.slices, or -1 */
	uint32_t rank;
	const char *use;
	const char *health;
	bool cordoned, lent;
	double x, y; /* centre in the picture */
};

struct topo_box { /* the tiles of one host in one plane */
	uint32_t host;
	uint32_t z;
	const char *name;
	double left, top, right, bottom;
};

struct topo_arrow { /* all circuits of a slice between two tiles; indices into topo.tiles */
	size_t from, to; /* indices into topo.tiles */
	int slice;
	const char *state;
	unsigned int circuits;
	unsigned int lanes;
	uint64_t mbps;
};

struct topo_slice {
	uint32_t id;
	const char *name; /* "" if the slice has none */
	const char *state;
	unsigned int tiles;
	unsigned int circuits;
};

/* @document owns the texts. */
struct topo {
	json_t *document;
	struct topo_tile *tiles;
	size_t tiles_count;
	struct topo_box *boxes;
	size_t boxes_count;
	struct topo_arrow *arrows;
	size_t arrows_count;
	struct topo_slice *slices;
	size_t slices_count;
	double width, height;
};

/* model.c: takes over the reference to @document. Returns false after a message. */
bool topo_from_document(struct topo *topo, json_t *document);
void topo_free(struct topo *topo);

/* layout.c: compute the positions of tiles and boxes */
void topo_layout(struct topo *topo);

void topo_write_matrix(const struct topo *topo);
void topo_write_svg(FILE *stream, const struct topo *topo, const char *title);

#endif
