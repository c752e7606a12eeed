import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asCode } from '../../../src/campaign/admin/feed/feed-code.ts'
import { codeFault, groupIn } from '../../../src/domain/product-code.ts'

const spoiled: readonly (readonly [written: string, gtin: string])[] = [
  ['="4006381333931"', '4006381333931'],
  ["'4006381333931", '4006381333931'],
  ['\u20194006381333931', '4006381333931'],
  ['4006381333931.0', '4006381333931'],
  ['4006381333931,00', '4006381333931'],
  ['=4006381333931', '4006381333931'],
  ['="\u00a04006381333931 "', '4006381333931'],
  ["'00012345", '00012345'],
  ['="A-1"', 'A-1'],
  ['="4006381333931', '="4006381333931'],
  ["'4006381333931'", '4006381333931'],
  ['\'="4006381333931"', '4006381333931'],
  ['=""4006381333931""', '4006381333931'],
  ['4006381333931.', '4006381333931'],
  ['\u200b4006381333931\u202c', '4006381333931'],
  ['4,006,381,333,931', '4006381333931'],
  ['4.006.381.333.931', '4006381333931'],
  ['4 006 381 333 931', '4006381333931'],
  ['400\u202f638\u202f133\u202f393', '400638133393'],
  // Codes of shops that only look alike.
  ['12.345.678', '12.345.678'],
  ['4,006.381,333,931', '4,006.381,333,931'],
  ["O'Neill", "O'Neill"],
  ['A.0', 'A.0'],
  ['1.50', '1.50'],
  ['=A1', '=A1'],
  ['40063813339.310', '40063813339.310'],
]

test('what spreadsheets made of a code is undone, and other codes stay as they are', () => {
  for (const [written, gtin] of spoiled) assert.equal(asCode(written.trim()), gtin, written)
})

const errors =
  '#N/A #n/a #N/D #N/B #NV #I/T #YOK #HIÁNYZIK #Н/Д #REF! #BEZUG! #¡REF! #¡VALOR! #VALEUR! #NAME? #¿NOMBRE? ' +
  '#DIV/0! #¡DIV/0! #DEEL/0! #DZIEL/0! ######## Err:502 err:508'

test('errors of spreadsheets in the languages of their users are codes of nothing, in a group too', () => {
  for (const error of errors.split(' ')) {
    assert.equal(codeFault(error), 'must be a code: a spreadsheet has written an error', error)
    assert.equal(groupIn(error), error)
  }
  for (const code of [
    '#17',
    '#S/M',
    '#A',
    'ERR:1',
    'Error:502',
    'N/17',
    'NV',
    '#NV-1',
    '!',
    '#1!',
  ]) {
    assert.equal(codeFault(code), null, code)
  }
  for (const none of ['<NA>', String.raw`\N`, 'NULL', 'n/a', '(null)']) {
    assert.equal(codeFault(none), 'must be a code: it is a placeholder', none)
    assert.equal(groupIn(none), '')
  }
})
