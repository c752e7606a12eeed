/** Rows under a header, aligned; cells never break the layout or drive the terminal. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[]
): string {
  const lines = [header, ...rows].map((cells) => cells.map(printable))
  const widths = header.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0))
  )
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** Control and format characters (escape sequences, changes of direction) show as a mark. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}
