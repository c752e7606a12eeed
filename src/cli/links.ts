import { trackingLinksResponseSchema } from '../contract/admin.ts'
import type { Command } from './context.ts'
import { readInput } from './input.ts'
import { readAs } from './client.ts'

const readLinks = readAs(trackingLinksResponseSchema)

export const linksMint: Command = {
  name: 'links mint',
  usage: 'FILE|-',
  summary: 'Mint tracking links for served ads ({"links":[…]} as in the API)',
  options: {},
  positionalCount: 1,
  run: async (context) => {
    const body = await readInput(context)
    const answer = await context.client().call({ method: 'POST', path: '/tracking-links', body })
    const { links } = readLinks(answer)
    const text = links
      .map(({ servedAdId, impressionUrl, clickUrl, loadUrl }) =>
        [
          servedAdId,
          `  impression  ${impressionUrl}`,
          `  click       ${clickUrl}`,
          `  load        ${loadUrl}`,
        ].join('\n')
      )
      .join('\n')
    context.print({ links }, text)
    return 0
  },
}
