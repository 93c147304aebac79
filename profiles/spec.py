# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Reading of the YAML descriptions, with messages that name what is wrong."""

import os

import yaml


def read(path):
    """A YAML file as a dictionary, with the constants that it refers to."""
    with open(path, encoding="utf-8") as file:
        found = yaml.safe_load(file)
    if not isinstance(found, dict):
        raise ValueError(f"{path}: must be a mapping")
    constants = found.pop("constants", None)
    if constants:
        found = {**read(os.path.join(os.path.dirname(path), constants)), **found}
    return found


def keys(where, found, wanted):
    """Refuse a mapping whose keys are not exactly those wanted."""
    if not isinstance(found, dict):
        raise ValueError(f"{where}: must be a mapping with the keys {', '.join(wanted)}")
    for key in wanted:
        if key not in found:
            raise ValueError(f"{where}: key '{key}' is missing")
    for key in found:
        if key not in wanted:
            raise ValueError(f"{where}: unknown key '{key}'; known are {', '.join(wanted)}")


def integers(where, found):
    """Refuse a mapping with a value that is not an integer."""
    for key, value in found.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{where}: '{key}' is {value!r}, but must be an integer")
