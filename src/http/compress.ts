// Compresses answers for callers that ask for it. Only answers that say so are compressed: the length of a compressed
// text tells what is in it, so none with secrets may be.

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { codingWeight } from './accept-encoding.ts'
import type { Answer } from './handler.ts'

const limits = {
  /** A shorter answer fits into a packet or two as it is. */
  bytesMin: 1_024,
} as const

type Coding = 'br' | 'gzip'

/** The least levels that make a page of 1.8 MB a fifth: 13 and 10 ms of CPU. The next of Brotli takes 31 ms, for a sixth. */
const compress: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 3 }),
}

export async function compressAnswer(answer: Answer, acceptEncoding: string): Promise<Answer> {
  const { body, mayCompress = false } = answer
  if (!mayCompress || body === null || 'file' in body) return answer
  const isJson = 'json' in body
  const bytes = Buffer.from(isJson ? JSON.stringify(body.json) : body.text)
  const coding = bytes.length < limits.bytesMin ? null : chooseCoding(acceptEncoding)
  return {
    ...answer,
    headers: {
      ...(isJson && { 'content-type': 'application/json; charset=utf-8' }),
      ...answer.headers,
      vary: 'accept-encoding',
      ...(coding !== null && { 'content-encoding': coding }),
    },
    body: { text: coding === null ? bytes : await compress[coding](bytes) },
  }
}

/** Null: none that both know. */
function chooseCoding(acceptEncoding: string): Coding | null {
  const brotli = codingWeight(acceptEncoding, 'br')
  const gzipWeight = codingWeight(acceptEncoding, 'gzip', 'x-gzip')
  if (brotli > 0 && brotli >= gzipWeight) return 'br'
  return gzipWeight > 0 ? 'gzip' : null
}
