/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the picture, as SVG. */
#ifndef MORPHCTL_TOPO_PICTURE_H
#define MORPHCTL_TOPO_PICTURE_H

#include "morphctl/topology/topology.h"

/* svg.c */
void picture_write_text(FILE *stream, const char *text, size_t bytes);
/* Write a line of text. */
void picture_write_label(FILE *stream, double x, double y, const char *class, const char *text,
			 size_t bytes);

/* Write the number of a change on what changed. */
void picture_write_badge(FILE *stream, double x, double y, size_t number);

/* arrows.c */
void picture_write_arrows(FILE *stream, const struct topo *topo);
void picture_write_arrow_badges(FILE *stream, const struct topo *topo);

/* tiles.c */
void picture_write_tiles(FILE *stream, const struct topo *topo);
void picture_write_tile_texts(FILE *stream, const struct topo *topo);

/*
 * legend.c: the explanation of the picture from @top on, in as many rows as necessary. Returns
 * where it ends. Without @stream it only measures.
 */
double picture_write_legend(FILE *stream, const struct topo *topo, double top, double width);

#endif
