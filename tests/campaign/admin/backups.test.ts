import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BackupStart } from '../../../src/backup/backups.ts'
import { adminKey, bearer, startAdmin } from './harness.ts'
import type { AdminHarness } from './harness.ts'

const path = '/admin/v1/backups'
const backup = { name: 'first', folder: '/b/first', state: 'running', bytes: 0 } as const

let admin: AdminHarness
let outcome: BackupStart = { kind: 'started', backup }
const asked: (string | undefined)[] = []

before(async () => {
  admin = await startAdmin({
    backups: {
      start: (name) => {
        asked.push(name)
        return outcome
      },
      list: () => [backup],
    },
  })
})

after(async () => {
  await admin.close()
})

async function post(body: unknown, key = adminKey) {
  const answer = await admin.app.inject({
    method: 'POST',
    url: path,
    headers: { ...bearer(key), 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  })
  return { status: answer.statusCode, body: answer.json() }
}

test('a backup that has begun is answered 202, recorded and listed', async () => {
  outcome = { kind: 'started', backup }

  assert.deepEqual(await post({ name: 'first' }), { status: 202, body: backup })

  const [record] = await admin.audits()
  assert.equal(record?.action, 'backup.start')
  assert.equal(record.subject, 'first')
  const list = await admin.app.inject({ url: path, headers: bearer(adminKey) })
  assert.deepEqual(list.json(), { backups: [backup] })
})

test('a name that could lead to another folder never reaches the disk', async () => {
  const count = asked.length
  const names = ['', '.', '..', '../x', 'a/b', '/etc', 'a\\b', 'a.b', 'a\0', 'é', 'a'.repeat(65), 7]

  for (const name of names) assert.equal((await post({ name })).status, 422, String(name))

  assert.equal(asked.length, count)
})

test('what cannot be begun is a conflict that says why', async () => {
  const outcomes: [BackupStart, RegExp][] = [
    [{ kind: 'running', name: 'x' }, /one at a time/u],
    [{ kind: 'taken', name: 'x' }, /must be new/u],
    [
      { kind: 'unwritable', cause: Object.assign(new Error('/secret/path'), { code: 'EACCES' }) },
      /BACKUP_DIR cannot be written \(EACCES\)$/u,
    ],
  ]
  for (const [next, reason] of outcomes) {
    outcome = next
    const { status, body } = await post({})
    assert.equal(status, 409)
    assert.match(body.messages[0], reason)
  }
})

test('only a key with the scope admin may begin or list backups', async () => {
  const key = await admin.keyOf({ scopes: ['report:read'] })

  assert.equal((await post({}, key)).status, 403)
  assert.equal((await admin.app.inject({ url: path, headers: bearer(key) })).statusCode, 403)
  assert.equal((await admin.app.inject({ url: path })).statusCode, 401)
})
