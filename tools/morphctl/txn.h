/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MORPHCTL_TXN_H
#define MORPHCTL_TXN_H

#include "client.h"
#include "controller.h"

/* Runs a step and waits for its end; *record is the transaction afterwards, or NULL. */
enum exit_code txn_step(struct run *run, struct act *act, uint32_t fabric, uint32_t id,
			uint32_t verb, uint64_t lease_ns, const struct token *token,
			json_t **record);

#endif
