// The npm package spdy as its users know it: an agent for Node's own http client, on one connection in clear.
//
//   spdy-agent.js PORT VERSION PATH...    on stdout for each path: done N STATUS BYTES SHA256 | failed N WORDS
'use strict'

const crypto = require('crypto')
const http = require('http')
const spdy = require('spdy')

const [port, version, ...paths] = process.argv.slice(2)
const agent = spdy.createAgent({
  host: '127.0.0.1',
  port: Number(port),
  spdy: { plain: true, ssl: false, protocol: 'spdy/' + version }
})

function get (path, number) {
  return new Promise((resolve) => {
    const say = (...words) => {
      process.stdout.write(words.join(' ') + '\n')
      resolve()
    }
    const request = http.get({ host: 'a.example', agent, path }, (response) => {
      const hash = crypto.createHash('sha256')
      let bytes = 0
      response.on('data', (data) => {
        hash.update(data)
        bytes += data.length
      })
      response.on('end', () => say('done', number, response.statusCode, bytes, hash.digest('hex')))
    })
    request.on('error', (error) => say('failed', number, error.message))
  })
}

agent.on('error', (error) => {
  process.stdout.write('failed -1 ' + error.message + '\n')
  process.exit(1)
})
Promise.all(paths.map(get)).then(() => agent.close(() => process.exit(0)))
