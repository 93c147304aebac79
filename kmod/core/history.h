/* SPDX-License-Identifier: GPL-2.0-only */
/* What is remembered of transactions that ended. */
#ifndef MORPH_CORE_HISTORY_H
#define MORPH_CORE_HISTORY_H

#include "txn.h"

/* Under fabric->lock, but for morph_history_free(): nobody has that fabric any more. */

/* The fabric's: a transaction with a number, whose reference by the table it takes over. */
void morph_history_add(struct morph_txn *txn);
/* The slice's: one that was prepared, and the last one committed, if they have a cookie. */
void morph_history_keep_record(struct morph_txn *txn);
void morph_history_keep_last(struct morph_txn *txn);
/* A slice's transaction that was prepared with a cookie, ended or not; counted, or NULL. */
struct morph_txn *morph_txn_find_cookie(struct morph_slice *slice, u64 cookie);
void morph_history_free(struct morph_fabric *fabric);
void morph_history_forget(struct morph_slice *slice);

#endif /* MORPH_CORE_HISTORY_H */
