/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile behind a fabric, as planners take it. */
#ifndef MORPHCTL_PROFILE_H
#define MORPHCTL_PROFILE_H

#include "client.h"

/*
 * The model of --profile, or of the fabric's profile where the kernel finds its firmware. With
 * --profile alone *fabric is MORPH_ANY: no kernel is asked. @model is the caller's to put.
 */
enum exit_code profile_model(struct run *run, uint32_t *fabric, struct morph_model **model);

/* The model of a fabric that is known: of --profile, or where the kernel finds it. */
enum exit_code profile_of_fabric(struct run *run, uint32_t fabric, struct morph_model **model);

/* A ledger of what is held of the fabric; of none, nothing is. @ledger is the caller's to free. */
enum exit_code profile_ledger(struct run *run, uint32_t fabric, uint32_t controller,
			      struct morph_model *model, struct morph_ledger **ledger);

#endif
