# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Geometry of the recirculating hexagonal mesh of 2x2 cells (PUCs).

Cells are arranged in columns. Each side that two cells share has one PUC. The numbering follows the
published prototype; profiles/README.md has the rules.
"""

from blob import END_ELEMENT, END_RX, END_TX, GUIDE_LOSS, HOST_NAME, KIND_LOSS, WAVEGUIDE, Impossible
from spec import boolean, integer, mapping, sequence, table

RIGHT, LEFT, BELOW = 1, 2, 3    # side of cell a that touches b: upper right, lower right, below
BAR = [(0, 1), (2, 3)]
CROSS = [(0, 2), (1, 3)]
PARTIAL = []
MOST_CELLS = 64                 # maximum of width and height
PORT = integer(0, 8 * MOST_CELLS)


def odd(least, most):
    """Rule: an odd number within bounds."""
    def rule(node, place):
        value = integer(least, most)(node, place)
        if value % 2 == 0:
            raise place.wrong(f"must be odd, and is {value}: the last two columns would differ by two cells; "
                              f"use {value - 1} or {value + 1}")
        return value
    return rule


def columns(width, height):
    """Number of cells of each column: 3 4 5 4 5 4 5 4 3 for width 7 and height 3."""
    inner = [height + 1 + (index % 2) for index in range(width)]
    return [height] + inner + [height]


def pucs(width, height):
    """The cells that each PUC joins, and the side: [(a, b, side)] in order of number."""
    sizes = columns(width, height)
    first = [sum(sizes[:index]) for index in range(len(sizes))]
    result = []
    for column in range(len(sizes) - 1):
        size, after = sizes[column], sizes[column + 1]
        if size == height + 1:
            result += vertical(first[column], size)
            # Inner cells of the next column start one lower if that column is longer.
            shift = 1 if after > height else 0
            for cell in range(size):
                if cell > 0:
                    result.append((first[column] + cell, first[column + 1] + shift + cell - 1,
                                   RIGHT))
                if cell < size - 1:
                    result.append((first[column] + cell, first[column + 1] + shift + cell, LEFT))
        else:
            skip = 1 if size > height else 0
            if skip:
                result += vertical(first[column], size)
            for cell in range(height):
                a = first[column] + skip + cell
                result.append((a, first[column + 1] + cell, RIGHT))
                result.append((a, first[column + 1] + cell + 1, LEFT))
    return result


def vertical(first, size):
    """PUCs between the cells of one column, from top to bottom."""
    return [(first + cell, first + cell + 1, BELOW) for cell in range(size - 1)]


def puc_nodes(a, b, side):
    """The nodes n0 to n3 of a PUC. They are its ports 0 to 3."""
    return (6 * a + side % 6, 6 * a + (side + 1) % 6,
            6 * b + (side + 3) % 6, 6 * b + (side + 4) % 6)


def rim(width, height):
    """The nodes of the mesh's ports, clockwise along its rim. A port is a node of one PUC only."""
    beside, uses = {}, {}
    for a, b, side in pucs(width, height):
        beside[a, side] = b
        beside[b, (side + 3) % 6] = a
        for node in puc_nodes(a, b, side):
            uses[node] = uses.get(node, 0) + 1
    start = cell, corner = (height - 1) // 2, 1
    nodes = []
    while not nodes or (cell, corner) != start:
        if uses.get(6 * cell + corner) == 1:
            nodes.append(6 * cell + corner)
        if (cell, corner) in beside:    # to the same place in the cell across this side
            cell, corner = beside[cell, corner], (corner + 4) % 6
        else:
            corner = (corner + 1) % 6
    return nodes


class HexMesh:
    """Fills a blob with one mesh and the accelerators at its ports."""

    SHAPE = mapping({
        "width": odd(1, MOST_CELLS - 1), "height": integer(1, MOST_CELLS),
        "port_nodes": sequence(integer(0, 6 * 2 * MOST_CELLS ** 2), 1, 8 * MOST_CELLS),
        "hosts": table(HOST_NAME, sequence(mapping({"tx": PORT, "rx": PORT, "spare": boolean}), 1, 1024), 1024),
        "accelerators": integer(1, 4 * MOST_CELLS),
    }, optional=("port_nodes", "hosts", "accelerators"))
    LOSSES = {"element_mdb": KIND_LOSS, "extinction_mdb": KIND_LOSS, "joint_mdb": GUIDE_LOSS,
              "access_mdb": GUIDE_LOSS}
    EXTINCTIONS = (("element_mdb", "extinction_mdb"),)

    def __init__(self, blob, spec, losses):
        self.blob = blob
        self.spec = spec
        self.losses = losses
        if blob.parameters["planes"] != 1:
            raise blob.parameters.places["planes"].wrong("a channel is one port of the mesh: must be 1")

    def build(self):
        """The whole fabric."""
        kind = self.blob.kind("puc", 4, [BAR, CROSS, PARTIAL], self.losses["element_mdb"],
                              self.losses["extinction_mdb"])
        ends = {}                       # node: the (element, port) pairs that meet there
        for a, b, side in pucs(self.spec["width"], self.spec["height"]):
            element = self.blob.element(kind)
            for port, node in enumerate(puc_nodes(a, b, side)):
                ends.setdefault(node, []).append((END_ELEMENT, element, port))
        for node in sorted(ends):
            if len(ends[node]) == 2:
                self.blob.guide(*ends[node], WAVEGUIDE, self.losses["joint_mdb"])
        self.accelerators({node: end[0] for node, end in ends.items() if len(end) == 1})

    def port_nodes(self, free):
        """The node of each port of the mesh."""
        if "port_nodes" not in self.spec:
            return rim(self.spec["width"], self.spec["height"])
        nodes = self.spec["port_nodes"]
        if sorted(nodes) != sorted(free):
            wrong = sorted(set(nodes) ^ set(free)) or [node for node in free if nodes.count(node) > 1]
            raise self.spec.places["port_nodes"].wrong(f"must name each of the {len(free)} ports of the mesh once; "
                                                       f"wrong or missing: {wrong[:8]}")
        return nodes

    def hosts(self, ports):
        """The accelerators of each server. A given number is spread evenly over the rim."""
        if ("hosts" in self.spec) == ("accelerators" in self.spec):
            raise Impossible("must have either hosts or accelerators")
        if "hosts" in self.spec:
            return self.spec["hosts"]
        count = self.spec["accelerators"]
        if 2 * count > ports:
            raise self.spec.places["accelerators"].wrong(f"must be at most {ports // 2}, since the mesh has "
                                                         f"{ports} ports, and is {count}")
        return {"server0": [{"tx": 2 * index * ports // (2 * count),
                             "rx": (2 * index + 1) * ports // (2 * count), "spare": False}
                            for index in range(count)]}

    def accelerators(self, free):
        """Accelerators. Each has a transmit and a receive channel at a port of the mesh."""
        nodes = self.port_nodes(free)
        taken = set()
        for number, (name, members) in enumerate(self.hosts(len(nodes)).items()):
            host = self.blob.host(name)
            for rank, member in enumerate(members):
                index = self.blob.accelerator(host, (rank, number, 0), member["spare"])
                for key in ("tx", "rx"):
                    if member[key] in taken or member[key] >= len(nodes):
                        raise member.places[key].wrong(f"port {member[key]} is taken already, or is not one of 0 to "
                                                       f"{len(nodes) - 1}")
                    taken.add(member[key])
                access = self.losses["access_mdb"]
                self.blob.guide((END_TX, index, 0), free[nodes[member["tx"]]], WAVEGUIDE, access)
                self.blob.guide(free[nodes[member["rx"]]], (END_RX, index, 0), WAVEGUIDE, access)
