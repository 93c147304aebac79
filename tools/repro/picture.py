# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw a figure.

Our values are bars with their intervals. Published values and baselines are marks.
"""

from xml.sax.saxutils import escape

OURS, BASELINE, PUBLISHED, INK, FAINT = "#0072b2", "#e69f00", "#c62828", "#263238", "#cfd8dc"
LINE, LEFT, PLOT, RIGHT, HEAD = 22, 420, 420, 90, 84


def text(x, y, words, size=11, anchor="start", color=INK):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{color}">{escape(words)}</text>')


def bar(x, y, width, height, color):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height}" fill="{color}"/>'


def line(x1, y1, x2, y2, color, width=1.5):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"/>'


def scale(rows):
    """Positions of values. Rows of one unit share a scale, so that their bars are comparable."""
    values = [0.0]
    for row in rows:
        values += [row[key] for key in ("ours", "low", "high", "baseline") if row[key] is not None]
        if row["published"]:
            values.append(row["published"]["value"])
    least, most = min(values), max(values)
    span = (most - least) or 1.0
    return lambda value: LEFT + (value - least) / span * PLOT


def draw_row(row, y, at):
    middle, parts = y + LINE / 2, []
    parts.append(text(LEFT - 8, middle + 4, row["name"].partition("/")[2], anchor="end"))
    if row["ours"] is not None:
        begin, end = sorted((at(0), at(row["ours"])))
        parts.append(bar(begin, y + 4, end - begin, LINE - 8, OURS))
        parts.append(text(LEFT + PLOT + 8, middle + 4, f"{row['ours']:.4g}"))
    if row["low"] is not None:
        parts.append(line(at(row["low"]), middle, at(row["high"]), middle, INK))
        parts += [line(at(row[key]), middle - 4, at(row[key]), middle + 4, INK) for key in ("low", "high")]
    if row["baseline"] is not None:
        parts.append(line(at(row["baseline"]), y + 1, at(row["baseline"]), y + LINE - 1, BASELINE, 3))
    if row["published"]:
        x = at(row["published"]["value"])
        parts.append(f'<path d="M{x:.1f} {middle - 6:.1f} l6 6 l-6 6 l-6 -6 z" fill="{PUBLISHED}"/>')
    return parts


def legend(y):
    parts, x = [], LEFT
    for color, words in ((OURS, "ours, with its interval"), (BASELINE, "baseline"), (PUBLISHED, "published")):
        parts += [bar(x, y - 9, 10, 10, color), text(x + 14, y, words)]
        x += 24 + 7 * len(words)
    return parts


def draw(figure, rows):
    """The picture as the text of an SVG file."""
    parts = [text(12, 26, figure["title"], 18),
             text(12, 46, f"Published: {figure['source']} [{figure['certainty']}]", color="#546e7a")]
    parts += legend(66)
    y = HEAD
    for unit in dict.fromkeys(row["unit"] for row in rows):
        mine = [row for row in rows if row["unit"] == unit]
        at = scale(mine)
        parts.append(text(LEFT, y + 14, unit, 12))
        y += LINE
        parts.append(line(at(0), y, at(0), y + LINE * len(mine), FAINT))
        for row in mine:
            parts += draw_row(row, y, at)
            y += LINE
        y += 8
    width, height = LEFT + PLOT + RIGHT, y + 8
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif">\n<rect width="100%" height="100%" '
            f'fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")
