/* wordcount.c - count the words of a text: a small program to try assay on.
 *
 * Without a file it writes itself a text of 2,000,000 words, the same one every time: short words
 * are common, long ones rare.  Words go into a hash table with chains, so the time is split between
 * making the text, walking chains and comparing strings.
 *
 *     wordcount [FILE]
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 12, GENERATED_WORDS = 2000000, LONGEST = 63 };

struct word {
	struct word *next;
	unsigned count;
	char text[];
};

static struct word *buckets[BUCKETS];

static unsigned hash_of(const char *text)
{
	unsigned hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash % BUCKETS;
}

static void count_word(const char *text)
{
	struct word **bucket = &buckets[hash_of(text)], *word;

	for (word = *bucket; word; word = word->next)
		if (strcmp(word->text, text) == 0) {
			word->count++;
			return;
		}
	word = malloc(sizeof(*word) + strlen(text) + 1);
	if (!word) {
		perror("wordcount");
		exit(1);
	}
	strcpy(word->text, text);
	word->count = 1;
	word->next = *bucket;
	*bucket = word;
}

static void count_generated(void)
{
	unsigned long long state = 1;
	char text[LONGEST + 1];

	for (unsigned i = 0; i < GENERATED_WORDS; i++) {
		unsigned len = 1;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		for (unsigned long long bits = state >> 33; (bits & 3) != 0 && len < 8; bits >>= 2)
			len++;
		for (unsigned c = 0; c < len; c++)
			text[c] = (char)('a' + ((state >> (40 + 2 * c)) & 3));
		text[len] = '\0';
		count_word(text);
	}
}

static void count_file(FILE *file)
{
	char text[LONGEST + 1];
	size_t len = 0;
	int c;

	do {
		c = getc(file);
		if (c != EOF && isalnum(c) && len < LONGEST)
			text[len++] = (char)tolower(c);
		else if (len && (c == EOF || !isalnum(c))) {
			text[len] = '\0';
			count_word(text);
			len = 0;
		}
	} while (c != EOF);
}

static void print_result(void)
{
	const struct word *most = NULL;
	unsigned words = 0, different = 0;

	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct word *word = buckets[i]; word; word = word->next) {
			words += word->count;
			different++;
			if (!most || word->count > most->count)
				most = word;
		}
	printf("%u words, %u different", words, different);
	if (most)
		printf(", most often '%s' (%u times)", most->text, most->count);
	putchar('\n');
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;

	if (argc > 1 && !file) {
		perror(argv[1]);
		return 1;
	}
	if (file)
		count_file(file);
	else
		count_generated();
	print_result();
	return 0;
}
