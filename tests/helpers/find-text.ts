// Searches a whole warehouse for a text, through SQL, since its files are compressed.

import type { Warehouse } from '../../src/warehouse/warehouse.ts'

/** `table.column` of every column that holds the text, as it is or as the bytes that it spells in hex. */
export async function findText(warehouse: Warehouse, text: string): Promise<readonly string[]> {
  const columns = await warehouse.rows<{ table: string; name: string; isArray: number }>(
    `SELECT c.table AS table, c.name AS name,
       startsWith(c.type, 'Array') AS isArray
     FROM system.columns AS c
     INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
     WHERE c.database = currentDatabase() AND c.type LIKE '%String%'
       AND t.engine LIKE '%MergeTree' AND c.type NOT LIKE 'SimpleAggregateFunction%'
     ORDER BY table, c.position LIMIT 10000`
  )
  const found: string[] = []
  for (const { table, name, isArray } of columns) {
    const bytes =
      isArray === 1
        ? `arrayStringConcat(arrayMap(one -> hex(one), \`${name}\`), ' ')`
        : `hex(\`${name}\`)`
    const [row] = await warehouse.rows<{ count: number }>(
      `SELECT count() AS count FROM \`${table}\`
       WHERE position(toString(\`${name}\`), {text:String}) > 0
         OR positionCaseInsensitive(${bytes}, {text:String}) > 0`,
      { text }
    )
    if ((row?.count ?? 0) > 0) found.push(`${table}.${name}`)
  }
  return found
}
