import type { Operation } from '../contract/operation.ts'

/** The methods of each path, so that 405 for a wrong method is told apart from 404 for a wrong path. */
export class PathTable {
  readonly #paths: readonly { readonly form: RegExp; readonly methods: string }[]

  constructor(operations: readonly Operation[]) {
    const methodsByPath = new Map<string, string[]>()
    for (const operation of operations) {
      const { path, method } = operation
      const methods = [method.toUpperCase(), ...(answersHead(operation) ? ['HEAD'] : [])]
      methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), ...methods])
    }
    this.#paths = [...methodsByPath].map(([path, methods]) => ({
      form: formOf(path),
      methods: methods.join(', '),
    }))
  }

  /** For the `Allow` header; null when no operation has the path. */
  methodsOf(url: string): string | null {
    const [path = ''] = url.split('?')
    return this.#paths.find(({ form }) => form.test(path))?.methods ?? null
  }
}

/** As HTTP demands: whatever can be read also answers HEAD, with the same rules, status and headers. */
export function answersHead({ method }: Operation): boolean {
  return method === 'get'
}

function formOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
