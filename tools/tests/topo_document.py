#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents as 'morphctl topo -o json' writes them: topo_document.py server|rack|many|line."""

import json
import sys


def tile(index, host, place, use="free"):
    return {"fabric": 0, "id": index, "host": host, "host-name": f"server{host:02}",
            "x": place[0], "y": place[1], "z": place[2], "use": use, "health": "ok", "cordoned": False}


def light(document, number, name, members, lanes):
    """A slice over these accelerators, with a ring."""
    document["slices"].append({"fabric": 0, "id": number, "name": name, "state": "ok"})
    for rank, member in enumerate(members):
        document["accelerators"][member].update(use="held", slice=number, rank=rank)
        after = (rank + 1) % len(members)
        document["circuits"].append({
            "fabric": 0, "slice": number, "id": rank, "state": "lit", "src-rank": rank,
            "dst-rank": after, "src-accelerator": member, "dst-accelerator": members[after],
            "lane-mask": (1 << lanes) - 1, "bandwidth-mbps": 100000 * lanes})


def server():
    places = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (2, 0, 0)]
    tiles = [tile(index, 0, place) for index, place in enumerate(places)]
    tiles[4]["use"] = "spare"
    document = {"fabrics": [{"id": 0, "name": "server", "free-count": 0, "spares-count": 1}],
                "accelerators": tiles, "slices": [], "circuits": [], "hardware": []}
    light(document, 7, "a<b>&\"c", [0, 1, 3, 2], 4)
    return document


def rack():
    places = [(x + 2 * sx, y + 2 * sy, z) for z in range(4) for sy in range(2) for sx in range(2)
              for y in range(2) for x in range(2)]
    tiles = [tile(index, index // 4, place) for index, place in enumerate(places)]
    tiles += [tile(64 + index, 16, (4 + index % 2, index // 2, 0), "spare") for index in range(4)]
    document = {"fabrics": [{"id": 0, "name": "rack", "free-count": 48, "spares-count": 4}],
                "accelerators": tiles, "slices": [], "circuits": [], "hardware": []}
    light(document, 1, "train", list(range(16)), 2)
    tiles[20]["health"] = "failed"
    tiles[21]["health"] = "quarantined"
    document["circuits"][3]["state"] = "failed"
    return document


def many():
    """40 slices. Two have no name, and one has a long one."""
    document = rack()
    document["slices"], document["circuits"] = [], []
    for index in range(40):
        name = {0: "", 1: "", 2: "inference-production-eu-west-1"}.get(index, f"job-{index}")
        light(document, 100 + index, name, [index], 1)
    document["circuits"] = []
    return document


def line():
    """Five accelerators in a row. Circuits pass a failed one, and each other."""
    tiles = [tile(index, 0, (index, 0, 0)) for index in range(5)]
    tiles += [tile(5 + index, 1, (index, 1, 0)) for index in range(5)]
    tiles[2]["health"] = "failed"
    document = {"taken-unix-ns": 1764371400000000000, "visible": "all",
                "fabrics": [{"id": 0, "name": "line", "free-count": 3, "spares-count": 0}],
                "accelerators": tiles, "slices": [], "circuits": [], "hardware": []}
    light(document, 3, "train", [0, 3, 1, 4, 9, 5], 2)
    return document


if __name__ == "__main__":
    json.dump({"server": server, "rack": rack, "many": many, "line": line}[sys.argv[1]](), sys.stdout)
