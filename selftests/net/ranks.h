/* SPDX-License-Identifier: GPL-2.0-only */
/* The fixture of tests of network devices: a slice whose ranks get devices. */
#ifndef SELFTESTS_NET_RANKS_H
#define SELFTESTS_NET_RANKS_H

#include "fabric.h"
#include "kselftest_harness.h"
#include "link.h"

#define RANKS 3
#define BRIEF_MS 300 /* long enough for a datagram that has a circuit */

/* A slice of three ranks; the tests light circuits between ranks 0 and 1 only. */
FIXTURE(net)
{
	struct sim sim;
	int slice;
	unsigned int number;
	struct place places[RANKS];
	unsigned int places_count;
	unsigned int circuits[2];
};

FIXTURE_SETUP(net)
{
	struct morph_slice_info info;

	sim_start(&self->sim, "server8", NULL);
	ASSERT_EQ(0, load_net(""));
	self->slice = slice_create(self->sim.fd, RANKS);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	self->number = info.slice;
}

FIXTURE_TEARDOWN(net)
{
	while (self->places_count)
		place_close(&self->places[--self->places_count]);
	if (self->slice >= 0)
		close(self->slice);
	sim_stop(&self->sim);
	ASSERT_EQ(0, unload_net());
}

#define PLACE(delay_ms)                                                                          \
	({                                                                                       \
		unsigned int __rank = self->places_count++;                                      \
                                                                                                 \
		ASSERT_EQ(0, place_create(&self->places[__rank], self->sim.number, self->number, \
					  __rank, delay_ms));                                    \
	})

/* Light circuits between ranks 0 and 1, one each way, in a plane (MORPH_PLANE_ANY: any). */
#define LIGHT_IN(plane)                                                                    \
	({                                                                                 \
		struct morph_change __changes[2] = { change_add(0, 1), change_add(1, 0) }; \
		unsigned int __i;                                                          \
                                                                                           \
		for (__i = 0; __i < 2; __i++)                                              \
			__changes[__i].src_plane = __changes[__i].dst_plane = (plane);     \
		ASSERT_EQ(0, txn_run(self->slice, __changes, 2, NULL));                    \
		self->circuits[0] = __changes[0].circuit;                                  \
		self->circuits[1] = __changes[1].circuit;                                  \
	})

#define LIGHT() LIGHT_IN(MORPH_PLANE_ANY)

#define DARKEN()                                                                         \
	({                                                                               \
		struct morph_change __changes[2] = { change_remove(self->circuits[0]),   \
						     change_remove(self->circuits[1]) }; \
                                                                                         \
		ASSERT_EQ(0, txn_run(self->slice, __changes, 2, NULL));                  \
	})

static inline bool has_carrier(const struct place *place)
{
	struct link_state state;

	return !place_state(place, &state) && state.carrier;
}

#endif /* SELFTESTS_NET_RANKS_H */
