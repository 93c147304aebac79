// SPDX-License-Identifier: GPL-2.0-or-later
/* A fabric in its present state, read from the kernel, or an empty fabric. */
#include "morphctl/client/client.h"

enum exit_code ground_read(struct ground *ground, uint32_t controller)
{
	struct run *run = ground->run;
	struct morph_ctx *ctx = run->client->ctx;
	int error = morph_ledger_new(ctx, ground->model, &ground->ledger);

	if (error || ground->fabric == MORPH_ANY)
		return error ? client_error(run, error) : EXIT_CODE_OK;
	ground->running = needed(morph_defrag_new(ctx));
	error = morph_defrag_read(ground->running, ground->ledger, ground->fabric, controller);
	if (!error && !given(run, OPTION_UNPROTECT))
		error = morph_defrag_keep(ground->running, ground->ledger);
	if (error < 0)
		return client_error(run, error);
	ground->kept = (uint32_t)error;
	return EXIT_CODE_OK;
}

void ground_release(struct ground *ground)
{
	morph_defrag_free(ground->running);
	ground->running = NULL;
	ground->kept = 0;
}

void ground_free(struct ground *ground)
{
	morph_defrag_free(ground->running);
	morph_ledger_free(ground->ledger);
	morph_model_put(ground->model);
}
