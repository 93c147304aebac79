/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for tests of network devices: network namespaces, devices of ranks, datagrams.
 *
 * Functions that prepare a test end the program with a message on failure. The others return 0, or
 * a negative errno.
 */
#ifndef SELFTESTS_NET_LINK_H
#define SELFTESTS_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* A namespace with the device of one rank, morphR, which has the address 10.0.0.R+1. */
struct place {
	int net; /* file of the namespace */
	unsigned int rank;
	int socket; /* datagram socket that is bound to the address, or -1 */
	char name[16];
};

/* A request for a device. */
struct link_request {
	unsigned int fabric;
	unsigned int slice;
	unsigned int rank;
	unsigned int delay_ms; /* 0: the default */
	bool no_rank;
	const uint8_t *address; /* or NULL */
	const char *name;
	int net; /* file of the target namespace, or -1 */
};

/* State of a device, read in its namespace. */
struct link_state {
	int index;
	uint8_t address[6];
	bool carrier;
	unsigned int carrier_changes;
	unsigned int delay_ms; /* of the carrier */
	unsigned long long dark; /* frames that were dropped for want of light */
};

/* Load or unload morph_net.ko. */
int load_net(const char *parameters);
int unload_net(void);
/* Load or unload the sample provider. */
int load_sample(const char *parameters);
int unload_sample(void);

/* The text with which the driver refused the last request, or an empty string. */
extern char link_refusal[128];

/* Create a device in the current namespace, or in request->net. */
int link_create(const struct link_request *request);
int link_delete(const char *name);
/* Set the delay of the carrier of a device in the current namespace. */
int link_set_delay(const char *name, unsigned int delay_ms);
/* Set the rank of a device, which the driver refuses. */
int link_set_rank(const char *name, unsigned int rank);

int place_create(struct place *place, unsigned int fabric, unsigned int slice, unsigned int rank,
		 unsigned int delay_ms);
/* Close the namespace, whose devices end with it. */
void place_close(struct place *place);
/* Read the state of the device. -ENODEV: there is none. */
int place_state(const struct place *place, struct link_state *state);
/* Read a counter of ethtool -S by its name; -1: there is none. */
int64_t place_counter(const struct place *place, const char *name);
/* Read the speed in Mb/s; UINT32_MAX: unknown. */
unsigned int place_speed(const struct place *place);
/* Make the place send to a rank without ARP. */
int place_know(const struct place *place, unsigned int rank, const uint8_t *address);
/* Read the address that the place knows for a rank. -ENXIO: none. */
int place_neighbour(const struct place *place, unsigned int rank, uint8_t *address);
/* Open another socket of the place, for another flow. */
int place_socket(const struct place *place);
/* Send one datagram to a rank's address. */
int place_send(const struct place *from, unsigned int to_rank, uint32_t number);
/* Receive one datagram: its number, or -1 after a timeout. */
int64_t place_receive(const struct place *place, int timeout_ms);
/* Send until a datagram arrives; false after a timeout. */
bool place_reaches(const struct place *from, const struct place *to, int timeout_ms);

/* Enter the namespace and return a file of the previous one; leave it again. */
int enter(int net);
void leave(int previous);

#endif /* SELFTESTS_NET_LINK_H */
