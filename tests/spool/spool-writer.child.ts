// A process of its own that writes to a spool: `node spool-writer.child.ts <mode> <path> <name>`.
// Each line on stdout is written before the next append starts, so a kill loses no acknowledgement.
import { writeSync } from 'node:fs'
import { openFileSpool } from '../../src/spool/file-spool.ts'
import { anEvent } from '../contracts/spool-model.ts'
import { codeOf } from '../contracts/spool.contract.ts'
import { entriesOf } from '../helpers/spooled.ts'

const [mode = '', path = '', name = ''] = process.argv.slice(2)
const spool = openFileSpool({ path, bytesMax: 1e9, clock: Date.now, diskFreeBytesMin: 0 })

function tell(line: string): void {
  writeSync(1, `${line}\n`)
}

async function writeForever(lane: number): Promise<never> {
  for (let serial = 0; ; serial++) {
    const id = `${name}-${lane}-${serial}`
    await spool.append(anEvent({ userAgent: id }))
    tell(id)
  }
}

async function writeSome(): Promise<void> {
  const ids = Array.from({ length: 2_000 }, (_, serial) => `${name}-${serial}`)
  const lanes = Array.from({ length: 20 }, async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      await spool.append(anEvent({ userAgent: id }))
    }
  })
  await Promise.all(lanes)
}

/** The parent limits the size of files, which looks like a disk that is full. */
async function fillAndRecover(): Promise<void> {
  const large = anEvent({ userAgent: 'x'.repeat(30_000) })
  const fill = async (): Promise<void> => {
    for (let count = 0; ; count++) {
      const code = await spool.append(large).then(() => null, codeOf)
      if (code === null) continue
      const kept = entriesOf(spool.read(1_000_000)).length
      return tell(JSON.stringify({ count, code, kept }))
    }
  }
  await fill()
  await fill()
  for (let removal = 0; removal < 3; removal++) await spool.remove(spool.read(1))
  await fill()
}

switch (mode) {
  case 'forever':
    void Promise.all(Array.from({ length: 20 }, (_, lane) => writeForever(lane)))
    break
  case 'once':
    tell('appending')
    await spool.append(anEvent({}))
    tell('appended')
    await spool.close()
    break
  case 'some':
    await writeSome()
    await spool.close()
    break
  default:
    await fillAndRecover()
    await spool.close()
}
