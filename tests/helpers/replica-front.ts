// An address in front of a stand-in. Two of them are a cluster whose replicas never lag, each with faults of its own.

import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { StandIn } from './clickhouse-stand-in.ts'

/** What happens to a request whose statement the check names. */
export interface FrontFault {
  readonly isHit: (statement: string) => boolean
  /**
   * `cut`: the connection breaks before the server sees the statement; `lose`: it breaks once the server has carried it
   * out; `code`: an answer of ClickHouse without a look at it; `code-after`: the same, once it was carried out.
   */
  readonly kind: 'cut' | 'lose' | 'code' | 'code-after'
  readonly code?: number
}

export interface ReplicaFront {
  readonly url: string
  readonly host: string
  /** Null: everything is passed on. */
  readonly fail: (fault: FrontFault | null) => void
  /** The statements that came since the last call. */
  readonly takeStatements: () => readonly string[]
  readonly close: () => Promise<void>
}

export async function startReplicaFront(standIn: StandIn): Promise<ReplicaFront> {
  let fault: FrontFault | null = null
  let statements: string[] = []
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const statement = statementOf(request, body)
    statements.push(statement)
    const hit = fault?.isHit(statement) === true ? fault : null
    if (hit?.kind === 'cut') return void response.destroy()
    if (hit?.kind === 'code') return sendCode(response, hit.code)
    const passed = await passOn({ standIn, request, body })
    if (hit !== null) {
      // Whatever it says: it has carried the statement out by now.
      await buffer(passed)
      if (hit.kind === 'lose') return void response.destroy()
      return sendCode(response, hit.code)
    }
    response.writeHead(passed.statusCode ?? 500, passed.rawHeaders)
    passed.pipe(response)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = new URL(standIn.url)
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0)
  return {
    url: url.href,
    host: url.host,
    fail: (next) => {
      fault = next
    },
    takeStatements: () => {
      const taken = statements
      statements = []
      return taken
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** In the address for an insert of rows, else in the body, which is a form if there are long values. */
function statementOf(request: IncomingMessage, body: Buffer): string {
  const query = new URL(request.url ?? '/', 'http://front').searchParams.get('query')
  return query ?? body.toString().replace(/^--.*\r\n.*\r\n\r\n/u, '')
}

interface Passed {
  readonly standIn: StandIn
  readonly request: IncomingMessage
  readonly body: Buffer
}

async function passOn({ standIn, request, body }: Passed): Promise<IncomingMessage> {
  const { hostname, port } = new URL(standIn.url)
  const { method, url: path, headers } = request
  return await new Promise((resolve, reject) => {
    httpRequest({ hostname, port, method, path, headers }, resolve).once('error', reject).end(body)
  })
}

function sendCode(response: ServerResponse, code = 0): void {
  response.writeHead(500, { 'x-clickhouse-exception-code': code })
  response.end(`Code: ${code}. DB::Exception: Told to fail. (STAND_IN_FAILURE)`)
}

/** Makes a stand-in look like a replica of a cluster. Its tables are ordinary ones. */
export const asReplica = {
  kind: 'pose',
  replaced: {
    'SYSTEM SYNC': 'SELECT 1 -- SYSTEM SYNC',
    'ENGINE = Replicated': 'ENGINE = ',
    'system.databases': `(SELECT name, 'Replicated' AS engine FROM system.databases)`,
    'system.tables': `(
      SELECT * REPLACE (if(endsWith(engine, 'MergeTree'), concat('Replicated', engine), engine) AS engine)
      FROM system.tables
    )`,
    'system.replicas': `(
      SELECT database, name AS table, concat('/tables/', name) AS zookeeper_path FROM system.tables
      WHERE endsWith(engine, 'MergeTree')
    )`,
  },
} as const
