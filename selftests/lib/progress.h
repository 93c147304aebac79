/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SELFTESTS_PROGRESS_H
#define SELFTESTS_PROGRESS_H

/* One line for whoever watches a long run; no results go here. Any thread. */
__attribute__((format(printf, 1, 2))) void progress(const char *format, ...);

#endif
