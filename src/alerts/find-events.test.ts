import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { inSql, plainQuery } from '../warehouse/warehouse.fixture.ts'
import { eventOf, NOON, warehouseWith } from './alert.fixture.ts'
import { eventsQuery, findEvents } from './find-events.ts'

const ORG = 'org_a'
/** Sequence numbers around 2^31, as large as in production, and the largest possible one. */
const SEQS = [1, 2 ** 31 - 1, 2 ** 31, NOON * 1000, NOON * 1000 + 1, Number.MAX_SAFE_INTEGER]
const EVENTS = SEQS.map((seq, index) => eventOf({ seq, receivedAt: NOON + index, params: { seq: String(seq) } }))
const THEIRS = eventOf({ seq: 5, orgId: 'org_b' })

test('complete events are returned in the order of their positions, omitting deleted events and those of other organizations', async () => {
  using history = await warehouseWith([...EVENTS, THEIRS])
  const places = [...EVENTS, THEIRS, eventOf({ seq: 6, receivedAt: NOON + 2 })]
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(places), async (places) => {
      const expected = places.flatMap((place) => {
        const { orgId, ...event } = EVENTS.find(({ seq }) => seq === place.seq) ?? { orgId: null }
        return orgId === null ? [] : [event]
      })
      expect<object[]>(await findEvents(ORG, places, history)).toEqual(expected)
    }),
    { numRuns: 20 },
  )
})

test('no query runs when there are no positions', async () => {
  expect(await findEvents(ORG, [], { query: () => Promise.reject(new Error('unexpected query')) })).toEqual([])
})

test('positions are bound as integers, which lets the engine skip other files', async () => {
  using history = await warehouseWith(EVENTS)
  const query = eventsQuery(ORG, EVENTS)
  const { sql, params } = inSql(query)
  const names = Object.keys(params)
  expect(names.every((name) => sql.includes(`$${name}`))).toBe(true)
  const types = names.map((name) => `typeof($${name}) AS ${name}`).join(', ')
  const [row = {}] = await history.query<Record<string, string>>(
    plainQuery({ sql: `SELECT ${types}`, params, orgId: ORG, window: query.window }),
  )
  expect(new Set(Object.values(row))).toEqual(new Set(['INTEGER', 'BIGINT']))
})
