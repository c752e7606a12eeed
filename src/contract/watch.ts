// What a node finds wrong with itself, and what it remembers of the last day.

import { count, instantText, list, named, nullOr, text, wordOf, type Of } from './fields.ts'

const alertFields = {
  name: text('The rule of docs/alerts.yaml; docs/runbook.md has a section of this name.'),
  severity: wordOf(['page', 'ticket'], 'page: wake somebody. ticket: look at it in working hours.'),
}

export const alertSchema = named('Alert', {
  ...alertFields,
  since: instantText('When it began.'),
  summary: text('What is wrong, in a sentence.'),
})

export const pastAlertSchema = named('PastAlert', {
  ...alertFields,
  since: instantText('When it began.'),
  until: instantText('When it was over.'),
})

export const vitalPointSchema = named('VitalPoint', {
  at: instantText('The end of its minute.'),
  shipped: count('Events shipped into the warehouse in this minute.'),
  waitingBytes: count('The most that waited in the spool.'),
  lagMs: count('The greatest age of the oldest waiting event.'),
  attributionLagMs: count('The longest that a purchase had waited for attribution.'),
  reportP95Ms: nullOr(
    count('95 % of the reports were faster; estimated.'),
    'null: there was none.'
  ),
})

export const statusHistorySchema = named('StatusHistory', {
  points: list(vitalPointSchema, 'One a minute of the last 24 hours, the oldest first.'),
  ended: list(
    pastAlertSchema,
    'Alerts that ended in the last 24 hours, the latest first; at most 200.'
  ),
})

export type Alert = Of<typeof alertSchema>
export type PastAlert = Of<typeof pastAlertSchema>
export type VitalPoint = Of<typeof vitalPointSchema>
export type StatusHistory = Of<typeof statusHistorySchema>
