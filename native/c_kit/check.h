/* A test is TEST(name) { ... CHECK(...); }; it registers itself. A check that
 * fails says where and with which values, and ends its test's run. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
} test_case;

void test_register(test_case *test);
void check_failed(const char *file, int line, const char *what);
void check_equal_failed(const char *file, int line, const char *what, long long is, long long should_be);
void check_bytes(const char *file, int line, const void *is, size_t is_length, const void *should_be, size_t length);
/* Shown with a failure: which of many cases it was. */
void check_case(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define TEST(name)                                                                                                     \
    static void name(void);                                                                                            \
    static test_case case_##name = {#name, name, NULL};                                                                \
    __attribute__((constructor)) static void register_##name(void)                                                     \
    {                                                                                                                  \
        test_register(&case_##name);                                                                                   \
    }                                                                                                                  \
    static void name(void)

#define CHECK(what) ((what) ? (void)0 : check_failed(__FILE__, __LINE__, #what))
#define CHECK_EQUAL(is, should_be)                                                                                     \
    do {                                                                                                               \
        long long is_ = (long long)(is), should_be_ = (long long)(should_be);                                          \
        if (is_ != should_be_)                                                                                         \
            check_equal_failed(__FILE__, __LINE__, #is " == " #should_be, is_, should_be_);                            \
    } while (0)
#define CHECK_BYTES(is, is_length, should_be, length) check_bytes(__FILE__, __LINE__, is, is_length, should_be, length)

#endif
