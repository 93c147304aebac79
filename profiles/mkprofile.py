#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Make a device profile: mkprofile.py PROFILE.yaml OUTPUT.bin [KEY=YAML...]

The YAML file describes a fabric and names the source of each constant. Its key "constants" can name
another file with constants. Arguments can replace the values of keys (name, shape.spare_servers),
for a family of profiles.
"""

import os
import sys

from blob import NAME, PARAMETERS, Blob, Impossible
from hexmesh import HexMesh
from interposer import Interposer
from spec import Description, mapping, text

GEOMETRIES = {"interposer": Interposer, "hexmesh": HexMesh}


def rising(parameters, *keys):
    """Reject powers in the wrong order."""
    for lower, higher in zip(keys, keys[1:]):
        if parameters[lower] > parameters[higher]:
            raise parameters.places[lower].wrong(f"must be at most {higher}, which is {parameters[higher]}, "
                                                 f"and is {parameters[lower]}")


def make(path, instead=()):
    """The bytes of the profile that a YAML file describes. changes has replaced keys: (key,
    YAML)."""
    description = Description(path)
    for key, content in instead:
        description.put(key, content)
    name = description.take("name", NAME)
    geometry = GEOMETRIES[description.take("geometry", text("|".join(GEOMETRIES), " or ".join(GEOMETRIES)))]
    parameters = description.take("parameters", mapping(PARAMETERS))
    rising(parameters, "dark_mdbm", "sensitivity_mdbm", "overload_mdbm")
    losses = description.take("losses", mapping(geometry.LOSSES))
    for pair in geometry.EXTINCTIONS:
        rising(losses, *pair)
    where = description.where("shape")
    shape = description.take("shape", geometry.SHAPE)
    description.end()
    try:
        blob = Blob(name, parameters)
        geometry(blob, shape, losses).build()
    except Impossible as error:
        raise where.wrong(error) from None
    return blob.pack()


def main(arguments):
    """Command line."""
    instead = [argument.split("=", 1) for argument in arguments[3:]]
    if len(arguments) < 3 or any(len(pair) != 2 for pair in instead):
        sys.exit("usage: mkprofile.py PROFILE.yaml OUTPUT.bin [KEY=YAML...]")
    try:
        image = make(arguments[1], instead)
    except (OSError, ValueError) as error:
        sys.exit(f"mkprofile: {error}")
    partial = arguments[2] + ".new"
    with open(partial, "wb") as file:
        file.write(image)
    os.replace(partial, arguments[2])


if __name__ == "__main__":
    main(sys.argv)
