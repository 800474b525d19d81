/* profile_test.c - samples summed up by function, line, module, file and thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/label.h"
#include "analyze/profile.h"
#include "base/mem.h"
#include "base/str.h"
#include "folder.h"
#include "model/run.h"
#include "profile_text.h"

/* Recursion, inlines, an address without a name, samples without a stack, two modules. */
static const char mine[] = "event cpu-clock ns\n"
			   "period 1000\n"
			   "thread 7 7 prog\n"
			   "10 main:3;work:5;leaf@libm.so:9\n"
			   "20 main:3;work:6;+tiny:7\n"
			   "30 main:4;twice:8;twice:8;leaf@libm.so:9\n"
			   "thread 7 8 helper\n"
			   "5 ?@libx.so;leaf@libm.so\n"
			   "4 main:3;?@libx.so\n"
			   "1 -\n";

static const struct profile_row *row_of(const struct profile_view *view, const char *name)
{
	vec_foreach (const struct profile_row, row, &view->rows)
		if (strcmp(row->name, name) == 0)
			return row;
	print_message("# no row %s\n", name);
	fail();
	return NULL;
}

static void assert_row(
	const struct profile_view *view, const char *name, uint64_t self, uint64_t total)
{
	const struct profile_row *row = row_of(view, name);

	assert_int_equal(row->self.samples, self);
	assert_int_equal(row->total.samples, total);
}

static void make(
	struct profile_view *view, const struct run *run, const struct profile_options *options)
{
	struct err err = {0};

	if (profile_make(run, options, view, &err) < 0)
		print_message("# %s\n", err.text);
	assert_int_equal(err.code, 0);
}

static uint64_t self_sum(const struct profile_view *view)
{
	uint64_t sum = 0;

	vec_foreach (const struct profile_row, row, &view->rows)
		sum += row->self.samples;
	return sum;
}

static void self_is_the_innermost_frame_and_total_counts_a_sample_once(void **state)
{
	run_auto struct run *run = profile_text_run(mine);
	profile_auto struct profile_view view = {0};

	(void)state;
	make(&view, run, &(struct profile_options){0});
	assert_int_equal(view.all.samples, 70);
	assert_row(&view, "leaf", 45, 45);
	assert_row(&view, "tiny", 20, 20);
	assert_row(&view, "work", 0, 30);
	assert_row(&view, "twice", 0, 30);
	assert_row(&view, "main", 0, 64);
	assert_row(&view, "[unknown]", 4, 9);
	assert_row(&view, "[no stack]", 1, 1);
	assert_string_equal(view.rows.at[0].name, "leaf");
	assert_true(fabs(view.rows.at[0].self_share - 45.0 / 70) < 1e-12);
}

static void each_sample_is_the_self_of_one_row_in_every_report(void **state)
{
	run_auto struct run *run = profile_text_run(mine);

	(void)state;
	for (enum profile_by by = PROFILE_FUNCTION; by <= PROFILE_THREAD; by++) {
		profile_auto struct profile_view view = {0};

		make(&view, run, &(struct profile_options){.by = by});
		assert_int_equal(self_sum(&view), 70);
		vec_foreach (const struct profile_row, row, &view.rows)
			assert_true(row->total.samples >= row->self.samples &&
				    row->total.samples <= 70);
	}
}

static void lines_modules_files_and_threads_have_their_rows(void **state)
{
	run_auto struct run *run = profile_text_run(mine);
	profile_auto struct profile_view lines = {0}, modules = {0}, files = {0}, threads = {0};
	const struct profile_row *row;

	(void)state;
	make(&lines, run, &(struct profile_options){.by = PROFILE_LINE});
	row = row_of(&lines, "tiny");
	assert_string_equal(row->file, "prog.c");
	assert_int_equal(row->line, 7);
	assert_row(&lines, "twice", 0, 30);
	make(&modules, run, &(struct profile_options){.by = PROFILE_MODULE});
	assert_row(&modules, "libm.so", 45, 45);
	assert_row(&modules, "prog", 20, 64);
	assert_row(&modules, "libx.so", 4, 9);
	make(&files, run, &(struct profile_options){.by = PROFILE_FILE});
	assert_row(&files, "libm.so.c", 40, 40);
	assert_row(&files, "prog.c", 20, 64);
	make(&threads, run, &(struct profile_options){.by = PROFILE_THREAD});
	assert_row(&threads, "helper", 10, 10);
	assert_int_equal(row_of(&threads, "helper")->tid, 8);
}

static void shares_weigh_samples_by_their_period(void **state)
{
	run_auto struct run *run = profile_text_run(
		"event cycles\nperiod 300\n1 main;rare\nperiod 100\n1 main;often\n");
	run_auto struct run *without =
		profile_text_run("event cycles\nperiod 300\n1 main;rare\nperiod 0\n1 main;often\n");
	profile_auto struct profile_view view = {0}, plain = {0};

	(void)state;
	make(&view, run, &(struct profile_options){0});
	assert_true(row_of(&view, "rare")->self_share == 0.75);
	assert_int_equal(view.all.weight, 400);
	assert_string_equal(view.quality.unit, "cycles");
	make(&plain, without, &(struct profile_options){0});
	assert_true(row_of(&plain, "rare")->self_share == 0.5);
	assert_string_equal(plain.quality.warnings.at[0].code, "no-periods");
}

static uint64_t samples_with(const struct run *run, struct profile_filter filter)
{
	profile_samples_auto struct profile_samples samples = {0};
	struct err err = {0};

	if (profile_samples_take(run, &filter, &samples, &err) < 0)
		print_message("# %s\n", err.text);
	assert_int_equal(err.code, 0);
	return samples.total.samples;
}

static void filters_let_through_what_they_name(void **state)
{
	run_auto struct run *run = profile_text_run(mine);
	struct profile_filter part = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(samples_with(run, (struct profile_filter){.thread = "helper"}), 10);
	assert_int_equal(samples_with(run, (struct profile_filter){.thread = "7"}), 60);
	assert_int_equal(samples_with(run, (struct profile_filter){.module = "libm.so"}), 45);
	assert_int_equal(samples_with(run, (struct profile_filter){.function = "work"}), 30);
	assert_int_equal(samples_with(run, (struct profile_filter){.function = "twice"}), 30);
	assert_int_equal(
		samples_with(run, (struct profile_filter){.function = "work", .module = "libm.so"}),
		10);
	assert_int_equal(profile_filter_time(&part, "10ms..29ms", &err), 0);
	assert_int_equal(samples_with(run, part), 20);
	assert_int_equal(profile_filter_time(&part, "..9ms", &err), 0);
	assert_int_equal(samples_with(run, part), 10);
	assert_int_equal(profile_filter_time(&part, "60ms..", &err), 0);
	assert_int_equal(samples_with(run, part), 10);
	assert_int_equal(profile_filter_time(&part, "5s..2s", &err), -EINVAL);
	assert_int_equal(profile_filter_time(&part, "5s", &err), -EINVAL);
	assert_int_equal(profile_filter_time(&part, "x..y", &err), -EINVAL);
}

static void one_side_of_the_border_can_be_looked_at(void **state)
{
	run_auto struct run *run =
		profile_text_run("event cycles\n3 main\nflags kernel\n2 main;read@[kernel]\n");

	(void)state;
	assert_int_equal(samples_with(run, (struct profile_filter){.side = PROFILE_USER}), 3);
	assert_int_equal(samples_with(run, (struct profile_filter){.side = PROFILE_KERNEL}), 2);
	assert_int_equal(samples_with(run, (struct profile_filter){0}), 5);
}

static void the_first_sampled_event_is_meant_unless_said(void **state)
{
	run_auto struct run *run = profile_text_run("event unused\nevent cycles:u\n2 main\n"
						    "event cache-misses\n3 main\n");
	profile_auto struct profile_view view = {0};
	struct err err = {0};
	struct profile_samples none;

	(void)state;
	make(&view, run, &(struct profile_options){0});
	assert_string_equal(view.quality.event, "cycles:u");
	assert_int_equal(view.all.samples, 2);
	assert_int_equal(view.quality.other_events.count, 1);
	assert_string_equal(view.quality.other_events.at[0], "cache-misses");
	assert_int_equal(samples_with(run, (struct profile_filter){.event = "cache"}), 3);
	assert_int_equal(samples_with(run, (struct profile_filter){.event = "cycles"}), 2);
	assert_true(
		profile_samples_take(run, &(struct profile_filter){.event = "c"}, &none, &err) < 0);
	assert_true(profile_samples_take(run, &(struct profile_filter){.event = "cache-mises"},
			    &none, &err) < 0);
	assert_non_null(strstr(err.hint, "cache-misses"));
}

static void a_name_that_is_not_there_is_refused_with_the_nearest(void **state)
{
	run_auto struct run *run = profile_text_run(mine);
	const struct {
		struct profile_filter filter;
		const char *hint;
	} wrong[] = {
		{{.thread = "helpr"}, "helper"},
		{{.module = "libn.so"}, "lib"},
		{{.function = "wrok"}, "work"},
		{{.thread = "12"}, "--by thread"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct profile_samples none;
		struct err err = {0};

		assert_int_equal(profile_samples_take(run, &wrong[i].filter, &none, &err), -EINVAL);
		assert_non_null(strstr(err.hint, wrong[i].hint));
	}
}

static void a_run_without_samples_is_refused_with_the_way_out(void **state)
{
	run_auto struct run *run = profile_text_run("command stat\nevent cycles\n");
	struct profile_view view;
	struct err err = {0};

	(void)state;
	assert_int_equal(profile_make(run, &(struct profile_options){0}, &view, &err), -ENODATA);
	assert_non_null(strstr(err.hint, "assay record"));
}

static void limit_and_least_share_leave_rows_out_and_say_how_many(void **state)
{
	run_auto struct run *run = profile_text_run(mine);
	profile_auto struct profile_view limited = {0}, least = {0}, totals = {0};

	(void)state;
	make(&limited, run, &(struct profile_options){.limit = 2});
	assert_int_equal(limited.rows.count, 2);
	assert_int_equal(limited.row_count_all, 7);
	make(&least, run, &(struct profile_options){.min_share = 0.2});
	assert_int_equal(least.rows.count, 2);
	make(&totals, run, &(struct profile_options){.by_total = true, .limit = 1});
	assert_string_equal(totals.rows.at[0].name, "main");
}

/* A sample in another row of the function tiny, as an inlined copy has it: without an address. */
static void add_copy(struct run *run)
{
	row_id function =
		run_add_function(run, &(struct function_row){.name = run_intern(run, "tiny"),
					      .file = run_intern(run, "prog.c"),
					      .module = 1});
	row_id frame = run_add_frame(run, &(struct frame_row){.function = function});
	row_id location = run_add_location(run, &(struct location_row){1, 0x99, frame, 0});
	row_id stack = run_add_stack(run, &(struct stack_row){0, location});

	run_add_sample(run, &(struct sample_row){5, 1, 1, 0, stack, 0, 0});
}

static void inlined_copies_of_a_function_are_one_row(void **state)
{
	run_auto struct run *run = profile_text_run("event cycles\n1 main;tiny\n2 main;+tiny\n");
	profile_auto struct profile_view view = {0};

	(void)state;
	add_copy(run);
	make(&view, run, &(struct profile_options){0});
	assert_row(&view, "tiny", 4, 4);
	assert_int_equal(view.rows.count, 2);
}

static bool is_warned(const struct profile_view *view, const char *code)
{
	vec_foreach (const struct profile_warning, warning, &view->quality.warnings)
		if (strcmp(warning->code, code) == 0)
			return *warning->hint != '\0';
	return false;
}

static void what_spoils_the_numbers_is_said_with_the_way_out(void **state)
{
	run_auto struct run *run = profile_text_run("event cpu-clock\n"
						    "quality lost_samples 10\n"
						    "quality recorder_cpu_ns 20\n"
						    "quality target_cpu_ns 1000\n"
						    "partial\n"
						    "80 main\nflags truncated\n6 main\n"
						    "flags broken\n2 main\nflags\n12 ?\n");
	run_auto struct run *good =
		profile_text_run("event cycles:ppp\nexecution 100 50\n9 main\n");
	profile_auto struct profile_view view = {0}, fine = {0};

	(void)state;
	make(&view, run, &(struct profile_options){0});
	assert_true(is_warned(&view, "truncated-stacks"));
	assert_true(is_warned(&view, "unknown-addresses"));
	assert_true(is_warned(&view, "lost-samples"));
	assert_true(is_warned(&view, "partial-run"));
	assert_false(is_warned(&view, "broken-stacks"));
	assert_true(fabs(view.quality.truncated_share - 0.06) < 1e-12);
	assert_true(fabs(view.quality.lost_share - 10.0 / 110) < 1e-12);
	assert_true(fabs(view.quality.overhead_share - 0.02) < 1e-12);
	assert_string_equal(view.quality.unit, "ns");
	assert_false(view.quality.precise);
	make(&fine, good, &(struct profile_options){0});
	assert_int_equal(fine.quality.warnings.count, 0);
	assert_true(fine.quality.precise);
	assert_true(isnan(fine.quality.lost_samples)); /* nobody counted: not 0 */
	assert_true(isnan(fine.quality.overhead_share));
	assert_true(fine.quality.target_cpu_ns == 50);
}

/* ---- the views of the file say the same ---- */

static void assert_view_agrees(
	sqlite3 *db, const char *sql, const struct profile_view *view, unsigned names)
{
	sqlite3_stmt *select = NULL;
	unsigned rows = 0;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &select, NULL), SQLITE_OK);
	while (sqlite3_step(select) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(select, 0);
		int64_t line = sqlite3_column_int64(select, 1);
		bool found = false;

		vec_foreach (const struct profile_row, row, &view->rows)
			found |= strcmp(row->name, name) == 0 &&
				 (names == 1 || row->line == line) &&
				 (int64_t)row->self.samples == sqlite3_column_int64(select, 2) &&
				 (int64_t)row->total.samples == sqlite3_column_int64(select, 3) &&
				 fabs(row->self_share - sqlite3_column_double(select, 4)) < 1e-9;
		if (!found)
			print_message("# %s %lld\n", name, (long long)line);
		assert_true(found);
		rows++;
	}
	sqlite3_finalize(select);
	assert_int_equal(rows, view->rows.count);
}

/* With two modules that lack names, and samples that weigh differently. */
static const char views[] = "event cycles\nperiod 1000\nthread 7 7 prog\n"
			    "10 main:3;work:5;leaf@libm.so:9\n"
			    "20 main:3;work:6;+tiny:7\n"
			    "period 700\n"
			    "30 main:4;twice:8;twice:8;leaf@libm.so:9\n"
			    "5 ?@libx.so;leaf@libm.so\n"
			    "4 main:3;?@liby.so\n"
			    "3 main:3;tiny:7\n"
			    "1 -\n";

static void the_views_of_the_run_file_agree_with_the_report(void **state)
{
	run_auto struct run *run = profile_text_run(views);
	profile_auto struct profile_view functions = {0}, lines = {0}, modules = {0};
	sqlite3 *db = NULL;

	(void)state;
	add_copy(run);
	run_put("r.assay", run);
	assert_int_equal(sqlite3_open("r.assay", &db), SQLITE_OK);
	make(&functions, run, &(struct profile_options){0});
	make(&lines, run, &(struct profile_options){.by = PROFILE_LINE});
	make(&modules, run, &(struct profile_options){.by = PROFILE_MODULE});
	assert_view_agrees(db, "SELECT function, 0, self, total, self_share FROM top_functions",
		&functions, 1);
	assert_view_agrees(
		db, "SELECT function, line, self, total, self_share FROM top_lines", &lines, 2);
	assert_view_agrees(
		db, "SELECT module, 0, self, total, self_share FROM top_modules", &modules, 1);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_is_the_innermost_frame_and_total_counts_a_sample_once),
		cmocka_unit_test(each_sample_is_the_self_of_one_row_in_every_report),
		cmocka_unit_test(lines_modules_files_and_threads_have_their_rows),
		cmocka_unit_test(shares_weigh_samples_by_their_period),
		cmocka_unit_test(filters_let_through_what_they_name),
		cmocka_unit_test(one_side_of_the_border_can_be_looked_at),
		cmocka_unit_test(the_first_sampled_event_is_meant_unless_said),
		cmocka_unit_test(a_name_that_is_not_there_is_refused_with_the_nearest),
		cmocka_unit_test(a_run_without_samples_is_refused_with_the_way_out),
		cmocka_unit_test(limit_and_least_share_leave_rows_out_and_say_how_many),
		cmocka_unit_test(inlined_copies_of_a_function_are_one_row),
		cmocka_unit_test(what_spoils_the_numbers_is_said_with_the_way_out),
		in_folder(the_views_of_the_run_file_agree_with_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
