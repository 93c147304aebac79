// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints themselves: every layer uses them. */
#define CREATE_TRACE_POINTS
#include "core/base/trace.h"
