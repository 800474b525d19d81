/* folder.h - a folder of its own for a test to work in, and run files that nobody made. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/store.h"

#define in_folder(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

static inline int enter_folder(void **state)
{
	char name[] = "/tmp/assay-unit-XXXXXX";

	if (!mkdtemp(name) || chdir(name) < 0)
		return -1;
	*state = mem_copy_text(name, strlen(name));
	return 0;
}

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static inline int leave_folder(void **state)
{
	if (chdir("/") < 0 || nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
		return -1;
	free(*state);
	return 0;
}

static inline void run_put(const char *path, const struct run *run)
{
	store_auto struct store *store = NULL;
	struct err err = {0};

	if (store_create(path, &store, &err) < 0 || store_finish(store, run, &err) < 0)
		fail_msg("%s", err.text);
}
