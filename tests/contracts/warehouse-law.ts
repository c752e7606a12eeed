import assert from 'node:assert/strict'
import { ServiceError } from '../../src/errors.ts'
import { parseRows } from '../../src/warehouse/warehouse.ts'
import type { Params, Warehouse } from '../../src/warehouse/warehouse.ts'

/** By the guarantee in one sentence; each runs on an empty database of its own. */
export type Laws = Readonly<Record<string, (warehouse: Warehouse) => Promise<void>>>

/** More than the sessions of the one adapter and the connections of the other. */
export const callsBeyondPool = 20

export async function createScratch(warehouse: Warehouse): Promise<void> {
  await warehouse.command(
    'CREATE TABLE scratch (id Int64, text String) ENGINE = MergeTree ORDER BY id'
  )
}

export async function readAll(
  warehouse: Warehouse,
  sql: string,
  params: Params = {}
): Promise<readonly unknown[][]> {
  const all: unknown[][] = []
  for await (const block of warehouse.stream(sql, params)) all.push(...parseRows(block))
  return all
}

/** Checks that the statement or its data is at fault, and by which of the engine's codes. */
export function isRefusal(clickhouseCode?: number): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'WAREHOUSE_REFUSED')
    assert.equal(typeof error.details['clickhouseCode'], 'number')
    if (clickhouseCode !== undefined) assert.equal(error.details['clickhouseCode'], clickhouseCode)
    assert.ok(error.cause instanceof Error)
    return true
  }
}
