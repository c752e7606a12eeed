// Bundles test files for the runner. A process that loads TypeScript, and hundreds of small modules of a package,
// one by one spends a second of CPU on it, and the tests are more than two hundred processes.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

/**
 * Writes a JavaScript file for each test file, at the same path below `folder`, and returns test files by the
 * paths of their bundles. Packages stay outside: `folder` must see the `node_modules` of the project.
 */
export async function bundleTests(
  files: readonly string[],
  folder: string
): Promise<ReadonlyMap<string, string>> {
  await build({
    entryPoints: [...files],
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
    plugins: [inlineTypebox, keepFileUrls],
  })
  return new Map(files.map((file) => [join(folder, file.replace(/\.ts$/u, '.js')), file]))
}

/** The package has 700 modules. */
const inlineTypebox: Plugin = {
  name: 'inline-typebox',
  setup: (building) => {
    const require = createRequire(import.meta.url)
    building.onResolve({ filter: /^typebox(?:[/]|$)/ }, ({ path }) => ({
      path: require.resolve(path),
    }))
  },
}

/** Sources look for files beside them, which are not beside the bundle. */
const keepFileUrls: Plugin = {
  name: 'keep-file-urls',
  setup: (building) => {
    building.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const url = JSON.stringify(pathToFileURL(path).href)
      return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' }
    })
  },
}
