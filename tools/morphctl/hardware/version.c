// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl version: the versions of tool, library and modules, and whether they work together */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define TEXT(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)
#define BUILT_WITH VERSION_TEXT(MORPH_LIBRARY_MAJOR, MORPH_LIBRARY_MINOR, MORPH_LIBRARY_PATCH)

static void add_problem(json_t *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_problem(json_t *report, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	json_array_append_new(json_object_get(report, "problems"), json_string(text));
	free(text);
}

/* A loaded module and its version, or NULL. Modules before 0.1.0 have no version. */
static json_t *read_module(const char *name)
{
	json_t *module = NULL;
	char line[64] = "";
	char *path;
	FILE *file;

	if (asprintf(&path, "%s/%s/version", modules_directory(), name) < 0)
		needed(NULL);
	file = fopen(path, "r");
	if (file && fgets(line, sizeof(line), file))
		line[strcspn(line, "\n")] = 0;
	if (file)
		fclose(file);
	*strrchr(path, '/') = 0;
	if (!access(path, F_OK))
		module = json_pack("{s:s}", "name", name);
	if (module && *line)
		json_object_set_new(module, "module-version", json_string(line));
	free(path);
	return module;
}

static json_t *read_modules(void)
{
	static const char *const names[] = { "morph", "morph_sim", "morph_net" };
	json_t *modules = json_array(), *module;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		module = read_module(names[i]);
		if (module)
			json_array_append_new(modules, module);
	}
	return modules;
}

/* The kernel's device interface; 0 if there is no fabric that the caller may open. */
static uint32_t read_abi(struct morph_ctx *ctx)
{
	const struct morph_object *first;
	struct morph_object *info = NULL;
	struct morph_fabric *fabric = NULL;
	struct morph_list *list;
	char number[16];
	uint32_t abi = 0;

	if (morph_fabrics(ctx, &list))
		return 0;
	first = morph_list_get(list, 0);
	if (first) {
		snprintf(number, sizeof(number), "%u", (uint32_t)morph_object_uint(first, "id"));
		if (!morph_fabric_open(ctx, number, &fabric) && !morph_fabric_info(fabric, &info))
			abi = (uint32_t)morph_object_uint(info, "abi-version");
	}
	morph_object_free(info);
	morph_fabric_close(fabric);
	morph_list_free(list);
	return abi;
}

static void compare_abi(json_t *report)
{
	uint32_t abi = number_of(report, "kernel-abi-version", MORPH_ABI_VERSION);

	if (abi > MORPH_ABI_VERSION)
		add_problem(
			report,
			"the modules have device interface %u, and morphctl has %u; upgrade morphctl and libmorph",
			abi, MORPH_ABI_VERSION);
	if (abi < MORPH_ABI_VERSION)
		add_problem(
			report,
			"the modules have device interface %u, and morphctl has %u; upgrade the modules",
			abi, MORPH_ABI_VERSION);
}

static void compare_library(json_t *report)
{
	const char *version = text_of_key(report, "libmorph-version");

	if (strverscmp(version, BUILT_WITH) < 0)
		add_problem(report,
			    "morphctl needs libmorph %s, and %s is installed; upgrade libmorph",
			    BUILT_WITH, version);
}

static const char *shown_version(const json_t *module)
{
	const char *version = text_of_key(module, "module-version");

	return *version ? version : "without version";
}

/* The interface between modules changes with each version. */
static void compare_modules(json_t *report)
{
	const json_t *modules = json_object_get(report, "modules"), *module;
	const json_t *core = json_array_get(modules, 0);
	size_t i;

	json_array_foreach(modules, i, module)
	{
		int order = strverscmp(text_of_key(module, "module-version"),
				       text_of_key(core, "module-version"));

		if (order && key_is(core, "name", "morph"))
			add_problem(
				report,
				"the modules %s %s and morph %s are of different versions; upgrade %s and load both again",
				text_of_key(module, "name"), shown_version(module),
				shown_version(core),
				order < 0 ? text_of_key(module, "name") : "morph");
	}
}

static void print_modules(const json_t *report)
{
	const json_t *modules = json_object_get(report, "modules"), *module;
	size_t i;

	if (!json_array_size(modules)) {
		say("modules: not loaded\n");
		return;
	}
	say("modules: ");
	json_array_foreach(modules, i, module)
		say("%s%s %s", i ? ", " : "", text_of_key(module, "name"), shown_version(module));
	if (json_object_get(report, "kernel-abi-version"))
		say(", device interface %u\n", number_of(report, "kernel-abi-version", 0));
	else
		say(", device interface unknown: no fabric that you may open\n");
}

static void print_report(const json_t *report)
{
	const json_t *problems = json_object_get(report, "problems"), *problem;
	size_t i;

	say("morphctl %s, libmorph %s, device interface %u\n",
	    text_of_key(report, "morphctl-version"), text_of_key(report, "libmorph-version"),
	    number_of(report, "abi-version", 0));
	print_modules(report);
	json_array_foreach(problems, i, problem)
		say("incompatible: %s\n", json_string_value(problem));
}

enum exit_code version(struct run *run)
{
	json_t *report = json_pack("{s:s, s:s, s:i, s:o, s:[]}", "morphctl-version",
				   MORPHCTL_VERSION, "libmorph-version", morph_library_version(),
				   "abi-version", MORPH_ABI_VERSION, "modules", read_modules(),
				   "problems");
	enum exit_code code = client_open(run);
	uint32_t abi = code ? 0 : read_abi(run->client->ctx);

	if (abi)
		json_object_set_new(report, "kernel-abi-version", json_integer(abi));
	compare_abi(report);
	compare_library(report);
	compare_modules(report);
	if (given(run, OPTION_JSON))
		emit_document(report);
	else
		print_report(report);
	if (!code && json_array_size(json_object_get(report, "problems")))
		code = EXIT_CODE_UNSUPPORTED;
	json_decref(report);
	return code;
}
