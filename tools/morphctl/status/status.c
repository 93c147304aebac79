// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl status, morphctl watch */
#include <time.h>
#include <unistd.h>

#include "morphctl/status/status.h"

#define PAGE_WIDTH 80
#define NS_PER_S INT64_C(1000000000)
#define CLEAR_SCREEN "\033[H\033[2J\033[3J"

static enum exit_code choose_fabric(struct run *run, uint32_t *fabric)
{
	*fabric = MORPH_ANY;
	return given(run, OPTION_FABRIC) ? client_fabric(run, fabric) : client_open(run);
}

enum exit_code show_status(struct run *run)
{
	uint32_t fabric;
	enum exit_code code = choose_fabric(run, &fabric);
	json_t *report;

	if (!code)
		code = status_gather(run, fabric, &report);
	if (code)
		return code;
	if (!given(run, OPTION_WIDE))
		text_limit(PAGE_WIDTH);
	if (given(run, OPTION_JSON))
		emit_document(report);
	else
		status_print(run, report);
	json_decref(report);
	return EXIT_CODE_OK;
}

static void print_again(struct run *run, json_t *report, unsigned int pages)
{
	time_t now = time(NULL);
	struct tm local;
	char text[32] = "";

	if (given(run, OPTION_JSON)) {
		emit_line(report);
		return;
	}
	if (isatty(STDOUT_FILENO))
		fputs(CLEAR_SCREEN, stdout);
	else if (pages)
		say("\n");
	if (localtime_r(&now, &local))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	say("%s\n", text);
	status_print(run, report);
	fflush(stdout);
}

static int64_t monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec time = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

enum exit_code watch_status(struct run *run)
{
	int64_t interval_ns = 2 * NS_PER_S, duration_ns = INT64_MAX / 2, next_ns, end_ns;
	enum exit_code code;
	uint32_t fabric;

	if (!option_ns(run, OPTION_INTERVAL, &interval_ns) ||
	    !option_ns(run, OPTION_DURATION, &duration_ns))
		return EXIT_CODE_USAGE;
	if (interval_ns < NS_PER_S / 10 || interval_ns > 3600 * NS_PER_S)
		return usage_error(run, "--interval must be from 0.1 to 3600 seconds, not '%s'",
				   run->option[OPTION_INTERVAL]);
	code = choose_fabric(run, &fabric);
	if (!given(run, OPTION_WIDE))
		text_limit(PAGE_WIDTH);
	next_ns = monotonic_ns();
	end_ns = next_ns + duration_ns;
	for (unsigned int pages = 0; !code; pages++) {
		json_t *report;

		code = status_gather(run, fabric, &report);
		if (code)
			break;
		print_again(run, report, pages);
		json_decref(report);
		next_ns += interval_ns;
		if (next_ns > end_ns || ferror(stdout))
			break;
		sleep_until(next_ns);
	}
	return code;
}
