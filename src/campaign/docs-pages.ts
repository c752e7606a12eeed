// `/docs`: the OpenAPI document as a page to browse and to try. Everything it needs is served from
// here; scripts and styles come from the package as it is, so no line of the page is inline.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { PublicPage } from './deps.ts'
import { createStaticFile } from '../http/static-file.ts'

export interface DocsOptions {
  /** As the document spells them. */
  readonly trackingUrl: string
  readonly campaignUrl: string
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const

/** Reads and compresses 1.9 MB once, in about 60 ms. */
export function createDocsPages(options: DocsOptions): readonly PublicPage[] {
  const packaged = locatePackaged()
  return [
    page('/docs', index, {
      'content-type': types.html,
      'content-security-policy': policyOf(options),
    }),
    page('/docs/initializer.js', initializerOf(options), { 'content-type': types.js }),
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
  return { path, answer: { status: 200, headers, body: { file: createStaticFile(content) } } }
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
const index = `<!doctype html>
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
    <div id="swagger-ui"></div>
    <noscript>This page needs JavaScript; the document itself is <a href="openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`

/**
 * The address of the campaign port in the document is that of its socket, often not one that the
 * reader's browser can reach: on the page it is the one that the page came from.
 */
function initializerOf({ campaignUrl }: DocsOptions): string {
  return `'use strict'

const configuredUrl = ${JSON.stringify(campaignUrl)}
const documentUrl = new URL('openapi.json', location.href).href
const pageUrl = new URL('.', location.href).href.replace(/\\/$/, '')

function replaceAddress(server) {
  return server.url === configuredUrl ? { ...server, url: pageUrl } : server
}

function replaceAddresses(text) {
  const document = JSON.parse(text)
  document.servers = document.servers.map(replaceAddress)
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(operations)) {
      operation.servers = operation.servers.map(replaceAddress)
    }
  }
  return JSON.stringify(document)
}

SwaggerUIBundle({
  url: documentUrl,
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  filter: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // Nothing is asked elsewhere, and a key is forgotten with the page.
  validatorUrl: null,
  persistAuthorization: false,
  queryConfigEnabled: false,
  responseInterceptor(response) {
    if (response.url === documentUrl && response.ok) response.text = replaceAddresses(response.text)
    return response
  },
})
`
}
