// tsc emits TypeScript only: the SQL of the migrations and the script of /docs are copied beside it.
import { cpSync } from 'node:fs'

cpSync('src/warehouse/migrations', 'dist/warehouse/migrations', { recursive: true })
cpSync('src/campaign/docs-initializer.js', 'dist/campaign/docs-initializer.js')
