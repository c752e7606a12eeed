// Comparison in any case. Greek has two small letters for its capital sigma, one of which stands only at the end of a
// word, so a part of a title may end with the other one.

/** The SQL expression of a text to compare. */
export function anyCaseSql(text: string): string {
  return `replaceAll(lowerUTF8(${text}), 'ς', 'σ')`
}

/** The same in this process. */
export function anyCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}
