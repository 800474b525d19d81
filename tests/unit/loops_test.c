/* loops_test.c - which instructions are in a loop, as compilers lay them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "code/loops.h"

enum { ROWS_MOST = 32 };

/* One letter for each instruction of four bytes:  '.' plain, 'r' return, 't' a jump through a
 * table; a digit or a small letter from 'a' (10) jumps to that instruction if a flag is set, and so
 * does
 * '!' with the next letter, always. */
static struct loops loops_of(const char *text, struct arena *arena, struct instruction *rows)
{
	struct loops loops;
	uint32_t count = 0;

	for (const char *at = text; *at; at++) {
		struct instruction row = {.addr = 4 * count, .size_bytes = 4, .text = "nop"};

		if (*at == 'r') {
			row.kind = INSTRUCTION_RETURN;
		} else if (*at == 't') {
			row.kind = INSTRUCTION_JUMP;
			row.text = "jmpq *%rax";
		} else if (*at != '.') {
			row.text = *at == '!' ? "jmp" : "jne";
			at += *at == '!';
			row.kind = INSTRUCTION_JUMP;
			row.has_target = true;
			row.target = 4 * (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
		}
		rows[count++] = row;
	}
	loops_find(rows, count, arena, &loops);
	return loops;
}

/* How deep each instruction is in loops: "0110". */
static const char *depths_of(const char *text)
{
	static char depths[ROWS_MOST];
	arena_auto struct arena arena = {0};
	struct instruction rows[ROWS_MOST];
	struct loops loops = loops_of(text, &arena, rows);

	for (uint32_t i = 0; i < loops.instruction_count; i++) {
		depths[i] = '0';
		for (uint32_t k = loops.innermost[i]; k; k = loops.at[k - 1].outer)
			depths[i]++;
	}
	depths[loops.instruction_count] = '\0';
	return depths;
}

static void a_jump_back_makes_a_loop_and_a_loop_in_it_is_deeper(void **state)
{
	(void)state;
	assert_string_equal(depths_of("...r"), "0000");
	assert_string_equal(depths_of("..1.r"), "01100");
	assert_string_equal(depths_of("..2r"), "0010"); /* an instruction that jumps to itself */
	assert_string_equal(depths_of("...2.1.r"), "01221100");
	assert_string_equal(depths_of(".3.r"), "0000"); /* forward */
}

/* Compilers put what is unlikely behind the function: the jump back from there is no loop of what
 * stands between. */
static void a_block_behind_the_function_does_not_make_a_loop_of_what_is_between(void **state)
{
	(void)state;
	/* 1 to 3 are the loop, 2 may leave it for 9, which comes back to 3; 4 to 8 are not in it */
	assert_string_equal(depths_of("..91....r.!3"), "01110000011");
}

static void a_switch_in_a_loop_leads_to_the_blocks_that_nothing_else_leads_to(void **state)
{
	(void)state;
	/* 1 dispatches to 2 and 4; both go back to 0; 6 ends it */
	assert_string_equal(depths_of(".t.!0.!0r"), "1111110");
}

static void a_loop_knows_where_it_begins_and_jumps_back(void **state)
{
	arena_auto struct arena arena = {0};
	struct instruction rows[ROWS_MOST];
	struct loops loops = loops_of("...2.1.r", &arena, rows);

	(void)state;
	assert_int_equal(loops.count, 2);
	assert_int_equal(loops.at[0].head, 4);
	assert_int_equal(loops.at[0].latch, 20);
	assert_int_equal(loops.at[1].head, 8);
	assert_int_equal(loops.at[1].latch, 12);
	assert_int_equal(loops.at[1].outer, 1);
	assert_ptr_equal(loops_instruction(&loops, 13), &rows[3]);
	assert_null(loops_instruction(&loops, 4 * 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_back_makes_a_loop_and_a_loop_in_it_is_deeper),
		cmocka_unit_test(
			a_block_behind_the_function_does_not_make_a_loop_of_what_is_between),
		cmocka_unit_test(a_switch_in_a_loop_leads_to_the_blocks_that_nothing_else_leads_to),
		cmocka_unit_test(a_loop_knows_where_it_begins_and_jumps_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
