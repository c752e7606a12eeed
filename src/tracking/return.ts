import { parseReturn } from '../contract/return.ts'
import { toReturnRecord } from '../spool/return-record.ts'
import type { BackendRoute } from './backend.ts'

export const returnRoute: BackendRoute = {
  path: '/return',
  refusalToBrowsers: 'Returns must be sent by the backend of the publisher, not by a browser.',
  parse: (body, receipt) => {
    const parsed = parseReturn(body)
    return parsed.ok ? { ok: true, record: toReturnRecord(parsed.value, receipt) } : parsed
  },
}
