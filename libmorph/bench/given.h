/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers for a computation, given as NAME=VALUE. */
#ifndef LM_BENCH_GIVEN_H
#define LM_BENCH_GIVEN_H

struct given {
	const char *program; /* name for messages */
	int count;
	char **words;
};

/* Ends the program with a message if a word is not NAME=VALUE. */
void given_begin(struct given *given, const char *program, int count, char **words);

/* Ends the program if the number is missing or invalid. */
double given_number(const struct given *given, const char *name);

#endif /* LM_BENCH_GIVEN_H */
