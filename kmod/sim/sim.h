/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated provider: instances, their hardware, time, faults.
 *
 * Locks. The spinlock *sim_hardware.lock, taken with interrupts off, guards the hardware of
 * a device: physical state, event queue, stepped clock, faults and their log. All devices
 * with edges share one such lock, because the tracer follows light from one into the other.
 * The lock is held for a few elements, one receiver or one fault at a time (the patrol: a few
 * receivers), and never while the core is called.
 *
 * control_mutex serialises writers to debugfs, and so advances of a stepped clock. It is
 * taken before *sim_hardware.lock. sim_group.lock of configfs guards the configuration of an
 * instance and its transition to live. It is taken before the device lock.
 */
#ifndef MORPH_SIM_H
#define MORPH_SIM_H

#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>

#include "fault.h"
#include "morph_provider.h"
#include "physics.h"

#define SIM_FROM_PROFILE	U64_MAX		/* a time that is not overridden */
#define SIM_MAX_NS		(24ULL * 3600 * NSEC_PER_SEC)
#define SIM_PCI_BYTES		4096
#define SIM_PEER_BYTES		2048
#define SIM_FAULTS_BYTES	256
#define SIM_MAX_TOUCHED		MORPH_MAX_PLANES
#define SIM_LOG_ENTRIES		512
#define SIM_MAX_FAULTS		1024
#define SIM_STEPPED_START	NSEC_PER_SEC	/* start of a stepped clock */

enum sim_clock {
	SIM_CLOCK_REAL,		/* CLOCK_MONOTONIC and an hrtimer */
	SIM_CLOCK_STEPPED,	/* time passes when a test advances it */
	SIM_CLOCK_SKIPPING,	/* stepped; each request advances it to its end */
};

/* The configuration of an instance. */
struct sim_config {
	char profile[32];
	u64 seed;
	u64 settle_ns;		/* these three: SIM_FROM_PROFILE, or a replacement */
	u64 relock_ns;
	u64 write_ns;		/* of a whole request, whatever its size */
	u64 monitor_ns;		/* from a loss to its alarm */
	enum sim_clock clock;
	bool alarm_commanded;	/* alarms also for light that the core removes */
	uuid_t uuid;		/* null: derived from the name */
	char pci[SIM_PCI_BYTES];	/* "accelerator=address ..." */
	char peer[SIM_PEER_BYTES];	/* "uuid", "edge=uuid ..." */
	char start_faults[SIM_FAULTS_BYTES];	/* lines of sim_fault_line(), with ';' between */
};

enum sim_event_type {
	SIM_EVENT_REQUEST,
	SIM_EVENT_RECEIVER_LOST,
	SIM_EVENT_RECEIVER_BACK,
	SIM_EVENT_LASER_LOST,
	SIM_EVENT_LASER_BACK,
	SIM_EVENT_HEARTBEAT,
	SIM_EVENT_FAULT,
	SIM_EVENT_PATROL,
};

/* An event that happens when the clock reaches its node's time. */
struct sim_event {
	struct timerqueue_node node;
	enum sim_event_type type;
};

/* A signal on its way to the core. */
struct sim_alarm {
	struct sim_event event;
	u32 index;
	s32 value;
	u64 lanes;
	u64 since;
};

/* The alarms of one port: loss and return. */
struct sim_port_alarms {
	struct sim_alarm receiver_lost;
	struct sim_alarm receiver_back;
	struct sim_alarm laser_lost;
	struct sim_alarm laser_back;
};

enum sim_request_type {
	SIM_REQUEST_ELEMENTS,
	SIM_REQUEST_LASERS,
	SIM_REQUEST_WAIT,
};

/* An operation of the core that completes later. */
struct sim_request {
	struct sim_event event;
	u64 cookie;
	enum sim_request_type type;
	int status;
	u32 count;		/* settings to execute */
	union {
		DECLARE_FLEX_ARRAY(struct morph_element_setting, elements);
		DECLARE_FLEX_ARRAY(struct morph_laser_setting, lasers);
	};
};

/* Counters of requests of the core, shown in debugfs. */
struct sim_counters {
	u64 set_elements;
	u64 get_elements;
	u64 set_lasers;
	u64 get_lasers;
	u64 get_receivers;
	u64 probes;
	u64 waits;
	u64 elements_written;
	u64 lasers_written;
	u64 receivers_read;
	u64 completed;
	u64 in_flight;
	u64 refused;
	u64 signals;
};

/* Readings, before a change, of the receivers that it may touch. */
struct sim_change {
	u64 now;
	u32 count;
	bool commanded;		/* by the core: only receivers of peers matter */
	struct sim_optics *optics[SIM_MAX_TOUCHED];
	u32 ports[SIM_MAX_TOUCHED];
	struct sim_reading before[SIM_MAX_TOUCHED];
};

struct sim_log_entry {
	u64 now;
	u64 operation;
	char text[SIM_FAULT_BYTES + 16];
};

/* A powered device: probe creates it, remove frees it. */
struct sim_hardware {
	struct sim_instance *instance;
	struct morph_fabric *fabric;
	const struct sim_config *config;
	struct sim_optics optics;
	u64 write_fixed_ns;
	u64 write_each_ns;
	u64 monitor_ns;

	spinlock_t own_lock;		/* used if there are no edges */
	spinlock_t *lock;		/* guards the fields below: own_lock, or that of edges */
	struct morph_identity *identities;	/* by accelerator */
	struct list_head edge_node;	/* of the devices with edges, while powered */
	u32 joined;			/* joined edges */
	u8 uuid[16];			/* constant */
	struct timerqueue_head queue;
	u64 first_due;			/* of the first event, or U64_MAX; READ_ONCE, WRITE_ONCE */
	struct hrtimer timer;
	u64 stepped_now;
	bool booting;			/* during registration: no alarms, a stepped clock skips */
	bool gone;			/* removed: nothing more may happen */
	u64 calls[SIM_CALLS];		/* requests so far */
	struct sim_counters counters;
	struct sim_change change;	/* scratch */
	u32 *dark;			/* by receive port and lane: dark events; or NULL */
	struct sim_port_alarms *port_alarms;
	struct sim_alarm *heartbeats;
	struct list_head faults;
	u32 faults_count;
	u32 hooks_count;		/* faults that wait for, or affect, calls */
	u32 fault_ids;
	struct sim_log_entry *log;	/* ring of SIM_LOG_ENTRIES */
	u64 log_count;
	struct sim_event patrol;
	u64 *patrol_locked;		/* by receive port: lanes locked at the last check */
	u64 *patrol_at;
	u32 patrol_port;
	s32 reported_mdeg;			/* last signalled temperature, 0: none yet */

	struct mutex control_mutex;	/* one line of control at a time */
	struct sim_refusal refusal;	/* control_mutex: reason for refusing the last line */
	struct dentry *debugfs;
};

/* A device on the bus; its hardware exists while the driver is bound. */
struct sim_instance {
	struct device dev;
	struct sim_config config;
	struct sim_hardware *hardware;	/* device lock */
	struct work_struct removal;	/* the fault "provider_removed" */
	int probe_error;
};

/*
 * Return whether a command must compare the light before and after. The core needs no alarm for
 * light that it removes itself, unless alarm_commanded is set. A joined fabric did not command the
 * change and needs alarms. The file "dark" counts lanes in any case. The lock is held.
 */
static inline bool sim_commands_are_watched(const struct sim_hardware *hw)
{
	return hw->config->alarm_commanded || hw->joined || hw->dark;
}

/* clock.c */
void sim_clock_init(struct sim_hardware *hw);
void sim_clock_stop(struct sim_hardware *hw);
u64 sim_now(const struct sim_hardware *hw);
void sim_queue(struct sim_hardware *hw, struct sim_event *event, u64 due);
void sim_unqueue(struct sim_hardware *hw, struct sim_event *event);
void sim_run_due(struct sim_hardware *hw);
void sim_advance_to(struct sim_hardware *hw, u64 until);

/* change.c */
int sim_change_init(struct sim_hardware *hw);
void sim_change_free(struct sim_hardware *hw);
void sim_power_on(struct sim_hardware *hw);
void sim_change_begin(struct sim_hardware *hw);
void sim_touch_receiver(struct sim_hardware *hw, u32 port);
void sim_touch_transmitter(struct sim_hardware *hw, u32 port);
void sim_touch_guide(struct sim_hardware *hw, u32 guide);
void sim_touch_element(struct sim_hardware *hw, u32 element);
void sim_change_end(struct sim_hardware *hw);
void sim_move_element(struct sim_hardware *hw, u32 element, u32 state, u64 now);
void sim_write_element(struct sim_hardware *hw, const struct morph_element_setting *setting,
		       u64 now, bool watched);
void sim_write_lasers(struct sim_hardware *hw, const struct morph_laser_setting *setting);
u64 sim_healthy_lanes(const struct sim_transmitter *tx);
void sim_laser_alarm(struct sim_hardware *hw, u32 port, u64 lost, u64 back);
void sim_heartbeat_alarm(struct sim_hardware *hw, u32 accelerator);
int sim_dark_begin(struct sim_hardware *hw);
void sim_dark_show(struct sim_hardware *hw, struct seq_file *file);
void sim_receiver_lost(struct sim_hardware *hw, u32 port, u64 lanes);
bool sim_alarm_signal(struct sim_hardware *hw, struct sim_event *event,
		      struct morph_signal *signal);

/* edge.c */
int sim_edges_init(struct sim_hardware *hw);
void sim_edges_join(struct sim_hardware *hw);
void sim_edges_part(struct sim_hardware *hw);

/* patrol.c */
void sim_patrol_start(struct sim_hardware *hw);
bool sim_patrol(struct sim_hardware *hw, struct morph_signal *signal);

/* device.c */
extern const struct morph_fabric_ops sim_fabric_ops;
void sim_request_done(struct sim_hardware *hw, struct sim_request *request);

/* debugfs.c and dump.c */
void sim_debugfs_init(void);
void sim_debugfs_exit(void);
void sim_debugfs_add(struct sim_hardware *hw);
extern const struct file_operations sim_dump_fops;

/* hardware.c */
struct sim_hardware *sim_hardware_create(struct sim_instance *instance);
void sim_hardware_destroy(struct sim_hardware *hw);

/* instance.c */
extern const char * const sim_clock_names[];
void sim_config_init(struct sim_config *config);
bool sim_name_legal(const char *name);
struct sim_instance *sim_instance_create(const char *name, const struct sim_config *config);
void sim_instance_destroy(struct sim_instance *instance);
bool sim_instance_live(struct sim_instance *instance);
void sim_instance_pull(struct sim_instance *instance);

/* configfs.c */
int sim_configfs_init(void);
void sim_configfs_exit(void);

#endif /* MORPH_SIM_H */
