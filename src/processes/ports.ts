// Tries the ports of a node before anything that is costly to start. Explains a fault in one sentence
// that names the setting.

import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { explainSystemError, systemCode } from '../lib/system-error.ts'

export interface Port {
  readonly variable: 'SHELFTRACE_TRACKING_PORT' | 'SHELFTRACE_CAMPAIGN_PORT'
  readonly host: string
  readonly port: number
}

export function trackingPortOf({ host, trackingPort }: Config): Port {
  return { variable: 'SHELFTRACE_TRACKING_PORT', host, port: trackingPort }
}

export function campaignPortOf({ host, campaignPort }: Config): Port {
  return { variable: 'SHELFTRACE_CAMPAIGN_PORT', host, port: campaignPort }
}

/** Throws PORT_TAKEN, which may pass, or CONFIG_INVALID; see `portFault`. */
export async function tryPort(port: Port): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => reject(portFault(error, port)))
    server.listen(port.port, port.host, () => server.close(() => resolve()))
  })
}

/** Why a port cannot be listened on. */
export function portFault(error: unknown, { variable, host, port }: Port): ServiceError {
  switch (systemCode(error) ?? '') {
    case 'EADDRINUSE':
      return fault('PORT_TAKEN', `port ${port} of ${host} is taken by another process`, {
        advice: `end that one, or set ${variable} to a free port`,
        cause: error,
      })
    case 'EACCES':
    case 'EPERM':
      return fault('CONFIG_INVALID', `this user may not listen on port ${port}`, {
        advice:
          `set ${variable} to a port from 1024, or permit it ` +
          '(systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)',
        cause: error,
      })
    case 'EADDRNOTAVAIL':
      return fault('CONFIG_INVALID', `this machine has no address ${host}`, {
        advice: 'set SHELFTRACE_HOST to one that it has',
        cause: error,
      })
    case 'ENOTFOUND':
      return fault('CONFIG_INVALID', `the name ${host} is not known`, {
        advice: 'set SHELFTRACE_HOST to an address of this machine',
        cause: error,
      })
    default:
      return fault('PORT_TAKEN', `port ${port} of ${host} cannot be listened on`, {
        advice: explainSystemError(error),
        cause: error,
      })
  }
}

function fault(
  code: 'PORT_TAKEN' | 'CONFIG_INVALID',
  what: string,
  { advice, cause }: { readonly advice: string; readonly cause: unknown }
): ServiceError {
  return new ServiceError(code, `${what}: ${advice}`, { cause })
}
