// The pages, who may see them and what renders them. A new page is one line here.
import type { ComponentType } from 'preact'
import type { Scope } from '../../src/contract/admin.ts'
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
    title: 'Performance',
    scope: 'report:read',
    isInMenu: true,
    component: Performance,
  },
  { slug: 'products', title: 'Product', scope: 'report:read', isInMenu: false, component: Product },
  {
    slug: 'purchases',
    title: 'Purchases',
    scope: 'report:read',
    isInMenu: true,
    component: Purchases,
  },
  {
    slug: 'placements',
    title: 'Placements',
    scope: 'site:read',
    isInMenu: true,
    component: Placements,
  },
  { slug: 'assets', title: 'Assets', scope: 'asset:write', isInMenu: true, component: Assets },
]

export const operatorPages: readonly Page<OperatorPageProps>[] = [
  { slug: 'live', title: 'Live', scope: 'admin', isInMenu: true, component: Live },
  { slug: 'traffic', title: 'Traffic quality', scope: 'admin', isInMenu: true, component: Traffic },
  {
    slug: 'to-look-at',
    title: 'To look at',
    scope: 'admin',
    isInMenu: true,
    component: ToLookAt,
  },
  {
    slug: 'lookup',
    title: 'Look up a purchase',
    scope: 'admin',
    isInMenu: true,
    component: Lookup,
  },
  { slug: 'link', title: 'Look up a link', scope: 'admin', isInMenu: true, component: Link },
  { slug: 'catalog', title: 'Catalog', scope: 'admin', isInMenu: true, component: Catalog },
  { slug: 'keys', title: 'Keys', scope: 'admin', isInMenu: true, component: Keys },
]
