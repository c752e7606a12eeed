// The lines of a backfill, and what became of them.
import { Type, type TObject } from 'typebox'
import { parseInstant } from '../domain/instant.ts'
import type { AdEventKind } from '../domain/windows.ts'
import { closed } from './closed.ts'
import { conversionSchema, parseEarlierConversion, type Conversion } from './conversion.ts'
import { count, instantText, list, named, optional, wordOf, type Of } from './fields.ts'
import { parseReturn, returnSchema, type PurchaseReturn } from './return.ts'
import { compileParser, type Parsed } from './validate.ts'

const adEventKinds = ['impression', 'click', 'load'] as const satisfies readonly AdEventKind[]

/** The 4,096 bytes of a token, in base64url. */
const trackingDataLengthMax = 5_464

export const adEventLineSchema = closed(
  named('AdEventLine', {
    type: wordOf(adEventKinds),
    trackingData: Type.String({ maxLength: trackingDataLengthMax }),
    receivedAt: instantText(),
    userAgent: optional(Type.String({ maxLength: 4096 })),
  })
)

export const conversionLineSchema = Type.Object(
  { type: wordOf(['conversion']), receivedAt: instantText(), conversion: conversionSchema },
  { title: 'ConversionLine', additionalProperties: false }
)

export const returnLineSchema = Type.Object(
  { type: wordOf(['return']), receivedAt: instantText(), return: returnSchema },
  { title: 'ReturnLine', additionalProperties: false }
)

export const eventsResultSchema = named('EventsResult', {
  accepted: Type.Integer({ minimum: 0 }),
  refused: list(
    Type.Object({
      line: Type.Integer({ minimum: 1 }),
      messages: Type.Array(Type.String()),
    }),
    'The first of the refused lines, in order.'
  ),
  refusedCount: count('All refused lines, listed or not.'),
})

export type EventsResult = Of<typeof eventsResultSchema>

export type EventLine =
  | {
      readonly type: AdEventKind
      readonly trackingData: string
      readonly receivedAtMs: number
      readonly userAgent?: string
    }
  | { readonly type: 'conversion'; readonly receivedAtMs: number; readonly conversion: Conversion }
  | { readonly type: 'return'; readonly receivedAtMs: number; readonly return: PurchaseReturn }

const parseHead = compileParser(
  Type.Object({
    type: wordOf([...adEventKinds, 'conversion', 'return']),
    receivedAt: instantText(),
  })
)
const parseAdEvent = compileParser(adEventLineSchema)
const parseCarriedConversion = carriedParser(
  'conversion',
  conversionLineSchema,
  parseEarlierConversion
)
const parseCarriedReturn = carriedParser('return', returnLineSchema, parseReturn)

/** One line of a backfill. The rules of live deliveries hold for its conversion or return, as of its receipt. */
export function parseEventLine(value: unknown): Parsed<EventLine> {
  const head = parseHead(value)
  if (!head.ok) return head
  const { type } = head.value
  const receivedAtMs = parseInstant(head.value.receivedAt) ?? 0 // The schema has checked it.
  if (type === 'conversion') {
    const carried = parseCarriedConversion(value, receivedAtMs)
    return carried.ok
      ? { ok: true, value: { type, receivedAtMs, conversion: carried.value } }
      : carried
  }
  if (type === 'return') {
    const carried = parseCarriedReturn(value, receivedAtMs)
    return carried.ok ? { ok: true, value: { type, receivedAtMs, return: carried.value } } : carried
  }
  const line = parseAdEvent(value)
  if (!line.ok) return line
  const { receivedAt: _receivedAt, ...event } = line.value
  return { ok: true, value: { ...event, receivedAtMs } }
}

/** Like a live delivery, what the line carries may have unknown fields; the line itself may not. */
function carriedParser<Value>(
  field: 'conversion' | 'return',
  { properties }: TObject,
  parse: (value: unknown, receivedAtMs: number) => Parsed<Value>
): (line: unknown, receivedAtMs: number) => Parsed<Value> {
  const parseLine = compileParser(
    Type.Object({ ...properties, [field]: Type.Unknown() }, { additionalProperties: false })
  )
  return (value, receivedAtMs) => {
    const line = parseLine(value)
    if (!line.ok) return line
    const parsed = parse(Reflect.get(line.value, field), receivedAtMs)
    if (parsed.ok) return parsed
    return { ok: false, messages: parsed.messages.map((message) => under(`/${field}`, message)) }
  }
}

function under(path: string, message: string): string {
  return `${path}${message.startsWith('/') ? message : message.replace('body', '')}`
}
