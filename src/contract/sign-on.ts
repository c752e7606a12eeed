// People whom a proxy in front of the service signs in, by their e-mail address.
import { Type } from 'typebox'
import { keyRequestFields } from './admin.ts'
import { closed } from './closed.ts'
import { named, text, type Of } from './fields.ts'
import { personForm } from '../domain/person.ts'
import { compileParser } from './validate.ts'

const { name: _name, ...rights } = keyRequestFields

export const personRequestSchema = closed(
  named('PersonRequest', {
    person: Type.String({
      minLength: 3,
      maxLength: 254,
      pattern: personForm.source,
      title: 'an e-mail address such as ada@shop.example',
      description: 'The e-mail address, as the sign-on names the person; in any case.',
    }),
    ...rights,
  })
)

export type PersonRequest = Of<typeof personRequestSchema>

export const personResponseSchema = named('PersonResponse', {
  id: text("Of the person's access, which is listed and revoked like a key."),
})

export const parsePersonRequest = compileParser(personRequestSchema)
