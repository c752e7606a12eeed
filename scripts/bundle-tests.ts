// Bundles test files for the runner. A process that loads TypeScript, and hundreds of small modules of a package,
// one by one spends a second of CPU on it, and the tests are more than two hundred processes.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { bundleOptions } from './bundle.ts'

/**
 * Writes a JavaScript file for each test file, at the same path below `folder`, and returns test files by the
 * paths of their bundles. Packages stay outside: `folder` must see the `node_modules` of the project.
 */
export async function bundleTests(
  files: readonly string[],
  folder: string
): Promise<ReadonlyMap<string, string>> {
  await build({
    ...bundleOptions([keepFileUrls]),
    entryPoints: [...files],
    outdir: folder,
    outbase: '.',
    splitting: true,
  })
  return new Map(files.map((file) => [join(folder, file.replace(/\.ts$/u, '.js')), file]))
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
