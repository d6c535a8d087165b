/* Header blocks, their compression, and the numbers in frames. */
#include "block.h"
#include "check.h"
#include "compression.h"
#include "dictionary.h"
#include "frame.h"
#include "peer.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* Checksums that implementations of the drafts know their dictionaries by. */
TEST(dictionaries_are_the_drafts)
{
    CHECK_EQUAL(adler32(adler32(0, NULL, 0), spdy_dictionary_2, SPDY_DICTIONARY_2_BYTES), 0xdfa251b2);
    CHECK_EQUAL(adler32(adler32(0, NULL, 0), spdy_dictionary_3, SPDY_DICTIONARY_3_BYTES), 0xe3c6a7c2);
}

static spdy_block_fault read_copy(spdy_version version, const void *bytes, size_t length, spdy_header_list *list)
{
    /* In memory of its own, so that a read beyond the end is found. */
    uint8_t *block = malloc(length ? length : 1);
    spdy_block_fault fault;

    if (length)
        memcpy(block, bytes, length);
    fault = spdy_block_read(version, block, length, 4, list);
    free(block);
    return fault;
}

static void check_block_3(const char *bytes, size_t length, spdy_block_fault should_be)
{
    spdy_header_list list = {0};

    CHECK_EQUAL(read_copy(SPDY_VERSION_3, bytes, length, &list), should_be);
    spdy_header_list_free(&list);
}
#define BLOCK_3(bytes, fault) check_block_3(bytes, sizeof bytes - 1, fault)

TEST(blocks_against_the_rules_are_found)
{
    BLOCK_3("", SPDY_BLOCK_CUT_SHORT);
    BLOCK_3("\0\0\0", SPDY_BLOCK_CUT_SHORT);
    BLOCK_3("\0\0\0\0", SPDY_BLOCK_FINE);
    BLOCK_3("\0\0\0\0x", SPDY_BLOCK_LEFT_OVER);
    BLOCK_3("\0\0\0\1", SPDY_BLOCK_CUT_SHORT);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\1b", SPDY_BLOCK_FINE);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\2b", SPDY_BLOCK_CUT_SHORT);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0", SPDY_BLOCK_CUT_SHORT);
    BLOCK_3("\0\0\0\1\xff\xff\xff\xff" "a\0\0\0", SPDY_BLOCK_CUT_SHORT);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\0", SPDY_BLOCK_FINE);
    BLOCK_3("\0\0\0\1\0\0\0\0\0\0\0\1b", SPDY_BLOCK_EMPTY_NAME);
    BLOCK_3("\0\0\0\1\0\0\0\1A\0\0\0\1b", SPDY_BLOCK_BAD_NAME);
    BLOCK_3("\0\0\0\1\0\0\0\2a\0\0\0\0\1b", SPDY_BLOCK_BAD_NAME);
    BLOCK_3("\0\0\0\2\0\0\0\1a\0\0\0\1b\0\0\0\1a\0\0\0\1c", SPDY_BLOCK_SAME_NAME);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\1\0", SPDY_BLOCK_BAD_VALUE);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\2\0b", SPDY_BLOCK_BAD_VALUE);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\2b\0", SPDY_BLOCK_BAD_VALUE);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\4b\0\0c", SPDY_BLOCK_BAD_VALUE);
    BLOCK_3("\0\0\0\5\0\0\0\1a\0\0\0\1b", SPDY_BLOCK_TOO_MANY);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\7b\0c\0d\0e", SPDY_BLOCK_FINE);
    BLOCK_3("\0\0\0\1\0\0\0\1a\0\0\0\11b\0c\0d\0e\0f", SPDY_BLOCK_TOO_MANY);
}

TEST(each_fault_of_a_block_has_its_text)
{
    int one, other;

    for (one = 0; one <= SPDY_BLOCK_NO_MEMORY; one++)
        for (other = 0; other < one; other++)
            CHECK(strcmp(spdy_block_fault_text(one), spdy_block_fault_text(other)));
}

TEST(values_of_one_name_come_apart_and_together)
{
    static const char block[] = "\0\2\0\1a\0\3x\0y\0\1b\0\0";
    const spdy_header headers[] = {header("A", "x"), header("b", ""), header("a", ""), header("a", "y")};
    spdy_buffer written = {0};
    spdy_header_list list = {0};

    CHECK_EQUAL(spdy_block_write(SPDY_VERSION_2, headers, 4, &written), SPDY_OK);
    CHECK_BYTES(spdy_buffer_bytes(&written), spdy_buffer_length(&written), block, sizeof block - 1);
    CHECK_EQUAL(spdy_block_read(SPDY_VERSION_2, (const uint8_t *)block, sizeof block - 1, 4, &list), SPDY_BLOCK_FINE);
    CHECK_EQUAL(list.count, 3);
    CHECK_BYTES(list.headers[1].name.bytes, list.headers[1].name.length, "a", 1);
    CHECK_BYTES(list.headers[1].value.bytes, list.headers[1].value.length, "y", 1);
    CHECK_EQUAL(list.headers[2].value.length, 0);
    spdy_header_list_free(&list);
    spdy_buffer_free(&written);
}

/* Quadratic work would take minutes. */
TEST(many_headers_are_written_by_name)
{
    enum { MANY = 40000 };
    static char names[MANY][8];
    static spdy_header headers[MANY + 1];
    spdy_buffer block = {0};
    spdy_header_list list = {0};
    size_t i;

    for (i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "N%zu", MANY - 1 - i);
        headers[i] = header(names[i], "v");
    }
    headers[MANY] = header("n7", "w");
    CHECK_EQUAL(spdy_block_write(SPDY_VERSION_3, headers, MANY + 1, &block), SPDY_OK);
    CHECK_EQUAL(spdy_get_32(spdy_buffer_bytes(&block)), MANY);
    CHECK_EQUAL(spdy_block_read(SPDY_VERSION_3, spdy_buffer_bytes(&block), spdy_buffer_length(&block), 10, &list),
                SPDY_BLOCK_TOO_MANY);
    spdy_buffer_clear(&block);
    CHECK_EQUAL(spdy_block_write(SPDY_VERSION_3, headers + MANY - 8, 9, &block), SPDY_OK);
    CHECK_EQUAL(spdy_block_read(SPDY_VERSION_3, spdy_buffer_bytes(&block), spdy_buffer_length(&block), 10, &list),
                SPDY_BLOCK_FINE);
    CHECK_EQUAL(list.count, 9);
    CHECK_BYTES(list.headers[0].name.bytes, list.headers[0].name.length, "n0", 2);
    CHECK_BYTES(list.headers[7].value.bytes, list.headers[7].value.length, "v", 1);
    CHECK_BYTES(list.headers[8].value.bytes, list.headers[8].value.length, "w", 1);
    spdy_header_list_free(&list);
    spdy_buffer_free(&block);
}

static spdy_result write_one(spdy_version version, spdy_text name, spdy_text value)
{
    const spdy_header one = {name, value};
    spdy_buffer block = {0};
    spdy_result result = spdy_block_write(version, &one, 1, &block);

    spdy_buffer_free(&block);
    return result;
}

TEST(headers_that_cannot_be_sent_are_refused)
{
    static char large[70000];
    const spdy_text value = text("v"), large_text = {large, sizeof large}, nul = {"a\0b", 3};

    memset(large, 'x', sizeof large);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, text(""), value), SPDY_BAD_HEADERS);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, text("a b"), value), SPDY_BAD_HEADERS);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, nul, value), SPDY_BAD_HEADERS);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, text("a"), nul), SPDY_BAD_HEADERS);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, text(":"), value), SPDY_BAD_HEADERS);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, text(":path"), value), SPDY_OK);
    CHECK_EQUAL(write_one(SPDY_VERSION_2, text("a"), large_text), SPDY_TOO_LARGE);
    CHECK_EQUAL(write_one(SPDY_VERSION_2, large_text, value), SPDY_TOO_LARGE);
    CHECK_EQUAL(write_one(SPDY_VERSION_3, text("a"), large_text), SPDY_OK);
}

TEST(settings_have_their_bytes_in_each_versions_order)
{
    uint8_t entry[4];

    spdy_setting_write_id(SPDY_VERSION_2, 0x030201, 4, entry);
    CHECK_BYTES(entry, 4, "\1\2\3\4", 4);
    CHECK_EQUAL(spdy_setting_read_id(SPDY_VERSION_2, entry), 0x030201);
    spdy_setting_write_id(SPDY_VERSION_3, 0x030201, 4, entry);
    CHECK_BYTES(entry, 4, "\4\3\2\1", 4);
    CHECK_EQUAL(spdy_setting_read_id(SPDY_VERSION_3_1, entry), 0x030201);
}

static void expand_at_once(spdy_expander *expander, const spdy_buffer *compressed, spdy_buffer *out)
{
    size_t used;

    CHECK_EQUAL(spdy_expander_add(expander, spdy_buffer_bytes(compressed), spdy_buffer_length(compressed), 100000, out,
                                  &used),
                SPDY_EXPANDED);
    CHECK_EQUAL(used, spdy_buffer_length(compressed));
}

TEST(compression_goes_on_from_block_to_block)
{
    spdy_compressor compressor;
    spdy_expander expander;
    size_t first_bytes = 0, version, round;
    static char block[9000];

    for (round = 0; round < sizeof block; round++)
        block[round] = (char)(round * 7919 % 251);
    for (version = 0; version < 3; version++) {
        CHECK(spdy_compressor_start(&compressor, all_versions[version], 9));
        CHECK(spdy_expander_start(&expander, all_versions[version]));
        for (round = 0; round < 20; round++) {
            spdy_buffer compressed = {0}, expanded = {0};
            size_t length = round ? 100 * round : 100;

            CHECK(spdy_compressor_add(&compressor, block, length, &compressed));
            expand_at_once(&expander, &compressed, &expanded);
            CHECK_BYTES(spdy_buffer_bytes(&expanded), spdy_buffer_length(&expanded), block, length);
            if (!round)
                first_bytes = spdy_buffer_length(&compressed);
            if (round == 1) /* the same again takes next to nothing */
                CHECK(spdy_buffer_length(&compressed) < first_bytes / 3);
            spdy_buffer_free(&compressed);
            spdy_buffer_free(&expanded);
        }
        spdy_compressor_end(&compressor);
        spdy_expander_end(&expander);
    }
}

/* The first block of a session that compresses at this level, as it is on the wire. */
static size_t first_block(spdy_version version, uint32_t level, frame *read)
{
    spdy_limits limits;
    peer *at;
    size_t count;
    const spdy_header *headers = small_headers(&count);
    const uint8_t *expanded = (const uint8_t *)"\0\0\0\2\0\0\0\3one\0\0\0\1" "1\0\0\0\3two\0\0\0\1" "2";
    spdy_buffer compressed = {0}, again = {0};

    spdy_limits_default(&limits);
    limits.header_compression = level;
    at = peer_new(SPDY_ROLE_SERVER, version, &limits);
    peer_open(at, 1, 0, 0);
    peer_forget(at);
    CHECK_EQUAL(spdy_stream_reply(at->session, 1, headers, count, true), SPDY_OK);
    *read = peer_expect(at, SPDY_FRAME_SYN_REPLY);
    CHECK(spdy_buffer_append(&compressed, read->payload + 4, read->head.length - 4));
    expand_at_once(&at->expander, &compressed, &again);
    CHECK_BYTES(spdy_buffer_bytes(&again), spdy_buffer_length(&again), expanded, 28);
    spdy_buffer_free(&compressed);
    spdy_buffer_free(&again);
    peer_free(at);
    return read->head.length;
}

TEST(each_level_of_compression_can_be_expanded)
{
    frame read;
    size_t stored = first_block(SPDY_VERSION_3, 0, &read);
    uint32_t level;

    for (level = 1; level <= 9; level++)
        CHECK(first_block(SPDY_VERSION_3_1, level, &read) < stored);
    /* What captures of Chromium's sessions begin with: 2 KiB of history, level 9, the dictionary's sum. */
    CHECK_BYTES(read.payload + 4, 6, "\x38\xea\xe3\xc6\xa7\xc2", 6);
    CHECK_EQUAL(first_block(SPDY_VERSION_3, 10, &read), first_block(SPDY_VERSION_3, 9, &read));
}

TEST(expansion_keeps_to_its_limit_and_finds_broken_input)
{
    static char zeroes[100000];
    spdy_compressor compressor;
    spdy_expander expander;
    spdy_buffer compressed = {0}, expanded = {0};
    size_t used;

    CHECK(spdy_compressor_start(&compressor, SPDY_VERSION_3, 9));
    CHECK(spdy_expander_start(&expander, SPDY_VERSION_3));
    CHECK(spdy_compressor_add(&compressor, zeroes, sizeof zeroes, &compressed));
    CHECK_EQUAL(spdy_expander_add(&expander, spdy_buffer_bytes(&compressed), spdy_buffer_length(&compressed), 5000,
                                  &expanded, &used),
                SPDY_EXPANSION_FULL);
    CHECK_EQUAL(spdy_buffer_length(&expanded), 5000);
    spdy_expander_end(&expander);
    spdy_buffer_clear(&expanded);

    CHECK(spdy_expander_start(&expander, SPDY_VERSION_2)); /* primed with another dictionary */
    CHECK_EQUAL(spdy_expander_add(&expander, spdy_buffer_bytes(&compressed), spdy_buffer_length(&compressed), 5000,
                                  &expanded, &used),
                SPDY_EXPANSION_BROKEN);
    spdy_expander_end(&expander);
    CHECK(spdy_expander_start(&expander, SPDY_VERSION_3));
    CHECK_EQUAL(spdy_expander_add(&expander, "no zlib", 7, 5000, &expanded, &used), SPDY_EXPANSION_BROKEN);
    spdy_expander_end(&expander);
    spdy_compressor_end(&compressor);
    spdy_buffer_free(&compressed);
    spdy_buffer_free(&expanded);
}

TEST(versions_are_known_by_name)
{
    spdy_version version;

    CHECK(spdy_version_parse("3.1", &version));
    CHECK_EQUAL(version, SPDY_VERSION_3_1);
    CHECK(spdy_version_parse("spdy/2", &version));
    CHECK_EQUAL(version, SPDY_VERSION_2);
    CHECK(!spdy_version_parse("4", &version));
    CHECK(!spdy_version_parse("spdy/", &version));
    CHECK(!strcmp(spdy_status_name(3), "REFUSED_STREAM"));
    CHECK(!strcmp(spdy_status_name(0), "unknown status"));
    CHECK(!strcmp(spdy_status_name(12), "unknown status"));
}

TEST(a_client_is_known_by_its_first_bytes)
{
    CHECK_EQUAL(spdy_guess_client(SPDY_VERSION_3, "\x80\3\0\1\1\0\0\0", 8), SPDY_GUESS_YES);
    CHECK_EQUAL(spdy_guess_client(SPDY_VERSION_3, "\x80\3\0\1\1", 5), SPDY_GUESS_MORE);
    CHECK_EQUAL(spdy_guess_client(SPDY_VERSION_3, "", 0), SPDY_GUESS_MORE);
    CHECK_EQUAL(spdy_guess_client(SPDY_VERSION_3, "\x80\2", 2), SPDY_GUESS_NO);
    CHECK_EQUAL(spdy_guess_client(SPDY_VERSION_2, "\x80\2\0\1\1\0\0\0", 8), SPDY_GUESS_YES);
    CHECK_EQUAL(spdy_guess_client(SPDY_VERSION_3_1, "G", 1), SPDY_GUESS_NO);
}
