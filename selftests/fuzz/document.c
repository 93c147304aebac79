// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a file for 'morphctl slice apply'. A valid file must be well formed. The error text
 * of any other file must give a reason.
 */
#include <unistd.h>

#include "morphctl/slice/slice.h"
#include "command.h"
#include "fuzz.h"

enum exit_code apply_fabric(struct apply *apply)
{
	apply->fabric = 0;
	return EXIT_CODE_OK;
}

enum exit_code resolve_accelerator(struct run *run, uint32_t fabric, const char *text, uint32_t *id)
{
	(void)run;
	(void)fabric;
	if (!*text) {
		warn_line("no accelerator '%s'", text);
		return EXIT_CODE_NOT_FOUND;
	}
	*id = (uint8_t)*text;
	return EXIT_CODE_OK;
}

bool parse_user(const char *text, uint32_t *uid)
{
	*uid = (uint8_t)*text;
	return *text != '-';
}

bool parse_mode(const char *text, uint32_t *mode)
{
	*mode = (uint8_t)*text & 7;
	return *text;
}

static void check_slice(const struct apply_slice *slice)
{
	MUST(slice->wish.name && *slice->wish.name);
	MUST(wish_ranks(&slice->wish) > 0);
	for (size_t at = 0; at < slice->circuits_count; at++) {
		const struct circuit_wish *circuit = &slice->circuits[at];

		MUST(circuit->src_rank != circuit->dst_rank);
		MUST(circuit->src_rank < wish_ranks(&slice->wish));
		MUST(circuit->dst_rank < wish_ranks(&slice->wish));
		MUST(circuit->opts.lanes_count >= 1 && circuit->opts.lanes_count <= 64);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct apply apply = { .fabric = MORPH_ANY };
	enum exit_code code;
	char path[64];
	int fd;

	fd = command_file(data, size, path);
	complaints = 0;
	code = apply_read(&apply, path);
	MUST(code || !complaints);
	for (size_t at = 0; at < apply.slices_count; at++) {
		if (!code)
			check_slice(&apply.slices[at]);
		free(apply.slices[at].wish.accelerators);
		free(apply.slices[at].wish.spares);
		free(apply.slices[at].circuits);
	}
	free(apply.slices);
	json_decref(apply.document);
	close(fd);
	return 0;
}
