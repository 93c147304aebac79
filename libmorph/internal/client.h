/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The unexported functions of the client library that have a place in its interface. */
#ifndef LM_INTERNAL_CLIENT_H
#define LM_INTERNAL_CLIENT_H

#include "admin.h"
#include "event.h"
#include "fabric.h"
#include "morph.h"
#include "object.h"
#include "phases.h"
#include "request.h"
#include "slice_phases.h"
#include "running.h"
#include "slice.h"
#include "steps.h"
#include "txn.h"

#endif /* LM_INTERNAL_CLIENT_H */
