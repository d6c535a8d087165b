// Node's own HTTP/2, which is nghttp2, as a server in clear.
//
//   h2-server.js PADDING    NONE, ALIGNED or MAX: how frames are padded; says `ready PORT`
//       GET /bytes/N      N bytes of the pattern
//       POST /sum         the length and SHA-256 of what came
'use strict'

const http2 = require('http2')
const { pattern, sum } = require('./bodies')

const paddingStrategy = http2.constants[`PADDING_STRATEGY_${process.argv[2]}`]
const server = http2.createServer({ paddingStrategy }, (request, response) => {
  const [, what, number] = request.url.split('/')
  response.on('error', () => {})
  if (what === 'sum') sum(request, (words) => response.end(words))
  else pattern(Number(number)).pipe(response)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${server.address().port}\n`))
process.on('SIGTERM', () => process.exit(0))
