/* algorithm.c - programs whose calls and loops are known exactly.
 *
 *     algorithm search ENTRIES TIMES   a linear search: ENTRIES / 2 trips, called TIMES times
 *     algorithm append TIMES           a text that grows by its end, looked for from its start
 *     algorithm unique FILE            distinct lines: each line is compared with those before it
 *     algorithm sum FILE TIMES         each byte of the file TIMES times: linear
 *     algorithm later ENTRIES TIMES    the same search, after 60 million rounds of another loop
 *
 * FILE "-" is stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../whole.h"

enum { LINE_MOST = 64 }; /* so short that the lines stay in a cache */

WHOLE static int find(const int *table, int count, int key)
{
	for (int i = 0; i < count; i++)
		if (table[i] == key)
			return i;
	return -1;
}

static int search(int entries, int times)
{
	int *table = malloc((size_t)entries * sizeof(*table));
	long sum = 0;

	for (int i = 0; i < entries; i++)
		table[i] = i;
	for (int i = 0; i < times; i++)
		sum += find(table, entries, entries / 2 - 1);
	free(table);
	printf("%ld\n", sum);
	return 0;
}

WHOLE static unsigned long begin(unsigned long rounds)
{
	unsigned long x = rounds;

	while (rounds--)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	return x;
}

WHOLE static char *text_end(char *text)
{
	while (*text)
		text++;
	return text;
}

static int append(int times)
{
	char *text = calloc((size_t)times + 1, 1);

	for (int i = 0; i < times; i++)
		*text_end(text) = 'x';
	printf("%zu\n", strlen(text));
	free(text);
	return 0;
}

struct lines {
	char (*at)[LINE_MOST];
	int count, room;
};

WHOLE static int is_known(const struct lines *lines, const char *line)
{
	for (int i = 0; i < lines->count; i++)
		if (lines->at[i][0] == line[0] && !strcmp(lines->at[i], line))
			return 1;
	return 0;
}

static int unique(FILE *file)
{
	struct lines lines = {0};
	char line[LINE_MOST];

	while (fgets(line, sizeof(line), file)) {
		if (is_known(&lines, line))
			continue;
		if (lines.count == lines.room) {
			lines.room = lines.room ? 2 * lines.room : 1024;
			lines.at = realloc(lines.at, (size_t)lines.room * sizeof(*lines.at));
		}
		memcpy(lines.at[lines.count++], line, sizeof(line));
	}
	printf("%d\n", lines.count);
	free(lines.at);
	return 0;
}

WHOLE static unsigned long mix(const char *line, int times)
{
	unsigned long sum = 5381;

	for (int i = 0; i < times; i++)
		for (const char *c = line; *c; c++)
			sum = sum * 33 + (unsigned char)*c;
	return sum;
}

static int sum(FILE *file, int times)
{
	char line[LINE_MOST];
	unsigned long sum = 0;

	while (fgets(line, sizeof(line), file))
		sum += mix(line, times);
	printf("%lu\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	FILE *file = argc < 3 || !strcmp(argv[2], "-") ? stdin : fopen(argv[2], "r");

	if (argc == 4 && !strcmp(what, "later") && !begin(60000000))
		return 3; /* never: it has to be computed */
	if (argc == 4 && (!strcmp(what, "search") || !strcmp(what, "later")))
		return search(atoi(argv[2]), atoi(argv[3]));
	if (argc == 3 && !strcmp(what, "append"))
		return append(atoi(argv[2]));
	if (file && !strcmp(what, "unique"))
		return unique(file);
	if (file && argc == 4 && !strcmp(what, "sum"))
		return sum(file, atoi(argv[3]));
	return 2;
}
