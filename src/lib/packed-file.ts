// Files that must be unpacked before they are text. None of these first bytes begins a text.

const kinds: readonly { readonly firstBytes: Buffer; readonly fault: string }[] = [
  { firstBytes: Buffer.from('1f8b', 'hex'), fault: 'is a gzip file: unpack it first' },
  {
    firstBytes: Buffer.from('504b0304', 'hex'),
    fault: 'is a zip file, or a workbook of a spreadsheet: unpack it, or save it as text',
  },
  { firstBytes: Buffer.from('28b52ffd', 'hex'), fault: 'is a zstd file: unpack it first' },
  { firstBytes: Buffer.from('fd377a585a', 'hex'), fault: 'is an xz file: unpack it first' },
]

/** What is wrong with a text that begins so, as the end of a sentence about it; null: it is not packed. */
export function packedFault(bytes: Buffer): string | null {
  const found = kinds.find(({ firstBytes }) =>
    bytes.subarray(0, firstBytes.length).equals(firstBytes)
  )
  return found?.fault ?? null
}
