// The npm package spdy as a server in clear, for what a gateway has to take from servers.
//
//   spdy-server.js VERSION    2, 3 or 3.1; says `ready PORT`
//       GET /bytes/N      N bytes of the pattern
//       POST /sum         the length and SHA-256 of what came
//       GET /together/N   answers when N of these wait at once
//       GET /reset/N      N bytes, then RST_STREAM with INTERNAL_ERROR
//       GET /refused      RST_STREAM with REFUSED_STREAM and no answer
//       GET /goaway       GOAWAY, then the answer
//       GET /push         pushes /pushed, then answers
//       GET /fields       what the request's head was, as JSON
'use strict'

const spdy = require('spdy')
const { PIECE, pattern, sum } = require('./bodies')

const version = process.argv[2]

function text (response, words) {
  response.writeHead(200, { 'content-type': 'text/plain', 'x-version': version })
  response.end(words)
}

const waiting = []
function together (count, response) {
  waiting.push(response)
  if (waiting.length === count) waiting.splice(0).forEach((one) => text(one, `${count} at once`))
}

const answers = {
  bytes (request, response, bytes) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    pattern(bytes).pipe(response)
  },
  sum: (request, response) => sum(request, (words) => text(response, words)),
  together: (request, response, count) => together(count, response),
  reset (request, response, bytes) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.write(PIECE.subarray(0, bytes), () => response.spdyStream.abort('INTERNAL_ERROR'))
  },
  refused: (request, response) => response.spdyStream.abort('REFUSED_STREAM'),
  goaway (request, response) {
    response.spdyStream.connection.end()
    text(response, 'gone')
  },
  push (request, response) {
    const pushed = response.push('/pushed', { response: { 'content-type': 'text/plain' } })
    pushed.on('error', () => {}) // it is refused
    pushed.end('pushed')
    text(response, 'pushing')
  },
  fields (request, response) {
    text(response, JSON.stringify({ method: request.method, url: request.url, headers: request.headers }))
  }
}

// In clear the package goes by the first frame, in which 3 and 3.1 are the same: 3.1 is what has a window for the session.
const options = { spdy: { plain: true, ssl: false, connection: { maxStreams: 200, autoSpdy31: version === '3.1' } } }
const server = spdy.createServer(options, (request, response) => {
  // It keeps to a window in SPDY/2 too, which no client ever opens, for there are none in that version.
  if (version === '2') response.spdyStream._spdyState.window.send.update(2 ** 31 - 2 ** 20)
  const [, what, number] = request.url.split('/')
  // Streams that the client ends are no failure of this server's.
  request.on('error', () => {})
  response.on('error', () => {})
  const answer = answers[what]
  if (answer) {
    answer(request, response, Number(number))
  } else {
    response.writeHead(404)
    response.end()
  }
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${server.address().port}\n`))
process.on('SIGTERM', () => process.exit(0))
