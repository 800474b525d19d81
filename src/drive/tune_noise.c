/* tune_noise.c - see tune_noise.h.
 *
 * Ticks are 10 ms, so a quarter of a second tells a process that uses a tenth of a processor from
 * one that sleeps.  Threads are counted with their process.  A process that was not there at the
 * first look counts from its start: it is younger than that. */
#include "drive/tune_noise.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"
#include "base/vec.h"

enum { PAUSE_NS = 250000000, STAT_MODES = 8, STAT_STEAL = 7, STAT_IDLE = 3, STAT_IOWAIT = 4 };

/* The name stands in parentheses and may hold blanks, parentheses and newlines itself: the last
 * one closes it.  11 fields further stand utime and stime. */
bool task_line_parse(const char *text, struct task_line *ret_line)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')'), *at;
	unsigned long long user, system;
	size_t len = 0;

	if (!open || !close || close < open)
		return false;
	at = close + 1;
	for (unsigned field = 0; field < 11; field++) {
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	if (sscanf(at, "%20llu %20llu", &user, &system) != 2)
		return false;
	for (const char *c = open + 1; c < close && len + 1 < sizeof(ret_line->name); c++)
		ret_line->name[len++] = *c >= 0x20 && *c < 0x7f ? *c : '?';
	ret_line->name[len] = '\0';
	ret_line->ticks = user + system;
	return true;
}

struct task {
	uint32_t pid;
	struct task_line line;
};

struct look {
	vec_of(struct task) tasks;
	struct map by_pid; /* to the index */
	uint64_t modes[STAT_MODES];
	bool has_modes;
	uint64_t time_ns;
};

static void look_done(struct look *look)
{
	vec_done(&look->tasks);
	map_done(&look->by_pid);
}

static void look_take(int proc, struct look *look)
{
	DIR *folder = fdopendir(dup(proc));
	const struct dirent *entry;
	str_auto struct str text = {0};
	unsigned long long m[STAT_MODES];

	look->time_ns = clock_monotonic_ns();
	if (io_read_at(proc, "stat", 1 << 20, &text) >= 0 &&
		sscanf(str_text(&text), "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &m[0], &m[1],
			&m[2], &m[3], &m[4], &m[5], &m[6], &m[7]) == STAT_MODES) {
		look->has_modes = true;
		for (unsigned i = 0; i < STAT_MODES; i++)
			look->modes[i] = m[i];
	}
	if (!folder)
		return;
	rewinddir(folder);
	while ((entry = readdir(folder))) {
		struct task task = {.pid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
		char path[300];

		snprintf(path, sizeof(path), "%s/stat", entry->d_name);
		str_clear(&text);
		if (!isdigit((unsigned char)entry->d_name[0]) ||
			io_read_at(proc, path, 65536, &text) < 0 ||
			!task_line_parse(str_text(&text), &task.line))
			continue;
		map_put(&look->by_pid, &task.pid, sizeof(task.pid), look->tasks.count);
		vec_push(&look->tasks, task);
	}
	closedir(folder);
}

/* Insert by size; what falls off the end is not among the busiest. */
static void busy_add(struct tune_noise *noise, const struct task *task, double cpus)
{
	unsigned at = noise->busy_count;

	while (at > 0 && noise->busy[at - 1].cpus < cpus)
		at--;
	if (at == TUNE_BUSY)
		return;
	noise->busy_count += noise->busy_count < TUNE_BUSY;
	memmove(&noise->busy[at + 1], &noise->busy[at],
		(noise->busy_count - at - 1) * sizeof(noise->busy[0]));
	noise->busy[at] = (struct tune_busy){.pid = task->pid, .cpus = cpus};
	memcpy(noise->busy[at].name, task->line.name, sizeof(task->line.name));
}

static void tasks_compare(
	const struct look *first, const struct look *second, struct tune_noise *noise)
{
	double ticks = noise->seconds * (double)sysconf(_SC_CLK_TCK);

	vec_foreach (const struct task, task, &second->tasks) {
		uint64_t before = 0;
		uint32_t index = 0;

		if (str_equal(task->line.name, "irqbalance"))
			noise->irqbalance = task->pid;
		if (map_get(&first->by_pid, &task->pid, sizeof(task->pid), &index) &&
			index < first->tasks.count)
			before = first->tasks.at[index].line.ticks;
		if (task->line.ticks > before && task->pid != (uint32_t)getpid())
			busy_add(noise, task, (double)(task->line.ticks - before) / ticks);
	}
}

static void modes_compare(
	const struct look *first, const struct look *second, struct tune_noise *noise)
{
	uint64_t all = 0, idle, steal;

	noise->steal_share = noise->used_share = -1;
	if (!first->has_modes || !second->has_modes)
		return;
	for (unsigned i = 0; i < STAT_MODES; i++)
		all += second->modes[i] - first->modes[i];
	if (!all || all > INT64_MAX)
		return;
	idle = second->modes[STAT_IDLE] - first->modes[STAT_IDLE] + second->modes[STAT_IOWAIT] -
	       first->modes[STAT_IOWAIT];
	steal = second->modes[STAT_STEAL] - first->modes[STAT_STEAL];
	if (idle > all || steal > all)
		return; /* the kernel's idle time may go back when a processor goes offline */
	noise->used_share = (double)(all - idle) / (double)all;
	noise->steal_share = (double)steal / (double)all;
}

int tune_noise_look(const char *root, struct tune_noise *ret_noise, struct err *err)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct look first = {0}, second = {0};
	char path[4096];
	io_auto int proc = -1;

	snprintf(path, sizeof(path), "%s/proc", root);
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return err_set(err, ERR_UNAVAILABLE, errno, "cannot read the processes: %s: %s",
			path, err_words(errno));
	*ret_noise = (struct tune_noise){0};
	look_take(proc, &first);
	nanosleep(&pause, NULL);
	look_take(proc, &second);
	ret_noise->seconds = (double)(second.time_ns - first.time_ns) / 1e9;
	tasks_compare(&first, &second, ret_noise);
	modes_compare(&first, &second, ret_noise);
	look_done(&first);
	look_done(&second);
	return 0;
}
