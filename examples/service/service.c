/* service.c - a small service with a bottleneck that a CPU profile does not show.
 *
 *     service [REQUESTS]      (2500)
 *
 * A client sends requests of 20000 bookings and waits for each answer; a worker parses them and
 * posts them to accounts, a writer makes the answer, and an archiver takes a digest of all that
 * came in, beside them.  README.md tells where its time goes.  The same words are printed each
 * time. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay.h"

enum { BOOKINGS = 20000, ACCOUNTS = 180, NUMBERS = 65536, SLOTS = 4, TEXT_BYTES = BOOKINGS * 16 };

struct booking {
	uint32_t number, amount;
	uint64_t balance; /* of the account, after it */
};

static struct slot {
	char request[TEXT_BYTES], answer[BOOKINGS * 32];
	size_t request_len, answer_len;
	struct booking bookings[BOOKINGS];
} slots[SLOTS];

static struct account {
	uint32_t number;
	uint64_t balance;
} accounts[ACCOUNTS];

/* How many requests have passed a stage; others wait for it. */
struct stage {
	pthread_mutex_t mutex;
	pthread_cond_t passed;
	uint64_t count;
};
#define STAGE                                                                                      \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0                             \
	}
static struct stage sent = STAGE, posted = STAGE, answered = STAGE, archived = STAGE;
static uint64_t requests = 2500, answer_sum, archive_digest, digest_table[16];

static void stage_wait(struct stage *stage, uint64_t request)
{
	pthread_mutex_lock(&stage->mutex);
	while (stage->count <= request)
		pthread_cond_wait(&stage->passed, &stage->mutex);
	pthread_mutex_unlock(&stage->mutex);
}

static void stage_pass(struct stage *stage)
{
	pthread_mutex_lock(&stage->mutex);
	stage->count++;
	pthread_cond_broadcast(&stage->passed);
	pthread_mutex_unlock(&stage->mutex);
}

__attribute__((noinline)) static void make_request(struct slot *slot, uint64_t seed)
{
	char *at = slot->request;

	for (unsigned i = 0; i < BOOKINGS; i++, at += 10) { /* "00042 199\n" */
		uint32_t number, amount;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		number = accounts[(seed >> 33) % ACCOUNTS].number;
		amount = (uint32_t)(seed >> 40) % 1000;
		for (int digit = 4; digit >= 0; digit--, number /= 10)
			at[digit] = (char)('0' + number % 10);
		for (int digit = 8; digit >= 6; digit--, amount /= 10)
			at[digit] = (char)('0' + amount % 10);
		at[5] = ' ';
		at[9] = '\n';
	}
	slot->request_len = (size_t)(at - slot->request);
}

__attribute__((noinline)) static void parse_request(struct slot *slot)
{
	const char *at = slot->request;

	for (unsigned i = 0; i < BOOKINGS; i++) {
		struct booking *booking = &slot->bookings[i];

		*booking = (struct booking){0};
		for (; *at != ' '; at++)
			booking->number = booking->number * 10 + (uint32_t)(*at - '0');
		for (at++; *at != '\n'; at++)
			booking->amount = booking->amount * 10 + (uint32_t)(*at - '0');
		at++;
	}
}

__attribute__((noinline)) static void post_bookings(struct slot *slot)
{
	for (unsigned i = 0; i < BOOKINGS; i++) {
		struct booking *booking = &slot->bookings[i];
		struct account *account = accounts;

		while (account->number != booking->number)
			account++;
		account->balance += booking->amount;
		booking->balance = account->balance;
	}
}

static inline char *put_number(char *at, uint64_t value, char behind)
{
	char digits[20];
	int count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	while (count)
		*at++ = digits[--count];
	*at++ = behind;
	return at;
}

__attribute__((noinline)) static void make_answer(struct slot *slot)
{
	char *at = slot->answer;

	for (unsigned i = 0; i < BOOKINGS; i++) {
		at = put_number(at, i, ' ');
		at = put_number(at, slot->bookings[i].number, ' ');
		at = put_number(at, slot->bookings[i].amount, ' ');
		at = put_number(at, slot->bookings[i].balance, '\n');
	}
	slot->answer_len = (size_t)(at - slot->answer);
}

/* The check sum of xz, four bits at a time. */
__attribute__((noinline)) static uint64_t take_digest(const char *text, size_t len, uint64_t crc)
{
	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)text[i];
		crc = crc >> 4 ^ digest_table[crc & 15];
		crc = crc >> 4 ^ digest_table[crc & 15];
	}
	return crc;
}

/* The archiver has the last CPU to itself, the others share the rest: a request is never kept
 * waiting by its digest. */
static void choose_cpus(int is_archiver)
{
	cpu_set_t allowed, chosen;
	int last = -1;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		last = CPU_ISSET(cpu, &allowed) ? cpu : last;
	if (last < 0 || CPU_COUNT(&allowed) < 2)
		return;
	CPU_ZERO(&chosen);
	CPU_SET(last, &chosen);
	if (!is_archiver)
		CPU_XOR(&chosen, &chosen, &allowed);
	pthread_setaffinity_np(pthread_self(), sizeof(chosen), &chosen);
}

static void *worker(void *unused)
{
	choose_cpus(0);
	for (uint64_t i = 0; i < requests; i++) {
		stage_wait(&sent, i);
		parse_request(&slots[i % SLOTS]);
		post_bookings(&slots[i % SLOTS]);
		stage_pass(&posted);
	}
	return unused;
}

static void *writer(void *unused)
{
	choose_cpus(0);
	for (uint64_t i = 0; i < requests; i++) {
		struct slot *slot = &slots[i % SLOTS];

		stage_wait(&posted, i);
		make_answer(slot);
		answer_sum = answer_sum * 31 + slot->answer_len + (uint64_t)slot->answer[i % 1000];
		if (i % 500 == 499)
			printf("%llu requests answered, sum %016llx\n", (unsigned long long)i + 1,
				(unsigned long long)answer_sum);
		stage_pass(&answered);
	}
	return unused;
}

static void *archiver(void *unused)
{
	choose_cpus(1);
	for (uint64_t i = 0; i < requests; i++) {
		struct slot *slot = &slots[i % SLOTS];

		stage_wait(&sent, i);
		archive_digest = take_digest(slot->request, slot->request_len, archive_digest);
		stage_pass(&archived);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	if (argc > 1 && (requests = strtoull(argv[1], NULL, 10)) == 0) {
		fprintf(stderr, "usage: service [REQUESTS]\n");
		return 2;
	}
	for (uint32_t i = 0; i < ACCOUNTS; i++)
		accounts[i].number = (i + 1) * 7919 % NUMBERS;
	for (uint64_t i = 0; i < 16; i++) {
		digest_table[i] = i;
		for (unsigned bit = 0; bit < 4; bit++)
			digest_table[i] = digest_table[i] >> 1 ^
					  (0xc96c5795d7870f42u & -(digest_table[i] & 1));
	}
	pthread_create(&threads[0], NULL, worker, NULL);
	pthread_create(&threads[1], NULL, writer, NULL);
	pthread_create(&threads[2], NULL, archiver, NULL);
	choose_cpus(0);
	for (uint64_t i = 0; i < requests; i++) {
		if (i >= SLOTS)
			stage_wait(&archived, i - SLOTS);
		make_request(&slots[i % SLOTS], i);
		stage_pass(&sent);
		stage_wait(&answered, i);
		ASSAY_PROGRESS_NAMED("request");
	}
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("archive digest %016llx\n", (unsigned long long)archive_digest);
	return 0;
}
