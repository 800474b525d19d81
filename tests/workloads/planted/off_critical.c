/* off_critical.c - the hottest function is off the critical path.
 *
 *     off_critical [ROUNDS]
 *
 * Planted: each round has a chain of three stages that wait for each other, parse() in one thread,
 * then order() and answer() in another: 2 + 4 + 2 units, and audit(), 5 units, in a third thread
 * beside them.  The round ends when both are done, so audit() waits 3 of 8 units.
 * First answer: order() [mark: ORDER].  A CPU profile puts audit() first (5 of 13 units, order() 4)
 * and half of audit() gains nothing, while half of order() gains 2 of 8 units: 25 %.  Making audit()
 * faster never shortens a round; that is what causal experiments see and samples do not. */
#include <pthread.h>

#include "assay.h"
#include "planted.h"

enum { UNIT = 60000 }; /* steps: about 0.1 ms */

static pthread_barrier_t begin, half, end;
static uint64_t rounds, request, parsed, answer_sum, audit_sum;

__attribute__((noinline)) static uint64_t parse(uint64_t x)
{
	return churn_numbers(x, 2 * UNIT);
}

__attribute__((noinline)) static uint64_t order(uint64_t x)
{
	return churn_numbers(x ^ 1, 4 * UNIT); /* ORDER: the first answer */
}

__attribute__((noinline)) static uint64_t answer(uint64_t x)
{
	return churn_numbers(x ^ 2, 2 * UNIT);
}

__attribute__((noinline)) static uint64_t audit(uint64_t x)
{
	return churn_numbers(x ^ 3, 5 * UNIT); /* AUDIT: hot, and not worth touching */
}

static void *parser(void *unused)
{
	for (uint64_t i = 0; i < rounds; i++) {
		pthread_barrier_wait(&begin);
		parsed = parse(request);
		pthread_barrier_wait(&half);
		pthread_barrier_wait(&end);
	}
	return unused;
}

static void *auditor(void *unused)
{
	for (uint64_t i = 0; i < rounds; i++) {
		pthread_barrier_wait(&begin);
		audit_sum ^= audit(request);
		pthread_barrier_wait(&end);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	rounds = count_of(argc, argv, 2500);
	pthread_barrier_init(&begin, NULL, 3);
	pthread_barrier_init(&half, NULL, 2);
	pthread_barrier_init(&end, NULL, 3);
	pthread_create(&threads[0], NULL, parser, NULL);
	pthread_create(&threads[1], NULL, auditor, NULL);
	for (uint64_t i = 0; i < rounds; i++) {
		request = i;
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&half);
		answer_sum += answer(order(parsed));
		pthread_barrier_wait(&end);
		ASSAY_PROGRESS_NAMED("round");
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return tell("off_critical", rounds, answer_sum ^ audit_sum);
}
