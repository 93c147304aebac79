/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that a program is given to compute from, as NAME=VALUE. */
#ifndef LM_BENCH_GIVEN_H
#define LM_BENCH_GIVEN_H

struct given {
	const char *program; /* that complains */
	int count;
	char **words;
};

/* Says which word is no NAME=VALUE, and ends the program. */
void given_begin(struct given *given, const char *program, int count, char **words);

/* Ends the program where it was not given, or is no number. */
double given_number(const struct given *given, const char *name);

#endif /* LM_BENCH_GIVEN_H */
