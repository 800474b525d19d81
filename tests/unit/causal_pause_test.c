/* causal_pause_test.c - how long the handler in the target keeps a thread, on a clock made up here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "causal_pause.h"

enum { LOOK_NS = 1000, MS = 1000000, START_NS = 5 * MS };

static struct wire_causal_board board;
static struct wire_causal_seat seat;
static uint64_t clock_ns;
static uint32_t sleeps;
static bool robs_sleepers, robs_spinners; /* other programs take a CPU from a thread meanwhile */

static void pass(uint64_t ns, bool robs)
{
	clock_ns += ns;
	board.stolen_ns += robs ? ns : 0;
	board.owed_ns += robs ? ns : 0;
}

static uint64_t pause_now_ns(void)
{
	pass(LOOK_NS, robs_spinners);
	return clock_ns;
}

static void pause_sleep_until(uint64_t until_ns)
{
	sleeps++;
	if (seat.running_ns) /* as the kernel side does */
		seat.running_ns = until_ns;
	pass(until_ns > clock_ns ? until_ns - clock_ns : 0, robs_sleepers);
	robs_sleepers = false; /* the first time only */
}

static uint32_t pause_tid(void)
{
	return seat.tid;
}

/* How long a thread that owes a millisecond pauses, which waits for a CPU first. */
static uint64_t pause_after(uint64_t wait_ns)
{
	board = (struct wire_causal_board){.active = 1, .epoch = 1, .owed_ns = MS};
	seat = (struct wire_causal_seat){.tid = 7,
		.epoch = 1,
		.asked_ns = START_NS,
		.running_ns = wait_ns ? START_NS + wait_ns : 0};
	clock_ns = START_NS + wait_ns;
	sleeps = 0;
	pause_pay(&board, &seat);
	assert_int_equal(seat.account.pause_ns, 0);
	assert_int_equal(board.pauses, 1);
	return clock_ns - START_NS - wait_ns;
}

static uint64_t pause_once(void)
{
	return pause_after(0);
}

static void assert_about(uint64_t ns, uint64_t expected)
{
	assert_in_range(ns, expected, expected + 4 * LOOK_NS);
}

static void a_pause_lasts_as_long_as_the_debt_and_is_slept_but_for_its_last(void **state)
{
	(void)state;
	assert_about(pause_once(), MS);
	assert_int_equal(sleeps, 1);
	assert_int_equal(causal_debt(&seat.account, board.owed_ns), 0);
}

static void what_is_stolen_while_it_sleeps_makes_it_longer(void **state)
{
	uint64_t slept = MS - CAUSAL_PAUSE_SPIN_NS;

	(void)state;
	robs_sleepers = true;
	assert_about(pause_once(), MS + slept - 2 * LOOK_NS);
	assert_int_equal(sleeps, 2);
	assert_int_equal(causal_debt(&seat.account, board.owed_ns), 0);
}

static void what_is_stolen_while_the_last_is_spun_is_left_for_the_next(void **state)
{
	(void)state;
	robs_spinners = true;
	assert_about(pause_once(), MS);
	robs_spinners = false;
	assert_in_range(causal_debt(&seat.account, board.owed_ns),
		CAUSAL_PAUSE_SPIN_NS - 4 * LOOK_NS, CAUSAL_PAUSE_SPIN_NS + 4 * LOOK_NS);
}

/* The wait is booked by the kernel side; of the pause only what was spun is CPU time. */
static void a_wait_for_a_cpu_before_it_is_no_part_of_it(void **state)
{
	(void)state;
	assert_about(pause_after(300000), MS);
	assert_int_equal(sleeps, 1);
	assert_in_range(seat.account.cpu_ns, CAUSAL_PAUSE_SPIN_NS - 4 * LOOK_NS,
		CAUSAL_PAUSE_SPIN_NS + 4 * LOOK_NS);
}

static void a_sealed_board_ends_it_at_once(void **state)
{
	(void)state;
	board = (struct wire_causal_board){
		.active = 1, .epoch = 1, .owed_ns = MS, .sealed = WIRE_SEAL_SANDBOX};
	seat = (struct wire_causal_seat){.tid = 7, .epoch = 1, .asked_ns = START_NS};
	clock_ns = START_NS;
	pause_pay(&board, &seat);
	assert_int_equal(clock_ns, START_NS); /* not even the time was asked for */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_lasts_as_long_as_the_debt_and_is_slept_but_for_its_last),
		cmocka_unit_test(what_is_stolen_while_it_sleeps_makes_it_longer),
		cmocka_unit_test(what_is_stolen_while_the_last_is_spun_is_left_for_the_next),
		cmocka_unit_test(a_wait_for_a_cpu_before_it_is_no_part_of_it),
		cmocka_unit_test(a_sealed_board_ends_it_at_once),
	};

	return cmocka_run_group_tests_name("causal_pause", tests, NULL, NULL);
}
