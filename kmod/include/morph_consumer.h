/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The consumer interface: the operations that a module which needs to know the lit circuits of a
 * slice (the consumer) implements, and the functions of the core that it calls.
 *
 * A consumer attaches to one slice. It gets each lit circuit at once, and from then on each change,
 * when the core publishes it. It never learns which hardware carries a circuit.
 */
#ifndef MORPH_CONSUMER_H
#define MORPH_CONSUMER_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct morph_consumer;

/**
 * struct morph_consumer_slice - the data of a slice that do not follow from its circuits
 * @fabric_uuid: UUID of its fabric
 * @ranks_count: number of ranks
 * @uid: owner
 * @simulated: the hardware of the fabric is simulated
 */
struct morph_consumer_slice {
	u8 fabric_uuid[16];
	u32 ranks_count;
	kuid_t uid;
	bool simulated;
};

/**
 * struct morph_consumer_light - the light of a circuit
 * @circuit: its number in the slice
 * @src: rank that sends
 * @dst: rank that receives
 * @removed: the circuit has ended, and its number may name another circuit later
 * @mbps: its bandwidth; 0: dark
 */
struct morph_consumer_light {
	u32 circuit;
	u32 src;
	u32 dst;
	bool removed;
	u64 mbps;
};

/**
 * struct morph_consumer_ops - operations of a consumer
 * @light: the light of a circuit between two ranks of the slice may have changed. A circuit that
 *         moves without a dark time stays lit.
 * @end: the slice has ended, or its fabric is gone: all circuits are dark from now on. The core
 *       calls no operation afterwards. The consumer must still call morph_consumer_detach().
 *
 * The core calls the operations under a mutex, in the critical section that publishes the change.
 * They must not sleep, must not wait for memory, and must not call functions of the core. They
 * store the data and wake their own work.
 */
struct morph_consumer_ops {
	void (*light)(void *priv, const struct morph_consumer_light *light);
	void (*end)(void *priv);
};

/**
 * struct morph_consumer_rank - the accelerator behind a rank
 * @accelerator: its number in the fabric
 * @planes_count: its ports, each way
 * @temperature: of the interposer, in millidegrees Celsius
 */
struct morph_consumer_rank {
	u32 accelerator;
	u32 planes_count;
	s32 temperature;
};

/**
 * struct morph_consumer_port - readings of the ports of an accelerator in one plane
 * @sends: some of its lasers are commanded on
 * @tx_fault: and the monitor diode of one of them reads dark or weak
 * @receives: lanes of circuits lead to the receiver; without them, the next fields are zero
 * @lit: all these lanes have light
 * @locked: the receiver is locked to all of them
 * @power_nw: lowest power among them, in nanowatts
 */
struct morph_consumer_port {
	bool sends;
	bool tx_fault;
	bool receives;
	bool lit;
	bool locked;
	u32 power_nw;
};

int morph_consumer_find(u32 fabric, u32 slice, struct morph_consumer_slice *found);
struct morph_consumer *morph_consumer_attach(u32 fabric, u32 slice,
					     const struct morph_consumer_ops *ops, void *priv);
void morph_consumer_replay(struct morph_consumer *consumer);
int morph_consumer_read(struct morph_consumer *consumer, u32 rank,
			struct morph_consumer_rank *found, struct morph_consumer_port *ports,
			u32 count);
void morph_consumer_detach(struct morph_consumer *consumer);

#endif /* MORPH_CONSUMER_H */
