// Bodies that both ends of a test know.
'use strict'

const crypto = require('crypto')
const { Readable } = require('stream')

const PIECE = Buffer.alloc(65536, Buffer.from(Array.from({ length: 251 }, (_, i) => i)))

function pattern (bytes) {
  let left = bytes
  return new Readable({
    read () {
      const piece = PIECE.subarray(0, Math.min(left, PIECE.length))
      left -= piece.length
      this.push(piece.length > 0 ? piece : null)
    }
  })
}

// sum gives the length and SHA-256 of what comes.
function sum (from, give) {
  const hash = crypto.createHash('sha256')
  let bytes = 0
  from.on('data', (data) => {
    hash.update(data)
    bytes += data.length
  })
  from.on('end', () => give(`${bytes} ${hash.digest('hex')}`))
}

module.exports = { PIECE, pattern, sum }
