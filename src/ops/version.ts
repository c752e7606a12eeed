import { readFileSync } from 'node:fs'
import { programFolder } from '../program-folder.ts'

/** The version of the package, the same from the sources and as built. */
export const version = readField('../package.json', 'version') ?? 'unknown'

/** Written by the build, if it knew its commit. */
const commit = readField('build.json', 'commit')

/** Tells two programs of one version apart, as `0.1.0+dcc67f25e`. Without a build it is the version alone. */
export const programVersion = commit === null ? version : `${version}+${commit}`

function readField(path: string, name: string): string | null {
  try {
    const content: unknown = JSON.parse(readFileSync(new URL(path, programFolder), 'utf8'))
    const value: unknown =
      typeof content === 'object' && content !== null ? Reflect.get(content, name) : null
    return typeof value === 'string' ? value : null
  } catch {
    // The sources have no build beside them, and a version is nothing to fail for.
    return null
  }
}
