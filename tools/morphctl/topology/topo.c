// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl topo: read the state from the kernel or a file, and draw it */
#include <errno.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/input/input.h"
#include "morphctl/output/output.h"
#include "morphctl/topology/topology.h"

enum format {
	MATRIX,
	SVG,
	JSON
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
	for (size_t i = 0; i < state_kinds_count && !code; i++) {
		const struct state_kind *kind = &state_kinds[i];
		int error = state_dump(run, kind, fabric, &records);

		if (error && kind->admin && (error == -EPERM || error == -EACCES))
			warn_line("%s hidden: needs CAP_NET_ADMIN", kind->key);
		else if (error)
			code = client_error(run, error);
		json_object_set_new(*document, kind->key, records);
	}
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

static enum exit_code draw(struct run *run, enum format format, json_t *document)
{
	struct topo topo;
	bool ok = topo_from_document(&topo, document);

	if (ok && format == SVG) {
		topo_layout(&topo);
		topo_write_svg(stdout, &topo, run->option[OPTION_TITLE]);
	} else if (ok) {
		topo_write_matrix(&topo);
	}
	topo_free(&topo);
	return ok ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

enum exit_code topo(struct run *run)
{
	uint32_t format = MATRIX;
	enum exit_code code;
	json_t *document;

	if (!option_word(run, OPTION_FORMAT, &format))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_SVG) + given(run, OPTION_JSON) + given(run, OPTION_FORMAT) > 1)
		return usage_error(run, "--format, --svg and --json are mutually exclusive");
	if (given(run, OPTION_SVG))
		format = SVG;
	if (given(run, OPTION_JSON))
		format = JSON;
	if (given(run, OPTION_INPUT) && given(run, OPTION_FABRIC))
		return usage_error(run, "--input and --fabric are mutually exclusive");
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
