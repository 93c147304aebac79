#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Make a device profile: mkprofile.py PROFILE.yaml OUTPUT.bin

The YAML file describes a fabric; what each constant rests upon stands beside it.
A file may take constants from another one, which its key "constants" names.
"""

import os
import sys

import yaml

from blob import PARAMETERS, Blob
from hexmesh import HexMesh
from interposer import Interposer
from spec import integers, keys, read

# Keys of each geometry's description, and of its losses.
GEOMETRIES = {
    "interposer": (Interposer,
                   ("racks", "servers", "tiles", "spare_tiles", "spare_servers", "fibres",
                    "edges"),
                   ("element_mdb", "matrix_mdb", "extinction_mdb", "waveguide_mdb", "tile_mdb",
                    "fibre_mdb", "fibre_end_mdb", "patch_mdb", "ocs_mdb", "ocs_extinction_mdb")),
    "hexmesh": (HexMesh,
                ("width", "height", "port_nodes", "hosts"),
                ("element_mdb", "extinction_mdb", "joint_mdb", "access_mdb")),
}


def make(path):
    """The bytes of the profile that a YAML file describes."""
    spec = read(path)
    keys(path, spec, ("name", "geometry", "parameters", "losses", "shape"))
    if spec["geometry"] not in GEOMETRIES:
        raise ValueError(f"{path}: geometry '{spec['geometry']}' is unknown; known are "
                         f"{', '.join(GEOMETRIES)}")
    builder, shape_keys, loss_keys = GEOMETRIES[spec["geometry"]]
    keys(f"{path}: parameters", spec["parameters"], PARAMETERS)
    keys(f"{path}: losses", spec["losses"], loss_keys)
    keys(f"{path}: shape", spec["shape"], shape_keys)
    integers(f"{path}: parameters", spec["parameters"])
    integers(f"{path}: losses", spec["losses"])
    blob = Blob(spec["name"], spec["parameters"])
    builder(blob, spec["shape"], spec["losses"]).build()
    return blob.pack()


def main(arguments):
    """Command line."""
    if len(arguments) != 3:
        sys.exit("usage: mkprofile.py PROFILE.yaml OUTPUT.bin")
    try:
        image = make(arguments[1])
    except (OSError, ValueError, yaml.YAMLError) as error:
        sys.exit(f"mkprofile: {error}")
    partial = arguments[2] + ".new"
    with open(partial, "wb") as file:
        file.write(image)
    os.replace(partial, arguments[2])


if __name__ == "__main__":
    main(sys.argv)
