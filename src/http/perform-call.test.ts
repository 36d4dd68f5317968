import { describe, expect, test } from 'bun:test'
import { memoryDb } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { type Audit, performer } from './perform-call.ts'
import { PERMISSIONS, type Permission } from './permission.ts'
import type { Principal } from './principal.ts'
import { type Call, type Route, route } from './route.ts'

const principal: Principal = {
  via: 'key',
  userId: 'usr_1',
  orgId: 'org_1',
  role: 'owner',
  readOnly: false,
  keyId: 'key_1',
  sessionId: null,
}

const callOf = (body: unknown): Call => ({
  principal,
  params: {},
  query: {},
  body,
  origin: { address: null, userAgent: null },
  signal: new AbortController().signal,
})

/** Creates a table that the routes write to, and a list of recorded audit log entries. */
function setUp(audit?: Audit) {
  const db = memoryDb()
  db.exec('CREATE TABLE pile (text TEXT UNIQUE) STRICT')
  const acts: string[] = []
  const perform = performer({
    db,
    audit: audit ?? (({ route: { id }, answer }) => void acts.push(`${id} ${JSON.stringify(answer)}`)),
  })
  const rows = () => db.prepare('SELECT text FROM pile ORDER BY text').pluck().all()
  const put = (text: string) => db.prepare('INSERT INTO pile VALUES (?)').run(text)
  const write = (access: Exclude<Permission, 'public'>, more: Partial<Route> = {}): Route => ({
    ...route({
      id: 'write',
      method: 'POST',
      path: '/v1/write',
      access,
      tag: 'Test',
      summary: 'Test',
      body: Closed({ texts: Type.Array(Type.String()) }),
      answer: Closed({ rows: Int() }),
      handle({ body: { texts } }) {
        for (const text of texts) {
          if (text === 'bad') throw new AppError('conflict', 'texts: bad')
          put(text)
        }
        return { rows: rows().length }
      },
    }),
    ...more,
  })
  return { perform, rows, put, write, acts }
}

describe('a route that writes', () => {
  test('applies all of its changes or none', () => {
    const { perform, rows, write, acts } = setUp()
    expect(() => perform(write('own'), callOf({ texts: ['a', 'bad'] }))).toThrow('texts: bad')
    expect([rows(), acts]).toEqual([[], []])
    expect(perform(write('own'), callOf({ texts: ['a', 'b'] }))).toEqual({ rows: 2 })
    expect(rows()).toEqual(['a', 'b'])
  })

  test('is rolled back when its audit log entry fails', () => {
    const { perform, rows, write } = setUp(() => {
      throw new Error('no log')
    })
    expect(() => perform(write('administer'), callOf({ texts: ['a'] }))).toThrow('no log')
    expect(rows()).toEqual([])
  })

  test('is rolled back when its response does not match its schema', () => {
    const { perform, rows, write } = setUp()
    const wrong = write('edit', { answer: Closed({ rows: Type.String() }) })
    expect(() => perform(wrong, callOf({ texts: ['secret value'] }))).toThrow(
      'the response of write does not match its schema: rows: must be a string',
    )
    expect(rows()).toEqual([])
  })

  test('returns the same response for a dry run, and changes nothing', () => {
    const { perform, rows, put, write, acts } = setUp()
    put('a')
    for (const access of ['own', 'edit', 'configure', 'administer', 'govern'] as const) {
      expect(perform(write(access), callOf({ texts: ['b'] }), { dryRun: true })).toEqual({ rows: 2 })
      expect(() => perform(write(access), callOf({ texts: ['b', 'bad'] }), { dryRun: true })).toThrow('texts: bad')
      expect(() => perform(write(access), callOf({ text: 'b' }), { dryRun: true })).toThrow('text')
    }
    expect(rows()).toEqual(['a'])
    expect(acts.length).toBeGreaterThan(0)
  })

  test('does not support dry runs when it is asynchronous', () => {
    const { perform, rows, write } = setUp()
    const later = write('edit', { asynchronous: true })
    expect(() => perform(later, callOf({ texts: ['a'] }), { dryRun: true })).toThrow('does not support dry runs')
    expect(rows()).toEqual([])
  })
})

test.each(Object.entries(PERMISSIONS).filter(([row]) => row !== 'public'))(
  'routes are written to the audit log as the permission table specifies: %s',
  async (row, { writes }) => {
    const { perform, write, acts } = setUp()
    await perform(write(row as Exclude<Permission, 'public'>), callOf({ texts: ['a'] }))
    expect(acts).toEqual(writes ? ['write {"rows":1}'] : [])
  },
)

test('an asynchronous route is written to the audit log when it succeeds, and not when it fails', async () => {
  const { perform, write, acts } = setUp()
  const done = write('own', { asynchronous: true, handle: async () => ({ rows: 7 }) })
  expect(await perform(done, callOf({ texts: [] }))).toEqual({ rows: 7 })
  const failed = write('own', { asynchronous: true, handle: () => Promise.reject(new AppError('upstream', 'no')) })
  expect(perform(failed, callOf({ texts: [] }))).rejects.toThrow('no')
  expect(acts).toEqual(['write {"rows":7}'])
})
