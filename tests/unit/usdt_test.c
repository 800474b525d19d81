/* usdt_test.c - the notes of sys/sdt.h, whole and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/usdt.h"

/* A note of another owner, then app:done at 0x1180 with a semaphore, linked at base 0x2000. */
static const unsigned char notes[] = {
	4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 9, 9, 9, 9,	   /* GNU */
	8, 0, 0, 0, 34, 0, 0, 0, 3, 0, 0, 0, 's', 't', 'a', 'p', 's', 'd', 't', 0, /* head */
	0x80, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0x10, 0x40, 0, 0, 0, 0, 0, 0, 'a',
	'p', 'p', 0, 'd', 'o', 'n', 'e', 0, 0, /* no arguments */
};

static void a_probe_is_read_and_moved_with_its_file(void **state)
{
	usdt_probe_vec probes = {0};

	(void)state;
	usdt_parse((struct image_bytes){notes, sizeof(notes), 0}, 0x2100, &probes);
	assert_int_equal(probes.count, 1);
	assert_string_equal(probes.at[0].provider, "app");
	assert_string_equal(probes.at[0].name, "done");
	assert_int_equal(probes.at[0].addr, 0x1280);
	assert_int_equal(probes.at[0].semaphore, 0x4110);
	probes.count = 0;
	usdt_parse((struct image_bytes){notes, sizeof(notes), 0}, 0, &probes);
	assert_int_equal(probes.at[0].addr, 0x1180);
	vec_done(&probes);
}

static void what_is_cut_off_is_passed_over(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(notes); len++) {
		usdt_probe_vec probes = {0};

		usdt_parse((struct image_bytes){notes, len, 0}, 0, &probes);
		assert_int_equal(probes.count, 0);
		vec_done(&probes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_is_read_and_moved_with_its_file),
		cmocka_unit_test(what_is_cut_off_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
