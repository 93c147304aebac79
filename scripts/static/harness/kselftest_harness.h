/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of the kernel's kselftest_harness.h, for cppcheck only. The macros of the kernel's
 * header expand each comparison to 40 tokens and take two thirds of cppcheck's time for a test.
 * Here a comparison is a loop that ends at once, or ends the program, after the optional handler.
 */
#ifndef KSELFTEST_HARNESS_H
#define KSELFTEST_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct __test_metadata;

#define FIXTURE_DATA(name) struct _test_data_##name
#define FIXTURE_VARIANT(name) struct _fixture_variant_##name
#define FIXTURE(name) FIXTURE_DATA(name)
#define FIXTURE_VARIANT_ADD(name, variant) static FIXTURE_VARIANT(name) _##name##_##variant =
#define FIXTURE_SETUP(name)                                                                 \
	static void name##_setup(struct __test_metadata *_metadata, FIXTURE_DATA(name) * self, \
				 const FIXTURE_VARIANT(name) * variant)
#define FIXTURE_TEARDOWN(name)                                                                 \
	static void name##_teardown(struct __test_metadata *_metadata, FIXTURE_DATA(name) * self, \
				    const FIXTURE_VARIANT(name) * variant)
#define TEST(name) static void name(struct __test_metadata *_metadata)
#define TEST_F(fixture, name)                                                             \
	static void fixture##_##name(struct __test_metadata *_metadata,                   \
				     FIXTURE_DATA(fixture) * self,                        \
				     const FIXTURE_VARIANT(fixture) * variant)
#define TEST_F_TIMEOUT(fixture, name, timeout) TEST_F(fixture, name)
#define TEST_HARNESS_MAIN int main(void) { return 0; }

#define TH_LOG(...) fprintf(stderr, __VA_ARGS__)
#define SKIP(statement, ...) do { TH_LOG(__VA_ARGS__); statement; } while (0)

#define EXPECT(condition) for (int _failed = !(condition); _failed; _failed = 0)
#define ASSERT(condition) for (; !(condition); abort())

#define EXPECT_EQ(expected, seen) EXPECT((expected) == (seen))
#define EXPECT_NE(expected, seen) EXPECT((expected) != (seen))
#define EXPECT_LT(expected, seen) EXPECT((expected) < (seen))
#define EXPECT_LE(expected, seen) EXPECT((expected) <= (seen))
#define EXPECT_GT(expected, seen) EXPECT((expected) > (seen))
#define EXPECT_GE(expected, seen) EXPECT((expected) >= (seen))
#define EXPECT_TRUE(seen) EXPECT(seen)
#define EXPECT_FALSE(seen) EXPECT(!(seen))
#define EXPECT_STREQ(expected, seen) EXPECT(!strcmp(expected, seen))
#define EXPECT_STRNE(expected, seen) EXPECT(strcmp(expected, seen))
#define ASSERT_EQ(expected, seen) ASSERT((expected) == (seen))
#define ASSERT_NE(expected, seen) ASSERT((expected) != (seen))
#define ASSERT_LT(expected, seen) ASSERT((expected) < (seen))
#define ASSERT_LE(expected, seen) ASSERT((expected) <= (seen))
#define ASSERT_GT(expected, seen) ASSERT((expected) > (seen))
#define ASSERT_GE(expected, seen) ASSERT((expected) >= (seen))
#define ASSERT_TRUE(seen) ASSERT(seen)
#define ASSERT_FALSE(seen) ASSERT(!(seen))

#endif
