/* SPDX-License-Identifier: GPL-2.0-only */
/* The minimum that a test program needs for the Test Anything Protocol. */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdio.h>

struct tap_test {
	const char *name;
	void (*run)(void);
};

extern bool tap_failed;

/* A condition that must hold; the test continues, so that one failure does not hide another. */
#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			tap_failed = true;                                               \
			printf("# %s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
		}                                                                        \
	} while (0)

/* Two integers that must be equal. */
#define CHECK_EQUAL(a, b)                                                                       \
	do {                                                                                    \
		long long tap_a = (long long)(a), tap_b = (long long)(b);                       \
                                                                                                \
		if (tap_a != tap_b) {                                                           \
			tap_failed = true;                                                      \
			printf("# %s:%d: %s is %lld, but %s is %lld\n", __FILE__, __LINE__, #a, \
			       tap_a, #b, tap_b);                                               \
		}                                                                               \
	} while (0)

#define TEST(function)              \
	{                           \
#function, function \
	}

/* Run all tests and return the exit status of the program. */
int tap_main(const struct tap_test *tests, unsigned int count);

#endif /* TAP_H */
