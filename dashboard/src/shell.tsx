import { useEffect, useRef, useState } from 'preact/hooks'
import type { Me } from '../../src/contract/me.ts'
import { nameOf, useAdvertisers, type Advertiser } from './advertisers.ts'
import { AdvertiserChoice } from './components/advertiser-choice.tsx'
import { Explanations } from './components/explanations.tsx'
import { LanguageChoice } from './components/language-choice.tsx'
import { Mark } from './components/mark.tsx'
import { Empty, Stages } from './components/notices.tsx'
import { formatInstant } from './format.ts'
import { phrase, t } from './language.ts'
import { latestOf, type Loaded } from './loaded.ts'
import { isDocument } from '../document-names.ts'
import { Document } from './pages/document.tsx'
import { Help } from './pages/help.tsx'
import { Overview } from './pages/overview.tsx'
import { advertiserPages, operatorPages } from './page-table.ts'
import { addressOf, replaceWith, usePlace, type Place } from './router.ts'
import { useScrollOfHistory } from './scroll.ts'
import { isAllowed, useSession } from './session.ts'
import { carriedOn } from './view.ts'
import { keepTheme, readTheme, themes, type Theme } from './theme.ts'

/** The frame of every page: the menu, the signed-in key, and the page of the address. */
export function Shell() {
  const { me } = useSession()
  const place = usePlace()
  const main = useRef<HTMLElement>(null)
  const advertisers = useAdvertisers()
  const listed = latestOf(advertisers) ?? []
  const home = homeOf(me)
  const isHome = place.path.length === 0
  useEffect(() => {
    if (isHome && home !== null) replaceWith(home)
  }, [isHome, home])
  useNewPageFocus(place, main, titleOf(place.path, listed))
  const [isMenuOpen, setIsMenuOpen] = useState(false)
  const page = place.path.join('/')
  useEffect(() => setIsMenuOpen(false), [page])

  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t('Skip to content')}
      </button>
      <header class={`side ${isMenuOpen ? 'open' : ''}`}>
        <div class="brand">
          <Mark />
          <span>Shelftrace</span>
          <button
            type="button"
            class="phone-only"
            aria-expanded={isMenuOpen}
            onClick={() => setIsMenuOpen(!isMenuOpen)}
          >
            {t('Menu')}
          </button>
        </div>
        <Menu place={place} advertisers={advertisers} />
        <SessionBox />
      </header>
      <main ref={main} tabIndex={-1}>
        <PlaceNotice />
        <CurrentPage place={place} advertisers={advertisers} />
      </main>
      <Explanations />
    </div>
  )
}

/** Says why nothing comes yet, where all places of the key or of the service are taken. */
function PlaceNotice() {
  const { api } = useSession()
  const [isWaiting, setIsWaiting] = useState(false)
  useEffect(() => api.onPlacesChanged(() => setIsWaiting(api.isWaitingForPlace())), [api])
  if (!isWaiting) return null
  return (
    <p class="notice" role="status">
      {t('Others are reading reports right now: waiting for a free place …')}
    </p>
  )
}

/** Screen readers start at the top of a new page; a changed filter leaves the focus where it is. */
function useNewPageFocus(
  { path }: Place,
  main: { readonly current: HTMLElement | null },
  title: string
): void {
  const name = path.join('/')
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${title} · Shelftrace`
  }, [title])
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [name])
  useScrollOfHistory(name)
}

/** The name comes first: tabs of several advertisers are told apart by it. */
function titleOf(path: readonly string[], advertisers: readonly Advertiser[]): string {
  if (path[0] === 'overview') return t('Overview')
  if (path[0] === 'help') return t('Help')
  const page = pageTitleOf(path)
  const advertiser =
    path[0] === 'advertisers' && advertisers.find(({ id }) => String(id) === path[1])
  return advertiser ? `${nameOf(advertiser)} · ${page}` : page
}

function pageTitleOf(path: readonly string[]): string {
  const [area, slug] =
    path[0] === 'operator' ? [operatorPages, path[1]] : [advertiserPages, path[2]]
  return area.find((page) => page.slug === slug)?.title ?? t('Dashboard')
}

function homeOf(me: Me): string | null {
  const advertiserPage = advertiserPages.find((page) => isAllowed(me, page.scope))
  const operatorPage = operatorPages.find((page) => isAllowed(me, page.scope))
  const first = me.advertisers === 'all' ? null : (me.advertisers[0]?.id ?? null)
  // Operators begin with the service.
  const isOfSeveral =
    me.advertisers === 'all' ? operatorPage === undefined : me.advertisers.length > 1
  if (isOfSeveral && isAllowed(me, 'report:read')) return addressOf(['overview'])
  if (first !== null && advertiserPage !== undefined) {
    return addressOf(['advertisers', first, advertiserPage.slug])
  }
  return operatorPage === undefined ? null : addressOf(['operator', operatorPage.slug])
}

interface MenuProps {
  readonly place: Place
  readonly advertisers: Loaded<readonly Advertiser[]>
}

function Menu({ place: { path, query }, advertisers }: MenuProps) {
  const { me } = useSession()
  const advertiserId = path[0] === 'advertisers' ? (path[1] ?? null) : null
  const slug = path[0] === 'advertisers' ? (path[2] ?? '') : (path[1] ?? '')
  const ofAdvertiser = advertiserPages.filter((page) => page.isInMenu && isAllowed(me, page.scope))
  const ofOperator = operatorPages.filter((page) => page.isInMenu && isAllowed(me, page.scope))
  const hasAdvertisers = me.advertisers === 'all' || me.advertisers.length > 0
  const current = slug === 'products' ? 'performance' : slug
  return (
    <nav class="menu" aria-label={t('Pages')}>
      {hasAdvertisers && ofAdvertiser.length > 0 && (
        <section>
          {(latestOf(advertisers) ?? []).length > 1 && isAllowed(me, 'report:read') && (
            <ul>
              <li>
                <a
                  href={addressOf(['overview'], carriedOn(query))}
                  aria-current={path[0] === 'overview' ? 'page' : undefined}
                >
                  {t('Overview')}
                </a>
              </li>
            </ul>
          )}
          <AdvertiserChoice {...{ advertisers, advertiserId, slug }} kept={carriedOn(query)} />
          {advertiserId !== null && (
            <ul>
              {ofAdvertiser.map((page) => (
                <li key={page.slug}>
                  <a
                    href={addressOf(['advertisers', advertiserId, page.slug], carriedOn(query))}
                    aria-current={current === page.slug ? 'page' : undefined}
                  >
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          )}
        </section>
      )}
      {ofOperator.length > 0 && (
        <section>
          <h2>{t('Operator')}</h2>
          <ul>
            {ofOperator.map((page) => (
              <li key={page.slug}>
                <a
                  href={addressOf(['operator', page.slug])}
                  aria-current={path[0] === 'operator' && slug === page.slug ? 'page' : undefined}
                >
                  {page.title}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <ul>
        <li>
          <a href={addressOf(['help'])} aria-current={path[0] === 'help' ? 'page' : undefined}>
            {t('Help')}
          </a>
        </li>
      </ul>
    </nav>
  )
}

const expiryNoticeDays = 14

function daysUntil(instant: string, now: Date): number {
  return (Date.parse(instant) - now.getTime()) / 86_400_000
}

function SessionBox() {
  const { api, me, signOut } = useSession()
  const [theme, setTheme] = useState(readTheme)
  const choose = (text: string) => {
    const chosen: Theme = themes.find((known) => known === text) ?? 'system'
    keepTheme(chosen)
    setTheme(chosen)
  }
  return (
    <div class="session">
      <p class="muted" title={me.scopes.join(', ')}>
        {phrase('Signed in as {{name}}', { name: <strong>{me.name}</strong> })}
      </p>
      {me.expiresAt !== null && daysUntil(me.expiresAt, api.clock.now()) <= expiryNoticeDays && (
        <p class="notice warning">
          {me.signOn
            ? t('Your access ends on {{time}}.', { time: formatInstant(me.expiresAt) })
            : t('Your key ends on {{time}}.', { time: formatInstant(me.expiresAt) })}
        </p>
      )}
      <label>
        <span>{t('Colours')}</span>
        <select value={theme} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="system">{t('As the system')}</option>
          <option value="light">{t('Light')}</option>
          <option value="dark">{t('Dark')}</option>
        </select>
      </label>
      <LanguageChoice />
      {signOut !== null && (
        <button type="button" onClick={signOut}>
          {t('Sign out')}
        </button>
      )}
    </div>
  )
}

function CurrentPage({ place: { path, query }, advertisers }: MenuProps) {
  const { me } = useSession()
  if (path[0] === 'help' && path.length === 1) return <Help query={query} />
  if (path[0] === 'help' && path.length === 2 && isDocument(path[1])) {
    return <Document name={path[1]} />
  }
  if (path[0] === 'overview' && path.length === 1) {
    if (!isAllowed(me, 'report:read')) {
      return <NotAllowed title={t('Overview')} scope="report:read" />
    }
    return (
      <Stages loaded={advertisers} what={t('the advertisers')}>
        {(known) =>
          known.length > 0 ? <Overview advertisers={known} query={query} /> : <Welcome />
        }
      </Stages>
    )
  }
  if (path[0] === 'advertisers') {
    const page = advertiserPages.find(({ slug }) => slug === path[2])
    const advertiserId = Number(path[1])
    if (page !== undefined && Number.isInteger(advertiserId)) {
      if (!isAllowed(me, page.scope)) return <NotAllowed title={page.title} scope={page.scope} />
      const { component: Component } = page
      // Another advertiser is a new page, so that nothing of the previous one stays visible.
      return (
        <Component
          key={`${advertiserId} ${page.slug}`}
          advertiserId={advertiserId}
          query={query}
          rest={path.slice(3)}
        />
      )
    }
  }
  const page =
    path[0] === 'operator' ? operatorPages.find(({ slug }) => slug === path[1]) : undefined
  if (page !== undefined) {
    if (!isAllowed(me, page.scope)) return <NotAllowed title={page.title} scope={page.scope} />
    const { component: Component } = page
    return <Component query={query} rest={path.slice(2)} />
  }
  if (path.length === 0) return <Welcome />
  return (
    <>
      <h1>{t('Nothing is here')}</h1>
      <Empty>{t('The address names no page. Choose one from the menu.')}</Empty>
    </>
  )
}

function NotAllowed({ title, scope }: { readonly title: string; readonly scope: string }) {
  return (
    <>
      <h1>{title}</h1>
      <Empty>
        {phrase(
          'Your key does not have the scope {{scope}}, which this page needs. Your operator can give you one that has.',
          { scope: <code>{scope}</code> }
        )}
      </Empty>
    </>
  )
}

function Welcome() {
  const { me } = useSession()
  const canChoose = me.advertisers === 'all'
  return (
    <>
      <h1>{t('Welcome')}</h1>
      <Empty>
        {canChoose
          ? t('Choose an advertiser from the menu.')
          : t('Your key is for no page of this dashboard. It may do: {{scopes}}.', {
              scopes: me.scopes.join(', '),
            })}
      </Empty>
    </>
  )
}
