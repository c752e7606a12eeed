// Comparison of names as people read them: in any case, and with accents in either form of Unicode. What macOS writes
// often has a letter and its accent as two characters, what is typed has one. Greek has two small letters for its
// capital sigma, one of which stands only at the end of a word, so a part of a title may end with the other one.

/** The SQL expression of a text to compare. */
export function anyCaseSql(text: string): string {
  return `replaceAll(lowerUTF8(normalizeUTF8NFC(${text})), 'ς', 'σ')`
}

/** The same in this process. */
export function anyCase(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ')
}
