/* event_place.c - see event_place.h. */
#include "event_place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"

bool event_place_cpu_listed(const char *list, int cpu)
{
	while (*list) {
		char *end;
		long low = strtol(list, &end, 10), high = low;

		if (end == list)
			return false;
		if (*end == '-')
			high = strtol(end + 1, &end, 10);
		if (cpu >= low && cpu <= high)
			return true;
		list = end + (*end == ',');
	}
	return false;
}

int event_place_add_cpus(event_place_vec *places, struct err *err)
{
	long most = sysconf(_SC_NPROCESSORS_CONF);
	char online[4096];

	if (io_read_line("/sys/devices/system/cpu/online", online, sizeof(online)) <= 0)
		snprintf(online, sizeof(online), "0-%ld", most - 1);
	for (int cpu = 0; cpu < most; cpu++)
		if (event_place_cpu_listed(online, cpu))
			vec_push(places, (struct event_place){-1, cpu});
	return places->count ? 0 : err_set(err, ERR_UNAVAILABLE, ENODEV, "no CPU is online");
}

int event_place_add_threads(event_place_vec *places, pid_t pid, struct err *err)
{
	const struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder) {
		err_set(err, ERR_TARGET, ESRCH, "no process %d", (int)pid);
		err_hint(err, "`ps -e` lists processes");
		return -ESRCH;
	}
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			vec_push(places, (struct event_place){atoi(entry->d_name), -1});
	closedir(folder);
	return 0;
}

void event_place_allow_descriptors(uint64_t need)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need + 64)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
