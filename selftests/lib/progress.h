/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SELFTESTS_PROGRESS_H
#define SELFTESTS_PROGRESS_H

/* Print a line for the user who watches a long run; no results go here. Any thread may call it. */
__attribute__((format(printf, 1, 2))) void progress(const char *format, ...);

#endif
