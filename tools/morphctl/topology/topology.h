/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fabric as drawn: tiles at their positions, and arrows between them. */
#ifndef MORPHCTL_TOPO_H
#define MORPHCTL_TOPO_H

#include "morphctl/command/command.h"

struct topo_point {
	double x, y;
};

struct topo_tile {
	uint32_t id;
	uint32_t host;
	uint32_t at[3]; /* x, y, z */
	int slice; /* index into topo.slices, or -1 */
	uint32_t rank;
	const char *use;
	const char *health;
	bool cordoned, lent;
	size_t change; /* number of the change that the caption lists, or 0 */
	size_t cell[2]; /* column and row of the picture, over all planes */
	double x, y; /* centre in the picture */
};

struct topo_box { /* the tiles of one host in one plane */
	uint32_t host;
	uint32_t z;
	const char *name;
	double left, top, right, bottom;
};

enum topo_side {
	SIDE_LEFT,
	SIDE_TOP,
	SIDE_RIGHT,
	SIDE_BOTTOM
};

/*
 * A line in the gap before a column (axis 0) or row (axis 1) of tiles. It runs along the other
 * axis, from @from to @to: 2 * N + 1 is the middle of column or row N, and 2 * N the gap before it.
 */
struct topo_leg {
	int axis;
	size_t gap;
	size_t from, to;
	double place; /* across the gap */
};

#define LEGS_MOST 2
#define POINTS_MOST 5

#define ARROW_REMOVED "removed" /* a state: the circuits were there before the change */

struct topo_arrow { /* all circuits of a slice between two tiles; indices into topo.tiles */
	size_t from, to; /* indices into topo.tiles */
	int slice;
	const char *state;
	unsigned int circuits;
	unsigned int lanes;
	uint64_t mbps;
	size_t change; /* as that of a tile */
	enum topo_side side[2]; /* where it leaves @from and enters @to */
	double port[2]; /* distance from the middle of that side */
	struct topo_leg legs[LEGS_MOST];
	size_t legs_count;
	struct topo_point points[POINTS_MOST];
	size_t points_count;
};

struct topo_slice {
	uint32_t id;
	const char *name; /* "" if the slice has none */
	const char *state;
	unsigned int tiles;
	unsigned int circuits;
	unsigned int color; /* index into the palette */
};

/* Columns (axis 0) or rows (axis 1) of tiles, and the gaps before, between and after them. */
struct topo_axis {
	size_t count;
	double *centre; /* of each column or row */
	double *need; /* width of the lines in each of the count + 1 gaps */
	double *begin; /* where these lines begin */
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
	bool own; /* slices that the caller may not open are missing */
	char *caption; /* of the changes since another state; NULL without one */
	char **changes; /* sentences; change N is changes[N - 1] */
	size_t changes_count;
	bool unknown; /* the caller may not know the slices of some tiles */
	size_t planes_count; /* distinct values of z */
	struct topo_axis axis[2];
	double tile[2]; /* width and height of tiles */
	double name_height; /* of the names of hosts */
	double size[2]; /* width and height of all tiles with their boxes */
};

/* model.c: takes over the reference to @document. Returns false after a message. */
bool topo_from_document(struct topo *topo, json_t *document);
void topo_free(struct topo *topo);
/* The name of a slice, or its number, in a buffer that the caller frees. */
char *topo_slice_name(const struct topo_slice *slice);
bool topo_unwell(const struct topo_tile *tile);
/* The time at which a document was taken, in UTC, in a buffer that the caller frees. */
char *topo_time(const json_t *document);

#define TIME_UNKNOWN "time of this state not recorded"
#define INCOMPLETE                                                                         \
	"Incomplete: shows only slices whose device nodes the caller may open, and their " \
	"circuits. CAP_NET_ADMIN shows all."

/* changes.c: find what changed since another state, and keep removed arrows. */
void topo_compare(struct topo *topo, const struct topo *old);

/* palette.c: colours that colour-blind readers can distinguish. Red marks failed parts. */
struct topo_color {
	const char *strong;
	const char *tint;
};

extern const struct topo_color topo_palette[];
extern const size_t topo_palette_count;

#define COLOR_FAILED "#c62828"
#define COLOR_INK "#263238"
#define COLOR_FAINT "#90a4ae"

/* Choose a colour for each slice. Slices are sorted by their numbers. */
void topo_choose_colors(struct topo *topo);
const struct topo_color *topo_color_of(const struct topo *topo, int slice);

/* labels.c: estimates of the width of text, in pixels, and lines that fit into a width. */
double label_width(const char *text, double size);
/* The bytes of @text that fit into a line. At least one character fits. */
size_t label_fit(const char *text, double size, double width);
size_t label_lines(const char *text, double size, double width);
/* Whether a line ends within a word. */
bool label_splits(const char *text, double size, double width);

#define SIZE_NAME 10.0 /* of the font in tiles */
#define SIZE_MARK 11.0 /* as wide as the bold font of marks */
#define NAME_LINE 11.0 /* distance of lines in tiles */
#define TILE_PAD 7.0 /* least space between a name and both edges of its tile */
#define HOST_SIZE 11.0
#define HOST_LINE 12.0
#define HOST_PAD 16.0

/* layout.c: compute the positions of tiles, boxes and arrows */
void topo_layout(struct topo *topo);

/*
 * routes.c: paths of arrows in the gaps between tiles, so that no arrow passes behind a tile.
 * topo_choose_routes() knows columns and rows, and computes what the gaps need;
 * topo_place_routes() knows where they are.
 */
void topo_choose_routes(struct topo *topo);
void topo_place_routes(struct topo *topo);
double topo_arrow_width(unsigned int lanes);

void topo_write_matrix(const struct topo *topo);
/* @pattern: path of a device, in which # is its number within its server */
void topo_write_gres(FILE *stream, const struct topo *topo, const char *pattern);
/* These need the layout. */
void topo_write_dot(FILE *stream, const struct topo *topo, const char *title);
void topo_write_svg(FILE *stream, const struct topo *topo, const char *title);

#endif
