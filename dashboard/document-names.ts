/** The documents of the help, by the names in their addresses: those of their files in small letters. */
export const documentNames = [
  'advertiser',
  'publisher',
  'ad-server',
  'client',
  'operator',
  'changelog',
] as const

export type DocumentName = (typeof documentNames)[number]

export function isDocument(name: string | undefined): name is DocumentName {
  return documentNames.some((one) => one === name)
}
