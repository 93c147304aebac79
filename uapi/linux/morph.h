/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * morph: programmable photonic fabrics between accelerators. The device ABI.
 *
 * /dev/morph/fabricN    query the fabric, create slices (mode 0660, group morph)
 * slice file            what MORPH_SLICE_CREATE returns, and what opening a named
 *                       slice's node /dev/morph/sliceN gives: the tenant's handle
 *
 * Administration is generic netlink, family "morph"; see morph_netlink.h.
 *
 * DOC: Commands
 *
 * Every command takes one structure that begins with struct morph_head. @size is
 * the size that the caller was compiled with. A smaller structure than the first
 * version's is refused with EINVAL. A larger one than the kernel knows is accepted
 * only if the unknown tail is zero, else E2BIG. Bytes that the caller's structure
 * lacks are taken as zero, and are not written. The kernel looks at type and
 * number of a command only, not at the size coded in it.
 *
 * Arrays are struct morph_array: pointer, number of entries, bytes per entry. On
 * return @count is the number of entries that there are; where more are there
 * than room was given the call fails with EMSGSIZE, and @count says how many.
 *
 * Every structure has the same layout for 32-bit and 64-bit programs.
 *
 * DOC: Errors
 *
 * ENOTTY         no such command
 * EINVAL         the value is known to be wrong, or @size is too small
 * E2BIG          the structure has bytes set that this kernel does not know
 * EOPNOTSUPP     a flag, a reserved field or a value that this kernel does not know
 * EFAULT         a pointer leads nowhere
 * EMSGSIZE       an array is too small; its count says what is needed
 * ENOENT         no such accelerator, rank, circuit, transaction or slice
 * EEXIST         the name is taken
 * EPERM, EACCES  the caller may not do this
 * EDQUOT         the quota of the user, or of the grant, is used up
 * ENOSPC         too few accelerators or lanes are free
 * EBUSY          another slice or transaction holds what is needed; the slice is open
 * EHOSTUNREACH   no path exists, whoever holds what
 * ERANGE         too little light, or too much, would arrive
 * EXDEV          isolation between tenants, or the transit policy, forbids it
 * ESTALE         the slice's generation or the profile's checksum is another one
 * EAGAIN         the slice is being repaired, the accelerator is being tested, a search
 *                gave up, or no light has come in over an edge yet; try again
 * ETIME          the lease had run out
 * ECANCELED      the prepared transaction was revoked; of a change: another change of
 *                its transaction failed
 * ENXIO          another accelerator is in the place of the known one, or none
 * EIO            hardware let us down; the culprit is quarantined
 * ETIMEDOUT      hardware did not answer in time
 * ENODEV         the fabric, or the slice, is gone; only close() is left
 * ENOMEM, EINTR  as everywhere; a commit that has changed light never says EINTR
 *
 * On failure @reason, @part and @index of the head say which rule was broken and
 * what stands in the way, and the buffer at @detail_ptr, if given, gets a sentence.
 *
 * DOC: Units
 *
 * _ns nanoseconds, _mbps megabits per second, _mdb thousandths of a dB, _mdbm
 * thousandths of a dBm, _bytes bytes. Times of events are CLOCK_BOOTTIME.
 */
#ifndef _UAPI_LINUX_MORPH_H
#define _UAPI_LINUX_MORPH_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define MORPH_ABI_VERSION	1

#define MORPH_NAME_BYTES	32	/* names, with the final NUL */
#define MORPH_PCI_BYTES		16
#define MORPH_UUID_BYTES	16

#define MORPH_ANY		0xffffffffu		/* "the kernel may choose" */
#define MORPH_PLANE_ANY		0xffffu
#define MORPH_RANK_EDGE		0x80000000u	/* | edge: no rank, but where light leaves */
#define MORPH_GENERATION_ANY	0xffffffffffffffffULL	/* do not check */

/* ------------------------------------------------------------------- common */

/**
 * struct morph_head - the head of every command
 * @size: in: size of the whole structure
 * @flags: in: flags of the command; unknown ones are refused
 * @detail_ptr: in: buffer for a sentence about a failure, or 0
 * @detail_len: in: its size; the sentence is cut to fit and ends in NUL
 * @reason: out: enum morph_reason, on failure
 * @part: out: enum morph_part: the kind of thing that stands in the way
 * @index: out: which one, or MORPH_ANY: no single one
 * @have: out: what there is, in the unit of the reason
 * @need: out: what was needed
 */
struct morph_head {
	__u32 size;
	__u32 flags;
	__aligned_u64 detail_ptr;
	__u32 detail_len;
	__u32 reason;
	__u32 part;
	__u32 index;
	__s64 have;
	__s64 need;
};

/**
 * struct morph_array - an array in the caller's memory
 * @ptr: address of the first entry
 * @count: in: entries that there is room for, or that are passed; out: entries there are
 * @stride: bytes per entry, the size that the caller was compiled with
 */
struct morph_array {
	__aligned_u64 ptr;
	__u32 count;
	__u32 stride;
};

/**
 * enum morph_reason - which rule a request broke
 * @MORPH_REASON_NONE: none
 * @MORPH_REASON_PROFILE: the device profile is malformed, or not the plan's
 * @MORPH_REASON_PORT: no such port, or both ends are the same accelerator
 * @MORPH_REASON_PATH: guides and element states of the path do not join up
 * @MORPH_REASON_NO_ROUTE: no path exists, whoever holds what
 * @MORPH_REASON_BLOCKED: paths exist, others hold them
 * @MORPH_REASON_GAVE_UP: the search's budget ran out; undecided
 * @MORPH_REASON_LANES: too few lanes are free
 * @MORPH_REASON_ELEMENT_PINNED: an element is held in another state
 * @MORPH_REASON_UNUSABLE: hardware is failed or quarantined
 * @MORPH_REASON_MARGIN: too little light would arrive
 * @MORPH_REASON_OVERLOAD: too much light would arrive
 * @MORPH_REASON_ISOLATION: leakage between tenants would be too strong
 * @MORPH_REASON_TRANSIT: the path crosses another tenant's tile
 * @MORPH_REASON_PORT_BUSY: a transmit or receive port is in use
 * @MORPH_REASON_ACCELERATORS: too few accelerators are free
 * @MORPH_REASON_ACCELERATOR_HELD: the accelerator belongs to another tenant
 * @MORPH_REASON_ACCELERATOR_UNFIT: the accelerator is not healthy, or cordoned
 * @MORPH_REASON_NO_SPARE: no spare that the slice allows is free and healthy
 * @MORPH_REASON_QUOTA: the quota of the user, or of the grant, is used up
 * @MORPH_REASON_GENERATION: the caller's generation is old
 * @MORPH_REASON_STATE: the object is not in a state that allows this
 * @MORPH_REASON_HARDWARE: hardware did not do what it was told
 * @MORPH_REASON_TIMEOUT: hardware did not answer in time
 * @MORPH_REASON_ARGUMENT: a field of the request is wrong; the sentence names it
 * @MORPH_REASON_IDENTITY: another accelerator is in the place of the known one, or none
 * @MORPH_REASON_PEER: the fabric at the other side of an edge has not done its part
 * @MORPH_REASON_CONTROLLER: another controller, or a later epoch of it, decides about the slice
 */
enum morph_reason {
	MORPH_REASON_NONE = 0,
	MORPH_REASON_PROFILE = 1,
	MORPH_REASON_PORT = 2,
	MORPH_REASON_PATH = 3,
	MORPH_REASON_NO_ROUTE = 4,
	MORPH_REASON_BLOCKED = 5,
	MORPH_REASON_GAVE_UP = 6,
	MORPH_REASON_LANES = 7,
	MORPH_REASON_ELEMENT_PINNED = 8,
	MORPH_REASON_UNUSABLE = 9,
	MORPH_REASON_MARGIN = 10,
	MORPH_REASON_OVERLOAD = 11,
	MORPH_REASON_ISOLATION = 12,
	MORPH_REASON_TRANSIT = 13,
	MORPH_REASON_PORT_BUSY = 14,
	MORPH_REASON_ACCELERATORS = 32,
	MORPH_REASON_ACCELERATOR_HELD = 33,
	MORPH_REASON_ACCELERATOR_UNFIT = 34,
	MORPH_REASON_NO_SPARE = 35,
	MORPH_REASON_QUOTA = 36,
	MORPH_REASON_GENERATION = 37,
	MORPH_REASON_STATE = 38,
	MORPH_REASON_HARDWARE = 39,
	MORPH_REASON_TIMEOUT = 40,
	MORPH_REASON_ARGUMENT = 41,
	MORPH_REASON_IDENTITY = 42,
	MORPH_REASON_PEER = 43,
	MORPH_REASON_CONTROLLER = 44,
};

/**
 * enum morph_part - kinds of hardware
 * @MORPH_PART_NONE: none
 * @MORPH_PART_ACCELERATOR: index: accelerator
 * @MORPH_PART_LASER: index: accelerator * planes + plane of the transmitter
 * @MORPH_PART_RECEIVER: index: accelerator * planes + plane of the receiver
 * @MORPH_PART_ELEMENT: index: element
 * @MORPH_PART_GUIDE: index: guide
 * @MORPH_PART_EDGE: index: edge port
 */
enum morph_part {
	MORPH_PART_NONE = 0,
	MORPH_PART_ACCELERATOR = 1,
	MORPH_PART_LASER = 2,
	MORPH_PART_RECEIVER = 3,
	MORPH_PART_ELEMENT = 4,
	MORPH_PART_GUIDE = 5,
	MORPH_PART_EDGE = 6,
};

/**
 * enum morph_health - health of a piece of hardware
 * @MORPH_HEALTH_OK: usable
 * @MORPH_HEALTH_SUSPECT: perhaps to blame, to be tested by the patrol; what uses it goes on
 * @MORPH_HEALTH_FAILED: known to be bad
 * @MORPH_HEALTH_QUARANTINED: may be good; must pass a test before it is used
 */
enum morph_health {
	MORPH_HEALTH_OK = 0,
	MORPH_HEALTH_SUSPECT = 1,
	MORPH_HEALTH_FAILED = 2,
	MORPH_HEALTH_QUARANTINED = 3,
};

/**
 * enum morph_phase - where the time of a change goes
 * @MORPH_PHASE_DETECT: hardware showed it, until the core noticed
 * @MORPH_PHASE_PLAN: choosing spare and paths, staging, validating
 * @MORPH_PHASE_PROGRAM: handing settings to the device
 * @MORPH_PHASE_SETTLE: the modelled or specified wait for optical power
 * @MORPH_PHASE_RELOCK: the modelled or specified wait for receivers to lock
 * @MORPH_PHASE_VERIFY: reading back and comparing
 * @MORPH_PHASE_NOTIFY: publishing and waking the owner
 * @MORPH_PHASE_COUNT: number of phases
 */
enum morph_phase {
	MORPH_PHASE_DETECT = 0,
	MORPH_PHASE_PLAN = 1,
	MORPH_PHASE_PROGRAM = 2,
	MORPH_PHASE_SETTLE = 3,
	MORPH_PHASE_RELOCK = 4,
	MORPH_PHASE_VERIFY = 5,
	MORPH_PHASE_NOTIFY = 6,
	MORPH_PHASE_COUNT = 7,
};

/**
 * struct morph_times - where the time of a change went
 * @phase_ns: by enum morph_phase; [7] is reserved
 * @provider_ns: time spent inside the provider's operations, part of the phases
 * @modelled_ns: nominal waits (settle, relock, write times); software time is
 *               the sum of the phases minus the waits as they really took
 */
struct morph_times {
	__aligned_u64 phase_ns[8];
	__aligned_u64 provider_ns;
	__aligned_u64 modelled_ns;
};

/* ------------------------------------------------------------ the fabric file */

/**
 * enum morph_fabric_state - state of a fabric
 * @MORPH_FABRIC_STARTING: hardware is being brought to a known state
 * @MORPH_FABRIC_READY: slices can be created
 * @MORPH_FABRIC_GONE: the provider is gone
 */
enum morph_fabric_state {
	MORPH_FABRIC_STARTING = 0,
	MORPH_FABRIC_READY = 1,
	MORPH_FABRIC_GONE = 2,
};

#define MORPH_FABRIC_SIMULATED	0x1u	/* morph_fabric_info.features */

/**
 * struct morph_fabric_info - MORPH_FABRIC_INFO: what this fabric is
 * @head: flags must be 0
 * @abi_version: out: MORPH_ABI_VERSION of the kernel
 * @fabric: out: its number, N of /dev/morph/fabricN
 * @uuid: out: stable identity of the hardware
 * @name: out: its name
 * @profile: out: name of its profile
 * @profile_checksum: out: CRC-32 of its profile
 * @features: out: MORPH_FABRIC_SIMULATED
 * @state: out: enum morph_fabric_state
 * @accelerators: out: how many
 * @hosts: out: how many
 * @elements: out: how many
 * @guides: out: how many
 * @planes: out: transmit ports, and receive ports, of each accelerator
 * @wavelengths: out: lanes of a guide
 * @edges: out: how many
 * @free: out: accelerators that a slice could have now, spares not counted
 * @spares: out: spares that are healthy and free now
 * @slices: out: slices that exist
 * @reserved: out: 0
 * @lane_mbps: out: bandwidth of one lane
 * @settle_ns: out: nominal settle time
 * @relock_ns: out: nominal relock time
 * @seq: out: count of publishes
 */
struct morph_fabric_info {
	struct morph_head head;
	__u32 abi_version;
	__u32 fabric;
	__u8 uuid[MORPH_UUID_BYTES];
	char name[MORPH_NAME_BYTES];
	char profile[MORPH_NAME_BYTES];
	__u32 profile_checksum;
	__u32 features;
	__u32 state;
	__u32 accelerators;
	__u32 hosts;
	__u32 elements;
	__u32 guides;
	__u32 planes;
	__u32 wavelengths;
	__u32 edges;
	__u32 free;
	__u32 spares;
	__u32 slices;
	__u32 reserved;
	__aligned_u64 lane_mbps;
	__aligned_u64 settle_ns;
	__aligned_u64 relock_ns;
	__aligned_u64 seq;
};

/**
 * enum morph_use - what an accelerator is used for
 * @MORPH_USE_FREE: free
 * @MORPH_USE_SPARE: held back for failover
 * @MORPH_USE_HELD: belongs to some slice
 * @MORPH_USE_DRAINING: was released, darkness is not verified yet
 */
enum morph_use {
	MORPH_USE_FREE = 0,
	MORPH_USE_SPARE = 1,
	MORPH_USE_HELD = 2,
	MORPH_USE_DRAINING = 3,
};

/**
 * struct morph_accelerator_info - one accelerator, as anybody may see it
 * @accelerator: its index
 * @host: index of its host
 * @x: position of its tile
 * @y: position
 * @z: position
 * @use: enum morph_use
 * @health: enum morph_health
 * @cordoned: 1 when the operator keeps it free
 * @reserved: 0
 * @pci: PCI address, or an empty string
 * @uuid: UUID, or zeros
 * @last_verified_ns: when it last answered a test, CLOCK_BOOTTIME; 0: never
 */
struct morph_accelerator_info {
	__u32 accelerator;
	__u32 host;
	__u16 x;
	__u16 y;
	__u16 z;
	__u8 use;
	__u8 health;
	__u8 cordoned;
	__u8 reserved[7];
	char pci[MORPH_PCI_BYTES];
	__u8 uuid[MORPH_UUID_BYTES];
	__aligned_u64 last_verified_ns;
};

/**
 * struct morph_guide_info - one guide, as anybody may see it
 * @guide: its index
 * @type: class of the guide, as in the profile
 * @health: enum morph_health
 * @cordoned: 1 when the operator keeps it free
 * @lanes: mask of the lanes that exist
 * @lanes_free: mask of the lanes that no circuit holds
 * @loss_mdb: loss from end to end
 * @reserved: 0
 */
struct morph_guide_info {
	__u32 guide;
	__u16 type;
	__u8 health;
	__u8 cordoned;
	__aligned_u64 lanes;
	__aligned_u64 lanes_free;
	__u32 loss_mdb;
	__u32 reserved;
};

/**
 * struct morph_element_info - one element, as anybody may see it
 * @element: its index
 * @tile: accelerator on whose tile it sits, or MORPH_ANY
 * @state: its state
 * @health: enum morph_health
 * @cordoned: 1 when the operator keeps it free
 * @pins: circuits that hold it in this state
 */
struct morph_element_info {
	__u32 element;
	__u32 tile;
	__u16 state;
	__u8 health;
	__u8 cordoned;
	__u32 pins;
};

/**
 * struct morph_edge_info - one edge: where a guide leaves the fabric, as anybody may see it
 * @edge: its index
 * @guide: the guide that ends there
 * @peer_uuid: UUID of the fabric at the other side, or zeros when there is none
 * @peer_edge: edge there
 * @least_mdbm: least power per lane that each side owes the other here
 * @most_mdbm: greatest power per lane that each side may send the other here
 * @reserved: 0
 * @lanes_out: mask of the lanes of circuits that leave here
 * @lanes_in: mask of the lanes of circuits that come in here
 * @name: its name
 */
struct morph_edge_info {
	__u32 edge;
	__u32 guide;
	__u8 peer_uuid[MORPH_UUID_BYTES];
	__u32 peer_edge;
	__s32 least_mdbm;
	__s32 most_mdbm;
	__u32 reserved;
	__aligned_u64 lanes_out;
	__aligned_u64 lanes_in;
	char name[MORPH_NAME_BYTES];
};

/**
 * struct morph_fabric_read - MORPH_FABRIC_READ_*: read a range of the hardware's state
 * @head: flags must be 0
 * @first: in: index of the first entry wanted
 * @reserved: must be 0
 * @entries: in/out: the array; out count is the number written, which is less than
 *           the room only at the end (this one never answers EMSGSIZE)
 * @seq: out: the fabric's seq while reading
 */
struct morph_fabric_read {
	struct morph_head head;
	__u32 first;
	__u32 reserved;
	struct morph_array entries;
	__aligned_u64 seq;
};

/**
 * enum morph_failover - what happens when a slice's accelerator fails
 * @MORPH_FAILOVER_AUTOMATIC: the kernel puts a spare in its place
 * @MORPH_FAILOVER_MANUAL: an event; the owner or the operator asks for the spare
 * @MORPH_FAILOVER_NONE: an event, and the slice is degraded
 */
enum morph_failover {
	MORPH_FAILOVER_AUTOMATIC = 0,
	MORPH_FAILOVER_MANUAL = 1,
	MORPH_FAILOVER_NONE = 2,
};

/**
 * enum morph_transit - may circuits cross other tenants' tiles
 * @MORPH_TRANSIT_ANY: yes
 * @MORPH_TRANSIT_OWN: only own tiles and those that nobody holds
 */
enum morph_transit {
	MORPH_TRANSIT_ANY = 0,
	MORPH_TRANSIT_OWN = 1,
};

/**
 * enum morph_spares - which spares may replace a slice's accelerators
 * @MORPH_SPARES_HOST: those on the same host as the accelerator that failed, and
 *                     where its host has none those of spare hosts
 * @MORPH_SPARES_ANY: any of the fabric
 * @MORPH_SPARES_LIST: those listed
 */
enum morph_spares {
	MORPH_SPARES_HOST = 0,
	MORPH_SPARES_ANY = 1,
	MORPH_SPARES_LIST = 2,
};

#define MORPH_SLICE_RESERVED	0x1u	/* hold a spare and lanes for this slice alone */
#define MORPH_SLICE_DRY_RUN	0x2u	/* say whether it could be, and why not; out_fd is -1 */

/**
 * struct morph_slice_create - MORPH_SLICE_CREATE: get accelerators
 * @head: flags: MORPH_SLICE_RESERVED, MORPH_SLICE_DRY_RUN
 * @accelerators: in: __u32 indices in the order of ranks; ptr 0: the kernel chooses
 *                @accelerators.count of them, close to each other
 * @spares: in: __u32 indices, for MORPH_SPARES_LIST; else ptr and count 0
 * @failover: in: enum morph_failover
 * @transit: in: enum morph_transit
 * @spare_policy: in: enum morph_spares
 * @mode: in: permission bits of the node of a named slice, 0 for 0600; 0 when unnamed
 * @name: in: [a-zA-Z0-9_.-]; empty: unnamed, and the slice ends with its last file
 * @out_fd: out: slice file, close-on-exec
 * @out_slice: out: number of the slice
 * @out_generation: out: its generation
 */
struct morph_slice_create {
	struct morph_head head;
	struct morph_array accelerators;
	struct morph_array spares;
	__u32 failover;
	__u32 transit;
	__u32 spare_policy;
	__u32 mode;
	char name[MORPH_NAME_BYTES];
	__s32 out_fd;
	__u32 out_slice;
	__aligned_u64 out_generation;
};

#define MORPH_SLICE_FORCE	0x1u	/* even while it is open; its files answer ENODEV */

/**
 * struct morph_slice_delete - MORPH_SLICE_DELETE: end a named slice
 * @head: flags: MORPH_SLICE_FORCE
 * @slice: in: its number, or MORPH_ANY to go by name
 * @reserved: must be 0
 * @name: in: its name when @slice is MORPH_ANY, else empty
 *
 * Allowed to the slice's owner and to CAP_NET_ADMIN in the initial user namespace.
 */
struct morph_slice_delete {
	struct morph_head head;
	__u32 slice;
	__u32 reserved;
	char name[MORPH_NAME_BYTES];
};

/**
 * struct morph_grant_create - MORPH_GRANT_CREATE: a fabric file with limits of its own
 * @head: flags must be 0
 * @accelerators: in: limit; of this and the following all bits set means: no limit
 * @circuits: in: limit
 * @lanes: in: limit: lanes of circuits, each counted once
 * @prepared: in: limit: prepared transactions
 * @replacements: in: limit: replacements of each slice in an hour
 * @reserved: must be 0
 * @bytes: in: limit: kernel memory
 * @out_fd: out: fabric file, close-on-exec
 * @out_grant: out: number of the grant
 *
 * What is done by the new file, and by files of slices that it creates, is charged to the
 * grant, and to no user; a slice belongs to who creates it. The grant is gone with the
 * last of its files and slices. Allowed to CAP_NET_ADMIN in the initial user namespace;
 * whoever is then given the file needs no permission but the file.
 */
struct morph_grant_create {
	struct morph_head head;
	__u32 accelerators;
	__u32 circuits;
	__u32 lanes;
	__u32 prepared;
	__u32 replacements;
	__u32 reserved;
	__aligned_u64 bytes;
	__s32 out_fd;
	__u32 out_grant;
};

/* ------------------------------------------------------------- the slice file */

/**
 * enum morph_slice_state - state of a slice
 * @MORPH_SLICE_OK: every rank is healthy, every circuit is lit
 * @MORPH_SLICE_REPAIRING: a failover is under way; changes answer EAGAIN
 * @MORPH_SLICE_DEGRADED: something is missing; the event says what
 * @MORPH_SLICE_LOST: the fabric is gone
 * @MORPH_SLICE_DYING: released; not seen by tenants
 */
enum morph_slice_state {
	MORPH_SLICE_OK = 0,
	MORPH_SLICE_REPAIRING = 1,
	MORPH_SLICE_DEGRADED = 2,
	MORPH_SLICE_LOST = 3,
	MORPH_SLICE_DYING = 4,
};

/**
 * enum morph_plan_state - is the protection plan of a rank ready
 * @MORPH_PLAN_NONE: no spare can take the rank's place now
 * @MORPH_PLAN_STALE: something it uses has changed; being made anew
 * @MORPH_PLAN_CURRENT: ready
 * @MORPH_PLAN_RESERVED: ready, and the spare and all lanes that it needs are held for it
 */
enum morph_plan_state {
	MORPH_PLAN_NONE = 0,
	MORPH_PLAN_STALE = 1,
	MORPH_PLAN_CURRENT = 2,
	MORPH_PLAN_RESERVED = 3,
};

/**
 * struct morph_rank_info - one rank of a slice
 * @rank: number, stable for the slice's life
 * @accelerator: the accelerator behind it now
 * @host: its host
 * @health: enum morph_health of the accelerator
 * @plan: enum morph_plan_state
 * @reserved: 0
 * @spare: accelerator that the plan would use, or MORPH_ANY
 * @replacements: how often the accelerator behind the rank was replaced
 * @pci: PCI address, or an empty string
 * @uuid: UUID, or zeros
 */
struct morph_rank_info {
	__u32 rank;
	__u32 accelerator;
	__u32 host;
	__u8 health;
	__u8 plan;
	__u8 reserved[2];
	__u32 spare;
	__u32 replacements;
	char pci[MORPH_PCI_BYTES];
	__u8 uuid[MORPH_UUID_BYTES];
};

/**
 * enum morph_circuit_state - state of a circuit
 * @MORPH_CIRCUIT_LIT: verified by read-back
 * @MORPH_CIRCUIT_CHANGING: a transaction or a failover is moving it
 * @MORPH_CIRCUIT_FAILED: dark, because hardware failed
 * @MORPH_CIRCUIT_PREPARED: a prepared transaction would add it: what it needs is held,
 *	it is not lit yet
 * @MORPH_CIRCUIT_WAITING: comes in over an edge: all is set for the peer's light, which
 *                         is verified when the transaction is
 */
enum morph_circuit_state {
	MORPH_CIRCUIT_LIT = 0,
	MORPH_CIRCUIT_CHANGING = 1,
	MORPH_CIRCUIT_FAILED = 2,
	MORPH_CIRCUIT_PREPARED = 3,
	MORPH_CIRCUIT_WAITING = 4,
};

/**
 * struct morph_circuit_info - one circuit of a slice
 * @circuit: its number within the slice
 * @state: enum morph_circuit_state
 * @src_rank: rank that sends, or MORPH_RANK_EDGE | edge where light comes in
 * @dst_rank: rank that receives, or MORPH_RANK_EDGE | edge where light leaves
 * @src_plane: transmit port; MORPH_PLANE_ANY at an edge
 * @dst_plane: receive port; MORPH_PLANE_ANY at an edge
 * @hops: guides that it runs through
 * @lanes: mask of its wavelengths
 * @bandwidth_mbps: of all its lanes
 * @loss_mdb: of the path
 * @margin_mdb: above the receiver's sensitivity, or what the edge owes, computed
 * @power_mdbm: read at the receiver when last verified; at an edge computed
 * @isolation_mdb: worst case when validated
 * @dark_ns: how long it was dark in its last change; 0: hitless, or never changed
 * @last_verified_ns: when its light was last verified, CLOCK_BOOTTIME
 */
struct morph_circuit_info {
	__u32 circuit;
	__u32 state;
	__u32 src_rank;
	__u32 dst_rank;
	__u16 src_plane;
	__u16 dst_plane;
	__u32 hops;
	__aligned_u64 lanes;
	__aligned_u64 bandwidth_mbps;
	__u32 loss_mdb;
	__s32 margin_mdb;
	__s32 power_mdbm;
	__s32 isolation_mdb;
	__aligned_u64 dark_ns;
	__aligned_u64 last_verified_ns;
};

/**
 * struct morph_slice_info - MORPH_SLICE_INFO: read a slice whole
 * @head: flags must be 0
 * @slice: out: its number
 * @state: out: enum morph_slice_state
 * @name: out: its name, or an empty string
 * @failover: out: enum morph_failover
 * @transit: out: enum morph_transit
 * @spare_policy: out: enum morph_spares
 * @reserved: out: 1 when it was created with MORPH_SLICE_RESERVED
 * @generation: out: changes whenever the tenant did not ask for it
 * @seq: out: the fabric's seq at which this was true
 * @events_lost: out: events lost on this file so far
 * @ranks: in/out: struct morph_rank_info, or ptr 0 to learn the count only
 * @circuits: in/out: struct morph_circuit_info, or ptr 0 to learn the count only
 */
struct morph_slice_info {
	struct morph_head head;
	__u32 slice;
	__u32 state;
	char name[MORPH_NAME_BYTES];
	__u32 failover;
	__u32 transit;
	__u32 spare_policy;
	__u32 reserved;
	__aligned_u64 generation;
	__aligned_u64 seq;
	__aligned_u64 events_lost;
	struct morph_array ranks;
	struct morph_array circuits;
};

/**
 * struct morph_circuit_path - MORPH_CIRCUIT_PATH: the way of one circuit, of a schedule's also
 *			       while it is dark
 * @head: flags must be 0
 * @circuit: in: its number
 * @reserved: must be 0
 * @guides: in/out: __u32 guides in the direction of light, or ptr 0
 * @elements: in/out: struct morph_path_element between them, or ptr 0
 */
struct morph_circuit_path {
	struct morph_head head;
	__u32 circuit;
	__u32 reserved;
	struct morph_array guides;
	struct morph_array elements;
};

/**
 * struct morph_path_element - an element on a path
 * @element: its index
 * @state: the state that lets the light through
 */
struct morph_path_element {
	__u32 element;
	__u32 state;
};

/**
 * enum morph_change_op - what to do to a circuit
 * @MORPH_CHANGE_ADD: light a new circuit
 * @MORPH_CHANGE_REMOVE: darken and forget a circuit
 * @MORPH_CHANGE_MOVE: give a circuit another path or other planes or lanes; its
 *                     number and ranks stay; make before break where lanes allow
 */
enum morph_change_op {
	MORPH_CHANGE_ADD = 1,
	MORPH_CHANGE_REMOVE = 2,
	MORPH_CHANGE_MOVE = 3,
};

/**
 * struct morph_change - one change of a transaction
 * @op: in: enum morph_change_op
 * @circuit: in: number, for REMOVE and MOVE; out: number, for ADD
 * @src_rank: in: for ADD; MORPH_RANK_EDGE | edge: half a circuit, which comes in there
 * @dst_rank: in: for ADD; MORPH_RANK_EDGE | edge: half a circuit, which leaves there
 * @src_plane: in: transmit port or MORPH_PLANE_ANY, for ADD and MOVE; out: the one used
 * @dst_plane: in: receive port or MORPH_PLANE_ANY, for ADD and MOVE; out: the one used
 * @lanes_count: in: wavelengths wanted; 0: as many as @lanes has, or 1
 * @lanes: in: mask of the wavelengths that may be used, 0: any; out: those used
 * @guides: in: __u32 guides in the direction of light: the path to take; ptr 0: the
 *          kernel routes
 * @dark_ns: out: how long the circuit was dark; 0: hitless or new
 * @status: out: 0 or a negative errno; ECANCELED: another change of the transaction failed
 * @reason: out: enum morph_reason
 * @part: out: enum morph_part
 * @index: out: which one stands in the way
 *
 * Half a circuit has a rank at one end and an edge at the other, which has no planes:
 * MORPH_PLANE_ANY. The other half is the peer fabric's. One that comes in is lit by the
 * peer, so that it is added and moved with MORPH_TXN_PREPARE only, and its light
 * verified by MORPH_TXN_VERIFY or MORPH_TXN_CONFIRM.
 */
struct morph_change {
	__u32 op;
	__u32 circuit;
	__u32 src_rank;
	__u32 dst_rank;
	__u16 src_plane;
	__u16 dst_plane;
	__u32 lanes_count;
	__aligned_u64 lanes;
	struct morph_array guides;
	__aligned_u64 dark_ns;
	__s32 status;
	__u32 reason;
	__u32 part;
	__u32 index;
};

/**
 * enum morph_outcome - how a transaction ended, or where it stands
 * @MORPH_OUTCOME_NONE: nothing was done
 * @MORPH_OUTCOME_COMMITTED: the light is as asked, verified by read-back
 * @MORPH_OUTCOME_ROLLED_BACK: the light is as before, verified by read-back
 * @MORPH_OUTCOME_BROKEN: hardware let us down; affected circuits are FAILED, the
 *                        culprit is quarantined, everything else is as before
 * @MORPH_OUTCOME_PREPARED: resources are held under a lease
 * @MORPH_OUTCOME_REVOKED: failover seized what had been prepared
 * @MORPH_OUTCOME_EXPIRED: the lease ran out; the light is as before
 * @MORPH_OUTCOME_RUNNING: under way
 * @MORPH_OUTCOME_UNCONFIRMED: committed under a lease; old resources are still held
 */
enum morph_outcome {
	MORPH_OUTCOME_NONE = 0,
	MORPH_OUTCOME_COMMITTED = 1,
	MORPH_OUTCOME_ROLLED_BACK = 2,
	MORPH_OUTCOME_BROKEN = 3,
	MORPH_OUTCOME_PREPARED = 4,
	MORPH_OUTCOME_REVOKED = 5,
	MORPH_OUTCOME_EXPIRED = 6,
	MORPH_OUTCOME_RUNNING = 7,
	MORPH_OUTCOME_UNCONFIRMED = 8,
};

#define MORPH_TXN_DRY_RUN	0x1u	/* stage and validate only */
#define MORPH_TXN_EACH		0x2u	/* each change is a transaction of its own */
#define MORPH_TXN_PREPARE	0x4u	/* hold resources, commit later by MORPH_TXN_STEP */

/**
 * struct morph_txn_run - MORPH_TXN_RUN: change circuits
 * @head: flags: MORPH_TXN_DRY_RUN, MORPH_TXN_EACH, MORPH_TXN_PREPARE: at most one
 * @changes: in/out: struct morph_change, 1 to 1024
 * @cookie: in: the caller's name for this transaction, 0: none. A repeated call
 *          with the cookie of the slice's last committed transaction, or of one that
 *          is prepared or not confirmed, does nothing and answers as that one did; so
 *          do the steps of a prepared one. What is prepared is found again by its
 *          cookie, see MORPH_TXN_STEP
 * @generation: in: the slice's generation that the caller knows, else ESTALE;
 *              MORPH_GENERATION_ANY: do not check
 * @lease_ns: in: for PREPARE: how long resources are held, 1 ms to 1 hour
 * @profile_checksum: in: CRC-32 of the profile that the changes were planned for, if it
 *                    is not the fabric's ESTALE; 0: not stated
 * @reserved: must be 0
 * @out_txn: out: number of the transaction, for PREPARE
 * @out_outcome: out: enum morph_outcome
 * @out_seq: out: the fabric's seq of the publish
 * @out_generation: out: the slice's generation
 * @out_times: out: where the time went
 */
struct morph_txn_run {
	struct morph_head head;
	struct morph_array changes;
	__aligned_u64 cookie;
	__aligned_u64 generation;
	__aligned_u64 lease_ns;
	__u32 profile_checksum;
	__u32 reserved;
	__u32 out_txn;
	__u32 out_outcome;
	__aligned_u64 out_seq;
	__aligned_u64 out_generation;
	struct morph_times out_times;
};

/**
 * enum morph_txn_verb - what to do with a prepared transaction
 * @MORPH_TXN_COMMIT: program, light and verify; keep the old configuration reserved
 * @MORPH_TXN_CONFIRM: verify as VERIFY does, unless that was done; free the old
 *                     configuration
 * @MORPH_TXN_REVERT: go back to the old configuration, committed or not
 * @MORPH_TXN_QUERY: only tell where it stands
 * @MORPH_TXN_VERIFY: of a committed one: is every circuit lit, those that come in over an
 *                    edge too? EAGAIN when the peer's light is missing. Once it is
 *                    verified CONFIRM does not fail for want of light; and if no step
 *                    follows, its lease ends as the light tells: as long as all that
 *                    comes in over edges, one circuit at least, is lit, it is confirmed,
 *                    else reverted
 */
enum morph_txn_verb {
	MORPH_TXN_COMMIT = 1,
	MORPH_TXN_CONFIRM = 2,
	MORPH_TXN_REVERT = 3,
	MORPH_TXN_QUERY = 4,
	MORPH_TXN_VERIFY = 5,
};

/**
 * struct morph_txn_step - MORPH_TXN_STEP: go on with a prepared transaction
 * @head: flags must be 0
 * @txn: in: its number, or 0: go by @cookie; out: its number
 * @verb: in: enum morph_txn_verb
 * @lease_ns: in: for COMMIT and VERIFY: a new lease, within which the next step must
 *            come; 0: as long as before, from now on
 * @out_outcome: out: enum morph_outcome
 * @reserved: must be 0
 * @out_seq: out: the fabric's seq of the publish
 * @out_lease_ns: out: what is left of the lease
 * @out_times: out: where the time went
 * @cookie: in: with @txn 0: the cookie that it was prepared with. Who prepared it need
 *          not be alive; of those that ended the slice knows the last four
 */
struct morph_txn_step {
	struct morph_head head;
	__u32 txn;
	__u32 verb;
	__aligned_u64 lease_ns;
	__u32 out_outcome;
	__u32 reserved;
	__aligned_u64 out_seq;
	__aligned_u64 out_lease_ns;
	struct morph_times out_times;
	__aligned_u64 cookie;
};

/**
 * struct morph_rank_act - MORPH_RANK_REPORT, MORPH_RANK_REPLACE, MORPH_RANK_PREFER: about one rank
 * @head: flags must be 0
 * @rank: in: which one
 * @spare: in: for REPLACE: the accelerator to take, or MORPH_ANY; for PREFER: the one to try
 *         first, or MORPH_ANY; for REPORT 0
 * @out_state: out: enum morph_slice_state afterwards; of PREFER 0
 * @out_health: out: enum morph_health of the accelerator that was behind the rank; of PREFER 0
 *
 * REPORT tells a suspicion: the core probes the accelerator, and replaces it if
 * the probe confirms it. REPLACE asks for a spare in any case, within the
 * replacements that the slice may have in an hour. Both return when the matter is settled.
 * PREFER says which of the spares that the slice allows is tried first, should the rank's
 * accelerator fail; it holds until the rank has another accelerator.
 */
struct morph_rank_act {
	struct morph_head head;
	__u32 rank;
	__u32 spare;
	__u32 out_state;
	__u32 out_health;
};

/**
 * struct morph_slice_policy - MORPH_SLICE_POLICY: change what happens on failure
 * @head: flags must be 0
 * @failover: in: enum morph_failover
 * @reserved: must be 0
 */
struct morph_slice_policy {
	struct morph_head head;
	__u32 failover;
	__u32 reserved;
};

/* ----------------------------------------------------------------- schedules */

/**
 * enum morph_advance - what begins a step of a schedule
 * @MORPH_ADVANCE_CALL: MORPH_SCHEDULE_GO
 * @MORPH_ADVANCE_BARRIER: all ranks of which a circuit comes or goes have said that they have done
 *			   with the step before: MORPH_SCHEDULE_ARRIVE
 * @MORPH_ADVANCE_TIME: so long after the step before was lit
 */
enum morph_advance {
	MORPH_ADVANCE_CALL = 0,
	MORPH_ADVANCE_BARRIER = 1,
	MORPH_ADVANCE_TIME = 2,
};

/**
 * struct morph_schedule_circuit - a circuit that some steps of a schedule hold
 * @src_rank: in: rank that sends
 * @dst_rank: in: rank that receives
 * @src_plane: in: transmit port or MORPH_PLANE_ANY
 * @dst_plane: in: receive port or MORPH_PLANE_ANY
 * @lanes_count: in: wavelengths wanted; 0: as many as @lanes has, or 1
 * @lanes: in: mask of the wavelengths that may be used, 0: any
 * @first_guide: in: where its path begins in struct morph_schedule_load.guides; 0 without a path
 * @guides_count: in: guides of its path, in the direction of light; 0: the kernel routes
 */
struct morph_schedule_circuit {
	__u32 src_rank;
	__u32 dst_rank;
	__u16 src_plane;
	__u16 dst_plane;
	__u32 lanes_count;
	__aligned_u64 lanes;
	__u32 first_guide;
	__u32 guides_count;
};

/**
 * struct morph_schedule_step - which circuits are lit in a step, and when it begins
 * @first: in: where its circuits begin in struct morph_schedule_load.held
 * @count: in: how many it holds; 0: it is dark
 * @advance: in: enum morph_advance; of the first step too where the schedule is a loop
 * @reserved: must be 0
 * @after_ns: in: for MORPH_ADVANCE_TIME: how long after the step before was lit; else 0
 * @deadline_ns: in: it is to be lit at most so long after the step before was; if nothing has
 *		 begun it by then the schedule stops. 0: it may take as long as it likes
 */
struct morph_schedule_step {
	__u32 first;
	__u32 count;
	__u32 advance;
	__u32 reserved;
	__aligned_u64 after_ns;
	__aligned_u64 deadline_ns;
};

#define MORPH_SCHEDULE_LOOP	0x1u	/* after the last step comes the first */

#define MORPH_SCHEDULE_MOST_CIRCUITS	32768u
#define MORPH_SCHEDULE_MOST_GUIDES	1048576u
#define MORPH_SCHEDULE_MOST_HELD	262144u	/* of all schedules of a slice together */
#define MORPH_SCHEDULE_MOST_STEPS	8192u

/**
 * struct morph_schedule_load - MORPH_SCHEDULE_LOAD: hold what the steps of a schedule need
 * @head: flags: MORPH_SCHEDULE_LOOP
 * @circuits: in: struct morph_schedule_circuit
 * @guides: in: __u32 guides of paths, one path after the other; or ptr 0
 * @held: in: __u32 positions in @circuits, those of one step after those of another
 * @steps: in: struct morph_schedule_step, in order
 * @generation: in: the slice's generation that the caller knows, else ESTALE;
 *              MORPH_GENERATION_ANY: do not check
 * @profile_checksum: in: CRC-32 of the profile that it was planned for, if it is not the
 *                    fabric's ESTALE; 0: not stated
 * @reserved: must be 0
 * @out_schedule: out: its number within the slice
 * @out_circuit: out: number of the first of @circuits within the slice; the others follow
 * @out_wrong_step: out: on failure: the step that can't be, or MORPH_ANY
 * @out_wrong_circuit: out: on failure: which of @circuits can't be, or MORPH_ANY
 *
 * From now on all that any step needs is the schedule's, so that no step fails for want of lanes.
 * Elements that steps want in different states are the slice's alone. Nothing is lit before
 * MORPH_SCHEDULE_START. All circuits of a step are judged together, as those of a transaction;
 * they count in the user's quotas whether they are lit or not. A circuit of a schedule is changed
 * by its steps only. Steps are between ranks, not over edges.
 */
struct morph_schedule_load {
	struct morph_head head;
	struct morph_array circuits;
	struct morph_array guides;
	struct morph_array held;
	struct morph_array steps;
	__aligned_u64 generation;
	__u32 profile_checksum;
	__u32 reserved;
	__u32 out_schedule;
	__u32 out_circuit;
	__u32 out_wrong_step;
	__u32 out_wrong_circuit;
};

/**
 * enum morph_schedule_state - how a schedule stands
 * @MORPH_SCHEDULE_LOADED: no circuit of it is lit
 * @MORPH_SCHEDULE_RUNNING: at a step
 * @MORPH_SCHEDULE_STOPPED: a step failed, or nothing began it in time, or a repair has left it
 *	without paths; what was lit before is lit
 */
enum morph_schedule_state {
	MORPH_SCHEDULE_LOADED = 0,
	MORPH_SCHEDULE_RUNNING = 1,
	MORPH_SCHEDULE_STOPPED = 2,
};

/**
 * enum morph_schedule_verb - what to do with a schedule
 * @MORPH_SCHEDULE_START: light @step, which is then position 1; also of one that has stopped
 * @MORPH_SCHEDULE_GO: light the next step if it is position @position; do nothing if that
 *		       is lit already; @position 0: the next one, whichever it is
 * @MORPH_SCHEDULE_ARRIVE: @rank has done with position @position, and does not wait
 * @MORPH_SCHEDULE_WAIT: wait until position @position is lit
 * @MORPH_SCHEDULE_STOP: darken all
 * @MORPH_SCHEDULE_UNLOAD: darken all, and give back what is held
 * @MORPH_SCHEDULE_JUMP: as GO, but to @step, which is begun by call, whichever was to be the next;
 *			 after it comes the one that follows it
 */
enum morph_schedule_verb {
	MORPH_SCHEDULE_START = 1,
	MORPH_SCHEDULE_GO = 2,
	MORPH_SCHEDULE_ARRIVE = 3,
	MORPH_SCHEDULE_WAIT = 4,
	MORPH_SCHEDULE_STOP = 5,
	MORPH_SCHEDULE_UNLOAD = 6,
	MORPH_SCHEDULE_JUMP = 7,
};

/**
 * struct morph_schedule_act - MORPH_SCHEDULE_ACT: go through a schedule
 * @head: flags must be 0
 * @schedule: in: its number
 * @verb: in: enum morph_schedule_verb
 * @step: in: for START and JUMP; else 0
 * @rank: in: for ARRIVE; else 0
 * @position: in: for GO, JUMP, ARRIVE and WAIT, else 0. Positions count the steps that were lit
 *	      since START, so that who asks twice is not two steps further
 * @out_position: out: position that is lit
 * @out_step: out: the step that this is
 * @out_state: out: enum morph_schedule_state
 * @out_seq: out: the fabric's seq when it was lit
 * @out_times: out: for START, GO, JUMP and STOP: where the time of the change went
 *
 * WAIT ends with ECANCELED when the schedule stops, or is unloaded, and EINTR by a signal. While a
 * repair moves circuits of the slice START, GO, JUMP, STOP and UNLOAD say EAGAIN; steps that a
 * barrier or time begins go on when it has ended.
 */
struct morph_schedule_act {
	struct morph_head head;
	__u32 schedule;
	__u32 verb;
	__u32 step;
	__u32 rank;
	__aligned_u64 position;
	__aligned_u64 out_position;
	__u32 out_step;
	__u32 out_state;
	__aligned_u64 out_seq;
	struct morph_times out_times;
};

/**
 * struct morph_schedule_step_info - what a step has cost, in all its runs together
 * @circuits: circuits that it holds
 * @changes: circuits that come or go, compared to the step before
 * @ahead: of those that come, how many can be lit while the step before runs
 * @late: runs that were lit after their deadline
 * @runs: how often it was lit
 * @wait_ns: from the step before until this one was begun
 * @program_ns: handing settings to the device
 * @settle_ns: waiting for optical power
 * @relock_ns: waiting for receivers to lock
 * @verify_ns: reading back
 * @late_ns: for MORPH_ADVANCE_TIME: begun later than it should
 * @longest_ns: the longest that a run took from being begun until it was lit
 */
struct morph_schedule_step_info {
	__u32 circuits;
	__u32 changes;
	__u32 ahead;
	__u32 late;
	__aligned_u64 runs;
	__aligned_u64 wait_ns;
	__aligned_u64 program_ns;
	__aligned_u64 settle_ns;
	__aligned_u64 relock_ns;
	__aligned_u64 verify_ns;
	__aligned_u64 late_ns;
	__aligned_u64 longest_ns;
};

/**
 * struct morph_schedule_info - MORPH_SCHEDULE_INFO: read a schedule
 * @head: flags must be 0
 * @schedule: in: its number, or the least that may be; out: its number. ENOENT after the last
 * @state: out: enum morph_schedule_state
 * @flags: out: MORPH_SCHEDULE_LOOP
 * @step: out: the step that is lit, or MORPH_ANY
 * @position: out: how many were lit since START
 * @error: out: negative errno with which it stopped, or 0
 * @failed_step: out: the step that it stopped at, or MORPH_ANY
 * @circuits: out: how many there are in all
 * @lit: out: how many of them are lit
 * @moved: out: circuits that repairs have given other paths
 * @first_circuit: out: number of the first of them within the slice
 * @steps: in/out: struct morph_schedule_step_info, or ptr 0 to learn the count only
 */
struct morph_schedule_info {
	struct morph_head head;
	__u32 schedule;
	__u32 state;
	__u32 flags;
	__u32 step;
	__aligned_u64 position;
	__s32 error;
	__u32 failed_step;
	__u32 circuits;
	__u32 lit;
	__u32 moved;
	__u32 first_circuit;
	struct morph_array steps;
};

/* --------------------------------------------------------------------- rings */

/*
 * DOC: Rings
 *
 * A ring is memory that a slice's programs, or their devices, share with a polling kernel
 * thread: entries of 16 bytes that ask for steps of a schedule, and entries that answer. Each of
 * the two 8-byte words of an entry bears the lap bit, so that it is complete when both have it:
 * nothing is supposed of 16-byte writes. On the first lap round the ring the bit is set, on the
 * second it is not, and so on. No word but these orders anything.
 *
 * submission, word 0: lap, operation (7 bits), tag (24), rank or step (32)
 * submission, word 1: lap, 15 bits that must be zero, position (48)
 * completion, word 0: lap, operation, tag, error (32): 0 or a positive errno
 * completion, word 1: lap, 15 bits zero, position that is lit (48)
 *
 * It is mapped from the slice file at MORPH_RING_OFFSET(ring), MORPH_RING_BYTES(entries) long:
 * struct morph_ring_page, then submissions at MORPH_RING_ENTRIES, then completions. Or it
 * is the caller's own memory, pinned as long as the ring lives. What is written there can only
 * select among what the slice may do. An entry that means nothing stops the ring.
 */
#define MORPH_RING_LAP		0x8000000000000000ULL
#define MORPH_RING_OP_SHIFT	56
#define MORPH_RING_TAG_SHIFT	32
#define MORPH_RING_TAGS		0x1000000u
#define MORPH_RING_POSITIONS	0x1000000000000ULL
#define MORPH_RING_ENTRIES	4096u	/* where they begin */
#define MORPH_RING_LEAST	8u
#define MORPH_RING_MOST		4096u
#define MORPH_RING_BYTES(entries) \
	(MORPH_RING_ENTRIES + ((32u * (entries) + 4095u) & ~4095u))
#define MORPH_RING_OFFSET(ring)	((__u64)(ring) << 24)

/**
 * enum morph_ring_op - what an entry asks for
 * @MORPH_RING_NOP: an answer
 * @MORPH_RING_GO: as MORPH_SCHEDULE_GO
 * @MORPH_RING_ARRIVE: as MORPH_SCHEDULE_ARRIVE
 * @MORPH_RING_JUMP: as MORPH_SCHEDULE_JUMP
 */
enum morph_ring_op {
	MORPH_RING_NOP = 0,
	MORPH_RING_GO = 1,
	MORPH_RING_ARRIVE = 2,
	MORPH_RING_JUMP = 3,
};

/**
 * struct morph_ring_entry - an entry of either kind
 * @words: as above
 */
struct morph_ring_entry {
	__aligned_u64 words[2];
};

/**
 * enum morph_ring_state - does anybody read it
 * @MORPH_RING_RUNNING: yes
 * @MORPH_RING_STOPPED: an entry meant nothing, or completions were counted wrongly
 * @MORPH_RING_GONE: the slice is gone, or the ring was closed
 */
enum morph_ring_state {
	MORPH_RING_RUNNING = 0,
	MORPH_RING_STOPPED = 1,
	MORPH_RING_GONE = 2,
};

/**
 * struct morph_ring_page - what is beside the entries
 * @state: kernel: enum morph_ring_state
 * @asleep: kernel: 1 when MORPH_RING_WAKE is needed before it looks at entries again
 * @taken: kernel: submissions taken so far, modulo 2^32: their places are free
 * @answered: kernel: completions written so far, likewise
 * @reserved: 0
 * @seen: program: completions that it has read, likewise: their places are free
 * @reserved2: 0
 */
struct morph_ring_page {
	__u32 state;
	__u32 asleep;
	__u32 taken;
	__u32 answered;
	__u32 reserved[28];
	__u32 seen;
	__u32 reserved2[31];
};

#define MORPH_RING_USER		0x1u	/* in memory of the caller's */

/**
 * struct morph_ring_setup - MORPH_RING_SETUP: a ring for a schedule
 * @head: flags: MORPH_RING_USER
 * @schedule: in: number of the schedule
 * @entries: in: of each kind, a power of two from MORPH_RING_LEAST to MORPH_RING_MOST
 * @idle_ns: in: how long the thread looks for entries after the last one before it sleeps, at
 *	     most a second; 0: a millisecond
 * @rate: in: entries that are taken in a second, 0 for 1000000; more are taken later
 * @user_ptr: in: with MORPH_RING_USER: where, at the beginning of a page; else 0
 * @out_ring: out: its number within the slice
 * @reserved: must be 0
 *
 * It lives as long as the file that it was made with, or until MORPH_RING_CLOSE.
 */
struct morph_ring_setup {
	struct morph_head head;
	__u32 schedule;
	__u32 entries;
	__u32 idle_ns;
	__u32 rate;
	__aligned_u64 user_ptr;
	__u32 out_ring;
	__u32 reserved;
};

/**
 * enum morph_ring_verb - what to do with a ring
 * @MORPH_RING_WAKE: look at entries again
 * @MORPH_RING_CLOSE: take no more; the memory stays mapped
 * @MORPH_RING_QUERY: only tell
 */
enum morph_ring_verb {
	MORPH_RING_WAKE = 1,
	MORPH_RING_CLOSE = 2,
	MORPH_RING_QUERY = 3,
};

/**
 * struct morph_ring_act - MORPH_RING_ACT: about one ring
 * @head: flags must be 0
 * @ring: in: its number
 * @verb: in: enum morph_ring_verb
 * @out_state: out: enum morph_ring_state
 * @out_error: out: negative errno with which it stopped, or 0
 * @out_taken: out: entries taken
 * @out_sleeps: out: how often the thread went to sleep
 */
struct morph_ring_act {
	struct morph_head head;
	__u32 ring;
	__u32 verb;
	__u32 out_state;
	__s32 out_error;
	__aligned_u64 out_taken;
	__aligned_u64 out_sleeps;
};

/**
 * struct morph_state_pair - what leads from one rank to another
 * @generation: counts changes of what is lit between the two
 * @hops: guides of the circuit that was lit last, 0: none is lit
 * @mbps: bandwidth of all that are
 */
struct morph_state_pair {
	__u32 generation;
	__u32 hops;
	__aligned_u64 mbps;
};

/**
 * struct morph_state_page - a slice as it is, to be mapped and read without a call
 * @version: odd while it is written: read it before and after, and again if it differs
 * @ranks: of the slice
 * @schedule: the last of its schedules that was started or lit a step; where none runs, that
 *            was stopped or has stopped; or 0
 * @generation: of the slice
 * @step: its step that is lit, or MORPH_ANY
 * @state: enum morph_schedule_state
 * @position: its position
 * @settle_ns: what a change takes until there is light
 * @relock_ns: and until receivers have locked
 *
 * After it comes struct morph_state_pair of each two ranks, sender * @ranks + receiver its place.
 * At offset 0 of the slice file, MORPH_STATE_BYTES(ranks * ranks) long, to be read only.
 * Profiles tell no lengths: time of flight follows from @hops and what the reader knows of the
 * guides.
 */
struct morph_state_page {
	__aligned_u64 version;
	__u32 ranks;
	__u32 schedule;
	__aligned_u64 generation;
	__u32 step;
	__u32 state;
	__aligned_u64 position;
	__aligned_u64 settle_ns;
	__aligned_u64 relock_ns;
};

#define MORPH_STATE_BYTES(pairs) \
	((sizeof(struct morph_state_page) + \
	  (__u64)(pairs) * sizeof(struct morph_state_pair) + 4095) & ~4095ULL)

/* --------------------------------------------------------------- controllers */

/**
 * enum morph_controller_state - does a controller decide about its slices
 * @MORPH_CONTROLLER_ACTIVE: its lease runs
 * @MORPH_CONTROLLER_EXPIRED: its lease has run out: its slices stay as they are until control
 *                            is taken with a greater epoch
 * @MORPH_CONTROLLER_GONE: it was dropped
 */
enum morph_controller_state {
	MORPH_CONTROLLER_ACTIVE = 0,
	MORPH_CONTROLLER_EXPIRED = 1,
	MORPH_CONTROLLER_GONE = 2,
};

/* -------------------------------------------------------------------- events */

/**
 * enum morph_event_type - what a slice's owner is told
 * @MORPH_EVENT_LOST: events were lost, @lost of them; read the slice again
 * @MORPH_EVENT_FAILING: a rank's accelerator failed; sent at once
 * @MORPH_EVENT_REPLACED: a spare is in its place, its light is verified
 * @MORPH_EVENT_DEGRADED: something could not be made whole; @part and @index name
 *                        the culprit, @bandwidth_mbps what is left; told again
 *                        whenever a repair ends with another bandwidth
 * @MORPH_EVENT_RECOVERED: the slice is OK again
 * @MORPH_EVENT_CIRCUIT_FAILED: a circuit is dark
 * @MORPH_EVENT_CIRCUIT_MOVED: a circuit was led round failed hardware
 * @MORPH_EVENT_TXN: a transaction ended; @outcome says how
 * @MORPH_EVENT_SLICE_GONE: the slice was deleted
 * @MORPH_EVENT_FABRIC_GONE: the provider is gone
 * @MORPH_EVENT_SCHEDULE: schedule @txn has stopped at step @circuit, or a repair has given it
 *                        other paths; @outcome says which: ROLLED_BACK or BROKEN, or COMMITTED
 * @MORPH_EVENT_RING: ring @txn has stopped at an entry that means nothing, its submission @circuit
 */
enum morph_event_type {
	MORPH_EVENT_LOST = 1,
	MORPH_EVENT_FAILING = 2,
	MORPH_EVENT_REPLACED = 3,
	MORPH_EVENT_DEGRADED = 4,
	MORPH_EVENT_RECOVERED = 5,
	MORPH_EVENT_CIRCUIT_FAILED = 6,
	MORPH_EVENT_CIRCUIT_MOVED = 7,
	MORPH_EVENT_TXN = 8,
	MORPH_EVENT_SLICE_GONE = 9,
	MORPH_EVENT_FABRIC_GONE = 10,
	MORPH_EVENT_SCHEDULE = 11,
	MORPH_EVENT_RING = 12,
};

/**
 * struct morph_event - one record of read() on a slice file
 * @size: size of this record in the kernel; records follow each other at this distance
 * @type: enum morph_event_type
 * @seq: the fabric's seq: whoever reads this event sees that state or a later one
 * @generation: the slice's generation
 * @time_ns: when it was queued, CLOCK_BOOTTIME
 * @slice: number of the slice
 * @state: enum morph_slice_state afterwards
 * @rank: rank concerned, or MORPH_ANY
 * @circuit: circuit concerned, or MORPH_ANY; of SCHEDULE the step that it stopped at, or is at
 * @txn: transaction concerned, or 0; of SCHEDULE the number of the schedule
 * @outcome: enum morph_outcome
 * @part: enum morph_part of the culprit
 * @index: which one
 * @old_accelerator: for FAILING and REPLACED, else MORPH_ANY
 * @new_accelerator: for REPLACED, else MORPH_ANY
 * @old_host: host of the old accelerator
 * @new_host: host of the new one
 * @old_pci: PCI address of the old accelerator
 * @new_pci: of the new one
 * @old_uuid: UUID of the old accelerator
 * @new_uuid: of the new one
 * @lost: for LOST: how many events
 * @bandwidth_mbps: of the slice's lit circuits
 * @dark_ns: for REPLACED and CIRCUIT_MOVED: the longest that a circuit was dark
 * @times: for REPLACED, CIRCUIT_MOVED, TXN and SCHEDULE: where the time went
 *
 * read() returns whole records only, and EINVAL when not one fits; EAGAIN on a
 * non-blocking file without events.
 */
struct morph_event {
	__u32 size;
	__u32 type;
	__aligned_u64 seq;
	__aligned_u64 generation;
	__aligned_u64 time_ns;
	__u32 slice;
	__u32 state;
	__u32 rank;
	__u32 circuit;
	__u32 txn;
	__u32 outcome;
	__u32 part;
	__u32 index;
	__u32 old_accelerator;
	__u32 new_accelerator;
	__u32 old_host;
	__u32 new_host;
	char old_pci[MORPH_PCI_BYTES];
	char new_pci[MORPH_PCI_BYTES];
	__u8 old_uuid[MORPH_UUID_BYTES];
	__u8 new_uuid[MORPH_UUID_BYTES];
	__aligned_u64 lost;
	__aligned_u64 bandwidth_mbps;
	__aligned_u64 dark_ns;
	struct morph_times times;
};

/* ------------------------------------------------------------------ commands */

#define MORPH_IOC	0xE7

/* on the fabric file */
#define MORPH_FABRIC_INFO		_IOWR(MORPH_IOC, 0x00, struct morph_fabric_info)
#define MORPH_FABRIC_READ_ACCELERATORS	_IOWR(MORPH_IOC, 0x01, struct morph_fabric_read)
#define MORPH_FABRIC_READ_GUIDES	_IOWR(MORPH_IOC, 0x02, struct morph_fabric_read)
#define MORPH_FABRIC_READ_ELEMENTS	_IOWR(MORPH_IOC, 0x03, struct morph_fabric_read)
#define MORPH_SLICE_CREATE		_IOWR(MORPH_IOC, 0x04, struct morph_slice_create)
#define MORPH_SLICE_DELETE		_IOWR(MORPH_IOC, 0x05, struct morph_slice_delete)
#define MORPH_GRANT_CREATE		_IOWR(MORPH_IOC, 0x06, struct morph_grant_create)
#define MORPH_FABRIC_READ_EDGES		_IOWR(MORPH_IOC, 0x07, struct morph_fabric_read)

/* on the slice file; INFO and READ_* of the fabric work there too */
#define MORPH_SLICE_INFO		_IOWR(MORPH_IOC, 0x20, struct morph_slice_info)
#define MORPH_CIRCUIT_PATH		_IOWR(MORPH_IOC, 0x21, struct morph_circuit_path)
#define MORPH_TXN_RUN			_IOWR(MORPH_IOC, 0x22, struct morph_txn_run)
#define MORPH_TXN_STEP			_IOWR(MORPH_IOC, 0x23, struct morph_txn_step)
#define MORPH_RANK_REPORT		_IOWR(MORPH_IOC, 0x24, struct morph_rank_act)
#define MORPH_RANK_REPLACE		_IOWR(MORPH_IOC, 0x25, struct morph_rank_act)
#define MORPH_SLICE_POLICY		_IOWR(MORPH_IOC, 0x26, struct morph_slice_policy)
#define MORPH_RANK_PREFER		_IOWR(MORPH_IOC, 0x27, struct morph_rank_act)
#define MORPH_SCHEDULE_LOAD		_IOWR(MORPH_IOC, 0x28, struct morph_schedule_load)
#define MORPH_SCHEDULE_ACT		_IOWR(MORPH_IOC, 0x29, struct morph_schedule_act)
#define MORPH_SCHEDULE_INFO		_IOWR(MORPH_IOC, 0x2a, struct morph_schedule_info)
#define MORPH_RING_SETUP		_IOWR(MORPH_IOC, 0x2b, struct morph_ring_setup)
#define MORPH_RING_ACT			_IOWR(MORPH_IOC, 0x2c, struct morph_ring_act)

#endif /* _UAPI_LINUX_MORPH_H */
