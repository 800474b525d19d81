/* probe_limits.c - settings and limits that decide what the other probes may do: who we are, what
 * filters us, what the machine is. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/io.h"
#include "base/str.h"
#include "probe_parts.h"

void probe_paranoid(const struct probe *probe, struct finding *ret_finding)
{
	int level = probe->facts.paranoid;
	bool above = refusal_facts_can(&probe->facts, CAP_PERFMON);

	if (level == PARANOID_UNKNOWN) {
		finding_set(ret_finding, WIRE_LIMITED, "kernel.perf_event_paranoid cannot be read");
		finding_fix(ret_finding, "mount /proc, or run outside the sandbox");
	} else if (above)
		finding_set(ret_finding, WIRE_OK, "%d, but CAP_PERFMON overrides it", level);
	else if (level <= -1)
		finding_set(ret_finding, WIRE_OK, "%d: everything is permitted", level);
	else {
		static const char *const rest[] = {"everything except raw tracepoints is permitted",
			"own processes including kernel code, but not whole CPUs",
			"own processes, user space only"};

		finding_set(ret_finding, level > 2 ? WIRE_NO : WIRE_LIMITED, "%d: %s", level,
			level > 2 ? "nothing is permitted" : rest[level]);
		finding_fix(ret_finding, "sudo sysctl kernel.perf_event_paranoid=%d%s",
			level > 1 ? 1 : -1,
			level > 1 ? " (-1 for whole CPUs and tracepoints)" : "");
	}
}

/* Whether /proc/kallsyms shows us addresses: 1, 0 (all zero), or a negative errno. */
static int kallsyms_has_addresses(void)
{
	io_auto int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return got < 0 ? -errno : -ENODATA;
	text[got] = '\0';
	/* Per-CPU symbols stand at 0 even for root; the first other one decides. */
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strtoull(line, NULL, 16) > 0xffffffffu)
			return 1;
	}
	return 0;
}

void probe_kptr(const struct probe *probe, struct finding *ret_finding)
{
	char line[16] = "?";
	int has = kallsyms_has_addresses();

	(void)probe;
	io_read_line("/proc/sys/kernel/kptr_restrict", line, sizeof(line));
	if (has > 0) {
		finding_set(ret_finding, WIRE_OK,
			"%s; /proc/kallsyms shows addresses, so kernel functions have names", line);
		return;
	}
	finding_set(ret_finding, WIRE_LIMITED,
		"kernel functions have no names: /proc/kallsyms %s (kernel.kptr_restrict is %s)",
		has < 0 ? "cannot be read" : "shows no addresses", line);
	if (has < 0)
		finding_fix(ret_finding, "use a kernel with CONFIG_KALLSYMS=y");
	else if (str_equal(line, "0")) /* then it is kallsyms_for_perf(): paranoid above 1 */
		finding_fix(ret_finding, "sudo sysctl kernel.perf_event_paranoid=1");
	else
		finding_fix(ret_finding,
			"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

void probe_nmi_watchdog(const struct probe *probe, struct finding *ret_finding)
{
	char line[16];

	if (io_read_line("/proc/sys/kernel/nmi_watchdog", line, sizeof(line)) <= 0)
		finding_set(ret_finding, WIRE_OK, "this kernel has none");
	else if (str_equal(line, "0") || (!probe->pmu_code && !probe->pmu.present))
		finding_set(ret_finding, WIRE_OK, "%s: it uses no counter", line);
	else {
		finding_set(ret_finding, WIRE_LIMITED, "on: it uses one of the general counters");
		finding_fix(ret_finding, "sudo sysctl kernel.nmi_watchdog=0");
	}
}

/* The limit is tried, not only read: 4 MiB is what the rings of a small recording need.  The bare
 * call, because sanitizers replace mlock() by nothing. */
void probe_mlock(const struct probe *probe, struct finding *ret_finding)
{
	enum { WANTED = 4 << 20 };
	struct rlimit limit = {0};
	char text[32] = "unlimited";
	void *piece =
		mmap(NULL, WANTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int code = 0;

	(void)probe;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)limit.rlim_cur >> 10);
	if (piece == MAP_FAILED || syscall(SYS_mlock, piece, WANTED) < 0)
		code = errno;
	if (piece != MAP_FAILED)
		munmap(piece, WANTED);
	if (!code) {
		finding_set(ret_finding, WIRE_OK, "the limit is %s; locking 4 MiB worked", text);
		return;
	}
	finding_set(ret_finding, WIRE_LIMITED,
		"the limit is %s and 4 MiB cannot be locked: rings stay within "
		"kernel.perf_event_mlock_kb, and BPF maps need "
		"more on kernels before 5.11",
		text);
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= WANTED)
		finding_fix(ret_finding, "ulimit -l 8192");
	else
		finding_fix(ret_finding, "sudo prlimit --memlock=unlimited --pid $$ (for good: "
					 "memlock in /etc/security/limits.conf, LimitMEMLOCK= in a "
					 "systemd unit, --ulimit memlock=-1 for docker)");
}

void probe_privileges(const struct probe *probe, struct finding *ret_finding)
{
	static const struct {
		unsigned number;
		const char *name;
	} wanted[] = {{CAP_PERFMON, "CAP_PERFMON"}, {CAP_BPF, "CAP_BPF"},
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE"}, {CAP_SYSLOG, "CAP_SYSLOG"}};
	const struct refusal_facts *facts = &probe->facts;
	str_auto struct str lacking = {0};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!refusal_facts_can(facts, wanted[i].number))
			str_addf(&lacking, "%s%s", lacking.len ? ", " : "", wanted[i].name);
	if (!lacking.len) {
		finding_set(ret_finding, WIRE_OK, "%s with every capability that measuring needs%s",
			geteuid() ? "a user" : "root", facts->container ? ", in a container" : "");
		return;
	}
	finding_set(ret_finding, WIRE_LIMITED, "uid %u%s lacks %s", (unsigned)geteuid(),
		facts->user_namespace ? " in a user namespace"
		: facts->container    ? " in a container"
				      : "",
		lacking.at);
	if (facts->user_namespace)
		finding_fix(ret_finding,
			"run assay on the host: the kernel ignores the capabilities of a rootless "
			"container");
	else if (facts->container)
		finding_fix(ret_finding, "start the container with --cap-add PERFMON --cap-add BPF "
					 "--cap-add SYS_PTRACE --cap-add SYSLOG");
	else
		finding_fix(ret_finding, "sudo assay ..., or once: sudo setcap "
					 "cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog+ep "
					 "\"$(command -v assay)\"");
}

void probe_seccomp(const struct probe *probe, struct finding *ret_finding)
{
	const struct refusal_facts *facts = &probe->facts;
	const struct {
		const char *name;
		enum syscall_state state;
	} calls[] = {{"perf_event_open", facts->perf_event_open}, {"bpf", facts->bpf},
		{"ptrace", facts->ptrace}};
	str_auto struct str blocked = {0};

	if (!facts->seccomp) {
		finding_set(ret_finding, WIRE_OK, "no filter");
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		if (calls[i].state == SYSCALL_FILTERED || calls[i].state == SYSCALL_KILLS)
			str_addf(&blocked, "%s%s%s", blocked.len ? ", " : "", calls[i].name,
				calls[i].state == SYSCALL_KILLS ? " (kills)" : "");
	if (!blocked.len) {
		finding_set(ret_finding, WIRE_OK,
			"a filter is active and allows perf_event_open, bpf and ptrace");
		return;
	}
	finding_set(ret_finding, WIRE_LIMITED, "a filter blocks %s", blocked.at);
	finding_fix(ret_finding,
		"start the container with --security-opt seccomp=unconfined (docker, podman) or a "
		"profile that allows them; outside a container, run outside the sandbox (systemd: "
		"SystemCallFilter=%s)",
		str_text(&blocked));
}

static void hypervisor_name(char *name, size_t capacity)
{
#if defined(__x86_64__)
	unsigned a, words[3] = {0};

	__cpuid(0x40000000, a, words[0], words[1], words[2]);
	snprintf(name, capacity, "%.12s", (const char *)words);
#else
	name[0] = '\0';
	if (io_read_line("/sys/hypervisor/type", name, capacity) < 0)
		io_read_line("/sys/class/dmi/id/sys_vendor", name, capacity);
#endif
}

void probe_virtual_machine(const struct probe *probe, struct finding *ret_finding)
{
	char name[64] = "";

	if (!probe->facts.virtual_machine) {
		finding_set(ret_finding, WIRE_OK, "none found: this looks like real hardware");
		return;
	}
	hypervisor_name(name, sizeof(name));
	finding_set(ret_finding, WIRE_LIMITED,
		"a virtual machine%s%s%s: the PMU is what the hypervisor gives, and neighbours "
		"add noise to times",
		*name ? " (" : "", name, *name ? ")" : "");
	finding_fix(ret_finding,
		"none from inside the VM: for cycle-level work use real hardware or a .metal size; "
		"for A/B use `assay ab`, which interleaves");
}

/* CPUs a cgroup file allows, 0: no limit.  v2 "QUOTA PERIOD" or "max PERIOD" in cpu.max; v1 two
 * files. */
static double quota_at(const char *folder, bool v2)
{
	char path[640], line[64];
	double quota, period = 100000;

	snprintf(path, sizeof(path), "%s/%s", folder, v2 ? "cpu.max" : "cpu.cfs_quota_us");
	if (io_read_line(path, line, sizeof(line)) <= 0)
		return 0;
	quota = strtod(line, NULL); /* 0 for "max" */
	if (v2 && strchr(line, ' '))
		period = strtod(strchr(line, ' '), NULL);
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
	if (!v2 && io_read_line(path, line, sizeof(line)) > 0)
		period = strtod(line, NULL);
	return quota > 0 && period > 0 ? quota / period : 0;
}

/* The tightest limit from our own group up to the root of the mount. */
static double quota_up(const char *mount, const char *group, bool v2)
{
	char folder[512];
	size_t root = strlen(mount);
	double tightest = 0;

	snprintf(folder, sizeof(folder), "%.200s%.300s", mount, group);
	for (;;) {
		double cpus = quota_at(folder, v2);
		char *slash = strrchr(folder + root, '/');

		if (cpus > 0 && (tightest == 0 || cpus < tightest))
			tightest = cpus;
		if (!slash)
			return tightest;
		*slash = '\0';
	}
}

/* One line of /proc/self/cgroup: "0::/group" (v2) or "4:cpu,cpuacct:/group". */
static double quota_of_line(char *line)
{
	char *controllers = strchr(line, ':'), *group, *end;
	bool v2;

	group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return 0;
	*group++ = '\0';
	controllers++;
	v2 = !*controllers;
	if (v2)
		return quota_up(access("/sys/fs/cgroup/cgroup.controllers", F_OK)
					? "/sys/fs/cgroup/unified"
					: "/sys/fs/cgroup",
			group, true);
	for (char *name = strtok_r(controllers, ",", &end); name; name = strtok_r(NULL, ",", &end))
		if (str_equal(name, "cpu"))
			return quota_up("/sys/fs/cgroup/cpu", group, false);
	return 0;
}

void probe_quota(const struct probe *probe, struct finding *ret_finding)
{
	str_auto struct str text = {0};
	double tightest = 0;
	char *end = NULL;

	(void)probe;
	if (io_read_at(AT_FDCWD, "/proc/self/cgroup", 1 << 16, &text) < 0 || !text.len) {
		finding_set(ret_finding, WIRE_OK, "this kernel has no cgroups");
		return;
	}
	for (char *line = strtok_r(text.at, "\n", &end); line; line = strtok_r(NULL, "\n", &end)) {
		double cpus = quota_of_line(line);

		if (cpus > 0 && (tightest == 0 || cpus < tightest))
			tightest = cpus;
	}
	if (tightest > 0) {
		finding_set(ret_finding, WIRE_LIMITED,
			"the cgroup allows %.2f CPUs: a target that needs more is paused in each "
			"period, which looks like waiting",
			tightest);
		finding_fix(ret_finding,
			"measure without the quota (docker: --cpus=0, Kubernetes: no CPU limit), "
			"or stay below it");
	} else
		finding_set(ret_finding, WIRE_OK, "no CPU quota on this cgroup");
}
