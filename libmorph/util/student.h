/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Half an interval of 95 % around a mean, in standard errors of it. A pure function. */
#ifndef LM_UTIL_STUDENT_H
#define LM_UTIL_STUDENT_H

#include <math.h>

/* Student's 97.5 % quantile by the expansion of Abramowitz and Stegun, 26.7.5. */
static inline double student_quantile(double freedom)
{
	const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	if (freedom < 2)
		return 12.7062;
	if (freedom < 3)
		return 4.3027;
	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * pow(freedom, 2)) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * pow(freedom, 3));
}

#endif /* LM_UTIL_STUDENT_H */
