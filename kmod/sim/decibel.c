// SPDX-License-Identifier: GPL-2.0-only
/*
 * Integer powers: thousandths of a dBm, and a linear scale for sums.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "physics.h"

#define ZERO_MDBM	(-150000)	/* 1 on the linear scale */
#define MOST_MDBM	30000		/* the scale ends here, at 10^18 */
#define SCALE_SHIFT	28

/* 10^(i/10), 10^(i/100), 10^(i/1000), 10^(i/10000), times 2^SCALE_SHIFT. */
static const u32 digits[4][10] = {
	{ 268435456, 337940217, 425441527, 535599149, 674279380,
	  848867446, 1068660799, 1345364236, 1693713225, 2132258619 },
	{ 268435456, 274688121, 281086429, 287633773, 294333625,
	  301189535, 308205141, 315384161, 322730402, 330247758 },
	{ 268435456, 269054264, 269674498, 270296162, 270919259,
	  271543792, 272169765, 272797181, 273426044, 274056356 },
	{ 268435456, 268497273, 268559104, 268620949, 268682808,
	  268744682, 268806570, 268868472, 268930388, 268992319 },
};

/* 10^i */
static const u64 decades[19] = {
	1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 10000000ULL,
	100000000ULL, 1000000000ULL, 10000000000ULL, 100000000000ULL, 1000000000000ULL,
	10000000000000ULL, 100000000000000ULL, 1000000000000000ULL, 10000000000000000ULL,
	100000000000000000ULL, 1000000000000000000ULL,
};

/* Missing power of a rising path: -10000 log10(1 - e^(-2.2 i / 64)); tau = settle / 2.2. */
static const u32 rise_mdb[65] = {
	SIM_OPAQUE_MDB, 14712, 11776, 10088, 8912, 8016, 7296, 6699, 6190, 5750,
	5363, 5019, 4711, 4432, 4179, 3948, 3736, 3540, 3359, 3191,
	3035, 2889, 2753, 2625, 2504, 2391, 2285, 2185, 2090, 2000,
	1915, 1834, 1758, 1685, 1616, 1551, 1488, 1429, 1372, 1318,
	1266, 1216, 1169, 1124, 1081, 1040, 1000, 962, 926, 891,
	858, 826, 796, 766, 738, 711, 685, 660, 636, 613,
	591, 569, 549, 529, 510,
};

#define FADE_MDB	9554		/* 10000 log10(e) 2.2: lost by a fading path in settle_ns */

/* Linear power; 0 below the scale. */
u64 sim_linear(s32 mdbm)
{
	u64 factor;
	u32 x, rest;

	if (mdbm < ZERO_MDBM)
		return 0;
	x = min(mdbm, MOST_MDBM) - ZERO_MDBM;
	rest = x % 10000;
	factor = digits[0][rest / 1000];
	factor = (factor * digits[1][rest / 100 % 10]) >> SCALE_SHIFT;
	factor = (factor * digits[2][rest / 10 % 10]) >> SCALE_SHIFT;
	factor = (factor * digits[3][rest % 10]) >> SCALE_SHIFT;
	return mul_u64_u64_shr(decades[x / 10000], factor, SCALE_SHIFT);
}

/* The greatest decade that does not exceed a linear power above 0. */
static u32 decade_of(u64 linear)
{
	u32 decade = fls64(linear) * 1233 >> 12;	/* log10(2) is 1233 / 4096 */

	decade = min_t(u32, decade, ARRAY_SIZE(decades) - 1);
	return decades[decade] > linear ? decade - 1 : decade;
}

/* log10 of a ratio from 1 to 10, times 10000: about, because each digit rounds the rest. */
static u32 log_digits(u64 ratio)
{
	u32 value = 0, i, digit;

	for (i = 0; i < ARRAY_SIZE(digits); i++) {
		for (digit = 9; digits[i][digit] > ratio && digit;)
			digit--;
		ratio = div_u64(ratio << SCALE_SHIFT, digits[i][digit]);
		value = value * 10 + digit;
	}
	return value;
}

/* The greatest power in mdbm that does not exceed a linear one. */
s32 sim_mdbm(u64 linear)
{
	s32 low, high, mdbm;
	u64 above;
	u32 decade;

	if (!linear)
		return ZERO_MDBM;
	decade = decade_of(linear);
	low = ZERO_MDBM + (s32)decade * 10000;
	high = min(MOST_MDBM, low + 9999);
	/* sim_linear() rounds down, so the first power that exceeds this one is linear + 1. */
	above = linear + 1;
	if (decade > 9) {
		above = div64_u64(above, decades[decade - 9]);
		decade = 9;
	}
	mdbm = min(high, low + (s32)log_digits(div64_u64(above << SCALE_SHIFT, decades[decade])));
	while (mdbm > low && sim_linear(mdbm) > linear)
		mdbm--;
	while (mdbm < high && sim_linear(mdbm + 1) <= linear)
		mdbm++;
	return mdbm;
}

/* Additional loss at time t of a path that reaches power in settle_ns. */
s32 sim_rise_mdb(u64 t, u64 settle_ns)
{
	return rise_mdb[div64_u64(t * 64, settle_ns)];
}

/* Additional loss at time t of a path that another replaces in settle_ns. */
s32 sim_fade_mdb(u64 t, u64 settle_ns)
{
	return div64_u64(t * FADE_MDB, settle_ns);
}
