/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Acts on a running slice; see acts.h. */
#ifndef ACTS_RUNNING_H
#define ACTS_RUNNING_H

#include <morph/morph.h>

void acts_running_begin(struct morph_ctx *ctx, struct morph_slice *slice);

int load_schedule(void);
int go_through_schedule(void);
int schedule_state(struct morph_object **out);
int schedule_states(struct morph_list **out);
int use_ring(void);
int use_ring_of_own(void);
int read_state(void);

#endif /* ACTS_RUNNING_H */
