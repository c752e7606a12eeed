// Values that a schema of the contract admits, with ids and texts of the catalog that the run loads
// where the name of a field says what it is.
import type { TSchema } from 'typebox'
import type { Random } from '../../scripts/demo/random.ts'
import type { Json } from './hostile.ts'

/** By the name of a field, in one spelling: `user_id` is `userId`. */
export type Vocabulary = Readonly<Record<string, readonly Json[]>>

interface SchemaNode {
  readonly type?: string
  readonly const?: Json
  readonly enum?: readonly Json[]
  readonly anyOf?: readonly SchemaNode[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly items?: SchemaNode
  readonly minItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly format?: string
}

export class Sampler {
  readonly #random: Random
  readonly #vocabulary: Vocabulary

  constructor(random: Random, vocabulary: Vocabulary) {
    this.#random = random
    this.#vocabulary = vocabulary
  }

  sample(schema: TSchema): Json {
    // Schemas are JSON Schema, which the library's types do not spell out.
    return this.#value(schema, '')
  }

  #value(node: SchemaNode, name: string): Json {
    if (node.const !== undefined) return node.const
    if (node.enum !== undefined) return this.#random.pick(node.enum)
    if (node.anyOf !== undefined) return this.#value(this.#random.pick(node.anyOf), name)
    const known = this.#vocabulary[camel(name)]
    const isScalar = node.type !== 'array' && node.type !== 'object'
    if (known !== undefined && isScalar && this.#random.chance(0.97)) {
      const value = this.#random.pick(known)
      if (typeof value === (node.type === 'integer' ? 'number' : node.type)) return value
    }
    return this.#anyOfType(node, name)
  }

  #anyOfType(node: SchemaNode, name: string): Json {
    const random = this.#random
    switch (node.type) {
      case 'object':
        return this.#object(node)
      case 'array': {
        const count = random.between(node.minItems ?? 0, Math.max(node.minItems ?? 0, 4))
        return Array.from({ length: count }, () => this.#value(node.items ?? {}, name))
      }
      case 'integer':
        return random.between(
          Math.max(node.minimum ?? 0, 0),
          Math.min(node.maximum ?? 1_000, 1_000)
        )
      case 'number':
        return random.pick([0.01, 1, 9.99, 19.99, 1_234.5])
      case 'boolean':
        return random.chance(0.5)
      case 'string':
        return this.#text(node)
      case undefined:
      default:
        return random.pick(['x', 1, { value: 'Acme' }, { value: 1 }])
    }
  }

  #object({ properties = {}, required = [] }: SchemaNode): Json {
    const entries = Object.entries(properties)
      .filter(([name]) => required.includes(name) || this.#random.chance(0.4))
      .map(([name, node]): [string, Json] => [name, this.#value(node, name)])
    return Object.fromEntries(entries)
  }

  #text({ format }: SchemaNode): Json {
    switch (format) {
      case 'date':
        return day(this.#random.between(-30, 2))
      case 'date-time':
        return new Date(Date.now() - this.#random.between(0, 86_400_000)).toISOString()
      case 'uuid':
        return '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
      case 'uri':
        return 'https://shop.example/coffee'
      case undefined:
      default:
        return `t${this.#random.between(0, 5_000)}`
    }
  }
}

export function day(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
