import { Type } from 'typebox'
import { siteTypes } from '../domain/site-type.ts'
import { int32, named, optional, wordOf, type Of } from './fields.ts'

export const adGroupTypes = ['DISPLAY', 'SPA', 'SPONSORED_BRAND'] as const
export const locationTypes = ['DISPLAY', 'PLATFORM_PRODUCT', 'FULL_PRODUCT'] as const
export const locationNames = [
  'CATEGORY_PAGE',
  'SEARCH_PAGE',
  'HOME_PAGE',
  'PRODUCT_PAGE',
  'CHECKOUT',
  'MINI_SEARCH',
  'EMAIL',
  'EMAIL_ABANDONED_CART',
] as const
export const pagePositions = [
  'MAIN_GRID',
  'CAROUSEL',
  'BELOW_THE_FOLD',
  'ABOVE_THE_FOLD',
  'L1',
  'L2',
  'L3',
  'L4',
] as const

export const siteDetailsSchema = named('SiteDetails', {
  id: optional(int32()),
  name: optional(Type.String()),
  type: optional(wordOf(siteTypes)),
})

export const locationSchema = named('Location', {
  type: optional(wordOf(locationTypes)),
  location: optional(wordOf(locationNames)),
  pagePosition: optional(wordOf(pagePositions)),
})

// The interface marks nothing here as required, so neither does the document.
export const siteLocationsSchema = named('SiteLocations', {
  site: optional(siteDetailsSchema),
  locations: optional(Type.Array(locationSchema)),
})

export const siteLocationsQuerySchema = Type.Object({
  publisherId: int32(),
  marketId: int32(),
  adGroupType: optional(wordOf(adGroupTypes)),
})

export type AdGroupType = (typeof adGroupTypes)[number]
export type Location = Of<typeof locationSchema>
export type SiteLocations = Of<typeof siteLocationsSchema>
