# SPDX-License-Identifier: GPL-2.0-only
"""Draw loss and throughput over time: picture.py build/training.json > build/training.svg"""

import json
import statistics
import sys

from xml.sax.saxutils import escape

INK, FAINT, FAILURE = "#263238", "#cfd8dc", "#c62828"
WIDTH, LEFT, RIGHT, TOP, HEIGHT, GAP = 940, 70, 24, 96, 210, 62
# Runs, their titles and colours.
RUNS = (("fabric", "circuits, with a failure", "#0072b2"), ("torus", "links of the torus", "#e69f00"),
        ("rest", "torus that lost a node", "#8e44ad"))
SMOOTH = 5      # steps of the running median of the throughput


def text(x, y, words, size=12, anchor="start", color=INK):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}">{escape(words)}</text>'


def line(x1, y1, x2, y2, color, width=1.0, more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"{more}/>'


def curve(points, color):
    return (f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{color}" '
            f'stroke-width="2" stroke-linejoin="round"/>')


def seconds(run, at_ns):
    """Time since the run began to compute."""
    return (at_ns - run["steps"][0]["computed_ns"]) / 1e9


def loss_points(run):
    return [(seconds(run, step["ended_ns"]), step["loss"]) for step in run["steps"]]


def smooth(kept, run, samples):
    """Samples in a second, as a running median."""
    rates = [samples * 1e9 / (step["ended_ns"] - last["ended_ns"]) for last, step in zip(kept, kept[1:])]
    medians = [statistics.median(rates[max(at - SMOOTH // 2, 0):at + SMOOTH // 2 + 1]) for at in range(len(rates))]
    return [(seconds(run, step["ended_ns"]), rate) for step, rate in zip(kept[1:], medians)]


def speed_points(run, samples):
    """Throughput over time; none from the failure to the end of the next step."""
    kept = list({step["step"]: step for step in run["steps"]}.values())
    if "failed_ns" not in run:
        return smooth(kept, run, samples)
    before = [step for step in run["steps"] if step["ended_ns"] < run["failed_ns"]]
    after = [step for step in kept if step["ended_ns"] > run["rejoined"][0]["at_ns"]]
    gap = [(seconds(run, at_ns), 0) for at_ns in (run["failed_ns"], after[0]["ended_ns"])]
    return smooth(before, run, samples) + gap + smooth(after, run, samples)


class Plot:
    """A plot over time."""

    def __init__(self, top, title, curves, until):
        self.top, self.title, self.curves, self.until = top, title, curves, until
        self.most = 1.05 * max(value for points, _ in curves for _, value in points)

    def x(self, value):
        return LEFT + value / self.until * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return self.top + HEIGHT * (1 - value / self.most)

    def draw(self, failed_s, rejoined_s):
        parts = [text(LEFT, self.top - 10, self.title, 13)]
        bottom = self.top + HEIGHT
        unit = 10 ** (len(str(int(self.most))) - 1) / (2 if self.most < 10 else 1)
        value = 0
        while value <= self.most:
            parts += [line(LEFT, self.y(value), WIDTH - RIGHT, self.y(value), FAINT),
                      text(LEFT - 8, self.y(value) + 4, f"{value:g}", anchor="end")]
            value += unit
        for at in range(0, int(self.until) + 1, 5 if self.until < 60 else 20):
            parts += [line(self.x(at), bottom, self.x(at), bottom + 5, INK), text(self.x(at), bottom + 19, f"{at}", anchor="middle")]
        parts.append(f'<rect x="{self.x(failed_s):.1f}" y="{self.top}" width="{self.x(rejoined_s) - self.x(failed_s):.1f}" '
                     f'height="{HEIGHT}" fill="{FAILURE}" opacity="0.15"/>')
        parts.append(line(self.x(failed_s), self.top, self.x(failed_s), bottom, FAILURE, 1.5, ' stroke-dasharray="5 3"'))
        return parts + [curve([(self.x(at), self.y(value)) for at, value in points], color) for points, color in self.curves]


def draw(record):
    """The picture as the text of an SVG file."""
    fabric = record["fabric"]
    failed_s = seconds(fabric, fabric["failed_ns"])
    back_s = failed_s + sum(fabric["phases"].values()) / 1000
    loss = [(loss_points(record[name]), color) for name, _, color in RUNS]
    speed = [(speed_points(record[name], record["batch"] * (record["ranks"] - (name == "rest"))), color)
             for name, _, color in RUNS]
    until = max(at for points, _ in loss for at, _ in points)
    plots = (Plot(TOP, "loss", loss, until),
             Plot(TOP + HEIGHT + GAP, f"samples per second (median of {SMOOTH} steps)", speed, until))
    parts = [text(24, 34, f"Training over circuits: accelerator of rank {fabric['rank']} fails", 20)]
    x = LEFT
    for _, words, color in RUNS:
        parts += [line(x, 56, x + 22, 56, color, 3), text(x + 28, 60, words)]
        x += 48 + 7 * len(words)
    parts += [line(x, 56, x + 22, 56, FAILURE, 1.5, ' stroke-dasharray="5 3"'),
              text(x + 28, 60, f"failure; the next step ends after {back_s - failed_s:.2f} s", color=FAILURE)]
    for plot in plots:
        parts += plot.draw(failed_s, back_s)
    height = TOP + 2 * HEIGHT + GAP + 48
    parts.append(text(WIDTH - RIGHT, height - 12, "seconds since the run began", anchor="end"))
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif">\n'
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as stream:
        print(draw(json.load(stream)), end="")
