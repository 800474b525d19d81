/* text.c - planted shapes of code that works on text with the C library. */
#include <ctype.h>
#include <iconv.h>
#include <locale.h>
#include <regex.h>
#include <time.h>
#include <wchar.h>

#include "plants.h"

enum { LINE = 20000 };

WHOLE static void join_words(char *out, const char *word, uint64_t words)
{
	*out = '\0';
	for (uint64_t i = 0; i < words; i++)
		strcat(out, word);
}

static void strcat_again(uint64_t rounds)
{
	static char out[50000];

	for (uint64_t i = 0; i < rounds; i++) {
		join_words(out, "word ", 8000);
		plant_sum += (unsigned char)out[i % 100];
	}
}

WHOLE static void keep_name(char *field, const char *name, size_t size)
{
	strncpy(field, name, size);
}

static void strncpy_pads(uint64_t rounds)
{
	static char field[8192];

	for (uint64_t i = 0; i < rounds; i++) {
		keep_name(field, i % 2 ? "odd" : "even", sizeof(field));
		plant_sum += (unsigned char)field[i % 3];
	}
}

WHOLE static uint64_t count_blanks(const char *line)
{
	uint64_t blanks = 0;

	for (size_t i = 0; i < strlen(line); i++) {
		blanks += line[i] == ' ';
		__asm__ volatile("" : : "r"(line) : "memory"); /* it may have changed */
	}
	return blanks;
}

static void strlen_again(uint64_t rounds)
{
	static char line[LINE + 1];

	memset(line, ' ', LINE);
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += count_blanks(line);
}

WHOLE static uint64_t sum_numbers(const char *text)
{
	uint64_t sum = 0;
	unsigned number;
	int used;

	while (sscanf(text, "%u%n", &number, &used) == 1) {
		sum += number;
		text += used;
	}
	return sum;
}

static void sscanf_long(uint64_t rounds)
{
	static char text[300000];
	size_t len = 0;

	while (len < sizeof(text) - 10)
		len += (size_t)sprintf(text + len, "%zu ", len % 997);
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += sum_numbers(text);
}

static char keys[20000][24];

static void keys_make(const char *format)
{
	for (unsigned i = 0; i < 20000; i++)
		snprintf(keys[i], sizeof(keys[i]), format, i);
}

WHOLE static unsigned find_key(const char *key, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(keys[i], key) == 0)
			return i;
	return 0;
}

static void compare_search(uint64_t rounds)
{
	keys_make("settings/%u");
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += find_key(keys[i * 7919 % 20000], 20000);
}

/* Every key has the same hash: the sum of its letters. */
WHOLE static unsigned hash_lookup(const char *key)
{
	unsigned slot = 0;

	for (const char *at = key; *at; at++)
		slot += (unsigned char)*at & 0;
	while (strcmp(keys[slot], key) != 0)
		slot++;
	return slot;
}

static void hash_probe(uint64_t rounds)
{
	keys_make("%u/settings");
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += hash_lookup(keys[i * 7919 % 20000]);
}

WHOLE static size_t write_row(char *out, size_t size, unsigned id, double value)
{
	return (size_t)snprintf(out, size, "%u,%08x,%.3f", id, id * 17, value);
}

static void format_again(uint64_t rounds)
{
	char row[100];

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += write_row(row, sizeof(row), (unsigned)i, (double)i / 7);
}

WHOLE static void lower_all(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(tolower)((unsigned char)text[i]);
}

static void ctype_calls(uint64_t rounds)
{
	static char text[LINE];

	memset(text, 'A', LINE);
	for (uint64_t i = 0; i < rounds; i++)
		lower_all(text, LINE);
	plant_sum += (unsigned char)text[0];
}

WHOLE static uint64_t count_wide(const char *text, size_t len)
{
	mbstate_t state = {0};
	uint64_t count = 0;
	wchar_t wide;

	for (size_t i = 0; i < len; count++)
		i += mbrtowc(&wide, text + i, len - i, &state);
	return count;
}

static void multibyte_calls(uint64_t rounds)
{
	static char text[LINE];

	setlocale(LC_ALL, "C.UTF-8");
	memset(text, 'a', LINE);
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += count_wide(text, LINE);
}

WHOLE static size_t convert_name(char *name, size_t len)
{
	char out[100], *to = out;
	size_t room = sizeof(out);
	iconv_t converter = iconv_open("UTF-8", "UTF-16LE");

	iconv(converter, &name, &len, &to, &room);
	iconv_close(converter);
	return room;
}

static void iconv_again(uint64_t rounds)
{
	char name[] = "n\0a\0m\0e\0";

	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += convert_name(name, 8);
}

WHOLE static int is_verbose(void)
{
	return getenv("PLANTS_VERBOSE_OUTPUT") != NULL;
}

static void getenv_again(uint64_t rounds)
{
	char name[40];

	for (unsigned i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "PLANTS_VARIABLE_%u", i);
		setenv(name, "1", 1);
	}
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)is_verbose();
}

WHOLE static int hour_of(time_t when)
{
	return localtime(&when)->tm_hour;
}

static void timezone_again(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)hour_of((time_t)(1700000000 + 60 * i));
}

WHOLE static int is_number(const char *text)
{
	regex_t number;
	int matches;

	regcomp(&number, "^[-+]?[0-9]+([.][0-9]+)?$", REG_EXTENDED | REG_NOSUB);
	matches = regexec(&number, text, 0, NULL, 0) == 0;
	regfree(&number);
	return matches;
}

static void regex_compile_again(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += (uint64_t)is_number(i % 2 ? "12.5" : "x");
}

WHOLE static uint64_t first_letter(const char *line)
{
	char *copy = strdup(line);
	uint64_t letter = (unsigned char)*copy;

	free(copy);
	return letter;
}

static void strdup_again(uint64_t rounds)
{
	static char line[1000];

	memset(line, 'x', sizeof(line) - 1);
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += first_letter(line);
}

WHOLE static uint64_t count_dates(const regex_t *date, const char *text)
{
	uint64_t dates = 0;
	regmatch_t at;

	for (; regexec(date, text, 1, &at, 0) == 0; text += at.rm_eo)
		dates++;
	return dates;
}

static void regex_match(uint64_t rounds)
{
	static char text[4001];
	regex_t date;

	memset(text, '1', sizeof(text) - 1); /* a date may begin anywhere */
	text[3004] = text[3007] = '-';
	if (regcomp(&date, "[0-9]{4}-[0-9]{2}-[0-9]{2}", REG_EXTENDED) != 0)
		return;
	for (uint64_t i = 0; i < rounds; i++)
		plant_sum += count_dates(&date, text);
	regfree(&date);
}

int main(int argc, char **argv)
{
	static const struct plant plants[] = {
		{"strcat_again", strcat_again, 99},
		{"strncpy_pads", strncpy_pads, 2000000},
		{"strlen_again", strlen_again, 50},
		{"sscanf_long", sscanf_long, 1},
		{"compare_search", compare_search, 5000},
		{"hash_probe", hash_probe, 3333},
		{"format_again", format_again, 666666},
		{"ctype_calls", ctype_calls, 13333},
		{"multibyte_calls", multibyte_calls, 416},
		{"iconv_again", iconv_again, 166665},
		{"getenv_again", getenv_again, 499999},
		{"timezone_again", timezone_again, 200000},
		{"regex_compile_again", regex_compile_again, 16666},
		{"regex_match", regex_match, 1600},
		{"strdup_again", strdup_again, 3333333},
	};

	return plants_main(plants, sizeof(plants) / sizeof(*plants), argc, argv);
}
