/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libmorph-plan: planners of placement, bandwidth, spares, traffic, collectives and schedules.
 *
 * DOC: Planners
 *
 * The planners are a library of their own, libmorph-plan.so. A program that only allocates slices
 * includes <morph/morph.h> and loads libmorph.so alone. A planner needs no kernel: it reads a model
 * of a fabric and answers with a plan. The client library carries a plan out.
 */
#ifndef MORPH_PLAN_H
#define MORPH_PLAN_H

#include <morph/morph.h>
#include <morph/model.h>
#include <morph/place.h>
#include <morph/defrag.h>
#include <morph/protect.h>
#include <morph/risk.h>
#include <morph/bandwidth.h>
#include <morph/traffic.h>
#include <morph/delay.h>
#include <morph/collective.h>
#include <morph/jobs.h>
#include <morph/schedule.h>
#include <morph/baseline.h>
#include <morph/pool.h>
#include <morph/shim.h>
#include <morph/light.h>
#include <morph/matchings.h>
#include <morph/wire.h>

#endif /* MORPH_PLAN_H */
