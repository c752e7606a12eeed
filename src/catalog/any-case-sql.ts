/**
 * The text of an SQL expression as it compares in any case. Greek has two small letters for its capital sigma, of which
 * one stands at the end of words only, so a part of a title may end with the other one.
 */
export function anyCaseSql(text: string): string {
  return `replaceAll(lowerUTF8(${text}), 'ς', 'σ')`
}
