/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * morph: programmable photonic fabrics between accelerators. The device ABI.
 *
 * /dev/morph/fabricN    query the fabric, create slices (mode 0660, group morph)
 * slice file            the tenant's handle: MORPH_SLICE_CREATE returns it, and so does
 *                       open() of a named slice's node /dev/morph/sliceN
 *
 * Administration is generic netlink, family "morph"; see morph_netlink.h.
 *
 * DOC: Commands
 *
 * Every command takes one structure that begins with struct morph_head. @size is the size that the
 * caller was compiled with. If it is less than the size of the first version, the kernel returns
 * EINVAL. If it is more than the kernel's size, the unknown bytes must be zero, else the kernel
 * returns E2BIG. If it is less than the kernel's size, the kernel takes the missing bytes as zero,
 * and does not write them. The kernel ignores the size that is coded in the number of a command.
 *
 * Arrays are struct morph_array: pointer, number of entries, bytes per entry. On return @count is
 * the number of existing entries. If the array is too small for them, the call fails with EMSGSIZE.
 * Entries grow like structures: bytes per entry may be more or less than the kernel's.
 *
 * Every structure has the same layout for 32-bit and 64-bit programs.
 *
 * DOC: Errors
 *
 * ENOTTY         no such command
 * EINVAL         a value is invalid, or @size is too small
 * E2BIG          non-zero bytes behind the structure that this kernel knows
 * EOPNOTSUPP     unknown flag, set reserved field, or value that this kernel does not know
 * EFAULT         a pointer is invalid
 * EMSGSIZE       an array is too small; its @count is the required number
 * ENOENT         no such accelerator, rank, circuit, transaction or slice
 * EEXIST         the name is in use
 * EALREADY       another transaction of the slice has this cookie; @index is its number
 * EPERM, EACCES  the caller may not do this
 * EBADF          the file was opened for reading only, and the command changes something
 * EDQUOT         the quota of the user, or of the grant, is used up
 * ENOSPC         too few accelerators or lanes are free
 * EBUSY          another slice or transaction holds a resource, or the slice is open
 * EHOSTUNREACH   no path exists, even without other circuits
 * ERANGE         the receiver would get too little or too much light
 * EXDEV          isolation between tenants, or the transit policy, forbids the path
 * ESTALE         the slice's generation or the profile's checksum does not match
 * EAGAIN         the slice is being repaired, the accelerator is being tested, the search
 *                budget or RLIMIT_NPROC is used up, or no light comes in over an edge yet; retry
 * ETIME          the lease has expired
 * ECANCELED      the prepared transaction was revoked; for a change: another change
 *                of its transaction failed
 * ENXIO          the accelerator was replaced or removed
 * EIO            hardware failed during the call; the failed part is quarantined
 * ETIMEDOUT      hardware did not answer in time
 * EOVERFLOW      the numbers of the slice's circuits are used up; unload its schedules
 * ENODEV         the fabric, or the slice, is gone; close the file
 * ENOMEM, EINTR  out of memory, signal; a commit that has changed light never returns EINTR
 *
 * On failure @reason, @part and @index of the head give the violated rule and the hardware that
 * blocks the request. The buffer at @detail_ptr, if given, gets a sentence. Netlink sends the same
 * numbers as struct morph_refusal_cookie.
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

#define MORPH_ANY		0xffffffffu		/* the kernel chooses, or none */
#define MORPH_PLANE_ANY		0xffffu
#define MORPH_RANK_EDGE		0x80000000u	/* | edge: an edge instead of a rank */
#define MORPH_GENERATION_ANY	0xffffffffffffffffULL	/* do not check */

/* ------------------------------------------------------------------- common */

/**
 * struct morph_head - the head of every command
 * @size: in: size of the whole structure
 * @flags: in: flags of the command; unknown ones are refused
 * @detail_ptr: in: buffer for a sentence about a failure, or 0
 * @detail_len: in: its size; the sentence is cut to fit and ends in NUL
 * @reason: out: enum morph_reason, on failure
 * @part: out: enum morph_part: kind of hardware that blocks the request
 * @index: out: index of that part; MORPH_ANY: no single part
 * @have: out: available amount, in the unit of the reason
 * @need: out: required amount
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
 * @count: in: entries passed, or the capacity for results; out: existing entries
 * @stride: bytes per entry, of the structure that the caller was compiled with
 */
struct morph_array {
	__aligned_u64 ptr;
	__u32 count;
	__u32 stride;
};

/**
 * enum morph_reason - rule that a request violates
 * @MORPH_REASON_NONE: none
 * @MORPH_REASON_PROFILE: the device profile is malformed, or not the one that was stated
 * @MORPH_REASON_PORT: no such port, or both ends are the same accelerator
 * @MORPH_REASON_PATH: guides and element states of the path do not connect
 * @MORPH_REASON_NO_ROUTE: no path exists, even without other circuits
 * @MORPH_REASON_BLOCKED: paths exist, but other circuits use them
 * @MORPH_REASON_GAVE_UP: the search budget was used up; undecided
 * @MORPH_REASON_LANES: too few lanes are free
 * @MORPH_REASON_ELEMENT_PINNED: an element is held in another state
 * @MORPH_REASON_UNUSABLE: hardware is failed or quarantined
 * @MORPH_REASON_MARGIN: the receiver would get too little light
 * @MORPH_REASON_OVERLOAD: the receiver would get too much light
 * @MORPH_REASON_ISOLATION: leakage between tenants would exceed the limit
 * @MORPH_REASON_TRANSIT: the path crosses another tenant's tile
 * @MORPH_REASON_PORT_BUSY: a transmit or receive port is in use
 * @MORPH_REASON_ACCELERATORS: too few accelerators are free
 * @MORPH_REASON_ACCELERATOR_HELD: the accelerator belongs to another tenant
 * @MORPH_REASON_ACCELERATOR_UNFIT: the accelerator is not healthy, or cordoned
 * @MORPH_REASON_NO_SPARE: no spare that the slice allows is free and healthy
 * @MORPH_REASON_QUOTA: the quota of the user, or of the grant, is used up
 * @MORPH_REASON_GENERATION: the caller's generation is outdated
 * @MORPH_REASON_STATE: the object is not in a state that allows this
 * @MORPH_REASON_HARDWARE: hardware did not obey a command
 * @MORPH_REASON_TIMEOUT: hardware did not answer in time
 * @MORPH_REASON_ARGUMENT: a field of the request is invalid; the sentence names it
 * @MORPH_REASON_IDENTITY: the accelerator was replaced or removed
 * @MORPH_REASON_PEER: the fabric at the other side of an edge sends no light, or not enough
 * @MORPH_REASON_CONTROLLER: another controller, or a later epoch of it, manages the slice
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
 * struct morph_refusal_cookie - numbers of a refusal over netlink
 * @reason: enum morph_reason
 * @part: enum morph_part
 * @index: as in struct morph_head; for other objects than hardware, the number of the object
 * @have: as in struct morph_head, or the nearest number that fits
 * @need: as in struct morph_head, or the nearest number that fits
 *
 * The extended ack carries this structure as NLMSGERR_ATTR_COOKIE, in the byte order of the host.
 * The structure never changes; readers ignore a cookie of another size. NLMSGERR_ATTR_MSG is then a
 * sentence where {index}, {have}, {need} and {last} stand for @index, @have, @need and @have - 1.
 * Kernels before 6.10 send no cookie when a dump fails, so sentences of dumps have no numbers.
 */
struct morph_refusal_cookie {
	__u32 reason;
	__u32 part;
	__u32 index;
	__s32 have;
	__s32 need;
};

/**
 * enum morph_health - health of a piece of hardware
 * @MORPH_HEALTH_OK: usable
 * @MORPH_HEALTH_SUSPECT: may have failed; stays in use until patrol has tested it
 * @MORPH_HEALTH_FAILED: known to have failed
 * @MORPH_HEALTH_QUARANTINED: must pass a test before it is used again
 */
enum morph_health {
	MORPH_HEALTH_OK = 0,
	MORPH_HEALTH_SUSPECT = 1,
	MORPH_HEALTH_FAILED = 2,
	MORPH_HEALTH_QUARANTINED = 3,
};

/**
 * enum morph_phase - parts of the time of a change
 * @MORPH_PHASE_DETECT: from the failure in hardware to its detection by the core
 * @MORPH_PHASE_PLAN: choosing spare and paths, staging, validating
 * @MORPH_PHASE_PROGRAM: sending settings to the device
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
 * struct morph_times - time of a change by phase
 * @phase_ns: by enum morph_phase; [7] is reserved
 * @provider_ns: time spent inside the provider's operations, part of the phases
 * @modelled_ns: nominal waits (settle, relock, write times); the software time is
 *                 the sum of the phases minus the actual waits
 */
struct morph_times {
	__aligned_u64 phase_ns[8];
	__aligned_u64 provider_ns;
	__aligned_u64 modelled_ns;
};

/* ------------------------------------------------------------ the fabric file */

/**
 * enum morph_fabric_state - state of a fabric
 * @MORPH_FABRIC_STARTING: the driver sets the hardware to a known state
 * @MORPH_FABRIC_READY: slices can be created
 * @MORPH_FABRIC_GONE: the provider has unregistered
 */
enum morph_fabric_state {
	MORPH_FABRIC_STARTING = 0,
	MORPH_FABRIC_READY = 1,
	MORPH_FABRIC_GONE = 2,
};

#define MORPH_FABRIC_SIMULATED	0x1u	/* morph_fabric_info.features */

/**
 * struct morph_fabric_info - MORPH_FABRIC_INFO: properties of the fabric
 * @head: flags must be 0
 * @abi_version: out: MORPH_ABI_VERSION of the kernel
 * @fabric: out: its number, the N of /dev/morph/fabricN
 * @uuid: out: stable identity of the hardware
 * @name: out: its name
 * @profile: out: name of its profile
 * @profile_checksum: out: CRC-32 of its profile
 * @features: out: MORPH_FABRIC_SIMULATED
 * @state: out: enum morph_fabric_state
 * @accelerators: out: number of accelerators
 * @hosts: out: number of hosts
 * @elements: out: number of elements
 * @guides: out: number of guides
 * @planes: out: transmit ports, and receive ports, of each accelerator
 * @wavelengths: out: lanes of a guide
 * @edges: out: number of edges
 * @free: out: accelerators available to slices now, without spares
 * @spares: out: number of healthy and free spares
 * @slices: out: number of slices
 * @lent: out: number of healthy spares that are lent to slices
 * @lane_mbps: out: bandwidth of one lane
 * @settle_ns: out: nominal settle time
 * @relock_ns: out: nominal relock time
 * @seq: out: number of publications
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
	__u32 lent;
	__aligned_u64 lane_mbps;
	__aligned_u64 settle_ns;
	__aligned_u64 relock_ns;
	__aligned_u64 seq;
};

/**
 * enum morph_use - use of an accelerator
 * @MORPH_USE_FREE: free
 * @MORPH_USE_SPARE: reserved for failover
 * @MORPH_USE_HELD: belongs to a slice
 * @MORPH_USE_DRAINING: was released; its darkness is not verified yet
 */
enum morph_use {
	MORPH_USE_FREE = 0,
	MORPH_USE_SPARE = 1,
	MORPH_USE_HELD = 2,
	MORPH_USE_DRAINING = 3,
};

/**
 * struct morph_accelerator_info - one accelerator, as all users may read it
 * @accelerator: its index
 * @host: index of its host
 * @x: position of its tile
 * @y: position
 * @z: position
 * @use: enum morph_use
 * @health: enum morph_health
 * @cordoned: 1 if the operator has cordoned it
 * @reserved: 0
 * @pci: PCI address, or an empty string
 * @uuid: UUID, or zeros
 * @last_verified_ns: time of the last answered test, CLOCK_BOOTTIME; 0: never
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
 * enum morph_guide_type - what a guide joins
 * @MORPH_GUIDE_TYPE_WAVEGUIDE: parts of one tile or mesh
 * @MORPH_GUIDE_TYPE_TILE: two tiles of a server
 * @MORPH_GUIDE_TYPE_FIBRE: two servers
 * @MORPH_GUIDE_TYPE_EDGE: a server and an edge of the fabric
 */
enum morph_guide_type {
	MORPH_GUIDE_TYPE_WAVEGUIDE = 0,
	MORPH_GUIDE_TYPE_TILE = 1,
	MORPH_GUIDE_TYPE_FIBRE = 2,
	MORPH_GUIDE_TYPE_EDGE = 3,
};

/**
 * enum morph_guide_end - the part at an end of a guide
 * @MORPH_GUIDE_END_ELEMENT: a port of an element
 * @MORPH_GUIDE_END_TRANSMITTER: a transmit port of an accelerator
 * @MORPH_GUIDE_END_RECEIVER: a receive port of an accelerator
 * @MORPH_GUIDE_END_EDGE: an edge of the fabric
 */
enum morph_guide_end {
	MORPH_GUIDE_END_ELEMENT = 0,
	MORPH_GUIDE_END_TRANSMITTER = 1,
	MORPH_GUIDE_END_RECEIVER = 2,
	MORPH_GUIDE_END_EDGE = 3,
};

/**
 * struct morph_guide_info - one guide, as all users may read it
 * @guide: its index
 * @type: enum morph_guide_type
 * @health: enum morph_health
 * @cordoned: 1 if the operator has cordoned it
 * @lanes: mask of the lanes that exist
 * @lanes_free: mask of the lanes without a circuit
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
 * struct morph_element_info - one element, as all users may read it
 * @element: its index
 * @tile: accelerator of its tile, or MORPH_ANY
 * @state: its state
 * @health: enum morph_health
 * @cordoned: 1 if the operator has cordoned it
 * @pins: number of circuits that need this state
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
 * struct morph_edge_info - one edge, where a guide leaves the fabric, as all users may read it
 * @edge: its index
 * @guide: the guide that ends there
 * @peer_uuid: UUID of the fabric at the other side, or zeros if there is none
 * @peer_edge: index of the edge in that fabric
 * @least_mdbm: minimum power per lane that each side must send
 * @most_mdbm: maximum power per lane that each side may send
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
 * @first: in: index of the first entry to read
 * @reserved: must be 0
 * @entries: in/out: the array; the out count is the number of written entries, which is less than
 *           the capacity only at the end (this command never returns EMSGSIZE)
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
 * enum morph_failover - reaction to the failure of a slice's accelerator
 * @MORPH_FAILOVER_AUTOMATIC: the kernel replaces it by a spare
 * @MORPH_FAILOVER_MANUAL: an event; the owner or the operator requests the replacement
 * @MORPH_FAILOVER_NONE: an event, and the slice is degraded
 */
enum morph_failover {
	MORPH_FAILOVER_AUTOMATIC = 0,
	MORPH_FAILOVER_MANUAL = 1,
	MORPH_FAILOVER_NONE = 2,
};

/**
 * enum morph_transit - whether circuits may cross other tenants' tiles
 * @MORPH_TRANSIT_ANY: yes
 * @MORPH_TRANSIT_OWN: only own tiles and free tiles
 */
enum morph_transit {
	MORPH_TRANSIT_ANY = 0,
	MORPH_TRANSIT_OWN = 1,
};

/**
 * enum morph_spares - spares that may replace a slice's accelerators
 * @MORPH_SPARES_HOST: spares on the host of the failed accelerator; if it has none,
 *                       those of spare hosts
 * @MORPH_SPARES_ANY: any spare of the fabric
 * @MORPH_SPARES_LIST: the listed accelerators
 */
enum morph_spares {
	MORPH_SPARES_HOST = 0,
	MORPH_SPARES_ANY = 1,
	MORPH_SPARES_LIST = 2,
};

#define MORPH_SLICE_RESERVED	0x1u	/* hold a spare and lanes for this slice alone */
#define MORPH_SLICE_DRY_RUN	0x2u	/* only check whether it is possible; out_fd is -1 */
#define MORPH_SLICE_LEND	0x4u	/* @accelerators may have spares, lent until a failover */
#define MORPH_SLICE_RING	0x8u	/* with DRY_RUN only: also try a ring of circuits */

/**
 * struct morph_slice_create - MORPH_SLICE_CREATE: create a slice
 * @head: flags: MORPH_SLICE_RESERVED, MORPH_SLICE_DRY_RUN, MORPH_SLICE_LEND, MORPH_SLICE_RING
 * @accelerators: in: __u32 indices in the order of ranks; ptr 0: the kernel chooses
 *                @accelerators.count of them, close to each other
 * @spares: in: __u32 indices, for MORPH_SPARES_LIST; else ptr and count 0
 * @failover: in: enum morph_failover
 * @transit: in: enum morph_transit
 * @spare_policy: in: enum morph_spares
 * @mode: in: permissions of a named slice's node, 0: 0600; must be 0 without a name
 * @name: in: [a-zA-Z0-9_.-]; empty: no name, and the slice ends with its last file
 * @out_fd: out: slice file, close-on-exec
 * @out_slice: out: number of the slice
 * @out_generation: out: its generation
 * @ring_lanes: in: for MORPH_SLICE_RING: wavelengths of each circuit, 0: 1; else 0
 * @reserved: must be 0
 *
 * MORPH_SLICE_RING goes with MORPH_SLICE_DRY_RUN and no other flag. It also tries a circuit from
 * each rank to the next one, and from the last one to the first one.
 *
 * With MORPH_SLICE_LEND, listed spares become ranks. A failover of any slice takes idle spares
 * first, then lent ones. It removes the circuits of the borrower's rank, which gets the failed
 * accelerator in exchange, and is usable again after a test of that accelerator. The borrower's
 * files get MORPH_EVENT_FAILING with the outcome REVOKED, then MORPH_EVENT_DEGRADED. A rank on a
 * lent spare gets no automatic replacement, and no schedule may use it. MORPH_SLICE_RESERVED
 * excludes this flag.
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
	__u32 ring_lanes;
	__u32 reserved;
};

#define MORPH_SLICE_FORCE	0x1u	/* even if open; its files then return ENODEV */

/**
 * struct morph_slice_delete - MORPH_SLICE_DELETE: end a named slice
 * @head: flags: MORPH_SLICE_FORCE
 * @slice: in: its number, or MORPH_ANY to use @name
 * @reserved: must be 0
 * @name: in: its name if @slice is MORPH_ANY, else empty
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
 * @accelerators: in: limit; all bits set, here and below: no limit
 * @circuits: in: limit
 * @lanes: in: limit: lanes of circuits, each counted once
 * @prepared: in: limit: prepared transactions
 * @replacements: in: limit: replacements of each slice in an hour
 * @reserved: must be 0
 * @bytes: in: limit: kernel memory
 * @out_fd: out: fabric file, close-on-exec
 * @out_grant: out: number of the grant
 *
 * The kernel charges the grant, and no user, for actions through the new file and through the
 * files of slices that it creates. A slice belongs to the process that creates it. The grant ends
 * with the last of its files and slices. Allowed to CAP_NET_ADMIN in the initial user namespace.
 * The receiver of the file needs no other permission.
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
 * @MORPH_SLICE_REPAIRING: a failover is running; changes return EAGAIN
 * @MORPH_SLICE_DEGRADED: an accelerator or light is missing; the event says which
 * @MORPH_SLICE_LOST: the fabric has unregistered
 * @MORPH_SLICE_DYING: released; tenants do not see this state
 */
enum morph_slice_state {
	MORPH_SLICE_OK = 0,
	MORPH_SLICE_REPAIRING = 1,
	MORPH_SLICE_DEGRADED = 2,
	MORPH_SLICE_LOST = 3,
	MORPH_SLICE_DYING = 4,
};

/**
 * enum morph_plan_state - state of the protection of a rank
 * @MORPH_PLAN_NONE: no spare can take the rank's place now
 * @MORPH_PLAN_STALE: a resource that it uses has changed; the kernel is rebuilding it
 * @MORPH_PLAN_CURRENT: ready
 * @MORPH_PLAN_RESERVED: ready, and holds its spare and lanes
 */
enum morph_plan_state {
	MORPH_PLAN_NONE = 0,
	MORPH_PLAN_STALE = 1,
	MORPH_PLAN_CURRENT = 2,
	MORPH_PLAN_RESERVED = 3,
};

/**
 * struct morph_rank_info - one rank of a slice
 * @rank: number, constant for the life of the slice
 * @accelerator: its present accelerator
 * @host: its host
 * @health: enum morph_health of the accelerator
 * @plan: enum morph_plan_state
 * @reserved: 0
 * @spare: spare of the protection, or MORPH_ANY
 * @replacements: number of replacements of its accelerator
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
 * @MORPH_CIRCUIT_FAILED: dark because of a hardware failure
 * @MORPH_CIRCUIT_PREPARED: a prepared transaction would add it: its
 *	resources are held, and it is not lit yet
 * @MORPH_CIRCUIT_WAITING: comes in over an edge: ready for the peer's light, which the verification
 *                         of the transaction checks
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
 * @src_rank: sending rank, or MORPH_RANK_EDGE | edge where light comes in
 * @dst_rank: receiving rank, or MORPH_RANK_EDGE | edge where light leaves
 * @src_plane: transmit port; MORPH_PLANE_ANY at an edge
 * @dst_plane: receive port; MORPH_PLANE_ANY at an edge
 * @hops: number of guides on its path
 * @lanes: mask of its wavelengths
 * @bandwidth_mbps: of all its lanes
 * @loss_mdb: loss of the path
 * @margin_mdb: computed margin above the receiver's sensitivity or the edge's minimum
 * @power_mdbm: power at the receiver at the last verification; at an edge computed
 * @isolation_mdb: worst case at validation
 * @dark_ns: dark time in its last change; 0: hitless, or never changed
 * @last_verified_ns: time of the last verification of its light, CLOCK_BOOTTIME
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
 * struct morph_slice_info - MORPH_SLICE_INFO: read a whole slice
 * @head: flags must be 0
 * @slice: out: its number
 * @state: out: enum morph_slice_state
 * @name: out: its name, or an empty string
 * @failover: out: enum morph_failover
 * @transit: out: enum morph_transit
 * @spare_policy: out: enum morph_spares
 * @reserved: out: 1 if it was created with MORPH_SLICE_RESERVED
 * @generation: out: counts changes that the tenant did not request
 * @seq: out: the fabric's seq at the time of reading
 * @events_lost: out: events lost on this file so far
 * @ranks: in/out: struct morph_rank_info, or ptr 0 to learn the count only
 * @circuits: in/out: struct morph_circuit_info, or ptr 0 to learn the count only
 * @owner: out: user id of its owner, in the user namespace of the caller; an owner who has no id
 *         there reads as the overflow id, as in stat(2)
 * @mode: out: permissions of its node, or 0 without a name
 * @files: out: number of its open files, at least 1; 0: the kernel fills neither this field nor
 *         the other ones from @owner on
 * @used_replacements: out: replacements that its owner asked for in this hour
 * @bandwidth_mbps: out: of all its lit circuits
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
	__u32 owner;
	__u32 mode;
	__u32 files;
	__u32 used_replacements;
	__aligned_u64 bandwidth_mbps;
};

/**
 * struct morph_circuit_path - MORPH_CIRCUIT_PATH: path of one circuit; for a circuit of a
 *			       schedule, also while it is dark
 * @head: flags must be 0
 * @circuit: in: its number
 * @reserved: must be 0
 * @guides: in/out: __u32 guides in the direction of light, or ptr 0
 * @elements: in/out: struct morph_path_element between the guides, or ptr 0
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
 * enum morph_change_op - operation on a circuit
 * @MORPH_CHANGE_ADD: light a new circuit
 * @MORPH_CHANGE_REMOVE: darken and delete a circuit
 * @MORPH_CHANGE_MOVE: change the path, planes or lanes of a circuit; its number and
 *                     ranks stay; make before break if lanes allow it
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
 * @src_rank: in: for ADD; MORPH_RANK_EDGE | edge: a half circuit that comes in there
 * @dst_rank: in: for ADD; MORPH_RANK_EDGE | edge: a half circuit that leaves there
 * @src_plane: in: transmit port or MORPH_PLANE_ANY, for ADD and MOVE; out: the one used
 * @dst_plane: in: receive port or MORPH_PLANE_ANY, for ADD and MOVE; out: the one used
 * @lanes_count: in: number of wavelengths; 0: the number in @lanes, or 1
 * @lanes: in: mask of allowed wavelengths, 0: any; out: mask of the used ones
 * @guides: in: __u32 guides in the direction of light: the path; ptr 0: the kernel
 *          finds the path
 * @dark_ns: out: dark time of the circuit; 0: hitless or new
 * @status: out: 0 or a negative errno; ECANCELED: another change of the transaction failed
 * @reason: out: enum morph_reason
 * @part: out: enum morph_part
 * @index: out: index of the part that blocks the change
 *
 * A half circuit has a rank at one end and an edge at the other end. An edge has no planes:
 * use MORPH_PLANE_ANY. The other half belongs to the peer fabric. The peer lights a half circuit
 * that comes in. So this fabric adds and moves it only with MORPH_TXN_PREPARE, and verifies its
 * light with MORPH_TXN_VERIFY or MORPH_TXN_CONFIRM.
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
 * enum morph_outcome - state or result of a transaction
 * @MORPH_OUTCOME_NONE: no change was made
 * @MORPH_OUTCOME_COMMITTED: the light is as requested, verified by read-back
 * @MORPH_OUTCOME_ROLLED_BACK: the light is as before, verified by read-back
 * @MORPH_OUTCOME_BROKEN: hardware failed; affected circuits are FAILED, the failed part
 *                        is quarantined, all other circuits are as before
 * @MORPH_OUTCOME_PREPARED: resources are held under a lease
 * @MORPH_OUTCOME_REVOKED: a failover took the prepared resources
 * @MORPH_OUTCOME_EXPIRED: the lease expired; the light is as before
 * @MORPH_OUTCOME_RUNNING: running
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
#define MORPH_TXN_EACH		0x2u	/* run each change as a separate transaction */
#define MORPH_TXN_PREPARE	0x4u	/* hold resources, commit later by MORPH_TXN_STEP */

/**
 * struct morph_txn_run - MORPH_TXN_RUN: change circuits
 * @head: flags: MORPH_TXN_DRY_RUN, MORPH_TXN_EACH, MORPH_TXN_PREPARE: at most one
 * @changes: in/out: struct morph_change, 1 to 1024
 * @cookie: in: identifier chosen by the caller, 0: none. A call with the cookie of the slice's
 *          last committed transaction, or of a prepared or unconfirmed one, changes nothing and
 *          returns the result of that transaction. Repeated steps of a prepared transaction do
 *          the same. MORPH_TXN_STEP finds a prepared transaction by its cookie
 * @generation: in: expected generation of the slice, ESTALE if it differs;
 *              MORPH_GENERATION_ANY: do not check
 * @lease_ns: in: for PREPARE: duration of the lease, 1 ms to 1 hour
 * @profile_checksum: in: expected CRC-32 of the fabric's profile, ESTALE if it differs; 0: do not
 *                    check
 * @reserved: must be 0
 * @out_txn: out: number of the transaction, for PREPARE
 * @out_outcome: out: enum morph_outcome
 * @out_seq: out: the fabric's seq at the publication
 * @out_generation: out: the slice's generation
 * @out_times: out: time by phase
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
 * enum morph_txn_verb - operation on a prepared transaction
 * @MORPH_TXN_COMMIT: program, light and verify; keep the old configuration reserved
 * @MORPH_TXN_CONFIRM: verify like VERIFY, unless that was done; then free the old
 *                     configuration
 * @MORPH_TXN_REVERT: restore the old configuration, committed or not
 * @MORPH_TXN_QUERY: only report its state
 * @MORPH_TXN_VERIFY: verify that every circuit of a committed transaction is lit,
 *                    including those that come in over an edge. EAGAIN: the light of a peer is
 *                    missing. After a success, CONFIRM does not fail because of missing light. If
 *                    the lease then expires without another step, the light decides: if all
 *                    circuits that come in over edges (at least one) are lit, the kernel confirms
 *                    the transaction, else it reverts it
 */
enum morph_txn_verb {
	MORPH_TXN_COMMIT = 1,
	MORPH_TXN_CONFIRM = 2,
	MORPH_TXN_REVERT = 3,
	MORPH_TXN_QUERY = 4,
	MORPH_TXN_VERIFY = 5,
};

/**
 * struct morph_txn_step - MORPH_TXN_STEP: next step of a prepared transaction
 * @head: flags must be 0
 * @txn: in: its number, or 0: use @cookie; out: its number
 * @verb: in: enum morph_txn_verb
 * @lease_ns: in: for COMMIT and VERIFY: duration of a new lease until the next step; 0: the
 *            previous duration, from now on
 * @out_outcome: out: enum morph_outcome
 * @reserved: must be 0
 * @out_seq: out: the fabric's seq at the publication
 * @out_lease_ns: out: remaining time of the lease
 * @out_times: out: time by phase
 * @cookie: in: with @txn 0: the cookie of its preparation. The process that prepared it may have
 *          exited. The slice keeps the last four prepared transactions that have ended
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
 * struct morph_rank_act - MORPH_RANK_REPORT, MORPH_RANK_REPLACE, MORPH_RANK_PREFER: act on one rank
 * @head: flags must be 0
 * @rank: in: number of the rank
 * @spare: in: for REPLACE: the new accelerator, or MORPH_ANY; for PREFER: the spare to
 *         try first, or MORPH_ANY; for REPORT: 0
 * @out_state: out: enum morph_slice_state afterwards; for PREFER: 0
 * @out_health: out: enum morph_health of the rank's old accelerator; for PREFER: 0
 *
 * REPORT reports a suspicion: the core probes the accelerator, and replaces it if the probe
 * confirms the failure. REPLACE requests a replacement in any case; the quota limits the number
 * for each slice and hour. It also accepts the accelerator that the rank had when the slice was
 * created, once that is healthy again. Both wait for the result. PREFER sets the spare, among those
 * that the slice allows, that a failover tries first. It is valid until the rank has another
 * accelerator.
 */
struct morph_rank_act {
	struct morph_head head;
	__u32 rank;
	__u32 spare;
	__u32 out_state;
	__u32 out_health;
};

/**
 * struct morph_slice_policy - MORPH_SLICE_POLICY: change the reaction to failures
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
 * enum morph_advance - event that begins a step of a schedule
 * @MORPH_ADVANCE_CALL: MORPH_SCHEDULE_GO
 * @MORPH_ADVANCE_BARRIER: all ranks with a changed circuit have finished the previous step:
 *			   MORPH_SCHEDULE_ARRIVE
 * @MORPH_ADVANCE_TIME: a given time after the previous step was lit
 */
enum morph_advance {
	MORPH_ADVANCE_CALL = 0,
	MORPH_ADVANCE_BARRIER = 1,
	MORPH_ADVANCE_TIME = 2,
};

/**
 * struct morph_schedule_circuit - a circuit of a schedule, lit in some of its steps
 * @src_rank: in: sending rank
 * @dst_rank: in: receiving rank
 * @src_plane: in: transmit port or MORPH_PLANE_ANY
 * @dst_plane: in: receive port or MORPH_PLANE_ANY
 * @lanes_count: in: number of wavelengths; 0: the number in @lanes, or 1
 * @lanes: in: mask of allowed wavelengths, 0: any
 * @first_guide: in: position of its path in struct morph_schedule_load.guides; 0 without a path
 * @guides_count: in: number of guides on its path, in the direction of light; 0: the kernel finds
 *                the path
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
 * struct morph_schedule_step - a step of a schedule: its circuits, and its beginning
 * @first: in: position of its circuits in struct morph_schedule_load.held
 * @count: in: number of its circuits; 0: the step is dark
 * @advance: in: enum morph_advance; for the first step only used if the schedule is a loop
 * @reserved: must be 0
 * @after_ns: in: for MORPH_ADVANCE_TIME: time after the previous step was lit; else 0
 * @deadline_ns: in: maximum time from the lighting of the previous step; if the step has not begun
 *		 by then, the schedule stops. 0: no limit
 */
struct morph_schedule_step {
	__u32 first;
	__u32 count;
	__u32 advance;
	__u32 reserved;
	__aligned_u64 after_ns;
	__aligned_u64 deadline_ns;
};

#define MORPH_SCHEDULE_LOOP	0x1u	/* the first step follows the last one */

#define MORPH_SCHEDULE_MOST_CIRCUITS	32768u
#define MORPH_SCHEDULE_MOST_GUIDES	1048576u
#define MORPH_SCHEDULE_MOST_HELD	262144u	/* for all schedules of a slice */
#define MORPH_SCHEDULE_MOST_STEPS	8192u

/**
 * struct morph_schedule_load - MORPH_SCHEDULE_LOAD: load a schedule and hold its resources
 * @head: flags: MORPH_SCHEDULE_LOOP
 * @circuits: in: struct morph_schedule_circuit
 * @guides: in: __u32 guides of paths, one path after the other; or ptr 0
 * @held: in: __u32 positions in @circuits, step by step
 * @steps: in: struct morph_schedule_step, in order
 * @generation: in: expected generation of the slice, ESTALE if it differs;
 *              MORPH_GENERATION_ANY: do not check
 * @profile_checksum: in: expected CRC-32 of the fabric's profile, ESTALE if it differs; 0: do not
 *                    check
 * @reserved: must be 0
 * @out_schedule: out: its number within the slice
 * @out_circuit: out: number of the first of @circuits within the slice; the others have
 *                the next numbers
 * @out_wrong_step: out: on failure: the refused step, or MORPH_ANY
 * @out_wrong_circuit: out: on failure: position of the refused circuit in @circuits, or
 *                     MORPH_ANY
 *
 * From now on the schedule holds the resources of all its steps, so no step fails for lack of
 * lanes. No other slice may use elements that the steps need in different states. No circuit is
 * lit before MORPH_SCHEDULE_START. The kernel validates all circuits of a step together, like
 * those of a transaction. They count in the user's quotas, lit or dark. Only its steps change a
 * circuit of a schedule. Steps connect ranks, not edges.
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
 * enum morph_schedule_state - state of a schedule
 * @MORPH_SCHEDULE_LOADED: none of its circuits is lit
 * @MORPH_SCHEDULE_RUNNING: a step is lit, and the schedule continues
 * @MORPH_SCHEDULE_STOPPED: a step failed or missed its deadline, or a repair found no paths;
 *	circuits that were lit stay lit
 */
enum morph_schedule_state {
	MORPH_SCHEDULE_LOADED = 0,
	MORPH_SCHEDULE_RUNNING = 1,
	MORPH_SCHEDULE_STOPPED = 2,
};

/**
 * enum morph_schedule_verb - operation on a schedule
 * @MORPH_SCHEDULE_START: light @step, which becomes position 1; also after a stop
 * @MORPH_SCHEDULE_GO: light the next step if its position is @position; do nothing if it is lit
 *		       already; @position 0: the next step, at any position
 * @MORPH_SCHEDULE_ARRIVE: @rank has finished position @position; does not wait
 * @MORPH_SCHEDULE_WAIT: wait until position @position is lit
 * @MORPH_SCHEDULE_STOP: darken all circuits
 * @MORPH_SCHEDULE_UNLOAD: darken all circuits, and release all resources
 * @MORPH_SCHEDULE_JUMP: like GO, but light @step instead of the next step, whatever begins it; then
 *			 continue with its successor
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
 * struct morph_schedule_act - MORPH_SCHEDULE_ACT: control a schedule
 * @head: flags must be 0
 * @schedule: in: its number
 * @verb: in: enum morph_schedule_verb
 * @step: in: for START and JUMP; else 0
 * @rank: in: for ARRIVE; else 0
 * @position: in: for GO, JUMP, ARRIVE and WAIT, else 0. Positions count the steps that were lit
 *	      since START, so a repeated request does not light two steps
 * @out_position: out: position of the lit step
 * @out_step: out: number of the lit step
 * @out_state: out: enum morph_schedule_state
 * @out_seq: out: the fabric's seq when the step was lit
 * @out_times: out: for START, GO, JUMP and STOP: time of the change by phase
 *
 * WAIT returns ECANCELED if the schedule stops or is unloaded, and EINTR after a signal. While a
 * repair moves circuits of the slice, START, GO, JUMP, STOP and UNLOAD return EAGAIN. Steps that a
 * barrier or time begins continue after the repair.
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
 * struct morph_schedule_step_info - costs of a step, summed over its runs
 * @circuits: number of its circuits
 * @changes: number of circuits that differ from the previous step
 * @ahead: number of new circuits that can be lit while the previous step runs
 * @late: number of runs that were lit after their deadline
 * @runs: number of runs
 * @wait_ns: from the previous step to the beginning of this one
 * @program_ns: sending settings to the device
 * @settle_ns: waiting for optical power
 * @relock_ns: waiting for receivers to lock
 * @verify_ns: reading back
 * @late_ns: for MORPH_ADVANCE_TIME: delay of the beginning
 * @longest_ns: longest time of a run from its beginning until it was lit
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
 * @schedule: in: lowest number to read; out: number of the schedule found. ENOENT after the
 *            last one
 * @state: out: enum morph_schedule_state
 * @flags: out: MORPH_SCHEDULE_LOOP
 * @step: out: the step that is lit, or MORPH_ANY
 * @position: out: number of steps that were lit since START
 * @error: out: negative errno with which it stopped, or 0
 * @failed_step: out: the step that it stopped at, or MORPH_ANY
 * @circuits: out: number of its circuits
 * @lit: out: number of lit ones
 * @moved: out: number of circuits that repairs have rerouted
 * @first_circuit: out: number of its first circuit within the slice
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
 * DOC: Queues
 *
 * A queue (MORPH_RING_*) is memory that a slice's programs, or their devices, share with a polling
 * kernel thread. Submissions request steps of a schedule, and completions return the results. An
 * entry has two 8-byte words with a lap bit each, and is complete if both bits have the expected
 * value. So a 16-byte write need not be atomic. The bit is set on the first pass through the
 * array, clear on the second, and so on. Only these words order accesses to the entries.
 *
 * * submission, word 0: lap, operation (7 bits), tag (24), rank or step (32)
 * * submission, word 1: lap, 15 bits that must be zero, position (48)
 * * completion, word 0: lap, operation, tag, error (32): 0 or a positive errno
 * * completion, word 1: lap, 15 bits zero, position of the lit step (48)
 *
 * A program maps it from the slice file at offset MORPH_RING_OFFSET(ring) with the length
 * MORPH_RING_BYTES(entries). It has struct morph_ring_page, then the submissions at
 * MORPH_RING_ENTRIES, then the completions. Or it is the caller's own memory, which the kernel
 * pins for the life of the queue. Entries can only request operations that the slice permits.
 * A malformed entry stops the queue.
 */
#define MORPH_RING_LAP		0x8000000000000000ULL
#define MORPH_RING_OP_SHIFT	56
#define MORPH_RING_TAG_SHIFT	32
#define MORPH_RING_TAGS		0x1000000u
#define MORPH_RING_POSITIONS	0x1000000000000ULL
#define MORPH_RING_ENTRIES	4096u	/* offset of the entries */
#define MORPH_RING_LEAST	8u
#define MORPH_RING_MOST		4096u
#define MORPH_RING_BYTES(entries) \
	(MORPH_RING_ENTRIES + ((32u * (entries) + 4095u) & ~4095u))
#define MORPH_RING_OFFSET(ring)	((__u64)(ring) << 24)

/**
 * enum morph_ring_op - operation of a submission
 * @MORPH_RING_NOP: only a completion
 * @MORPH_RING_GO: like MORPH_SCHEDULE_GO
 * @MORPH_RING_ARRIVE: like MORPH_SCHEDULE_ARRIVE
 * @MORPH_RING_JUMP: like MORPH_SCHEDULE_JUMP
 */
enum morph_ring_op {
	MORPH_RING_NOP = 0,
	MORPH_RING_GO = 1,
	MORPH_RING_ARRIVE = 2,
	MORPH_RING_JUMP = 3,
};

/**
 * struct morph_ring_entry - a submission or a completion
 * @words: see "Queues" above
 */
struct morph_ring_entry {
	__aligned_u64 words[2];
};

/**
 * enum morph_ring_state - state of a queue
 * @MORPH_RING_RUNNING: the kernel thread takes submissions
 * @MORPH_RING_STOPPED: stopped by a malformed entry or a wrong count of completions
 * @MORPH_RING_GONE: the slice has ended, or the queue was closed
 */
enum morph_ring_state {
	MORPH_RING_RUNNING = 0,
	MORPH_RING_STOPPED = 1,
	MORPH_RING_GONE = 2,
};

/**
 * struct morph_ring_page - first page of a queue
 * @state: kernel: enum morph_ring_state
 * @asleep: kernel: 1 if the thread sleeps until MORPH_RING_WAKE
 * @taken: kernel: submissions taken so far, modulo 2^32: their entries are free
 * @answered: kernel: completions written so far, modulo 2^32
 * @reserved: 0
 * @seen: program: completions read so far, modulo 2^32: their entries are free
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

#define MORPH_RING_USER		0x1u	/* in the caller's own memory */

/**
 * struct morph_ring_setup - MORPH_RING_SETUP: create a queue for a schedule
 * @head: flags: MORPH_RING_USER
 * @schedule: in: number of the schedule
 * @entries: in: number of entries of each kind, a power of two from MORPH_RING_LEAST to
 *	     MORPH_RING_MOST
 * @idle_ns: in: polling time of the thread after the last entry, before it sleeps; at most a
 *	     second; 0: a millisecond
 * @rate: in: maximum entries per second, 0: 1000000; further entries wait
 * @user_ptr: in: with MORPH_RING_USER: page-aligned address; else 0
 * @out_ring: out: its number within the slice
 * @reserved: must be 0
 *
 * The queue lives until the file that created it is closed, or until MORPH_RING_CLOSE.
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
 * enum morph_ring_verb - operation on a queue
 * @MORPH_RING_WAKE: wake the thread
 * @MORPH_RING_CLOSE: take no more entries; the memory stays mapped
 * @MORPH_RING_QUERY: only report
 */
enum morph_ring_verb {
	MORPH_RING_WAKE = 1,
	MORPH_RING_CLOSE = 2,
	MORPH_RING_QUERY = 3,
};

/**
 * struct morph_ring_act - MORPH_RING_ACT: act on one queue
 * @head: flags must be 0
 * @ring: in: its number
 * @verb: in: enum morph_ring_verb
 * @out_state: out: enum morph_ring_state
 * @out_error: out: negative errno that stopped it, or 0
 * @out_taken: out: number of entries taken
 * @out_sleeps: out: number of sleeps of the thread
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
 * struct morph_state_pair - circuits from one rank to another
 * @generation: counts changes of the lit circuits between the two
 * @hops: number of guides of the circuit that was lit last, 0: none is lit
 * @mbps: bandwidth of all lit circuits
 */
struct morph_state_pair {
	__u32 generation;
	__u32 hops;
	__aligned_u64 mbps;
};

/**
 * struct morph_state_page - state of a slice, for reading without a system call
 * @version: odd during a write: read it before and after, and repeat if it differs
 * @ranks: number of ranks of the slice
 * @schedule: number of the schedule that last started or lit a step; if none runs, of the
 *            one that stopped last; or 0
 * @generation: of the slice
 * @step: lit step of that schedule, or MORPH_ANY
 * @state: enum morph_schedule_state of that schedule
 * @position: its position
 * @settle_ns: nominal time of a change until light arrives
 * @relock_ns: further nominal time until receivers have locked
 *
 * An array of struct morph_state_pair follows, with the pair of two ranks at sender * @ranks +
 * receiver. Map it read-only from offset 0 of the slice file, with the length
 * MORPH_STATE_BYTES(ranks * ranks). Profiles contain no lengths: a reader that knows the guides
 * can compute the time of flight from @hops.
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
 * enum morph_controller_state - state of a controller
 * @MORPH_CONTROLLER_ACTIVE: its lease is valid
 * @MORPH_CONTROLLER_EXPIRED: its lease has expired; circuits stay, but the core refuses its changes
 *                            until a program takes control with a higher epoch
 * @MORPH_CONTROLLER_GONE: it was dropped
 */
enum morph_controller_state {
	MORPH_CONTROLLER_ACTIVE = 0,
	MORPH_CONTROLLER_EXPIRED = 1,
	MORPH_CONTROLLER_GONE = 2,
};

/* -------------------------------------------------------------------- events */

/**
 * enum morph_event_type - kinds of events for a slice's owner
 * @MORPH_EVENT_LOST: events were lost, @lost of them; read the slice again
 * @MORPH_EVENT_FAILING: a rank's accelerator failed; sent at once
 * @MORPH_EVENT_REPLACED: a spare has replaced it, and the light is verified
 * @MORPH_EVENT_DEGRADED: a repair could not restore the slice; @part and @index name the failed
 *                        part, @bandwidth_mbps the remaining bandwidth; sent again if a
 *                        later repair ends with another bandwidth
 * @MORPH_EVENT_RECOVERED: the slice is OK again
 * @MORPH_EVENT_CIRCUIT_FAILED: a circuit is dark
 * @MORPH_EVENT_CIRCUIT_MOVED: the core rerouted a circuit around failed hardware
 * @MORPH_EVENT_TXN: a transaction ended; @outcome has the result
 * @MORPH_EVENT_SLICE_GONE: the slice was deleted
 * @MORPH_EVENT_FABRIC_GONE: the provider has unregistered
 * @MORPH_EVENT_SCHEDULE: schedule @txn has stopped at step @circuit (@outcome ROLLED_BACK or
 *                        BROKEN), or a repair has changed its paths (COMMITTED)
 * @MORPH_EVENT_RING: queue @txn has stopped at a malformed entry, its submission @circuit
 * @MORPH_EVENT_CIRCUIT_CHANGING: a change or a repair darkens @circuit next, or its light is lost:
 *                                @rank must pause. On fabrics that are not simulated only
 * @MORPH_EVENT_CIRCUIT_LIT: the light of @circuit is verified: @rank may send. On fabrics that are
 *                           not simulated only
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
	MORPH_EVENT_CIRCUIT_CHANGING = 13,
	MORPH_EVENT_CIRCUIT_LIT = 14,
};

/**
 * struct morph_event - one record of read() on a slice file
 * @size: size of this record; the distance of records
 * @type: enum morph_event_type
 * @seq: the fabric's seq: later queries return this state or a later one
 * @generation: the slice's generation
 * @time_ns: time of the event, CLOCK_BOOTTIME
 * @slice: number of the slice
 * @state: enum morph_slice_state afterwards
 * @rank: affected rank, or MORPH_ANY; for CIRCUIT_CHANGING and CIRCUIT_LIT: the sending rank
 * @circuit: affected circuit, or MORPH_ANY; for SCHEDULE: step that has stopped or is lit
 * @txn: transaction, or 0; for SCHEDULE: number of the schedule
 * @outcome: enum morph_outcome; for FAILING: REVOKED if a failover took the lent spare of the rank;
 *	for DEGRADED: REVOKED as long as a rank of the slice lacks a lent spare for this reason
 * @part: enum morph_part of the failed part
 * @index: index of that part
 * @old_accelerator: for FAILING, REPLACED and CIRCUIT_CHANGING, else MORPH_ANY
 * @new_accelerator: for REPLACED and CIRCUIT_LIT, else MORPH_ANY
 * @old_host: host of the old accelerator
 * @new_host: host of the new one
 * @old_pci: PCI address of the old accelerator
 * @new_pci: of the new one
 * @old_uuid: UUID of the old accelerator
 * @new_uuid: of the new one
 * @lost: for LOST: number of lost events
 * @bandwidth_mbps: bandwidth of the slice's lit circuits
 * @dark_ns: for REPLACED and CIRCUIT_MOVED: longest dark time of a circuit
 * @times: for REPLACED, CIRCUIT_MOVED, TXN and SCHEDULE: time by phase
 *
 * read() returns EINVAL if the buffer is smaller than a record of the first version. On a
 * non-blocking file without events it returns EAGAIN.
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

/* Commands of the fabric file. */
#define MORPH_FABRIC_INFO		_IOWR(MORPH_IOC, 0x00, struct morph_fabric_info)
#define MORPH_FABRIC_READ_ACCELERATORS	_IOWR(MORPH_IOC, 0x01, struct morph_fabric_read)
#define MORPH_FABRIC_READ_GUIDES	_IOWR(MORPH_IOC, 0x02, struct morph_fabric_read)
#define MORPH_FABRIC_READ_ELEMENTS	_IOWR(MORPH_IOC, 0x03, struct morph_fabric_read)
#define MORPH_SLICE_CREATE		_IOWR(MORPH_IOC, 0x04, struct morph_slice_create)
#define MORPH_SLICE_DELETE		_IOWR(MORPH_IOC, 0x05, struct morph_slice_delete)
#define MORPH_GRANT_CREATE		_IOWR(MORPH_IOC, 0x06, struct morph_grant_create)
#define MORPH_FABRIC_READ_EDGES		_IOWR(MORPH_IOC, 0x07, struct morph_fabric_read)

/* Commands of the slice file; INFO and READ_* of the fabric work there too. */
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
