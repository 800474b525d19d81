/* causal_test.c - the accounts add up, the shared memory is laid out as all sides think, and the
 * records of experiments reach the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/ingest.h"
#include "model/run.h"
#include "wire/build.h"
#include "wire/causal.h"
#include "wire/causal_release.h"

/* ---- the rule ---- */

static void a_hit_buys_delay_for_all_and_costs_its_thread_none(void **state)
{
	struct causal_account account = {.taken_ns = 100};
	uint64_t owed = causal_hit(&account, 100, 1000, 500);

	(void)state;
	assert_int_equal(owed, 600);
	assert_int_equal(causal_debt(&account, owed), 0);
	account = (struct causal_account){.taken_ns = 150}; /* 50 too much taken before */
	owed = causal_hit(&account, 100, 1000, 500);
	assert_int_equal(owed, 600);
	assert_int_equal(account.taken_ns, 650);
}

static void a_wait_longer_than_the_debt_forgives_it(void **state)
{
	struct causal_account wakee = {.taken_ns = 0, .since_ns = 1000};

	(void)state;
	causal_hand_on(&wakee, (struct causal_clock){.taken_ns = 500}, 3000, 0);
	assert_int_equal(wakee.taken_ns, 500);
}

static void a_shorter_wait_forgives_only_as_much_as_it_lasted(void **state)
{
	struct causal_account wakee = {.taken_ns = 0, .since_ns = 1000};

	(void)state;
	causal_hand_on(&wakee, (struct causal_clock){.taken_ns = 500}, 1200, 0);
	assert_int_equal(wakee.taken_ns, 200);
}

static void a_waker_with_a_debt_passes_it_on(void **state)
{
	struct causal_account wakee = {.taken_ns = 900, .since_ns = 1000};

	(void)state;
	causal_hand_on(&wakee, (struct causal_clock){.taken_ns = 300}, 2000, 0);
	assert_int_equal(causal_debt(&wakee, 900), 600);
}

static void a_pause_is_booked_from_its_sample_on(void **state)
{
	struct causal_account account = {.taken_ns = 10};

	(void)state;
	causal_pause_begin(&account, 1000);
	causal_pause_end(&account, 1600, 50);
	assert_int_equal(account.taken_ns, 610);
	assert_int_equal(account.cpu_ns, 50);
	assert_int_equal(account.pause_ns, 0);
}

/* ---- who gave an object free, for the engine inside the target ---- */

static struct causal_release releases[CAUSAL_RELEASES];

static void a_release_is_found_by_who_waited_for_it(void **state)
{
	struct causal_account wakee = {.taken_ns = 100, .since_ns = 1000};
	__u64 taken = 0;

	(void)state;
	causal_release_note(releases, 0x1000, 700, 1500);
	assert_true(causal_release_find(releases, 0x1000, wakee.since_ns, &taken));
	assert_int_equal(taken, 700);
	causal_hand_on(&wakee, (struct causal_clock){.taken_ns = taken}, 2000, 0);
	assert_int_equal(wakee.taken_ns, 700);
}

static void a_release_of_before_the_wait_or_of_another_object_is_not_taken(void **state)
{
	__u64 taken = 5;

	(void)state;
	causal_release_note(releases, 0x2000, 700, 1500);
	assert_false(causal_release_find(releases, 0x2000, 1501, &taken));
	assert_false(causal_release_find(releases, 0x2040, 1000, &taken));
	causal_release_place(releases, 0x2000)->turn |= 1; /* someone is writing */
	assert_false(causal_release_find(releases, 0x2000, 1000, &taken));
	causal_release_note(releases, 0x2000, 800, 1600); /* and nobody waits for him */
	assert_int_equal(causal_release_place(releases, 0x2000)->taken_ns, 700);
	assert_int_equal(taken, 5);
}

static void an_unknown_waker_forgives_what_was_bought_meanwhile(void **state)
{
	struct causal_account account = {.taken_ns = 100, .since_ns = 1};

	(void)state;
	causal_forgive(
		&account, 300, 500); /* owed 200 when it began to wait, and still owes them */
	assert_int_equal(causal_debt(&account, 500), 200);
	assert_int_equal(account.since_ns, 0);
	account.taken_ns = 450;
	causal_forgive(&account, 300, 500); /* never more than it owes */
	assert_int_equal(account.taken_ns, 500);
	causal_forgive(&account, 600, 500);
	assert_int_equal(account.taken_ns, 500);
}

/* ---- the layout ---- */

static void the_places_of_a_thread_are_all_different(void **state)
{
	(void)state;
	for (uint32_t tid = 1; tid < 5000000; tid = tid * 3 + 1)
		for (uint32_t i = 0; i < WIRE_CAUSAL_PROBES; i++) {
			assert_true(wire_causal_place(tid, i) < WIRE_CAUSAL_SEATS);
			for (uint32_t k = 0; k < i; k++)
				assert_int_not_equal(
					wire_causal_place(tid, i), wire_causal_place(tid, k));
		}
}

static bool seat_take(uint32_t *tids, uint32_t tid)
{
	for (uint32_t i = 0; i < WIRE_CAUSAL_PROBES; i++) {
		uint32_t *at = &tids[wire_causal_place(tid, i)];

		if (*at && *at != tid)
			continue;
		*at = tid;
		return true;
	}
	return false;
}

static void twelve_thousand_threads_find_a_seat_each(void **state)
{
	static uint32_t tids[WIRE_CAUSAL_SEATS];
	uint32_t tid = 400000, taken = 0;

	(void)state;
	/* Numbers in a row, then scattered ones as after a long uptime. */
	for (; taken < 6000; taken++)
		assert_true(seat_take(tids, tid++));
	for (; taken < 12000; taken++) {
		tid = tid * 1664525U + 1013904223U;
		assert_true(seat_take(tids, (tid >> 10) | 1));
	}
}

static void a_counter_begins_with_what_coz_knows(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct wire_causal_point, count), 0);
	assert_int_equal(offsetof(struct wire_causal_point, backoff), sizeof(size_t));
}

/* ---- the records ---- */

static void take(const struct wire_sink *sink, const struct wire_record *record)
{
	assert_int_equal(sink->take(sink->context, record), 0);
}

static void an_experiment_and_its_visits_become_rows(void **state)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	union {
		struct wire_target target;
		struct wire_progress point;
		unsigned char bytes[256];
	} space;
	struct wire_builder b =
		wire_begin(&space, sizeof(space), WIRE_TARGET, sizeof(space.target));
	struct wire_experiment experiment = {.head = {WIRE_EXPERIMENT, sizeof(experiment)},
		.target = 1,
		.speedup_permille = 250,
		.virtual_ns = 7};
	struct wire_visit visit = {.head = {WIRE_VISIT, sizeof(visit)}, .point = 1, .arrivals = 9};

	(void)state;
	space.target.line = 12;
	wire_add_text(&b, &space.target.name, "a.c:12");
	take(&sink, wire_end(&b));
	b = wire_begin(&space, sizeof(space), WIRE_PROGRESS, sizeof(space.point));
	wire_add_text(&b, &space.point.name, "tick");
	take(&sink, wire_end(&b));
	take(&sink, &experiment.head);
	take(&sink, &visit.head);
	assert_int_equal(ingest.malformed, 0);
	assert_string_equal(run_text(run, run->causal_targets.at[0].name), "a.c:12");
	assert_int_equal(run->experiments.at[0].virtual_ns, 7);
	assert_int_equal(run->visits.at[0].experiment, 1);
	assert_int_equal(run->visits.at[0].arrivals, 9);
}

static void an_experiment_on_nothing_is_refused(void **state)
{
	run_auto struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	struct wire_experiment experiment = {
		.head = {WIRE_EXPERIMENT, sizeof(experiment)}, .target = 1};
	struct wire_visit visit = {.head = {WIRE_VISIT, sizeof(visit)}, .point = 1};

	(void)state;
	take(&sink, &experiment.head);
	take(&sink, &visit.head);
	assert_int_equal(ingest.malformed, 2);
	assert_int_equal(run->experiments.count + run->visits.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hit_buys_delay_for_all_and_costs_its_thread_none),
		cmocka_unit_test(a_wait_longer_than_the_debt_forgives_it),
		cmocka_unit_test(a_shorter_wait_forgives_only_as_much_as_it_lasted),
		cmocka_unit_test(a_waker_with_a_debt_passes_it_on),
		cmocka_unit_test(a_pause_is_booked_from_its_sample_on),
		cmocka_unit_test(a_release_is_found_by_who_waited_for_it),
		cmocka_unit_test(a_release_of_before_the_wait_or_of_another_object_is_not_taken),
		cmocka_unit_test(an_unknown_waker_forgives_what_was_bought_meanwhile),
		cmocka_unit_test(the_places_of_a_thread_are_all_different),
		cmocka_unit_test(twelve_thousand_threads_find_a_seat_each),
		cmocka_unit_test(a_counter_begins_with_what_coz_knows),
		cmocka_unit_test(an_experiment_and_its_visits_become_rows),
		cmocka_unit_test(an_experiment_on_nothing_is_refused),
	};

	return cmocka_run_group_tests_name("causal", tests, NULL, NULL);
}
