/* fingerprint_test.c - the machine told without gaps and without secrets; differences judged.
 *
 * Machines we do not have are text files in tests/golden/machines: "=== path" (or "=== path ->
 * target" for a link, {a-b} for a range of numbers) and the content of that file.  They were
 * written by hand from the kernel's documentation of these files. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/fingerprint.h"
#include "base/io.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "render/machine_json.h"
#include "source/fingerprint.h"

/* Machines from text files. */

static void write_one(const char *root, const char *path, const char *link, const struct str *body)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*at = '/';
	}
	if (link) {
		assert_return_code(symlink(link, full), errno);
		return;
	}
	io_auto int fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_return_code(fd, errno);
	assert_return_code(io_write_all(fd, str_text(body), body->len), errno);
}

/* One section: the path may hold one {a-b}. */
static void write_section(const char *root, char *path, struct str *body)
{
	char *link = strstr(path, " -> "), *range = strchr(path, '{');
	int from, to, end = 0;

	if (link) {
		*link = '\0';
		link += 4;
	}
	if (str_equal(path, "proc/self/environ"))
		for (size_t i = 0; i < body->len; i++)
			body->at[i] = (char)(body->at[i] == '\n' ? '\0' : body->at[i]);
	if (!range || sscanf(range, "{%d-%d}%n", &from, &to, &end) != 2 || !end) {
		write_one(root, path, link, body);
		return;
	}
	for (; from <= to; from++) {
		char one[256];

		snprintf(
			one, sizeof(one), "%.*s%d%s", (int)(range - path), path, from, range + end);
		write_one(root, one, link, body);
	}
}

static void write_machine(const char *name, const char *root)
{
	str_auto struct str text = {0}, body = {0}, path = {0};
	struct err err = {0};
	char *rest, *line;

	str_addf(&path, "%s/machines/%s.txt", TEST_GOLDEN, name);
	assert_return_code(io_read(path.at, 1 << 20, &text, &err), err.code);
	str_clear(&path);
	rest = text.at;
	while ((line = strsep(&rest, "\n"))) {
		if (!str_starts(line, "=== ")) {
			if (rest)
				str_addf(&body, "%s\n", line);
			continue;
		}
		if (path.len)
			write_section(root, path.at, &body);
		str_clear(&path);
		str_clear(&body);
		str_add(&path, line + 4);
	}
	write_section(root, path.at, &body);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
	(void)s;
	(void)type;
	(void)walk;
	return remove(path);
}

static struct run *take(const struct fingerprint_options *options)
{
	struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct err err = {0};

	assert_return_code(fingerprint_take(options, &sink, &err), err.code);
	assert_int_equal(ingest.malformed, 0);
	return run;
}

static struct run *take_machine(const char *name)
{
	char root[] = "/tmp/assay-machine-XXXXXX";
	struct run *run;

	assert_non_null(mkdtemp(root));
	write_machine(name, root);
	run = take(&(struct fingerprint_options){.root = root});
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return run;
}

/* Runs by hand. */

static void add(struct run *run, const char *group, const char *name, const char *value)
{
	enum field_state state = str_equal(value, "absent")   ? FIELD_ABSENT
				 : str_equal(value, "denied") ? FIELD_DENIED
							      : FIELD_VALUE;

	run_add_field(run, &(struct field_row){
				   .group = run_intern(run, group),
				   .name = run_intern(run, name),
				   .value = state == FIELD_VALUE ? run_intern(run, value) : 0,
				   .state = state,
			   });
}

/* What a run says of "group.name": its value, "absent", "denied", or NULL when it is not there. */
static const char *said(const struct run *run, const char *group, const char *name)
{
	vec_foreach (const struct field_row, row, &run->fields)
		if (str_equal(run_text(run, row->group), group) &&
			str_equal(run_text(run, row->name), name))
			return row->state == FIELD_VALUE    ? run_text(run, row->value)
			       : row->state == FIELD_DENIED ? "denied"
							    : "absent";
	return NULL;
}

static void assert_said(
	const struct run *run, const char *group, const char *name, const char *value)
{
	const char *found = said(run, group, name);

	if (!found || !str_equal(found, value))
		fail_msg("%s.%s is %s, not %s", group, name, found ? found : "missing", value);
}

/* Compare two one-field runs. */
static enum fingerprint_class class_of(
	const char *group, const char *name, const char *a_value, const char *b_value)
{
	run_auto struct run *a = run_open(), *b = run_open();
	fingerprint_comparison_auto struct fingerprint_comparison comparison;

	add(a, "identity", "tool_version", "1");
	add(b, "identity", "tool_version", "2"); /* always a difference, never more than INFO */
	if (a_value)
		add(a, group, name, a_value);
	if (b_value)
		add(b, group, name, b_value);
	fingerprint_compare(&comparison, a, b);
	return comparison.class;
}

/* The rules. */

static void every_line_of_the_rules_compiled_in_is_a_rule(void **state)
{
	fingerprint_rules_auto struct fingerprint_rules rules = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(fingerprint_rules_load(&rules, &err), 0);
	assert_true(rules.rows.count > 60);
}

static void the_first_rule_that_matches_counts(void **state)
{
	fingerprint_rules_auto struct fingerprint_rules rules = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(fingerprint_rules_add(&rules, "t",
				 "# a comment\n\n"
				 "cpu.model BLOCK [brief] [absent=Not there] why\n"
				 "cpu.m*    WARN  [quiet<=0.5] other reason\n",
				 &err),
		0);
	assert_int_equal(rules.rows.count, 2);
	const struct fingerprint_rule *rule = fingerprint_rules_find(&rules, "cpu", "model");
	assert_int_equal(rule->severity, FINGERPRINT_BLOCK);
	assert_true(rule->brief);
	assert_string_equal(rule->neutral, "Not there");
	assert_string_equal(rule->reason, "why");
	rule = fingerprint_rules_find(&rules, "cpu", "microcode");
	assert_int_equal(rule->severity, FINGERPRINT_WARN);
	assert_true(rule->quiet_limit == 0.5);
	assert_int_equal(fingerprint_rules_find(&rules, "cpu", "x")->severity, FINGERPRINT_INFO);
	assert_int_equal(
		fingerprint_rules_find(&rules, "cpus", "model")->severity, FINGERPRINT_INFO);
}

static void a_line_that_is_no_rule_is_refused_with_its_place(void **state)
{
	static const char *const lines[] = {"cpu.model", "cpu.model LOUD why", "cpu.model BLOCK",
		"model BLOCK why", "cpu.model BLOCK [unknown] why", "cpu.model BLOCK [brief why",
		"cpu.model BLOCK [quiet<=much] why", "cpu.model BLOCK [brief]"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		fingerprint_rules_auto struct fingerprint_rules rules = {0};
		struct err err = {0};

		assert_int_equal(fingerprint_rules_add(&rules, "t", lines[i], &err), -EINVAL);
		assert_true(str_starts(err.text, "t:1: expected a rule like "));
		assert_non_null(strstr(err.text, lines[i]));
		assert_int_equal(rules.rows.count, 0);
	}
}

/* This machine. */

static void this_machine_has_sixty_fields_none_empty_each_with_a_rule(void **state)
{
	run_auto struct run *run = take(NULL);
	fingerprint_view_auto struct fingerprint_view view;

	(void)state;
	fingerprint_view_init(&view, run);
	assert_true(view.fields.count >= 60);
	vec_foreach (const struct fingerprint_field, field, &view.fields) {
		assert_true(*field->group && *field->name);
		assert_int_equal(field->state == FINGERPRINT_VALUE, field->value != NULL);
		if (field->value && !*field->value)
			fail_msg("%s.%s is empty", field->group, field->name);
		if (str_equal(field->rule->field, "*"))
			fail_msg("%s.%s has no rule", field->group, field->name);
	}
}

static void no_field_is_told_twice(void **state)
{
	run_auto struct run *run = take(NULL);

	(void)state;
	for (uint32_t i = 0; i < run->fields.count; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_false(run->fields.at[i].group == run->fields.at[j].group &&
				     run->fields.at[i].name == run->fields.at[j].name);
}

static void a_storage_path_that_is_not_there_is_refused(void **state)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct err err = {0};

	(void)state;
	assert_int_equal(
		fingerprint_take(&(struct fingerprint_options){.storage_path = "/no/such/place"},
			&sink, &err),
		-ENOENT);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.text, "/no/such/place"));
}

/* The key. */

static void the_key_is_the_same_on_every_call(void **state)
{
	run_auto struct run *one = take(NULL), *two = take(NULL);
	char a[FINGERPRINT_KEY], b[FINGERPRINT_KEY];

	(void)state;
	fingerprint_key(one, a);
	fingerprint_key(two, b);
	assert_string_equal(a, b);
	assert_int_equal(strlen(a), 16);
	assert_int_equal(strspn(a, "0123456789abcdef"), 16);
}

static void the_key_follows_blocking_fields_and_nothing_else(void **state)
{
	static const struct {
		const char *group, *name, *value;
		bool changes;
	} cases[] = {
		{"noise", "load", "9 9 9", false},
		{"identity", "boot_id", "another boot", false},
		{"identity", "time_utc", "later", false},
		{"memory", "swap_used", "7 MiB", false},
		{"storage", "filesystem", "tmpfs", false},
		{"kernel", "release", "6.1.99-other", false},
		{"limits", "cpu_quota", "max", false},
		{"limits", "cpu_quota", "absent", false},
		{"freq", "governor", "denied", false},
		{"freq", "governor", "powersave (all cpus)", true},
		{"limits", "cpu_quota", "1.50 cpus", true},
		{"env", "LD_PRELOAD", "/x.so", true},
	};
	char plain[FINGERPRINT_KEY], other[FINGERPRINT_KEY];
	run_auto struct run *base = run_open();

	(void)state;
	add(base, "cpu", "model", "X");
	fingerprint_key(base, plain);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		run_auto struct run *run = run_open();

		add(run, cases[i].group, cases[i].name, cases[i].value);
		add(run, "cpu", "model", "X");
		fingerprint_key(run, other);
		assert_int_equal(!str_equal(plain, other), cases[i].changes);
	}
}

static void the_key_does_not_depend_on_the_order_of_the_fields(void **state)
{
	run_auto struct run *a = run_open(), *b = run_open();
	char a_key[FINGERPRINT_KEY], b_key[FINGERPRINT_KEY];

	(void)state;
	add(a, "cpu", "model", "X");
	add(a, "clock", "source", "tsc");
	add(b, "clock", "source", "tsc");
	add(b, "cpu", "model", "X");
	fingerprint_key(a, a_key);
	fingerprint_key(b, b_key);
	assert_string_equal(a_key, b_key);
}

static void a_run_without_fields_has_no_key(void **state)
{
	run_auto struct run *run = run_open();
	char key[FINGERPRINT_KEY];

	(void)state;
	fingerprint_key(run, key);
	assert_string_equal(key, "");
}

/* Classes. */

static void the_worst_difference_decides_the_class(void **state)
{
	(void)state;
	assert_int_equal(class_of("cpu", "model", "X", "X"), FULLY_COMPARABLE);
	assert_int_equal(class_of("cpu", "model", "X", "Y"), NOT_COMPARABLE);
	assert_int_equal(class_of("cpu", "microcode", "1", "2"), ADVISORY);
	assert_int_equal(class_of("kernel", "release", "6.1.1", "6.1.2"), FULLY_COMPARABLE);
}

static void what_is_missing_on_one_side_differs_from_a_value(void **state)
{
	(void)state;
	assert_int_equal(class_of("env", "OMP_NUM_THREADS", "absent", "8"), NOT_COMPARABLE);
	assert_int_equal(class_of("env", "OMP_NUM_THREADS", "8", NULL), NOT_COMPARABLE);
	assert_int_equal(class_of("env", "OMP_NUM_THREADS", NULL, "absent"), FULLY_COMPARABLE);
}

static void absence_equals_the_value_that_means_the_same(void **state)
{
	(void)state;
	assert_int_equal(class_of("limits", "cpu_quota", "absent", "max"), FULLY_COMPARABLE);
	assert_int_equal(class_of("limits", "cpu_quota", "absent", "1.00 cpus"), NOT_COMPARABLE);
	assert_int_equal(
		class_of("security", "vulnerability_new", NULL, "Not affected"), FULLY_COMPARABLE);
	assert_int_equal(class_of("security", "vulnerability_new", NULL, "Mitigation: slow"),
		NOT_COMPARABLE);
}

static void what_was_denied_warns_at_most(void **state)
{
	(void)state;
	assert_int_equal(class_of("freq", "governor", "denied", "performance"), ADVISORY);
	assert_int_equal(class_of("freq", "governor", "denied", "denied"), FULLY_COMPARABLE);
	assert_int_equal(
		class_of("kernel", "sched_features_hash", "denied", "1"), FULLY_COMPARABLE);
}

static void a_noisy_side_warns_even_when_both_are_alike(void **state)
{
	(void)state;
	assert_int_equal(class_of("noise", "pressure_cpu", "0.10 %", "3.00 %"), FULLY_COMPARABLE);
	assert_int_equal(class_of("noise", "pressure_cpu", "68.00 %", "1.00 %"), ADVISORY);
	assert_int_equal(class_of("noise", "pressure_cpu", "68.00 %", "68.00 %"), ADVISORY);
}

static void differences_come_worst_first_with_both_values(void **state)
{
	run_auto struct run *a = run_open(), *b = run_open();
	fingerprint_comparison_auto struct fingerprint_comparison c;

	(void)state;
	add(a, "kernel", "release", "1");
	add(b, "kernel", "release", "2");
	add(a, "cpu", "microcode", "1");
	add(b, "cpu", "microcode", "2");
	add(a, "clock", "source", "tsc");
	add(b, "clock", "source", "absent");
	fingerprint_compare(&c, a, b);
	assert_int_equal(c.differences.count, 3);
	assert_string_equal(c.differences.at[0].field, "clock.source");
	assert_string_equal(c.differences.at[0].a, "tsc");
	assert_null(c.differences.at[0].b);
	assert_string_equal(c.differences.at[0].b_missing, "absent");
	assert_string_equal(c.differences.at[1].field, "cpu.microcode");
	assert_string_equal(c.differences.at[2].field, "kernel.release");
	assert_int_equal(c.counts[FINGERPRINT_BLOCK], 1);
	assert_int_equal(c.class, NOT_COMPARABLE);
}

/* Machines we do not have. */

static void an_arm_server_is_named_by_its_part_number(void **state)
{
	run_auto struct run *run = take_machine("graviton");

	(void)state;
	assert_said(run, "cpu", "model", "Neoverse-V1");
	assert_said(run, "cpu", "vendor", "ARM (0x41)");
	assert_said(run, "cpu", "stepping", "r1p1");
	assert_said(run, "cpu", "flags_count", "38");
	assert_said(run, "cpu", "microcode", "absent");
	assert_said(run, "cpu", "core_kinds", "0x00000000411fd401 (all cpus)");
	assert_said(run, "cpu", "cores", "4");
	assert_said(run, "cpu", "sockets", "1");
	assert_said(run, "cpu", "cache_l1d", "64K");
	assert_said(run, "freq", "governor", "absent");
	assert_said(run, "kernel", "architecture", "aarch64");
	assert_said(run, "kernel", "series", "6.8");
	assert_said(run, "clock", "source", "arch_sys_counter");
	assert_said(run, "clock", "tsc_flags", "absent");
	assert_said(run, "limits", "virtualization", "amazon");
	assert_said(run, "limits", "container", "none");
	assert_said(run, "limits", "cpu_quota", "max");
	assert_said(run, "storage", "filesystem", "ext4");
}

static void a_hybrid_laptop_shows_its_kinds_of_cores_and_its_governor(void **state)
{
	run_auto struct run *run = take_machine("laptop");

	(void)state;
	assert_said(run, "cpu", "core_kinds", "cpu_core (cpu 0-7), cpu_atom (cpu 8-15)");
	assert_said(run, "cpu", "cores", "12");
	assert_said(run, "cpu", "smt_active", "1");
	assert_said(run, "cpu", "cache_l1d", "48K; cpu_atom 32K");
	assert_said(run, "freq", "driver", "intel_pstate");
	assert_said(run, "freq", "governor", "powersave (all cpus)");
	assert_said(run, "freq", "hardware_max_khz", "4700000 (cpu 0-7), 3400000 (cpu 8-15)");
	assert_said(run, "freq", "boost", "off");
	assert_said(run, "freq", "idle_states", "POLL C1E C10(off)");
	assert_said(run, "memory", "thp_enabled", "always");
	assert_said(run, "memory", "swap_used", "256 MiB");
	assert_said(run, "memory", "hugepages", "4 x 2048 kB");
	assert_said(run, "limits", "virtualization", "none");
	assert_said(run, "limits", "nice", "5");
	assert_said(run, "limits", "scheduling_policy", "batch, priority 0");
	assert_said(run, "limits", "rlimit_stack", "8388608 (hard unlimited)");
	assert_said(run, "noise", "temperature", "61 C");
	assert_said(run, "noise", "thermal_throttles", "48 since boot");
	assert_said(run, "noise", "power_source", "battery");
	assert_said(run, "noise", "load_per_cpu", "0.59");
	assert_said(run, "env", "OMP_PROC_BIND", "close");
	assert_said(run, "env", "count", "5");
}

static void secrets_of_the_command_line_and_environment_stay_secret(void **state)
{
	run_auto struct run *run = take_machine("laptop");

	(void)state;
	assert_said(run, "kernel", "cmdline_isolation", "isolcpus=2,3 nohz_full=2,3");
	assert_said(run, "kernel", "cmdline_mitigations", "mitigations=off");
	assert_said(run, "kernel", "cmdline_tuning", "intel_pstate=active");
	assert_null(said(run, "env", "AWS_SECRET_ACCESS_KEY"));
	for (text_id id = 1; id <= run_text_count(run); id++)
		assert_null(strstr(run_text(run, id), "hunter2"));
}

static void the_tightest_group_above_us_is_the_quota(void **state)
{
	run_auto struct run *run = take_machine("container");

	(void)state;
	assert_said(run, "limits", "cgroup_version", "v2");
	assert_said(run, "limits", "cpu_quota", "1.50 cpus");
	assert_said(run, "limits", "memory_max", "536870912 bytes");
	assert_said(run, "limits", "cpu_weight", "39");
	assert_said(run, "limits", "cpuset", "2-5");
	assert_said(run, "limits", "throttled_periods", "2");
	assert_said(run, "limits", "container", "docker");
	assert_said(run, "limits", "virtualization", "amazon");
	assert_said(run, "limits", "affinity", "2-5");
	assert_said(run, "security", "seccomp", "2");
	assert_said(run, "storage", "filesystem", "overlay");
	assert_said(run, "storage", "scheduler", "absent");
}

static void an_empty_root_gives_absent_fields_not_a_crash(void **state)
{
	char root[] = "/tmp/assay-machine-XXXXXX";
	run_auto struct run *run = NULL;

	(void)state;
	assert_non_null(mkdtemp(root));
	run = take(&(struct fingerprint_options){.root = root});
	rmdir(root);
	assert_said(run, "cpu", "model", "absent");
	assert_said(run, "limits", "cpu_quota", "absent");
	assert_said(run, "noise", "load", "absent");
	assert_true(run->fields.count >= 60);
}

static void an_empty_machine_id_is_none(void **state)
{
	char root[] = "/tmp/assay-machine-XXXXXX";
	str_auto struct str folder = {0}, path = {0};
	run_auto struct run *run = NULL;

	(void)state;
	assert_non_null(mkdtemp(root));
	str_addf(&folder, "%s/etc", root);
	str_addf(&path, "%s/machine-id", folder.at);
	assert_int_equal(mkdir(folder.at, 0700), 0);
	close(open(path.at, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	run = take(&(struct fingerprint_options){.root = root});
	unlink(path.at);
	rmdir(folder.at);
	rmdir(root);
	assert_said(run, "identity", "machine_id_hash", "absent");
}

/* Documents. */

static int read_text(const char *text, struct run *run, struct err *err)
{
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);

	return fingerprint_read(text, strlen(text), "doc.json", &sink, err);
}

static void a_fingerprint_reads_back_as_it_was_written(void **state)
{
	run_auto struct run *run = take_machine("laptop"), *again = run_open();
	fingerprint_view_auto struct fingerprint_view view;
	fingerprint_comparison_auto struct fingerprint_comparison c;
	str_auto struct str text = {0};
	struct jsonw w = {.out = &text};
	struct err err = {0};

	(void)state;
	fingerprint_view_init(&view, run);
	jsonw_begin_object(&w);
	jsonw_put_text(&w, "schema", "assay.env/1");
	jsonw_key(&w, "data");
	jsonw_begin_object(&w);
	env_json(&w, &view);
	jsonw_end_object(&w);
	jsonw_end_object(&w);
	assert_return_code(read_text(text.at, again, &err), err.code);
	assert_int_equal(again->fields.count, run->fields.count);
	for (uint32_t i = 0; i < run->fields.count; i++) {
		assert_int_equal(again->fields.at[i].state, run->fields.at[i].state);
		assert_string_equal(run_text(again, again->fields.at[i].value),
			run_text(run, run->fields.at[i].value));
	}
	fingerprint_compare(&c, run, again);
	assert_string_equal(c.a_key, c.b_key);
	assert_int_equal(c.counts[FINGERPRINT_BLOCK] + c.counts[FINGERPRINT_INFO], 0);
}

static void a_denied_field_reads_back_as_denied(void **state)
{
	run_auto struct run *run = run_open();
	struct err err = {0};

	(void)state;
	assert_return_code(
		read_text("{\"schema\":\"assay.env/1\",\"data\":{\"fields\":{\"cpu\":{"
			  "\"a\":null,\"a_reason\":\"denied\",\"b\":null,\"b_reason\":\"absent\","
			  "\"c_reason\":\"a field of its own\"}}}}",
			run, &err),
		err.code);
	assert_int_equal(run->fields.count, 3);
	assert_said(run, "cpu", "a", "denied");
	assert_said(run, "cpu", "b", "absent");
	assert_said(run, "cpu", "c_reason", "a field of its own");
}

static void a_foreign_document_is_refused_with_a_reason(void **state)
{
	static const char *const cases[][2] = {
		{"", "not valid JSON"},
		{"{\"schema\": \"assay.env/1\", \"data\": {", "not valid JSON"},
		{"[1]", "not an assay document"},
		{"{\"results\":[]}", "not an assay document"},
		{"{\"schema\":7}", "not an assay document"},
		{"{\"schema\":\"assay.env/2\",\"data\":{\"fields\":{}}}", "newer"},
		{"{\"schema\":\"assay.stat/1\",\"data\":{}}", "no data.fields"},
		{"{\"schema\":\"assay.env/1\",\"data\":{\"fields\":{}}}", "empty"},
		{"{\"schema\":\"assay.env/1\",\"data\":{\"fields\":{\"cpu\":1}}}", "group"},
		{"{\"schema\":\"assay.env/1\",\"data\":{\"fields\":{\"cpu\":{\"a\":1}}}}", "text"},
		{"{\"schema\":\"assay.env/1\",\"data\":{\"fields\":{\"cpu\":{\"a\":\"\"}}}}",
			"text"},
		{"{\"schema\":\"assay.env/1\",\"data\":{\"fields\":{\"cpu\":{\"\":\"x\"}}}}",
			"name"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		run_auto struct run *run = run_open();
		struct err err = {0};

		assert_int_equal(read_text(cases[i][0], run, &err), -EINVAL);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_true(str_starts(err.text, "doc.json is "));
		if (!strstr(err.text, cases[i][1]))
			fail_msg("'%s' does not say '%s'", err.text, cases[i][1]);
		assert_true(err.hint[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_of_the_rules_compiled_in_is_a_rule),
		cmocka_unit_test(the_first_rule_that_matches_counts),
		cmocka_unit_test(a_line_that_is_no_rule_is_refused_with_its_place),
		cmocka_unit_test(this_machine_has_sixty_fields_none_empty_each_with_a_rule),
		cmocka_unit_test(no_field_is_told_twice),
		cmocka_unit_test(a_storage_path_that_is_not_there_is_refused),
		cmocka_unit_test(the_key_is_the_same_on_every_call),
		cmocka_unit_test(the_key_follows_blocking_fields_and_nothing_else),
		cmocka_unit_test(the_key_does_not_depend_on_the_order_of_the_fields),
		cmocka_unit_test(a_run_without_fields_has_no_key),
		cmocka_unit_test(the_worst_difference_decides_the_class),
		cmocka_unit_test(what_is_missing_on_one_side_differs_from_a_value),
		cmocka_unit_test(absence_equals_the_value_that_means_the_same),
		cmocka_unit_test(what_was_denied_warns_at_most),
		cmocka_unit_test(a_noisy_side_warns_even_when_both_are_alike),
		cmocka_unit_test(differences_come_worst_first_with_both_values),
		cmocka_unit_test(an_arm_server_is_named_by_its_part_number),
		cmocka_unit_test(a_hybrid_laptop_shows_its_kinds_of_cores_and_its_governor),
		cmocka_unit_test(secrets_of_the_command_line_and_environment_stay_secret),
		cmocka_unit_test(the_tightest_group_above_us_is_the_quota),
		cmocka_unit_test(an_empty_root_gives_absent_fields_not_a_crash),
		cmocka_unit_test(an_empty_machine_id_is_none),
		cmocka_unit_test(a_fingerprint_reads_back_as_it_was_written),
		cmocka_unit_test(a_denied_field_reads_back_as_denied),
		cmocka_unit_test(a_foreign_document_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
