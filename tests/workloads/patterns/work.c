/* work.c - planted shapes of code that computes, sorts and locks. */
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>

#include "plants.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

WHOLE static void count_up(uint64_t *count)
{
	pthread_mutex_lock(&guard);
	++*count;
	pthread_mutex_unlock(&guard);
}

static void locks_one_thread(uint64_t rounds)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < rounds; i++)
		count_up(&count);
	plant_sum += count;
}

enum { ENTRIES = 1000 };

WHOLE static uint64_t table_search(const uint32_t *table, uint32_t wanted)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ENTRIES; i++)
		sum += table[i] == wanted ? 1 : i & 1;
	return sum;
}

WHOLE static uint64_t table_ask(const uint32_t *table, uint32_t wanted)
{
	uint64_t sum;

	pthread_mutex_lock(&guard);
	sum = table_search(table, wanted);
	pthread_mutex_unlock(&guard);
	return sum;
}

static void *ask_often(void *rounds)
{
	static uint32_t table[ENTRIES];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < *(const uint64_t *)rounds; i++)
		sum += table_ask(table, (uint32_t)i) + table_search(table, (uint32_t)i);
	__atomic_fetch_add((uint64_t *)&plant_sum, sum, __ATOMIC_RELAXED);
	return NULL;
}

static void lock_contended(uint64_t rounds)
{
	pthread_t other;

	if (pthread_create(&other, NULL, ask_often, &rounds) != 0)
		abort();
	ask_often(&rounds);
	pthread_join(other, NULL);
}

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

/* Nobody waits, but both write to the lock. */
WHOLE static uint64_t look_up(uint64_t key)
{
	uint64_t value;

	pthread_rwlock_rdlock(&shared);
	value = plant_sum ^ key;
	pthread_rwlock_unlock(&shared);
	return value;
}

static void *look_often(void *rounds)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < *(uint64_t *)rounds; i++)
		sum += look_up(i);
	__asm__ volatile("" : : "r"(sum));
	return NULL;
}

static void lock_shared(uint64_t rounds)
{
	pthread_t other;

	if (pthread_create(&other, NULL, look_often, &rounds) != 0)
		abort();
	look_often(&rounds);
	pthread_join(other, NULL);
}

WHOLE static double draw(void)
{
	return rand() / (double)RAND_MAX; // NOLINT(cert-msc30-c,cert-msc50-cpp): the pattern
}

static void rand_lock(uint64_t rounds)
{
	double sum = 0;

	for (uint64_t i = 0; i < rounds; i++)
		sum += draw();
	plant_sum += (uint64_t)sum;
}

enum { NUMBERS = 4000 };

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

WHOLE static void numbers_insert(uint32_t *numbers, uint64_t i)
{
	numbers[i % NUMBERS] = (uint32_t)(i * 2654435761u);
	qsort(numbers, NUMBERS, sizeof(*numbers), by_value);
}

WHOLE static uint64_t numbers_use(const uint32_t *numbers, uint64_t i)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < 60000; k++)
		sum = sum * 31 + numbers[(i + k) % NUMBERS];
	return sum;
}

static void sort_again(uint64_t rounds)
{
	static uint32_t numbers[NUMBERS];

	for (uint64_t i = 0; i < rounds; i++) {
		numbers_insert(numbers, i);
		plant_sum += numbers_use(numbers, i);
	}
}

WHOLE static uint64_t scale(uint64_t value, uint64_t by, uint64_t over)
{
	return (uint64_t)((unsigned __int128)value * by / over);
}

static void wide_division(uint64_t rounds)
{
	for (uint64_t i = 1; i < rounds; i++)
		plant_sum += scale(i << 40, i * 77777777, i + 1000000007);
}

WHOLE static double energy(const double *speeds, unsigned count, double power)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += pow(speeds[i], power);
	return sum;
}

static void pow_calls(uint64_t rounds)
{
	static double speeds[1000];

	for (unsigned i = 0; i < 1000; i++)
		speeds[i] = 1 + i / 100.0;
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)energy(speeds, 1000, 3);
}

WHOLE static int64_t price_of(sqlite3 *db, int id)
{
	sqlite3_stmt *statement = NULL;
	int64_t price;

	sqlite3_prepare_v2(db, "SELECT price FROM item WHERE id = ?", -1, &statement, NULL);
	sqlite3_bind_int(statement, 1, id);
	price = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return price;
}

static void prepare_again(uint64_t rounds)
{
	sqlite3 *db = NULL;

	sqlite3_open(":memory:", &db);
	sqlite3_exec(db,
		"CREATE TABLE item (id INTEGER PRIMARY KEY, price);"
		"INSERT INTO item VALUES (1, 10), (2, 20), (3, 30)",
		NULL, NULL, NULL);
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)price_of(db, (int)(i % 3) + 1);
	sqlite3_close(db);
}

int main(int argc, char **argv)
{
	static const struct plant plants[] = {
		{"locks_one_thread", locks_one_thread, 16666666},
		{"lock_contended", lock_contended, 150000},
		{"lock_shared", lock_shared, 6000000},
		{"rand_lock", rand_lock, 20000000},
		{"sort_again", sort_again, 1000},
		{"wide_division", wide_division, 13333333},
		{"pow_calls", pow_calls, 13333},
		{"prepare_again", prepare_again, 26666},
	};

	return plants_main(plants, sizeof(plants) / sizeof(*plants), argc, argv);
}
