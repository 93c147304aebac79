/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The unexported functions of the planner library that have a place in its interface. */
#ifndef LM_INTERNAL_PLANNER_H
#define LM_INTERNAL_PLANNER_H

#include "../util/base.h"
#include "bandwidth.h"
#include "collective.h"
#include "coverage.h"
#include "defrag.h"
#include "delay.h"
#include "light.h"
#include "model.h"
#include "place.h"
#include "protect.h"
#include "schedule.h"
#include "shim.h"
#include "traffic.h"
#include "wire.h"

#endif /* LM_INTERNAL_PLANNER_H */
