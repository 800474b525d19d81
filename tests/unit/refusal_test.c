/* refusal_test.c - the same errno, its different causes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/capability.h>

#include "source/refusal.h"

static const struct refusal_facts plain_user = {.paranoid = 2, .bpf_disabled = 2};

static struct refusal_facts root(void)
{
	return (struct refusal_facts){.paranoid = 2, .capabilities = UINT64_C(1) << CAP_SYS_ADMIN};
}

static void enoent_is_no_pmu_and_never_a_matter_of_privilege(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(refusal_find(&plain_user, REFUSED_HARDWARE, ENOENT), REFUSAL_NO_HARDWARE);
	assert_int_equal(refusal_explain(&plain_user, REFUSED_HARDWARE, ENOENT, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no PMU"));
	assert_null(strstr(err.hint, "sudo"));
}

static void eacces_names_the_paranoid_level_and_the_sysctl(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(refusal_find(&plain_user, REFUSED_KERNEL, EACCES), REFUSAL_PARANOID);
	refusal_explain(&plain_user, REFUSED_KERNEL, EACCES, &err);
	assert_non_null(strstr(err.text, "perf_event_paranoid is 2"));
	assert_string_equal(err.hint, "sudo sysctl kernel.perf_event_paranoid=1");
	refusal_explain(&plain_user, REFUSED_TRACEPOINT, EPERM, &err);
	assert_string_equal(err.hint, "sudo sysctl kernel.perf_event_paranoid=-1");
}

static void a_filtered_call_is_seccomp_whatever_the_errno(void **state)
{
	static const int codes[] = {EPERM, EACCES, ENOSYS, ENOENT};
	struct refusal_facts facts = root();
	struct err err;

	(void)state;
	facts.seccomp = 2;
	facts.perf_event_open = SYSCALL_FILTERED;
	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(refusal_find(&facts, REFUSED_SOFTWARE, codes[i]), REFUSAL_SECCOMP);
	refusal_explain(&facts, REFUSED_SOFTWARE, EPERM, &err);
	assert_non_null(strstr(err.text, "seccomp"));
	facts.container = true;
	refusal_explain(&facts, REFUSED_SOFTWARE, EPERM, &err);
	assert_non_null(strstr(err.hint, "--security-opt seccomp=unconfined"));
	/* The filter does not touch bpf: that refusal has another cause. */
	assert_int_equal(refusal_find(&facts, REFUSED_BPF, EPERM), REFUSAL_MODULE);
}

static void a_filter_that_lets_the_call_through_is_not_blamed(void **state)
{
	struct refusal_facts facts = plain_user;

	(void)state;
	facts.seccomp = 2;
	assert_int_equal(refusal_find(&facts, REFUSED_KERNEL, EACCES), REFUSAL_PARANOID);
}

static void a_missing_call_is_the_kernel_s(void **state)
{
	(void)state;
	assert_int_equal(refusal_find(&plain_user, REFUSED_HARDWARE, ENOSYS), REFUSAL_NO_SYSCALL);
}

static void root_that_is_refused_is_not_told_to_become_root(void **state)
{
	struct refusal_facts facts = root();
	struct err err;

	(void)state;
	assert_int_equal(refusal_find(&facts, REFUSED_UPROBE, EACCES), REFUSAL_MODULE);
	refusal_explain(&facts, REFUSED_UPROBE, EACCES, &err);
	assert_null(strstr(err.hint, "sudo"));
}

static void capabilities_of_a_user_namespace_do_not_count(void **state)
{
	struct refusal_facts facts = root();
	struct err err;

	(void)state;
	assert_true(refusal_facts_can(&facts, CAP_PERFMON));
	facts.user_namespace = true;
	assert_false(refusal_facts_can(&facts, CAP_PERFMON));
	refusal_explain(&facts, REFUSED_BPF, EPERM, &err);
	assert_non_null(strstr(err.text, "user namespace"));
}

static void root_without_the_capability_is_told_where_to_get_it(void **state)
{
	struct refusal_facts facts = {.paranoid = 2, .root = true, .container = true};
	struct err err;

	(void)state;
	refusal_explain(&facts, REFUSED_MACHINE, EACCES, &err);
	assert_string_equal(err.hint, "sudo sysctl kernel.perf_event_paranoid=0 (on the host), or "
				      "start the container with --cap-add PERFMON");
	facts.user_namespace = true;
	refusal_explain(&facts, REFUSED_MACHINE, EACCES, &err);
	assert_non_null(strstr(err.hint, "(on the host: inside a user namespace"));
	assert_null(strstr(err.hint, "--cap-add"));
}

static void who_may_not_read_mappings_is_told_what_he_lacks(void **state)
{
	struct refusal_facts facts = plain_user;

	(void)state;
	assert_non_null(strstr(refusal_maps_hint(&facts), "as root"));
	facts.root = true;
	assert_non_null(strstr(refusal_maps_hint(&facts), "CAP_SYS_PTRACE"));
	facts.capabilities = UINT64_C(1) << CAP_SYS_PTRACE;
	assert_non_null(strstr(refusal_maps_hint(&facts), "outside of the sandbox"));
	facts.user_namespace = true;
	assert_non_null(strstr(refusal_maps_hint(&facts), "user namespace"));
}

static void a_ring_refused_is_locked_memory(void **state)
{
	(void)state;
	assert_int_equal(refusal_find(&plain_user, REFUSED_RING, EPERM), REFUSAL_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enoent_is_no_pmu_and_never_a_matter_of_privilege),
		cmocka_unit_test(eacces_names_the_paranoid_level_and_the_sysctl),
		cmocka_unit_test(a_filtered_call_is_seccomp_whatever_the_errno),
		cmocka_unit_test(a_filter_that_lets_the_call_through_is_not_blamed),
		cmocka_unit_test(a_missing_call_is_the_kernel_s),
		cmocka_unit_test(root_that_is_refused_is_not_told_to_become_root),
		cmocka_unit_test(capabilities_of_a_user_namespace_do_not_count),
		cmocka_unit_test(root_without_the_capability_is_told_where_to_get_it),
		cmocka_unit_test(who_may_not_read_mappings_is_told_what_he_lacks),
		cmocka_unit_test(a_ring_refused_is_locked_memory),
	};

	return cmocka_run_group_tests_name("refusal", tests, NULL, NULL);
}
