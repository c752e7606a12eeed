#!/usr/bin/env node
import { handOver, ignoreDebuggerSignal, leaveOnSignals } from './processes/early-signals.ts'

ignoreDebuggerSignal()
// ClickHouse in process ends with a TZ that it does not know. Nothing is printed or read in local time.
process.env['TZ'] = 'UTC'
// A node that is told to stop while its program is still being loaded has nothing to finish.
if (process.argv[2] === 'serve') leaveOnSignals()
const { runCli } = await import('./cli/run.ts')
const { openStandardOutput } = await import('./cli/output.ts')

process.exitCode = await runCli({
  argv: process.argv.slice(2),
  environment: process.env,
  stdin: process.stdin,
  stdout: openStandardOutput(),
  stderr: process.stderr,
})
handOver()
