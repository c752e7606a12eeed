/** Written down, not read from package.json, so that the client survives being bundled; a test compares. */
export const clientVersion = '0.1.0'
