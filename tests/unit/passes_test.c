/* passes_test.c - one run of the program for each list of events, put together into one run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "drive/passes.h"
#include "ingest/ingest.h"
#include "model/run.h"

struct fixture {
	struct run *run;
	struct ingest ingest;
	struct wire_sink sink;
	struct event_list lists[2];
	struct passes_options options;
	unsigned told, of;
	struct err err;
};

static char *const program[] = {(char[]){"true"}, NULL};

static struct interrupt nobody(void)
{
	return (struct interrupt){0};
}

static void before(void *context, uint32_t run, uint32_t of)
{
	struct fixture *f = context;

	f->told = run;
	f->of = of;
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){.run = run_open()};
	f->ingest.run = f->run;
	f->sink = ingest_sink(&f->ingest);
	f->options = (struct passes_options){
		.count = {.path = "/bin/true",
			.argv = program,
			.interrupted = nobody,
			.context = f},
		.lists = f->lists,
		.list_count = 2,
		.rounds = 3,
		.before = before,
	};
	assert_int_equal(event_list_parse(&f->lists[0], "{task-clock,page-faults}", &f->err), 0);
	assert_int_equal(event_list_parse(&f->lists[1], "{minor-faults},task-clock", &f->err), 0);
}

static void end(struct fixture *f)
{
	event_list_done(&f->lists[0]);
	event_list_done(&f->lists[1]);
	run_close(f->run);
}

static void each_list_has_its_own_run_in_each_round(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	if (passes_count(&f.options, &f.sink, &f.err) < 0)
		fail_msg("%s", f.err.text);
	assert_int_equal(f.ingest.malformed, 0);
	assert_int_equal(f.run->executions.count, 6);
	assert_int_equal(f.told, 6);
	assert_int_equal(f.of, 6);
	assert_int_equal(f.run->events.count, 4);
	assert_string_equal(run_text(f.run, f.run->events.at[2].name), "minor-faults");
	assert_int_equal(f.run->events.at[0].group, 1);
	assert_int_equal(f.run->events.at[2].group, 2); /* not the first list's */
	assert_int_equal(f.run->events.at[3].group, 0);
	vec_foreach (const struct count_row, count, &f.run->counts) {
		bool first = count->event <= 2;

		/* Executions 1, 3, 5 counted the first list; 2, 4, 6 the second. */
		assert_int_equal(count->execution % 2, first ? 1 : 0);
		assert_true(count->value > 0);
	}
	assert_int_equal(f.run->counts.count, 12);
	end(&f);
}

static void a_program_that_cannot_start_is_the_failure_and_leaves_nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.options.count.path = "/nonexistent/program";
	assert_true(passes_count(&f.options, &f.sink, &f.err) < 0);
	assert_true(f.err.text[0]);
	assert_int_equal(f.run->executions.count, 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_list_has_its_own_run_in_each_round),
		cmocka_unit_test(a_program_that_cannot_start_is_the_failure_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
