/* job_fixture.h - what tests of jobs need: a folder, files, and runs that nobody made. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/io.h"
#include "folder.h"
#include "job/host.h"
#include "model/run.h"

static inline void file_put(const char *path, const char *text)
{
	struct err err = {0};

	if (io_replace(path, IO_SHARED, text, strlen(text), &err) < 0)
		fail_msg("%s", err.text);
}

/* `count` more runs of command number `command` (a new one is named), each of about `wall_ns`, half
 * of it on a CPU. */
static inline void runs_add(
	struct run *run, uint32_t command, const char *name, uint32_t count, double wall_ns)
{
	if (command > run->commands.count)
		run_add_command(run, &(struct command_row){run_intern(run, name)});
	for (uint32_t i = 0; i < count; i++) {
		uint64_t wall = (uint64_t)wall_ns + (i * 7 + command * 3) % 5 * 100000;

		run_add_execution(
			run, &(struct execution_row){
				     .command = command,
				     .start_ns = run->executions.count * UINT64_C(200000000),
				     .wall_ns = wall,
				     .user_ns = wall / 2,
				     .max_rss_bytes = 8 << 20,
				     .rss_floor_bytes = 1 << 20,
				     .minor_faults = 100,
				     .flags = EXECUTION_STEAL | EXECUTION_PRESSURE,
			     });
	}
}

static inline bool run_notes(const struct run *run, const char *code)
{
	vec_foreach (const struct note_row, note, &run->notes)
		if (strcmp(run_text(run, note->code), code) == 0)
			return true;
	return false;
}
