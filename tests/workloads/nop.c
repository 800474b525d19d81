/* nop.c - does nothing: what is left is the cost of being measured. */
int main(void)
{
	return 0;
}
