/* queue_page_test.c - what the pages of bench and gate say of corrected wall time. */
#include "queue_fixture.h"

#include "base/str.h"
#include "render/bench.h"
#include "render/compare_json.h"
#include "render/gate.h"
#include "render/markdown.h"

static void assert_has(const struct str *page, const char *text)
{
	if (!strstr(str_text(page), text))
		fail_msg("no '%s' in:\n%s", text, str_text(page));
}

static void assert_lacks(const struct str *page, const char *text)
{
	if (strstr(str_text(page), text))
		fail_msg("'%s' in:\n%s", text, str_text(page));
}

/* ---- bench ---- */

static void a_bench_page(struct fixture *f, bool corrected)
{
	begin(f);
	add_beside_others(f->run, 1, 110);
	add_beside_others(f->run, 2, 100);
	if (!corrected)
		f->run->executions.at[0].flags |= EXECUTION_PARALLEL;
	make(f);
}

static void a_markdown_table_shows_the_time_that_is_relative(void **state)
{
	str_auto struct str page = {0}, plain = {0};
	struct fixture f;

	(void)state;
	a_bench_page(&f, true);
	bench_export_markdown(&page, &f.view);
	assert_has(&page, "| Max [ms] | Corrected [ms] | Relative (corrected wall) |\n"
			  "|:---|---:|---:|---:|---:|---:|---:|---:|\n");
	assert_has(&page, " | 100.200 | 1.00 |\n");
	end(&f);
	a_bench_page(&f, false);
	bench_export_markdown(&plain, &f.view);
	assert_has(&plain, "| Max [ms] | Relative |\n|:---|---:|---:|---:|---:|---:|---:|\n");
	end(&f);
}

static void commands_compared_with_the_wait_in_it_say_why(void **state)
{
	static const char words[] = "wall time includes the wait for a CPU: more than one thread";
	str_auto struct str page = {0}, other = {0};
	struct paper paper = {.out = &page, .width = 200}, second = {.out = &other, .width = 200};
	struct fixture f;

	(void)state;
	a_bench_page(&f, false);
	bench_text(&paper, &f.view);
	assert_has(&page, words);
	end(&f);
	a_bench_page(&f, true);
	bench_text(&second, &f.view);
	assert_lacks(&other, words);
	assert_has(&other, "compared by wall time less the time they waited for a CPU");
	end(&f);
}

/* Everything that a command can have a line for, of more commands than are shown. */
static void an_agent_gets_40_lines_of_busy_commands(void **state)
{
	str_auto struct str page = {0};
	struct paper paper = {.out = &page, .ascii = true};
	unsigned lines = 0;
	struct fixture f;

	(void)state;
	begin(&f);
	for (unsigned i = 3; i <= 10; i++)
		run_add_command(f.run, &(struct command_row){run_intern(f.run, "more")});
	for (unsigned i = 1; i <= 10; i++)
		add_beside_others(f.run, i, 100 + i);
	vec_foreach (struct execution_packed, one, &f.run->executions) {
		one->involuntary_switches = 1000;
		one->exit_status = 1;
	}
	run_set_quality(f.run, "ops_per_run", 5);
	run_set_quality(f.run, "bytes_per_run", 5);
	assert_int_equal(bench_view_make(f.run, true, &f.arena, &f.view, &f.err), 0);
	bench_agent(&paper, &f.view);
	for (const char *at = page.at; *at; at++)
		lines += *at == '\n';
	assert_has(&page, "; run 1 failed: exit 1 signal 0\n");
	assert_has(&page, "ops_per_s = ");
	assert_has(&page, " bytes_per_s = ");
	assert_has(&page, " corrected_wall_ns = ");
	assert_has(&page, " disturbed = 12 of 12\n");
	assert_in_range(lines, 30, 40);
	end(&f);
}

/* ---- gate ---- */

/* The page in one form, of two sessions of which both are corrected or one is not. */
static void gate_print(struct str *out, bool corrected,
	void (*print)(struct str *out, const struct gate_page *page))
{
	struct gate_comparability machines = {0};
	struct gate_page page = {.machines = &machines, .reproduce = "assay gate"};
	struct gate_pair pair;

	gate_begin(&pair, 100, 130);
	if (!corrected)
		pair.now.run->executions.at[0].flags |= EXECUTION_PARALLEL;
	gate_judge(&pair);
	page.view = &pair.view;
	print(out, &page);
	gate_end(&pair);
}

static void json_print(struct str *out, const struct gate_page *page)
{
	struct jsonw w = {.out = out};

	jsonw_begin_object(&w);
	gate_json(&w, page);
	jsonw_end_object(&w);
}

static void text_print(struct str *out, const struct gate_page *page)
{
	struct paper paper = {.out = out, .width = 200};

	gate_text(&paper, page);
}

static void agent_print(struct str *out, const struct gate_page *page)
{
	struct paper paper = {.out = out, .ascii = true};

	gate_agent(&paper, page);
}

static void what_only_is_shown_has_no_judgement_in_json(void **state)
{
	static const char reason[] = "_reason\": \"corrected wall decides\"";
	str_auto struct str page = {0};
	unsigned count = 0;

	(void)state;
	gate_print(&page, true, json_print);
	for (const char *at = page.at; (at = strstr(at, reason)); at++)
		count++;
	assert_int_equal(count, 4); /* severity, decision, clear, noise_iqr */
	assert_has(&page, "\"decision\": null");
	assert_has(&page, "\"noise_iqr_reason\": \"the history has wall time only\"");
	assert_lacks(&page, "\"corrected_reason\"");
}

static void a_comment_shows_wall_time_beside_corrected_wall_time(void **state)
{
	str_auto struct str page = {0};

	(void)state;
	gate_print(&page, true, gate_markdown);
	assert_has(&page, "| `one` | corrected wall | ");
	assert_has(&page, "| `one` | wall | ");
	assert_has(&page, " | shown only |\n");
}

static void a_gate_says_why_the_wait_is_in_wall_time(void **state)
{
	static const char words[] = "wall time includes the wait for a CPU: more than one thread "
				    "or process used CPU time";
	str_auto struct str text = {0}, json = {0}, comment = {0}, agent = {0}, corrected = {0};

	(void)state;
	gate_print(&text, false, text_print);
	assert_has(&text, words);
	gate_print(&agent, false, agent_print);
	assert_has(&agent, words);
	gate_print(&json, false, json_print);
	assert_has(
		&json, "\"corrected_reason\": \"more than one thread or process used CPU time\"");
	gate_print(&comment, false, gate_markdown);
	assert_lacks(&comment, "shown only");
	gate_print(&corrected, true, text_print);
	assert_lacks(&corrected, "wall time includes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_markdown_table_shows_the_time_that_is_relative),
		cmocka_unit_test(commands_compared_with_the_wait_in_it_say_why),
		cmocka_unit_test(an_agent_gets_40_lines_of_busy_commands),
		cmocka_unit_test(what_only_is_shown_has_no_judgement_in_json),
		cmocka_unit_test(a_comment_shows_wall_time_beside_corrected_wall_time),
		cmocka_unit_test(a_gate_says_why_the_wait_is_in_wall_time),
	};

	return cmocka_run_group_tests_name("queue_page", tests, NULL, NULL);
}
