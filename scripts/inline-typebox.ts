// Joins TypeBox into one module of the build. The package has 700 small modules, and reading them was half of what
// starting a command, a tracker or an engine took.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'

/** All that the sources import from the package, except types. */
const source = `export { Type } from 'typebox'`
const imported = /^import \{ Type \} from 'typebox';$/gmu

/** Below the built folder, with the licence beside it, which the package asks for. */
const place = { module: 'lib/typebox.js', licence: 'lib/typebox.license.txt' } as const

/** Points all modules below the built folder to it. Throws if one imports something else from the package. */
export async function inlineTypebox(folder: string): Promise<void> {
  const outfile = join(folder, place.module)
  await build({
    stdin: { contents: source, resolveDir: '.' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  })
  copyFileSync('node_modules/typebox/license', join(folder, place.licence))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((name) => name.endsWith('.js') && name !== place.module)) {
    const text = readFileSync(join(folder, file), 'utf8')
    const path = relative(dirname(file), place.module)
    const joined = text.replace(imported, `import { Type } from '${dotted(path)}';`)
    if (/from 'typebox/u.test(joined)) throw new Error(`${file} imports more of typebox than Type`)
    if (joined !== text) writeFileSync(join(folder, file), joined)
  }
}

function dotted(path: string): string {
  const slashed = path.replaceAll('\\', '/')
  return slashed.startsWith('.') ? slashed : `./${slashed}`
}
