/* causal_check.c - whether a running process can be given the handler, and if not, why.
 *
 * Asked before it is touched.  A filter of system calls is the dangerous one: the calls that we
 * have the process make, and those of the handler, could be what it is killed for. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "causal_parts.h"
#include "source/refusal.h"
#include "threads.h"

/* "/proc/PID/WHAT" */
static const char *proc_path(pid_t pid, const char *what, char path[64])
{
	snprintf(path, 64, "/proc/%d/%s", (int)pid, what);
	return path;
}

int causal_check_permission(pid_t pid, struct err *err)
{
	struct refusal_facts facts;
	struct stat process = {.st_uid = geteuid()};
	char path[64], scope[16] = "0";

	refusal_facts_read(&facts);
	(void)stat(proc_path(pid, "", path), &process);
	io_read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	err_set(err, ERR_UNAVAILABLE, EPERM, "not permitted to attach to process %d", (int)pid);
	if (atoi(scope) >= 3)
		err_hint(err,
			"kernel.yama.ptrace_scope is 3: no process may attach until the next boot");
	else if (!refusal_facts_can(&facts, CAP_SYS_PTRACE) && process.st_uid != geteuid())
		err_hint(err, "it belongs to user %u: run assay as root", (unsigned)process.st_uid);
	else if (!refusal_facts_can(&facts, CAP_SYS_PTRACE) && atoi(scope) > 0)
		err_hint(err,
			"kernel.yama.ptrace_scope is %s: run assay as root, or `sudo sysctl "
			"kernel.yama.ptrace_scope=0`",
			scope);
	else
		err_hint(err,
			"a security module or the process itself (not dumpable) forbids it: run "
			"assay as root on the host");
	return -EPERM;
}

/* ---- one reason after the other ---- */

static int check_kind(pid_t pid, struct err *err)
{
	uint64_t leader = thread_status(pid, "Tgid", 10, 0);
	char path[64], link[8];

	if (!leader) {
		err_set(err, ERR_TARGET, ESRCH, "no process %d", (int)pid);
		return err_hint(err, "`ps -e` lists processes");
	}
	if (leader != (uint64_t)pid) {
		err_set(err, ERR_USAGE, EINVAL, "%d is a thread of process %d", (int)pid,
			(int)leader);
		return err_hint(err, "name the process: -p %d", (int)leader);
	}
	if (pid == getpid()) {
		err_set(err, ERR_USAGE, EINVAL, "process %d is assay itself", (int)pid);
		return err_hint(err, "name another process");
	}
	if (thread_status(pid, "VmSize", 10, 0))
		return 0;
	if (readlink(proc_path(pid, "exe", path), link, sizeof(link)) < 0 && errno == EACCES)
		return causal_check_permission(pid, err);
	err_set(err, ERR_TARGET, ENOTSUP,
		"process %d has no program: it is a kernel thread, or has ended", (int)pid);
	return err_hint(err, "name a process that runs a program");
}

static int check_tracer(pid_t pid, struct err *err)
{
	pid_t tracer = (pid_t)thread_status(pid, "TracerPid", 10, 0);
	char path[64], name[64] = "?";

	if (!tracer)
		return 0;
	io_read_line(proc_path(tracer, "comm", path), name, sizeof(name));
	err_set(err, ERR_UNAVAILABLE, EBUSY, "process %d is being traced by %s (process %d)",
		(int)pid, name, (int)tracer);
	return err_hint(err, "detach it first: a process can have only one tracer");
}

/* The handler knows its thread by the number that the process sees; the kernel side sees ours. */
static int check_namespace(pid_t pid, struct err *err)
{
	struct stat ours, theirs;
	char path[64];

	if (stat("/proc/self/ns/pid", &ours) < 0)
		return 0;
	if (stat(proc_path(pid, "ns/pid", path), &theirs) < 0)
		return errno == EACCES || errno == EPERM ? causal_check_permission(pid, err) : 0;
	if (ours.st_ino == theirs.st_ino)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOTSUP,
		"process %d is in its own PID namespace (a container)", (int)pid);
	return err_hint(
		err, "its threads have other ids there; start the container with --pid=host");
}

static int check_program(pid_t pid, struct err *err)
{
	unsigned char head[EI_NIDENT + 4] = {0};
	char path[64];
	io_auto int fd = open(proc_path(pid, "exe", path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return causal_check_permission(pid, err);
	if (fd < 0 || read(fd, head, sizeof(head)) != sizeof(head) || head[EI_CLASS] == ELFCLASS64)
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOTSUP, "process %d is a 32-bit program", (int)pid);
	return err_hint(err, "build it for 64 bits");
}

enum { THREADS_LOOKED_AT = 1000 };

uint32_t causal_filters_own(void)
{
	return (uint32_t)thread_status(getpid(), "Seccomp_filters", 10, 0);
}

/* Whether one of its first `most` threads is under other filters of system calls than `known`,
 * which the tool is under itself. */
static bool process_is_filtered(pid_t pid, uint32_t known, uint32_t most)
{
	thread_vec threads = {0};
	bool filtered = false;

	(void)threads_list(pid, &threads);
	for (uint32_t i = 0; i < threads.count && i < most && !filtered; i++) {
		uint64_t mode = thread_status(threads.at[i], "Seccomp", 10, 0);

		filtered = mode == 1 ||
			   (mode && (!known || thread_status(threads.at[i], "Seccomp_filters", 10,
						       0) != known));
	}
	vec_done(&threads);
	return filtered;
}

bool causal_process_is_sandboxed(pid_t pid)
{
	return process_is_filtered(pid, causal_filters_own(), THREADS_LOOKED_AT);
}

int causal_check_filters(pid_t pid, struct err *err)
{
	if (!process_is_filtered(pid, 0, UINT32_MAX))
		return 0;
	err_set(err, ERR_UNAVAILABLE, ENOTSUP, "process %d is under a seccomp filter", (int)pid);
	return err_hint(err,
		"the filter could kill it for the system calls of assay's handler; run it without "
		"the filter");
}

int causal_check_process(pid_t pid, struct err *err)
{
	int r = check_kind(pid, err);

	if (r >= 0)
		r = check_namespace(pid, err);
	if (r >= 0)
		r = check_tracer(pid, err);
	if (r >= 0)
		r = check_program(pid, err);
	return r < 0 ? r : causal_check_filters(pid, err);
}

/* A file that was replaced or lies in another root is still reached through /proc. */
int causal_process_path(pid_t pid, char *ret_path, size_t size, struct err *err)
{
	struct stat named, real;
	char link[64];
	ssize_t len = readlink(proc_path(pid, "exe", link), ret_path, size - 1);

	if (len < 0)
		return causal_check_process(pid, err) ?: causal_check_permission(pid, err);
	ret_path[len] = '\0';
	if (stat(ret_path, &named) < 0 || stat(link, &real) < 0 || named.st_ino != real.st_ino ||
		named.st_dev != real.st_dev)
		snprintf(ret_path, size, "%s", link);
	return 0;
}

/* No interpreter among its program headers: nobody reads LD_PRELOAD. */
bool causal_process_is_static(pid_t pid)
{
	enum { HEADERS_MOST = 64 };
	Elf64_Phdr headers[HEADERS_MOST];
	Elf64_Ehdr head;
	char path[64];
	io_auto int fd = open(proc_path(pid, "exe", path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t got;

	if (fd < 0 || read(fd, &head, sizeof(head)) != sizeof(head) ||
		memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
		head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(*headers) ||
		head.e_phnum > HEADERS_MOST)
		return false;
	got = pread(fd, headers, head.e_phnum * sizeof(*headers), (off_t)head.e_phoff);
	for (unsigned i = 0; i < head.e_phnum; i++)
		if (got != (ssize_t)(head.e_phnum * sizeof(*headers)) ||
			headers[i].p_type == PT_INTERP)
			return false;
	return true;
}
