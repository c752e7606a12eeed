import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locale, phrase, setLanguage, t } from '../../dashboard/src/language.ts'
import { pickLanguage } from '../../dashboard/src/pick-language.ts'

const languages = ['en', 'de', 'pt-BR']

test('a reader gets what they chose, else the first of their languages that exists, else English', () => {
  const cases: readonly (readonly [string | null, readonly string[], string, string])[] = [
    [null, ['de-AT', 'en-GB'], 'de', 'de-AT'],
    [null, ['fr-FR', 'de-CH', 'en'], 'de', 'de-CH'],
    [null, ['fr-FR'], 'en', 'en'],
    [null, [], 'en', 'en'],
    ['en', ['de-AT', 'en-GB'], 'en', 'en-GB'],
    ['en', ['de-AT'], 'en', 'en'],
    ['de', ['en-US', 'de-LI', 'de-AT'], 'de', 'de-LI'],
    ['xx', ['de'], 'de', 'de'],
    [null, ['pt-BR'], 'pt-BR', 'pt-BR'],
    // Another Portuguese, and a language whose tag only begins alike.
    [null, ['pt-PT', 'den', 'en-AU'], 'en', 'en-AU'],
    // Names of systems, at which Intl throws.
    [null, ['de-DE@posix', 'C', ''], 'en', 'en'],
  ]
  for (const [chosen, preferred, tag, ofReader] of cases) {
    const picked = pickLanguage({ languages, chosen, preferred })
    assert.deepEqual(picked, { tag, locale: ofReader }, JSON.stringify([chosen, preferred]))
  }
})

test('a text is translated with its values, in the plural and the digits of the reader', async () => {
  await setLanguage({
    tag: 'pl',
    locale: 'pl-PL',
    translations: {
      '{{count}} orders_one': '{{count}} zamówienie',
      '{{count}} orders_few': '{{count}} zamówienia',
      '{{count}} orders_many': '{{count}} zamówień',
      '{{name}}: {{part}} of a.b': 'z {{part}}: {{name}}',
    },
  })
  assert.equal(locale(), 'pl-PL')

  const orders = [1, 3, 5, 12_345].map((count) => t('{{count}} orders', { count }))

  const grouped = new Intl.NumberFormat('pl-PL').format(12_345)
  assert.deepEqual(orders, ['1 zamówienie', '3 zamówienia', '5 zamówień', `${grouped} zamówień`])
  assert.equal(t('{{name}}: {{part}} of a.b', { name: 'A & <b>', part: 'x' }), 'z x: A & <b>')
  assert.deepEqual(phrase('{{name}}: {{part}} of a.b', { name: 'N', part: 'P' }), [
    'z ',
    'P',
    ': ',
    'N',
    '',
  ])
})

// Names of products and advertisers are data: whatever they hold is shown as it is.
test('a value that looks like a placeholder or like an instruction of the library stays as it is', () => {
  for (const name of ['{{count}}', '$t(Key)', '$&', '{{- name}}', '$t({{name}})']) {
    assert.equal(t('Signed in as {{name}}', { name }), `Signed in as ${name}`)
  }
})

test('a text that a language does not have is shown in English', () => {
  assert.equal(t('Nothing of this: is. there'), 'Nothing of this: is. there')
})
