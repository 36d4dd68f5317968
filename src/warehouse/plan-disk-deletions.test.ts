import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { type Deletion, planDeletions, shareOf } from './plan-disk-deletions.ts'
import type { Piece } from './warehouse.ts'

/** Ten minutes past twelve. */
const NOW = Date.UTC(2026, 0, 5, 12, 10)
const TODAY = NOW - (NOW % DAY_MS)

const piece = (values: Partial<Piece> = {}): Piece => ({
  orgId: 'org_1',
  kind: 'events',
  from: TODAY - DAY_MS,
  bytes: 10,
  part: 'a',
  ...values,
})
const inShort = ({ drops, over }: ReturnType<typeof planDeletions>) => [
  ...drops.map(({ orgId, what, at }) => `${orgId} ${what} ${new Date(at).toISOString().slice(5, 13)}`),
  ...over.map((orgId) => `${orgId} over`),
]

describe('the fair share of the disk', () => {
  test.each<[number[], number, number]>([
    [[], 10, Number.POSITIVE_INFINITY],
    [[10], 10, Number.POSITIVE_INFINITY],
    [[11], 10, 10],
    [[20, 20], 10, 5],
    [[1, 20, 20], 11, 5],
    [[1, 2, 20, 20], 13, 5],
    [[4, 4], 10, Number.POSITIVE_INFINITY],
  ])('for organizations that use %p with a budget of %i is %p', (uses, budget, share) => {
    expect(
      shareOf(
        uses.map((bytes) => ({ bytes })),
        budget,
      ),
    ).toBe(share)
  })
})

describe('a single organization', () => {
  const all = [
    piece({ part: 'n', from: TODAY - 200 * DAY_MS, kind: 'counts' }),
    piece({ part: 'o', from: TODAY - 2 * DAY_MS, kind: 'counts' }),
    piece({ part: 'a', from: TODAY - 2 * DAY_MS }),
    piece({ part: 'b', from: TODAY - 2 * DAY_MS + 23 * HOUR_MS }),
    piece({ part: 'c', from: TODAY - 2 * DAY_MS, kind: 'pages' }),
    piece({ part: 'd', from: TODAY - DAY_MS }),
    piece({ part: 'e', from: TODAY + 3 * HOUR_MS }),
    piece({ part: 'f', from: TODAY + 3 * HOUR_MS, kind: 'pages' }),
    piece({ part: 'g', from: TODAY + 11 * HOUR_MS }),
    piece({ part: 'h', from: TODAY + 12 * HOUR_MS }),
    piece({ part: 'i', from: TODAY, kind: 'counts' }),
    piece({ part: null, from: TODAY + 12 * HOUR_MS, kind: 'spool' }),
  ]
  const inTurn = [
    'org_1 day 01-03T00',
    'org_1 day 01-04T00',
    'org_1 hour 01-05T03',
    'org_1 hour 01-05T11',
    'org_1 counts 06-19T00',
    'org_1 counts 01-03T00',
  ]
  test.each<[number, number]>([
    [120, 0],
    [119, 1],
    [90, 1],
    [89, 2],
    [79, 3],
    [60, 3],
    [59, 4],
    [50, 4],
  ])('with a budget of %i loses its oldest data first, in %i deletions, and its counts last', (budget, times) => {
    expect(inShort(planDeletions(all.toReversed(), budget, NOW))).toEqual(inTurn.slice(0, times))
  })

  test.each<[number, number]>([
    [49, 4],
    [30, 4],
    [29, 5],
    [20, 5],
    [19, 6],
    [1, 6],
  ])(
    'still exceeds a budget of %i after %i deletions, and loses counts only if they alone exceed it',
    (budget, times) => {
      expect(inShort(planDeletions(all, budget, NOW))).toEqual([...inTurn.slice(0, times), 'org_1 over'])
    },
  )

  test('keeps its part of a shared file', () => {
    expect(inShort(planDeletions([piece({ part: null })], 1, NOW))).toEqual(['org_1 over'])
  })
})

describe('several organizations', () => {
  const orgOf = (orgId: string, bytes: number[]) =>
    bytes.map((bytes, days) => piece({ orgId, bytes, from: TODAY - (days + 1) * DAY_MS, part: `${orgId} ${days}` }))

  test('lose data in order of how far they exceed their share, until everything fits', () => {
    const pieces = [...orgOf('org_1', [10, 10]), ...orgOf('org_2', [30, 30, 30]), ...orgOf('org_3', [40, 40])]
    expect(inShort(planDeletions(pieces, 190, NOW))).toEqual([])
    expect(inShort(planDeletions(pieces, 189, NOW))).toEqual(['org_2 day 01-02T00'])
    expect(inShort(planDeletions(pieces, 150, NOW))).toEqual(['org_2 day 01-02T00', 'org_3 day 01-03T00'])
  })

  test("lose nothing within their shares when another organization can't be reduced further", () => {
    const flood = piece({ orgId: 'org_1', bytes: 10_000, from: NOW, part: null })
    expect(inShort(planDeletions([flood, ...orgOf('org_2', [25, 25])], 100, NOW))).toEqual(['org_1 over'])
    expect(inShort(planDeletions([flood, ...orgOf('org_2', [25, 25, 1])], 100, NOW))).toEqual([
      'org_2 day 01-02T00',
      'org_1 over',
    ])
  })
})

describe('parts with data of several organizations', () => {
  /** The parts of a day, of which each organization has 10 bytes of events. */
  const day = (days: number, values: Partial<Piece> = {}) =>
    ['org_1', 'org_2'].map((orgId) =>
      piece({ orgId, from: TODAY - days * DAY_MS + HOUR_MS, part: `day ${days}`, server: 'reachable', ...values }),
    )

  test('are deleted by whole days for all organizations, oldest first', () => {
    const pieces = [...day(1), ...day(3), ...day(2)]
    expect(inShort(planDeletions(pieces, 60, NOW))).toEqual([])
    expect(planDeletions(pieces, 59, NOW)).toEqual({
      drops: [{ orgId: null, what: 'day', at: TODAY - 3 * DAY_MS, bytes: 20, parts: ['day 3'] }],
      over: [],
    })
    expect(inShort(planDeletions(pieces, 30, NOW))).toEqual(['null day 01-02T00', 'null day 01-03T00'])
  })

  test('are kept if they contain counts or data of the current day', () => {
    const today = day(0, { part: null })
    const counts = day(3, { kind: 'counts', part: 'counts 3' })
    const own = piece({ orgId: 'org_2', part: 'own', from: TODAY - 2 * DAY_MS })
    const { drops, over } = planDeletions([...today, ...counts, ...day(1), own], 1, NOW)
    expect(inShort({ drops, over })).toEqual(['null day 01-04T00', 'org_2 day 01-03T00', 'org_1 over', 'org_2 over'])
  })
})

const aPiece: fc.Arbitrary<Piece> = fc.record({
  orgId: fc.constantFrom('org_1', 'org_2', 'org_3', 'org_4'),
  kind: fc.constantFrom('events', 'pages', 'counts', 'spool'),
  from: fc.tuple(fc.nat(5), fc.nat(23)).map(([days, hours]) => Math.min(NOW, TODAY - days * DAY_MS + hours * HOUR_MS)),
  bytes: fc.integer({ min: 1, max: 100 }),
  part: fc.option(fc.uuid(), { freq: 8 }),
})
const somePieces = fc.array(aPiece, { maxLength: 40 })
const aBudget = fc.integer({ min: 1, max: 1500 })
const useOf = (pieces: readonly Piece[]) => {
  const uses = new Map<string, number>()
  for (const { orgId, bytes } of pieces) uses.set(orgId, (uses.get(orgId) ?? 0) + bytes)
  return uses
}
const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, one) => all + one, 0)

/** Returns the highest limit per organization at which everything fits the budget, found by bisection. */
function levelOf(uses: readonly number[], budget: number): number {
  let [low, high] = [0, Math.max(...uses)]
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2
    if (sum(uses.map((use) => Math.min(use, middle))) <= budget) low = middle
    else high = middle
  }
  return low
}

test('no organization loses data within its share, and every deletion is necessary', () => {
  fc.assert(
    fc.property(somePieces, aBudget, (pieces, budget) => {
      const { drops, over } = planDeletions(pieces, budget, NOW)
      const uses = useOf(pieces)
      for (const { orgId: owner, bytes } of drops) {
        const orgId = String(owner)
        const use = uses.get(orgId) ?? 0
        expect(sum(uses.values())).toBeGreaterThan(budget)
        expect(use).toBeGreaterThan(levelOf([...uses.values()], budget) - 1e-6)
        uses.set(orgId, use - bytes)
      }
      const level = levelOf([...uses.values()], budget)
      const isSpent = sum(uses.values()) > budget
      expect(over).toEqual([...uses].flatMap(([orgId, use]) => (isSpent && use > level + 1e-6 ? [orgId] : [])).sort())
    }),
    { numRuns: 1000 },
  )
})

test("usage fits the budget unless excess data can't be deleted, and each organization loses its oldest data first", () => {
  const isEarlier = (a: Deletion, b: Deletion) => a.what !== b.what || a.at < b.at
  fc.assert(
    fc.property(somePieces, aBudget, (pieces, budget) => {
      const { drops, over } = planDeletions(pieces, budget, NOW)
      const gone = new Set(drops.flatMap(({ parts }) => parts))
      const kept = pieces.filter(({ part }) => part === null || !gone.has(part))
      if (over.length === 0) expect(sum(useOf(kept).values())).toBeLessThanOrEqual(budget)
      const share = shareOf(
        [...useOf(kept).values()].map((bytes) => ({ bytes })),
        budget,
      )
      for (const orgId of over) {
        const own = kept.filter((one) => one.orgId === orgId)
        const counts = own.filter(({ kind }) => kind === 'counts')
        const ended = own.filter(({ kind, part, from }) => {
          const isOver = kind === 'counts' ? from < TODAY : kind !== 'spool' && from < NOW - (NOW % HOUR_MS)
          return part !== null && isOver
        })
        const left =
          sum(counts.map(({ bytes }) => bytes)) > share ? ended : ended.filter((one) => !counts.includes(one))
        expect(left).toEqual([])
      }
      for (const own of Map.groupBy(drops, ({ orgId }) => orgId).values()) {
        for (const [index, drop] of own.entries()) {
          const before = own[index - 1]
          if (before) expect(isEarlier(before, drop)).toBe(true)
        }
        const last = own.at(-1)
        const older = kept.filter(
          ({ orgId, part, kind, from }) =>
            part !== null && orgId === last?.orgId && kind !== 'counts' && kind !== 'spool' && from < last.at,
        )
        if (last?.what !== 'counts') expect(older).toEqual([])
      }
    }),
    { numRuns: 1000 },
  )
})

test('an organization that uses at most an equal share loses nothing, regardless of other organizations', () => {
  fc.assert(
    fc.property(somePieces, aBudget, (others, budget) => {
      const [organizations, part] = [5, Math.floor(budget / 5)]
      const mine = piece({ orgId: 'org_mine', bytes: part, part: 'mine' })
      fc.pre(new Set(others.map(({ orgId }) => orgId)).size < organizations)
      const { drops, over } = planDeletions([mine, ...others], budget, NOW)
      expect([...drops.map(({ orgId }) => orgId), ...over]).not.toContain('org_mine')
    }),
  )
})

test('the order of the pieces does not affect the result', () => {
  const shuffled = somePieces.chain((pieces) =>
    fc.tuple(fc.constant(pieces), fc.shuffledSubarray(pieces, { minLength: pieces.length })),
  )
  fc.assert(
    fc.property(shuffled, aBudget, ([one, other], budget) => {
      expect(planDeletions(other, budget, NOW)).toEqual(planDeletions(one, budget, NOW))
    }),
  )
})
