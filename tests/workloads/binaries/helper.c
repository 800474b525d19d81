/* helper.c - the C part of a program that is mostly C++. */
int helper(int value);

int helper(int value)
{
	return value + 2;
}
