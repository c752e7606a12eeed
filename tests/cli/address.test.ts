import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUrl } from '../../src/cli/address.ts'

for (const url of ['http://track.example:8081', 'http://10.0.0.7', 'http://127.0.0.1.example']) {
  test(`the key goes to ${url} only when told to`, () => {
    assert.throws(() => findUrl({ url, allowPlainHttp: false }, {}), /--allow-plain-http/)
    assert.throws(
      () => findUrl({ url: undefined, allowPlainHttp: false }, { SHELFTRACE_URL: url }),
      /--allow-plain-http/
    )

    assert.equal(findUrl({ url, allowPlainHttp: true }, {}).href, new URL(url).href)
  })
}

for (const url of [
  'https://track.example',
  'http://localhost:8081',
  'http://127.1:8081',
  'http://[::1]:8081',
]) {
  test(`the key goes to ${url} without a word`, () => {
    assert.equal(findUrl({ url, allowPlainHttp: false }, {}).href, new URL(url).href)
  })
}
