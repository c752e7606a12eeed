/** The kinds of shop fronts that the interface knows. */
export const siteTypes = ['DESKTOP', 'MOBILE_WEB', 'MOBILE_APP', 'TABLET_APP', 'EMAIL'] as const

export type SiteType = (typeof siteTypes)[number]
