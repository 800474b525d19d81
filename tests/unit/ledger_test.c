/* The ledger over time: its file, and what changed from run to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/ledger_history.h"
#include "base/io.h"
#include "model/ledger.h"
#include "render/markdown.h"

static struct ledger_entry entry(const char *run_id, const char *hypothesis, const char *verdict)
{
	static const struct ledger_number numbers[] = {{"fault_samples", 0.25}, {"x", (double)NAN}};

	return (struct ledger_entry){.time_ns = 1700000000000000000,
		.run_id = run_id,
		.fingerprint = "f",
		.target = "./prog data",
		.hypothesis = hypothesis,
		.verdict = verdict,
		.why = "because | of\nthis",
		.share = 0.25,
		.numbers = numbers,
		.number_count = 2};
}

static void a_row_that_is_written_reads_back_the_same(void **state)
{
	const struct ledger_entry before = entry("r1", "page_fault_storm", "supports");
	ledger_auto struct ledger ledger = {0};
	str_auto struct str text = {0};
	const struct ledger_entry *after;

	(void)state;
	ledger_line(&before, &text);
	ledger_read(&ledger, str_text(&text), text.len);
	assert_int_equal(ledger.rows.count, 1);
	after = &ledger.rows.at[0];
	assert_string_equal(after->why, before.why);
	assert_string_equal(after->target, before.target);
	assert_true(after->time_ns == before.time_ns);
	assert_true(after->share == 0.25);
	assert_int_equal(after->number_count, 2);
	assert_true(after->numbers[0].value == 0.25);
	assert_true(isnan(after->numbers[1].value));
}

static void torn_and_foreign_lines_are_counted_and_skipped(void **state)
{
	const struct ledger_entry row = entry("r1", "noise", "rejects");
	ledger_auto struct ledger ledger = {0};
	str_auto struct str text = {0};

	(void)state;
	str_add(&text, "{\"schema\":\"assay.ledger/1\",\"time\n");
	ledger_line(&row, &text);
	str_add(&text,
		"{\"schema\":\"assay.history/1\"}\n[1]\n\n{\"schema\":\"assay.ledger/1\"}\n");
	ledger_read(&ledger, str_text(&text), text.len);
	assert_int_equal(ledger.rows.count, 1);
	assert_int_equal(ledger.skipped, 4);
}

static void appending_never_joins_a_torn_line(void **state)
{
	char path[] = "/tmp/assay-ledger-XXXXXX";
	const struct ledger_entry row = entry("r1", "noise", "rejects");
	ledger_auto struct ledger ledger = {0};
	struct err err = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(write(fd, "{\"torn", 6) == 6);
	close(fd);
	assert_int_equal(ledger_append(path, &row, 1, &err), 0);
	assert_int_equal(ledger_append(path, &row, 1, &err), 0);
	assert_int_equal(ledger_load(&ledger, path, &err), 0);
	unlink(path);
	assert_int_equal(ledger.rows.count, 2);
	assert_int_equal(ledger.skipped, 1);
}

static void a_file_that_is_not_there_is_an_empty_ledger(void **state)
{
	ledger_auto struct ledger ledger = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(ledger_load(&ledger, "/nonexistent/ledger.ndjson", &err), 0);
	assert_int_equal(ledger.rows.count, 0);
}

static void fill(struct ledger *ledger)
{
	struct ledger_entry other = entry("r2", "noise", "supports");

	other.target = "./other";
	vec_push(&ledger->rows, entry("r1", "page_fault_storm", "supports"));
	vec_push(&ledger->rows, entry("r1", "noise", "rejects"));
	vec_push(&ledger->rows, other);
	vec_push(&ledger->rows, entry("r3", "page_fault_storm", "rejects"));
	vec_push(&ledger->rows, entry("r3", "noise", "rejects"));
	vec_push(&ledger->rows, entry("r3", "serial", "untested"));
}

static void a_run_is_compared_with_the_one_before_of_the_same_program(void **state)
{
	ledger_auto struct ledger ledger = {0};
	arena_auto struct arena arena = {0};
	struct ledger_history history;

	(void)state;
	fill(&ledger);
	ledger_history_make(&ledger, &(struct ledger_query){0}, &arena, &history);
	assert_int_equal(history.count, 3);
	assert_string_equal(history.runs[0].run_id, "r3");
	assert_string_equal(history.runs[0].before, "r1");
	assert_true(history.runs[0].same_machine);
	assert_int_equal(history.runs[0].changed_count, 2);
	assert_string_equal(history.runs[0].steps[0].changed, "was supports");
	assert_string_equal(history.runs[0].steps[1].changed, "");
	assert_string_equal(history.runs[0].steps[2].changed, "new");
	assert_null(history.runs[1].before); /* ./other, its first */
	assert_null(history.runs[2].before);
}

static void runs_are_chosen_by_target_id_and_number(void **state)
{
	ledger_auto struct ledger ledger = {0};
	arena_auto struct arena arena = {0};
	struct ledger_history history;

	(void)state;
	fill(&ledger);
	ledger_history_make(&ledger, &(struct ledger_query){.target = "other"}, &arena, &history);
	assert_int_equal(history.count, 1);
	ledger_history_make(&ledger, &(struct ledger_query){.last = 2}, &arena, &history);
	assert_int_equal(history.count, 2);
	ledger_history_make(&ledger, &(struct ledger_query){.run_id = "r1"}, &arena, &history);
	assert_int_equal(history.count, 1);
	assert_int_equal(history.runs[0].step_count, 2);
}

static void the_markdown_keeps_every_cell_in_its_row(void **state)
{
	struct ledger_row rows[] = {{.name = "noise",
		.verdict = HYPOTHESIS_SUPPORTS,
		.why = "a | b\nc",
		.untested = "",
		.falsifier = "d",
		.share = (double)NAN}};
	const struct ledger_view view = {rows, 1, true};
	str_auto struct str text = {0};

	(void)state;
	ledger_markdown(&text, &view, NULL);
	assert_non_null(strstr(
		str_text(&text), "| supports | noise | not known | a `\\|` b c | d | - |\n"));
	assert_non_null(strstr(str_text(&text), "not quiet"));
}

static void the_rows_of_a_run_carry_the_numbers_behind_them(void **state)
{
	const struct signal signal = {"a", "", "w", "p", "q", "m", "", 7};
	const struct signal *inputs[] = {&signal, &signal};
	struct ledger_witness witness = {"w", HYPOTHESIS_SUPPORTS, "x", inputs, 2, NULL};
	struct ledger_row row = {
		.name = "noise", .why = "y", .share = 1, .witnesses = &witness, .witness_count = 1};
	const struct ledger_view view = {&row, 1, false};
	arena_auto struct arena arena = {0};
	struct ledger_entry *entries;
	uint32_t count;

	(void)state;
	ledger_entries_make(&view, &(struct ledger_entry){.run_id = "r", .target = "t"}, &arena,
		&entries, &count);
	assert_int_equal(count, 1);
	assert_string_equal(entries[0].verdict, "untested");
	assert_string_equal(entries[0].fingerprint, "");
	assert_int_equal(entries[0].number_count, 1);
	assert_true(entries[0].numbers[0].value == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_that_is_written_reads_back_the_same),
		cmocka_unit_test(torn_and_foreign_lines_are_counted_and_skipped),
		cmocka_unit_test(appending_never_joins_a_torn_line),
		cmocka_unit_test(a_file_that_is_not_there_is_an_empty_ledger),
		cmocka_unit_test(a_run_is_compared_with_the_one_before_of_the_same_program),
		cmocka_unit_test(runs_are_chosen_by_target_id_and_number),
		cmocka_unit_test(the_markdown_keeps_every_cell_in_its_row),
		cmocka_unit_test(the_rows_of_a_run_carry_the_numbers_behind_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
