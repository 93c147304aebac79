/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MORPHCTL_CIRCUIT_H
#define MORPHCTL_CIRCUIT_H

#include "client.h"

enum exit_code circuit_records(struct run *run, uint32_t fabric, uint32_t slice, json_t **records);
/* Applies and, unless it is a dry run, waits; *record: the transaction, or NULL. */
enum exit_code circuit_run(struct run *run, struct act *act, uint32_t fabric, uint32_t slice,
			   const struct morph_txn *txn, bool dry_run, json_t **record);

#endif
