import { openKept } from './storage.ts'

export const themes = ['system', 'light', 'dark'] as const

export type Theme = (typeof themes)[number]

const kept = openKept('localStorage', 'shelftrace.theme')

export function readTheme(): Theme {
  const stored = kept.read()
  return themes.find((theme) => theme === stored) ?? 'system'
}

export function keepTheme(theme: Theme): void {
  kept.keep(theme)
  applyTheme(theme)
  // Charts draw their colours once and have to be told.
  dispatchEvent(new Event(themeChanged))
}

export const themeChanged = 'shelftrace:theme'

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}
