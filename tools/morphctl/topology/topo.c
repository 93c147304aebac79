// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl topo: read the state from the kernel or a file, and draw it */
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/input/input.h"
#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

/* Order of the words of --format. */
enum format {
	MATRIX,
	SVG,
	DOT,
	JSON,
	SLURM_GRES
};

static enum exit_code gather(struct run *run, json_t **document)
{
	enum exit_code code;
	uint32_t fabric;
	json_t *records;

	code = client_fabric(run, &fabric);
	if (code)
		return code;
	*document = json_object();
	json_object_set_new(*document, "taken-unix-ns", json_integer(wall_clock_ns()));
	for (size_t i = 0; i < state_kinds_count && !code; i++) {
		code = state_read(run, &state_kinds[i], fabric, &records);
		json_object_set_new(*document, state_kinds[i].key, records);
	}
	json_object_set_new(*document, "visible", json_string(run->client->own ? "own" : "all"));
	if (code)
		json_decref(*document);
	return code;
}

static enum exit_code load(const char *path, json_t **document)
{
	json_error_t error;
	size_t length;
	char *text;
	enum exit_code code = input_whole(path, &text, &length);

	*document = NULL;
	if (!code) {
		*document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
		if (!*document) {
			warn_line("%s: line %d: %s", path, error.line, error.text);
			code = EXIT_CODE_FAILED;
		}
	}
	free(text);
	return code;
}

static void write_state(struct run *run, enum format format, struct topo *topo)
{
	const char *title = run->option[OPTION_TITLE], *pattern = run->option[OPTION_DEVICE];

	if (format == SVG || format == DOT)
		topo_layout(topo);
	if (format == SVG)
		topo_write_svg(stdout, topo, title);
	else if (format == DOT)
		topo_write_dot(stdout, topo, title);
	else if (format == SLURM_GRES)
		topo_write_gres(stdout, topo, pattern ? pattern : "/dev/nvidia#");
	else
		topo_write_matrix(topo);
}

static enum exit_code draw(struct run *run, enum format format, json_t *document)
{
	struct topo topo, before = { 0 };
	enum exit_code code = EXIT_CODE_OK;
	json_t *old;

	if (!topo_from_document(&topo, document))
		code = EXIT_CODE_FAILED;
	if (!code && given(run, OPTION_BEFORE)) {
		code = load(run->option[OPTION_BEFORE], &old);
		if (!code && !topo_from_document(&before, old))
			code = EXIT_CODE_FAILED;
		if (!code)
			topo_compare(&topo, &before);
	}
	if (!code)
		write_state(run, format, &topo);
	topo_free(&before);
	topo_free(&topo);
	return code;
}

static enum exit_code check_options(struct run *run, enum format format)
{
	const char *device = run->option[OPTION_DEVICE];

	if (given(run, OPTION_SVG) + given(run, OPTION_JSON) + given(run, OPTION_FORMAT) > 1)
		return usage_error(run, "--format, --svg and --json are mutually exclusive");
	if (given(run, OPTION_INPUT) && given(run, OPTION_FABRIC))
		return usage_error(run, "--input and --fabric are mutually exclusive");
	if (given(run, OPTION_BEFORE) && (format == JSON || format == SLURM_GRES))
		return usage_error(run, "--diff requires --format matrix, svg or dot");
	if (device && format != SLURM_GRES)
		return usage_error(run, "--device requires --format slurm-gres");
	if (device && !strchr(device, '#'))
		return usage_error(run,
				   "--device must contain #, the number of an accelerator "
				   "within its server, not '%s'",
				   device);
	return EXIT_CODE_OK;
}

enum exit_code topo(struct run *run)
{
	uint32_t format = MATRIX;
	enum exit_code code;
	json_t *document;

	if (!option_word(run, OPTION_FORMAT, &format))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_SVG))
		format = SVG;
	if (given(run, OPTION_JSON))
		format = JSON;
	code = check_options(run, format);
	if (!code)
		code = given(run, OPTION_INPUT) ? load(run->option[OPTION_INPUT], &document) :
						  gather(run, &document);
	if (code)
		return code;
	if (format != JSON)
		return draw(run, format, document);
	emit_document(document);
	json_decref(document);
	return EXIT_CODE_OK;
}
