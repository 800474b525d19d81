/* audit_test.c - each doubt is found where it is and not where it is not; claims follow from them;
 * answers of a person are taken, and never against what was found. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/attest.h"
#include "analyze/audit.h"
#include "base/str.h"
#include "code/binary.h"
#include "model/run.h"

struct fixture {
	struct run *run;
	struct arena arena;
	struct audit_book book;
	struct audit_view view;
	struct audit_input input;
};

static void begin(struct fixture *f, unsigned commands)
{
	static const char *const names[] = {"./prog data", "old/prog data", "./other data"};
	struct err err = {0};

	*f = (struct fixture){.run = run_open()};
	for (unsigned i = 0; i < commands; i++)
		run_add_command(f->run, &(struct command_row){run_intern(f->run, names[i])});
	f->input = (struct audit_input){.name = "run", .run = f->run};
	assert_int_equal(audit_book_load(&f->book, &err), 0);
}

static void end(struct fixture *f)
{
	audit_view_done(&f->view);
	audit_book_done(&f->book);
	run_close(f->run);
	arena_done(&f->arena);
}

static void add(struct fixture *f, row_id command, uint64_t wall_ns)
{
	run_add_execution(f->run,
		&(struct execution_row){
			.command = command, .wall_ns = wall_ns, .user_ns = wall_ns, .start_ns = 1});
}

/* n runs of about 1 s that vary by 1 %, in turns. */
static void add_good(struct fixture *f, unsigned commands, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 1; k <= commands; k++)
			add(f, k, 1000000000 + (i * 7919 % 13) * 2000000);
}

static void add_machine(struct run *run, const char *model)
{
	static const char *const names[][3] = {
		{"cpu", "model", NULL}, {"kernel", "release", "6.1"}};

	for (unsigned i = 0; i < 2; i++)
		run_add_field(
			run, &(struct field_row){
				     .group = run_intern(run, names[i][0]),
				     .name = run_intern(run, names[i][1]),
				     .value = run_intern(run, names[i][2] ? names[i][2] : model),
			     });
}

/* `fields`: the values of machine_id_hash, boot_id and hostname_hash; "": not known. */
static struct run *machine(const char *const fields[3])
{
	static const char *const names[] = {"machine_id_hash", "boot_id", "hostname_hash"};
	struct run *run = run_open();

	for (unsigned i = 0; i < 3; i++)
		run_add_field(run, &(struct field_row){
					   .group = run_intern(run, "identity"),
					   .name = run_intern(run, names[i]),
					   .value = run_intern(run, fields[i]),
					   .state = *fields[i] ? FIELD_VALUE : FIELD_ABSENT,
				   });
	return run;
}

static void a_machine_without_an_id_is_known_by_its_boot_and_name(void **state)
{
	static const struct {
		const char *a[3], *b[3];
		bool same;
	} rows[] = {
		{{"id", "boot", "name"}, {"id", "later", "renamed"}, true},
		{{"id", "boot", "name"}, {"other", "boot", "name"}, false},
		{{"", "boot", "name"}, {"", "boot", "name"}, true},
		{{"", "boot", "name"}, {"", "later", "name"}, false},
		{{"", "boot", "name"}, {"", "boot", "container"}, false},
		{{"id", "boot", "name"}, {"", "boot", "name"}, false},
		{{"", "", ""}, {"", "", ""}, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		run_auto struct run *a = machine(rows[i].a), *b = machine(rows[i].b);

		assert_int_equal(audit_is_same_machine(a, b), rows[i].same);
		assert_int_equal(audit_is_same_machine(b, a), rows[i].same);
	}
}

static void audit(struct fixture *f)
{
	struct err err = {0};

	assert_int_equal(audit_view_make(&f->input, 1, &f->book, &f->arena, &f->view, &err), 0);
}

static const struct audit_finding *found(const struct fixture *f, const char *code)
{
	assert_non_null(audit_book_find(&f->book, code));
	vec_foreach (const struct audit_finding, finding, &f->view.findings)
		if (str_equal(finding->rule->code, code))
			return finding;
	return NULL;
}

static void every_line_of_the_rules_is_one(void **state)
{
	static const char *const wrong[] = {
		"finding a\nseverity WORST\nmeans x\ndo y\ndenies z\n",
		"finding a\nseverity LOW\nlimit many\nmeans x\ndo y\ndenies z\n",
		"finding a\nnonsense\n",
		"finding a\nsure thing\n",
		"level L0\nneeds x\n",
	};
	audit_book_auto struct audit_book book = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(audit_book_load(&book, &err), 0);
	assert_int_equal(book.levels.count, AUDIT_LEVELS);
	vec_foreach (const struct audit_rule, rule, &book.rules)
		assert_true(*rule->means && *rule->fix && *rule->denies);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(audit_book_add(&book, "t", wrong[i], &err), -EINVAL);
}

static void a_good_run_has_no_high_and_no_medium_finding(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	add_machine(f.run, "cpu");
	add_good(&f, 2, 25);
	audit(&f);
	assert_int_equal(f.view.counts[AUDIT_HIGH], 0);
	assert_int_equal(f.view.counts[AUDIT_MEDIUM], 0);
	assert_int_equal(f.view.run_count, 50);
	/* The same words behind prog and old/prog, in turns, one machine: all but the data. */
	assert_int_equal(f.view.reached, 4);
	assert_int_equal(f.view.class, FULLY_COMPARABLE);
	assert_non_null(strstr(f.view.supports, "L4"));
	assert_non_null(strstr(f.view.lacks, "L5"));
	end(&f);
}

static void the_number_of_runs_is_judged_at_5_and_at_20(void **state)
{
	static const struct {
		unsigned n;
		const char *code;
	} cases[] = {{0, "single-number"}, {1, "single-number"}, {4, "tiny-n"}, {5, "small-n"},
		{19, "small-n"}, {20, NULL}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f, 1);
		add_good(&f, 1, cases[i].n);
		audit(&f);
		assert_int_equal(found(&f, "single-number") != NULL,
			cases[i].code && str_equal(cases[i].code, "single-number"));
		assert_int_equal(found(&f, "tiny-n") != NULL,
			cases[i].code && str_equal(cases[i].code, "tiny-n"));
		assert_int_equal(found(&f, "small-n") != NULL,
			cases[i].code && str_equal(cases[i].code, "small-n"));
		end(&f);
	}
}

static void a_file_without_commands_has_no_results(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 0);
	audit(&f);
	assert_non_null(found(&f, "no-results"));
	assert_non_null(strstr(f.view.supports, "nothing"));
	end(&f);
}

static void blocks_are_found_from_the_order_itself(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	for (unsigned k = 1; k <= 2; k++)
		for (unsigned i = 0; i < 20; i++)
			add(&f, k, 1000000000 + (i * 7 % 5) * 1000000);
	audit(&f);
	assert_non_null(found(&f, "blocked-order"));
	assert_int_equal(f.view.steps[3].answer, AUDIT_NO);
	end(&f);
}

static void programs_without_words_do_not_show_the_same_workload(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 0);
	run_add_command(f.run, &(struct command_row){run_intern(f.run, "./old")});
	run_add_command(f.run, &(struct command_row){run_intern(f.run, "./new")});
	add_good(&f, 2, 25);
	audit(&f);
	assert_int_equal(f.view.steps[1].answer, AUDIT_UNKNOWN);
	assert_int_equal(f.view.reached, 0);
	end(&f);
}

static void failed_and_timed_out_runs_are_high(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	add_good(&f, 1, 25);
	f.run->executions.at[3].exit_status = 1;
	f.run->executions.at[4].flags |= EXECUTION_TIMED_OUT;
	audit(&f);
	assert_int_equal(found(&f, "failed-runs")->rule->severity, AUDIT_HIGH);
	assert_non_null(found(&f, "timed-out"));
	assert_int_equal(f.view.run_count, 23);
	end(&f);
}

static void warm_up_spread_and_parity_are_found(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	for (unsigned i = 0; i < 40; i++) {
		add(&f, 1, 1000000000 + (i * 7919 % 13) * 1000000);
		add(&f, 2, (i < 3 ? 3000000000 : 1000000000) + (i * 7919 % 13) * 1000000);
	}
	audit(&f);
	assert_string_equal(found(&f, "warm-up")->command, "old/prog data");
	assert_string_equal(found(&f, "wide-spread")->command, "old/prog data");
	assert_true(found(&f, "spread-parity")->number > 2);
	assert_int_equal(f.view.steps[3].answer, AUDIT_NO);
	end(&f);
}

static void a_noisy_host_is_found_in_steal_pressure_and_load(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	add_machine(f.run, "cpu");
	run_add_field(f.run, &(struct field_row){.group = run_intern(f.run, "noise"),
				     .name = run_intern(f.run, "load_per_cpu"),
				     .value = run_intern(f.run, "3.00")});
	add_good(&f, 1, 25);
	for (uint32_t i = 0; i < f.run->executions.count; i++) {
		f.run->executions.at[i].flags |= EXECUTION_STEAL | EXECUTION_PRESSURE;
		f.run->executions.at[i].steal_us = 50000;
		f.run->executions.at[i].pressure_us = 500000;
	}
	audit(&f);
	assert_true(fabs(found(&f, "noisy-steal")->number - 0.05) < 0.01);
	assert_true(fabs(found(&f, "noisy-pressure")->number - 0.5) < 0.05);
	assert_non_null(strstr(found(&f, "noisy-host")->evidence, "load_per_cpu 3.00"));
	end(&f);
}

static void builds_are_judged_by_their_facts(void **state)
{
	struct binary_facts slow = {.name = "prog",
		.optimisation = "-O0",
		.optimisation_evidence = EVIDENCE_PRODUCER,
		.sanitizers = "address",
		.instruments = "gcov"};
	struct binary_facts fast = {.name = "prog",
		.optimisation = "-O2",
		.optimisation_evidence = EVIDENCE_PRODUCER,
		.sanitizers = "none",
		.instruments = "none",
		.lto = BINARY_NO};
	const struct binary_facts *programs[] = {&slow, &fast};
	struct fixture f;

	(void)state;
	begin(&f, 2);
	add_machine(f.run, "cpu");
	add_good(&f, 2, 25);
	f.input.programs = programs;
	audit(&f);
	assert_non_null(found(&f, "debug-build"));
	assert_non_null(found(&f, "sanitizer"));
	assert_non_null(found(&f, "instrumented"));
	assert_non_null(found(&f, "unequal-builds"));
	assert_non_null(found(&f, "lto-off"));
	assert_null(found(&f, "build-unknown"));
	assert_int_equal(f.view.class, NOT_COMPARABLE);
	end(&f);
}

static void files_of_two_machines_are_mixed(void **state)
{
	struct fixture f, other;
	struct audit_input inputs[2];
	struct err err = {0};

	(void)state;
	begin(&f, 1);
	begin(&other, 1);
	add_machine(f.run, "fast cpu");
	add_machine(other.run, "slow cpu");
	add_good(&f, 1, 25);
	add_good(&other, 1, 25);
	inputs[0] = f.input;
	inputs[1] = other.input;
	assert_int_equal(audit_view_make(inputs, 2, &f.book, &f.arena, &f.view, &err), 0);
	assert_non_null(strstr(found(&f, "mixed-machines")->evidence, "cpu.model"));
	assert_non_null(found(&f, "separate-sessions"));
	assert_int_equal(f.view.class, NOT_COMPARABLE);
	end(&f);
	end(&other);
}

static void evidence_is_one_line_whatever_a_command_is_called(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 0);
	run_add_command(f.run, &(struct command_row){run_intern(f.run, "a\nscenario=pass\033")});
	add_good(&f, 1, 3);
	audit(&f);
	assert_null(strchr(f.view.supports, '\n'));
	assert_null(strchr(f.view.supports, '\033'));
	end(&f);
}

static void the_tool_answers_what_it_can_know(void **state)
{
	struct fixture f;
	struct attest_facts facts = {.repeat_count = 1, .git_known = true, .git_commit = "abc"};
	struct attest_view view;

	(void)state;
	begin(&f, 2);
	add_machine(f.run, "cpu");
	add_good(&f, 2, 25);
	audit(&f);
	facts.audit = &f.view;
	facts.input = &f.input;
	facts.repeats = f.view.files;
	attest_view_make(&facts, &f.arena, &view);
	assert_int_equal(view.items[0].answer, ATTEST_OPEN);  /* scenario */
	assert_int_equal(view.items[1].answer, ATTEST_OPEN);  /* builds are not known */
	assert_int_equal(view.items[3].answer, ATTEST_PASS);  /* knobs by hash */
	assert_int_equal(view.items[6].answer, ATTEST_PASS);  /* warm-up */
	assert_int_equal(view.items[7].answer, ATTEST_PASS);  /* 25 runs, 25 s */
	assert_int_equal(view.items[9].answer, ATTEST_FAIL);  /* one of three repeats */
	assert_int_equal(view.items[10].answer, ATTEST_PASS); /* tiers */
	assert_non_null(strstr(view.items[10].evidence, "ParityToMargin"));
	assert_int_equal(view.items[13].answer, ATTEST_PASS); /* reproducible */
	end(&f);
}

static void three_repeats_are_held_against_each_other(void **state)
{
	struct fixture f[3];
	struct audit_input inputs[3];
	struct attest_facts facts = {.repeat_count = 3};
	struct attest_view view;
	struct err err = {0};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		begin(&f[i], 1);
		add_machine(f[i].run, "cpu");
		add_good(&f[i], 1, 25);
		inputs[i] = f[i].input;
	}
	for (unsigned drifted = 0; drifted < 2; drifted++) {
		struct audit_view all;

		for (unsigned i = 0; drifted && i < 25; i++)
			f[2].run->executions.at[i].wall_ns = 1500000000 + i;
		assert_int_equal(
			audit_view_make(inputs, 3, &f[0].book, &f[0].arena, &all, &err), 0);
		facts.audit = &all;
		facts.input = &inputs[0];
		facts.repeats = all.files;
		attest_view_make(&facts, &f[0].arena, &view);
		assert_int_equal(view.items[9].answer, drifted ? ATTEST_FAIL : ATTEST_PASS);
		audit_view_done(&all);
	}
	for (unsigned i = 0; i < 3; i++)
		end(&f[i]);
}

static void a_fixture_that_was_written_meanwhile_fails(void **state)
{
	struct attest_fixture files[] = {{.path = "data", .sha256 = "aa", .command = 0},
		{.path = "data", .sha256 = "aa", .command = 1}};
	struct attest_facts facts = {
		.repeat_count = 1, .fixtures = files, .fixture_count = 2, .started_known = true};
	struct attest_view view;
	struct fixture f;

	(void)state;
	begin(&f, 2);
	add_good(&f, 2, 25);
	audit(&f);
	facts.audit = &f.view;
	facts.input = &f.input;
	facts.repeats = f.view.files;
	attest_view_make(&facts, &f.arena, &view);
	assert_int_equal(view.items[5].answer, ATTEST_PASS);
	files[1].sha256 = "bb";
	attest_view_make(&facts, &f.arena, &view);
	assert_int_equal(view.items[5].answer, ATTEST_OPEN);
	files[1].changed_since = true;
	attest_view_make(&facts, &f.arena, &view);
	assert_int_equal(view.items[5].answer, ATTEST_FAIL);
	end(&f);
}

static void a_failure_that_was_found_can_be_waived_and_never_passed(void **state)
{
	arena_auto struct arena arena = {0};
	struct attest_view view;
	struct err err = {0};

	(void)state;
	attest_view_make(NULL, &arena, &view);
	view.items[7].answer = ATTEST_FAIL;
	view.items[7].by_tool = true;
	assert_int_equal(attest_take(&view, "enough-runs", "pass", &arena, &err), -EINVAL);
	assert_int_equal(attest_take(&view, "enough-runs", "waive:", &arena, &err), -EINVAL);
	assert_int_equal(attest_take(&view, "enough-runs", "maybe", &arena, &err), -EINVAL);
	assert_int_equal(attest_take(&view, "enough-rnus", "pass", &arena, &err), -EINVAL);
	assert_non_null(strstr(err.hint, "enough-runs"));
	assert_int_equal(attest_take(&view, "enough-runs", "waive: few", &arena, &err), 0);
	assert_string_equal(view.items[7].reason, "few");
	assert_false(view.items[7].by_tool);
}

static void a_file_of_answers_names_what_it_lacks(void **state)
{
	static const char some[] = "# words\n\nscenario = pass\nsame-build=fail\n";
	arena_auto struct arena arena = {0};
	struct attest_view view;
	struct err err = {0};

	(void)state;
	attest_view_make(NULL, &arena, &view);
	assert_int_equal(attest_take_all(&view, some, strlen(some), "a", &arena, &err), -EINVAL);
	assert_non_null(strstr(err.text, "same-api, same-knobs"));
	assert_null(strstr(err.text, "scenario"));
	assert_int_equal(view.passes, 1);
	assert_int_equal(view.fails, 1);
	assert_int_equal(attest_take_all(&view, "no equals", 9, "a", &arena, &err), -EINVAL);
	assert_int_equal(attest_take_all(&view, "a\0b", 3, "a", &arena, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_of_the_rules_is_one),
		cmocka_unit_test(a_good_run_has_no_high_and_no_medium_finding),
		cmocka_unit_test(the_number_of_runs_is_judged_at_5_and_at_20),
		cmocka_unit_test(a_file_without_commands_has_no_results),
		cmocka_unit_test(blocks_are_found_from_the_order_itself),
		cmocka_unit_test(programs_without_words_do_not_show_the_same_workload),
		cmocka_unit_test(failed_and_timed_out_runs_are_high),
		cmocka_unit_test(warm_up_spread_and_parity_are_found),
		cmocka_unit_test(a_noisy_host_is_found_in_steal_pressure_and_load),
		cmocka_unit_test(builds_are_judged_by_their_facts),
		cmocka_unit_test(a_machine_without_an_id_is_known_by_its_boot_and_name),
		cmocka_unit_test(files_of_two_machines_are_mixed),
		cmocka_unit_test(evidence_is_one_line_whatever_a_command_is_called),
		cmocka_unit_test(the_tool_answers_what_it_can_know),
		cmocka_unit_test(three_repeats_are_held_against_each_other),
		cmocka_unit_test(a_fixture_that_was_written_meanwhile_fails),
		cmocka_unit_test(a_failure_that_was_found_can_be_waived_and_never_passed),
		cmocka_unit_test(a_file_of_answers_names_what_it_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
