/* screen.h - what a user sees against what was accepted: tests/golden/FOLDER/NAME.
 *
 * With ASSAY_ACCEPT in the environment what is seen now is accepted. */
#pragma once

#include <stdlib.h>

#include "base/io.h"
#include "base/str.h"

static inline void assert_screen(const char *folder, const char *name, const struct str *screen)
{
	str_auto struct str expected = {0}, path = {0};
	struct err err = {0};

	str_addf(&path, "%s/%s/%s", TEST_GOLDEN, folder, name);
	if (getenv("ASSAY_ACCEPT")) {
		assert_int_equal(
			io_replace(str_text(&path), IO_SHARED, screen->at, screen->len, &err), 0);
		return;
	}
	if (io_read(str_text(&path), 1 << 20, &expected, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(str_text(&expected), str_text(screen));
}
