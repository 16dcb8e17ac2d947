/* A shared library that is no engine. */
int answer(void) { return 42; }
