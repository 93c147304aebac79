/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MORPHCTL_CIRCUIT_H
#define MORPHCTL_CIRCUIT_H

#include "morphctl/client/client.h"
#include "morphctl/controller/controller.h"

enum exit_code circuit_records(struct run *run, uint32_t fabric, uint32_t slice, json_t **records);
/* Apply and, unless it is a dry run, wait. *record: the transaction, or NULL. */
enum exit_code circuit_run(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			   const struct morph_txn *txn, bool dry_run, json_t **record);

/* Run a step and wait for its end. *record: the transaction afterwards, or NULL. */
enum exit_code txn_step(struct run *run, struct act *act, uint32_t fabric, uint32_t id,
			uint32_t verb, uint64_t lease_ns, const struct token *token,
			json_t **record);

#endif
