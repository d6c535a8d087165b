/* The dictionaries of header compression. SPDY/3.1 has SPDY/3's. */
#ifndef SPDY_DICTIONARY_H
#define SPDY_DICTIONARY_H

enum { SPDY_DICTIONARY_2_BYTES = 907, SPDY_DICTIONARY_3_BYTES = 1423 };

extern const unsigned char spdy_dictionary_2[SPDY_DICTIONARY_2_BYTES];
extern const unsigned char spdy_dictionary_3[SPDY_DICTIONARY_3_BYTES];

#endif
