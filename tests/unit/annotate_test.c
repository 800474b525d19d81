/* Costs by line and by instruction: what adds up to what, and where a sample is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyze/annotate.h"
#include "analyze/find_function.h"
#include "base/arena.h"
#include "code/listing.h"
#include "model/run.h"

/* work() at 0x1000: ten instructions of four bytes; the fourth calls leaf(), the last jumps back to
 * the second.  Lines: two instructions each, from 11 on; 0x1010 and 0x1014 are inlined from
 * twist(), line 3 of twist.h. */
enum { WORK = 1, LEAF, TWIST, MAIN, OTHER, FUNCTIONS };
enum { CALL_AT = 0x100c, AFTER_LISTING = 0x1028 };

struct made {
	struct run *run;
	struct arena arena;
	struct listing listing;
	row_id clock, cycles;
};

static void functions_add(struct run *run)
{
	static const char *const names[] = {"work", "leaf", "twist", "main", "other"};
	static const uint64_t addrs[] = {0x1000, 0x2000, 0, 0x3000, 0x4000};
	row_id module = run_add_module(run,
		&(struct module_row){run_intern(run, "/bin/prog"), run_intern(run, "0a1b"), 0});

	for (unsigned i = 0; i + 1 < FUNCTIONS; i++)
		run_add_function(
			run, &(struct function_row){.name = run_intern(run, names[i]),
				     .file = run_intern(run, i == 2 ? "twist.h" : "prog.c"),
				     .module = module,
				     .line = 10,
				     .addr = addrs[i],
				     .size_bytes = addrs[i] ? 0x40 : 0});
}

static void made_init(struct made *made)
{
	static const char *const texts[] = {"push", "add", "cmp", "callq 0x2000", "xor", "shl",
		"mov", "test", "inc", "jne 0x1004"};

	*made = (struct made){.run = run_open()};
	functions_add(made->run);
	made->clock = run_add_event(made->run,
		&(struct event_row){.name = run_intern(made->run, "cpu-clock"), .scale = 1});
	made->cycles = run_add_event(made->run,
		&(struct event_row){.name = run_intern(made->run, "cycles:pp"), .scale = 1});
	made->listing.instructions = arena_take(&made->arena, 10 * sizeof(struct instruction));
	made->listing.instruction_count = 10;
	for (unsigned i = 0; i < 10; i++)
		made->listing.instructions[i] = (struct instruction){
			.addr = 0x1000 + 4 * i, .size_bytes = 4, .text = texts[i]};
	made->listing.instructions[3].kind = INSTRUCTION_CALL;
	made->listing.instructions[3].has_target = true;
	made->listing.instructions[3].target = 0x2000;
	made->listing.instructions[9].kind = INSTRUCTION_JUMP;
	made->listing.instructions[9].has_target = true;
	made->listing.instructions[9].target = 0x1004;
}

static void made_done(struct made *made)
{
	run_close(made->run);
	arena_done(&made->arena);
}
#define made_auto __attribute__((cleanup(made_done)))

static row_id frame_at(struct run *run, row_id function, row_id outer, uint32_t line)
{
	return run_add_frame(run, &(struct frame_row){.function = function,
					  .outer = outer,
					  .file = line ? run->functions.at[function - 1].file : 0,
					  .line = line});
}

/* A new location each time: the analysis must not depend on interning. */
static row_id place(struct run *run, row_id function, uint64_t addr, uint32_t flags)
{
	uint32_t line = addr < 0x1028 ? 11 + (uint32_t)(addr - 0x1000) / 8 : 10;
	row_id frame = frame_at(run, function, 0, line);

	if (addr == 0x1010 || addr == 0x1014)
		frame = frame_at(run, TWIST, frame, 3);
	return run_add_location(run, &(struct location_row){1, addr, frame, flags});
}

/* main -> functions[0] at addrs[0] -> ...; the last is where the sample was taken. */
static void sample(struct made *made, row_id event, uint64_t period, const row_id *functions,
	const uint64_t *addrs, unsigned count)
{
	row_id stack = run_add_stack(
		made->run, &(struct stack_row){0, place(made->run, MAIN, 0x3008, LOCATION_CALLER)});

	for (unsigned i = 0; i < count; i++)
		stack = run_add_stack(made->run,
			&(struct stack_row){stack, place(made->run, functions[i], addrs[i],
							   i + 1 < count ? LOCATION_CALLER : 0)});
	run_add_sample(
		made->run, &(struct sample_row){
				   .event = event, .period = period, .thread = 0, .stack = stack});
}

static void sample_in_work(struct made *made, row_id event, uint64_t period, uint64_t addr)
{
	sample(made, event, period, (const row_id[]){WORK}, &addr, 1);
}

static struct annotate_view annotate(struct made *made, const char *function, uint32_t hot)
{
	struct function_found found;
	struct annotate_options options = {.function = &found,
		.listing = &made->listing,
		.run_path = "x.assay",
		.hot_rows = hot};
	struct annotate_view view;
	struct err err = {0};

	assert_int_equal(function_find(made->run, function, NULL, &made->arena, &found, &err), 0);
	assert_int_equal(annotate_make(made->run, &options, &made->arena, &view, &err), 0);
	return view;
}

static const struct annotate_line *line_at(const struct annotate_view *view, uint32_t line)
{
	uint32_t i = 0;

	while (i < view->line_count && view->lines[i].line != line)
		i++;
	assert_true(i < view->line_count);
	return &view->lines[i];
}

static void assert_adds_up(const struct annotate_view *view)
{
	for (uint32_t e = 0; e < view->event_count; e++) {
		struct profile_cost lines = {0}, instructions = view->outside[e];

		for (uint32_t i = 0; i < view->line_count; i++) {
			lines.samples += view->lines[i].self[e].samples;
			lines.weight += view->lines[i].self[e].weight;
		}
		for (uint32_t i = 0; i < view->instruction_count; i++) {
			instructions.samples += view->instructions[i].self[e].samples;
			instructions.weight += view->instructions[i].self[e].weight;
		}
		assert_int_equal(lines.samples, view->events[e].self.samples);
		assert_int_equal(lines.weight, view->events[e].self.weight);
		assert_int_equal(instructions.samples, view->events[e].self.samples);
		assert_int_equal(instructions.weight, view->events[e].self.weight);
	}
}

static void lines_and_instructions_each_add_up_to_the_function(void **state)
{
	made_auto struct made made;
	uint64_t random = 1, inside = 0, outside = 0;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t addr;

		random = random * 6364136223846793005 + 1442695040888963407;
		addr = 0x1000 + (random >> 33) % 48; /* also between, and behind the listing */
		sample_in_work(&made, i % 3 ? made.clock : made.cycles, 1 + random % 1000, addr);
		inside += i % 3 != 0;
		outside += i % 3 && addr >= AFTER_LISTING;
	}
	for (unsigned i = 0; i < 10; i++)
		sample(&made, made.clock, 1, (const row_id[]){OTHER}, (const uint64_t[]){0x4000},
			1);
	view = annotate(&made, "work", 0);
	assert_adds_up(&view);
	assert_int_equal(view.event_count, 2);
	assert_int_equal(view.events[0].self.samples, inside);
	assert_int_equal(view.events[0].run.samples, inside + 10);
	assert_int_equal(view.events[1].self.samples, 1000 - inside);
	assert_int_equal(view.outside[0].samples, outside);
	assert_true(outside > 0);
}

static void an_address_inside_an_instruction_is_that_instruction(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 1, 0x1003);
	sample_in_work(&made, made.clock, 1, 0x1004);
	view = annotate(&made, "work", 0);
	assert_int_equal(view.instructions[0].self[0].samples, 1);
	assert_int_equal(view.instructions[1].self[0].samples, 1);
}

static void what_was_called_is_counted_below_the_call(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	for (unsigned i = 0; i < 5; i++) /* a return address less one: in the call */
		sample(&made, made.clock, 10, (const row_id[]){WORK, LEAF},
			(const uint64_t[]){CALL_AT + 3, 0x2000}, 2);
	sample_in_work(&made, made.clock, 10, CALL_AT);
	view = annotate(&made, "work", 0);
	assert_adds_up(&view);
	assert_int_equal(view.events[0].self.samples, 1);
	assert_int_equal(view.events[0].total.samples, 6);
	assert_int_equal(view.instructions[3].below[0].samples, 5);
	assert_int_equal(view.instructions[3].below[0].weight, 50);
	assert_int_equal(line_at(&view, 12)->below[0].samples, 5);
	assert_string_equal(view.instructions[3].target_name, "leaf");
	assert_string_equal(view.next, "assay annotate x.assay leaf");
}

static void a_recursion_counts_a_sample_once_below_each_call(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	sample(&made, made.clock, 1, (const row_id[]){WORK, WORK, WORK, LEAF},
		(const uint64_t[]){CALL_AT + 3, CALL_AT + 3, CALL_AT + 3, 0x2000}, 4);
	sample(&made, made.clock, 1, (const row_id[]){WORK, WORK},
		(const uint64_t[]){CALL_AT + 3, 0x1000}, 2);
	view = annotate(&made, "work", 0);
	assert_adds_up(&view);
	assert_int_equal(view.events[0].total.samples, 2);
	assert_int_equal(view.events[0].self.samples, 1);
	assert_int_equal(view.instructions[3].below[0].samples, 2);
	assert_int_equal(line_at(&view, 12)->below[0].samples, 2);
}

static void inlined_code_is_part_of_the_function_at_its_own_line(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 1, 0x1010);
	sample_in_work(&made, made.clock, 1, 0x1000);
	view = annotate(&made, "work", 0);
	assert_adds_up(&view);
	assert_false(view.inlined_only);
	assert_int_equal(view.inlined[0].samples, 1);
	assert_string_equal(line_at(&view, 3)->function, "twist");
	assert_string_equal(view.files[line_at(&view, 3)->file].path, "twist.h");
	assert_null(line_at(&view, 11)->function);
}

static void a_function_that_was_inlined_everywhere_has_lines_and_says_where_it_is(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 1, 0x1014);
	sample_in_work(&made, made.clock, 1, 0x1000);
	view = annotate(&made, "twist", 0);
	assert_true(view.inlined_only);
	assert_int_equal(view.events[0].self.samples, 1);
	assert_int_equal(line_at(&view, 3)->self[0].samples, 1);
	assert_non_null(strstr(view.missing, "work"));
	assert_string_equal(view.missing_hint, "assay annotate x.assay work");
}

static void a_sample_without_period_makes_every_sample_of_its_event_weigh_one(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 0, 0x1000);
	sample_in_work(&made, made.clock, 999, 0x1008);
	sample_in_work(&made, made.cycles, 30, 0x1000);
	sample_in_work(&made, made.cycles, 10, 0x1008);
	view = annotate(&made, "work", 0);
	assert_false(view.events[0].weighted);
	assert_true(view.events[1].weighted);
	assert_float_equal(
		annotate_self_share(&view.events[0], &view.instructions[0].self[0]), 0.5, 1e-9);
	assert_float_equal(
		annotate_self_share(&view.events[1], &view.instructions[0].self[1]), 0.75, 1e-9);
}

static void only_the_hottest_places_are_marked_and_ranked(void **state)
{
	made_auto struct made made;
	struct annotate_view view;
	unsigned hot = 0;

	(void)state;
	made_init(&made);
	for (unsigned i = 0; i < 10; i++)
		for (unsigned k = 0; k <= (i == 6 ? 5 : 0); k++)
			sample_in_work(&made, made.clock, 1, 0x1000 + 4 * i);
	view = annotate(&made, "work", 2);
	for (unsigned i = 0; i < 10; i++)
		hot += view.instructions[i].hot;
	assert_int_equal(hot, 2);
	assert_true(view.instructions[6].hot && view.instructions[0].hot);
	assert_int_equal(view.lines[view.ranking[0]].line, 14);
}

static void jumps_within_the_function_get_labels_in_order_of_address(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	made_init(&made);
	made.listing.instructions[2].kind = INSTRUCTION_JUMP;
	made.listing.instructions[2].has_target = true;
	made.listing.instructions[2].target = 0x101c;
	sample_in_work(&made, made.clock, 1, 0x1000);
	view = annotate(&made, "work", 0);
	assert_int_equal(view.instructions[1].label, 1);
	assert_int_equal(view.instructions[7].label, 2);
	assert_int_equal(view.instructions[9].target_label, 1);
	assert_int_equal(view.instructions[2].target_label, 2);
	assert_int_equal(view.instructions[3].target_label, 0); /* a call that leaves */
}

static void lines_come_from_the_line_table_where_the_samples_have_none(void **state)
{
	static struct listing_line rows[] = {
		{0x1000, "prog.c", 21}, {0x1008, "prog.c", 22}, {0x1010, "prog.c", 0}};
	made_auto struct made made;
	struct annotate_view view;
	row_id frame, location;

	(void)state;
	made_init(&made);
	made.listing.lines = rows;
	made.listing.line_count = 3;
	frame = frame_at(made.run, WORK, 0, 0);
	location = run_add_location(made.run, &(struct location_row){1, 0x100a, frame, 0});
	run_add_stack(made.run, &(struct stack_row){0, location});
	run_add_sample(made.run, &(struct sample_row){.event = made.clock, .stack = 1});
	view = annotate(&made, "work", 0);
	assert_int_equal(line_at(&view, 22)->self[0].samples, 1);
	assert_int_equal(view.instructions[1].line, 21);
	assert_int_equal(view.instructions[4].line, 0);
}

static bool has_note(const struct annotate_view *view, const char *code)
{
	for (uint32_t i = 0; i < view->note_count; i++)
		if (strcmp(view->notes[i].code, code) == 0)
			return true;
	return false;
}

static void skid_is_noted_unless_every_event_is_precise(void **state)
{
	made_auto struct made made;
	struct annotate_view view;

	(void)state;
	assert_true(annotate_is_precise("cycles:pp"));
	assert_true(annotate_is_precise("cycles:uppp"));
	assert_true(annotate_is_precise("cpu/event=0xc2,umask=1/pp"));
	assert_false(annotate_is_precise("cycles"));
	assert_false(annotate_is_precise("cycles:p"));
	assert_false(annotate_is_precise("cycles:P"));
	assert_false(annotate_is_precise("cpu-clock:ppp"));
	assert_false(annotate_is_precise("syscalls:sys_enter_ppoll"));
	made_init(&made);
	sample_in_work(&made, made.cycles, 1, 0x1000);
	view = annotate(&made, "work", 0);
	assert_false(has_note(&view, "skid"));
	sample_in_work(&made, made.clock, 1, 0x1000);
	view = annotate(&made, "work", 0);
	assert_true(has_note(&view, "skid"));
}

static void copies_inlined_elsewhere_are_not_in_the_numbers_and_are_told(void **state)
{
	made_auto struct made made;
	struct annotate_view view;
	row_id outer, frame, location;

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 1, 0x1000);
	run_add_function(made.run, &(struct function_row){.name = run_intern(made.run, "work"),
					   .file = run_intern(made.run, "prog.c"),
					   .module = 1});
	outer = frame_at(made.run, OTHER, 0, 50);
	frame = frame_at(made.run, FUNCTIONS, outer, 11);
	location = run_add_location(made.run, &(struct location_row){1, 0x4004, frame, 0});
	run_add_stack(made.run, &(struct stack_row){0, location});
	run_add_sample(made.run,
		&(struct sample_row){.event = made.clock, .stack = made.run->stacks.count});
	view = annotate(&made, "work", 0);
	assert_int_equal(view.events[0].self.samples, 1);
	assert_true(has_note(&view, "inlined_elsewhere"));
}

static int find(
	struct made *made, const char *text, const char *module, uint32_t *ret_row, struct err *err)
{
	struct function_found found = {0};
	int r = function_find(made->run, text, module, &made->arena, &found, err);

	*ret_row = found.best;
	return r;
}

static void a_function_is_found_by_name_address_and_module(void **state)
{
	made_auto struct made made;
	struct err err = {0};
	uint32_t row;

	(void)state;
	made_init(&made);
	assert_true(find(&made, "work", NULL, &row, &err) < 0);
	assert_non_null(strstr(err.text, "no samples"));
	sample(&made, made.clock, 1, (const row_id[]){WORK, LEAF},
		(const uint64_t[]){CALL_AT + 3, 0x2000}, 2);
	assert_int_equal(find(&made, "work", NULL, &row, &err), 0);
	assert_int_equal(row, WORK);
	assert_int_equal(find(&made, "0x2010", NULL, &row, &err), 0);
	assert_int_equal(row, LEAF);
	assert_int_equal(find(&made, "work", "prog", &row, &err), 0);
	assert_true(find(&made, "work", "rog", &row, &err) < 0);
	assert_true(find(&made, "0x9000", NULL, &row, &err) < 0);
	assert_true(find(&made, "wrok", NULL, &row, &err) < 0);
	assert_non_null(strstr(err.hint, "'work'"));
}

static void two_functions_of_one_name_are_told_apart_and_not_guessed(void **state)
{
	made_auto struct made made;
	struct err err = {0};
	uint32_t row;

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 1, 0x1000);
	run_add_function(made.run, &(struct function_row){.name = run_intern(made.run, "work"),
					   .file = run_intern(made.run, "prog.c"),
					   .module = 1,
					   .addr = 0x5000,
					   .size_bytes = 16});
	frame_at(made.run, FUNCTIONS, 0, 70);
	assert_true(find(&made, "work", NULL, &row, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.hint, "0x1000"));
	assert_non_null(strstr(err.hint, "0x5000"));
	assert_int_equal(find(&made, "0x5000", NULL, &row, &err), 0);
	assert_int_equal(row, FUNCTIONS);
}

static void an_event_that_has_no_samples_is_refused_with_the_nearest(void **state)
{
	made_auto struct made made;
	struct function_found found;
	struct annotate_options options = {
		.function = &found, .event = "cpu-clok", .run_path = "x.assay"};
	struct annotate_view view;
	struct err err = {0};

	(void)state;
	made_init(&made);
	sample_in_work(&made, made.clock, 1, 0x1000);
	assert_int_equal(function_find(made.run, "work", NULL, &made.arena, &found, &err), 0);
	assert_true(annotate_make(made.run, &options, &made.arena, &view, &err) < 0);
	assert_non_null(strstr(err.hint, "cpu-clock"));
	options.event = "cycles:pp"; /* known, and never sampled */
	assert_true(annotate_make(made.run, &options, &made.arena, &view, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_instructions_each_add_up_to_the_function),
		cmocka_unit_test(an_address_inside_an_instruction_is_that_instruction),
		cmocka_unit_test(what_was_called_is_counted_below_the_call),
		cmocka_unit_test(a_recursion_counts_a_sample_once_below_each_call),
		cmocka_unit_test(inlined_code_is_part_of_the_function_at_its_own_line),
		cmocka_unit_test(
			a_function_that_was_inlined_everywhere_has_lines_and_says_where_it_is),
		cmocka_unit_test(a_sample_without_period_makes_every_sample_of_its_event_weigh_one),
		cmocka_unit_test(only_the_hottest_places_are_marked_and_ranked),
		cmocka_unit_test(jumps_within_the_function_get_labels_in_order_of_address),
		cmocka_unit_test(lines_come_from_the_line_table_where_the_samples_have_none),
		cmocka_unit_test(skid_is_noted_unless_every_event_is_precise),
		cmocka_unit_test(copies_inlined_elsewhere_are_not_in_the_numbers_and_are_told),
		cmocka_unit_test(a_function_is_found_by_name_address_and_module),
		cmocka_unit_test(two_functions_of_one_name_are_told_apart_and_not_guessed),
		cmocka_unit_test(an_event_that_has_no_samples_is_refused_with_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
