/**
 * On every answer. Nothing of this port may be kept by a cache, guessed to be another type, framed,
 * or load anything; pages bring a policy of their own.
 */
export const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const
