import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { createSecureContext } from 'node:tls'

export interface Certificate {
  /** PEM: the certificate, then those that vouch for it. */
  readonly cert: Buffer
  /** PEM, without a passphrase. */
  readonly key: Buffer
  /** SHA-256, as browsers and `openssl x509 -fingerprint -sha256` show it. */
  readonly fingerprint: string
  readonly validFromMs: number
  readonly expiresAtMs: number
}

export type JudgedPair =
  | { readonly ok: true; readonly certificate: Certificate }
  | { readonly ok: false; readonly reasons: readonly string[] }

/**
 * Whether a certificate and a key can serve together. Reasons name the variable and the rule, and hold
 * nothing of either file. Whether the certificate is still valid is for its holder to watch.
 */
export function judgePair({ cert, key }: Pick<Certificate, 'cert' | 'key'>): JudgedPair {
  const leaf = parseCertificate(cert)
  const privateKey = parseKey(key)
  if (leaf === null || privateKey === null) {
    return refused(
      ...(leaf === null ? ['SHELFTRACE_TLS_CERT must hold a certificate in PEM'] : []),
      ...(privateKey === null
        ? ['SHELFTRACE_TLS_KEY must hold a private key in PEM, without a passphrase']
        : [])
    )
  }
  if (!leaf.checkPrivateKey(privateKey)) {
    return refused(
      'SHELFTRACE_TLS_KEY must be the key of the first certificate in SHELFTRACE_TLS_CERT'
    )
  }
  const fault = faultInTls({ cert, key })
  if (fault !== null) {
    return refused(`SHELFTRACE_TLS_CERT and SHELFTRACE_TLS_KEY must be fit for TLS: ${fault}`)
  }
  const validFromMs = Date.parse(leaf.validFrom)
  const expiresAtMs = Date.parse(leaf.validTo)
  const { fingerprint256: fingerprint } = leaf
  return { ok: true, certificate: { cert, key, fingerprint, validFromMs, expiresAtMs } }
}

function refused(...reasons: readonly string[]): JudgedPair {
  return { ok: false, reasons }
}

function parseCertificate(cert: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(cert)
  } catch {
    // One outcome for all that is no certificate: the words of OpenSSL help nobody.
    return null
  }
}

function parseKey(key: Buffer): KeyObject | null {
  try {
    return createPrivateKey(key)
  } catch {
    // As above; and whatever the file holds instead of a key stays in it.
    return null
  }
}

/** What only TLS itself finds: a broken chain behind the certificate, a key that is too weak. */
function faultInTls(pair: { readonly cert: Buffer; readonly key: Buffer }): string | null {
  try {
    createSecureContext(pair)
    return null
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null
    return typeof code === 'string' ? code : 'they are refused'
  }
}
