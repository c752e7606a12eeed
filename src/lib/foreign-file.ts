// Files that must be unpacked or written anew before they are text in UTF-8. None of these first bytes begins one.

const kinds: readonly { readonly firstBytes: Buffer; readonly fault: string }[] = [
  { firstBytes: Buffer.from('1f8b', 'hex'), fault: 'is a gzip file: unpack it first' },
  {
    firstBytes: Buffer.from('504b0304', 'hex'),
    fault: 'is a zip file, or a workbook of a spreadsheet: unpack it, or save it as text',
  },
  { firstBytes: Buffer.from('28b52ffd', 'hex'), fault: 'is a zstd file: unpack it first' },
  { firstBytes: Buffer.from('fd377a585a', 'hex'), fault: 'is an xz file: unpack it first' },
]

const marksOfUtf16 = [Buffer.from('fffe', 'hex'), Buffer.from('feff', 'hex')]

/** What is wrong with a text that begins so, as the end of a sentence about it; null: it may be in UTF-8. */
export function foreignFault(bytes: Buffer): string | null {
  const beginsWith = (first: Buffer) => bytes.subarray(0, first.length).equals(first)
  const found = kinds.find(({ firstBytes }) => beginsWith(firstBytes))
  if (found !== undefined) return found.fault
  // PowerShell and Excel ("Unicode text") write a mark. Without one, every other byte of plain text is zero.
  const isUtf16 = marksOfUtf16.some(beginsWith) || (bytes[0] === 0) !== (bytes[1] === 0)
  return bytes.length > 1 && isUtf16 ? 'is text in UTF-16 and must be in UTF-8' : null
}
