import { CliError } from './cli-error.ts'
import type { Command } from './context.ts'
import { readInput } from './input.ts'
import { catalogResultSchema } from '../contract/catalog-bundle.ts'
import { readAs } from './read-as.ts'

const bytesMax = 67_108_864

const readResult = readAs(catalogResultSchema)

export const catalogLoad: Command = {
  name: 'catalog load',
  usage: 'FILE|-',
  summary: 'Add or replace the entries of a catalog bundle (JSON), all of them or none',
  options: {},
  positionalCount: 1,
  run: async (context) => {
    const body = await readInput(context)
    if (body.length > bytesMax) {
      throw new CliError('A bundle has at most 64 MiB: load it in parts, owners before the owned.')
    }
    const answer = await context.client().call({ method: 'PUT', path: '/catalog', body })
    const result = readResult(answer)
    context.print(result, `${result.entries} entries and ${result.products} products taken.`)
    return 0
  },
}
