// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line on the terminal of standard error while a command searches or waits: the text of the
 * caller, and the seconds since the command began to work. A thread prints it, because a search of
 * libmorph returns only at its end.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "morphctl/command/command.h"

#define FIRST_S 2
#define TEXT_BYTES 72

static struct {
	pthread_mutex_t lock; /* protects text, working and shown */
	pthread_cond_t ended;
	char text[TEXT_BYTES];
	bool working, shown;
	/* Only the thread that runs the command writes these. */
	pthread_t printer;
	struct timespec began; /* the first work of the command */
	bool started; /* there is a printer */
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Whole seconds since the first work. */
static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - progress.began.tv_sec - (now.tv_nsec < progress.began.tv_nsec);
}

/* The terminal may be narrow, and a line on two lines of it would not be overwritten. */
static void print_line(void)
{
	char time[24];
	int most;

	snprintf(time, sizeof(time), ": %lld s", (long long)seconds());
	most = (int)(text_width_of_messages() - strlen(time) - 1);
	dprintf(STDERR_FILENO, "\r%.*s%s\033[K", most, progress.text, time);
}

static void *print_lines(void *unused)
{
	struct timespec next = progress.began;

	next.tv_sec += FIRST_S;
	pthread_mutex_lock(&progress.lock);
	while (progress.working) {
		if (pthread_cond_timedwait(&progress.ended, &progress.lock, &next) != ETIMEDOUT)
			continue;
		print_line();
		progress.shown = true;
		next.tv_sec = progress.began.tv_sec + seconds() + 1;
	}
	pthread_mutex_unlock(&progress.lock);
	return unused;
}

/* The printer takes no signal: those that ask the command to end are for the command's thread. */
static bool start_printer(void)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&progress.printer, NULL, print_lines, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

static void begin_command(void)
{
	pthread_condattr_t attributes;

	if (progress.began.tv_sec || progress.began.tv_nsec)
		return;
	clock_gettime(CLOCK_MONOTONIC, &progress.began);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.ended, &attributes);
	pthread_condattr_destroy(&attributes);
}

void progress_begin(const char *format, ...)
{
	va_list arguments;

	if (messages_are_json() || !isatty(STDERR_FILENO))
		return;
	begin_command();
	pthread_mutex_lock(&progress.lock);
	va_start(arguments, format);
	vsnprintf(progress.text, sizeof(progress.text), format, arguments);
	va_end(arguments);
	progress.working = true;
	pthread_mutex_unlock(&progress.lock);
	if (!progress.started)
		progress.started = start_printer();
}

void progress_end(void)
{
	if (!progress.started)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.working = false;
	pthread_cond_signal(&progress.ended);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.printer, NULL);
	progress.started = false;
	if (progress.shown)
		dprintf(STDERR_FILENO, "\r\033[K");
	progress.shown = false;
}
