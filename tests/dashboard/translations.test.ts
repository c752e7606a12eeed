// Every text that people see goes through the languages, and every language has them all.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { alertWords } from '../../dashboard/src/service-words.ts'
import { termsOf } from '../../dashboard/terms.ts'
import { wordTable } from '../../dashboard/src/word-table.ts'
import { pageKinds } from '../../src/contract/catalog-pages.ts'
import { creativeTypes } from '../../src/contract/creative.ts'
import { deliveryStandings, lossReasons } from '../../src/contract/explanation.ts'
import {
  adGroupTypes,
  locationNames,
  locationTypes,
  pagePositions,
} from '../../src/contract/site-locations.ts'
import { unknownIdKinds } from '../../src/contract/unknown-ids.ts'
import { adEventVerdicts } from '../../src/domain/ad-event-verdict.ts'
import { siteTypes } from '../../src/domain/site-type.ts'
import { findTexts, readSources } from './texts.ts'

const folder = 'dashboard/src/languages'
const pluralForm = /_(?:zero|one|two|few|many|other)$/u

function readTranslations(file: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

const sources = readSources()
const written = new Set(sources.flatMap((source) => findTexts(source).keys))
const terms = termsOf(readFileSync('docs/GLOSSARY.md', 'utf8'))
const keys = new Set([...written, ...terms.map(({ sentence }) => sentence)])
const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
const others = files.filter((file) => file !== 'en.json')

function placeholdersOf(text: string): readonly string[] {
  return [...new Set(text.match(/\{\{\w+\}\}/gu) ?? [])].toSorted()
}

/** The plural forms that a language tells apart for whole numbers. */
function formsOf(language: string): readonly string[] {
  const rules = new Intl.PluralRules(language)
  return [...new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)))].toSorted()
}

test('whatever people see of the dashboard goes through t or phrase, with its text written out', () => {
  assert.deepEqual(
    sources.flatMap((source) => findTexts(source).faults),
    []
  )
  assert.ok(keys.size > 300, `only ${keys.size} texts were found`)
})

function find(text: string) {
  return findTexts({ file: 'page.tsx', text })
}

// Otherwise the test above would pass because it sees nothing.
test('texts are found wherever people can see them', () => {
  for (const text of [
    '<p>Spend</p>',
    '<p>{isDone ? "done" : t("Open")}</p>',
    '<p>{`${count} rows`}</p>',
    '<img alt="Mark" />',
    '<p aria-label={isOpen ? "Close" : t("Open")} />',
    '<Table caption="All keys" />',
    "const column = { name: 'value', label: 'value' }",
    "const words = 'No answer yet'",
    "const label = 'Orders'",
    "const words = t(isOpen ? 'Open' : 'Close')",
    "throw new ApiError(0, ['It cannot be reached'])",
  ]) {
    assert.equal(find(text).faults.length, 1, text)
  }
  for (const text of [
    "<p class='two words'>{t('Spend')}</p>",
    "<p>{phrase('By {{name}}', { name: <b>{name}</b> })}</p>",
    "if (event.key === 'Enter') go()",
    "type Kind = 'One of them'",
    "throw new Error('for programmers alone')",
  ]) {
    assert.deepEqual(find(text).faults, [], text)
  }
})

for (const file of others) {
  const language = basename(file, '.json')
  const translations = readTranslations(file)

  test(`${language} has every text, in each of its plural forms, and no other`, () => {
    const wanted = [...keys].flatMap((key) =>
      placeholdersOf(key).includes('{{count}}')
        ? formsOf(language).map((form) => `${key}_${form}`)
        : [key]
    )
    assert.deepEqual(Object.keys(translations), wanted.toSorted())
  })

  test(`${language} has no empty text and the placeholders of its key in each`, () => {
    for (const [key, text] of Object.entries(translations)) {
      assert.notEqual(text.trim(), '', key)
      assert.deepEqual(placeholdersOf(text), placeholdersOf(key), key)
    }
  })
}

// Readers would look for the difference between two words for one thing.
test('German calls attribution and credit by one word each, and attaching an asset by neither', () => {
  for (const [key, text] of Object.entries(readTranslations('de.json'))) {
    const hasWord = (word: RegExp) => assert.match(key, word, text)
    if (/attribu/iu.test(text)) hasWord(/attribut/iu)
    if (/an(?:ge)?rechn/iu.test(text)) hasWord(/credit|earn/iu)
    if (/zu(?:ge)?ordn/iu.test(text)) hasWord(/assign|attach/iu)
    assert.doesNotMatch(text, /zu(?:ge)?(?:schr[ei]+b|rechn)/iu, key)
  }
})

test('English has only singulars of texts that stand in the code, with their placeholders', () => {
  for (const [key, text] of Object.entries(readTranslations('en.json'))) {
    assert.ok(key.endsWith('_one') && keys.has(key.replace(pluralForm, '')), key)
    assert.deepEqual(placeholdersOf(text), placeholdersOf(key), key)
  }
})

function isAbbreviation(word: string): boolean {
  return word.length <= 3 || /\d/u.test(word)
}

// The service may send them all, and what is not in the table is shown in English.
test('the closed words of the contract have words for people, and so has each alert', () => {
  const words = [
    ...adEventVerdicts,
    ...adGroupTypes,
    ...creativeTypes,
    ...deliveryStandings,
    ...locationNames,
    ...locationTypes,
    ...lossReasons,
    ...pageKinds,
    ...pagePositions,
    ...siteTypes,
    ...unknownIdKinds,
  ].filter((word) => !isAbbreviation(word))
  assert.deepEqual(
    words.filter((word) => !Object.hasOwn(wordTable, word)),
    []
  )

  const rules: {
    readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[]
  } = parse(readFileSync('docs/alerts.yaml', 'utf8'))
  const names = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert))
  assert.deepEqual(Object.keys(alertWords).toSorted(), names.toSorted())
})
