/* probe_test.c - the real probes on this machine: as we are, as nobody, under seccomp filters, with
 * little locked memory.  Each setting is made in a forked child, whose findings come back through
 * shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "source/probe.h"
#include "source/refusal.h"

enum { FINDINGS = 32, NOBODY = 65534 };

struct found {
	char name[32], reason[512], fix[512];
	uint32_t status;
};

struct findings {
	unsigned count;
	int result;
	struct found at[FINDINGS];
};

static int findings_take(void *context, const struct wire_record *record)
{
	const struct wire_capability *c = (const struct wire_capability *)record;
	struct findings *findings = context;
	struct found *found = &findings->at[findings->count];

	if (!wire_check(record, record->size) || record->type != WIRE_CAPABILITY ||
		findings->count == FINDINGS)
		return -EINVAL;
	snprintf(found->name, sizeof(found->name), "%s", wire_text(record, c->name));
	snprintf(found->reason, sizeof(found->reason), "%s", wire_text(record, c->reason));
	snprintf(found->fix, sizeof(found->fix), "%s", wire_text(record, c->fix));
	found->status = c->status;
	findings->count++;
	return 0;
}

/* What code/ would find. */
static const char *lines_find(const char *path, struct arena *arena)
{
	return strstr(path, "libc.so") ? arena_copy(arena, "/found/libc.debug") : NULL;
}

/* Probe in a child after `prepare`; the caller unmaps nothing, the process is short. */
static struct findings *probe_after(int (*prepare)(void))
{
	struct findings *findings = mmap(
		NULL, sizeof(*findings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int status;

	assert_ptr_not_equal(findings, MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		struct wire_sink sink = {.take = findings_take, .context = findings};

		if (prepare && prepare() < 0)
			_exit(1);
		findings->result = probe_machine(&sink, lines_find);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(findings->result, 0);
	return findings;
}

static const struct found *found_of(const struct findings *findings, const char *name)
{
	for (unsigned i = 0; i < findings->count; i++)
		if (str_equal(findings->at[i].name, name))
			return &findings->at[i];
	fail_msg("no capability %s", name);
	return &findings->at[0];
}

static void assert_mentions(const struct found *found, const char *word)
{
	if (!strstr(found->reason, word))
		fail_msg("%s does not speak of %s: %s", found->name, word, found->reason);
}

static int filter_install(uint32_t call, uint32_t answer)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static int block_perf(void)
{
	return filter_install(SYS_perf_event_open, SECCOMP_RET_ERRNO | EPERM);
}

static int kill_at_perf(void)
{
	return filter_install(SYS_perf_event_open, SECCOMP_RET_KILL_PROCESS);
}

static int block_something_else(void)
{
	return filter_install(SYS_acct, SECCOMP_RET_ERRNO | EPERM);
}

static int become_nobody(void)
{
	return setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) < 0
		       ? -errno
		       : 0;
}

static int become_nobody_with_little_memory(void)
{
	struct rlimit little = {64 << 10, 64 << 10};

	return setrlimit(RLIMIT_MEMLOCK, &little) < 0 ? -errno : become_nobody();
}

static void every_capability_has_an_answer_and_what_is_missing_a_fix(void **state)
{
	struct findings *findings = probe_after(NULL);
	unsigned count = 0;

	(void)state;
	for (; probe_name(count); count++)
		assert_string_equal(findings->at[count].name, probe_name(count));
	assert_int_equal(findings->count, count);
	for (unsigned i = 0; i < count; i++) {
		const struct found *found = &findings->at[i];

		assert_true(found->reason[0] != '\0');
		if (found->status != WIRE_OK && !found->fix[0])
			fail_msg("%s is missing and has no fix", found->name);
		if (found->status == WIRE_OK && found->fix[0])
			fail_msg("%s is ok and has a fix: %s", found->name, found->fix);
	}
}

static void debug_files_are_where_code_finds_them(void **state)
{
	const struct found *found = found_of(probe_after(NULL), "debug-files");

	(void)state;
	assert_int_equal(found->status, WIRE_OK);
	assert_mentions(found, "source lines in /found");
}

static void a_seccomp_filter_is_named_as_the_cause(void **state)
{
	struct findings *findings = probe_after(block_perf);
	static const char *const hit[] = {"pmu", "sampling", "kernel-stacks", "uprobes", "seccomp"};

	(void)state;
	for (unsigned i = 0; i < sizeof(hit) / sizeof(*hit); i++) {
		assert_int_not_equal(found_of(findings, hit[i])->status, WIRE_OK);
		if (!str_equal(hit[i], "seccomp"))
			assert_mentions(found_of(findings, hit[i]), "seccomp");
	}
	assert_mentions(found_of(findings, "seccomp"), "perf_event_open");
}

static void a_filter_that_kills_does_not_kill_the_doctor(void **state)
{
	struct findings *findings = probe_after(kill_at_perf);

	(void)state;
	assert_mentions(found_of(findings, "sampling"), "kills");
	assert_mentions(found_of(findings, "seccomp"), "perf_event_open (kills)");
}

static void a_filter_of_other_calls_is_not_blamed(void **state)
{
	struct findings *before = probe_after(NULL), *with = probe_after(block_something_else);

	(void)state;
	assert_int_equal(found_of(with, "seccomp")->status, WIRE_OK);
	assert_int_equal(found_of(with, "sampling")->status, found_of(before, "sampling")->status);
}

static void nobody_learns_what_root_would_add(void **state)
{
	struct refusal_facts facts;
	struct findings *findings;

	(void)state;
	refusal_facts_read(&facts);
	if (geteuid() != 0 || facts.user_namespace) {
		print_message("# skip: only root can become nobody\n");
		skip();
	}
	findings = probe_after(become_nobody);
	assert_int_equal(found_of(findings, "privileges")->status, WIRE_LIMITED);
	assert_int_equal(found_of(findings, "bpf")->status, WIRE_NO);
	assert_int_equal(found_of(findings, "uprobes")->status, WIRE_NO);
	if (!facts.container && facts.perf_event_open == SYSCALL_REACHED) {
		assert_true(str_starts(found_of(findings, "bpf")->fix, "sudo "));
		assert_true(str_starts(found_of(findings, "uprobes")->fix, "sudo "));
	}
	if (facts.paranoid >= 2) {
		assert_int_equal(found_of(findings, "kernel-stacks")->status, WIRE_NO);
		assert_mentions(found_of(findings, "kernel-stacks"), "perf_event_paranoid");
	}
}

static void little_locked_memory_is_said(void **state)
{
	struct findings *findings;

	(void)state;
	if (geteuid() != 0) {
		print_message("# skip: only root can become nobody\n");
		skip();
	}
	findings = probe_after(become_nobody_with_little_memory);
	assert_int_equal(found_of(findings, "mlock-limit")->status, WIRE_LIMITED);
	assert_mentions(found_of(findings, "mlock-limit"), "64 KiB");
}

static int stop_at_once(void *context, const struct wire_record *record)
{
	(void)record;
	++*(unsigned *)context;
	return -EINTR;
}

static void a_sink_that_refuses_stops_the_probes(void **state)
{
	unsigned taken = 0;
	struct wire_sink sink = {.take = stop_at_once, .context = &taken};

	(void)state;
	assert_int_equal(probe_machine(&sink, lines_find), -EINTR);
	assert_int_equal(taken, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_capability_has_an_answer_and_what_is_missing_a_fix),
		cmocka_unit_test(debug_files_are_where_code_finds_them),
		cmocka_unit_test(a_seccomp_filter_is_named_as_the_cause),
		cmocka_unit_test(a_filter_that_kills_does_not_kill_the_doctor),
		cmocka_unit_test(a_filter_of_other_calls_is_not_blamed),
		cmocka_unit_test(nobody_learns_what_root_would_add),
		cmocka_unit_test(little_locked_memory_is_said),
		cmocka_unit_test(a_sink_that_refuses_stops_the_probes),
	};

	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
