// `/docs`: the OpenAPI document as a page to browse and to try. This port serves everything that it needs:
// no script or style is inline, and those of Swagger UI are served as the package has them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { PublicPage } from './deps.ts'
import { StaticFile } from '../http/static-file.ts'
import { programFolder } from '../program-folder.ts'

export interface DocsOptions {
  /** Spelled as in the document. */
  readonly trackingUrl: string
  readonly campaignUrl: string
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const

const initializer = new URL('campaign/docs-initializer.js', programFolder)

/** Reads 1.9 MB at once: after an update the files may be others. */
export function createDocsPages(options: DocsOptions): readonly PublicPage[] {
  const packaged = locatePackaged()
  return [
    page('/docs', indexOf(options), {
      'content-type': types.html,
      'content-security-policy': policyOf(options),
    }),
    page('/docs/initializer.js', readFileSync(initializer), { 'content-type': types.js }),
    page('/docs/swagger-ui-bundle.js', readFileSync(packaged.bundle), { 'content-type': types.js }),
    page('/docs/swagger-ui.css', readFileSync(packaged.styles), { 'content-type': types.css }),
    page('/docs/index.css', readFileSync(packaged.frame), { 'content-type': types.css }),
  ]
}

function locatePackaged() {
  const require = createRequire(import.meta.url)
  return {
    bundle: require.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js'),
    styles: require.resolve('@fastify/swagger-ui/static/swagger-ui.css'),
    frame: require.resolve('@fastify/swagger-ui/static/index.css'),
  }
}

function page(
  path: string,
  content: Buffer | string,
  headers: Readonly<Record<string, string>>
): PublicPage {
  return { path, answer: { status: 200, headers, body: { file: new StaticFile(() => content) } } }
}

/** The page may call both ports and nothing else; the tracking port is another origin. */
function policyOf({ trackingUrl }: DocsOptions): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(trackingUrl).origin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

// Addresses are relative, so that the page also works under a prefix that a proxy adds.
function indexOf({ campaignUrl }: DocsOptions): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Shelftrace: operations</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/index.css">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/initializer.js" defer></script>
  </head>
  <body>
    <div id="swagger-ui" data-campaign-url="${escapeAttribute(campaignUrl)}"></div>
    <noscript>This page needs JavaScript; the document itself is <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
