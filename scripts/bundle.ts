// Joins the modules of a program, so that a process that starts reads a few files instead of hundreds. Packages stay
// outside, all but TypeBox.
import { createRequire } from 'node:module'
import type { BuildOptions, Plugin } from 'esbuild'

/** 700 small modules: reading them was half of what starting a command, a tracker or an engine took. */
const inlineTypebox: Plugin = {
  name: 'inline-typebox',
  setup: (building) => {
    const require = createRequire(import.meta.url)
    building.onResolve({ filter: /^typebox(?:[/]|$)/ }, ({ path }) => ({
      path: require.resolve(path),
    }))
  },
}

/** The same for programs and for tests; `plugins` run after the one for TypeBox. */
export function bundleOptions(plugins: readonly Plugin[] = []) {
  return {
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
    plugins: [inlineTypebox, ...plugins],
  } as const satisfies BuildOptions
}
