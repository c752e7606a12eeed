// What a publisher sent, by day: the answer with which it checks its integration.
import { Type } from 'typebox'
import { notBelievedSchema } from './not-believed.ts'
import { count, dateText, instantText, int32, list, named, optional, type Of } from './fields.ts'

export const intakeLimits = {
  /** A quarter, both ends included. */
  daysMax: 92,
  /** Limit per kind of unknown ids; the ones named most often are listed. */
  unknownIdsMax: 100,
} as const

const notCounted = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 1 }), { description })

const lastReceivedAt = optional(instantText('The newest receipt; absent where there is none.'))

const conversionIntakeSchema = named('ConversionIntake', {
  received: count('Deliveries, repeats among them.'),
  counted: count('Deliveries that are the purchase.'),
  waiting: count('Deliveries that were not looked at yet; normal for some seconds.'),
  notCounted: notCounted('Deliveries that do not count, by reason.'),
  withoutShopper: count('Deliveries of which neither id names anyone.'),
  lines: Type.Object({
    received: count('Products of all deliveries.'),
    notCounted: notCounted('Products that are never credited, by reason.'),
  }),
  lastReceivedAt,
})

const adEventIntakeSchema = named('AdEventIntake', {
  counted: count('Served ads whose event counts.'),
  notCounted: notCounted('Served ads whose event does not count, by reason.'),
  lastReceivedAt,
})

const unknownIds = (description: string) =>
  Type.Array(Type.Object({ id: int32(), count: count('How often it was named.') }), { description })

export const intakeSchema = named('Intake', {
  publisherId: int32(),
  startDate: dateText(),
  endDate: dateText(),
  days: list(
    named('IntakeDay', {
      date: dateText('A day in UTC.'),
      conversions: conversionIntakeSchema,
      loads: adEventIntakeSchema,
      impressions: adEventIntakeSchema,
      clicks: adEventIntakeSchema,
    }),
    'Days on which anything came, oldest first.'
  ),
  unknown: Type.Object(
    {
      conversionSites: unknownIds('`site_id`s of conversions that are no sites of the publisher.'),
      adSites: unknownIds('Sites of served ads that are no sites of the publisher.'),
      adMarkets: unknownIds('Markets of served ads that the catalog does not have.'),
    },
    { description: `The ids that were named most often, at most ${intakeLimits.unknownIdsMax}.` }
  ),
  notBelieved: list(
    notBelievedSchema,
    'Deliveries of these days that are not believed, by kind and reason; most deliveries first.'
  ),
  lookAlikes: count(
    'Transactions that differ from another one in these days only by blanks at the ends, invisible ' +
      'marks, or the form in which a character is written. Each counts as a purchase of its own.'
  ),
  lastReceivedAt,
})

export type Intake = Of<typeof intakeSchema>
export type IntakeDay = Intake['days'][number]
export type ConversionIntake = IntakeDay['conversions']
export type AdEventIntake = IntakeDay['loads']
export type UnknownId = Intake['unknown']['adSites'][number]
