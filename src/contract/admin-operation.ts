import type { Scope } from './admin.ts'
import { forbidden, otherwise, unauthorized, unprocessable, type Operation } from './operation.ts'

/** What every operation of the admin API may answer. */
export const refusals = [unauthorized, forbidden, unprocessable, otherwise]

interface AdminDetails extends Omit<Operation, 'ports' | 'tag' | 'access' | 'addition'> {
  /** `admin` unless a smaller one will do. */
  readonly scope?: Scope
}

/** An operation below `/admin/v1`. */
export function admin({ scope = 'admin', path, ...rest }: AdminDetails): Operation {
  return {
    ...rest,
    path: `/admin/v1${path}`,
    ports: ['campaign'],
    tag: 'Admin',
    access: { scope, isAdvertiserBound: false },
    addition: true,
  }
}
