/* refusal.c - facts first, then one table of causes.
 *
 * A seccomp filter is found out by calls that no kernel grants: perf_event_open without an attr
 * must give EFAULT, ptrace of an unknown request ESRCH, bpf of an unknown command EINVAL.  Any
 * other answer came from a filter.  That separates a filter that blocks the call from one that
 * blocks something else, which "Seccomp: 2" in /proc/self/status does not.
 * The initial namespaces have fixed inode numbers (include/linux/proc_ns.h), so a container is
 * recognised without guessing from files an image may carry. */
#include "source/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/io.h"
#include "base/str.h"

enum { BPF_COMMAND_UNKNOWN = 0x7fff, PTRACE_REQUEST_UNKNOWN = 0x7fff };

static const unsigned long initial_pid_namespace = 0xEFFFFFFCu;
static const unsigned long initial_user_namespace = 0xEFFFFFFDu;

static int call_perf_event_open(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 ? errno : 0;
}

static int call_bpf(void)
{
	return syscall(SYS_bpf, BPF_COMMAND_UNKNOWN, NULL, 0) < 0 ? errno : 0;
}

static int call_ptrace(void)
{
	return syscall(SYS_ptrace, PTRACE_REQUEST_UNKNOWN, getpid(), 0, 0) < 0 ? errno : 0;
}

/* In a child: a filter whose answer is a signal must not take the tool with it. */
static int call_in_child(int (*call)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(call());
	if (pid < 0)
		return EAGAIN;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EAGAIN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static enum syscall_state syscall_try(unsigned seccomp, int (*call)(void), int answer_of_kernel)
{
	int answer;

	if (!seccomp)
		return call() == ENOSYS ? SYSCALL_MISSING : SYSCALL_REACHED;
	answer = call_in_child(call);
	if (answer < 0)
		return SYSCALL_KILLS;
	return answer == answer_of_kernel ? SYSCALL_REACHED : SYSCALL_FILTERED;
}

static bool namespace_differs(const char *path, unsigned long initial)
{
	struct stat found;

	return stat(path, &found) == 0 && found.st_ino != initial;
}

/* x86 has a bit for it.  Elsewhere the firmware's names tell: a device tree made for a virtual
 * board, or the vendors of hypervisors and clouds, whose bare machines are called .metal. */
static bool machine_is_virtual(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
#else
	static const char *const vendors[] = {"QEMU", "Amazon EC2", "Google", "Microsoft", "VMware",
		"Xen", "KVM", "Parallels", "Apple Inc."};
	char name[64] = "";

	if (access("/proc/device-tree/hypervisor", F_OK) == 0 ||
		access("/sys/hypervisor/type", F_OK) == 0)
		return true;
	if (io_read_line("/proc/device-tree/compatible", name, sizeof(name)) > 0 &&
		strstr(name, "dummy-virt"))
		return true;
	if (io_read_line("/sys/class/dmi/id/product_name", name, sizeof(name)) > 0 &&
		str_ends(name, ".metal"))
		return false;
	if (io_read_line("/sys/class/dmi/id/sys_vendor", name, sizeof(name)) <= 0)
		return false;
	for (unsigned i = 0; i < sizeof(vendors) / sizeof(*vendors); i++)
		if (str_starts(name, vendors[i]))
			return true;
	return false;
#endif
}

static int setting_read(const char *path, int missing)
{
	char line[32];

	return io_read_line(path, line, sizeof(line)) > 0 ? atoi(line) : missing;
}

static void status_read(struct refusal_facts *facts)
{
	str_auto struct str text = {0};
	const char *at;

	if (io_read_at(AT_FDCWD, "/proc/self/status", 1 << 16, &text) < 0)
		return;
	at = strstr(text.at, "\nCapEff:");
	if (at)
		facts->capabilities = strtoull(at + strlen("\nCapEff:"), NULL, 16);
	at = strstr(text.at, "\nSeccomp:");
	if (at)
		facts->seccomp = (unsigned)strtoul(at + strlen("\nSeccomp:"), NULL, 10);
}

void refusal_facts_read(struct refusal_facts *ret_facts)
{
	struct refusal_facts facts = {
		.paranoid = setting_read("/proc/sys/kernel/perf_event_paranoid", PARANOID_UNKNOWN),
		.bpf_disabled = setting_read("/proc/sys/kernel/unprivileged_bpf_disabled", -1),
		.root = geteuid() == 0,
		.user_namespace = namespace_differs("/proc/self/ns/user", initial_user_namespace),
		.container = namespace_differs("/proc/self/ns/pid", initial_pid_namespace),
		.virtual_machine = machine_is_virtual(),
	};

	status_read(&facts);
	facts.perf_event_open = syscall_try(facts.seccomp, call_perf_event_open, EFAULT);
	facts.bpf = syscall_try(facts.seccomp, call_bpf, EINVAL);
	facts.ptrace = syscall_try(facts.seccomp, call_ptrace, ESRCH);
	*ret_facts = facts;
}

bool refusal_facts_can(const struct refusal_facts *facts, unsigned capability)
{
	uint64_t wanted = UINT64_C(1) << capability;

	/* Since 5.8 CAP_PERFMON and CAP_BPF are parts of what CAP_SYS_ADMIN grants. */
	if (capability == CAP_PERFMON || capability == CAP_BPF)
		wanted |= UINT64_C(1) << CAP_SYS_ADMIN;
	return facts->capabilities & wanted && !facts->user_namespace;
}

/* Highest perf_event_paranoid that lets an unprivileged process have it.  Levels above 2 are a
 * patch of distributions: nothing at all. */
static int paranoid_limit(enum refusal_of what)
{
	switch (what) {
	case REFUSED_HARDWARE:
	case REFUSED_SOFTWARE:
	case REFUSED_RING:
	case REFUSED_UPROBE:
	case REFUSED_BPF:
		return 2;
	case REFUSED_KERNEL:
		return 1;
	case REFUSED_MACHINE:
		return 0;
	case REFUSED_TRACEPOINT:
		return -1;
	}
	return 2;
}

static enum refusal_cause refusal_of_permission(
	const struct refusal_facts *facts, enum refusal_of what)
{
	if (what == REFUSED_RING)
		return REFUSAL_MEMORY;
	if (refusal_facts_can(facts, what == REFUSED_BPF ? CAP_BPF : CAP_PERFMON))
		return REFUSAL_MODULE;
	if (what == REFUSED_BPF || what == REFUSED_UPROBE)
		return REFUSAL_PRIVILEGE;
	if (facts->paranoid > paranoid_limit(what))
		return REFUSAL_PARANOID;
	return REFUSAL_MODULE;
}

enum refusal_cause refusal_find(const struct refusal_facts *facts, enum refusal_of what, int code)
{
	enum syscall_state state = what == REFUSED_BPF ? facts->bpf : facts->perf_event_open;

	if (what != REFUSED_RING && (state == SYSCALL_FILTERED || state == SYSCALL_KILLS))
		return REFUSAL_SECCOMP;
	switch (code) {
	case ENOSYS:
		return REFUSAL_NO_SYSCALL;
	case EPERM:
	case EACCES:
		return refusal_of_permission(facts, what);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
	case ENXIO:
		return REFUSAL_NO_HARDWARE;
	case EBUSY:
		return REFUSAL_BUSY;
	case EMFILE:
	case ENFILE:
		return REFUSAL_FILES;
	case ENOMEM:
		return what == REFUSED_RING ? REFUSAL_MEMORY : REFUSAL_OTHER;
	default:
		return REFUSAL_OTHER;
	}
}

static const char *refused_name(enum refusal_of what)
{
	switch (what) {
	case REFUSED_HARDWARE:
		return "a hardware event";
	case REFUSED_SOFTWARE:
		return "a software event";
	case REFUSED_KERNEL:
		return "an event that includes the kernel";
	case REFUSED_MACHINE:
		return "counting the whole machine";
	case REFUSED_TRACEPOINT:
		return "a tracepoint";
	case REFUSED_UPROBE:
		return "a uprobe";
	case REFUSED_RING:
		return "a ring buffer";
	case REFUSED_BPF:
		return "a BPF program";
	}
	return "an event";
}

static void explain_seccomp(
	const struct refusal_facts *facts, enum refusal_of what, int code, struct err *err)
{
	const char *call = what == REFUSED_BPF ? "bpf" : "perf_event_open";
	bool kills = (what == REFUSED_BPF ? facts->bpf : facts->perf_event_open) == SYSCALL_KILLS;

	err_set(err, ERR_UNAVAILABLE, code, "a seccomp filter %s the %s call for everyone",
		kills ? "kills a process at" : "refuses", call);
	if (facts->container || facts->user_namespace)
		err_hint(err,
			"start the container with --security-opt seccomp=unconfined (docker, "
			"podman), or with a profile that allows %s",
			call);
	else
		err_hint(err,
			"run outside the sandbox that set the filter, or allow %s in it (systemd: "
			"SystemCallFilter=%s)",
			call, call);
}

static void explain_paranoid(
	const struct refusal_facts *facts, enum refusal_of what, int code, struct err *err)
{
	const char *where = "";

	if (facts->user_namespace)
		where = " (on the host: inside a user namespace no capability counts)";
	else if (facts->container)
		where = " (on the host), or start the container with --cap-add PERFMON";
	err_set(err, ERR_UNAVAILABLE, code,
		"kernel.perf_event_paranoid is %d and forbids %s without CAP_PERFMON",
		facts->paranoid, refused_name(what));
	err_hint(err, "sudo sysctl kernel.perf_event_paranoid=%d%s", paranoid_limit(what), where);
}

static void explain_privilege(
	const struct refusal_facts *facts, enum refusal_of what, int code, struct err *err)
{
	const char *capability = what == REFUSED_BPF ? "CAP_BPF and CAP_PERFMON" : "CAP_PERFMON";

	err_set(err, ERR_UNAVAILABLE, code, "%s needs %s%s", refused_name(what), capability,
		facts->user_namespace ? ", and inside a user namespace no capability counts" : "");
	if (facts->user_namespace)
		err_hint(err, "run assay on the host, or in a container that is not rootless");
	else if (facts->container)
		err_hint(err, "start the container with --cap-add PERFMON --cap-add BPF");
	else
		err_hint(err, "sudo assay ..., or once: sudo setcap cap_bpf,cap_perfmon+ep "
			      "\"$(command -v assay)\"");
}

static void explain_no_hardware(const struct refusal_facts *facts, int code, struct err *err)
{
	if (facts->virtual_machine) {
		err_set(err, ERR_UNAVAILABLE, code,
			"this machine has no PMU: the hypervisor passes none through");
		err_hint(err,
			"none from inside this virtual machine: on AWS use a .metal size or "
			"16xlarge and up, on Google Cloud C4 enable the PMU, on your own KVM use "
			"-cpu host,pmu=on");
		return;
	}
	err_set(err, ERR_UNAVAILABLE, code, "the kernel has no PMU driver for this CPU");
	err_hint(err, "use a kernel that supports this CPU");
}

int refusal_explain(
	const struct refusal_facts *facts, enum refusal_of what, int code, struct err *err)
{
	const char *name = refused_name(what);

	switch (refusal_find(facts, what, code)) {
	case REFUSAL_SECCOMP:
		explain_seccomp(facts, what, code, err);
		break;
	case REFUSAL_NO_SYSCALL:
		err_set(err, ERR_UNAVAILABLE, code, "this kernel has no %s call",
			what == REFUSED_BPF ? "bpf" : "perf_event_open");
		err_hint(err, "use a kernel with CONFIG_PERF_EVENTS and CONFIG_BPF_SYSCALL; "
			      "gVisor and WSL1 have none");
		break;
	case REFUSAL_PARANOID:
		explain_paranoid(facts, what, code, err);
		break;
	case REFUSAL_PRIVILEGE:
		explain_privilege(facts, what, code, err);
		break;
	case REFUSAL_MODULE:
		err_set(err, ERR_UNAVAILABLE, code,
			"%s is refused (%s) although the settings allow it: a security module",
			name, err_words(code));
		err_hint(err, "check /sys/kernel/security/lockdown and the audit log");
		break;
	case REFUSAL_NO_HARDWARE:
		explain_no_hardware(facts, code, err);
		break;
	case REFUSAL_BUSY:
		err_set(err, ERR_UNAVAILABLE, code, "another program uses what %s needs", name);
		err_hint(err, "stop other profilers: `sudo lsof -nP | grep perf_event`");
		break;
	case REFUSAL_FILES:
		err_set(err, ERR_UNAVAILABLE, code, "too many open files for %s", name);
		err_hint(err, "ulimit -n 65536");
		break;
	case REFUSAL_MEMORY:
		err_set(err, ERR_UNAVAILABLE, code, "the locked-memory limit is too small");
		err_hint(err, "sudo sysctl kernel.perf_event_mlock_kb=16384");
		break;
	case REFUSAL_OTHER:
		err_set(err, ERR_UNAVAILABLE, code, "the kernel refuses %s: %s", name,
			err_words(code));
		err_hint(err, "check `dmesg`");
		break;
	}
	return -code;
}

const char *refusal_maps_hint(const struct refusal_facts *facts)
{
	if (refusal_facts_can(facts, CAP_SYS_PTRACE))
		return "a sandbox or a security module forbids it, also to root: run assay outside "
		       "of the sandbox";
	if (facts->user_namespace)
		return "run assay on the host: inside a user namespace no capability counts";
	if (facts->root)
		return "add CAP_SYS_PTRACE (container: --cap-add SYS_PTRACE)";
	return "run as their user or as root";
}
