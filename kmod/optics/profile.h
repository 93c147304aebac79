/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The device profile: one versioned, checksummed blob that describes a fabric.
 *
 * The core and libmorph read the same file. The simulated provider and the checkers of the
 * tests read it with their own parsers. It is hostile input to all of them. All fields are
 * little-endian, all padding has names, and reserved fields must be zero.
 *
 * Layout: the header, then the sections in the order of their offsets below.
 * Each section starts on an 8-byte boundary; it is an array of fixed-size
 * records. An empty section has count 0 and any in-range offset.
 *
 *   kinds         struct morph_profile_kind, one per kind of element
 *   states        struct morph_profile_state, the states of all kinds
 *   elements      struct morph_profile_element
 *   guides        struct morph_profile_guide
 *   accelerators  struct morph_profile_accelerator
 *   hosts         struct morph_profile_host
 *   edges         struct morph_profile_edge, where guides leave the fabric
 *
 * Units: loss, margin, extinction in thousandths of a dB (_mdb), power in
 * thousandths of a dBm (_mdbm), time in nanoseconds (_ns), bandwidth in
 * megabits per second (_mbps).
 */
#ifndef MORPH_OPTICS_PROFILE_H
#define MORPH_OPTICS_PROFILE_H

#include <linux/types.h>

#define MORPH_PROFILE_MAGIC	0x3146504850524f4dULL	/* "MORPHPF1" as bytes */
#define MORPH_PROFILE_VERSION	1

/* Limits that every reader enforces. */
#define MORPH_PROFILE_MAX_BYTES		(256u << 20)
#define MORPH_MAX_WAVELENGTHS		64u	/* lanes of a guide are one u64 */
#define MORPH_MAX_PORTS			16u	/* ports of an element */
#define MORPH_MAX_STATES		64u	/* states of a kind of element */
#define MORPH_MAX_PLANES		64u	/* ports of an accelerator, each way */
#define MORPH_PORT_NONE			0xffu	/* "joins nothing" in a state */

/* The object at an end of a guide. */
enum morph_end_type {
	MORPH_END_ELEMENT = 0,	/* index: element, port: its port */
	MORPH_END_TX = 1,	/* index: accelerator, port: plane */
	MORPH_END_RX = 2,	/* index: accelerator, port: plane */
	MORPH_END_EDGE = 3,	/* index: edge, port: 0 */
};

/**
 * struct morph_profile_section - position of an array of records
 * @offset: bytes from the start of the blob, a multiple of 8
 * @count: number of records
 * @stride: bytes of one record; must be the size of the version's structure
 */
struct morph_profile_section {
	__le64 offset;
	__le32 count;
	__le32 stride;
};

/**
 * struct morph_profile_header - the head of the blob
 * @magic: MORPH_PROFILE_MAGIC
 * @version: MORPH_PROFILE_VERSION
 * @header_bytes: size of this structure
 * @total_bytes: size of the blob
 * @checksum: CRC-32 (IEEE 802.3, reflected, as zlib's crc32()) of the whole blob
 *            with this field zero; it is the profile's identity
 * @reserved0: must be zero
 * @name: name of the profile, NUL-terminated, [a-z0-9_-] only
 * @wavelengths: lanes of each guide, 1 to 64
 * @planes: transmit ports, and receive ports, of each accelerator
 * @lane_mbps: bandwidth of one lane
 * @laser_mdbm: power that a healthy laser puts into the transmit port, per lane
 * @sensitivity_mdbm: least power at which a receiver locks
 * @overload_mdbm: greatest power that a receiver tolerates
 * @margin_mdb: required margin of a circuit above sensitivity
 * @isolation_mdb: least ratio of a receiver's signal to summed foreign leakage
 * @dark_mdbm: a receiver below this power is dark
 * @window_mdb: permitted difference between reading and computed power of a lit receiver
 * @settle_ns: time an optical path needs to reach power after programming
 * @relock_ns: time a receiver needs to lock after power has arrived
 * @write_fixed_ns: control time of one programming request
 * @write_each_ns: control time of each element or laser in it
 * @deadline_ns: time after which a request to the device counts as timed out
 * @drift_mdb: amplitude of slow thermal drift of an element's loss
 * @drift_period_ns: its period (0: no drift)
 * @flags: MORPH_PROFILE_F_*
 * @reserved1: must be zero
 * @kinds: section of struct morph_profile_kind
 * @states: section of struct morph_profile_state
 * @elements: section of struct morph_profile_element
 * @guides: section of struct morph_profile_guide
 * @accelerators: section of struct morph_profile_accelerator
 * @hosts: section of struct morph_profile_host
 * @edges: section of struct morph_profile_edge
 */
struct morph_profile_header {
	__le64 magic;
	__le32 version;
	__le32 header_bytes;
	__le64 total_bytes;
	__le32 checksum;
	__le32 reserved0;
	char name[32];
	__le32 wavelengths;
	__le32 planes;
	__le64 lane_mbps;
	__le32 laser_mdbm;		/* signed */
	__le32 sensitivity_mdbm;	/* signed */
	__le32 overload_mdbm;		/* signed */
	__le32 margin_mdb;
	__le32 isolation_mdb;
	__le32 dark_mdbm;		/* signed */
	__le32 window_mdb;
	__le32 drift_mdb;
	__le64 settle_ns;
	__le64 relock_ns;
	__le64 write_fixed_ns;
	__le64 write_each_ns;
	__le64 deadline_ns;
	__le64 drift_period_ns;
	__le32 flags;
	__le32 reserved1;
	struct morph_profile_section kinds;
	struct morph_profile_section states;
	struct morph_profile_section elements;
	struct morph_profile_section guides;
	struct morph_profile_section accelerators;
	struct morph_profile_section hosts;
	struct morph_profile_section edges;
};

/**
 * struct morph_profile_kind - one kind of element
 * @name: for people, NUL-terminated
 * @ports: number of ports, 1 to MORPH_MAX_PORTS
 * @park: the parking state, an index below @states
 * @states: number of states, 1 to MORPH_MAX_STATES
 * @first_state: index of its first state in the section of states
 * @loss_mdb: insertion loss between two ports that a state joins
 * @extinction_mdb: loss between ports that only another state joins
 * @flags: must be zero (reserved for wavelength-selective elements)
 * @reserved: must be zero
 *
 * An element is reciprocal: a state that joins a to b joins b to a. Light that enters
 * port p of an element in state s leaves at the port that s joins to p, with loss_mdb. It
 * also leaves at each port that some other state of the kind joins to p, with
 * extinction_mdb. It never leaves at p.
 */
struct morph_profile_kind {
	char name[16];
	__u8 ports;
	__u8 park;
	__le16 states;
	__le32 first_state;
	__le32 loss_mdb;
	__le32 extinction_mdb;
	__le32 flags;
	__le32 reserved;
};

/**
 * struct morph_profile_state - one state of a kind
 * @joins: for each port the port that it is joined to, or MORPH_PORT_NONE;
 *         symmetric: joins[joins[p]] == p; entries past the kind's ports are
 *         MORPH_PORT_NONE
 */
struct morph_profile_state {
	__u8 joins[MORPH_MAX_PORTS];
};

/**
 * struct morph_profile_element - one element
 * @kind: index of its kind
 * @tile: the accelerator of its tile, or 0xffffffff for none (a mesh, an optical
 *        circuit switch between servers)
 */
struct morph_profile_element {
	__le32 kind;
	__le32 tile;
};

/**
 * struct morph_profile_guide - one guide
 * @a_index: object at end a
 * @b_index: object at end b
 * @a_port: port of this object
 * @b_port: port of this object
 * @a_type: enum morph_end_type
 * @b_type: enum morph_end_type
 * @class: MORPH_GUIDE_*
 * @loss_mdb: loss from end to end
 *
 * Every element port, transmit port and receive port is the end of at most one
 * guide. Every transmit and receive port, and every edge, is the end of exactly one.
 * A guide is reciprocal; a lane of it carries one circuit in one direction.
 */
struct morph_profile_guide {
	__le32 a_index;
	__le32 b_index;
	__u8 a_port;
	__u8 b_port;
	__u8 a_type;
	__u8 b_type;
	__le16 class;
	__le16 loss_mdb;
};

enum morph_guide_class {
	MORPH_GUIDE_WAVEGUIDE = 0,	/* inside one tile or mesh */
	MORPH_GUIDE_TILE = 1,		/* between two tiles of a server */
	MORPH_GUIDE_FIBRE = 2,		/* between two servers */
	MORPH_GUIDE_EDGE = 3,		/* to an edge of the fabric */
};

/**
 * struct morph_profile_accelerator - one accelerator and its tile
 * @host: index of its host
 * @x: position of the tile in the whole fabric's grid
 * @y: position
 * @z: position
 * @flags: MORPH_ACCELERATOR_F_SPARE: initially a spare
 */
struct morph_profile_accelerator {
	__le32 host;
	__le16 x;
	__le16 y;
	__le16 z;
	__le16 flags;
};

#define MORPH_ACCELERATOR_F_SPARE	0x1u

/**
 * struct morph_profile_host - one server
 * @name: NUL-terminated
 */
struct morph_profile_host {
	char name[32];
};

/**
 * struct morph_profile_edge - an edge, at which a guide leaves the fabric
 * @peer_uuid: UUID of the peer fabric; zeros: the provider supplies it for each fabric
 * @peer_edge: edge of the peer fabric
 * @least_mdbm: least permitted power per lane at the edge, in both directions
 * @most_mdbm: greatest permitted power per lane at the edge, in both directions; at most
 *             laser_mdbm, because the search for stray light relies on this
 * @name: NUL-terminated
 *
 * An edge is the end of exactly one guide, where it meets the guide of the peer. So both
 * fabrics share the loss of the fibre between them. Each side guarantees the power limits
 * to the other: light that leaves arrives at the edge within them, and the receiving side
 * relies only on them.
 */
struct morph_profile_edge {
	__u8 peer_uuid[16];
	__le32 peer_edge;
	__le16 least_mdbm;	/* signed */
	__le16 most_mdbm;	/* signed */
	char name[16];
};

#endif /* MORPH_OPTICS_PROFILE_H */
