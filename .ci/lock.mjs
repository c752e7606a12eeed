#!/usr/bin/env node
// Every package of the lock file must carry the digest of what may be installed. npm leaves it out for
// builds of other platforms that it could not fetch; what the registry has is asked for here. Fails when
// a digest can be had and is missing; `.ci/lock.mjs --write` puts it in.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const path = process.env.LOCK_FILE ?? new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8'))
const bare = Object.entries(lock.packages).filter(
  ([key, { link, integrity }]) =>
    // Not the packages of this repository.
    key.includes('node_modules/') && link !== true && integrity === undefined
)
let missingCount = 0
for (const [key, entry] of bare) {
  const name = `${key.split('node_modules/').at(-1)}@${entry.version}`
  const { stdout } = spawnSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8' })
  const integrity = stdout.trim()
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) {
    console.error(`lock: NOT CHECKED: ${name} has no digest, and this registry does not have it`)
    continue
  }
  missingCount += 1
  console.error(`lock: ${name} has no digest; it is ${integrity}`)
  // In the place where npm writes it.
  const { version, resolved, ...others } = entry
  lock.packages[key] = { version, ...(resolved && { resolved }), integrity, ...others }
}
if (missingCount > 0 && process.argv.includes('--write')) {
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
} else if (missingCount > 0) {
  console.error('lock: put them in with .ci/lock.mjs --write')
  process.exitCode = 1
}
