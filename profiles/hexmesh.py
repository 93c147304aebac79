# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Geometry of the recirculating hexagonal mesh of 2x2 cells (PUCs).

Cells stand in columns; every side that two cells share carries one PUC. The rules
of numbering are those of the published prototype; profiles/README.md has them.
"""

from blob import END_ELEMENT, END_RX, END_TX, WAVEGUIDE
from spec import keys

RIGHT, LEFT, BELOW = 1, 2, 3    # side of cell a that touches b: upper right, lower right, below
BAR = [(0, 1), (2, 3)]
CROSS = [(0, 2), (1, 3)]
PARTIAL = []


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
            # Inner cells of the next column start one lower where it is the longer one.
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
    """The nodes n0 to n3 of a PUC, which are its ports 0 to 3."""
    return (6 * a + side % 6, 6 * a + (side + 1) % 6,
            6 * b + (side + 3) % 6, 6 * b + (side + 4) % 6)


class HexMesh:
    """Fills a blob with one mesh and the accelerators at its ports."""

    def __init__(self, blob, spec, losses):
        self.blob = blob
        self.spec = spec
        self.losses = losses

    def build(self):
        """The whole fabric."""
        kind = self.blob.kind("puc", 4, [BAR, CROSS, PARTIAL], self.losses["element_mdb"],
                              self.losses["extinction_mdb"])
        ends = {}                       # node: the (element, port) that meet there
        for a, b, side in pucs(self.spec["width"], self.spec["height"]):
            element = self.blob.element(kind)
            for port, node in enumerate(puc_nodes(a, b, side)):
                ends.setdefault(node, []).append((END_ELEMENT, element, port))
        for node in sorted(ends):
            if len(ends[node]) == 2:
                self.blob.guide(*ends[node], WAVEGUIDE, self.losses["joint_mdb"])
        self.accelerators({node: end[0] for node, end in ends.items() if len(end) == 1})

    def accelerators(self, free):
        """Accelerators, each with its transmit and receive channel at a port of the mesh."""
        nodes = self.spec["port_nodes"]
        if sorted(nodes) != sorted(free):
            raise ValueError(f"port_nodes must name each of the {len(free)} ports of the mesh "
                             f"once; wrong or missing: {sorted(set(nodes) ^ set(free))}")
        taken = set()
        for number, (name, members) in enumerate(self.spec["hosts"].items()):
            host = self.blob.host(name)
            for rank, member in enumerate(members):
                keys(f"host {name}: entry {rank}", member, ("tx", "rx", "spare"))
                index = self.blob.accelerator(host, (rank, number, 0), member["spare"])
                for port in (member["tx"], member["rx"]):
                    if port in taken or port not in range(len(nodes)):
                        raise ValueError(f"host {name}: port {port} is taken already, or is not "
                                         f"one of 0 to {len(nodes) - 1}")
                    taken.add(port)
                access = self.losses["access_mdb"]
                self.blob.guide((END_TX, index, 0), free[nodes[member["tx"]]], WAVEGUIDE, access)
                self.blob.guide(free[nodes[member["rx"]]], (END_RX, index, 0), WAVEGUIDE, access)
