import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { TEST_START } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import { CLAIM_MS, ClaimStore, PERIOD_MS } from './claim-store.ts'

let folder: string
let store: ClaimStore
const path = () => join(folder, 'claims.sqlite')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claims-'))
  store = new ClaimStore(path())
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const hashes = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => BigInt(from + index))
const claim = (segment: string, of: readonly bigint[], now = TEST_START) => store.claim({ segment, hashes: of }, now)

test('the first segment owns a batch, also when it claims again', () => {
  expect(claim('a:1', hashes(0, 1000))).toEqual([])
  expect(claim('b:1', hashes(900, 1100))).toEqual(hashes(900, 1000))
  expect(claim('a:1', hashes(0, 1000))).toEqual([])
  expect(claim('b:1', hashes(900, 1100))).toEqual(hashes(900, 1000))
})

test('extreme hashes are distinguished', () => {
  const extreme = [0n, -1n, 1n, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), -(2n ** 63n) + 1n, 2n ** 53n + 1n]
  expect(claim('a:1', extreme)).toEqual([])
  expect(claim('b:1', [...extreme, 2n ** 53n]).toSorted()).toEqual(extreme.toSorted())
})

test('claims last across restarts and hours, until they expire', () => {
  claim('a:1', hashes(0, 3))
  store.close()
  store = new ClaimStore(path())
  expect(claim('b:1', hashes(0, 2), TEST_START + CLAIM_MS)).toEqual(hashes(0, 2))
  expect(claim('a:1', hashes(0, 2), TEST_START + CLAIM_MS)).toEqual([])
  expect(claim('b:2', hashes(0, 3), TEST_START + CLAIM_MS + PERIOD_MS)).toEqual([])
})

test('a batch has one owner, regardless of clock and order', () => {
  const step = fc.record({
    segment: fc.constantFrom('a:1', 'a:2', 'b:1', 'c:1'),
    ids: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 20 }),
    hour: fc.integer({ min: 0, max: 47 }),
  })
  let round = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      round++
      const owners = new Map<bigint, string>()
      for (const { segment, ids, hour } of steps) {
        const own = [...new Set(ids)].map((id) => BigInt(round * 1000 + id))
        const name = `${round}/${segment}`
        const expected = own.filter((hash) => (owners.get(hash) ?? name) !== name)
        expect(claim(name, own, TEST_START + hour * HOUR_MS).toSorted()).toEqual(expected.toSorted())
        for (const hash of own) if (!owners.has(hash)) owners.set(hash, name)
      }
    }),
    { numRuns: 50 },
  )
})
