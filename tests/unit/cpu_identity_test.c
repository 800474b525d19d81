/* cpu_identity_test.c - which CPU it is, read from trees of plain files in place of /sys and /proc.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/io.h"
#include "source/cpu_identity.h"

#define PMUS "/sys/bus/event_source/devices/"
#define CPUS "/sys/devices/system/cpu/"

static int tree_make(void **state)
{
	char *root = strdup("/tmp/assay-cpu.XXXXXX");

	assert_non_null(mkdtemp(root));
	*state = root;
	return 0;
}

static int tree_remove(void **state)
{
	char command[128];
	int r;

	snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
	r = system(command);
	free(*state);
	return r;
}

static void put(void **state, const char *path, const char *value)
{
	const char *root = *state;
	char full[512];
	struct err err = {0};

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	if (io_replace(full, IO_SHARED, value, strlen(value), &err) < 0)
		fail_msg("%s", err.text);
}

static struct cpu_identity identity_of(void **state)
{
	struct cpu_identity identity = {0};
	struct err err = {0};

	if (cpu_identity_read(*state, &identity, &err) < 0)
		fail_msg("%s", err.text);
	return identity;
}

static void an_x86_server_is_one_kind_with_family_model_and_stepping(void **state)
{
	struct cpu_identity identity;

	put(state, "/proc/cpuinfo",
		"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		"model name\t: Intel(R) Xeon(R) 8480\nstepping\t: 8\n\nprocessor\t: 1\nmodel\t: 1\n");
	put(state, PMUS "cpu/type", "4\n");
	put(state, PMUS "software/type", "1\n");
	put(state, PMUS "uncore_imc_0/cpumask", "0\n");
	put(state, PMUS "uncore_imc_0/type", "20\n");
	put(state, CPUS "smt/active", "1\n");
	put(state, "/proc/sys/kernel/nmi_watchdog", "0\n");
	identity = identity_of(state);
	assert_int_equal(identity.kinds, 1);
	assert_string_equal(identity.kind[0].pmu, "cpu");
	assert_string_equal(identity.kind[0].vendor, "GenuineIntel");
	assert_int_equal(identity.kind[0].family, 6);
	assert_int_equal(identity.kind[0].model, 0x8f);
	assert_int_equal(identity.kind[0].stepping, 8);
	assert_int_equal(identity.kind[0].midr, 0);
	assert_int_equal(identity.smt, CPU_SWITCH_ON);
	assert_int_equal(identity.nmi_watchdog, CPU_SWITCH_OFF);
}

static void a_hybrid_has_one_kind_for_each_pmu_in_order_of_their_cpus(void **state)
{
	struct cpu_identity identity;

	put(state, "/proc/cpuinfo",
		"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 151\nstepping\t: 2\n");
	put(state, PMUS "cpu_atom/type", "10\n");
	put(state, PMUS "cpu_atom/cpus", "16-23\n");
	put(state, PMUS "cpu_core/type", "4\n");
	put(state, PMUS "cpu_core/cpus", "0-15\n");
	identity = identity_of(state);
	assert_int_equal(identity.kinds, 2);
	assert_string_equal(identity.kind[0].pmu, "cpu_core");
	assert_string_equal(identity.kind[0].cpus, "0-15");
	assert_string_equal(identity.kind[1].pmu, "cpu_atom");
	assert_string_equal(identity.kind[1].cpus, "16-23");
	assert_int_equal(identity.kind[1].model, 0x97);
	assert_int_equal(identity.smt, CPU_SWITCH_UNKNOWN);
}

static void an_arm_server_is_known_by_the_midr_of_its_cpus_and_tells_its_slots(void **state)
{
	struct cpu_identity identity;

	put(state, "/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
	put(state, PMUS "armv8_pmuv3_0/type", "8\n");
	put(state, PMUS "armv8_pmuv3_0/cpus", "0-63\n");
	put(state, PMUS "armv8_pmuv3_0/caps/slots", "0x00000008\n");
	put(state, CPUS "cpu0/regs/identification/midr_el1", "0x00000000410fd4f1\n");
	identity = identity_of(state);
	assert_int_equal(identity.kinds, 1);
	assert_int_equal(identity.kind[0].midr, 0x410fd4f1);
	assert_int_equal(identity.kind[0].slots, 8);
	assert_string_equal(identity.kind[0].vendor, "");
}

static void each_cluster_of_a_big_little_has_the_midr_of_its_own_cpus(void **state)
{
	struct cpu_identity identity;

	put(state, PMUS "armv8_cortex_a78/type", "9\n");
	put(state, PMUS "armv8_cortex_a78/cpus", "4-7\n");
	put(state, PMUS "armv8_cortex_a55/type", "8\n");
	put(state, PMUS "armv8_cortex_a55/cpus", "0-3\n");
	put(state, CPUS "cpu0/regs/identification/midr_el1", "0x00000000412fd050\n");
	put(state, CPUS "cpu4/regs/identification/midr_el1", "0x00000000411fd410\n");
	identity = identity_of(state);
	assert_int_equal(identity.kinds, 2);
	assert_int_equal(identity.kind[0].midr, 0x412fd050);
	assert_int_equal(identity.kind[1].midr, 0x411fd410);
}

static void without_midr_el1_cpuinfo_gives_the_same_number(void **state)
{
	put(state, "/proc/cpuinfo",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
		"CPU part\t: 0xd0c\nCPU revision\t: 1\n");
	assert_int_equal(identity_of(state).kind[0].midr, 0x413fd0c1);
}

static void a_machine_without_a_pmu_is_still_known(void **state)
{
	struct cpu_identity identity;

	put(state, "/proc/cpuinfo",
		"vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t: 17\nstepping\t: 1\n");
	identity = identity_of(state);
	assert_int_equal(identity.kinds, 1);
	assert_string_equal(identity.kind[0].pmu, "");
	assert_int_equal(identity.kind[0].family, 25);
}

static void a_machine_that_says_nothing_is_an_error_with_a_reason(void **state)
{
	struct cpu_identity identity;
	struct err err = {0};

	assert_int_equal(cpu_identity_read(*state, &identity, &err), -ENODATA);
	assert_non_null(strstr(err.text, "cannot tell which CPU this is"));
}

static void this_machine_is_some_cpu(void **state)
{
	struct cpu_identity identity = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(cpu_identity_read("", &identity, &err), 0);
	assert_true(identity.kind[0].midr || identity.kind[0].vendor[0]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_x86_server_is_one_kind_with_family_model_and_stepping),
		CASE(a_hybrid_has_one_kind_for_each_pmu_in_order_of_their_cpus),
		CASE(an_arm_server_is_known_by_the_midr_of_its_cpus_and_tells_its_slots),
		CASE(each_cluster_of_a_big_little_has_the_midr_of_its_own_cpus),
		CASE(without_midr_el1_cpuinfo_gives_the_same_number),
		CASE(a_machine_without_a_pmu_is_still_known),
		CASE(a_machine_that_says_nothing_is_an_error_with_a_reason),
		cmocka_unit_test(this_machine_is_some_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
