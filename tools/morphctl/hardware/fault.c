// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl fault: control the simulator's faults through debugfs */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "morphctl/output/output.h"

#define DEFAULT_ROOT "/sys/kernel/debug/morph_sim"
#define PATH_BYTES 1024

static const char *root(void)
{
	const char *path = getenv("MORPHCTL_SIM");

	return path && *path ? path : DEFAULT_ROOT;
}

static enum exit_code no_root(void)
{
	int error = errno;

	warn_line("%s: %s", root(), strerror(error));
	if (error == ENOENT)
		warn_line("faults require a simulated fabric: load morph_sim and mount debugfs");
	return exit_of_errno(error);
}

/* The only instance of the simulator, or the one that the command line names. */
static enum exit_code instance(struct run *run, char *name, size_t size)
{
	const char *asked = run->option[OPTION_INSTANCE];
	unsigned int found = 0;
	struct dirent *entry;
	char all[PATH_BYTES] = "";
	DIR *directory = opendir(root());

	if (!directory)
		return no_root();
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s", entry->d_name);
		if (asked && strcmp(asked, entry->d_name))
			continue;
		snprintf(name, size, "%s", entry->d_name);
		found++;
	}
	closedir(directory);
	if (found == 1)
		return EXIT_CODE_OK;
	if (found)
		return usage_error(run, "several instances exist; choose one with --instance:%s",
				   all);
	warn_line(*all ? "no instance '%s'; instances:%s" : "no simulated instance%.0s%s",
		  asked ? asked : "", all);
	return EXIT_CODE_NOT_FOUND;
}

static enum exit_code file_of(struct run *run, const char *file, char *path, size_t size)
{
	char name[256];
	enum exit_code code = instance(run, name, sizeof(name));

	if (!code)
		snprintf(path, size, "%s/%s/%s", root(), name, file);
	return code;
}

/* Numbers stand in the files as 4, or with a name as op=4. */
static json_t *value_of(const char *key, const char *word)
{
	const char *digits = strchr(word, '=');
	bool is_number = !strcmp(key, "id") || !strcmp(key, "operation") ||
			 !strcmp(key, "simulated-time-ns");
	uint64_t number;

	if (is_number && parse_u64(digits ? digits + 1 : word, 0, INT64_MAX, &number))
		return json_integer((json_int_t)number);
	return json_string(word);
}

/* Tabs separate columns, or blanks if the line has no tabs. The last column keeps its blanks. */
static json_t *words_of(char *line, const char *const *keys, size_t count)
{
	const char *blanks = strchr(line, '\t') ? "\t" : " ";
	json_t *record = json_object();

	for (size_t i = 0; i < count && *line; i++) {
		bool last = i + 1 == count;
		size_t length = last ? strlen(line) : strcspn(line, blanks);
		char *word = needed(strndup(line, length));

		json_object_set_new(record, keys[i], value_of(keys[i], word));
		free(word);
		line += length;
		line += strspn(line, blanks);
	}
	return record;
}

static enum exit_code read_file(struct run *run, const char *file, const char *const *keys,
				size_t count, const struct view *view)
{
	char path[PATH_BYTES], *line = NULL;
	json_t *records;
	enum exit_code code = file_of(run, file, path, sizeof(path));
	size_t size = 0;
	FILE *stream;

	if (code)
		return code;
	stream = fopen(path, "re");
	if (!stream) {
		warn_line("%s: %s", path, strerror(errno));
		return exit_of_errno(errno);
	}
	records = json_array();
	while (getline(&line, &size, stream) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (*line && *line != '#')
			json_array_append_new(records, words_of(line, keys, count));
	}
	free(line);
	if (ferror(stream)) {
		warn_line("%s: %s", path, strerror(errno));
		code = exit_of_errno(errno);
	}
	fclose(stream);
	if (!code)
		code = emit_list(run, view, records);
	json_decref(records);
	return code;
}

enum exit_code fault_list(struct run *run)
{
	static const char *const keys[] = { "id", "state", "fault", "target", "arguments" };
	static const struct view view = { .columns = "id,state,fault,target,arguments",
					  .attributes = "id,state,fault,target,arguments" };

	return read_file(run, "fault", keys, 5, &view);
}

enum exit_code fault_knobs(struct run *run)
{
	static const char *const keys[] = { "fault", "target", "arguments", "hook", "meaning" };
	static const struct view view = { .columns = "fault,target,arguments,meaning",
					  .attributes = "fault,target,arguments,hook,meaning" };

	return read_file(run, "knobs", keys, 5, &view);
}

enum exit_code fault_log(struct run *run)
{
	static const char *const keys[] = { "operation", "simulated-time-ns", "text" };
	static const struct view view = { .columns = "operation,simulated-time-ns,text",
					  .attributes = "operation,simulated-time-ns,text",
					  .renamed = "op=operation,ns=simulated-time-ns" };

	return read_file(run, "log", keys, 3, &view);
}

/* Print the simulator's message about the line that it refused last. */
static void report_refusal(struct run *run)
{
	char path[PATH_BYTES], *line = NULL;
	size_t size = 0;
	FILE *stream;

	if (file_of(run, "error", path, sizeof(path)))
		return;
	stream = fopen(path, "re");
	while (stream && getline(&line, &size, stream) > 0)
		warn_detail("%.*s", (int)strcspn(line, "\n"), line);
	free(line);
	if (stream)
		fclose(stream);
}

static enum exit_code write_line_to(struct run *run, const char *file, const char *line)
{
	char path[PATH_BYTES];
	enum exit_code code = file_of(run, file, path, sizeof(path));
	ssize_t length = (ssize_t)strlen(line);
	int fd, error = 0;

	if (code)
		return code;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	/* Use a single write, because the simulator takes one whole line. */
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (!error)
		return EXIT_CODE_OK;
	warn_line("%s: '%s': %s", path, line, strerror(error));
	report_refusal(run);
	warn_line("'morphctl fault knobs' lists the faults, their targets and arguments");
	return exit_of_errno(error);
}

enum exit_code fault_inject(struct run *run)
{
	char line[PATH_BYTES] = "";

	for (int i = 0; i < run->argc; i++) {
		if (strlen(line) + strlen(run->argv[i]) + 2 > sizeof(line))
			return usage_error(run, "the fault is longer than %zu bytes", sizeof(line));
		if (i)
			strcat(line, " ");
		strcat(line, run->argv[i]);
	}
	return write_line_to(run, "fault", line);
}

enum exit_code fault_clear(struct run *run)
{
	return write_line_to(run, "clear", run->argc ? run->argv[0] : "all");
}
