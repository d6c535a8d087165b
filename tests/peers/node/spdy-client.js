// The npm package spdy's protocol as a client, on one connection in clear.
//
//   spdy-client.js PORT VERSION [WINDOW_BYTES]    orders on stdin, a line each; all are sent at once, in order:
//       METHOD PATH PRIORITY BODY_BYTES RESET_AFTER_BYTES    (the last: -1 never; else cancelled when so much has come)
//   on stdout, with the order's line number from 0:
//       replied N STATUS | done N STATUS BYTES SHA256 | reset N BYTES | failed N WORDS | closed
'use strict'

const crypto = require('crypto')
const net = require('net')
const readline = require('readline')
const transport = require('spdy-transport')

const [port, version, windowBytes] = process.argv.slice(2)
const HOST = 'a.example'
const PIECE = Buffer.alloc(65536, Buffer.from(Array.from({ length: 251 }, (_, i) => i)))

function say (...words) {
  process.stdout.write(words.join(' ') + '\n')
}

// Whole pieces of the pattern: 251 is prime, so that a piece in the wrong place is found.
function sendBody (stream, bytes) {
  let left = bytes
  const more = () => {
    while (left > 0) {
      const piece = PIECE.subarray(0, Math.min(left, PIECE.length))
      left -= piece.length
      if (!stream.write(piece)) {
        stream.once('drain', more)
        return
      }
    }
    stream.end()
  }
  more()
}

function ask (connection, order, number, finished) {
  const [method, path, priority, bodyBytes, resetAfter] = order.split(' ')
  const hash = crypto.createHash('sha256')
  let status = 0
  let bytes = 0
  let over = false
  const end = (...words) => {
    if (over) return
    over = true
    say(...words)
    finished()
  }
  const stream = connection.request({
    method,
    path,
    host: HOST,
    headers: { 'x-order': String(number) },
    priority: { weight: Number(priority) * 5 + 1, parent: 0, exclusive: false }
  }, (error) => {
    if (error) end('failed', number, error.message)
    else sendBody(stream, Number(bodyBytes))
  })
  stream.on('response', (code) => {
    status = code
    say('replied', number, status)
  })
  stream.on('data', (data) => {
    if (over) return
    hash.update(data)
    bytes += data.length
    if (Number(resetAfter) >= 0 && bytes >= Number(resetAfter)) {
      stream.abort('CANCEL')
      end('reset', number, bytes)
    }
  })
  stream.on('end', () => end('done', number, status, bytes, hash.digest('hex')))
  stream.on('error', (error) => end('failed', number, error.message))
  return () => end('failed', number, 'the connection closed')
}

function talk (orders) {
  const socket = net.connect(Number(port), '127.0.0.1', () => {
    const connection = transport.connection.create(socket, {
      protocol: 'spdy',
      isServer: false,
      ...(windowBytes ? { windowSize: Number(windowBytes) } : {})
    })
    let left = orders.length
    connection.on('error', (error) => say('failed', -1, error.message))
    connection.start(Number(version))
    const giveUp = orders.map((order, number) => ask(connection, order, number, () => {
      left--
      // After a while, so that what the server still says about cancelled streams is seen.
      if (left === 0) setTimeout(() => connection.end(() => socket.destroy()), 100)
    }))
    socket.on('close', () => giveUp.forEach((one) => one()))
  })
  socket.on('error', (error) => say('failed', -1, error.message))
  socket.on('close', () => setImmediate(() => {
    say('closed')
    process.exit(0)
  }))
}

const lines = []
readline.createInterface({ input: process.stdin }).on('line', (line) => lines.push(line)).on('close', () => talk(lines))
