import { expect, test } from 'bun:test'
import { cast, memoryDb, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { validationInput } from './alert.fixture.ts'
import {
  activeAlerts,
  advanceAlert,
  createAlert,
  deleteAlert,
  dueAlerts,
  findAlert,
  MAX_ALERTS,
  setEnabled,
  updateAlert,
} from './alert-store.ts'
import type { Cursor } from './due-windows.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const { orgId } = cast(db, clock)
  const { id } = createAlert(db, clock, orgId, validationInput)
  const key = { orgId, id }
  const cursor = (): Cursor => {
    const [active] = activeAlerts(db)
    if (!active) throw new Error('the alert is not active')
    return active.cursor
  }
  return { db, clock, key, cursor }
}

test('an evaluation advances the cursor only from the position where it started', () => {
  const { db, clock, key, cursor } = setUp()
  const next = { evaluatedThrough: clock.now() + HOUR_MS, windowStartAt: clock.now() + HOUR_MS }
  expect(advanceAlert(db, key.id, cursor(), next)).toBe(true)
  expect(cursor()).toEqual(next)
})

test.each<[string, (parts: ReturnType<typeof setUp>) => void]>([
  [
    'evaluated elsewhere',
    ({ db, key, cursor, clock }) => {
      advanceAlert(db, key.id, cursor(), { evaluatedThrough: clock.now() + 1, windowStartAt: clock.now() })
    },
  ],
  [
    'changed',
    ({ db, key, clock }) => {
      updateAlert(db, clock, key, { ...validationInput, vendors: ['ga4'] })
    },
  ],
  [
    'disabled',
    ({ db, key, clock }) => {
      setEnabled(db, clock, key, false)
    },
  ],
  [
    'disabled and enabled',
    ({ db, key, clock }) => {
      setEnabled(db, clock, key, false)
      setEnabled(db, clock, key, true)
    },
  ],
  [
    'deleted',
    ({ db, key }) => {
      deleteAlert(db, key, () => {})
    },
  ],
])('an evaluation is discarded if the alert was %s in the meantime', (_, happens) => {
  const parts = setUp()
  const { db, key, clock, cursor } = parts
  const before = cursor()
  clock.advance(MINUTE_MS)
  happens(parts)
  const rows = db.prepare('SELECT * FROM alert').all()
  const next = { evaluatedThrough: before.evaluatedThrough + HOUR_MS, windowStartAt: before.windowStartAt + HOUR_MS }
  expect(advanceAlert(db, key.id, before, next)).toBe(false)
  expect(db.prepare('SELECT * FROM alert').all()).toEqual(rows)
})

test("an alert is not deleted when its dependent rows can't be updated", () => {
  const { db, key } = setUp()
  const fails = () => {
    throw new AppError('conflict', 'no')
  }
  expect(() => deleteAlert(db, key, fails)).toThrow('no')
  expect(findAlert(db, key).id).toBe(key.id)
})

test('the limit of alerts applies per organization', () => {
  const { db, clock, key } = setUp()
  db.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO alert SELECT 'alr_' || i, orgId, input, 0, 0, 0, 0, 0, 0, 0 FROM alert, n`,
  ).run(MAX_ALERTS - 1)
  expect(() => createAlert(db, clock, key.orgId, validationInput)).toThrow(`at most ${MAX_ALERTS} alerts`)
  const other = db.prepare<[string], string>('SELECT id FROM org WHERE id <> ?').pluck().get(key.orgId) ?? ''
  expect(createAlert(db, clock, other, validationInput).orgId).toBe(other)
})

test('a round reads only due alerts, earliest due first', async () => {
  const { db, clock, key } = setUp()
  const now = clock.now()
  deleteAlert(db, key, () => undefined)
  // More due alerts than are read at once, mixed with alerts that are disabled or not yet due.
  const due = (n: number) => createAlert(db, clock, key.orgId, { ...validationInput, name: `${n}` }).id
  const ids = Array.from({ length: 1200 }, (_, n) => due(n))
  const set = db.prepare('UPDATE alert SET dueAt = ?, enabled = ? WHERE id = ?')
  for (const [n, id] of ids.entries()) set.run(now + (n % 3 === 0 ? -1 - (n % 7) : 1 + n), n % 5 === 0 ? 0 : 1, id)
  const found = await dueAlerts(db, 'data_validation', now)
  const expected = ids
    .map((id, n) => ({ id, dueAt: now - 1 - (n % 7), isDue: n % 3 === 0 && n % 5 !== 0 }))
    .filter(({ isDue }) => isDue)
    .sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1))
  expect(found.map(({ alert, dueAt }) => ({ id: alert.id, dueAt }))).toEqual(
    expected.map(({ id, dueAt }) => ({ id, dueAt })),
  )
  expect(found.length).toBeGreaterThan(250)
  expect(await dueAlerts(db, 'journey', now)).toEqual([])
  expect(await dueAlerts(db, 'data_validation', Number.POSITIVE_INFINITY)).toHaveLength(960)
})
