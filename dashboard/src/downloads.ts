// Files of a report: all pages as one text.
import type { GroupBody } from '../../src/contract/group-request.ts'
import type { Api } from './api.ts'
import { reportPath } from './reports.ts'
import { tableRequestOf, type View } from './view.ts'

const download = { rowsPerPage: 10_000, pagesMax: 30 } as const

/** The CSV of all pages as one text, in the order and under the filters shown. */
export async function downloadCsv(api: Api, advertiserId: number, view: View): Promise<string> {
  const path = reportPath(advertiserId, 'groups.csv')
  return await joinPages((paging) => {
    const body: GroupBody = { ...tableRequestOf(view), ...paging }
    return api.text({ method: 'POST', path, body })
  })
}

type ReadPage = (paging: {
  readonly page: number
  readonly limit: number
}) => ReturnType<Api['text']>

/** The pages of a CSV as one text. */
export async function joinPages(readPage: ReadPage): Promise<string> {
  let text = ''
  let resultId: string | null = null
  for (let page = 0; ; page += 1) {
    const answer = await readPage({ page, limit: download.rowsPerPage })
    const id = answer.headers.get('x-result-id')
    if (page > 0 && id !== resultId) throw new Error('the figures changed during the download')
    resultId = id
    text += page === 0 ? answer.text : answer.text.slice(answer.text.indexOf('\n') + 1)
    const totalRows = Number(answer.headers.get('x-total-rows'))
    if ((page + 1) * download.rowsPerPage >= totalRows) return text
    if (page + 1 === download.pagesMax) throw new Error('the report is too long for a browser')
  }
}
