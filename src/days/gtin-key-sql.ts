/** The same as `gtinKey` in domain/gtin.ts; a test holds them equal. */
export function gtinKeySql(column: string): string {
  const trimmed = String.raw`trim(BOTH ' \t\n\v\f\r' FROM ${column})`
  return `if(match(${trimmed}, '^([0-9]{8}|[0-9]{12,14})$'), leftPad(${trimmed}, 14, '0'), ${trimmed})`
}
