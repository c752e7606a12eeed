import { parseConversion } from '../contract/conversion.ts'
import type { IdentityHasher } from '../domain/identity.ts'
import { toConversionRecord } from '../spool/conversion-record.ts'
import type { BackendRoute } from './backend.ts'

export function conversionRoute(hashIdentity: IdentityHasher): BackendRoute {
  return {
    path: '/conversion',
    refusalToBrowsers:
      'Conversions must be sent by the backend of the publisher, not by a browser.',
    parse: (body, receipt) => {
      const parsed = parseConversion(body)
      if (!parsed.ok) return parsed
      return {
        ok: true,
        record: toConversionRecord(parsed.conversion, { ...receipt, hashIdentity }),
      }
    },
  }
}
