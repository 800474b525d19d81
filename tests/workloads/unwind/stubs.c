/* stubs.c - the PLT, bound lazily: stubs, the resolver, and calls through bound stubs. */
#include <stdlib.h>
#include <string.h>

#include "witness.h"

static volatile size_t sum;

static OUT_OF_LINE void call(const char *text)
{
	sum += strlen(text);
	sum += (size_t)atoi(text);
	sum += (size_t)abs((int)sum);
	BARRIER();
}

static int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

int main(int argc, char **argv)
{
	char text[] = "5342";

	(void)argv;
	witness_begin();
	for (int i = 0; i < 4; i++) {
		call(argc > 1 ? "1" : "12");
		qsort(text, 4, 1, compare);
	}
	witness_end();
	return witness_report(6);
}
