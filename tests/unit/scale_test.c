/* scale_test.c - which law is found in runs whose truth is known, what is said when none can be,
 * and the picture.  Noise comes from a seeded generator: the same on every machine. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/scale.h"
#include "base/io.h"
#include "base/random.h"
#include "model/run.h"
#include "render/markdown.h"
#include "render/scale.h"
#include "render/svg.h"
#include "screen.h"

enum { START_NS = 600000 };

struct fixture {
	struct run *run;
	struct arena arena;
	struct random random;
	struct scale_sizes sizes;
	struct scale_options options;
	struct bench_view bench;
	struct scale_view view;
	struct err err;
};

static void begin(struct fixture *f, const char *sizes)
{
	*f = (struct fixture){.run = run_open(), .options = {.cpus = 8}};
	random_seed(&f->random, 7);
	assert_int_equal(scale_sizes_parse(sizes, &f->arena, &f->sizes, &f->err), 0);
	for (uint32_t i = 0; i < f->sizes.count; i++)
		run_add_command(f->run, &(struct command_row){run_intern(f->run, "prog")});
}

static void end(struct fixture *f)
{
	run_close(f->run);
	arena_done(&f->arena);
}

/* Times are noisy to one side, as on a machine with other work: up to `noise` more. */
static void add(struct fixture *f, uint32_t size, double wall_ns, double cpus, double noise)
{
	double share = random_share(&f->random);

	run_add_execution(
		f->run, &(struct execution_row){.command = size + 1,
				.wall_ns = (uint64_t)(wall_ns * (1 + noise * share * share)),
				.user_ns = (uint64_t)(wall_ns * cpus)});
}

static void add_rounds(struct fixture *f, unsigned rounds, double (*time)(double), double noise)
{
	for (unsigned r = 0; r < rounds; r++)
		for (uint32_t i = 0; i < f->sizes.count; i++)
			add(f, i, time((double)f->sizes.at[i]), 1, noise);
}

static void judge(struct fixture *f)
{
	assert_int_equal(bench_view_make(f->run, false, &f->arena, &f->bench, &f->err), 0);
	assert_int_equal(
		scale_view_make(&f->bench, &f->sizes, &f->options, &f->arena, &f->view, &f->err),
		0);
	f->view.title = "prog --size {n} <a & b>";
}

static double constant(double n)
{
	(void)n;
	return 5e6;
}

static double logarithm(double n)
{
	return START_NS + 1e6 * log(n);
}

static double linear(double n)
{
	return START_NS + 1e4 * n;
}

static double linear_log(double n)
{
	return START_NS + 1.5e3 * n * log(n);
}

static double square(double n)
{
	return START_NS + 10 * n * n;
}

static double cube(double n)
{
	return START_NS + n * n * n / 100;
}

static double (*const laws[LAW_COUNT])(double) = {constant, logarithm, linear, linear_log, square};

static void each_law_is_found_below_noise(void **state)
{
	(void)state;
	for (enum law law = LAW_CONSTANT; law < LAW_COUNT; law++) {
		struct fixture f;

		begin(&f, "1,10,50,100,500,1000");
		add_rounds(&f, 25, laws[law], 0.3);
		judge(&f);
		assert_int_equal(f.view.law.best, law);
		assert_int_equal(f.view.doubt, SCALE_SURE);
		assert_true(law == LAW_CONSTANT || f.view.law.support[law] >= 0.9);
		end(&f);
	}
}

static void the_start_up_is_a_part_of_the_law(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1,10,50,100,500,1000");
	add_rounds(&f, 9, linear, 0.02);
	judge(&f);
	assert_true(fabs(f.view.law.fit.lines[LAW_LINEAR].a / START_NS - 1) < 0.05);
	assert_true(fabs(f.view.law.fit.lines[LAW_LINEAR].b / 1e4 - 1) < 0.05);
	assert_true(fabs(f.view.law.doubling / (linear(2000) / linear(1000)) - 1) < 0.05);
	assert_true(fabs(f.view.law.tenfold_ns / linear(10000) - 1) < 0.05);
	for (uint32_t i = 0; i < f.view.point_count; i++)
		assert_true(fabs(f.view.points[i].off_share) < 0.05);
	end(&f);
}

static void what_grows_faster_than_a_square_is_not_called_a_square(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1,10,50,100,500,1000");
	add_rounds(&f, 9, cube, 0.02);
	judge(&f);
	assert_true(f.view.law.beyond);
	assert_string_equal(scale_law_name(&f.view.law), "worse than O(n^2)");
	end(&f);
	begin(&f, "1,10,50,100,500,1000");
	add_rounds(&f, 9, square, 0.02);
	judge(&f);
	assert_false(f.view.law.beyond);
	end(&f);
}

static void doubt_of_is(const char *sizes, unsigned rounds, double noise, enum scale_doubt doubt)
{
	struct fixture f;

	begin(&f, sizes);
	add_rounds(&f, rounds, linear, noise);
	judge(&f);
	assert_int_equal(f.view.doubt, doubt);
	assert_true(f.view.law.suggested[0] || f.view.law.suggested_runs);
	end(&f);
}

static void no_law_is_named_when_it_cannot_be_told(void **state)
{
	(void)state;
	doubt_of_is("1,10,50,100,500,1000", 3, 0.02, SCALE_FEW_RUNS);
	doubt_of_is("10,1000", 9, 0.02, SCALE_FEW_SIZES);
	doubt_of_is("10,100,1000", 9, 0.02, SCALE_FEW_SIZES);
	doubt_of_is("1000,1100,1200,1300,1400", 9, 0.02, SCALE_NEAR_SIZES);
	doubt_of_is("100,200,400,800,1600", 9, 2, SCALE_MIXED);
}

static void growth_that_noise_could_hide_is_not_denied(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1,10,50,100,500,1000");
	add_rounds(&f, 7, constant, 20);
	judge(&f);
	assert_int_equal(f.view.law.best, LAW_CONSTANT);
	assert_int_not_equal(f.view.doubt, SCALE_SURE);
	assert_true(f.view.law.growth.hi > 1.5);
	end(&f);
}

static void one_run_of_one_size_is_shown_without_a_law(void **state)
{
	struct fixture f;
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};

	(void)state;
	begin(&f, "1,10");
	add(&f, 0, 1e6, 1, 0);
	judge(&f);
	assert_false(f.view.law.fitted);
	scale_text(&paper, &f.view);
	scale_agent(&paper, &f.view);
	scale_svg(&text, &f.view);
	scale_markdown(&text, &f.view);
	assert_non_null(strstr(str_text(&text), "not enough data"));
	assert_null(strstr(str_text(&text), "nan"));
	end(&f);
}

static enum scale_expectation expectation(double (*law)(double), enum law expected)
{
	struct fixture f;
	enum scale_expectation found;

	begin(&f, "1,10,50,100,500,1000");
	f.options.has_expected = true;
	f.options.expected = expected;
	add_rounds(&f, 9, law, 0.02);
	judge(&f);
	found = f.view.expectation;
	end(&f);
	return found;
}

static void an_expectation_is_met_by_the_same_or_a_better_law(void **state)
{
	(void)state;
	assert_int_equal(expectation(linear, LAW_LINEAR), SCALE_MET);
	assert_int_equal(expectation(constant, LAW_LINEAR), SCALE_MET);
	assert_int_equal(expectation(linear_log, LAW_LINEAR), SCALE_WORSE);
	assert_int_equal(expectation(cube, LAW_SQUARE), SCALE_WORSE);
}

static void wall_time_that_is_too_noisy_leaves_the_word_to_cpu_time(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "100,200,400,800,1600");
	add_rounds(&f, 9, linear, 8); /* the noise is in wall time only */
	judge(&f);
	assert_true(f.view.cpu_is_clear);
	assert_int_equal(f.view.cpu.best, LAW_LINEAR);
	end(&f);
}

/* Threads: a run of one takes 20 ms; the law makes the rest. */
static void add_threads(struct fixture *f, double sigma, double kappa, bool busy)
{
	f->options.threads = true;
	for (unsigned r = 0; r < 15; r++)
		for (uint32_t i = 0; i < f->sizes.count; i++) {
			double n = (double)f->sizes.at[i];
			double cpus = fmin(n, f->options.cpus), slow = 1 + sigma * (n - 1);
			double rate = cpus / (slow + kappa * n * (n - 1)), wall = 2e7 / rate;
			struct execution_packed *row;

			add(f, i, wall, sigma + kappa > 0 ? 1 : cpus, 0.02);
			row = &f->run->executions.at[f->run->executions.count - 1];
			row->flags |= EXECUTION_PRESSURE;
			row->pressure_us = busy ? (uint32_t)(row->wall_ns / 2000) : 0;
		}
}

static void threads_are(double sigma, double kappa, bool busy, enum scale_threads_kind kind)
{
	struct fixture f;

	begin(&f, "1,2,4,8");
	add_threads(&f, sigma, kappa, busy);
	judge(&f);
	assert_int_equal(f.view.threads.kind, kind);
	assert_true(fabs(f.view.threads.fit.contention - sigma) < 0.05);
	assert_true(fabs(f.view.threads.fit.coherency - kappa) < 0.01);
	end(&f);
}

static void threads_that_queue_or_go_backwards_are_told_apart(void **state)
{
	(void)state;
	threads_are(0, 0, false, SCALE_THREADS_LINEAR);
	threads_are(0.3, 0, false, SCALE_THREADS_CONTENTION);
	threads_are(0.05, 0.06, false, SCALE_THREADS_COHERENCY);
}

/* 1.25 times the throughput of one on two CPUs: 1.6 times the CPU time, or no more of it. */
static void threads_that_ran_all_the_time_did_not_queue(void **state)
{
	(void)state;
	for (int ran = 0; ran < 2; ran++) {
		struct fixture f;

		begin(&f, "1,2");
		f.options.threads = true;
		for (unsigned r = 0; r < 15; r++) {
			add(&f, 0, 2e7, 1, 0.02);
			add(&f, 1, 1.6e7, ran ? 2 : 1.25, 0.02);
		}
		judge(&f);
		assert_int_equal(f.view.threads.kind,
			ran ? SCALE_THREADS_UNCLEAR : SCALE_THREADS_CONTENTION);
		assert_int_equal(f.view.doubt, ran ? SCALE_SLOWER : SCALE_SURE);
		end(&f);
	}
}

static void others_on_the_cpus_leave_no_verdict_about_threads(void **state)
{
	(void)state;
	threads_are(0.3, 0, true, SCALE_THREADS_UNCLEAR);
}

static void the_peak_of_threads_is_where_the_law_has_it(void **state)
{
	struct fixture f;
	double peak = sqrt((1 - 0.05) / 0.06);

	(void)state;
	begin(&f, "1,2,4,8");
	add_threads(&f, 0.05, 0.06, false);
	judge(&f);
	assert_true(fabs(f.view.threads.fit.peak / peak - 1) < 0.1);
	assert_true(f.view.threads.peak.lo <= peak && peak <= f.view.threads.peak.hi);
	end(&f);
}

static void threads_beyond_the_cpus_are_shown_but_not_fitted(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "1,2,4");
	f.options.cpus = 2;
	add_threads(&f, 0, 0, false);
	judge(&f);
	assert_false(f.view.points[2].fitted);
	assert_int_equal(f.view.threads.kind, SCALE_THREADS_LINEAR);
	assert_int_equal(f.view.threads.fit_count, 2);
	assert_true(isnan(f.view.threads.fit.coherency));
	end(&f);
	begin(&f, "2,4"); /* one CPU: nothing to compare */
	f.options.cpus = 1;
	add_threads(&f, 0, 0, false);
	judge(&f);
	assert_int_equal(f.view.doubt, SCALE_FEW_SIZES);
	end(&f);
}

/* Two threads are twice as fast as one in just over half of the rounds, and no faster in the
 * others, turn by turn: the median of all rounds is 2, that of each two neighbours 1.33. */
static void bounds_of_threads_hold_what_they_are_the_bounds_of(void **state)
{
	const struct scale_threads *threads;
	struct fixture f;

	(void)state;
	begin(&f, "1,2");
	f.options.threads = true;
	for (unsigned r = 0; r < 120; r++) {
		add(&f, 0, 2e7, 1, 0);
		add(&f, 1, r % 2 && r > 10 ? 2e7 : 1e7, 2, 0);
	}
	judge(&f);
	threads = &f.view.threads;
	assert_true(fabs(f.view.points[1].speedup - 2) < 1e-9);
	assert_true(threads->speedup.lo < 1.4 && threads->speedup.hi >= 2);
	assert_int_equal(threads->kind, SCALE_THREADS_UNCLEAR);
	end(&f);
}

static void sizes_are(const char *text, const char *expected)
{
	arena_auto struct arena arena = {0};
	str_auto struct str got = {0};
	struct scale_sizes sizes;
	struct err err = {0};

	assert_int_equal(scale_sizes_parse(text, &arena, &sizes, &err), 0);
	for (uint32_t i = 0; i < sizes.count; i++)
		str_addf(&got, "%s%llu", i ? " " : "", (unsigned long long)sizes.at[i]);
	assert_string_equal(str_text(&got), expected);
}

static void sizes_are_read_sorted_and_each_kept_once(void **state)
{
	(void)state;
	sizes_are("10,1,5", "1 5 10");
	sizes_are("7,7,7", "7");
	sizes_are("1k,2M,1G", "1000 2000000 1000000000");
	sizes_are("1..64x2", "1 2 4 8 16 32 64");
	sizes_are("1..10", "1 2 4 8");
	sizes_are("1..1kx10,50", "1 10 50 100 1000");
	sizes_are("10..50+10", "10 20 30 40 50");
	sizes_are("5..5", "5");
	sizes_are("9007199254740992", "9007199254740992");
	sizes_are("1..9007199254740992x1G", "1 1000000000");
}

static void what_is_no_size_is_refused_with_a_way_out(void **state)
{
	static const char *const wrong[] = {"", ",", "1,", ",1", "abc", "1,x", "-1", "0", "1.5",
		"1..", "..5", "5..1", "1..9x1", "1..9x0", "1..9+0", "1..9x", "1kk", "1 2",
		"9007199254740993", "99999999999999999999999", "99999999999G", "1..2000+1"};
	arena_auto struct arena arena = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct scale_sizes sizes;
		struct err err = {0};

		assert_true(scale_sizes_parse(wrong[i], &arena, &sizes, &err) < 0);
		assert_true(*err.text && *err.hint);
	}
}

static void laws_are_read_as_people_write_them(void **state)
{
	static const char *const right[] = {"O(1)", "O(log n)", "n", "O(n*log n)", "O( n^2 )"};
	static const char *const wrong[] = {"", "O(", "O()", "n^3", "O(n log n log n log n log n)"};
	struct err err = {0};

	(void)state;
	for (enum law law = LAW_CONSTANT, found; law < LAW_COUNT; law++) {
		assert_int_equal(scale_law_parse(right[law], &found, &err), 0);
		assert_int_equal(found, law);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		enum law found;

		assert_int_equal(scale_law_parse(wrong[i], &found, &err), -EINVAL);
	}
}

static void the_pictures_and_the_page_are_those_that_were_read(void **state)
{
	struct fixture f;
	str_auto struct str svg = {0}, page = {0}, screen = {0};
	struct paper paper = {.out = &screen, .ascii = true};

	(void)state;
	begin(&f, "1,10,50,100,500,1000");
	add_rounds(&f, 60, square, 0.3);
	judge(&f);
	scale_svg(&svg, &f.view);
	scale_markdown(&page, &f.view);
	scale_text(&paper, &f.view);
	assert_screen("scale", "square.svg", &svg);
	assert_screen("scale", "square.md", &page);
	assert_screen("scale", "square.txt", &screen);
	end(&f);
	str_clear(&svg);
	begin(&f, "1,2,4,8");
	add_threads(&f, 0.05, 0.06, false);
	judge(&f);
	scale_svg(&svg, &f.view);
	assert_screen("scale", "threads.svg", &svg);
	end(&f);
}

static void two_hundred_sizes_are_drawn_and_judged(void **state)
{
	struct fixture f;
	str_auto struct str text = {0};
	struct paper paper = {.out = &text, .ascii = true};
	unsigned lines = 0;

	(void)state;
	begin(&f, "5..1000+5");
	assert_int_equal(f.sizes.count, 200);
	add_rounds(&f, 7, linear, 0.1);
	judge(&f);
	assert_int_equal(f.view.law.best, LAW_LINEAR);
	scale_agent(&paper, &f.view);
	for (size_t i = 0; i < text.len; i++)
		lines += text.at[i] == '\n';
	assert_true(lines <= 40);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_law_is_found_below_noise),
		cmocka_unit_test(the_start_up_is_a_part_of_the_law),
		cmocka_unit_test(what_grows_faster_than_a_square_is_not_called_a_square),
		cmocka_unit_test(no_law_is_named_when_it_cannot_be_told),
		cmocka_unit_test(growth_that_noise_could_hide_is_not_denied),
		cmocka_unit_test(one_run_of_one_size_is_shown_without_a_law),
		cmocka_unit_test(an_expectation_is_met_by_the_same_or_a_better_law),
		cmocka_unit_test(wall_time_that_is_too_noisy_leaves_the_word_to_cpu_time),
		cmocka_unit_test(threads_that_queue_or_go_backwards_are_told_apart),
		cmocka_unit_test(threads_that_ran_all_the_time_did_not_queue),
		cmocka_unit_test(others_on_the_cpus_leave_no_verdict_about_threads),
		cmocka_unit_test(the_peak_of_threads_is_where_the_law_has_it),
		cmocka_unit_test(threads_beyond_the_cpus_are_shown_but_not_fitted),
		cmocka_unit_test(bounds_of_threads_hold_what_they_are_the_bounds_of),
		cmocka_unit_test(sizes_are_read_sorted_and_each_kept_once),
		cmocka_unit_test(what_is_no_size_is_refused_with_a_way_out),
		cmocka_unit_test(laws_are_read_as_people_write_them),
		cmocka_unit_test(the_pictures_and_the_page_are_those_that_were_read),
		cmocka_unit_test(two_hundred_sizes_are_drawn_and_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
