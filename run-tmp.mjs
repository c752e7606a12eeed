import { runSupervisor } from './dist/supervisor.js'
process.exit(await runSupervisor(process.env))
