// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a file for 'morphctl schedule plan --matrix'. A valid file must give a valid matrix.
 * The error text of any other file must give a reason.
 */
#include <unistd.h>

#include "command.h"
#include "fuzz.h"
#include "morphctl/input/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum exit_code code;
	uint64_t *matrix = NULL;
	uint32_t ranks = 0;
	char path[64];
	int fd;

	fd = command_file(data, size, path);
	complaints = 0;
	code = matrix_read(path, &matrix, &ranks);
	MUST(!code == !complaints && !code == !!matrix);
	if (!code)
		MUST(ranks && ranks <= MOST_RANKS);
	for (uint32_t cell = 0; cell < ranks * ranks; cell++)
		MUST(matrix[cell] <= MOST_BYTES);
	free(matrix);
	close(fd);
	return 0;
}
