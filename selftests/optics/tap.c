// SPDX-License-Identifier: GPL-2.0-only
#include "tap.h"

bool tap_failed;

int tap_main(const struct tap_test *tests, unsigned int count)
{
	unsigned int i, failures = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%u\n", count);
	for (i = 0; i < count; i++) {
		tap_failed = false;
		tests[i].run();
		failures += tap_failed;
		printf("%sok %u - %s\n", tap_failed ? "not " : "", i + 1, tests[i].name);
	}
	return failures ? 1 : 0;
}
