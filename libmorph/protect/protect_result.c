// SPDX-License-Identifier: LGPL-2.1-or-later
/* Protections: results of morph_protect(), and ledgers that keep their fibres dark. */
#include "protect.h"

MORPH_API struct morph_protection *morph_protection_new(struct morph_ctx *ctx)
{
	struct morph_protection *protection = calloc(1, sizeof(*protection));

	if (!protection) {
		lm_no_memory(ctx, "begin a protection");
		return NULL;
	}
	protection->ctx = ctx;
	return protection;
}

MORPH_API void morph_protection_free(struct morph_protection *protection)
{
	if (!protection)
		return;
	free(protection->ways.list);
	free(protection->strands.list);
	free(protection->refusals.list);
	free(protection->lifted.list);
	free(protection);
}

uint32_t morph_protection_verdict(const struct morph_protection *protection)
{
	return protection->verdict;
}

uint32_t morph_protection_ranks(const struct morph_protection *protection)
{
	return protection->ranks_count;
}

/* NULL: no such rank. */
static const struct protected_rank *rank_of(const struct morph_protection *protection,
					    uint32_t rank)
{
	return rank < protection->ranks_count ? &protection->ranks[rank] : NULL;
}

uint32_t morph_protection_of(const struct morph_protection *protection, uint32_t rank)
{
	const struct protected_rank *it = rank_of(protection, rank);

	return it ? it->verdict : 0;
}

uint32_t morph_protection_spare(const struct morph_protection *protection, uint32_t rank)
{
	const struct protected_rank *it = rank_of(protection, rank);

	return it ? it->spare : UINT32_MAX;
}

uint32_t morph_protection_fibres(const struct morph_protection *protection, uint32_t rank)
{
	const struct protected_rank *it = rank_of(protection, rank);

	return it ? it->strands_count : 0;
}

const char *morph_protection_why(const struct morph_protection *protection)
{
	return protection->why;
}

static int check_filled(const struct morph_protection *protection)
{
	if (protection->verdict)
		return 0;
	return lm_fail(protection->ctx, EINVAL,
		       "the protection is empty; call morph_protect() first");
}

/* --------------------------------------------------------------------- keeping */

static void keep(struct morph_ledger *ledger, const struct morph_protection *protection, int by)
{
	for (uint32_t at = 0; at < protection->strands.count; at++) {
		const struct strand *strand = &protection->strands.list[at].strand;

		for (uint32_t guide = 0; guide < strand->guides_count; guide++) {
			ledger->guide_kept[strand->guides[guide] >> 1] += (uint32_t)by;
			if (guide)
				ledger->element_kept[strand->elements[guide - 1]] += (uint32_t)by;
		}
	}
}

/* Whether a rank's spare is still one, and its fibres are still dark. */
static int check_rank(const struct morph_ledger *ledger, const struct morph_protection *protection,
		      uint32_t number)
{
	const struct protected_rank *rank = &protection->ranks[number];

	if (rank->verdict != MORPH_FEASIBLE)
		return 0;
	if (!lm_ledger_spare(ledger, rank->spare))
		return lm_fail(ledger->ctx, EBUSY,
			       "accelerator %u, the spare of rank %u, is no longer a healthy spare",
			       rank->spare, number);
	for (uint32_t at = rank->strands_first; at < rank->strands_first + rank->strands_count;
	     at++) {
		const struct spare_strand *it = &protection->strands.list[at];

		if (!it->own && !lm_strand_dark(ledger, &it->strand, ledger->graph->all_lanes))
			return lm_fail(
				ledger->ctx, EBUSY,
				"guide %u, which the protection of rank %u uses, is no longer free",
				it->strand.guides[0] >> 1, number);
	}
	return 0;
}

int morph_ledger_keep(struct morph_ledger *ledger, struct morph_protection *protection)
{
	int error = check_filled(protection);

	if (error)
		return error;
	if (protection->checksum != ledger->graph->params.checksum)
		return lm_fail(
			ledger->ctx, EINVAL,
			"the protection is for a profile with checksum %08x, the ledger's has %08x",
			protection->checksum, ledger->graph->params.checksum);
	if (protection->keeper)
		return lm_fail(ledger->ctx, EBUSY, "the ledger already keeps the protection");
	for (uint32_t rank = 0; rank < protection->ranks_count; rank++) {
		int ret = check_rank(ledger, protection, rank);

		if (ret)
			return ret;
	}
	keep(ledger, protection, 1);
	protection->keeper = ledger;
	return 0;
}

int morph_ledger_unkeep(struct morph_ledger *ledger, struct morph_protection *protection)
{
	if (protection->keeper != ledger)
		return lm_fail(ledger->ctx, EINVAL, "this ledger does not keep the protection");
	keep(ledger, protection, -1);
	protection->keeper = NULL;
	return 0;
}

/* ------------------------------------------------------------------ the kernel */

MORPH_API int morph_protection_apply(const struct morph_protection *protection, uint32_t fabric,
				     uint32_t slice)
{
	struct morph_preference preferences[MOST_RANKS];
	MORPH_OPTS(morph_slice_set_opts, opts, .set = MORPH_SET_PREFERENCES,
		   .preferences = preferences, .preferences_count = protection->ranks_count);
	int error = check_filled(protection);

	if (error)
		return error;
	for (uint32_t rank = 0; rank < protection->ranks_count; rank++)
		preferences[rank] =
			(struct morph_preference){ rank, protection->ranks[rank].spare };
	return morph_admin_slice_set(protection->ctx, fabric, slice, &opts, NULL);
}

int morph_slice_protect(struct morph_slice *slice, const struct morph_protection *protection)
{
	int error = check_filled(protection);

	for (uint32_t rank = 0; rank < protection->ranks_count && !error; rank++)
		error = morph_slice_prefer(slice, rank, protection->ranks[rank].spare);
	return error;
}
