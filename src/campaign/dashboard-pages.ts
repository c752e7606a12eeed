// `/`: the dashboard, as `npm run build` leaves it. Everything it needs is served from here, and it
// asks this port alone; the pictures of assets are the one thing that comes from elsewhere.
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { signOnMeta } from '../domain/person.ts'
import { assert } from '../lib/assert.ts'
import type { PublicPage } from './deps.ts'
import { StaticFile } from '../http/static-file.ts'

export const dashboardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' https: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

type PageSignOn = { readonly signOutUrl: string | null } | null

/** Reads the built files at once: after an update they may be others. Throws when they were not built. */
export function createDashboardPages(
  folder: string,
  signOn: PageSignOn = null
): readonly PublicPage[] {
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const page = signOn === null ? html : withSignOn(html, signOn)
  return [
    {
      path: '/',
      answer: {
        status: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': dashboardPolicy,
        },
        body: { file: new StaticFile(() => page) },
      },
    },
    ...readdirSync(join(folder, 'assets')).map((name) => assetPage(folder, name)),
  ]
}

/** Tells the page that whoever sees it may be signed in already, and where signing out is. */
function withSignOn(html: string, { signOutUrl }: PageSignOn & object): string {
  const url = (signOutUrl ?? '').replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const tag = `<meta name="${signOnMeta}" content="${url}" />`
  assert(html.includes('</head>'), 'the page has a head')
  // A function, so that no `$` of the address is taken for a pattern.
  return html.replace('</head>', () => `  ${tag}\n  </head>`)
}

/** The build puts a hash of the content into the name, so a browser may keep the file for good. */
function assetPage(folder: string, name: string): PublicPage {
  const type = types[extname(name)]
  assert(type !== undefined, `the dashboard's file ${name} is of a known type`)
  const content = readFileSync(join(folder, 'assets', name))
  return {
    path: `/assets/${name}`,
    answer: {
      status: 200,
      headers: { 'content-type': type },
      body: { file: new StaticFile(() => content, { isImmutable: true }) },
    },
  }
}
