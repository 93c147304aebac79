// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the tracepoints, which every layer uses. */
#define CREATE_TRACE_POINTS
#include "core/base/trace.h"
