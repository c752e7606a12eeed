// What the questions of the dashboard cost by themselves, one after the other.
import { addDays } from '../src/domain/day.ts'
import { largeAdvertiserId } from '../tests/helpers/large-catalog.ts'
import type { Service } from '../tests/helpers/service.ts'
import { cpuSeconds } from './service-facts.ts'

const month = 28
const year = 364
/** The first answer of a kind compiles what the others use. */
const runs = 7

const questions: readonly (readonly [string, string, number, object])[] = [
  ['series, 28 days', 'series', month, {}],
  ['series, 28 days, converted', 'series', month, { convertTo: 'EUR' }],
  ['series, a year by day', 'series', year, {}],
  ['series, a year by week', 'series', year, { interval: 'WEEK' }],
  ['series, a year by week, converted', 'series', year, { interval: 'WEEK', convertTo: 'EUR' }],
  ...(['CAMPAIGN', 'PRODUCT'] as const).flatMap((group) =>
    [month, year].flatMap((days) =>
      [
        ['', { withOrders: false }],
        [' with ORDERS', {}],
        [' converted', { withOrders: false, convertTo: 'EUR' }],
        [' converted with ORDERS', { convertTo: 'EUR' }],
      ].map(([what, changes]): readonly [string, string, number, object] => [
        `by ${group.toLowerCase()}, ${days} days${what as string}`,
        'groups',
        days,
        { groupBy: [group], limit: 25, page: 0, ...(changes as object) },
      ])
    )
  ),
]

export async function measureAnswers(service: Service, lastDay: string): Promise<void> {
  console.log('\none question after the other    median    max   CPU of the engine')
  for (const [what, kind, days, changes] of questions) {
    const path = `/v2/advertisers/${largeAdvertiserId}/reports/spa/${kind}.json`
    const body = { startDate: addDays(lastDay, 1 - days), endDate: lastDay, ...changes }
    const times: number[] = []
    let beforeSeconds = 0
    for (let run = 0; run <= runs; run += 1) {
      if (run === 1) beforeSeconds = cpuSeconds(service, 'engine')
      const startMs = performance.now()
      const answer = await service.admin('POST', path, body)
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${what}: ${answer.status} ${text}`)
      if (run > 0) times.push(performance.now() - startMs)
    }
    const cpuMs = ((cpuSeconds(service, 'engine') - beforeSeconds) * 1_000) / runs
    const sorted = times.toSorted((one, other) => one - other)
    const [median = 0, max = 0] = [sorted[Math.floor(runs / 2)], sorted.at(-1)]
    const figures = [median, max, cpuMs].map((ms) => `${ms.toFixed(0).padStart(6)} ms`)
    console.log(`${what.padEnd(44)} ${figures.join(' ')}`)
  }
}
