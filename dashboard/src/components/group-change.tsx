import type { ComponentChildren } from 'preact'
import type { Row } from '../columns.ts'
import { changeOf, formatMoney, nothing } from '../format.ts'
import { baseRequestOf, changesIn, comparedColumn, type GroupChange } from '../group-base.ts'
import type { GroupRows } from '../group-rows.ts'
import { useGroupBase } from '../reports.ts'
import type { View } from '../view.ts'
import { ChangeMark } from './change-mark.tsx'
import type { TableColumn } from './table.tsx'
import type { TileBase } from './tiles.tsx'
import { t } from '../language.ts'

interface ChangeColumnProps {
  readonly advertiserId: number
  readonly groups: GroupRows
  readonly view: View
  readonly base: TileBase
}

/**
 * The change of each row's value. Only the rows shown are asked for, once they are there. Null where nothing is
 * compared: the note above says why.
 */
export function useChangeColumn(props: ChangeColumnProps): TableColumn<Row> | null {
  const { advertiserId, groups, view, base } = props
  const isCompared = base.state !== 'none' && view.columns.includes(comparedColumn)
  const request = isCompared ? baseRequestOf(view, groups.rows) : null
  const loaded = useGroupBase(advertiserId, request)
  if (request === null) return null
  const before = loaded.state === 'ready' ? loaded.value : null
  const changeIn = before === null ? null : changesIn(view, before.rows)
  const ofRow = (row: Row) => {
    if (loaded.state === 'failed') return <Muted>{t('not known')}</Muted>
    return changeIn === null ? <ToCome /> : <Change row={row} change={changeIn(row)} />
  }
  return {
    name: 'CHANGE',
    label: t('Value, change'),
    isFigure: true,
    cell: (row) => (row === groups.totals ? <TotalChange {...{ row, base }} /> : ofRow(row)),
  }
}

function Change({ row, change }: { readonly row: Row; readonly change: GroupChange | null }) {
  if (change === null) return <>{nothing}</>
  if (change.kind === 'new') return <Muted>{t('new')}</Muted>
  if (change.kind === 'none-before') return <Muted>{t('none before')}</Muted>
  const before = formatMoney(change.before, row['CURRENCY'])
  return (
    <span title={t('from {{value}}', { value: before })}>
      <ChangeMark change={change.change} />
    </span>
  )
}

/** The totals of the table are those of the tiles. */
function TotalChange({ row, base }: { readonly row: Row; readonly base: TileBase }) {
  if (base.state === 'loading') return <ToCome />
  if (base.state === 'none') return <></>
  const change = changeOf(row[comparedColumn], base.total?.[comparedColumn])
  return change === null ? <Muted>{t('none before')}</Muted> : <ChangeMark change={change} />
}

function Muted({ children }: { readonly children: ComponentChildren }) {
  return <span class="change">{children}</span>
}

function ToCome() {
  return <span class="change loading">…</span>
}
