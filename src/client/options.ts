import { Type } from 'typebox'
import type { Of } from '../contract/fields.ts'
import { compileParser, type Parsed } from '../contract/validate.ts'
import { isLoopback } from '../lib/loopback.ts'
import { invalid } from './client-error.ts'

const hourMs = 3_600_000

function ms(maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description }))
}

function count(maximum: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description }))
}

const commonOptions = {
  url: Type.String({ minLength: 1, maxLength: 2_048, description: 'Where the port is.' }),
  allowPlainHttp: Type.Optional(
    Type.Boolean({ description: 'Without it, http: is taken for this machine only.' })
  ),
  // Node's fetch gives up on its own after five minutes.
  timeoutMs: ms(300_000, 'For one try, to the end of its answer; of a report, to its beginning.'),
  attemptsMax: count(100, 'Tries of one call, the first one included.'),
  backoffMs: ms(hourMs, 'Before the second try; doubled for each further one.'),
  backoffMsMax: ms(hourMs, 'What doubling ends at.'),
  retryAfterMsMax: ms(hourMs, 'A call fails at once when the service asks to wait for longer.'),
}

const keyText = Type.String({
  maxLength: 1_000,
  // Only characters that fit into a header: fetch repeats a value that does not fit in its error text. The words
  // are what a program makes of a variable that is missing, and the quotes what `docker --env-file` leaves in one.
  pattern: `^(?!(?:undefined|null)$)(?!['"])[\\x21-\\x7e]+(?<!['"])$`,
  title:
    'a key as it was handed out, without blanks, line ends or quotes around it, and not the word undefined or null',
})

const publisherOptionsSchema = Type.Object(
  {
    ...commonOptions,
    key: Type.Optional(keyText),
    inFlightMax: count(10_000, 'Calls under way at once; more wait for their turn.'),
    waitingMax: count(1_000_000, 'Calls that wait; more are refused with QUEUE_FULL.'),
  },
  { additionalProperties: false }
)

const campaignOptionsSchema = Type.Object(
  {
    ...commonOptions,
    key: keyText,
    silenceMs: ms(hourMs, 'Between two parts of a report.'),
  },
  { additionalProperties: false }
)

/** `key` takes what the environment has under a name; the client is not created while it has nothing. */
export interface PublisherClientOptions extends Omit<Of<typeof publisherOptionsSchema>, 'key'> {
  /** Absent: deliveries go out without a key. Undefined is refused, because a key was meant. */
  readonly key?: string | undefined
}

/** `key` takes what the environment has under a name; the client is not created while it has nothing. */
export interface CampaignClientOptions extends Omit<Of<typeof campaignOptionsSchema>, 'key'> {
  readonly key: string | undefined
}

type CommonOptions = Pick<Of<typeof campaignOptionsSchema>, keyof typeof commonOptions>

export interface RetryPolicy {
  readonly attemptsMax: number
  readonly backoffMs: number
  readonly backoffMsMax: number
  readonly retryAfterMsMax: number
}

export interface Connection extends RetryPolicy {
  readonly address: URL
  readonly timeoutMs: number
}

export interface PublisherConnection extends Connection {
  /** Null: deliveries go out without a key. */
  readonly key: string | null
  readonly inFlightMax: number
  readonly waitingMax: number
}

export interface CampaignConnection extends Connection {
  readonly key: string
  readonly silenceMs: number
}

const parsePublisher = compileParser(publisherOptionsSchema)
const parseCampaign = compileParser(campaignOptionsSchema)
const keyUndefined =
  '/key must not be undefined: is the variable set from which it comes? Leave key out to send without a key'

export function parsePublisherOptions(value: unknown): PublisherConnection {
  const options = checked(parsePublisher(value))
  if ('key' in options && options.key === undefined)
    throw invalid('OPTIONS_INVALID', [keyUndefined])
  return {
    // The service gives up on a write after 10 s: its own answer should come first.
    ...connect(options, { timeoutMs: 15_000 }),
    key: options.key ?? null,
    inFlightMax: options.inFlightMax ?? 64,
    waitingMax: options.waitingMax ?? 10_000,
  }
}

export function parseCampaignOptions(value: unknown): CampaignConnection {
  const options = checked(parseCampaign(value))
  return {
    // A report of two years over everything is computed before its first byte.
    ...connect(options, { timeoutMs: 120_000 }),
    key: options.key,
    silenceMs: options.silenceMs ?? 60_000,
  }
}

function checked<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw invalid('OPTIONS_INVALID', parsed.messages)
  return parsed.value
}

function connect(options: CommonOptions, defaults: Pick<Connection, 'timeoutMs'>): Connection {
  return {
    address: parseAddress(options),
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    attemptsMax: options.attemptsMax ?? 5,
    backoffMs: options.backoffMs ?? 250,
    backoffMsMax: options.backoffMsMax ?? 10_000,
    retryAfterMsMax: options.retryAfterMsMax ?? 60_000,
  }
}

/** The messages never repeat the address: it may hold a password. */
function parseAddress({ url, allowPlainHttp = false }: CommonOptions): URL {
  const address = URL.canParse(url) ? new URL(url) : null
  if (address === null || !['http:', 'https:'].includes(address.protocol)) {
    throw invalid('OPTIONS_INVALID', ['/url must be an absolute http: or https: address'])
  }
  if (address.username !== '' || address.password !== '') {
    throw invalid('OPTIONS_INVALID', ['/url must not hold a user or a password'])
  }
  if (address.search !== '' || address.hash !== '') {
    throw invalid('OPTIONS_INVALID', ['/url must not have a query or a fragment'])
  }
  if (address.protocol === 'http:' && !allowPlainHttp && !isLoopback(address.hostname)) {
    throw invalid('OPTIONS_INVALID', [
      '/url must be an https: address, or /allowPlainHttp be true: http: sends everything in the clear',
    ])
  }
  return address
}
