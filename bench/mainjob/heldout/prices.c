/* prices.c - quadratic: a list of prices read with sscanf() from one long text.
 *
 *     prices [PRICES]
 *
 * Planted: sscanf() looks for the end of its text at every call, so each price walks over all that
 * are left.  strtoul() in its place makes it linear.  The time is in strlen() of the C library; the
 * line to change is the one of read_prices() that calls sscanf(). Right: strlen() or read_prices().
 * No explanation of the ledger is true of it but one hot function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *make_text(long prices)
{
	char *text = malloc((size_t)prices * 12 + 1), *at = text;

	for (long i = 0; i < prices; i++)
		at += sprintf(at, "%ld;", 1000 + i * 7919 % 1000003);
	return text;
}

static unsigned long read_prices(const char *text, long prices)
{
	unsigned long sum = 0;
	unsigned price;
	int used;

	for (long i = 0; i < prices; i++) {
		if (sscanf(text, "%u;%n", &price, &used) != 1)
			break;
		sum += price;
		text += used;
	}
	return sum;
}

int main(int argc, char **argv)
{
	long prices = argc > 1 ? atol(argv[1]) : 330000;
	char *text = make_text(prices);

	printf("%ld prices, sum %lu\n", prices, read_prices(text, prices));
	free(text);
	return 0;
}
