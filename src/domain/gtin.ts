const gtinDigits = 14

/**
 * The text by which products are compared. It is trimmed of ASCII white space (space, \t, \n, \v, \f,
 * \r; nothing else, no U+00A0 and no U+FEFF), then 8, 12, 13 or 14 ASCII digits are padded with zeros
 * to 14, the way GS1 embeds the short forms in the long one. Everything else stays as it is, case
 * included: shops send article codes of their own, and a wrong check digit is still a product.
 *
 * The warehouse computes the same:
 * `trim(BOTH ' \t\n\v\f\r' FROM gtin) AS t`, then
 * `if(match(t, '^([0-9]{8}|[0-9]{12,14})$'), leftPad(t, 14, '0'), t)`.
 */
export function gtinKey(text: string): string {
  const trimmed = trimGtin(text)
  return /^(?:[0-9]{8}|[0-9]{12,14})$/.test(trimmed) ? trimmed.padStart(gtinDigits, '0') : trimmed
}

/**
 * Without the white space that `gtinKey` ignores, so that one product is not shown in two spellings. Not `trim`, which also takes Unicode spaces that SQL keeps; not a pattern, which can backtrack.
 */
export function trimGtin(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start += 1
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** U+0009 to U+000D are \t, \n, \v, \f and \r. */
function isAsciiSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
