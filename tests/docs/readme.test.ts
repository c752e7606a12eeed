import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { prepareService } from '../helpers/service.ts'
import { replaceExamples } from './installation.ts'
import { readBlocks } from './markdown.ts'

const readme = readFileSync('README.md', 'utf8')
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}

const sections = readme.split('\n').flatMap((line, index) => {
  const title = /^## (?<title>.*)$/u.exec(line)?.groups?.['title']
  return title === undefined ? [] : [{ title, line: index + 1 }]
})

function shellBlocks(title: string): readonly string[] {
  return readBlocks('README.md')
    .filter(({ language }) => language === 'sh')
    .filter(({ line }) => {
      const section = sections.findLast((candidate) => candidate.line < line)
      return section?.title.startsWith(title) === true
    })
    .map(({ text }) => text)
}

test('the README stays under 150 lines and names only scripts that exist', () => {
  const named = [...readme.matchAll(/npm (?:run )?(demo|test|start|bench\S*)/gu)].map(
    (match) => match[1] ?? ''
  )

  assert.ok(readme.split('\n').length < 150)
  assert.ok(named.length > 0)
  for (const name of named) assert.ok(manifest.scripts[name] !== undefined, name)
})

// Operator, shop and advertiser get through their part with the README alone.
test('the commands of the README, in order, lead from a new install to a report with the attributed sale', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-readme-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [, operator = ''] = shellBlocks('For operators')
  const [shop = ''] = shellBlocks('For shops')
  const [advertiser = ''] = shellBlocks('For advertisers')
  const commands = [
    'set -eu',
    operator,
    shop,
    // "A few seconds later".
    'for try in $(seq 120); do',
    advertiser,
    'if grep -q 39.98 report.csv; then break; fi; sleep 0.25; done',
  ].join('\n')
  const script = replaceExamples(commands, service).replaceAll(
    'dist/cli.js',
    resolve('dist/cli.js')
  )

  const run = spawnSync('bash', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      SHELFTRACE_URL: service.campaignUrl,
      SHELFTRACE_DATA_DIR: service.dataDir,
    },
    timeout: 120_000,
  })

  assert.equal(run.status, 0, run.stderr)
  assert.match(run.stdout, /302 https:\/\/shop\.example\/coffee/)
  const [header, row] = readFileSync(join(folder, 'report.csv'), 'utf8').split('\r\n')
  assert.equal(
    header,
    'GTIN,PRODUCT_TITLE,BRAND,MARKET,PUBLISHER_ID,PUBLISHER_NAME,CAMPAIGN_ID,CAMPAIGN_NAME,' +
      'AD_GROUP_ID,AD_GROUP_NAME,IMPRESSIONS,CLICKS,LOADS,CONVERSIONS,UNITS_SOLD,' +
      'CLICK_THROUGH_RATE,CONVERSION_RATE,CONVERSION_VALUE,AD_SPEND_REVENUE,COST_PER_CLICK,' +
      'RETURN_ON_AD_SPEND,CURRENCY'
  )
  assert.equal(
    row,
    '4006381333931,"Coffee beans, 1 kg",Acme,DE,10,Example Shop,1001,Spring,5001,Coffee,' +
      '1,1,0,1,2,1.000000,1.000000,39.98,0.252000000,0.252000,158.6508,EUR'
  )
})
