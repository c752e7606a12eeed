// Builds after `npm ci`. Without the development packages nothing can be built: an installation for production
// then keeps the build that is there, or says how to make one. Plain JavaScript, since tsx is one of these packages.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const needed = [
  'tsx',
  'vite',
  // Native parts, which --omit=optional leaves out.
  `@typescript/typescript-${process.platform}-${process.arch}`,
]
const missing = needed.filter((name) => !existsSync(`node_modules/${name}`))
const isBuilt = existsSync('dist/cli.js') && existsSync('dist/dashboard/index.html')

if (missing.length === 0) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} else if (isBuilt) {
  console.log('shelftrace: the build in dist/ is kept; building again needs all packages (npm ci).')
} else {
  console.error(
    `shelftrace: dist/ is missing, and building it needs ${missing.join(' and ')}. Run npm ci ` +
      'first, without --omit; then npm ci --omit=dev leaves only what the service needs.'
  )
  process.exitCode = 1
}
