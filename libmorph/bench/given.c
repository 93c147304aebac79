// SPDX-License-Identifier: LGPL-2.1-or-later
/* NAME=VALUE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "given.h"

void given_begin(struct given *given, const char *program, int count, char **words)
{
	*given = (struct given){ .program = program, .count = count, .words = words };
	for (int at = 0; at < count; at++) {
		if (strchr(words[at], '='))
			continue;
		fprintf(stderr, "%s: '%s' must be an option or NAME=VALUE\n", program, words[at]);
		exit(1);
	}
}

double given_number(const struct given *given, const char *name)
{
	size_t length = strlen(name);

	for (int at = 0; at < given->count; at++) {
		const char *word = given->words[at];
		char *end;
		double value;

		if (strncmp(word, name, length) || word[length] != '=')
			continue;
		value = strtod(word + length + 1, &end);
		if (word[length + 1] && !*end && isfinite(value))
			return value;
		fprintf(stderr, "%s: '%s' must have a number\n", given->program, word);
		exit(1);
	}
	fprintf(stderr, "%s: %s=VALUE is required\n", given->program, name);
	exit(1);
}
