// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl matchings find: search rounds of circuits that join all pairs of endpoints */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/matchings/matchings.h"

static enum exit_code find(struct matchings_search *search)
{
	struct run *run = search->run;
	enum exit_code code;
	int error;

	search->search = needed(morph_matchings_new(run->client->ctx));
	progress_begin("searching for rounds");
	error = morph_matchings_find(search->search, &search->problem, &search->answer);
	progress_end();
	if (error >= 0)
		return EXIT_CODE_OK;
	code = client_error(run, error);
	/* The search uses no kernel, so the options are wrong. */
	return error == -EINVAL ? EXIT_CODE_USAGE : code;
}

static enum exit_code write_file(const char *path, const json_t *document)
{
	FILE *file = fopen(path, "we");
	bool written;

	if (!file) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_FAILED;
	}
	written = !json_dumpf(document, file, JSON_INDENT(1)) && fputc('\n', file) != EOF;
	if (fclose(file) || !written) {
		warn_line("%s: %s", path, strerror(errno));
		return EXIT_CODE_FAILED;
	}
	return EXIT_CODE_OK;
}

static enum exit_code answer(const struct matchings_search *search)
{
	const struct run *run = search->run;
	json_t *document = matchings_document(search);
	enum exit_code code = EXIT_CODE_OK;

	if (given(run, OPTION_TO_FILE))
		code = write_file(run->option[OPTION_TO_FILE], document);
	if (given(run, OPTION_JSON))
		emit_document(document);
	else
		matchings_write(run, document);
	json_decref(document);
	return code || search->answer.verdict == MORPH_FEASIBLE ? code : EXIT_CODE_FAILED;
}

enum exit_code matchings_find(struct run *run)
{
	struct matchings_search search = { .run = run };
	enum exit_code code = client_open(run);

	if (!code)
		code = matchings_request(&search);
	if (!code)
		code = find(&search);
	if (!code)
		code = answer(&search);
	morph_matchings_free(search.search);
	morph_model_put(search.model);
	json_decref(search.fabric);
	free(search.tx);
	free(search.rx);
	free(search.targets);
	free(search.failed);
	free(search.stuck);
	free(search.stuck_states);
	return code;
}
