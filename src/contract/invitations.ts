// Invitations: a link for a person, which becomes that person's key when it is followed.
import { Type } from 'typebox'
import { keyRequestFields } from './admin.ts'
import { closed } from './closed.ts'
import { instantText, named, optional, text, type Of } from './fields.ts'
import { compileParser } from './validate.ts'

/** What an invitation opens, and nothing else does: the one call that accepts it. */
export const invitationScope = 'invitation:accept'

export const invitationHours = { default: 72, max: 720 } as const

export const invitationRequestSchema = closed(
  named('InvitationRequest', {
    ...keyRequestFields,
    validForHours: optional(
      Type.Integer({
        minimum: 1,
        maximum: invitationHours.max,
        default: invitationHours.default,
        description:
          'How long it can be accepted. `expiresAt` is the end of the key, and of the invitation too.',
      })
    ),
  })
)

export const invitationResponseSchema = named('InvitationResponse', {
  id: text('Of the invitation, and of the key that it becomes.'),
  code: text('Shown once; only its hash is stored.'),
  address: text('Of the page that accepts it, below the address of the dashboard.'),
  expiresAt: instantText('Until when it can be accepted.'),
})

export type InvitationResponse = Of<typeof invitationResponseSchema>

export const parseInvitationRequest = compileParser(invitationRequestSchema)
