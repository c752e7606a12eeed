// Ends with 0 if the campaign port of this container answers that it is alive. The certificate is not checked: it is
// for the public name, and the connection stays in the container.
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

const hasTls = (process.env.SHELFTRACE_TLS_CERT ?? '') !== ''
const { SHELFTRACE_CAMPAIGN_PORT: port = '', SHELFTRACE_HOST: host = '' } = process.env
const options = {
  // All addresses of the container include this one; of one address, only that is listened on.
  host: ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host,
  // Kubernetes sets an address here for a Service of that name; the service ignores it, too.
  port: /^\d+$/.test(port) ? port : '8081',
  path: '/healthz',
  timeout: 4_000,
  rejectUnauthorized: false,
}

const request = (hasTls ? getHttps : getHttp)(options, (response) => {
  process.exit(response.statusCode === 200 ? 0 : 1)
})
request.on('timeout', () => process.exit(1))
request.on('error', () => process.exit(1))
