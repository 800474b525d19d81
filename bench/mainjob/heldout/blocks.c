/* blocks.c - clean: a product of matrices in blocks that stay in the first cache.
 *
 *     blocks [ROUNDS]
 *
 * Nothing is planted: multiply_block() does all the work, with one vector per column of its block,
 * and what it reads is near.  The place is the answer. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 384, B = 32 };

static float a[N][N], b[N][N], c[N][N];

static void multiply_block(int i0, int j0, int k0)
{
	for (int i = i0; i < i0 + B; i++)
		for (int k = k0; k < k0 + B; k++)
			for (int j = j0; j < j0 + B; j++)
				c[i][j] += a[i][k] * b[k][j];
}

static void multiply(void)
{
	for (int i = 0; i < N; i += B)
		for (int k = 0; k < N; k += B)
			for (int j = 0; j < N; j += B)
				multiply_block(i, j, k);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 500;
	double sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (float)((i * 7 + j) % 13) / 1000;
			b[i][j] = (float)((i + j * 5) % 11) / 1000;
		}
	for (long i = 0; i < rounds; i++)
		multiply();
	for (int i = 0; i < N; i++)
		sum += (double)c[i][i];
	printf("%ld rounds, trace %.3f\n", rounds, sum);
	return 0;
}
