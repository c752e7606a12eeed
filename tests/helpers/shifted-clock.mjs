// Loaded into the processes of a service by NODE_OPTIONS=--import: shifts their clock by as many
// milliseconds as the file says that TEST_CLOCK_FILE names, while they run. Only what asks for the
// time of day is shifted; timers and performance.now() go on evenly, as on a machine whose clock is
// set.

import { openSync, readSync } from 'node:fs'

const path = process.env.TEST_CLOCK_FILE
const TrueDate = Date
let shiftMs = 0

if (path !== undefined) {
  // Opened once: a process that has no files left to open must still see its clock move.
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(32)
  const look = () => {
    // A file that is just being written reads as nothing: the shift stays.
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))
    if (text !== '') shiftMs = Number(text)
  }
  look()
  setInterval(look, 20).unref()
  globalThis.Date = class Date extends TrueDate {
    constructor(...parts) {
      if (parts.length === 0) super(TrueDate.now() + shiftMs)
      else super(...parts)
    }

    static now() {
      return TrueDate.now() + shiftMs
    }
  }
}
