#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages from the command table: morphctl.8, and one page per object.

    manpages.py COMMANDS.json DIRECTORY
"""

import json
import os
import sys

ENVIRONMENT = (
    ("COLUMNS", "Width of output for people, instead of the width of the terminal."),
    ("MORPHCTL_BOOT_TIME", "Seconds from 1970 to the boot of the machine, for times of day in a "
                           "replay (default: what the clocks of this machine say)."),
    ("NO_COLOR", "If set and not empty, tables have no colour. They also have none if standard "
                 "output is not a terminal."),
    ("MORPH_RECORD", "Record all messages between the tool and the kernel in this file."),
    ("MORPHCTL_REPLAY", "Replay a file that MORPH_RECORD wrote instead of calling the kernel. "
                        "Abort if a message differs."),
    ("MORPHCTL_SIM", "Directory with the files of simulated fabrics (default: "
                     "/sys/kernel/debug/morph_sim)."),
)

NUMBERS = ("Tables name each quantity in a heading, and each value has its unit. In JSON, a key ends in the unit of its "
           "number: -ns nanoseconds, -mbps megabits per second, -mdb and -mdbm thousandths of a dB and a dBm, -mc "
           "thousandths of a degree Celsius, -bytes, -percent. Keys in -count are numbers of objects; keys in -mask have "
           "a bit for each lane. A number above 2^63 - 1 is a text of digits.")

TIMES = ("Tables show times of day by the wall clock, in the local time zone, as 2026-11-27 "
         "13:05:12.123. JSON has nanoseconds of CLOCK_BOOTTIME, the time since boot. Transmit "
         "ports, receive ports, lasers and receivers are ACCELERATOR.PLANE in tables and on the "
         "command line, as 3.1. The end of a guide at an element is ELEMENT.PORT. JSON has the two "
         "numbers or the index.")

WIDTH = ("Output for people is no wider than the terminal. Long values are cut or continue on the "
         "next line, and a table leaves out its last columns. --wide prints everything. If "
         "standard output is no terminal, nothing is cut, because programs may read it. To limit "
         "the width there too, set COLUMNS, as in 'COLUMNS=80 morphctl circuit list | less'. "
         "Messages on standard error have one line each.")

STABLE = ("JSON output is stable: new versions only add keys. /usr/share/morph/morphctl.schema.json describes the "
          "output of each command. With --json, error messages are one JSON object on standard error. Tables are for "
          "people and may change.")



def escape(text):
    """Escape text for roff: no line begins with a control character, and hyphens stay hyphens."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    lines = []
    for line in text.split("\n"):
        lines.append("\\&" + line if line[:1] in (".", "'") else line)
    return "\n".join(lines)


def paragraphs(text):
    """Paragraphs. Lines that begin with a space form an example."""
    out = []
    for block in text.split("\n\n"):
        if block.startswith(" "):
            out += [".PP", ".RS 4", ".nf", escape(block), ".fi", ".RE"]
        else:
            out += [".PP", escape(block)]
    return out


def words(command):
    return " ".join(filter(None, ("morphctl", command["object"], command["verb"])))


def synopsis(command):
    out = [".PP", f"\\fB{escape(words(command))}\\fR"]
    if command["arguments"]:
        out.append(f"\\fI{escape(command['arguments'])}\\fR")
    out.append("[\\fIOPTIONS\\fR]")
    return out


def option(entry):
    names = f"\\fB\\-\\-{escape(entry['name'])}\\fR"
    if entry["letter"]:
        names = f"\\fB\\-{entry['letter']}\\fR, " + names
    if entry["argument"]:
        # Many words may continue on the next line.
        names += " \\fI" + escape(entry['argument']).replace("|", "|\\:") + "\\fR"
    return [".TP", names, escape(entry["help"][0].upper() + entry["help"][1:]) + "."]


def header(title, version, name, summary):
    return [f'.TH {title.upper()} 8 "" "morph {version}" "Photonic fabrics"', ".SH NAME",
            f"{escape(name)} \\- {escape(summary)}"]


def exit_status(table):
    out = [".SH EXIT STATUS"]
    for entry in table["exits"]:
        out += [".TP", f"\\fB{entry['code']}\\fR",
                escape(entry["meaning"][0].upper() + entry["meaning"][1:]) + "."]
    return out


def examples(commands):
    out = [".SH EXAMPLES"]
    for command in commands:
        out += [".PP", escape(command["help"][0].upper() + command["help"][1:]) + ":", ".PP",
                ".RS 4", ".nf", escape(command["examples"]), ".fi", ".RE"]
    return out


def see_also(pages, but):
    names = [name for name in pages if name != but]
    return [".SH SEE ALSO"] + [f".BR {escape(name)} (8)" + ("," if name != names[-1] else "")
                               for name in names]


def reference(command):
    """Name the command that an alias stands for, and its page."""
    target = command["alias-of"]
    return [".PP", f"Alias of \\fB{escape('morphctl ' + target)}\\fR; see",
            f".BR {escape('morphctl-' + target.split()[0])} (8)."]


def object_page(table, entry, commands, pages):
    name = f"morphctl-{entry['name']}"
    out = header(name, table["version"], name, entry["help"]) + [".SH SYNOPSIS"]
    for command in commands:
        out += synopsis(command)
    out += [".SH DESCRIPTION"]
    for command in commands:
        if command["verb"]:
            out += [".SS " + escape(" ".join(filter(None, (command["verb"],
                                                           command["arguments"]))))]
        if command["alias-of"]:
            out += reference(command)
            continue
        out += [".PP", escape(command["help"][0].upper() + command["help"][1:]) + "."]
        out += paragraphs(command["detail"]) if command["detail"] else []
        for one in command["options"]:
            if one["name"] not in ("help", "json", "fields", "noheadings", "fabric"):
                out += option(one)
    shared = {one["name"]: one for command in commands for one in command["options"]
              if one["name"] in ("help", "json", "fields", "noheadings", "fabric")}
    own = [command for command in commands if not command["alias-of"]]
    if own:
        out += [".SH COMMON OPTIONS"]
        for one in shared.values():
            out += option(one)
        out += [".SH OUTPUT", ".PP", escape(NUMBERS), ".PP", escape(TIMES), ".PP",
                escape(WIDTH), ".PP", escape(STABLE)]
    out += exit_status(table) + (examples(own) if own else []) + see_also(pages, name)
    return "\n".join(out) + "\n"


def main_page(table, pages):
    out = header("morphctl", table["version"], "morphctl",
                 "look after programmable photonic fabrics")
    out += [".SH SYNOPSIS", ".B morphctl", "\\fIOBJECT\\fR \\fIVERB\\fR [\\fIARGUMENTS\\fR] "
            "[\\fIOPTIONS\\fR]", ".PP", ".B morphctl help", "[\\fIOBJECT\\fR [\\fIVERB\\fR]]",
            ".SH DESCRIPTION", ".PP",
            escape("morphctl shows and administers optical fabrics between accelerators. Reading "
                   "the hardware is open to anybody; slices, circuits, transactions and every "
                   "change need CAP_NET_ADMIN in the initial user namespace. Objects are known by "
                   "number, and by name, UUID or PCI address where they have one. Errors are "
                   "written to standard error, with the kernel's sentence word for word."),
            ".SH OBJECTS"]
    for entry in table["objects"]:
        out += [".TP", f"\\fB{escape(entry['name'])}\\fR",
                escape(entry["help"][0].upper() + entry["help"][1:]) + "; see",
                f".BR morphctl\\-{escape(entry['name'])} (8)."]
    out += [".SH OUTPUT", ".PP", escape(NUMBERS), ".PP", escape(TIMES), ".PP",
                escape(WIDTH), ".PP", escape(STABLE)]
    out += exit_status(table) + [".SH ENVIRONMENT"]
    for name, text in ENVIRONMENT:
        out += [".TP", f".B {name}", escape(text)]
    return "\n".join(out + see_also(pages, "morphctl")) + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        table = json.load(stream)
    directory = sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    pages = ["morphctl"] + [f"morphctl-{entry['name']}" for entry in table["objects"]]
    texts = {"morphctl": main_page(table, pages)}
    for entry in table["objects"]:
        commands = [one for one in table["commands"] if one["object"] == entry["name"]]
        if not commands:
            sys.exit(f"manpages.py: the object {entry['name']} has no commands")
        texts[f"morphctl-{entry['name']}"] = object_page(table, entry, commands, pages)
    for name, text in texts.items():
        with open(os.path.join(directory, name + ".8"), "w", encoding="utf-8") as stream:
            stream.write('.\\" SPDX-License-Identifier: GPL-2.0-or-later\n'
                         '.\\" Made from the table of commands.\n' + text)


if __name__ == "__main__":
    main()
