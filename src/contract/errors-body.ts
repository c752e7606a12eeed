import { Type } from 'typebox'
import type { Immutable } from './fields.ts'

export const exceptionResponseSchema = Type.Object(
  {
    messages: Type.Optional(
      Type.Array(Type.String(), { description: 'What is wrong, one sentence each.' })
    ),
  },
  { title: 'ExceptionResponse', description: 'The body of every answer that is not a success.' }
)

export type ExceptionResponse = Immutable<Type.Static<typeof exceptionResponseSchema>>

/** The one body of every refusal, whatever the status (the interface leaves 400, 401 and 403 open). */
export function buildExceptionResponse(messages: readonly string[]): ExceptionResponse {
  return { messages }
}
