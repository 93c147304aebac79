/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The provider interface: what a driver of one kind of fabric tells the core,
 * and what the core asks of it.
 *
 * A provider knows elements, lasers, receivers and their signals. It never sees
 * a circuit, a slice or a tenant. Ports are numbered accelerator * planes + plane.
 *
 * Operations are submitted and complete: either inline, by returning 0 or a
 * negative errno, or later, by returning -EINPROGRESS and calling
 * morph_fabric_complete() once with the same cookie. Arrays that the core hands
 * down are valid until the operation returns, never longer: a provider that
 * completes later copies what it needs and passes results to
 * morph_fabric_complete(). The core owns the deadline (the profile's deadline_ns);
 * after it the cookie is dead, and a late completion is counted and discarded.
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
 * @lanes: mask of the lanes whose laser shall be on; all others go off
 */
struct morph_laser_setting {
	u32 port;
	u64 lanes;
};

/**
 * struct morph_laser_reading - what a transmit port's monitor diodes show
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
 * struct morph_receiver_reading - what a receive port shows
 * @port: in: receive port
 * @reserved: zero
 * @lanes: in: mask of the lanes asked for
 * @lit: out: those whose power is above the profile's dark_mdbm
 * @locked: out: those whose receiver is locked
 * @min_mdbm: out: least power among @lanes
 * @max_mdbm: out: greatest power among @lanes
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
 * struct morph_probe - is an accelerator alive
 * @accelerator: in: index in the profile
 * @alive: out: 1 when it answered its heartbeat, else 0
 */
struct morph_probe {
	u32 accelerator;
	u32 alive;
};

/**
 * struct morph_identity - by what the world knows an accelerator
 * @pci: PCI address as in lspci -D, or an empty string
 * @uuid: UUID, or zeros
 */
struct morph_identity {
	char pci[16];
	u8 uuid[16];
};

/**
 * struct morph_fabric_ops - what a provider does
 * @owner: module to pin while a slice exists
 * @set_elements: program element states; all of the array or an error
 * @get_elements: read back the states that the elements really have
 * @set_lasers: switch lasers
 * @get_lasers: read the monitor diodes
 * @get_receivers: read receivers
 * @probe: ask accelerators for their heartbeat
 * @wait: (optional) complete after @ns of the device's own time; without it the
 *        core sleeps. A simulated device with a stepped clock needs it.
 * @identify: (optional) tell an accelerator's PCI address and UUID, each as it is now;
 *            called at registration, and when an accelerator is tested, to see that it
 *            is the same one; must not sleep for the device
 *
 * All operations run in process context, outside every lock of the core but the
 * SRCU read section that keeps the provider registered; several may be in
 * flight at once, for disjoint elements and ports. They must not wait for the
 * device: return -EINPROGRESS instead. A set that fails or times out may have
 * been carried out in part; the core finds out by reading back.
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
 * enum morph_signal_type - what hardware can show unasked
 * @MORPH_SIGNAL_HEARTBEAT: index: accelerator; value: 0 lost, 1 back
 * @MORPH_SIGNAL_RECEIVER: index: receive port; lanes: those concerned; value: 0
 *	power or lock lost, 1 back
 * @MORPH_SIGNAL_LASER: index: transmit port; lanes: those concerned; value: 0
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
 * @index: what it is about
 * @lanes: lanes concerned, where the type says so
 * @value: as the type says
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
 * struct morph_fabric_desc - what a fabric is registered with
 * @name: for people, at most 31 characters of [a-zA-Z0-9_.:-]
 * @uuid: stable identity of this piece of hardware, not all zeros
 * @profile: the device profile (kmod/optics/profile.h), read during the call only
 * @profile_bytes: its size
 * @peers: by edge: UUID of the fabric at the other side, read during the call only; NULL:
 *         as the profile says
 * @simulated: the hardware is simulated; shown to everybody, so that nobody takes
 *             its times for measured ones
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

/* The signal entry points: callable from any context. */
void morph_fabric_complete(struct morph_fabric *fabric, u64 cookie, int status,
			   const void *results, size_t bytes);
void morph_fabric_signal(struct morph_fabric *fabric, const struct morph_signal *signals,
			 u32 count);

#endif /* MORPH_PROVIDER_H */
