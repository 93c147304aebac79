// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans for other programs: what libmorph-formats writes, into files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <morph/formats.h>

#include "plan.h"

#define NAME "morphctl"

/* What is written has been asked for twice: for its size, and itself. */
static ssize_t write_msccl(const struct planning *planning, char *buffer, size_t bytes, char *why,
			   size_t room)
{
	return morph_msccl_write(planning->collective, NAME, buffer, bytes, why, room);
}

static ssize_t write_segments(const struct planning *planning, char *buffer, size_t bytes,
			      char *why, size_t room)
{
	return morph_segments_write(planning->schedule, planning->collective, planning->delay, NAME,
				    buffer, bytes, why, room);
}

static enum exit_code write_text(const char *path, const char *text, size_t length)
{
	FILE *file = fopen(path, "we");
	bool written;

	if (!file) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_FAILED;
	}
	written = fwrite(text, 1, length, file) == length;
	if (fclose(file) || !written) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_FAILED;
	}
	return EXIT_CODE_OK;
}

static enum exit_code write_one(const struct planning *planning, const char *path,
				ssize_t (*write)(const struct planning *planning, char *buffer,
						 size_t bytes, char *why, size_t room))
{
	char why[256] = "";
	ssize_t bytes = write(planning, NULL, 0, why, sizeof(why));
	char *text = needed(malloc(bytes > 0 ? (size_t)bytes : 1));
	enum exit_code code = EXIT_CODE_FAILED;

	if (bytes > 0)
		bytes = write(planning, text, (size_t)bytes, why, sizeof(why));
	if (bytes > 0)
		code = write_text(path, text, (size_t)bytes);
	else
		warn_line("%s is not written: %s", path, why);
	free(text);
	return code;
}

/* Where light has no ways there are no steps: that is said with the plan, which comes to nothing then. */
static enum exit_code write_steps(const struct planning *planning, const char *path)
{
	json_t *document;
	enum exit_code code;
	char *text;

	if (planning->light.verdict != MORPH_FEASIBLE) {
		warn_line("%s is not written: %s", path,
			  planning->light.verdict ? planning->light.why :
						    morph_schedule_why(planning->schedule));
		return EXIT_CODE_FAILED;
	}
	document = steps_document(planning->steps);
	text = needed(json_dumps(document, JSON_INDENT(1)));
	code = write_text(path, text, strlen(text));
	free(text);
	json_decref(document);
	return code;
}

enum exit_code write_files(const struct planning *planning)
{
	const struct run *run = planning->run;
	enum exit_code code = EXIT_CODE_OK;

	if (given(run, OPTION_TO_MSCCL))
		code = write_one(planning, run->option[OPTION_TO_MSCCL], write_msccl);
	if (!code && given(run, OPTION_TO_SEGMENTS))
		code = write_one(planning, run->option[OPTION_TO_SEGMENTS], write_segments);
	if (!code && given(run, OPTION_TO_STEPS))
		code = write_steps(planning, run->option[OPTION_TO_STEPS]);
	return code;
}
