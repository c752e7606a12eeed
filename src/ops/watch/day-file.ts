// What the watch remembers of the last day, in one small file of the data folder that is written anew each time: it is
// for people who look back, so a loss costs a few lines of a chart and nothing else.
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { Type } from 'typebox'
import type { Of } from '../../contract/fields.ts'
import { compileParser } from '../../contract/validate.ts'
import { pastAlertSchema, vitalPointSchema } from '../../contract/watch.ts'

const schema = Type.Object({
  points: Type.Array(vitalPointSchema),
  ended: Type.Array(pastAlertSchema),
  /** Name and beginning of the alerts that were told and stand. */
  firing: Type.Array(Type.Object({ name: Type.String(), since: Type.String() })),
  /** When the engine process started. */
  startsMs: Type.Array(Type.Integer()),
})

export type RememberedDay = Of<typeof schema>

const parseDay = compileParser(schema)

const nothing: RememberedDay = { points: [], ended: [], firing: [], startsMs: [] }

/** Nothing if there is no file, or none that can be read. */
export function readDay(path: string): RememberedDay {
  try {
    const day = parseDay(JSON.parse(readFileSync(path, 'utf8')))
    return day.ok ? day.value : nothing
  } catch {
    return nothing
  }
}

export async function writeDay(path: string, day: RememberedDay): Promise<void> {
  const draft = `${path}.new`
  await writeFile(draft, JSON.stringify(day), { mode: 0o600 })
  await rename(draft, path)
}
