/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pod of two racks, for tests of slices across both. */
#ifndef CROSSING_RACKS_H
#define CROSSING_RACKS_H

#include "../place/crossing.h"
#include "protecting.h"

#define RACKS 2
#define RACK_ALL 72 /* accelerators of a rack, spares included */
#define SERVERS 16 /* of a rack */
#define HEAD 5 /* words of the wire form */
#define PLAN_HEAD 17

void hold_server(struct bench *bench, uint32_t rack, uint32_t server, uint32_t slice);
/* Each server is free with the given probability. Returns the number of free servers. */
uint32_t fill(struct bench *bench, uint64_t *seed, uint32_t free_percent);
void ask_crossing(struct bench *bench, uint32_t x, uint32_t y, uint32_t z);
/* Check whether an accelerator is in the second rack. */
bool in_second(uint32_t accelerator);

#endif /* CROSSING_RACKS_H */
