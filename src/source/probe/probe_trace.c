/* probe_trace.c - the kernel side: tracepoints, BPF, BTF, uprobes.
 *
 * Everything lives in file descriptors: no tracefs file is written, no BPF object is pinned, the
 * uprobe is a perf event on our own binary. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../perf/event_fd.h"
#include "base/io.h"
#include "base/str.h"
#include "probe_parts.h"
#include "source/tracefs.h"

static int count_read(int fd, uint64_t *ret_count)
{
	return read(fd, ret_count, sizeof(*ret_count)) == sizeof(*ret_count) ? 0 : -EIO;
}

void probe_tracepoints(const struct probe *probe, struct finding *ret_finding)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .sample_period = 1};
	io_auto int fd = -1;
	uint64_t count = 0;
	struct err err;
	io_auto int tracefs = tracefs_open(&err);
	int id = tracefs < 0 ? tracefs : tracefs_event_id(tracefs, "sched", "sched_switch", &err);

	if (id < 0) {
		finding_from(ret_finding, WIRE_NO, &err);
		return;
	}
	attr.config = (uint64_t)id;
	fd = probe->facts.perf_event_open == SYSCALL_KILLS ? -EPERM
							   : event_fd_open(&attr, 0, -1, -1);
	if (fd < 0) {
		refusal_explain(&probe->facts, REFUSED_TRACEPOINT, -fd, &err);
		finding_from(ret_finding, WIRE_NO, &err);
		return;
	}
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	if (count_read(fd, &count) < 0 || !count) {
		finding_set(ret_finding, WIRE_NO, "sched:sched_switch opens but counts nothing");
		finding_fix(ret_finding, "use a kernel with CONFIG_EVENT_TRACING");
		return;
	}
	finding_set(ret_finding, WIRE_OK, "sched:sched_switch (id %d) counted %llu switch%s", id,
		(unsigned long long)count, count == 1 ? "" : "es");
}

void probe_bpf(const struct probe *probe, struct finding *ret_finding)
{
	const char *step = "";
	uint64_t count = 0;
	struct err err;
	int r = probe->facts.bpf == SYSCALL_KILLS ? -EPERM : probe_bpf_count(&count, &step);

	if (r < 0) {
		refusal_explain(&probe->facts, REFUSED_BPF, -r, &err);
		finding_from(ret_finding, WIRE_NO, &err);
	} else if (!count) {
		finding_set(ret_finding, WIRE_NO,
			"a program loads and attaches to sched_switch but never runs");
		finding_fix(ret_finding,
			"sudo sysctl kernel.bpf_stats_enabled=1, then look at run_cnt in `bpftool "
			"prog`");
	} else
		finding_set(ret_finding, WIRE_OK,
			"a program on sched_switch loaded and counted %llu switches",
			(unsigned long long)count);
}

void probe_btf(const struct probe *probe, struct finding *ret_finding)
{
	io_auto int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	const char *step = "";
	uint64_t agreed = 0;
	int r;

	if (fd < 0) {
		finding_set(ret_finding, WIRE_NO,
			"cannot read the kernel's type information (/sys/kernel/btf/vmlinux): %s",
			err_words(errno));
		finding_fix(ret_finding, "use a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian 11, "
					 "Ubuntu 20.10, RHEL 8.2 and later have it)");
		return;
	}
	r = probe->facts.bpf == SYSCALL_KILLS ? -EPERM : probe_bpf_core_count(&agreed, &step);
	if (r == -EPERM || r == -EACCES) {
		struct err err;

		refusal_explain(&probe->facts, REFUSED_BPF, -r, &err);
		finding_set(ret_finding, WIRE_LIMITED,
			"vmlinux BTF is readable; relocation was not tried: %s", err.text);
		finding_fix(ret_finding, "%s", err.hint);
	} else if (r < 0 || !agreed) {
		finding_set(ret_finding, WIRE_NO,
			"vmlinux BTF is readable, but %s a relocated program failed: %s", step,
			r < 0 ? err_words(-r) : "it never matched the kernel's own answer");
		finding_fix(ret_finding, "report it with `uname -r` and `bpftool feature`; waits "
					 "and causal fall back to the preloaded runtime");
	} else
		finding_set(ret_finding, WIRE_OK,
			"a relocated read of task_struct was right %llu times",
			(unsigned long long)agreed);
}

/* What the uprobe is placed on; the empty asm keeps the calls. */
static __attribute__((noinline)) void uprobe_target(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The offset in the binary's file of an address of our own, or a negative errno. */
static int64_t file_offset(uintptr_t addr)
{
	str_auto struct str maps = {0};
	int r = io_read_at(AT_FDCWD, "/proc/self/maps", 1 << 24, &maps);

	if (r < 0)
		return r;
	for (const char *line = maps.at; line && *line;) {
		unsigned long low, high, offset;

		if (sscanf(line, "%lx-%lx %*s %lx", &low, &high, &offset) == 3 && addr >= low &&
			addr < high)
			return (int64_t)(addr - low + offset);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -ENOENT;
}

static int uprobe_open(void)
{
	struct perf_event_attr attr = {0};
	int64_t offset = file_offset((uintptr_t)uprobe_target);
	char line[32];
	int r = io_read_line("/sys/bus/event_source/devices/uprobe/type", line, sizeof(line));

	if (r <= 0)
		return -ENODEV;
	if (offset < 0)
		return (int)offset;
	attr.type = (uint32_t)strtoul(line, NULL, 10);
	attr.config1 = (uintptr_t) "/proc/self/exe";
	attr.config2 = (uint64_t)offset;
	return event_fd_open(&attr, 0, -1, -1);
}

void probe_uprobes(const struct probe *probe, struct finding *ret_finding)
{
	enum { CALLS = 3 };
	io_auto int fd = probe->facts.perf_event_open == SYSCALL_KILLS ? -EPERM : uprobe_open();
	uint64_t count = 0;
	struct err err;

	if (fd == -ENODEV) {
		finding_set(ret_finding, WIRE_NO, "the kernel has no uprobe PMU");
		finding_fix(ret_finding, "use a kernel with CONFIG_UPROBE_EVENTS=y, 4.17 or later");
		return;
	}
	if (fd < 0) {
		refusal_explain(&probe->facts, REFUSED_UPROBE, -fd, &err);
		finding_from(ret_finding, WIRE_NO, &err);
		return;
	}
	for (unsigned i = 0; i < CALLS; i++)
		uprobe_target();
	if (count_read(fd, &count) < 0 || count != CALLS) {
		finding_set(ret_finding, WIRE_NO, "a uprobe on assay itself saw %llu of %d calls",
			(unsigned long long)count, CALLS);
		finding_fix(ret_finding,
			"none known: use --progress with the coz macros instead of a function "
			"name");
		return;
	}
	finding_set(
		ret_finding, WIRE_OK, "a uprobe on assay itself saw %d of %d calls", CALLS, CALLS);
}
