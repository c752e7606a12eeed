// How people are told who are signed in by a proxy in front of the service, and how its pages know.

/**
 * A browser lets no other site send this header, so it tells a call of our own page from one that another site makes a
 * browser send, which the proxy would sign in all the same. Its value is whom the page takes for signed in, once the
 * page knows it.
 */
export const ownPageHeader = 'shelftrace-page'

/** The `meta` of the dashboard's page that says that a proxy signs people in, and where they sign out. */
export const signOnMeta = 'shelftrace-sign-on'

/** The address as it is compared: people write it in any case, and sign-on services too. */
export const personForm = /^[!-+\--?A-~]{1,64}@[!-+\--?A-~]{1,189}$/
