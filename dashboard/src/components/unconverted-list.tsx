import { useState } from 'preact/hooks'
import type { UnconvertedPage, UnconvertedRow } from '../../../src/contract/unconverted.ts'
import { addDays } from '../../../src/domain/day.ts'
import { formatCount, formatDay, formatMoney, nothing } from '../format.ts'
import { useLoaded } from '../loaded.ts'
import { useNow } from '../service-clock.ts'
import { useSession } from '../session.ts'
import { readersDay } from '../market-days.ts'
import { CursorPager } from './cursor-pager.tsx'
import { Figure } from './figure.tsx'
import { countOfPage, Folded, ListToLookAt, type ListPlace } from './list-to-look-at.tsx'
import { Empty } from './notices.tsx'
import { Table, type TableColumn } from './table.tsx'
import { t } from '../language.ts'

type CountName = 'impressions' | 'clicks' | 'lines'

function countColumn(name: CountName, label: string): TableColumn<UnconvertedRow> {
  return {
    name,
    label,
    isFigure: true,
    cell: (row) => <Figure exact={String(row[name])} shown={formatCount(String(row[name]))} />,
  }
}

function amountColumn(name: 'spend' | 'value', label: string): TableColumn<UnconvertedRow> {
  return {
    name,
    label,
    isFigure: true,
    cell: (row) => <Figure exact={row[name]} shown={formatMoney(row[name], row.currency)} />,
  }
}

const columns: readonly TableColumn<UnconvertedRow>[] = [
  { name: 'date', label: t('Day'), cell: ({ date }) => formatDay(date) },
  {
    name: 'market',
    label: t('Market'),
    cell: ({ market, marketId }) =>
      market ?? t('{{id}}, not in the catalog', { id: String(marketId) }),
  },
  { name: 'advertiser', label: t('Advertiser'), cell: ({ advertiserId }) => String(advertiserId) },
  { name: 'currency', label: t('Currency'), cell: ({ currency }) => currency || nothing },
  countColumn('impressions', t('Impressions')),
  countColumn('clicks', t('Clicks')),
  amountColumn('spend', t('Spend')),
  countColumn('lines', t('Lines')),
  amountColumn('value', t('Value')),
]

/** Amounts that reports count but cannot add up. */
export function UnconvertedList(place: ListPlace) {
  const { api } = useSession()
  const [after, setAfter] = useState<string | null>(null)
  const today = readersDay(useNow(api.clock))
  const query = new URLSearchParams({
    startDate: addDays(today, -30),
    // In some time zones it is already tomorrow.
    endDate: addDays(today, 1),
    limit: '100',
    ...(after !== null && { after }),
  })
  const path = `admin/v1/unconverted?${query}`
  const page = useLoaded(path, async (signal) => await api.get<UnconvertedPage>(path, signal))
  return (
    <ListToLookAt
      {...place}
      title={t('Amounts without a rate')}
      about={t(
        'Of the last 30 days. Reports count them and add no money for them until rates are loaded, or the market is in the catalog.'
      )}
      what={t('the amounts without a rate')}
      loaded={page}
      countOf={({ rows, next }) => countOfPage(after, rows.length, next)}
    >
      {({ rows, next }) =>
        rows.length === 0 && after === null ? (
          <Empty>{t('Nothing to look at: every amount has a rate.')}</Empty>
        ) : (
          <Folded rows={rows.length} isAsked={place.isAsked}>
            <Table
              caption={t('Amounts without a rate, by day')}
              columns={columns}
              rows={rows}
              keyOf={(_row, index) => String(index)}
            />
            <CursorPager
              label={t('Pages of the amounts without a rate')}
              {...{ after, next, onChange: setAfter }}
            />
          </Folded>
        )
      }
    </ListToLookAt>
  )
}
