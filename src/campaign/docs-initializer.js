// Runs in the browser, on the page /docs: shows the OpenAPI document that lies beside the page.
'use strict'

/* global SwaggerUIBundle */

const container = document.querySelector('#swagger-ui')
const documentUrl = new URL('openapi.json', location.href).href

// The address of the campaign port in the document is that of its socket, which the reader's browser can
// often not reach: on the page it is replaced by the address that the page came from.
const configuredUrl = container.dataset.campaignUrl
const pageUrl = new URL('.', location.href).href.replace(/\/$/, '')

function replaceAddress(server) {
  return server.url === configuredUrl ? { ...server, url: pageUrl } : server
}

// The service refuses these from any browser, so the page does not offer to try them.
const backendOnly = new Set()

function readDocument(text) {
  const api = JSON.parse(text)
  api.servers = api.servers.map(replaceAddress)
  for (const [path, operations] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      operation.servers = operation.servers.map(replaceAddress)
      if (operation['x-backend-only'] === true) backendOnly.add(`${method} ${path}`)
    }
  }
  return JSON.stringify(api)
}

const allowTryItOutFor = () => (_state, path, method) => !backendOnly.has(`${method} ${path}`)
const offerWhatWorks = { statePlugins: { spec: { wrapSelectors: { allowTryItOutFor } } } }

SwaggerUIBundle({
  url: documentUrl,
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [offerWhatWorks],
  layout: 'BaseLayout',
  deepLinking: true,
  filter: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // Nothing is requested from elsewhere, and the key is forgotten with the page.
  validatorUrl: null,
  persistAuthorization: false,
  queryConfigEnabled: false,
  responseInterceptor(response) {
    if (response.url === documentUrl && response.ok) response.text = readDocument(response.text)
    return response
  },
})
