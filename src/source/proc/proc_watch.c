/* proc_watch.c - see proc_watch.h.
 *
 * A reading walks from the program to its children (/proc/PID/task/TID/children); who was seen once
 * is read on when its parent has gone.  Reads of io and faults add what ended children had to their
 * parent's, so these are summed over the living and the largest sum counts; schedstat does not, so
 * there each thread keeps its last reading.
 * What a reading costs the target: a walk over smaps_rollup holds the lock of its memory map, so it
 * is done once a second at most and never for more than 1 % of the time; the rest takes no lock
 * that a running thread needs. */
#include "source/proc_watch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "proc_parts.h"

/* Short programs get some early readings; afterwards it is ten times a second. */
#define FIRST_NS UINT64_C(5000000)
#define STEP_NS UINT64_C(100000000)
#define ROLLUP_NS UINT64_C(1000000000)
/* A reading may take this part of the time between two. */
#define COST_FACTOR 100

int proc_file_read(struct proc_watch *watch, const char *format, ...)
{
	va_list args;
	int r;

	str_clear(&watch->path);
	str_add(&watch->path, watch->root);
	va_start(args, format);
	str_addv(&watch->path, format, args);
	va_end(args);
	str_clear(&watch->text);
	r = io_read_at(AT_FDCWD, str_text(&watch->path), PROC_TEXT_MOST, &watch->text);
	if (r >= 0 && !watch->text.len)
		r = -ENODATA;
	/* A process that ended between the look at the folder and the read is no failure. */
	return r == -ESRCH ? -ENOENT : r;
}

static void errno_note(int *first, int r)
{
	if (!*first && r < 0 && r != -ENOENT)
		*first = -r;
}

/* ---- threads ---- */

static struct proc_thread *thread_of(struct proc_watch *watch, pid_t pid, pid_t tid)
{
	uint32_t index;

	if (map_get(&watch->index, &tid, sizeof(tid), &index) &&
		watch->threads.at[index].pid == pid)
		return &watch->threads.at[index];
	map_put(&watch->index, &tid, sizeof(tid), watch->threads.count);
	vec_push(&watch->threads, (struct proc_thread){.pid = pid, .tid = tid});
	return &watch->threads.at[watch->threads.count - 1];
}

/* A number that went back belongs to another thread of the same id. */
static struct proc_thread *thread_anew(
	struct proc_watch *watch, struct proc_thread *thread, const struct proc_schedstat *now)
{
	pid_t pid = thread->pid, tid = thread->tid;

	if (!thread->is_read || now->on_cpu_ns >= thread->at.on_cpu_ns)
		return thread;
	map_put(&watch->index, &tid, sizeof(tid), watch->threads.count);
	vec_push(&watch->threads, (struct proc_thread){.pid = pid, .tid = tid});
	return &watch->threads.at[watch->threads.count - 1];
}

static void status_take(
	struct proc_watch *watch, struct proc_thread *thread, const struct proc_status *status)
{
	bool first = watch->options.attached && watch->readings == 0;

	watch->running_sum += status->state == 'R';
	watch->blocked_sum += status->state == 'D';
	if (status->voluntary == UINT64_MAX || status->involuntary == UINT64_MAX)
		return;
	thread->voluntary = status->voluntary;
	thread->involuntary = status->involuntary;
	if (first) {
		thread->from_voluntary = status->voluntary;
		thread->from_involuntary = status->involuntary;
	}
	/* A thread may bind itself to fewer: the program may use what its freest thread may. */
	if (status->cpus_allowed != UINT64_MAX && status->cpus_allowed > watch->cpus)
		watch->cpus = status->cpus_allowed;
}

/* Ten times a second is few, but it needs no privilege and tells what no sample of a CPU can: what
 * a thread waits for. */
static void wait_read(struct proc_watch *watch, pid_t pid, pid_t tid)
{
	enum proc_wait wait;
	uint64_t address;
	int r = proc_file_read(watch, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);

	if (r >= 0 && !proc_wait_parse(str_text(&watch->text), &wait, &address))
		r = -EINVAL;
	errno_note(&watch->wait_errno, r);
	if (r < 0)
		return;
	watch->waits[wait]++;
	if (wait != PROC_WAIT_LOCK)
		return;
	vec_foreach (struct proc_lock, lock, &watch->locks)
		if (lock->address == address) {
			lock->waits++;
			return;
		}
	if (watch->locks.count < PROC_LOCKS_MOST)
		vec_push(&watch->locks, (struct proc_lock){address, 1});
}

static void thread_read(struct proc_watch *watch, pid_t pid, pid_t tid)
{
	struct proc_schedstat now;
	struct proc_status status;
	struct proc_thread *thread;
	int r = proc_file_read(watch, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);

	if (r >= 0 && !proc_schedstat_parse(str_text(&watch->text), &now))
		r = -EINVAL;
	/* Without schedstats in the kernel there is no such file for a thread that lives. */
	if (r == -ENOENT && !watch->schedstat_errno && !watch->threads.count)
		watch->schedstat_errno = ENOENT;
	errno_note(&watch->schedstat_errno, r);
	thread = thread_of(watch, pid, tid);
	if (r >= 0) {
		thread = thread_anew(watch, thread, &now);
		if (watch->options.attached && watch->readings == 0)
			thread->from = now;
		thread->at = now;
		thread->is_read = true;
	}
	watch->threads_now++;
	r = proc_file_read(watch, "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (r >= 0 && !proc_status_parse(str_text(&watch->text), &status))
		r = -EINVAL;
	errno_note(&watch->status_errno, r);
	if (r < 0)
		return;
	status_take(watch, thread, &status);
	if (status.state != 'R')
		wait_read(watch, pid, tid);
}

/* ---- processes ---- */

static void process_add(struct proc_watch *watch, pid_t pid)
{
	vec_foreach (const struct proc_process, process, &watch->processes)
		if (process->pid == pid && process->alive)
			return;
	if (watch->processes.count < PROC_PROCESSES_MOST)
		vec_push(&watch->processes, (struct proc_process){.pid = pid, .alive = true});
}

/* "12 34 56 " */
static void children_add(struct proc_watch *watch, pid_t pid, pid_t tid)
{
	const char *at;

	if (proc_file_read(watch, "/proc/%d/task/%d/children", (int)pid, (int)tid) < 0)
		return;
	for (at = str_text(&watch->text); *at;) {
		char *end;
		long child = strtol(at, &end, 10);

		if (end == at || child <= 0 || child > INT32_MAX)
			return;
		process_add(watch, (pid_t)child);
		at = end + strspn(end, " \n");
	}
}

static void threads_read(struct proc_watch *watch, pid_t pid)
{
	const struct dirent *entry;
	DIR *folder;

	str_clear(&watch->path);
	str_addf(&watch->path, "%s/proc/%d/task", watch->root, (int)pid);
	folder = opendir(str_text(&watch->path));
	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0])) {
			pid_t tid = atoi(entry->d_name);

			thread_read(watch, pid, tid);
			children_add(watch, pid, tid);
		}
	closedir(folder);
}

static void io_read_of(struct proc_watch *watch, pid_t pid, struct proc_sums *now)
{
	struct proc_io io;
	int r = proc_file_read(watch, "/proc/%d/io", (int)pid);

	if (r >= 0 && !proc_io_parse(str_text(&watch->text), &io))
		r = -EINVAL;
	errno_note(&watch->io_errno, r);
	if (r < 0)
		return;
	now->io.read_chars += io.read_chars;
	now->io.write_chars += io.write_chars;
	now->io.read_calls += io.read_calls;
	now->io.write_calls += io.write_calls;
	now->io.read_bytes += io.read_bytes;
	now->io.write_bytes += io.write_bytes;
}

static void memory_read_of(struct proc_watch *watch, pid_t pid, struct proc_sums *now)
{
	struct proc_status status;
	int r = proc_file_read(watch, "/proc/%d/status", (int)pid);

	if (r >= 0 && proc_status_parse(str_text(&watch->text), &status) &&
		status.rss_bytes != UINT64_MAX)
		now->rss_bytes += status.rss_bytes;
}

/* False: it has ended, or its id is somebody else's now. */
static bool process_read(struct proc_watch *watch, uint32_t index, struct proc_sums *now)
{
	struct proc_process *process = &watch->processes.at[index];
	pid_t pid = process->pid;
	struct proc_stat stat;
	int r = proc_file_read(watch, "/proc/%d/stat", (int)pid);

	if (r >= 0 && !proc_stat_parse(str_text(&watch->text), &stat))
		r = -EINVAL;
	errno_note(&watch->stat_errno, r);
	if (r < 0)
		return false;
	if (process->started && process->started != stat.started)
		return false;
	process->started = stat.started;
	now->minor_faults += stat.minor_faults;
	now->major_faults += stat.major_faults;
	threads_read(watch, pid);
	io_read_of(watch, pid, now);
	memory_read_of(watch, pid, now);
	return true;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void sums_keep(struct proc_watch *watch, const struct proc_sums *now)
{
	struct proc_sums *most = &watch->most;

	most->io.read_chars = larger(most->io.read_chars, now->io.read_chars);
	most->io.write_chars = larger(most->io.write_chars, now->io.write_chars);
	most->io.read_calls = larger(most->io.read_calls, now->io.read_calls);
	most->io.write_calls = larger(most->io.write_calls, now->io.write_calls);
	most->io.read_bytes = larger(most->io.read_bytes, now->io.read_bytes);
	most->io.write_bytes = larger(most->io.write_bytes, now->io.write_bytes);
	most->minor_faults = larger(most->minor_faults, now->minor_faults);
	most->major_faults = larger(most->major_faults, now->major_faults);
	most->rss_bytes = larger(most->rss_bytes, now->rss_bytes);
	if (watch->options.attached && watch->readings == 0) {
		watch->from = *now;
		watch->from.rss_bytes = 0;
	}
}

/* The walk holds the lock of the memory map: rarely, and never for long. */
static void rollup_read(struct proc_watch *watch, uint64_t now_ns)
{
	uint64_t began_ns = clock_monotonic_ns(), pss = 0, took_ns;
	bool any = false;

	if (now_ns < watch->rollup_due_ns)
		return;
	vec_foreach (const struct proc_process, process, &watch->processes) {
		struct proc_rollup rollup;
		int r = process->alive
				? proc_file_read(watch, "/proc/%d/smaps_rollup", (int)process->pid)
				: -ENOENT;

		if (r >= 0 && !proc_rollup_parse(str_text(&watch->text), &rollup))
			r = -EINVAL;
		errno_note(&watch->rollup_errno, r);
		if (r < 0)
			continue;
		any = true;
		pss += rollup.pss_bytes;
	}
	watch->memory_readings += any;
	watch->pss_most = larger(watch->pss_most, pss);
	took_ns = clock_monotonic_ns() - began_ns;
	watch->rollup_due_ns = now_ns + larger(ROLLUP_NS, COST_FACTOR * took_ns);
}

/* Processes are added behind the loop's place while it runs. */
static void processes_read(struct proc_watch *watch, uint64_t now_ns)
{
	struct proc_sums now = {0};

	watch->threads_now = 0;
	for (uint32_t i = 0; i < watch->processes.count; i++)
		if (watch->processes.at[i].alive)
			watch->processes.at[i].alive = process_read(watch, i, &now);
	watch->threads_most = larger(watch->threads_most, watch->threads_now);
	if (!watch->threads_now)
		return; /* it has ended */
	sums_keep(watch, &now);
	if (now.rss_bytes)
		vec_push(&watch->memory,
			(struct proc_memory){
				(double)(now_ns - watch->start_ns) / 1e9, (double)now.rss_bytes});
	rollup_read(watch, now_ns);
	watch->readings++;
}

void proc_watch_read(struct proc_watch *watch, uint64_t now_ns)
{
	uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), took_ns, early_ns;

	processes_read(watch, now_ns);
	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	watch->cost_ns += took_ns;
	/* 5, 10, 20, 40, 80 ms after the start, then every 100. */
	early_ns = now_ns - watch->start_ns < STEP_NS ? now_ns - watch->start_ns : STEP_NS;
	watch->due_ns = now_ns + larger(larger(early_ns, FIRST_NS), COST_FACTOR * took_ns);
}

struct proc_watch *proc_watch_open(const struct proc_watch_options *options, uint64_t now_ns)
{
	struct proc_watch *watch = mem_new(1, sizeof(*watch));

	watch->options = *options;
	watch->cpus = options->cpus;
	snprintf(watch->root, sizeof(watch->root), "%s", options->root ? options->root : "");
	watch->start_ns = now_ns;
	watch->due_ns = now_ns + FIRST_NS;
	watch->rollup_due_ns = now_ns + FIRST_NS;
	proc_machine_read(watch, &watch->machine);
	if (options->pid)
		proc_watch_follow(watch, options->pid);
	if (options->attached)
		proc_watch_read(watch, now_ns);
	return watch;
}

void proc_watch_follow(struct proc_watch *watch, pid_t pid)
{
	watch->options.pid = pid;
	process_add(watch, pid);
	proc_cgroup_follow(watch);
}

bool proc_watch_follows(const struct proc_watch *watch)
{
	return watch->processes.count;
}

void proc_watch_close(struct proc_watch *watch)
{
	if (!watch)
		return;
	vec_done(&watch->threads);
	vec_done(&watch->processes);
	vec_done(&watch->memory);
	vec_done(&watch->locks);
	vec_done(&watch->machine.disks);
	map_done(&watch->index);
	str_done(&watch->text);
	str_done(&watch->path);
	free(watch);
}

void proc_watch_close_pointer(struct proc_watch **watch)
{
	proc_watch_close(*watch);
	*watch = NULL;
}

uint64_t proc_watch_due_ns(const struct proc_watch *watch)
{
	return watch->due_ns;
}
