// The tabs of one browser lend each other the key of who has signed in, so that a link opens in a new tab without
// signing in again. A channel reaches pages of this address alone, and keeps nothing of what it carries.

/** `lend` answers the `ask` of the same tab. `leave` says that who used the key has signed out. */
type Message =
  | { readonly kind: 'ask'; readonly tab: string }
  | { readonly kind: 'lend'; readonly tab: string; readonly key: string }
  | { readonly kind: 'leave'; readonly key: string }

export interface Tabs {
  ask(this: void): void
  leave(this: void, key: string): void
  close(this: void): void
}

interface TabsOptions {
  /** The key to lend, if there is one. */
  readonly lent: () => string | null
  readonly onLent: (key: string) => void
  readonly onLeft: (key: string) => void
}

export function openTabs({ lent, onLent, onLeft }: TabsOptions): Tabs {
  const tab = String(Math.random())
  const channel = openChannel()
  // A channel reaches its own origin alone, and takes no target.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const send = (message: Message) => channel?.postMessage(message)
  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const key = lent()
    if (data.kind === 'ask' && key !== null) send({ kind: 'lend', tab: data.tab, key })
    if (data.kind === 'lend' && data.tab === tab) onLent(data.key)
    if (data.kind === 'leave') onLeft(data.key)
  })
  return {
    ask: () => send({ kind: 'ask', tab }),
    leave: (key) => send({ kind: 'leave', key }),
    close: () => channel?.close(),
  }
}

/** Null in a browser that blocks site data: there each tab is signed in by itself. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel('shelftrace.session')
  } catch {
    return null
  }
}
