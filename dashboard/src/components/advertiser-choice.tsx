import { useState } from 'preact/hooks'
import { findAdvertisers, nameOf, noteRecent, readRecent, type Advertiser } from '../advertisers.ts'
import { t } from '../language.ts'
import type { Loaded } from '../loaded.ts'
import { addressOf, goTo } from '../router.ts'
import { useSession } from '../session.ts'
import { Combobox } from './combobox.tsx'

interface AdvertiserChoiceProps {
  readonly advertisers: Loaded<readonly Advertiser[]>
  readonly advertiserId: string | null
  readonly slug: string
  /** What another advertiser is shown under as well. */
  readonly kept: URLSearchParams
}

const offersMax = 50

/** Shows the name if the key is for one advertiser, a search if for several, and a field for the id else. */
export function AdvertiserChoice(props: AdvertiserChoiceProps) {
  const { advertisers, advertiserId, slug, kept } = props
  const { me } = useSession()
  const choices = advertisers.state === 'ready' ? advertisers.value : []
  const isOfAdvertiser = slug !== '' && slug !== 'products' && advertiserId !== null
  const open = (id: number) => {
    noteRecent(id)
    goTo(addressOf(['advertisers', id, isOfAdvertiser ? slug : 'performance'], kept))
  }
  if (choices.length === 0) {
    return me.advertisers === 'all' && advertisers.state !== 'loading' ? (
      <AdvertiserById advertiserId={advertiserId} onOpen={open} />
    ) : null
  }
  const [only] = choices
  if (choices.length === 1 && only !== undefined && String(only.id) === advertiserId) {
    return <h2>{nameOf(only)}</h2>
  }
  return <AdvertiserSearch {...{ choices, advertiserId }} onOpen={open} />
}

interface SearchProps {
  readonly choices: readonly Advertiser[]
  readonly advertiserId: string | null
  readonly onOpen: (id: number) => void
}

function AdvertiserSearch({ choices, advertiserId, onOpen }: SearchProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const current = choices.find(({ id }) => String(id) === advertiserId)
  const found = findAdvertisers(choices, typed ?? '', readRecent())
  const offered = found.slice(0, offersMax)
  const leftCount = found.length - offered.length
  const note =
    found.length === 0
      ? t('No advertiser has this name.')
      : leftCount > 0
        ? t('{{count}} more: type to find them.', { count: leftCount })
        : ''
  return (
    <div class="choice">
      <Combobox
        label={t('Advertiser')}
        text={typed ?? (current === undefined ? '' : nameOf(current))}
        choices={offered.map((one) => ({ value: String(one.id), name: nameOf(one), of: '' }))}
        note={note}
        onText={setTyped}
        onOpen={(isOpen) => setTyped(isOpen ? '' : null)}
        onChoose={({ value }) => {
          setTyped(null)
          onOpen(Number(value))
        }}
      />
    </div>
  )
}

interface ByIdProps {
  readonly advertiserId: string | null
  readonly onOpen: (id: number) => void
}

function AdvertiserById({ advertiserId, onOpen }: ByIdProps) {
  const [id, setId] = useState(advertiserId ?? '')
  return (
    <form
      class="choice"
      onSubmit={(event) => {
        event.preventDefault()
        if (/^[1-9]\d{0,9}$/u.test(id)) onOpen(Number(id))
      }}
    >
      <label>
        <span>{t('Advertiser id')}</span>
        <input
          inputMode="numeric"
          value={id}
          onInput={(event) => setId(event.currentTarget.value.trim())}
        />
      </label>
      <button type="submit">{t('Open')}</button>
    </form>
  )
}
