// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals that ask a command of several steps to end: SIGINT, SIGTERM and SIGHUP. Such a command
 * holds them, looks between two steps whether one waits, and then undoes its earlier steps. A held
 * signal interrupts no request, so the command always knows what it has done.
 */
#include <signal.h>
#include <string.h>

#include "morphctl/client/client.h"

static void fill(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
}

void stop_hold(void)
{
	sigset_t signals;

	fill(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

enum exit_code stop_check(const struct run *run)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t waiting;

	sigpending(&waiting);
	for (size_t at = 0; at < sizeof(ending) / sizeof(ending[0]); at++)
		if (sigismember(&waiting, ending[at])) {
			warn_line("%s: SIG%s received; no further step", command_name(run->command),
				  sigabbrev_np(ending[at]));
			return EXIT_CODE_FAILED;
		}
	return EXIT_CODE_OK;
}

void stop_release(void)
{
	sigset_t signals;

	fill(&signals);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
