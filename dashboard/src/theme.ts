export const themes = ['system', 'light', 'dark'] as const

export type Theme = (typeof themes)[number]

const storageKey = 'shelftrace.theme'

export function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return themes.find((theme) => theme === stored) ?? 'system'
}

export function keepTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  applyTheme(theme)
  // Charts draw their colours once and have to be told.
  dispatchEvent(new Event(themeChanged))
}

export const themeChanged = 'shelftrace:theme'

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}
