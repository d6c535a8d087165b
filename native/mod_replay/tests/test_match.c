#include "check.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

static replay_text text_of(const char *string)
{
    replay_text text = {string, strlen(string)};
    return text;
}

/* What is left of a target; ends with NUL. */
static const char *strip(const char *target)
{
    static char room[512];
    room[replay_strip(text_of(target), room)] = 0;
    return room;
}

static void strips(const char *target, const char *left)
{
    const char *is = strip(target);
    check_case("%s", target);
    CHECK_BYTES(is, strlen(is), left, strlen(left));
}

TEST(strips_what_keeps_caches_from_answering)
{
    strips("/x", "/x");
    strips("/x?", "/x");
    strips("/x?a=1", "/x?a=1");
    strips("/x?a=1&_=17&b=2", "/x?a=1&b=2");
    strips("/x?CB=hello", "/x");
    strips("/x?Cache_Buster=1&&a", "/x?a");
    strips("/x?1353586800", "/x");
    strips("/x?v=1353586800123", "/x");
    strips("/x?v=1353586800123.25&a", "/x?a");
    strips("/x?r=0.123456789", "/x");
    strips("/x?0.12345678", "/x");
    strips("/1353586800?a=1?_=2", "/1353586800?a=1?_=2");
}

TEST(leaves_what_means_something)
{
    static const char *const kept[] = {"/x?v=135358680",   "/x?v=2353586800",   "/x?v=13535868001", "/x?v=1353586800x",
                                       "/x?v=1353586800.5", "/x?v=1353586800123.", "/x?r=0.1234567",  "/x?r=1.123456789",
                                       "/x?cb",            "/x?cbs=1",          "/x?=1",            "/x?a=b&a=b",
                                       "/x?r=0.12345678a", "/x?_"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        strips(kept[i], kept[i]);
}

static void equal_parameters(const char *one, const char *other, unsigned count)
{
    check_case("%s and %s", one, other);
    CHECK_EQUAL(replay_equal_parameters(text_of(one), text_of(other)), count);
    CHECK_EQUAL(replay_equal_parameters(text_of(other), text_of(one)), count);
}

TEST(counts_equal_parameters)
{
    equal_parameters("", "", 0);
    equal_parameters("a=1", "", 0);
    equal_parameters("a=1", "a=1", 1);
    equal_parameters("a=1&b=2", "b=2&a=1", 2);
    equal_parameters("a=1&a=1", "a=1", 1);
    equal_parameters("a=1&a=1", "a=1&b&a=1", 2);
    equal_parameters("&&a", "a&&", 1);
    equal_parameters("a=1", "a=12", 0);
}

TEST(counts_no_more_than_it_has_room_for)
{
    char many[2000];
    for (size_t i = 0; i < 1000; i++)
        memcpy(many + 2 * i, "a&", 2);
    many[1999] = 0;
    CHECK_EQUAL(replay_equal_parameters(text_of(many), text_of(many)), 128);
}

/* ---- finding and choosing ---- */

static const made_object objects[] = {
    {"0", "200 OK", "", 0, 0},
    {"1", "200 OK", "a=1&b=1", 0, 0},
    {"2", "200 OK", "a=1&b=2&_=5", 0, 0},
    {"3", "200 OK", "a=2", 0, 0},
    {"4", "200 OK", "", MADE_HTTPS, 0},
    {"5", "200 OK", "", MADE_SHA1, 5},
    {"6", "200 OK", "", MADE_SHA1, 6},
    {"7", "200 OK", "", MADE_HEAD, 0},
};
static const made_group groups[] = {
    {"EGET a.test/", {0, 4}, 2},       {"EGET a.test/q?a=1&b=1", {1}, 1}, {"SGET a.test/q?a=1&b=2", {2}, 1},
    {"PGET a.test/q", {1, 2, 3}, 3},   {"EPOST a.test/", {5, 6}, 2},      {"EHEAD a.test/h", {7}, 1},
    {"EGET a.test/h", {0}, 1},         {"PPOST a.test/p", {5, 6}, 2},
};

static replay_chosen ask(const char *method, const char *target, bool https, int sha1)
{
    made_pack from = make_pack(objects, 8, groups, 8);
    unsigned char bytes[20];
    replay_pack pack;
    replay_request request = {text_of(method), text_of("a.test"), text_of(target), https};
    char *room = malloc(replay_room(&request));
    replay_found found;
    replay_chosen chosen;

    CHECK(!replay_pack_open(from.bytes, from.length, &pack));
    memset(bytes, sha1, sizeof bytes);
    found = replay_find(&pack, &request, room);
    CHECK_EQUAL(replay_wants_body(&pack, &found), !strcmp(method, "POST") && found.kind != REPLAY_NONE);
    chosen = replay_choose(&pack, &found, &request, sha1 ? bytes : NULL);
    free(room);
    return chosen;
}

static void gets(const char *method, const char *target, bool https, int sha1, replay_kind kind, unsigned object)
{
    replay_chosen chosen = ask(method, target, https, sha1);
    check_case("%s %s: %s, object %u", method, target, replay_kind_name(chosen.kind), chosen.object);
    CHECK_EQUAL(chosen.kind, kind);
    CHECK_EQUAL(chosen.object, object);
}

TEST(the_request_itself_comes_first)
{
    gets("GET", "/", false, 0, REPLAY_EXACT, 0);
    gets("GET", "/q?a=1&b=1", false, 0, REPLAY_EXACT, 1);
}

TEST(the_scheme_decides_where_both_were_recorded)
{
    gets("GET", "/", true, 0, REPLAY_EXACT, 4);
    gets("GET", "/q?a=1&b=1", true, 0, REPLAY_EXACT, 1);
}

TEST(then_what_is_left_without_cache_busters)
{
    gets("GET", "/q?a=1&b=2&_=99", false, 0, REPLAY_STRIPPED, 2);
    gets("GET", "/q?a=1&_=99&b=2", false, 0, REPLAY_STRIPPED, 2);
}

TEST(then_the_same_path_with_the_most_equal_parameters)
{
    gets("GET", "/q?b=1&a=1", false, 0, REPLAY_NEAREST, 1);
    gets("GET", "/q?a=1&c=2", false, 0, REPLAY_NEAREST, 1); /* the first of two alike */
    gets("GET", "/q?b=2", false, 0, REPLAY_NEAREST, 2);
    gets("GET", "/q?a=2&b=3", false, 0, REPLAY_NEAREST, 3);
    gets("GET", "/q", false, 0, REPLAY_NEAREST, 1);
}

TEST(never_another_path_or_method)
{
    gets("GET", "/other", false, 0, REPLAY_NONE, 0);
    gets("GET", "/Q?a=1&b=1", false, 0, REPLAY_NONE, 0);
    gets("PUT", "/", false, 0, REPLAY_NONE, 0);
    gets("GET", "", false, 0, REPLAY_NONE, 0);
}

TEST(a_head_is_answered_from_its_own_record_or_from_the_get)
{
    gets("HEAD", "/h", false, 0, REPLAY_EXACT, 7);
    gets("HEAD", "/", false, 0, REPLAY_EXACT, 0);
    gets("HEAD", "/q?a=2", false, 0, REPLAY_NEAREST, 3);
}

TEST(the_body_of_a_post_decides)
{
    gets("POST", "/", false, 5, REPLAY_EXACT, 5);
    gets("POST", "/", false, 6, REPLAY_EXACT, 6);
    gets("POST", "/", false, 9, REPLAY_NEAREST, 5); /* another answer might have been right */
    gets("POST", "/p?x", false, 6, REPLAY_NEAREST, 6);
}
