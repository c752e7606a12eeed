import { useState } from 'preact/hooks'
import type { AdvertiserEntry } from '../../../src/contract/catalog-bundle.ts'
import type { Api } from '../api.ts'
import { useLoaded } from '../loaded.ts'
import { addressOf, goTo } from '../router.ts'
import { isAllowed, useSession } from '../session.ts'

interface Choice {
  readonly id: number
  readonly name: string | null
}

interface AdvertiserChoiceProps {
  readonly advertiserId: string | null
  readonly slug: string
  /** What another advertiser is shown under as well. */
  readonly kept: URLSearchParams
}

/** Shows the name if the key is for one advertiser, a choice if for several, and a search if for all. */
export function AdvertiserChoice({ advertiserId, slug, kept }: AdvertiserChoiceProps) {
  const { api, me } = useSession()
  const isForAll = me.advertisers === 'all'
  const mayList = isForAll && isAllowed(me, 'admin')
  const listed = useLoaded(`advertisers ${mayList}`, async (signal): Promise<readonly Choice[]> => {
    if (me.advertisers !== 'all') return me.advertisers
    if (!mayList) return []
    return await listAll(api, signal)
  })
  const choices = listed.state === 'ready' ? listed.value : []
  const page = slug === '' || slug === 'products' ? 'performance' : slug
  const open = (id: string) => goTo(addressOf(['advertisers', id, page], kept))

  if (choices.length === 0) {
    return isForAll && listed.state !== 'loading' ? (
      <AdvertiserById advertiserId={advertiserId} onOpen={open} />
    ) : null
  }
  const [only] = choices
  if (choices.length === 1 && only !== undefined && String(only.id) === advertiserId) {
    return <h2>{only.name ?? `Advertiser ${only.id}`}</h2>
  }
  return (
    <label class="choice">
      <span>Advertiser</span>
      <select value={advertiserId ?? ''} onChange={(event) => open(event.currentTarget.value)}>
        {advertiserId === null && <option value="">Choose …</option>}
        {choices.map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name ?? `Advertiser ${id}`}
          </option>
        ))}
      </select>
    </label>
  )
}

/** As many as a list may offer: who has more chooses by the id. */
const advertisersMax = 10_000

interface AdvertiserPage {
  readonly entries: readonly AdvertiserEntry[]
  readonly next: string | null
}

async function listAll(api: Api, signal: AbortSignal): Promise<readonly Choice[]> {
  const found: Choice[] = []
  let after = ''
  do {
    const path = `admin/v1/catalog/advertisers?limit=1000${after}`
    const { entries, next } = await api.get<AdvertiserPage>(path, signal)
    found.push(...entries)
    after = next === null ? '' : `&after=${encodeURIComponent(next)}`
  } while (after !== '' && found.length < advertisersMax)
  return after === '' ? found : []
}

interface ByIdProps {
  readonly advertiserId: string | null
  readonly onOpen: (id: string) => void
}

function AdvertiserById({ advertiserId, onOpen }: ByIdProps) {
  const [id, setId] = useState(advertiserId ?? '')
  return (
    <form
      class="choice"
      onSubmit={(event) => {
        event.preventDefault()
        if (/^[1-9]\d{0,9}$/u.test(id)) onOpen(id)
      }}
    >
      <label>
        <span>Advertiser id</span>
        <input
          inputMode="numeric"
          value={id}
          onInput={(event) => setId(event.currentTarget.value.trim())}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}
