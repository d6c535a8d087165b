#include "check.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

static const made_object objects[] = {
    {"page", "200 OK", "", 0, 0},
    {"", "204 No Content", "", MADE_HTTPS | MADE_GZIP, 0},
    {"posted", "999 ", "a=1", MADE_SHA1 | MADE_PLAIN | MADE_HEAD, 7},
};
static const made_group groups[] = {{"EGET a.test/", {0}, 1}, {"EGET a.test/empty", {1}, 1}, {"EPOST a.test/", {2, 0}, 2}};

static made_pack made(void)
{
    return make_pack(objects, 3, groups, 3);
}

/* In memory of just its size, so that a read beyond its end is found. */
static const char *opened(const made_pack *from, replay_pack *pack, void **kept)
{
    *kept = malloc(from->length ? from->length : 1);
    memcpy(*kept, from->bytes, from->length);
    return replay_pack_open(*kept, from->length, pack);
}

static void refused(const made_pack *from, const char *why)
{
    replay_pack pack;
    void *kept;
    const char *wrong = opened(from, &pack, &kept);
    check_case("%s, said: %s", why, wrong ? wrong : "nothing");
    CHECK(wrong && !strcmp(wrong, why));
    free(kept);
}

TEST(reads_what_was_written)
{
    made_pack from = made();
    replay_pack pack;
    void *kept;
    CHECK(!opened(&from, &pack, &kept));

    replay_object page = replay_pack_object(&pack, 0), empty = replay_pack_object(&pack, 1);
    replay_object posted = replay_pack_object(&pack, 2);
    CHECK_BYTES(page.body, page.body_length, "page", 4);
    CHECK_EQUAL(page.status, 200);
    CHECK(!strcmp(page.status_line, "200 OK") && !strcmp(page.type, "text/plain"));
    CHECK(!page.https && !page.plain && !page.head && !page.request_sha1);
    CHECK_EQUAL(page.compression, REPLAY_AS_STORED);
    CHECK_EQUAL(empty.body_length, 0);
    CHECK(empty.https);
    CHECK_EQUAL(empty.compression, REPLAY_GZIP);
    CHECK(posted.plain && posted.head && posted.request_sha1 && posted.request_sha1[19] == 7);
    CHECK_EQUAL(posted.status, 999);
    CHECK_BYTES(posted.query.bytes, posted.query.length, "a=1", 3);
    CHECK(replay_pack_compresses(&pack, REPLAY_GZIP) && !replay_pack_compresses(&pack, REPLAY_BROTLI));

    replay_header header = replay_pack_header(&pack, posted.first_header);
    CHECK(!strcmp(header.name, "X-Number") && !strcmp(header.value, "2"));
    free(kept);
}

TEST(reads_how_long_an_answer_waits)
{
    made_pack from = made();
    replay_pack pack;
    void *kept;
    put32(from.bytes + from.objects + 72 + 68, 1500);
    CHECK(!opened(&from, &pack, &kept));
    CHECK_EQUAL(replay_pack_object(&pack, 0).delay_ms, 0);
    CHECK_EQUAL(replay_pack_object(&pack, 1).delay_ms, 1500);
    free(kept);
}

TEST(finds_keys_and_only_those)
{
    made_pack from = made();
    replay_pack pack;
    void *kept;
    CHECK(!opened(&from, &pack, &kept));
    for (size_t i = 0; i < 3; i++) {
        replay_text key = {groups[i].key, strlen(groups[i].key)};
        replay_group group = replay_pack_group(&pack, key);
        CHECK_EQUAL(group.count, groups[i].count);
        CHECK_EQUAL(replay_group_member(&group, 0), groups[i].members[0]);
        key.length--;
        CHECK_EQUAL(replay_pack_group(&pack, key).count, 0);
    }
    free(kept);
}

TEST(a_table_without_an_empty_slot_has_an_end)
{
    made_pack from = made();
    replay_pack pack;
    void *kept;
    replay_text key = {"EGET b.test/", 12};
    for (size_t i = 0; i < 16; i++)
        put32(from.bytes + from.slots + 4 * i, 1);
    CHECK(!opened(&from, &pack, &kept));
    CHECK_EQUAL(replay_pack_group(&pack, key).count, 0);
    free(kept);
}

TEST(refuses_what_is_no_pack)
{
    made_pack from = made();
    from.bytes[0] = 'X';
    refused(&from, "it is no pack");
    from = made();
    from.length = 100;
    refused(&from, "it is no pack");
    from.length = 0;
    refused(&from, "it is no pack");
    from = made();
    from.bytes[8] = 9;
    refused(&from, "it is a pack of another version");
    from = made();
    from.length--;
    refused(&from, "it is not whole");
}

TEST(refuses_parts_outside)
{
    for (int part = 0; part < 7; part++) {
        made_pack from = made();
        check_case("part %d", part);
        put64(from.bytes + 24 + 16 * part, from.length + 1);
        refused(&from, "a part of it is outside of it");
        from = made();
        put64(from.bytes + 24 + 16 * part, 8);
        refused(&from, "a part of it is outside of it");
        from = made();
        put64(from.bytes + 32 + 16 * part, ~0ULL / 2);
        refused(&from, "a part of it is outside of it");
    }
}

typedef struct {
    size_t at; /* in the part */
    unsigned long value;
    const char *why;
} damage;

static void refuses_each(size_t part, const damage *damages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        made_pack from = made();
        put32(from.bytes + part + damages[i].at, damages[i].value);
        refused(&from, damages[i].why);
    }
}

TEST(refuses_what_leads_outside)
{
    static const damage in_slots[] = {{0, 4, "its table leads outside"}};
    static const damage in_groups[] = {
        {4, 1UL << 30, "a key is outside of its strings"}, {8, 1UL << 30, "a key is outside of its strings"},
        {12, 9, "a key leads to no object"},               {16, 0, "a key leads to no object"},
        {16, 9, "a key leads to no object"},
    };
    static const damage in_members[] = {{0, 3, "a key leads to an object that is not there"}};
    static const damage in_headers[] = {{0, 1UL << 20, "a header is outside of its strings"},
                                        {4, 1UL << 20, "a header is outside of its strings"}};
    static const damage in_objects[] = {
        {0, 1UL << 20, "a body is outside of it"},
        {8, 1UL << 20, "a body is outside of it"},
        {20, 1UL << 20, "an object's text is outside of its strings"},
        {24, 1UL << 20, "an object's text is outside of its strings"},
        {40, 1UL << 20, "an object's text is outside of its strings"},
        {44, 1UL << 20, "an object's text is outside of its strings"},
        {32, 4, "an object's headers are not there"},
        {36, 4, "an object's headers are not there"},
        {28, 64, "an object has unknown flags"},
        {28, MADE_GZIP | MADE_BROTLI, "an object has unknown flags"},
        {16, 100, "an object has no valid status"},
        {16, 404, "an object has no valid status"},
        {16, 1000, "an object has no valid status"},
        {20, 0, "an object has no valid status"},
    };
    made_pack from = made();
    refuses_each(from.slots, in_slots, 1);
    refuses_each(from.groups, in_groups, sizeof in_groups / sizeof *in_groups);
    refuses_each(from.members, in_members, 1);
    refuses_each(from.headers, in_headers, 2);
    refuses_each(from.objects, in_objects, sizeof in_objects / sizeof *in_objects);
}

TEST(refuses_other_shapes)
{
    made_pack from = made();
    put64(from.bytes + 32, 15);
    refused(&from, "the size of its table is no power of two");
    put64(from.bytes + 32, 0);
    refused(&from, "the size of its table is no power of two");
    from = made();
    put64(from.bytes + 32 + 16 * 5, 3);
    refused(&from, "its strings have no end");
    put64(from.bytes + 32 + 16 * 5, 0);
    refused(&from, "its strings have no end");
}
