/* lookup.c - small system calls: questions to a sorted table in a file.
 *
 * Planted: each step of the search in find_record() is a pread() of the eight bytes of one key, by
 * read_key(): seventeen calls for a question.  The file mapped, or its keys kept, has none.
 * Right: read_key(), find_record(), or the C library's pread() below them.  Wrong: make_table(). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORDS = 1 << 17, QUESTIONS = 260000 };

struct record {
	uint64_t key;
	char name[24];
	uint64_t price, stock, sold, rest;
};

static struct record *table;

static int make_table(void)
{
	char path[] = "/tmp/lookup-XXXXXX";
	int file = mkstemp(path);

	table = calloc(RECORDS, sizeof(*table));
	if (file < 0 || !table)
		return -1;
	unlink(path);
	for (uint64_t i = 0; i < RECORDS; i++) {
		table[i].key = i * 12 + i % 5;
		snprintf(table[i].name, sizeof(table[i].name), "article %llu",
			(unsigned long long)(i * 7919 % RECORDS));
		table[i].price = 100 + i % 977;
		table[i].stock = i % 41;
	}
	for (size_t done = 0, all = RECORDS * sizeof(*table); done < all;) {
		ssize_t written = write(file, (char *)table + done, all - done);

		if (written <= 0)
			return -1;
		done += (size_t)written;
	}
	return file;
}

__attribute__((noinline)) static uint64_t read_key(int file, size_t number)
{
#ifdef WITHOUT
	(void)file;
	return table[number].key;
#else
	uint64_t key;

	if (pread(file, &key, sizeof(key), (off_t)(number * sizeof(struct record))) != sizeof(key))
		abort();
	return key;
#endif
}

/* The last record whose key is not above `key`. */
__attribute__((noinline)) static size_t find_record(int file, uint64_t key)
{
	size_t from = 0, to = RECORDS;

	while (to - from > 1) {
		size_t half = from + (to - from) / 2;

		if (read_key(file, half) <= key)
			from = half;
		else
			to = half;
	}
	return from;
}

/* What is printed on a label: its name, folded, and its price with the digits of a check. */
__attribute__((noinline)) static uint64_t make_label(const struct record *record)
{
	char label[64];
	int length = snprintf(label, sizeof(label), "%-23s %6llu.%02llu", record->name,
		(unsigned long long)record->price, (unsigned long long)record->stock);
	uint64_t check = 5381;

	for (int i = 0; i < length; i++)
		check = check * 33 ^ (unsigned char)label[i];
	return check;
}

int main(void)
{
	uint64_t random = 1, sum = 0;
	int file = make_table();

	if (file < 0) {
		perror("lookup");
		return 1;
	}
	for (int i = 0; i < QUESTIONS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		struct record record;
		size_t number = find_record(file, (random >> 33) % (RECORDS * 12));
		if (pread(file, &record, sizeof(record), (off_t)(number * sizeof(record))) !=
			sizeof(record))
			return 1;
		sum += make_label(&record);
	}
	printf("%d questions, %016llx\n", QUESTIONS, (unsigned long long)sum);
	free(table);
	close(file);
	return 0;
}
