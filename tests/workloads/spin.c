/* spin.c - counts to N millions.  `spin MILLIONS`. */
#include <stdlib.h>

int main(int argc, char **argv)
{
	unsigned long millions = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

	for (volatile unsigned long i = 0; i < millions * 1000000; i++)
		;
	return 0;
}
