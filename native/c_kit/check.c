#include "check.h"

#include "corpus.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_case *tests;
static const char *running;
static char which[256];

void test_register(test_case *test)
{
    test->next = tests;
    tests = test;
}

void check_case(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(which, sizeof which, format, values);
    va_end(values);
}

static void give_up(void)
{
    if (*which)
        fprintf(stderr, "  with %s\n", which);
    exit(1); /* the sanitizer's leak check would only complain about what the broken test left */
}

void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s: not so: %s\n", file, line, running, what);
    give_up();
}

void check_equal_failed(const char *file, int line, const char *what, long long is, long long should_be)
{
    fprintf(stderr, "%s:%d: %s: not so: %s: is %lld, should be %lld\n", file, line, running, what, is, should_be);
    give_up();
}

static void print_bytes(const char *label, const unsigned char *bytes, size_t length)
{
    size_t i;

    fprintf(stderr, "  %s (%zu):", label, length);
    for (i = 0; i < length; i++)
        fprintf(stderr, " %02x", bytes[i]);
    fprintf(stderr, "\n");
}

void check_bytes(const char *file, int line, const void *is, size_t is_length, const void *should_be, size_t length)
{
    if (is_length == length && (!length || !memcmp(is, should_be, length)))
        return;
    fprintf(stderr, "%s:%d: %s: other bytes\n", file, line, running);
    print_bytes("is", is, is_length);
    print_bytes("should be", should_be, length);
    give_up();
}

int main(int argc, char **argv)
{
    test_case *test;
    size_t count = 0;
    size_t replayed = 0;

    for (test = tests; test; test = test->next, count++) {
        running = test->name;
        *which = 0;
        test->run();
    }
    running = "corpus";
    if (argc > 1)
        replayed = run_corpus(argv[1]);
    printf("%zu tests passed, %zu inputs of the corpus replayed\n", count, replayed);
    return argc > 1 && !replayed; /* a corpus that is not found is a failure */
}
