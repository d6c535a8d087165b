package spdy

import "encoding/binary"

// The text that a version's header compression starts from, given by its draft to the byte: with any other, nothing of the peer's can be read.
var (
	dictionary2 = []byte(dictionaryText2)
	dictionary3 = append(lengthPrefixed(dictionaryWords3), dictionaryTail3...)
)

func (v Version) dictionary() []byte {
	if v == V2 {
		return dictionary2
	}
	return dictionary3
}

// lengthPrefixed is how a header block holds names and values: SPDY/3's dictionary begins as one would.
func lengthPrefixed(words []string) []byte {
	var text []byte
	for _, word := range words {
		text = binary.BigEndian.AppendUint32(text, uint32(len(word)))
		text = append(text, word...)
	}
	return text
}

const dictionaryText2 = "optionsgetheadpostputdeletetraceacceptaccept-charsetaccept-encodingaccept-languageauthorizationexpectfromhosti" +
	"f-modified-sinceif-matchif-none-matchif-rangeif-unmodifiedsincemax-forwardsproxy-authorizationrangerefererteus" +
	"er-agent100101200201202203204205206300301302303304305306307400401402403404405406407408409410411412413414415416" +
	"417500501502503504505accept-rangesageetaglocationproxy-authenticatepublicretry-afterservervarywarningwww-authe" +
	"nticateallowcontent-basecontent-encodingcache-controlconnectiondatetrailertransfer-encodingupgradeviawarningco" +
	"ntent-languagecontent-lengthcontent-locationcontent-md5content-rangecontent-typeetagexpireslast-modifiedset-co" +
	"okieMondayTuesdayWednesdayThursdayFridaySaturdaySundayJanFebMarAprMayJunJulAugSepOctNovDecchunkedtext/htmlimag" +
	"e/pngimage/jpgimage/gifapplication/xmlapplication/xhtmltext/plainpublicmax-agecharset=iso-8859-1utf-8gzipdefla" +
	"teHTTP/1.1statusversionurl\x00"

var dictionaryWords3 = []string{
	"options", "head", "post", "put", "delete", "trace", "accept", "accept-charset", "accept-encoding", "accept-language",
	"accept-ranges", "age", "allow", "authorization", "cache-control", "connection", "content-base", "content-encoding",
	"content-language", "content-length", "content-location", "content-md5", "content-range", "content-type", "date", "etag",
	"expect", "expires", "from", "host", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
	"last-modified", "location", "max-forwards", "pragma", "proxy-authenticate", "proxy-authorization", "range", "referer",
	"retry-after", "server", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "via", "warning",
	"www-authenticate", "method", "get", "status", "200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie",
	"keep-alive", "origin",
}

const dictionaryTail3 = "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritativ" +
	"e Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 I" +
	"nternal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec" +
	" 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xm" +
	"l,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=" +
	"iso-8859-1,utf-,*,enq=0."
