// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open shops by CBC. */
#include <Cbc_C_Interface.h>

#include "exact_matrix.h"

/* What the fullest port has to do, and what all together have. */
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

/* One of two pairs ends before the other begins; columns of pairs are when they begin. */
static void add_either(Cbc_Model *model, int one, int other, int order, const double *times,
		       double sum)
{
	Cbc_addRow(model, "", 3, (const int[]){ other, one, order },
		   (const double[]){ 1, -1, -sum }, 'G', times[one] - sum);
	Cbc_addRow(model, "", 3, (const int[]){ one, other, order }, (const double[]){ 1, -1, sum },
		   'G', times[other]);
}

double exact_matrix(const double *times, uint32_t ranks)
{
	int cells = (int)(ranks * ranks), columns = cells + 1;
	Cbc_Model *model = Cbc_newModel();
	double sum, least = fullest_port(times, ranks, &sum), best = -1;

	Cbc_setParameter(model, "logLevel", "0");
	for (int cell = 0; cell < cells; cell++)
		Cbc_addCol(model, "", 0, sum, 0, 0, 0, NULL, NULL);
	Cbc_addCol(model, "", least, sum, 1, 0, 0, NULL, NULL);
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
			add_either(model, one, other, columns++, times, sum);
		}
	}
	Cbc_solve(model);
	if (Cbc_isProvenOptimal(model))
		best = Cbc_getObjValue(model);
	Cbc_deleteModel(model);
	return best;
}
