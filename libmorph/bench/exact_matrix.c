// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open shops by CBC. */
#include <stdio.h>

#include <Cbc_C_Interface.h>

#include "exact_matrix.h"

/* The load of the fullest port; *sum: of all ports together. */
static double fullest_port(const double *times, uint32_t ranks, double *sum)
{
	double most = 0;

	*sum = 0;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		double sent = 0, received = 0;

		for (uint32_t peer = 0; peer < ranks; peer++) {
			sent += times[rank * ranks + peer];
			received += times[peer * ranks + rank];
		}
		most = sent > most ? sent : most;
		most = received > most ? received : most;
		*sum += sent;
	}
	return most;
}

/*
 * One of two pairs ends before the other begins, and all end by @end. The columns are the begins of
 * pairs.
 */
static void add_either(Cbc_Model *model, int one, int other, int order, const double *times,
		       double end)
{
	Cbc_addRow(model, "", 3, (const int[]){ other, one, order },
		   (const double[]){ 1, -1, -end }, 'G', times[one] - end);
	Cbc_addRow(model, "", 3, (const int[]){ one, other, order }, (const double[]){ 1, -1, end },
		   'G', times[other]);
}

static void set_effort(Cbc_Model *model, const struct exact_matrix_effort *effort)
{
	char seconds[32];

	Cbc_setParameter(model, "logLevel", "0");
	Cbc_setParameter(model, "timeMode", "cpu");
	snprintf(seconds, sizeof(seconds), "%g", effort->seconds);
	if (effort->seconds > 0)
		Cbc_setParameter(model, "seconds", seconds);
	if (effort->enough > 0)
		Cbc_setParameter(model, "maxSolutions", "1");
}

double exact_matrix(const double *times, uint32_t ranks, const struct exact_matrix_effort *effort)
{
	int cells = (int)(ranks * ranks), columns = cells + 1;
	Cbc_Model *model = Cbc_newModel();
	double end, least = fullest_port(times, ranks, &end), best = -1;

	/* An earlier deadline makes the program tighter. */
	if (effort->enough > 0)
		end = effort->enough > least ? effort->enough : least;
	set_effort(model, effort);
	for (int cell = 0; cell < cells; cell++)
		Cbc_addCol(model, "", 0, end, 0, 0, 0, NULL, NULL);
	Cbc_addCol(model, "", least, end, 1, 0, 0, NULL, NULL);
	for (int one = 0; one < cells; one++) {
		if (times[one] <= 0)
			continue;
		Cbc_addRow(model, "", 2, (const int[]){ cells, one }, (const double[]){ 1, -1 },
			   'G', times[one]);
		for (int other = one + 1; other < cells; other++) {
			if (times[other] <= 0 || (one / (int)ranks != other / (int)ranks &&
						  one % (int)ranks != other % (int)ranks))
				continue;
			Cbc_addCol(model, "", 0, 1, 0, 1, 0, NULL, NULL);
			add_either(model, one, other, columns++, times, end);
		}
	}
	Cbc_solve(model);
	if (effort->enough > 0 ? Cbc_numberSavedSolutions(model) > 0 : Cbc_isProvenOptimal(model))
		best = Cbc_getObjValue(model);
	Cbc_deleteModel(model);
	return best;
}
