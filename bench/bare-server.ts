// The yardstick: node:http and nothing else, reading and parsing the same bodies.
import { createServer } from 'node:http'
import { announce } from './child.ts'

const headers = { 'content-type': 'application/json', 'content-length': '2' }

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, headers)
    response.end('{}')
  })
})
announce(server)
