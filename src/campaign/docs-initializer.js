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

function replaceAddresses(text) {
  const api = JSON.parse(text)
  api.servers = api.servers.map(replaceAddress)
  for (const operations of Object.values(api.paths)) {
    for (const operation of Object.values(operations)) {
      operation.servers = operation.servers.map(replaceAddress)
    }
  }
  return JSON.stringify(api)
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
  // Nothing is requested from elsewhere, and the key is forgotten with the page.
  validatorUrl: null,
  persistAuthorization: false,
  queryConfigEnabled: false,
  responseInterceptor(response) {
    if (response.url === documentUrl && response.ok) response.text = replaceAddresses(response.text)
    return response
  },
})
