import type { Operation } from '../contract/operation.ts'

/** Which methods a path takes, so that a wrong one is told apart from a wrong path. */
export class PathTable {
  readonly #paths: readonly { readonly form: RegExp; readonly methods: string }[]

  constructor(operations: readonly Operation[]) {
    const methodsByPath = new Map<string, string[]>()
    for (const { path, method } of operations) {
      methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method.toUpperCase()])
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

function formOf(path: string): RegExp {
  const escaped = path.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
