/* Tells a process that it is the first one of a container. */

int getpid(void)
{
    return 1;
}
