// The package as npm would publish it, installed into a program of its own.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Lifetime {
  after(fn: () => void): void
}

/** A folder with the packed package and what it depends on under `node_modules`. Uses `dist`. */
export function installPacked(t: Lifetime): string {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-packed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // Without its scripts, which would build again.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [packed] = JSON.parse(execFileSync('npm', pack, { encoding: 'utf8' })) as [
    { filename: string },
  ]
  const target = join(folder, 'node_modules', 'shelftrace')
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', target])

  const { dependencies } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(realpathSync(join('node_modules', name)), link)
  }
  return folder
}
