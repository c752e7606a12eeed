// tsc emits TypeScript only; the SQL files of the migrations travel beside the emitted code.
import { cpSync } from 'node:fs'

cpSync('src/warehouse/migrations', 'dist/warehouse/migrations', { recursive: true })
