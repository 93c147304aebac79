// SPDX-License-Identifier: LGPL-2.1-or-later
/* Convert profiles of Open MPI's pml_monitoring to demands. */
#include <morph/formats.h>

#include "scheduling.h"

static const char profile[] = "# POINT TO POINT\n"
			      "E\t0\t1\t1000 bytes\t3 msgs sent\t0,0,3\n"
			      "I\t0\t1\t24 bytes\t1 msgs sent\n"
			      "I\t0\t2\t4 bytes\t2 msgs sent\t0,2\n"
			      "# OSC\n"
			      "S\t0\t2\t50 bytes\t1 msgs sent\n"
			      "R\t0\t1\t7 bytes\t1 msgs sent\n"
			      "# COLLECTIVES\n"
			      "C\t0\t1\t24 bytes\t1 msgs sent\n"
			      "D\tMPI_COMM_WORLD\tprocs: 0,1,2\n"
			      "O2A\t0\t0 bytes\t0 msgs sent\n"
			      "A2O\t0\t0 bytes\t0 msgs sent\n"
			      "A2A\t0\t8 bytes\t2 msgs sent\n"
			      "\n"
			      "  E 2 0 5 bytes 1 msgs sent\r\n"
			      "E 2 1 6 bytes 1 msgs sent";

static void all_messages_are_added(void **state)
{
	const uint64_t wanted[9] = { 1, 1024, 54, 7, 0, 0, 5, 6, 0 };
	uint64_t bytes[9] = { 1 };
	char why[256] = "";

	(void)state;
	if (morph_monitoring_read(bytes, 3, profile, sizeof(profile) - 1, why, sizeof(why)))
		fail_msg("%s", why);
	assert_memory_equal(bytes, wanted, sizeof(bytes));
	assert_int_equal(morph_monitoring_read(bytes, 3, "", 0, NULL, 0), 0);
}

struct refused {
	const char *text, *why;
};

static const struct refused refused[] = {
	{ "\nX 0 1 1 bytes 1 msgs sent", "line 2: must begin with a kind of message" },
	{ "EE 0 1 1 bytes 1 msgs sent", "line 1: must begin with a kind of message" },
	{ "E 0 1 1 bytes 1 msgs", "line 1: must be 'RANK RANK BYTES bytes MESSAGES msgs sent'" },
	{ "E 0 1 1x bytes 1 msgs sent",
	  "line 1: must be 'RANK RANK BYTES bytes MESSAGES msgs sent'" },
	{ "E 0 -1 1 bytes 1 msgs sent",
	  "line 1: must be 'RANK RANK BYTES bytes MESSAGES msgs sent'" },
	{ "E 0 1 18446744073709551616 bytes 1 msgs sent",
	  "line 1: must be 'RANK RANK BYTES bytes MESSAGES msgs sent'" },
	{ "E 0 2 1 bytes 1 msgs sent", "line 1: no rank 2: there are 2 ranks" },
	{ "E 7 0 1 bytes 1 msgs sent", "line 1: no rank 7: there are 2 ranks" },
	{ "E 0 1 18446744073709551615 bytes 1 msgs sent",
	  "line 1: rank 0 sends rank 1 more than 2^50 bytes" },
	{ "E 0 1 1125899906842624 bytes 1 msgs sent\nR 1 0 1 bytes 1 msgs sent",
	  "line 2: rank 0 sends rank 1 more than 2^50 bytes" },
};

static void errors_name_their_line(void **state)
{
	char why[256];

	(void)state;
	for (size_t at = 0; at < sizeof(refused) / sizeof(*refused); at++) {
		size_t length = strlen(refused[at].text);
		char *text = malloc(length);
		uint64_t bytes[4] = { 0 };

		assert_non_null(text);
		memcpy(text, refused[at].text, length);
		assert_int_equal(morph_monitoring_read(bytes, 2, text, length, why, sizeof(why)),
				 -EINVAL);
		assert_string_equal(why, refused[at].why);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_messages_are_added),
		cmocka_unit_test(errors_name_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
