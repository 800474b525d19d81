/* probe_programs.c - what works through other programs: the preloaded runtime, attaching with
 * ptrace, valgrind, debug files. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/io.h"
#include "base/str.h"
#include "probe_parts.h"
#include "source/preload.h"

void probe_preload(const struct probe *probe, struct finding *ret_finding)
{
	static const char *const argv[] = {"true", NULL};
	const char *settings[3] = {NULL};
	char output[64];
	struct preload preload;
	unsigned attached;
	struct err err;
	int r;

	(void)probe;
	r = preload_open(PRELOAD_RUNTIME, &preload, &err);
	if (r < 0) {
		finding_from(ret_finding, WIRE_NO, &err);
		return;
	}
	settings[0] = preload.preload_variable;
	settings[1] = preload.page_variable;
	r = helper_ask(argv, settings, output, sizeof(output));
	attached = preload_attached(&preload);
	preload_close(&preload);
	if (r == 0 && attached == 1) {
		finding_set(ret_finding, WIRE_OK,
			"libassay-rt.so was preloaded into `true` and worked");
		return;
	}
	if (r == HELPER_NOT_STARTED)
		finding_set(ret_finding, WIRE_NO,
			"`true` is not installed, so preloading was not tried");
	else if (r < 0)
		finding_set(
			ret_finding, WIRE_NO, "cannot start `true` to try it: %s", err_words(-r));
	else
		finding_set(ret_finding, WIRE_NO,
			"`true` ran (status %d) but the runtime inside it did not report: it is "
			"static, or uses another libc than assay",
			r);
	finding_fix(ret_finding, "check `LD_PRELOAD=.../libassay-rt.so true`; static targets and "
				 "other C libraries cannot be preloaded");
}

/* Seize a child of our own, the way a running process is attached to. */
static int ptrace_try(void)
{
	pid_t pid = fork();
	int code = 0;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		code = errno;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -code;
}

static void ptrace_refused(const char *scope, bool filtered, int r, struct finding *ret_finding)
{
	if (!filtered && atoi(scope) >= 2) {
		finding_set(ret_finding, WIRE_NO, "kernel.yama.ptrace_scope is %s: %s", scope,
			atoi(scope) == 2 ? "only CAP_SYS_PTRACE may attach" : "nobody may attach");
		finding_fix(ret_finding, "%s",
			atoi(scope) == 2 ? "sudo sysctl kernel.yama.ptrace_scope=0"
					 : "boot with a lower kernel.yama.ptrace_scope: 3 cannot "
					   "be lowered while the kernel runs");
		return;
	}
	finding_set(ret_finding, WIRE_NO, "cannot attach to our own child: %s",
		filtered ? "a seccomp filter blocks ptrace" : err_words(-r));
	finding_fix(ret_finding, "start the target with `assay ... -- PROGRAM` instead of -p; in a "
				 "container, add --cap-add SYS_PTRACE");
}

void probe_ptrace(const struct probe *probe, struct finding *ret_finding)
{
	enum syscall_state state = probe->facts.ptrace;
	bool filtered = state == SYSCALL_FILTERED || state == SYSCALL_KILLS;
	int r = filtered ? -EPERM : ptrace_try();
	char scope[16] = "0";

	/* Without the Yama module there is no such file, and no such limit. */
	io_read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (r < 0) {
		ptrace_refused(scope, filtered, r, ret_finding);
		return;
	}
	if (str_equal(scope, "0") || refusal_facts_can(&probe->facts, CAP_SYS_PTRACE)) {
		finding_set(ret_finding, WIRE_OK,
			"attaching to a child worked; any process%s can be attached to",
			geteuid() ? " of this user" : "");
		return;
	}
	finding_set(ret_finding, WIRE_LIMITED,
		"children can be attached to, other processes cannot (kernel.yama.ptrace_scope is "
		"%s)",
		scope);
	finding_fix(ret_finding, "sudo sysctl kernel.yama.ptrace_scope=0");
}

void probe_valgrind(const struct probe *probe, struct finding *ret_finding)
{
	static const char *const argv[] = {"valgrind", "--version", NULL};
	char output[128];
	int r = helper_ask(argv, NULL, output, sizeof(output));

	(void)probe;
	if (r == 0 && str_starts(output, "valgrind-")) {
		finding_set(ret_finding, WIRE_OK, "%s: hardware counts can be simulated",
			str_trim(output));
		return;
	}
	if (r == HELPER_NOT_STARTED)
		finding_set(ret_finding, WIRE_NO, "valgrind is not in PATH");
	else
		finding_set(ret_finding, WIRE_NO, "`valgrind --version` failed: %s",
			r < 0 ? err_words(-r) : str_trim(output));
	finding_fix(ret_finding,
		"install it: `sudo apt install valgrind` or `sudo dnf install valgrind`");
}

/* dl_iterate_phdr callback: the path of the C library we run on. */
static int libc_find(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so") && !strstr(info->dlpi_name, "/ld-musl"))
		return 0;
	*(const char **)context = info->dlpi_name;
	return 1;
}

/* A debuginfod server for the distribution, as each names its own. */
static const char *debuginfod_server(void)
{
	static const char *const servers[][2] = {
		{"\nID=debian", "https://debuginfod.debian.net"},
		{"\nID=ubuntu", "https://debuginfod.ubuntu.com"},
		{"\nID=fedora", "https://debuginfod.fedoraproject.org"},
		{"\nID=arch", "https://debuginfod.archlinux.org"},
	};
	str_auto struct str text = {0};

	str_add_char(&text, '\n');
	io_read_at(AT_FDCWD, "/etc/os-release", 1 << 16, &text);
	for (unsigned i = 0; i < sizeof(servers) / sizeof(*servers); i++)
		if (strstr(text.at, servers[i][0]))
			return servers[i][1];
	return "https://debuginfod.elfutils.org";
}

void probe_debug_files(const struct probe *probe, struct finding *ret_finding)
{
	const char *urls = getenv("DEBUGINFOD_URLS"), *libc = NULL, *found;
	arena_auto struct arena arena = {0};

	if (!dl_iterate_phdr(libc_find, &libc)) {
		finding_set(ret_finding, WIRE_LIMITED, "not tried: assay has no shared C library");
		finding_fix(ret_finding, "not needed for programs built with -g");
		return;
	}
	found = probe->lines_find(libc, &arena);
	if (found)
		finding_set(ret_finding, WIRE_OK, "found libc's source lines in %.*s",
			(int)(strrchr(found, '/') - found), found);
	else if (urls && *urls)
		finding_set(ret_finding, WIRE_OK,
			"libc has no debug file here; DEBUGINFOD_URLS is %s (not queried)", urls);
	else {
		finding_set(ret_finding, WIRE_LIMITED,
			"libc has no debug file here and DEBUGINFOD_URLS is not set: system "
			"libraries show functions but no lines");
		finding_fix(ret_finding, "export DEBUGINFOD_URLS=%s, or install the -dbg packages",
			debuginfod_server());
	}
}
