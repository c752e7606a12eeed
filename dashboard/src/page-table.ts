// The pages, who may see them and what renders them. A new page is one line here.
import type { ComponentType } from 'preact'
import type { Scope } from '../../src/contract/admin.ts'
import { t } from './language.ts'
import { Assets } from './pages/assets.tsx'
import { Catalog } from './pages/operator/catalog.tsx'
import { Keys } from './pages/operator/keys.tsx'
import { Link } from './pages/operator/link.tsx'
import { Live } from './pages/operator/live.tsx'
import { Lookup } from './pages/operator/lookup.tsx'
import { ToLookAt } from './pages/operator/to-look-at.tsx'
import { Traffic } from './pages/operator/traffic.tsx'
import { Performance } from './pages/performance.tsx'
import { Placements } from './pages/placements.tsx'
import { Product } from './pages/product.tsx'
import { Purchases } from './pages/purchases.tsx'

export interface AdvertiserPageProps {
  readonly advertiserId: number
  readonly query: URLSearchParams
  /** The part of the address after the page's name. */
  readonly rest: readonly string[]
}

export interface OperatorPageProps {
  readonly query: URLSearchParams
  readonly rest: readonly string[]
}

interface Page<Props> {
  /** Its name in the address. */
  readonly slug: string
  readonly title: string
  readonly scope: Scope
  /** Pages about one entry are reached from a list and are not in the menu. */
  readonly isInMenu: boolean
  readonly component: ComponentType<Props>
}

export const advertiserPages: readonly Page<AdvertiserPageProps>[] = [
  {
    slug: 'performance',
    title: t('Performance'),
    scope: 'report:read',
    isInMenu: true,
    component: Performance,
  },
  {
    slug: 'products',
    title: t('Product'),
    scope: 'report:read',
    isInMenu: false,
    component: Product,
  },
  {
    slug: 'purchases',
    title: t('Purchases'),
    scope: 'report:read',
    isInMenu: true,
    component: Purchases,
  },
  {
    slug: 'placements',
    title: t('Placements'),
    scope: 'site:read',
    isInMenu: true,
    component: Placements,
  },
  { slug: 'assets', title: t('Assets'), scope: 'asset:write', isInMenu: true, component: Assets },
]

export const operatorPages: readonly Page<OperatorPageProps>[] = [
  { slug: 'live', title: t('Live'), scope: 'admin', isInMenu: true, component: Live },
  {
    slug: 'traffic',
    title: t('Traffic quality'),
    scope: 'admin',
    isInMenu: true,
    component: Traffic,
  },
  {
    slug: 'to-look-at',
    title: t('To look at'),
    scope: 'admin',
    isInMenu: true,
    component: ToLookAt,
  },
  {
    slug: 'lookup',
    title: t('Look up a purchase'),
    scope: 'admin',
    isInMenu: true,
    component: Lookup,
  },
  { slug: 'link', title: t('Look up a link'), scope: 'admin', isInMenu: true, component: Link },
  { slug: 'catalog', title: t('Catalog'), scope: 'admin', isInMenu: true, component: Catalog },
  { slug: 'keys', title: t('Keys'), scope: 'admin', isInMenu: true, component: Keys },
]
