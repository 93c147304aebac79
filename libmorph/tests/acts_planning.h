/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Acts of planning; see acts.h. */
#ifndef ACTS_PLANNING_H
#define ACTS_PLANNING_H

#include <morph/morph.h>

void acts_planning_begin(struct morph_ctx *ctx, const char *profile);

/*
 * Turn the checker on or off. It must be off while a call can fail, because its own calls would
 * fail.
 */
void acts_planning_check(bool check);

int solve_traffic(void);
int solve_fabric(void);
int place_slice(void);
int make_room(void);
int assign_tenants(void);
int count_spares(void);
int share_bandwidth(void);
int build_collectives(void);
int make_delay(void);
int plan_schedules(void);
int choose_schedule(void);
int describe_schedule(void);

#endif /* ACTS_PLANNING_H */
