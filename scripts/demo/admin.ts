import { describeAnswer, DemoError } from './failures.ts'
import type { HttpAnswer, HttpClient } from './http.ts'
import { parseObject, textIn, type JsonObject } from './json.ts'

export interface AdminCall {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly json?: unknown
  /** Lines of JSON, in place of `json`. */
  readonly ndjson?: string
  readonly status: number
}

/** Calls of the campaign port under one key. An answer other than the expected one ends the demo. */
export class Admin {
  readonly #http: HttpClient
  readonly #baseUrl: string
  readonly #key: string

  constructor({ http, baseUrl, key }: { http: HttpClient; baseUrl: string; key: string }) {
    this.#http = http
    this.#baseUrl = baseUrl
    this.#key = key
  }

  async call(call: AdminCall): Promise<JsonObject> {
    const { body } = await this.answer(call)
    return parseObject(body)
  }

  async answer({ method, path, json, ndjson, status }: AdminCall): Promise<HttpAnswer> {
    const type = ndjson === undefined ? 'application/json' : 'application/x-ndjson'
    const body = ndjson ?? (json === undefined ? undefined : JSON.stringify(json))
    const answer = await this.#http.send({
      method,
      url: `${this.#baseUrl}${path}`,
      headers: {
        authorization: `Bearer ${this.#key}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body }),
    })
    if (answer.status !== status) {
      throw new DemoError(`${method} ${path}: expected ${status}, got ${describeAnswer(answer)}`)
    }
    return answer
  }
}

export interface KeyWish {
  readonly name: string
  readonly advertisers: 'all' | readonly number[]
  readonly scopes: readonly string[]
}

/** Makes a key and gives what is shown only once. */
export async function createKey(admin: Admin, wish: KeyWish): Promise<string> {
  const json = await admin.call({ method: 'POST', path: '/admin/v1/keys', json: wish, status: 201 })
  return textIn(json, 'key')
}

/** An invitation, as the address below the dashboard that signs a reader in, once and within a month. */
export async function inviteReader(admin: Admin, wish: KeyWish): Promise<string> {
  const json = await admin.call({
    method: 'POST',
    path: '/admin/v1/invitations',
    json: { ...wish, validForHours: 720 },
    status: 201,
  })
  return `#/sign-in/${textIn(json, 'code')}`
}
