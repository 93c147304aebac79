/* SPDX-License-Identifier: GPL-2.0-only */
/* The netlink family, as the rest of the core sees it. */
#ifndef MORPH_CORE_NOTIFY_H
#define MORPH_CORE_NOTIFY_H

#include "core.h"

struct morph_controller;

int morph_netlink_init(void);
void morph_netlink_exit(void);
/* Notifications; no-ops without listeners. fabric->lock held. */
void morph_netlink_fabric(struct morph_fabric *fabric);
void morph_netlink_accelerator(struct morph_fabric *fabric, u32 index);
void morph_netlink_slice(struct morph_slice *slice);
void morph_netlink_txn(struct morph_txn *txn);
void morph_netlink_hardware(struct morph_fabric *fabric, u32 part, u32 index);
void morph_netlink_controller(struct morph_fabric *fabric,
			      const struct morph_controller *controller, u32 state);
void morph_netlink_event(struct morph_slice *slice, const struct morph_event *event);

#endif /* MORPH_CORE_NOTIFY_H */
