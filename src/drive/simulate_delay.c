/* simulate_delay.c - begin to count in the middle of a run.
 *
 * A simulation that counts calls reaches a hundredth of the program in its time, which is often its
 * start: reading its input.  callgrind runs a program ten times as fast while it does not count,
 * and vgdb, which comes with valgrind, tells it when to begin.  The two meet at files whose names
 * we choose: below the folder of the simulation, one set for each process. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/helper.h"
#include "base/str.h"
#include "simulate_parts.h"

enum { ASK_NS = 2000000000, PROCESSES_MOST = 64 };
#define TO_PROCESS "vgdb-from-vgdb-to-"

static int process_begin(const char *folder, const char *pid)
{
	str_auto struct str prefix = {0}, process = {0};
	struct err ignored = {0};

	str_addf(&prefix, "--vgdb-prefix=%s/vgdb", folder);
	str_addf(&process, "--pid=%s", pid);
	return helper_run(
		&(struct helper_options){
			.argv = (const char *const[]){"vgdb", prefix.at, process.at,
				"instrumentation", "on", NULL},
			.output_fd = -1,
			.error_fd = -1,
			.limit_ns = ASK_NS,
		},
		&ignored);
}

unsigned simulate_delay_end(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned begun = 0, asked = 0;

	while (dir && asked < PROCESSES_MOST && (entry = readdir(dir))) {
		const char *at = strstr(entry->d_name, TO_PROCESS);
		char pid[16] = "";

		if (!at)
			continue;
		at += strlen(TO_PROCESS);
		for (size_t i = 0; i + 1 < sizeof(pid) && at[i] >= '0' && at[i] <= '9'; i++)
			pid[i] = at[i];
		asked++;
		begun += process_begin(folder, pid) == 0;
	}
	if (dir)
		closedir(dir);
	return begun;
}
