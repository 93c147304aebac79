/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matchings: rounds of circuits that join all pairs of endpoints, and their files. */
#ifndef MORPHCTL_MATCHINGS_H
#define MORPHCTL_MATCHINGS_H

#include "morphctl/client/client.h"

#define MATCHINGS_FORMAT "morph-matchings"
#define MATCHINGS_VERSION 1

struct matchings_search {
	struct run *run;
	struct morph_model *model; /* NULL: a mesh */
	json_t *fabric; /* record of the model */
	struct morph_matchings_problem problem;
	uint32_t *tx, *rx, *targets, *failed, *stuck, *stuck_states; /* arrays of the problem */
	struct morph_matchings *search;
	struct morph_matchings_answer answer;
};

/* request.c: convert options to the problem. */
enum exit_code matchings_request(struct matchings_search *search);
/* Elements of a fabric that no new circuit can use. The caller frees *elements. */
enum exit_code matchings_unusable(struct run *run, uint32_t fabric, uint32_t **elements,
				  size_t *count);

/* document.c: the answer in the format of files. */
json_t *matchings_document(const struct matchings_search *search);
/* The index of a word in a list that ends with NULL, or the length of the list. */
uint32_t matchings_word(const char *const *words, const char *word);
extern const char *const matchings_kinds[]; /* enum morph_matchings_kind */
extern const char *const matchings_bounds[]; /* enum morph_matchings_bound */

/*
 * read.c: read a file, and check its keys and types. Errors name the part of the file. The caller
 * owns *document.
 */
enum exit_code matchings_read(const char *path, json_t **document);
/* Whether the rounds join endpoints and their targets only, instead of all pairs. */
bool matchings_targets(const json_t *document);

/* show.c: sentences and a table of the rounds. */
void matchings_write(const struct run *run, json_t *document);

#endif /* MORPHCTL_MATCHINGS_H */
