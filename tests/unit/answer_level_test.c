/* answer_level_test.c - at which level of the stack the answer is, and how it is shown. */
#include "answer_scene.h"

static void a_small_function_without_a_loop_means_its_caller_that_has_one(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88 main:1");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "parse");
	assert_string_equal(first->location, "prog.c:88");
	assert_near(first->value, 0.97, 1e-9);
	assert_string_equal(s.view.sentence,
		"change prog.c:88, in parse() first: 97 % of the CPU time is below it, 95 % in "
		"step(); reached through parse() <- run() <- main()");
	assert_int_equal(first->chain_count, 4);
	assert_int_equal(first->chain_place, 1);
	assert_string_equal(first->chain[0].function, "step");
	assert_near(first->chain[0].self, 0.95, 1e-9);
	assert_near(first->chain[1].total, 0.97, 1e-9);
	assert_near(first->chain[1].self, 0.02, 1e-9);
	assert_string_equal(first->chain[3].call, "main()");
	assert_near(first->chain[3].total, 1, 1e-9);
	assert_true(isnan(first->chain[0].entries));
	assert_int_equal(s.view.hotspot_count, 2); /* step() is shown in the chain, not again */
	assert_string_equal(s.view.hotspots[1].function, "other");
	scene_done(&s);
}

static void experiments_are_about_the_place_with_what_it_calls(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88 main:1"), blind = scene_of(PARSER, NULL);
	const struct evidence_piece *profile = &s.evidence.piece[EVIDENCE_PROFILE];
	struct hotspot_target targets[4];

	(void)state;
	s.code.loops = s.loops;
	s.code.callee = s.callee;
	assert_int_equal(hotspot_functions(profile, &s.code, 0.08, &s.arena, targets, 4), 1);
	assert_string_equal(targets[0].function, "parse");
	assert_true(targets[0].with_callees);
	profile = &blind.evidence.piece[EVIDENCE_PROFILE];
	assert_int_equal(hotspot_functions(profile, NULL, 0.08, &blind.arena, targets, 4), 1);
	assert_string_equal(targets[0].function, "step");
	assert_false(targets[0].with_callees);
	scene_done(&s);
	scene_done(&blind);
}

/* step() has 3 % of its own and 87 % below it: alone it would be flat, and so would run_all(). */
static void what_stands_in_for_a_place_is_tried_with_what_it_calls(void **state)
{
	struct scene s = scene_of(HEAD "87 main:1;run_all:5;step:7;kernel:9\n"
				       "3 main:1;run_all:5;step:8\n10 main:1;other:3\n",
		"run_all:5");
	struct scene leaf = scene_of(PARSER, "parse:88 main:1");
	struct hotspot_target targets[4];

	(void)state;
	s.code.loops = s.loops;
	s.code.callee = s.callee;
	assert_int_equal(hotspot_functions(&s.evidence.piece[EVIDENCE_PROFILE], &s.code, 0.5,
				 &s.arena, targets, 4),
		1);
	assert_string_equal(targets[0].function, "run_all");
	assert_string_equal(targets[0].inner, "step");
	assert_true(targets[0].inner_with_callees);
	leaf.code.loops = leaf.loops;
	leaf.code.callee = leaf.callee;
	assert_int_equal(hotspot_functions(&leaf.evidence.piece[EVIDENCE_PROFILE], &leaf.code, 0.5,
				 &leaf.arena, targets, 4),
		1);
	assert_string_equal(targets[0].inner, "step");
	assert_false(targets[0].inner_with_callees);
	scene_done(&s);
	scene_done(&leaf);
}

static void a_function_that_has_the_loop_itself_is_the_place_and_so_it_is_when_nobody_looked(
	void **state)
{
	struct scene s = scene_of(PARSER, "step:10 parse:88 main:1"),
		     blind = scene_of(PARSER, NULL);

	(void)state;
	assert_string_equal(scene_first(&s)->function, "step");
	assert_int_equal(s.view.first->chain_place, 0);
	assert_string_equal(scene_first(&blind)->function, "step");
	scene_done(&s);
	scene_done(&blind);
}

static void who_makes_copies_and_destroys_values_is_the_place(void **state)
{
	static const char *const values[][2] = {
		{"ns::Value::Value(ns::Value&)", "ns::Value::~Value()"},
		{"ns::V<a::b>::V", "ns::V<a::b>::operator=="}, {"operator<<", "a::operator->"},
		{"a::T::clone", "b::U::clone"}};
	static const char *const others[][2] = {{"ns::Value::value", "Value"},
		{"a::main::{lambda()#1}::operator()", "ns::Val::Value"}};
	char profile[512], loops[256];

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const char *const *names = i < 4 ? values[i] : others[i - 4];
		struct scene s;

		(void)snprintf(profile, sizeof(profile),
			HEAD "45 main:1;run:5;scan:88;%s:10\n25 main:1;run:5;scan:90;%s:12\n"
			     "20 main:1;run:5;scan:95\n10 main:1;run:7;other:3\n",
			names[0], names[1]);
		(void)snprintf(
			loops, sizeof(loops), "%s:10 %s:12 run:5 main:1", names[0], names[1]);
		s = scene_of(profile, loops);
		assert_string_equal(scene_first(&s)->function, i < 4 ? "scan" : names[0]);
		scene_done(&s);
	}
}

/* A copy of a tree: dup() calls itself through the constructors of its parts. */
static void who_copies_a_tree_is_the_place_not_what_the_copy_calls(void **state)
{
	static const char tree[] =
		HEAD "40 main:1;run:5;take:8;V::V(V&):3;V::dup:9;V::V(V&):3;V::dup:9\n"
		     "20 main:1;run:5;take:8;V::V(V&):3;V::dup:9;V::V(V&):3;V::dup:11\n"
		     "20 main:1;run:5;take:9\n20 main:1;run:7;other:3\n";
	static const char walk[] =
		HEAD "40 main:1;run:5;V::V(V&):3;V::read:9;V::item:3;V::read:9\n"
		     "40 main:1;run:5;V::V(V&):3;V::read:9;V::item:3;V::read:11\n"
		     "20 main:1;run:7;other:3\n";
	struct scene copied = scene_of(tree, "main:1"), read = scene_of(walk, "main:1");
	struct scene large = scene_of(HEAD "40 main:1;take:8;V::V(V&):3;V::V(V&):4;V::V(V&):4\n"
					   "40 main:1;take:8;V::V(V&):3;V::V(V&):4\n"
					   "20 main:1;run:7;other:3\n",
		"main:1");

	(void)state;
	vec_foreach (struct function_row, function, &large.run->functions)
		function->size_bytes = 4096;
	assert_string_equal(scene_first(&large)->function, "take");
	scene_done(&large);
	assert_string_equal(scene_first(&copied)->function, "take");
	assert_string_equal(scene_first(&read)->function, "V::read");
	scene_done(&copied);
	scene_done(&read);
}

/* Nobody has the loop but Rust's main(): next() hands out copies. */
static void who_makes_values_for_main_is_the_place(void **state)
{
	struct scene s = scene_of(HEAD "90 main:1;csv::main:5;csv::Records::next:8;"
				       "<csv::Row as core::clone::Clone>::clone:3\n"
				       "10 main:1;csv::main:5;csv::Records::next:9;parse:3\n",
		"csv::main:5");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "csv::Records::next");
	scene_done(&s);
}

/* An interpreter: its loop does everything, so it is not why one thing is slow. */
static void a_loop_that_does_many_things_is_not_why_one_of_them_is_slow(void **state)
{
	struct scene s = scene_of(HEAD "25 main:1;execute:9;get:20\n20 main:1;execute:8;set:30\n"
				       "20 main:1;execute:7;add:40\n20 main:1;execute:6;cat:50\n"
				       "15 main:1;execute:5\n",
		"execute:9 execute:8 execute:7 execute:6 execute:5");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "get");
	scene_done(&s);
}

/* Copying and freeing: what they have in common is append(), not the parser's loop above. */
static void a_function_with_several_costs_below_it_is_the_place(void **state)
{
	struct scene s = scene_of(HEAD "58 main:1;parse:5;token:6;append:7;copy:8\n"
				       "40 main:1;parse:5;token:6;append:9;drop:10\n2 main:2\n",
		"parse:5");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "append");
	assert_near(s.view.first->value, 0.98, 1e-9);
	scene_done(&s);
}

/* main() says how often everything is done. */
static void main_is_not_the_place_of_what_it_calls(void **state)
{
	struct scene s = scene_of(HEAD "95 main:3;hash:10\n5 main:4\n", "main:3");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "hash");
	scene_done(&s);
}

/* A transform without a loop, 4 KB of it: there is enough in it to change. */
static void a_large_function_without_a_loop_is_the_place(void **state)
{
	struct scene s = scene_of(
		HEAD "95 main:1;update:4;transform:10\n5 main:2;other:7\n", "update:4 main:1");

	(void)state;
	vec_foreach (struct function_row, function, &s.run->functions)
		if (str_equal(run_text(s.run, function->name), "transform"))
			function->size_bytes = 4096;
	assert_string_equal(scene_first(&s)->function, "transform");
	scene_done(&s);
}

/* Half of its time before and behind a loop of a few rounds: the calls are many. */
static void a_tiny_function_with_a_short_loop_means_its_caller(void **state)
{
	struct scene s = scene_of(HEAD
		"55 main:1;lookup:4;hash:10\n40 main:1;lookup:4;hash:9\n5 main:2;other:7\n",
		"hash:10 lookup:4");

	(void)state;
	vec_foreach (struct function_row, function, &s.run->functions)
		if (str_equal(run_text(s.run, function->name), "hash"))
			function->size_bytes = 90;
	assert_string_equal(scene_first(&s)->function, "lookup");
	scene_done(&s);
}

/* Hardly anything goes further in: what does is not why. */
static void a_chain_ends_where_the_time_is(void **state)
{
	struct scene s = scene_of(
		HEAD "98 main:1;run:4;work:7\n2 main:1;run:4;work:8;push:9\n", "work:7 work:8");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "work");
	assert_int_equal(first->chain_place, 0);
	assert_null(strstr(s.view.sentence, "push"));
	scene_done(&s);
}

/* All samples are in its loop, but that has three rounds: the calls are what is many. */
static void a_small_function_with_few_rounds_means_its_caller_and_counts_are_shown(void **state)
{
	struct scene s = scene_of(
		HEAD "95 main:1;run:2;lookup:4;hash:10\n5 main:2;other:7\n", "hash:10 lookup:4");
	const struct algorithm_loop loop = {"prog.c", 10, 1000000, 3000000};
	const struct algorithm_function counted[] = {
		{"hash", 1000000, NULL, 0, &loop, 1, 0.9, 0.95},
		{"lookup", 20, NULL, 0, NULL, 0, 0.1, 0.05},
	};
	const struct algorithm_view view = {.functions = counted, .function_count = 2};
	const struct hotspot *first;

	(void)state;
	assert_string_equal(scene_first(&s)->function, "hash");
	s.evidence.algorithm = &view;
	first = scene_first(&s);
	assert_string_equal(first->function, "lookup");
	assert_near(first->chain[0].entries, 1e6, 1);
	assert_near(first->chain[1].entries, 20, 1e-9);
	assert_true(isnan(first->chain[2].entries));
	assert_non_null(strstr(first->algorithm, "hash(): "));
	scene_done(&s);
}

/* A comparison of 528 bytes, and one that spends much of its time in an accessor: counts say what
 * the size does not. */
static void many_counted_calls_of_few_rounds_mean_the_caller_of_a_larger_one_too(void **state)
{
	static const struct {
		const char *profile;
		uint32_t bytes;
		uint64_t calls, trips;
		const char *place;
	} cases[] = {
		{"95 main:1;run:2;lookup:4;hash:10\n", 528, 1000000, 3000000, "lookup"},
		{"95 main:1;run:2;lookup:4;hash:10\n", 528, 1000000, 9000000, "hash"},
		{"95 main:1;run:2;lookup:4;hash:10\n", 528, 20, 60, "hash"},
		{"95 main:1;run:2;lookup:4;hash:10\n", 4096, 1000000, 3000000, "hash"},
		{"55 main:1;run:2;lookup:4;hash:10\n40 main:1;run:2;lookup:5\n", 528, 1000000,
			3000000, "hash"}, /* lookup() has other costs */
		{"42 main:1;run:2;lookup:4;hash:10\n53 main:1;run:2;lookup:4;hash:10;get:30\n", 187,
			1000000, 2000000, "lookup"},
		{"22 main:1;run:2;lookup:4;hash:10\n73 main:1;run:2;lookup:4;hash:10;get:30\n", 187,
			1000000, 2000000, "hash"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];
		struct scene s;
		const struct algorithm_loop loop = {"prog.c", 10, cases[i].calls, cases[i].trips};
		const struct algorithm_function counted[] = {
			{"hash", cases[i].calls, NULL, 0, &loop, 1, 0.9, 0.95},
			{"lookup", 20, NULL, 0, NULL, 0, 0.1, 0.05},
		};
		const struct algorithm_view view = {.functions = counted, .function_count = 2};

		snprintf(text, sizeof(text), HEAD "%s5 main:2;other:7\n", cases[i].profile);
		s = scene_of(text, "hash:10 lookup:4");
		vec_foreach (struct function_row, function, &s.run->functions)
			if (str_equal(run_text(s.run, function->name), "hash"))
				function->size_bytes = cases[i].bytes;
		s.evidence.algorithm = &view;
		if (!str_equal(scene_first(&s)->function, cases[i].place))
			fail_msg("case %u: %s", i, s.view.first->function);
		scene_done(&s);
	}
}

/* value() turns a number into text and back, each time; step() is what all of it is called from. */
static void steps_of_an_operation_that_is_done_often_mean_the_operation(void **state)
{
	static const char steps[] = "25 main:1;run:2;step:3;value:10;print:20\n"
				    "20 main:1;run:2;step:3;value:11;scan:30\n"
				    "15 main:1;run:2;step:3;value:12;round:40\n"
				    "20 main:1;run:2;other:7\n20 main:1;run:2;more:8\n";
	static const char one[] = "50 main:1;run:2;step:3;value:10;print:20\n"
				  "15 main:1;run:2;step:3;value:11;scan:30\n35 main:1;run:2\n";
	static const struct {
		const char *profile, *loops;
		uint64_t calls, below;
		const char *place, *why;
		uint64_t instructions; /* of all; 60 % of them are below value() */
	} cases[] = {
		{steps, "run:2 print:20 scan:30 round:40", 5000, 5000, "value",
			"it is called 5,000 times; its time is in several steps: 25 % in print(), "
			"20 % in scan(), 15 % in round()",
			0},
		{steps, "run:2 print:20 scan:30 round:40", 0, 5000, "value",
			"its steps are called 5,000 times; its time is in several steps: 25 % in "
			"print(), 20 % in scan(), 15 % in round()",
			0},
		{steps, "run:2 print:20 scan:30 round:40", 20, 5000, "print", NULL, 0}, /* seldom */
		{steps, "run:2 print:20 scan:30 round:40", 0, 0, "print", NULL,
			0}, /* not counted */
		{steps, "run:2 print:20 scan:30 round:40", 5000, 5000, "value", NULL, 8000000000},
		{steps, "run:2 print:20 scan:30 round:40", 5000, 5000, "print", NULL,
			9000000000}, /* more than a million in one call */
		{steps, "run:2 value:10 value:11 value:12 print:20 scan:30 round:40", 5000, 5000,
			"value", NULL, 0}, /* its loop is the reason */
		{one, "run:2 print:20 scan:30", 5000, 5000, "print", NULL, 0}, /* one step has it */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		str_auto struct str text = {0};
		struct scene s;
		const struct algorithm_loop loop = {
			"prog.c", 20, cases[i].below, 100 * cases[i].below};
		const struct algorithm_function counted[] = {
			{"value", cases[i].calls, NULL, 0, NULL, 0, 0.2, 0.01},
			{"print", cases[i].below, NULL, 0, &loop, 1, 0.3, 0.3},
			{"scan", cases[i].below, NULL, 0, &loop, 1, 0.3, 0.3},
			{"round", cases[i].below, NULL, 0, &loop, 1, 0.3, 0.3},
		};
		const struct algorithm_view view = {.functions = counted,
			.function_count = 4,
			.instructions = cases[i].instructions};

		str_addf(&text, HEAD "%s", cases[i].profile);
		s = scene_of(text.at, cases[i].loops);
		s.evidence.algorithm = &view;
		if (!str_equal(scene_first(&s)->function, cases[i].place))
			fail_msg("case %u: %s", i, s.view.first->function);
		if (cases[i].why)
			assert_string_equal(s.view.why, cases[i].why);
		if (cases[i].why)
			assert_true(str_starts(answer_advice(&s.view), "do it less often: "));
		scene_done(&s);
	}
}

static void recursion_counts_once_and_is_a_loop(void **state)
{
	struct scene s = scene_of(HEAD "50 main:1;walk:5;walk:5;walk:5;visit:9\n"
				       "40 main:1;walk:5;visit:9\n10 main:2;other:7\n",
		"");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "walk");
	assert_near(first->value, 0.9, 1e-9);
	assert_near(first->chain[first->chain_place].total, 0.9, 1e-9);
	assert_int_equal(first->chain_count, 3);
	scene_done(&s);
}

/* middle() ends with a call of leaf(), which the compiler made a jump: half of the stacks lack it.
 * The call in outer() names it. */
static void a_tail_call_does_not_split_a_chain(void **state)
{
	struct scene s = scene_of(HEAD "50 main:1;outer:5;middle:7;leaf:9\n"
				       "50 main:1;outer:5;leaf:9\n",
		"middle:7 leaf:0");

	(void)state;
	for (uint32_t i = 1; i < s.code.count; i++)
		for (uint32_t f = 0;
			location_is(s.run, i, "outer", 5) && f < s.run->functions.count; f++)
			if (str_equal(run_text(s.run, s.run->functions.at[f].name), "middle"))
				s.callee[i] = f + 1;
	scene_first(&s);
	assert_string_equal(s.view.first->function, "middle");
	assert_near(s.view.first->value, 1, 1e-9);
	assert_int_equal(s.view.first->chain_count, 4);
	assert_near(s.view.first->chain[1].total, 1, 1e-9);
	assert_int_equal(s.view.hotspot_count, 1);
	scene_done(&s);
}

static void a_wrapper_of_the_allocator_means_its_caller(void **state)
{
	struct scene s = scene_of(HEAD "90 main:1;build:5;xmalloc:7;malloc@/usr/lib/libc.so.6\n"
				       "10 main:2;other:7\n",
		NULL);
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "build");
	assert_int_equal(first->category, HOTSPOT_ALLOCATION);
	scene_done(&s);
}

static void a_sort_that_calls_back_is_the_loop_of_who_called_it(void **state)
{
	struct scene s = scene_of(HEAD
		"90 main:1;order:5;qsort@/usr/lib/libc.so.6:3;compare:7\n10 main:2;other:7\n",
		"qsort:3");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "order");
	scene_done(&s);
}

static void an_interrupt_is_no_system_call(void **state)
{
	struct scene s = scene_of(HEAD
		"70 main:1;work:5\n"
		"20 main:1;work:5;asm_sysvec_apic_timer_interrupt@[kernel];schedule@[kernel]\n"
		"10 main:1;work:6;entry_SYSCALL_64@[kernel];ksys_read@[kernel]\n",
		NULL);
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_int_equal(s.view.hotspot_count, 1); /* one place, one row */
	assert_near(first->value, 1, 1e-9);
	assert_int_equal(first->kind_count, 2);
	assert_int_equal(first->kinds[0].category, HOTSPOT_CPU);
	assert_near(first->kinds[0].share, 0.9, 1e-9);
	assert_int_equal(first->kinds[1].category, HOTSPOT_SYSCALL);
	scene_done(&s);
}

/* The same as signals: what the kernel did in the interrupt is nobody's system call. */
static void signals_of_the_kernel_leave_interrupts_out(void **state)
{
	struct scene s = scene_of(HEAD
		"70 main:1;work:5\n"
		"20 main:1;work:5;asm_sysvec_apic_timer_interrupt@[kernel];schedule@[kernel]\n"
		"10 main:1;work:6;entry_SYSCALL_64@[kernel];schedule@[kernel]\n",
		NULL);
	signals_auto struct signals signals = {0};

	(void)state;
	signals_collect(&s.evidence, &s.arena, &signals);
	assert_near(signals_find(&signals, "entry_samples")->value, 0.1, 1e-9);
	assert_non_null(strstr(signals_find(&signals, "entry_samples")->query, "NOT IN"));
	scene_done(&s);
}

static void a_name_is_said_without_template_arguments_and_path(void **state)
{
	struct scene s =
		scene_of(HEAD "90 main:1;ns::adapter<char, std::alloc<char> >::write(int):5\n"
			      "10 main:2;(anonymous namespace)::stream::operator<<(int):7\n",
			NULL);

	(void)state;
	assert_string_equal(scene_first(&s)->call, "ns::adapter::write()");
	assert_string_equal(s.view.hotspots[1].call, "stream::operator<<()");
	scene_done(&s);
	s = scene_of(HEAD "90 main:1;github.com/them/parse/css.(*Parser).next:5\n", NULL);
	assert_string_equal(scene_first(&s)->call, "css.(*Parser).next()");
	scene_done(&s);
}

static void the_level_is_an_opinion_and_never_sure(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");
	struct ledger_witness witness = {
		.witness = "rusage", .verdict = HYPOTHESIS_SUPPORTS, .words = "so"};
	struct ledger_row row = {.name = "x",
		.title = "x",
		.category = "cpu",
		.verdict = HYPOTHESIS_SUPPORTS,
		.why = "w",
		.untested = "",
		.advice = "",
		.falsifier = "",
		.next = "",
		.share = 0.9,
		.effort = 1,
		.witnesses = &witness,
		.witness_count = 1};

	(void)state;
	s.ledger = (struct ledger_view){.rows = &row, .count = 1};
	scene_first(&s);
	assert_int_equal(s.view.first->agree, 2);
	assert_string_equal(s.view.confidence, "medium");
	scene_done(&s);
}

static bool is_in_order(const char *text, const char *const *words)
{
	for (; text && *words; words++)
		text = strstr(text, *words);
	return text;
}

static void every_form_shows_the_chain_the_kinds_and_how_the_gain_is_known(void **state)
{
	struct scene s =
		scene_of(HEAD "75 main:1;run:5;parse:88;step:10\n"
			      "20 main:1;run:5;parse:88;step:10;malloc@/usr/lib/libc.so.6\n"
			      "5 main:1;run:6;other:3\n",
			"parse:88");
	str_auto struct str text = {0}, agent = {0}, json_text = {0}, report = {0}, table = {0};
	struct paper paper = {.out = &text}, plain = {.out = &agent, .ascii = true};
	struct jsonw json = {.out = &json_text};
	struct answer_page page = {.view = &s.view,
		.evidence = &s.evidence,
		.target = "./prog 1",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	answer_text(&paper, &page);
	assert_non_null(strstr(text.at, "step() 95 % <- [parse() 95 %] <- run() 100 %"));
	assert_non_null(strstr(text.at, "CPU 75 %, allocation 20 %"));
	assert_non_null(strstr(text.at, "by arithmetic: one thread"));
	answer_agent(&plain, &page);
	assert_non_null(strstr(agent.at, "chain: step() 95 % <- [parse() 95 %]"));
	assert_non_null(strstr(agent.at, "by arithmetic: one thread"));
	jsonw_begin_object(&json);
	answer_json(&json, &page);
	jsonw_end_object(&json);
	assert_non_null(strstr(json_text.at, "\"gain_basis\": \"arithmetic\""));
	assert_non_null(strstr(json_text.at, "\"total_share\""));
	/* The place first; what it calls is below. */
	assert_true(is_in_order(
		json_text.at, (const char *const[]){"\"chain\"", "\"parse\"", "\"calls\": null",
				      "\"run\"", "\"below\"", "\"step\"", NULL}));
	answer_markdown(&report, &page);
	assert_non_null(strstr(report.at, "- Chain: `step() 95 % <- [parse() 95 %]"));
	hotspot_markdown(&table, &page);
	assert_non_null(strstr(table.at, "1. `step() 95 % <- [parse() 95 %]"));
	scene_done(&s);
}

static void a_function_that_several_callers_share_is_the_place(void **state)
{
	/* A probe of a hash table: small, and called in the loop of the interpreter. */
	struct scene s =
		scene_of(HEAD "33 main:1;run:5;get:8;find:10\n30 main:1;run:5;set:9;find:10\n"
			      "29 main:1;run:5;has:7;find:10\n8 main:1;run:6\n",
			"run:5 run:6 main:1");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "find");
	assert_near(first->value, 0.92, 1e-9);
	scene_done(&s);
}

static void a_function_that_one_caller_has_most_of_is_that_callers(void **state)
{
	struct scene s =
		scene_of(HEAD "80 main:1;run:5;sort:8;less:10\n12 main:1;run:5;pick:9;less:10\n"
			      "8 main:1;run:6\n",
			"sort:8 run:5 main:1");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "sort");
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_function_without_a_loop_means_its_caller_that_has_one),
		cmocka_unit_test(a_function_that_several_callers_share_is_the_place),
		cmocka_unit_test(a_function_that_one_caller_has_most_of_is_that_callers),
		cmocka_unit_test(experiments_are_about_the_place_with_what_it_calls),
		cmocka_unit_test(what_stands_in_for_a_place_is_tried_with_what_it_calls),
		cmocka_unit_test(who_makes_copies_and_destroys_values_is_the_place),
		cmocka_unit_test(
			a_function_that_has_the_loop_itself_is_the_place_and_so_it_is_when_nobody_looked),
		cmocka_unit_test(who_copies_a_tree_is_the_place_not_what_the_copy_calls),
		cmocka_unit_test(who_makes_values_for_main_is_the_place),
		cmocka_unit_test(a_loop_that_does_many_things_is_not_why_one_of_them_is_slow),
		cmocka_unit_test(a_function_with_several_costs_below_it_is_the_place),
		cmocka_unit_test(main_is_not_the_place_of_what_it_calls),
		cmocka_unit_test(a_large_function_without_a_loop_is_the_place),
		cmocka_unit_test(a_tiny_function_with_a_short_loop_means_its_caller),
		cmocka_unit_test(a_chain_ends_where_the_time_is),
		cmocka_unit_test(
			a_small_function_with_few_rounds_means_its_caller_and_counts_are_shown),
		cmocka_unit_test(
			many_counted_calls_of_few_rounds_mean_the_caller_of_a_larger_one_too),
		cmocka_unit_test(steps_of_an_operation_that_is_done_often_mean_the_operation),
		cmocka_unit_test(recursion_counts_once_and_is_a_loop),
		cmocka_unit_test(a_tail_call_does_not_split_a_chain),
		cmocka_unit_test(a_wrapper_of_the_allocator_means_its_caller),
		cmocka_unit_test(a_sort_that_calls_back_is_the_loop_of_who_called_it),
		cmocka_unit_test(an_interrupt_is_no_system_call),
		cmocka_unit_test(signals_of_the_kernel_leave_interrupts_out),
		cmocka_unit_test(a_name_is_said_without_template_arguments_and_path),
		cmocka_unit_test(the_level_is_an_opinion_and_never_sure),
		cmocka_unit_test(every_form_shows_the_chain_the_kinds_and_how_the_gain_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
