import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { isSampled, makeSession, randomId, SESSION_IDLE_MS, STORAGE_KEY } from './visitor-session.ts'

const NOW = 1_767_614_400_000
const FIRST = 'f'.repeat(32)

/** The part of `Storage` that the script uses. */
function memory(kept: Record<string, string> = {}) {
  const storage = {
    kept,
    writes: 0,
    getItem: (key: string) => storage.kept[key] ?? null,
    setItem(key: string, value: string) {
      storage.writes++
      storage.kept[key] = value
    },
    removeItem(key: string) {
      delete storage.kept[key]
    },
  }
  return storage
}

function setUp(sessionMode: 'memory' | 'sessionStorage' | 'customer', storage = memory()) {
  return { storage, session: makeSession({ sessionMode }, FIRST, () => storage as unknown as Storage) }
}

test('a session ends after half an hour without requests', () => {
  const { session } = setUp('memory')
  expect(session.idAt(NOW)).toBe(FIRST)
  expect(session.idAt(NOW + SESSION_IDLE_MS - 1)).toBe(FIRST)
  expect(session.idAt(NOW + 2 * SESSION_IDLE_MS - 2)).toBe(FIRST)
  const next = session.idAt(NOW + 3 * SESSION_IDLE_MS)
  expect(next).toMatch(/^[\da-f]{32}$/)
  expect(next).not.toBe(FIRST)
})

describe('storage', () => {
  test.each(['memory', 'customer'] as const)('is never used in mode %s', (mode) => {
    const { storage, session } = setUp(mode)
    session.allowStorage(true)
    session.idAt(NOW)
    expect(storage.kept).toEqual({})
  })

  test('is written at most once a second if allowed, and is cleared otherwise', () => {
    const { storage, session } = setUp('sessionStorage')
    session.idAt(NOW)
    expect(storage.writes).toBe(0)
    session.allowStorage(true)
    for (const ms of [0, 1, 999, 1000, 1500]) session.idAt(NOW + ms)
    expect(storage.writes).toBe(2)
    expect(JSON.parse(storage.kept[STORAGE_KEY] ?? '')).toEqual({ id: FIRST, seenAt: NOW + 1000 })
    session.allowStorage(false)
    session.idAt(NOW + 5000)
    expect(storage.kept).toEqual({})
  })

  test.each<[string, string, boolean]>([
    ['that has not expired is continued', JSON.stringify({ id: 'a'.repeat(32), seenAt: NOW - 1000 }), true],
    ['that has expired is replaced', JSON.stringify({ id: 'a'.repeat(32), seenAt: NOW - SESSION_IDLE_MS }), false],
    ['with an invalid id is replaced', JSON.stringify({ id: 'a', seenAt: NOW }), false],
    ['that is not JSON is replaced', '<>', false],
  ])('a stored session %s', (_what, kept, isTaken) => {
    const { session } = setUp('sessionStorage', memory({ [STORAGE_KEY]: kept }))
    session.allowStorage(true)
    expect(session.idAt(NOW)).toBe(isTaken ? 'a'.repeat(32) : FIRST)
  })
})

test('a change of mode deletes the stored session, and the page’s own setting takes precedence', () => {
  const storage = memory()
  const config: { sessionMode: 'memory' | 'sessionStorage' | 'customer' } = { sessionMode: 'sessionStorage' }
  const session = makeSession(config, FIRST, () => storage as unknown as Storage)
  const keptIn = (mode: typeof config.sessionMode, seconds: number) => {
    config.sessionMode = mode
    expect(session.idAt(NOW + seconds * 1000)).toBe(FIRST)
    return Object.keys(storage.kept)
  }
  session.allowStorage(true)
  expect(keptIn('sessionStorage', 0)).toEqual([STORAGE_KEY])
  expect(keptIn('memory', 1)).toEqual([])
  expect(keptIn('sessionStorage', 2)).toEqual([STORAGE_KEY])
  config.sessionMode = 'customer'
  session.allowStorage(false)
  expect(storage.kept).toEqual({})
  session.allowStorage(true)
  session.setMode('memory')
  expect(keptIn('sessionStorage', 3)).toEqual([])
})

test('a session id set by the page is used only as a hash', () => {
  const { session } = setUp('customer')
  expect(session.idAt(NOW)).toBe(FIRST)
  session.setCustomerSession('PHPSESSID')
  const hash = createHash('sha256').update('PHPSESSID').digest('hex').slice(0, 32)
  expect(session.idAt(NOW)).toBe(hash)
  expect(session.idAt(NOW + 5 * SESSION_IDLE_MS)).toBe(hash)
})

describe('sampling', () => {
  test('captures approximately the configured share of sessions, and only adds sessions when the share grows', () => {
    const ids = Array.from({ length: 5000 }, randomId)
    const taken = ids.filter((id) => isSampled(id, 0.25))
    // Five standard deviations for a random sample.
    expect(Math.abs(taken.length - 1250)).toBeLessThan(155)
    expect(taken.every((id) => isSampled(id, 0.3))).toBe(true)
  })

  test('captures all sessions at a share of 1 and none at 0', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 }), (id) => {
        expect([isSampled(id, 0), isSampled(id, 1)]).toEqual([false, true])
      }),
    )
  })
})
