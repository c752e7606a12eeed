// `npm run pack`: writes the three packages into `packed/`, as they are published. Builds first.
//   --no-build          packs what an earlier build left
//   --into FOLDER       writes them there
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { packAll } from './release/pack.ts'

const { values } = parseArgs({
  options: {
    'no-build': { type: 'boolean', default: false },
    into: { type: 'string', default: 'packed' },
  },
})
if (!values['no-build']) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
for (const { path, bytes, unpackedBytes } of packAll(values.into)) {
  console.log(`${path}  ${kilobytes(bytes)}, unpacked ${kilobytes(unpackedBytes)}`)
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000)} kB`
}
