/* main.c: options, background, privileges, run. */
int
main(void)
{
	return 0;
}
