import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MINUTE_MS } from '../core/clock.ts'
import { capturedEvents, capturesFolder } from '../warehouse/captures.fixture.ts'
import type { EventFields } from '../warehouse/warehouse.fixture.ts'
import { type HistoryFixture, openHistory } from './history.fixture.ts'
import { type Flows, sessionFlows } from './session-flows.ts'
import { type FlowsInput, flowsReference, shownPath } from './session-flows-reference.fixture.ts'

type Input = Parameters<typeof sessionFlows.answer>[1]

/** Returns the response, and the reference result for the same events. */
async function both(history: HistoryFixture, input: Input) {
  const sources = history.sources()
  const asked: FlowsInput = {
    orgId: history.orgId,
    now: history.now,
    privacy: sources.privacy(),
    hours: 72,
    maxSteps: 4,
    ...input,
  }
  return {
    answer: await sessionFlows.answer(sources, input, history.caller),
    expected: flowsReference(history.fixture.events, asked),
  }
}

/** Expects as many sessions to enter each node as the node has, and at most as many to leave it. */
function expectConserved({ sessionsSampled, steps, links }: Flows): void {
  const sum = (of: readonly { sessions: number }[]) => of.reduce((sum, { sessions }) => sum + sessions, 0)
  expect(sum(steps[0]?.nodes ?? [])).toBe(sessionsSampled)
  for (const { index, nodes } of steps) {
    expect(nodes.length).toBeLessThanOrEqual(21)
    for (const { path, sessions, vendors } of nodes) {
      const entering = sum(links.filter(({ fromStep, toPath }) => fromStep === index - 1 && toPath === path))
      const leaving = sum(links.filter(({ fromStep, fromPath }) => fromStep === index && fromPath === path))
      if (index > 0) expect(entering).toBe(sessions)
      expect(leaving).toBeLessThanOrEqual(sessions)
      expect(vendors.length).toBeLessThanOrEqual(20)
      expect(vendors.length).toBeGreaterThan(0)
    }
  }
}

describe('session flows from ten days of shop traffic, in files of every kind', () => {
  let history: HistoryFixture
  beforeAll(async () => {
    const ids = ['7', '0123456789abcdef', 'D94F1C0A-8B9E-4f6e-9a1c-3f2d5a6b7c8d', '0123456789abcde', '12a', '']
    const odd = ids.flatMap((id, n) =>
      ['/a/{}', '/a/{}/b/{}', '/{}/{}/{}', '{}', 'a//{}/', '/u/jo.doe@example.com/{}', '/u/jane%40example.com'].map(
        (path, at): EventFields => ({
          sessionId: `odd-${n}`,
          vendor: `V${at % 3}`,
          event: at % 2 ? 'x@example.com' : '',
          weight: 3,
          path: path.replaceAll('{}', id),
        }),
      ),
    )
    history = await openHistory({ more: odd })
  })
  afterAll(() => history[Symbol.asyncDispose]())

  test('are read from files of all levels', () => {
    expect(history.events.length).toBeGreaterThanOrEqual(20_000)
    expect(new Set(history.fixture.levels())).toEqual(new Set(['compacted', 'merged', 'fresh']))
  })

  test.each<Input>([{}, { hours: 336 }, { hours: 336, maxSteps: 6 }, { hours: 240, maxSteps: 2 }, { hours: 1 }])(
    'match the reference for %j, over all domains and for each domain',
    async (input) => {
      for (const domainId of [undefined, history.domains[0]?.id, history.domains[1]?.id]) {
        const { answer, expected } = await both(history, { ...input, ...(domainId !== undefined && { domainId }) })
        expect(answer).toEqual(expected)
        expectConserved(answer)
      }
    },
  )

  test('contain no identifiers, e-mail addresses or data of other organizations', async () => {
    const { answer } = await both(history, { hours: 336, maxSteps: 6 })
    const paths = answer.steps.flatMap(({ nodes }) => nodes.map(({ path }) => path))
    expect(paths).toContain('/products/*')
    expect(paths.filter((path) => /\/\d+(?:\/|$)/.test(path))).toEqual([])
    expect(JSON.stringify(answer)).not.toMatch(/jo\.doe|jane|x@example/)
    await expect(
      sessionFlows.answer(history.sources(), { domainId: history.domains[2]?.id ?? '' }, history.caller),
    ).rejects.toThrow('no such domain')
  })

  test('are the same after events move to other files', async () => {
    const { fixture } = history
    const ask = () => sessionFlows.answer(history.sources(), { hours: 336, maxSteps: 6 }, history.caller)
    const before = await ask()
    await fixture.flush()
    expect(await ask()).toEqual(before)
    await fixture.merge()
    await fixture.compact()
    expect(await ask()).toEqual(before)
  })
})

test.skipIf(capturesFolder === null)(
  `session flows of real captures match the reference${capturesFolder === null ? ' (skipped: the folder of captures is missing)' : ''}`,
  async () => {
    await using history = await openHistory({ events: 50 })
    const { fixture, domains, orgId } = history
    await fixture.add(capturedEvents(capturesFolder ?? '', { id: domains[1]?.id ?? '', orgId }))
    const { answer, expected } = await both(history, { hours: 336 })
    expect(answer).toEqual(expected)
    expectConserved(answer)
  },
)

test('without events the flows contain only zeros and empty lists', async () => {
  await using history = await openHistory({ events: 0 })
  const nothing = { sessionsSampled: 0, sampledEvents: 0, sampling: null, steps: [], links: [] }
  expect(await sessionFlows.answer(history.sources(), {}, history.caller)).toEqual(nothing)
  await history.fixture.add([
    { orgId: history.orgId, domainId: history.domains[0]?.id ?? '', sessionId: 'a', path: null },
  ])
  expect(await sessionFlows.answer(history.sources(), {}, history.caller)).toEqual({
    ...nothing,
    sampledEvents: 1,
  })
})

test('sessions with gaps, in any order of arrival, match the reference', async () => {
  const aSaid = fc.record({
    afterMs: fc.oneof(
      fc.nat(5 * MINUTE_MS),
      fc.constantFrom(29, 30, 31).map((minutes) => minutes * MINUTE_MS),
    ),
    lateMs: fc.constantFrom(0, 0, 0, 1, MINUTE_MS, 20 * MINUTE_MS),
    sessionId: fc.constantFrom('a', 'b', 'c', null, ''),
    domain: fc.nat(1),
    path: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(null, '', '/', '/a', '/a/1', '/a/2', '/b', '/c', '/d', '/e') },
      { weight: 1, arbitrary: fc.nat(60).map((n) => `/page-${n}x`) },
    ),
    vendor: fc.constantFrom('V', 'W'),
    event: fc.oneof(fc.constantFrom('', 'x'), fc.nat(40).map(String)),
    kind: fc.constantFrom('event', 'hit', 'tag', 'library'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(aSaid, { minLength: 60, maxLength: 200 }),
      fc.integer({ min: 2, max: 6 }),
      async (said, maxSteps) => {
        await using history = await openHistory({ events: 0 })
        const { fixture, domains, orgId } = history
        for (const [n, { afterMs, lateMs, domain, ...values }] of said.entries()) {
          fixture.clock.advance(afterMs)
          const ts = fixture.clock.now() - lateMs
          await fixture.add([{ orgId, domainId: domains[domain]?.id ?? '', ts, ...values }])
          if (n % 70 === 69) await fixture.flush()
        }
        const now = fixture.clock.now() + 1
        const late = { ...history, now, caller: { ...history.caller, now } }
        for (const hours of [1, 336]) {
          const { answer, expected } = await both(late, { hours, maxSteps })
          expect(answer).toEqual(expected)
          expectConserved(answer)
        }
      },
    ),
    { numRuns: 8 },
  )
})

test.each([
  ['/a/1', '/a/*'],
  ['/1/2/3', '/*/*/*'],
  ['1', '*'],
  ['/0123456789ABCDEF/', '/*/'],
  ['/0123456789abcde', '/0123456789abcde'],
  ['/d94f1c0a-8b9e-4f6e-9a1c-3f2d5a6b7c8d', '/*'],
  ['//1//', '//*//'],
  ['/v1/1x', '/v1/1x'],
])('%s is shown as %s', (path, shown) => {
  expect(shownPath(path, { regions: [], patterns: [] })).toBe(shown)
})
