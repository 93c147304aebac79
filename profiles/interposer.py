# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Geometry of optical interposers: route-and-select nodes, one per tile and plane.

Every exit of a tile (a neighbour on the interposer, or its fibres) has an ingress and an egress. An
ingress leads incoming light to the receiver or to the egress of another exit. An egress selects its
light from the transmitter or from the ingress of another exit. profiles/README.md has pictures and
the numbering of ports.
"""

from math import prod

from blob import (EDGE_POWER, END_EDGE, END_ELEMENT, END_RX, END_TX, FIBRE, GUIDE_LOSS, KIND_LOSS, TILE,
                  TILE_NONE, TO_EDGE, WAVEGUIDE, Impossible)
from spec import either, integer, mapping, sequence, text

STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
OPPOSITE = {"north": "south", "east": "west", "south": "north", "west": "east"}
FIBRES = "fibres"               # the exit to other servers
AXES = "xyz"
OCS_WRAP, OCS_RACK = 1, 2       # ports of an optical circuit switch; port 0 leads to the tile
OCS_WIDTH = 8                   # choices of a selector in a circuit switch that joins any racks
RING, ANY = "ring", "any"       # which racks the circuit switches join
MOST_PORTS = 1 << 16            # of all accelerators; with more ports, writing would take hours

TILE_AT, SERVER_AT = sequence(integer(0, 63), 2, 2), sequence(integer(0, 15), 3, 3)
FIBRES_TO = integer(0, 15)      # to one neighbour, for one tile
# Servers that a spare server is joined to, if the description does not name each of them.
REACHES = ("ring", "levels")
JOINS = either(text("|".join(REACHES), " or ".join(REACHES) + ", or a list of servers"), sequence(SERVER_AT, 1, 64))


def one_pair_states(near, far):
    """The parking state, then one state for each pair of a port in near and a port in far."""
    return [[]] + [[(a, b)] for a in near for b in far]


class Tile:
    """The elements of one tile, by plane and exit, and its fibre selectors."""

    def __init__(self, accelerator, ways, fibres_out, fibres_in):
        self.accelerator = accelerator
        self.ways = ways
        self.fibres = {"out": fibres_out, "in": fibres_in}
        self.node = {}                  # (plane, "out" or "in", exit): element
        self.selectors = {"out": [], "in": []}

    def exchange_port(self, side, way):
        """Port of an ingress or egress that leads to the accelerator's selector."""
        return self.fibres[side] if way == FIBRES else 1

    def transit_port(self, side, way, other):
        """Port of the ingress or egress of exit `way` that leads to exit `other`."""
        if way == FIBRES:
            return self.fibres[side] + 1 + self.ways.index(other)
        return 2 + [w for w in self.ways if w != way].index(other)


class Interposer:
    """Fills a blob with servers, racks of servers, and a pod of racks."""

    SHAPE = mapping({
        "racks": sequence(integer(1, 16), 3, 3),
        "switches": text(f"{RING}|{ANY}", f"{RING}, to the next rack, or {ANY}, to any"),
        "servers": sequence(integer(1, 16), 3, 3),
        "tiles": sequence(integer(1, 64), 2, 2), "spare_tiles": sequence(TILE_AT, 0, 64),
        "spare_servers": sequence(mapping({"at": sequence(integer(-1, 15), 3, 3),
                                           "joins": JOINS}), 0, 64),
        "fibres": mapping({"x": FIBRES_TO, "y": FIBRES_TO, "z": FIBRES_TO}),
        "edges": mapping({"least_mdbm": EDGE_POWER, "most_mdbm": EDGE_POWER,
                          "fibres": sequence(TILE_AT, 0, 1024)}),
    })
    LOSSES = {"element_mdb": KIND_LOSS, "matrix_mdb": KIND_LOSS, "extinction_mdb": KIND_LOSS,
              "waveguide_mdb": GUIDE_LOSS, "tile_mdb": GUIDE_LOSS, "fibre_mdb": GUIDE_LOSS,
              "fibre_end_mdb": GUIDE_LOSS, "patch_mdb": GUIDE_LOSS, "ocs_mdb": KIND_LOSS,
              "ocs_extinction_mdb": KIND_LOSS}
    EXTINCTIONS = (("element_mdb", "extinction_mdb"), ("matrix_mdb", "extinction_mdb"),
                   ("ocs_mdb", "ocs_extinction_mdb"))

    def __init__(self, blob, spec, losses):
        self.blob = blob
        self.spec = spec
        self.losses = losses
        self.planes = range(blob.parameters["planes"])
        self.check_places()
        self.edge_tiles = [((0, 0, 0), tuple(tile)) for tile in spec["edges"]["fibres"]]
        self.links = self.rack_links()
        self.fibre_counts = self.count_fibres()
        # (rack, link): elements at the source and at the sink, or the (element, port) by rack that
        # they select.
        self.switches = {}

    # --------------------------------------------------- checks that the rules cannot make

    def check_places(self):
        """Reject invalid places, places in use, and impossible powers at edges."""
        spec, tiles = self.spec, self.face(2, 1)
        for tile, place in zip(spec["spare_tiles"], spec["spare_tiles"].places):
            if tuple(tile) in tiles:
                raise place.wrong(f"there is a tile at {tile} already")
            tiles.append(tuple(tile))
        for tile, place in zip(spec["edges"]["fibres"], spec["edges"]["fibres"].places):
            if tuple(tile) not in tiles:
                raise place.wrong(f"there is no tile at {tile}")
        for spare in spec["spare_servers"]:
            if spare["joins"] in REACHES:
                if self.outside(spare["at"]) is None:
                    raise spare.places["at"].wrong(f"must be at -1 of one axis, for its joins are {spare['joins']}")
                continue
            for server, place in zip(spare["joins"], spare["joins"].places):
                if tuple(server) not in self.servers():
                    raise place.wrong(f"there is no server at {server}")
        edges, laser = spec["edges"], self.blob.parameters["laser_mdbm"]
        if edges["fibres"] and not edges["least_mdbm"] <= edges["most_mdbm"] <= laser:
            raise edges.places["most_mdbm"].wrong(f"must be {edges['least_mdbm']}, which is least_mdbm, to {laser}, "
                                                  f"which is laser_mdbm, and is {edges['most_mdbm']}")
        # Count before adding anything.
        racks, servers = prod(spec["racks"]), prod(spec["servers"]) + len(spec["spare_servers"])
        if spec["switches"] == ANY and racks > OCS_WIDTH ** 2:
            raise Impossible(f"a circuit switch would join {racks} racks; at most {OCS_WIDTH ** 2} are possible")
        ports = racks * servers * len(tiles) * len(self.planes)
        if ports > MOST_PORTS:
            raise Impossible(f"the accelerators would have {ports} ports; at most {MOST_PORTS} are possible")

    # -------------------------------------------------------------------------- topology

    def racks(self):
        """Positions of the racks by index."""
        nx, ny, nz = self.spec["racks"]
        return [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]

    def servers(self):
        """Positions of the servers of a rack by index, without spares."""
        nx, ny, nz = self.spec["servers"]
        return [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]

    def outside(self, at):
        """The axis on which a position is -1, beside a server; None for other positions."""
        axes = [axis for axis in range(3) if at[axis] < 0]
        inside = all(at[axis] < self.spec["servers"][axis] for axis in range(3))
        return axes[0] if len(axes) == 1 and inside else None

    def joined(self, spare):
        """Servers that a spare server is joined to.

        ring: the server beside it, and the opposite one in the ring that its position extends.
        levels: also one server of each other level, above or below the server beside it.
        """
        if spare["joins"] not in REACHES:
            return [tuple(server) for server in spare["joins"]]
        at, axis = tuple(spare["at"]), self.outside(spare["at"])
        beside, across = (at[:axis] + (end,) + at[axis + 1:] for end in (0, self.spec["servers"][axis] - 1))
        servers = [beside] if beside == across else [beside, across]
        if spare["joins"] == "levels":
            there = {server[2] for server in servers}
            servers += [beside[:2] + (z,) for z in range(self.spec["servers"][2]) if z not in there]
        return servers

    def face(self, axis, sign):
        """Tiles on one face of a server."""
        size = self.spec["tiles"]
        tiles = [(x, y) for y in range(size[1]) for x in range(size[0])]
        if AXES[axis] == "z":
            return tiles
        edge = size[axis] - 1 if sign > 0 else 0
        return [tile for tile in tiles if tile[axis] == edge]

    def rack_links(self):
        """The fibres of a rack: (source, sink, wrap). Source and sink are (server, tile).

        wrap is None, or (axis, sign) if the fibre closes a ring of servers.
        """
        links = []
        for axis in range(3):
            extent = self.spec["servers"][axis]
            for sign in (1, -1) if extent > 1 else ():
                for server in self.servers():
                    there = server[axis] + sign
                    sink = server[:axis] + (there % extent,) + server[axis + 1:]
                    wrap = None if 0 <= there < extent else (axis, sign)
                    ends = zip(self.face(axis, sign), self.face(axis, -sign))
                    links += [((server, a), (sink, b), wrap) for a, b in ends
                              for _ in range(self.spec["fibres"][AXES[axis]])]
        for number, spare in enumerate(self.spec["spare_servers"]):
            for server in self.joined(spare):
                for tile in self.face(2, 1):
                    here, there = (("spare", number), tile), (server, tile)
                    links += [(here, there, None), (there, here, None)]
        return links

    def count_fibres(self):
        """Fibres out of and into each tile: {(server, tile): [out, in]}."""
        counts = {}
        for source, sink, _ in self.links:
            counts.setdefault(source, [0, 0])[0] += 1
            counts.setdefault(sink, [0, 0])[1] += 1
        for place in self.edge_tiles:
            counts.setdefault(place, [0, 0])
            counts[place] = [count + 1 for count in counts[place]]
        return counts

    # ---------------------------------------------------------------------- elements

    def join(self, a, b, guide_class=WAVEGUIDE, loss="waveguide_mdb"):
        """Add a guide from (element, port) a to (element, port) b."""
        self.blob.guide((END_ELEMENT, *a), (END_ELEMENT, *b), guide_class, self.losses[loss])

    def selector(self, name, choices, tile):
        """Add an element that joins port 0 to one of ports 1 to choices, or to none."""
        kind = self.blob.kind(f"{name}{choices}", choices + 1,
                              one_pair_states([0], range(1, choices + 1)),
                              self.losses["element_mdb"], self.losses["extinction_mdb"])
        return self.blob.element(kind, tile)

    def matrix(self, name, fibres, choices, tile):
        """Add an element that joins one of its fibre ports to one of its other ports, or none."""
        kind = self.blob.kind(f"{name}{fibres}x{choices}", fibres + choices,
                              one_pair_states(range(fibres), range(fibres, fibres + choices)),
                              self.losses["matrix_mdb"], self.losses["extinction_mdb"])
        return self.blob.element(kind, tile)

    def tile(self, accelerator, ways, fibres):
        """Add all elements and guides of one tile."""
        tile = Tile(accelerator, ways, *fibres)
        for plane in self.planes:
            self.plane(tile, plane)
        for side in ("out", "in"):
            for fibre in range(tile.fibres[side]):
                self.fibre_selector(tile, side, fibre)
        return tile

    def plane(self, tile, plane):
        """Add the node of one plane: selectors of the accelerator, ingresses and egresses."""
        ways, accelerator = tile.ways, tile.accelerator
        ends = {"out": self.selector("tx", len(ways), accelerator),
                "in": self.selector("rx", len(ways), accelerator)}
        for side in ("out", "in"):
            for way in ways:
                if way == FIBRES:
                    element = self.matrix(f"{side}-fibre", tile.fibres[side], len(ways) + 1,
                                          accelerator)
                else:
                    element = self.selector(side, len(ways), accelerator)
                tile.node[plane, side, way] = element
        loss = self.losses["waveguide_mdb"]
        self.blob.guide((END_TX, accelerator, plane), (END_ELEMENT, ends["out"], 0), WAVEGUIDE,
                        loss)
        self.blob.guide((END_ELEMENT, ends["in"], 0), (END_RX, accelerator, plane), WAVEGUIDE,
                        loss)
        for number, way in enumerate(ways):
            self.join((ends["out"], 1 + number),
                      (tile.node[plane, "out", way], tile.exchange_port("out", way)))
            self.join((tile.node[plane, "in", way], tile.exchange_port("in", way)),
                      (ends["in"], 1 + number))
        for way in ways:
            for other in ways:
                if way != other or way == FIBRES:
                    self.join((tile.node[plane, "in", way], tile.transit_port("in", way, other)),
                              (tile.node[plane, "out", other],
                               tile.transit_port("out", other, way)))

    def fibre_selector(self, tile, side, fibre):
        """Add the element that connects one fibre to one plane, or to none."""
        element = self.selector(f"fibre-{side}", len(self.planes), tile.accelerator)
        tile.selectors[side].append(element)
        for plane in self.planes:
            node = (tile.node[plane, side, FIBRES], fibre)
            here = (element, 1 + plane)
            self.join(*((node, here) if side == "out" else (here, node)))

    # ------------------------------------------------------------- servers, racks, pods

    def server(self, rack, key, name):
        """Add one server. Returns its tiles by position."""
        spares = [tuple(spare) for spare in self.spec["spare_tiles"]]
        places = self.face(2, 1) + spares
        host = self.blob.host(name)
        tiles = {}
        for place in places:
            ways = [way for way, (dx, dy) in STEPS.items()
                    if (place[0] + dx, place[1] + dy) in places]
            fibres = self.fibre_counts.get((key, place), (0, 0))
            if any(fibres):
                ways.append(FIBRES)
            if not ways:
                raise Impossible(f"the tile at {list(place)} would have neither neighbours nor fibres")
            accelerator = self.blob.accelerator(host, self.position(rack, key, place),
                                                key[0] == "spare" or place in spares)
            tiles[place] = self.tile(accelerator, ways, fibres)
        for place, tile in tiles.items():
            for way in tile.ways:
                if way != FIBRES:
                    dx, dy = STEPS[way]
                    self.tile_guides(tile, tiles[place[0] + dx, place[1] + dy], way)
        return tiles

    def tile_guides(self, tile, neighbour, way):
        """Add the guides from a tile to its neighbour, one per plane."""
        for plane in self.planes:
            self.join((tile.node[plane, "out", way], 0),
                      (neighbour.node[plane, "in", OPPOSITE[way]], 0), TILE, "tile_mdb")

    def position(self, rack, key, place):
        """Position of a tile in the whole fabric.

        Positions are unsigned. A spare server at -1 of an axis therefore gets numbers beyond the
        far end of the fabric's grid.
        """
        at = self.spec["spare_servers"][key[1]]["at"] if key[0] == "spare" else key
        position = []
        for axis in range(3):
            tiles = self.spec["tiles"][axis] if axis < 2 else 1
            inside = place[axis] if axis < 2 else 0
            extent = tiles * self.spec["servers"][axis]
            if at[axis] < 0:
                start = extent * self.spec["racks"][axis] + tiles * rack[axis]
            else:
                start = extent * rack[axis] + tiles * at[axis]
            position.append(start + inside)
        return position

    def rack(self, rack, prefix):
        """Add one rack with its spare servers, and the fibres between its servers."""
        tiles = {}
        keys = [(key, f"server{index:02}") for index, key in enumerate(self.servers())]
        keys += [(("spare", index), f"spare{index}")
                 for index in range(len(self.spec["spare_servers"]))]
        for key, name in keys:
            for place, tile in self.server(rack, key, prefix + name).items():
                tiles[key, place] = tile
        used = {key: [0, 0] for key in self.fibre_counts}
        for number, (source, sink, wrap) in enumerate(self.links):
            out = (tiles[source].selectors["out"][used[source][0]], 0)
            into = (tiles[sink].selectors["in"][used[sink][1]], 0)
            used[source][0] += 1
            used[sink][1] += 1
            if wrap and self.pod() and self.spec["switches"] == ANY:
                self.switches[rack, number] = self.choices(out, "out"), self.choices(into, "in")
            elif wrap and self.pod():
                self.switched_fibre(rack, number, out, into)
            else:
                self.join(out, into, FIBRE, "fibre_mdb")
        self.edges(tiles, used)

    def edges(self, tiles, used):
        """Add the fibres that leave the fabric: first the outgoing ones, then the same number of
        incoming ones.

        Each side accounts for half of the loss.
        """
        loss = self.losses["fibre_end_mdb"]
        count = len(self.edge_tiles)
        limits = (self.spec["edges"]["least_mdbm"], self.spec["edges"]["most_mdbm"])
        for side, name in enumerate(("out", "in")):
            for number, place in enumerate(self.edge_tiles):
                edge = self.blob.edge(f"{name}{number}", (1 - side) * count + number, *limits)
                fibre = (END_ELEMENT, tiles[place].selectors[name][used[place][side]], 0)
                used[place][side] += 1
                ends = (fibre, (END_EDGE, edge, 0))
                self.blob.guide(*(ends if name == "out" else ends[::-1]), TO_EDGE, loss)

    def pod(self):
        """Whether there are several racks, so that wrap fibres pass circuit switches."""
        return any(extent > 1 for extent in self.spec["racks"])

    def switched_fibre(self, rack, number, out, into):
        """Add a wrap fibre through two 1x2 circuit switches, one at each end."""
        kind = self.blob.kind("ocs2", 3, one_pair_states([0], [OCS_WRAP, OCS_RACK]),
                              self.losses["ocs_mdb"], self.losses["ocs_extinction_mdb"])
        first = self.blob.element(kind, TILE_NONE)
        second = self.blob.element(kind, TILE_NONE)
        self.join(out, (first, 0), FIBRE, "fibre_end_mdb")
        self.join((first, OCS_WRAP), (second, OCS_WRAP), FIBRE, "patch_mdb")
        self.join((second, 0), into, FIBRE, "fibre_end_mdb")
        self.switches[rack, number] = (first, second)

    def choices(self, tile, side):
        """Add selectors that lead a fibre of a tile to any rack, for outgoing or incoming light.
        Returns the (element, port) by rack.

        In a circuit switch with one port per rack, the selectors of both racks choose a circuit
        together. Two levels have the same loss per pass as one.
        """
        racks = prod(self.spec["racks"])
        width, levels = min(racks, OCS_WIDTH), 1 if racks <= OCS_WIDTH else 2
        kind = self.blob.kind(f"ocs{width}", width + 1, one_pair_states([0], range(1, width + 1)),
                              self.losses["ocs_mdb"] // levels, self.losses["ocs_extinction_mdb"])

        def selector(fibre, loss):
            element = self.blob.element(kind, TILE_NONE)
            self.join(*((fibre, (element, 0)) if side == "out" else ((element, 0), fibre)), FIBRE, loss)
            return [(element, 1 + choice) for choice in range(width)]

        found = selector(tile, "fibre_end_mdb")
        if levels > 1:
            found = [choice for leaf in found for choice in selector(leaf, "patch_mdb")]
        return found[:racks]

    def any_rack(self):
        """Add the fibres inside circuit switches that join any racks: for each link, between all
        pairs of racks."""
        order = {rack: index for index, rack in enumerate(self.racks())}
        for (rack, number), (out, _) in self.switches.items():
            for there, index in order.items():
                self.join(out[index], self.switches[there, number][1][order[rack]], FIBRE, "patch_mdb")

    def rack_fibres(self):
        """Add the fibres between racks, which the circuit switches select instead of the wrap
        fibres."""
        for (rack, number), (first, _) in self.switches.items():
            axis, sign = self.links[number][2]
            extent = self.spec["racks"][axis]
            there = rack[:axis] + ((rack[axis] + sign) % extent,) + rack[axis + 1:]
            self.join((first, OCS_RACK), (self.switches[there, number][1], OCS_RACK), FIBRE,
                      "patch_mdb")

    def build(self):
        """The whole fabric."""
        for index, rack in enumerate(self.racks()):
            self.rack(rack, f"rack{index:02}-" if self.pod() else "")
        if self.spec["switches"] == ANY:
            self.any_rack()
        else:
            self.rack_fibres()
