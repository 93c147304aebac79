/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The provider interface: the operations that the driver of one kind of fabric (the
 * provider) implements, and the functions of the core that it calls.
 *
 * A provider knows elements, lasers, receivers and their signals. It never sees
 * a circuit, a slice or a tenant. Ports are numbered accelerator * planes + plane.
 *
 * The core submits an operation, and the provider completes it. It completes inline by
 * returning 0 or a negative errno. To complete later, it returns -EINPROGRESS and calls
 * morph_fabric_complete() once with the same cookie. An array that the core passes to
 * an operation is valid only until the operation returns. A provider that completes
 * later must copy the arguments that it needs, and must pass results to
 * morph_fabric_complete(). The core watches the deadline (deadline_ns of the profile).
 * After the deadline the cookie is invalid, and the core counts and discards a late
 * completion.
 */
#ifndef MORPH_PROVIDER_H
#define MORPH_PROVIDER_H

#include <linux/types.h>

struct device;
struct module;
struct morph_fabric;

/**
 * struct morph_element_setting - an element and a state of its kind
 * @element: index in the profile
 * @state: state to take, or state read back
 */
struct morph_element_setting {
	u32 element;
	u32 state;
};

/**
 * struct morph_laser_setting - the lasers of one transmit port
 * @port: transmit port
 * @lanes: mask of the lanes whose lasers must be on; the provider switches all others off
 */
struct morph_laser_setting {
	u32 port;
	u64 lanes;
};

/**
 * struct morph_laser_reading - reading of a transmit port's monitor diodes
 * @port: in: transmit port
 * @lanes: out: mask of the lanes that emit at healthy power
 * @weak: out: mask of the lanes that emit, but below healthy power
 * @active: out: non-zero while the accelerator drives data, or idle patterns, into the
 *          port; without it no receiver locks
 */
struct morph_laser_reading {
	u32 port;
	u32 active;
	u64 lanes;
	u64 weak;
};

/**
 * struct morph_receiver_reading - reading of a receive port
 * @port: in: receive port
 * @reserved: zero
 * @lanes: in: mask of the lanes to read
 * @lit: out: mask of the lanes whose power is above the profile's dark_mdbm
 * @locked: out: mask of the lanes whose receiver is locked
 * @min_mdbm: out: lowest power among @lanes
 * @max_mdbm: out: highest power among @lanes
 */
struct morph_receiver_reading {
	u32 port;
	u32 reserved;
	u64 lanes;
	u64 lit;
	u64 locked;
	s32 min_mdbm;
	s32 max_mdbm;
};

/**
 * struct morph_probe - heartbeat of an accelerator
 * @accelerator: in: index in the profile
 * @alive: out: 1 if the accelerator answered, else 0
 */
struct morph_probe {
	u32 accelerator;
	u32 alive;
};

/**
 * struct morph_identity - PCI address and UUID of an accelerator
 * @pci: PCI address as in lspci -D, or an empty string
 * @uuid: UUID, or zeros
 */
struct morph_identity {
	char pci[16];
	u8 uuid[16];
};

/**
 * struct morph_fabric_ops - operations of a provider
 * @owner: module to pin while a slice exists
 * @set_elements: program element states; either all entries of the array, or return an error
 * @get_elements: read back the states of elements from the device
 * @set_lasers: switch lasers on and off
 * @get_lasers: read the monitor diodes
 * @get_receivers: read receivers
 * @probe: read the heartbeat of accelerators
 * @wait: (optional) complete after @ns of the device's own time; without it the
 *        core sleeps. A simulated device whose clock advances in steps needs this operation.
 * @identify: (optional) return the present PCI address and UUID of an accelerator.
 *            The core calls it at registration, and when it tests an accelerator, to
 *            detect a replaced one; must not wait for the device
 *
 * The core calls all operations in process context. The caller holds no lock of the
 * core except the SRCU read section that keeps the provider registered. Several
 * operations may be in flight at once, for disjoint elements and ports. They must not
 * wait for the device: return -EINPROGRESS instead. If a set operation fails or times
 * out, the device may have changed some of the entries; the core reads the states back.
 */
struct morph_fabric_ops {
	struct module *owner;
	int (*set_elements)(struct morph_fabric *fabric, u64 cookie,
			    const struct morph_element_setting *settings, u32 count);
	int (*get_elements)(struct morph_fabric *fabric, u64 cookie,
			    struct morph_element_setting *settings, u32 count);
	int (*set_lasers)(struct morph_fabric *fabric, u64 cookie,
			  const struct morph_laser_setting *settings, u32 count);
	int (*get_lasers)(struct morph_fabric *fabric, u64 cookie,
			  struct morph_laser_reading *readings, u32 count);
	int (*get_receivers)(struct morph_fabric *fabric, u64 cookie,
			     struct morph_receiver_reading *readings, u32 count);
	int (*probe)(struct morph_fabric *fabric, u64 cookie, struct morph_probe *probes,
		     u32 count);
	int (*wait)(struct morph_fabric *fabric, u64 cookie, u64 ns);
	void (*identify)(struct morph_fabric *fabric, u32 accelerator,
			 struct morph_identity *identity);
};

/**
 * enum morph_signal_type - kinds of signals that hardware sends on its own
 * @MORPH_SIGNAL_HEARTBEAT: index: accelerator; value: 0 lost, 1 back
 * @MORPH_SIGNAL_RECEIVER: index: receive port; lanes: the lanes concerned; value: 0
 *	power or lock lost, 1 back
 * @MORPH_SIGNAL_LASER: index: transmit port; lanes: the lanes concerned; value: 0
 *	monitor reads low or dark though switched on, 1 healthy again
 * @MORPH_SIGNAL_ELEMENT: index: element; value: 0 drive alarm, 1 cleared
 * @MORPH_SIGNAL_TEMPERATURE: value: millidegrees Celsius of the interposer
 */
enum morph_signal_type {
	MORPH_SIGNAL_HEARTBEAT,
	MORPH_SIGNAL_RECEIVER,
	MORPH_SIGNAL_LASER,
	MORPH_SIGNAL_ELEMENT,
	MORPH_SIGNAL_TEMPERATURE,
};

/**
 * struct morph_signal - one signal of the hardware
 * @type: enum morph_signal_type
 * @index: index of the affected part; the type determines its kind
 * @lanes: affected lanes, if the type uses them
 * @value: meaning depends on the type
 * @since_ns: CLOCK_MONOTONIC time at which the hardware showed it, 0 for now;
 *            the time from then to the core's reaction is reported as "detect"
 */
struct morph_signal {
	u32 type;
	u32 index;
	u64 lanes;
	s32 value;
	u64 since_ns;
};

/**
 * struct morph_fabric_desc - description of a fabric for its registration
 * @name: for display, at most 31 characters of [a-zA-Z0-9_.:-]
 * @uuid: stable identity of this piece of hardware, not all zeros
 * @profile: the device profile (kmod/optics/profile.h), read during the call only
 * @profile_bytes: its size
 * @peers: UUID of the fabric at the other side of each edge, read during the call only;
 *         NULL: the UUIDs in the profile
 * @simulated: the hardware is simulated; all interfaces report this, so that users do not take
 *             simulated times for measured ones
 */
struct morph_fabric_desc {
	const char *name;
	u8 uuid[16];
	const void *profile;
	size_t profile_bytes;
	const u8 (*peers)[16];
	bool simulated;
};

struct morph_fabric *morph_fabric_alloc(struct device *parent, const struct morph_fabric_ops *ops,
					void *priv);
void morph_fabric_put(struct morph_fabric *fabric);
void *morph_fabric_priv(struct morph_fabric *fabric);

int morph_fabric_register(struct morph_fabric *fabric, const struct morph_fabric_desc *desc);
void morph_fabric_unregister(struct morph_fabric *fabric);
void morph_fabric_shutdown(struct morph_fabric *fabric);
bool morph_fabric_is_lit(struct morph_fabric *fabric);
void morph_fabric_resume(struct morph_fabric *fabric);

/* The functions that report signals. They may be called from any context. */
void morph_fabric_complete(struct morph_fabric *fabric, u64 cookie, int status,
			   const void *results, size_t bytes);
void morph_fabric_signal(struct morph_fabric *fabric, const struct morph_signal *signals,
			 u32 count);

#endif /* MORPH_PROVIDER_H */
