/* laws.c - loops as often as a law says.  `laws LAW N`, LAW one of 1, log, n, nlog, n2, n3.  The
 * factors make each law count to about 50 millions at N = 1000: 16 ms on the fastest CPU so far. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double iterations(const char *law, double n)
{
	if (!strcmp(law, "1"))
		return 25e6;
	if (!strcmp(law, "log"))
		return 5e6 * log2(n);
	if (!strcmp(law, "n"))
		return 5e4 * n;
	if (!strcmp(law, "nlog"))
		return 5e3 * n * log2(n);
	if (!strcmp(law, "n2"))
		return 50 * n * n;
	return n * n * n / 20;
}

int main(int argc, char **argv)
{
	unsigned long count;

	if (argc != 3) {
		fputs("usage: laws 1|log|n|nlog|n2|n3 N\n", stderr);
		return 2;
	}
	count = (unsigned long)iterations(argv[1], strtod(argv[2], NULL));
	for (volatile unsigned long i = 0; i < count; i++)
		;
	return 0;
}
