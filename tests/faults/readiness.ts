import type { Installation } from './installation.ts'

const answerMs = 2_000

/** Null when every port is ready, and a customer's key is taken. */
export async function findComplaint(
  { nodes, engine }: Installation,
  key: string
): Promise<string | null> {
  for (const { name, service, takesEvents } of nodes) {
    const urls = [...(takesEvents ? [service.trackingUrl] : []), service.campaignUrl]
    for (const url of urls) {
      const complaint = await ask(`${url}/readyz`)
      if (complaint !== null) return `${name}: ${complaint}`
    }
  }
  const headers = { authorization: `Bearer ${key}` }
  return await ask(`${engine.campaignUrl}/v2/me`, headers)
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<string | null> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(answerMs) })
    const text = await answer.text()
    return answer.status === 200 ? null : text
  } catch (error) {
    return error instanceof Error ? error.name : String(error)
  }
}
