#!/usr/bin/env node
import { runCli } from './cli/run.ts'

process.exitCode = await runCli({
  argv: process.argv.slice(2),
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
