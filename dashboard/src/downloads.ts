// Files of a report: all pages as one text.
import type { GroupBody } from '../../src/contract/group-request.ts'
import { ApiError, foreignAnswer, type Api } from './api.ts'
import { t } from './language.ts'
import { reportPath } from './reports.ts'
import { tableRequestOf, type View } from './view.ts'

const download = { rowsPerPage: 10_000, pagesMax: 30 } as const

/** The CSV of all pages as one text, in the order and under the filters shown. */
export async function downloadCsv(api: Api, advertiserId: number, view: View): Promise<string> {
  const path = reportPath(advertiserId, 'groups.csv')
  return await joinPages((paging) => {
    const body: GroupBody = { ...tableRequestOf(view), ...paging }
    return api.text({ method: 'POST', path, body, mediaType: 'text/csv' })
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
    if (page > 0 && id !== resultId) {
      throw new ApiError(0, [t('The figures changed during the download. Start it again.')])
    }
    resultId = id
    text += page === 0 ? answer.text : answer.text.slice(answer.text.indexOf('\n') + 1)
    if ((page + 1) * download.rowsPerPage >= totalRowsOf(answer.headers)) return text
    if (page + 1 === download.pagesMax) {
      const rows = download.rowsPerPage * download.pagesMax
      throw new ApiError(0, [
        t('The file would have more than {{rows}} rows. Choose fewer days or filter them.', {
          rows,
        }),
      ])
    }
  }
}

/** Over all pages of a CSV. */
export function totalRowsOf(headers: Headers): number {
  const text = headers.get('x-total-rows')
  // Every CSV of the service says it. Without it, a part would pass for the whole.
  if (text === null) throw foreignAnswer()
  return Number(text)
}
