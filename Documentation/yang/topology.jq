# SPDX-License-Identifier: GPL-2.0-only
#
# Convert the output of 'morphctl topo -o json' to JSON of morph-topology.yang (RFC 7951):
#	morphctl topo -o json | jq -f topology.jq >topology.json

def pick($keys): with_entries(.key as $key | select(($keys | index($key)) and .value != null));

{"morph-topology:topology": ({
	taken: (if ."taken-unix-ns" then (."taken-unix-ns" / 1e9 | floor | todate) else null end),
	visible,
	fabrics: [.fabrics[] | pick(["id", "name", "uuid", "profile", "simulated", "state", "free-count", "spares-count",
		"failed-count"])],
	accelerators: [.accelerators[] | pick(["fabric", "id", "host", "host-name", "pci", "use", "health", "cordoned"])],
	slices: [.slices[] | pick(["fabric", "id", "name", "owner", "state", "ranks"]) |
		if .ranks then .ranks |= map(pick(["rank", "accelerator"])) else . end],
	circuits: [.circuits[] | pick(["fabric", "slice", "id", "state", "src-accelerator", "dst-accelerator",
		"bandwidth-mbps", "power-mdbm"])],
	hardware: [.hardware[] | pick(["fabric", "part", "index", "health", "cordoned"])]
} | with_entries(select(.value != null)))}
