/** Takes a host as it is typed or as it appears in an address. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.\d{1,3}){3}$/u.test(host)
}
