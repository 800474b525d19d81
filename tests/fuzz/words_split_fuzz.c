/* words_split_fuzz.c - any text as a command line: the words, quoted again, give the same words. */
#include <stdint.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto struct arena arena = {0};
	str_auto struct str line = {0};
	const char *text = arena_text(&arena, (const char *)data, size);
	char **words, **again;
	size_t count, count_again;
	struct err err = {0};

	(void)words_need_shell(text);
	if (words_split(text, &arena, &words, &count, &err) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		word_quote(words[i], &line);
		str_add_char(&line, ' ');
	}
	if (words_split(str_text(&line), &arena, &again, &count_again, &err) < 0 ||
		count != count_again)
		abort();
	for (size_t i = 0; i < count; i++)
		if (!str_equal(words[i], again[i]))
			abort();
	return 0;
}
