/* simulate_delay.c - begin to count in the middle of a run.
 *
 * A simulation that counts calls reaches a hundredth of the program in its time, which is often its
 * start: reading its input.  callgrind runs a program ten times as fast while it does not count,
 * and vgdb, which comes with valgrind, tells it when to begin.  The two meet at files whose names
 * we choose: below the folder of the simulation, one set for each process.  One that has just
 * started has none yet, and may start others: so it is looked for again and again. */
#include <dirent.h>
#include <stdint.h>
#include <string.h>

#include "base/helper.h"
#include "base/str.h"
#include "simulate_parts.h"

#define ASK_NS UINT64_C(2000000000)
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

static bool is_begun(const struct simulate_begun *begun, const char *pid)
{
	for (unsigned i = 0; i < begun->count; i++)
		if (str_equal(begun->pids[i], pid))
			return true;
	return false;
}

void simulate_begin(const char *folder, struct simulate_begun *begun)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && begun->count < SIMULATE_BEGUN_MOST && (entry = readdir(dir))) {
		const char *at = strstr(entry->d_name, TO_PROCESS);
		char *pid = begun->pids[begun->count]; /* for the time being */
		size_t len = at ? strspn(at + strlen(TO_PROCESS), "0123456789") : 0;

		if (!len || len >= SIMULATE_PID_SIZE)
			continue;
		memcpy(pid, at + strlen(TO_PROCESS), len);
		pid[len] = '\0';
		if (!is_begun(begun, pid) && process_begin(folder, pid) == 0)
			begun->count++;
	}
	if (dir)
		closedir(dir);
}
