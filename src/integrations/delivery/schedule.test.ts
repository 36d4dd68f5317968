import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { choose, type Health, healthAfter, healthKey, mayGo, PLACES, type Traffic, type Way } from './schedule.ts'

const hook = (orgId: string, host: string): Way => ({ orgId, kind: 'http', host })
const mail = (orgId: string): Way => ({ orgId, kind: 'mail', host: '' })
const hooks = (orgId: string, count: number, at = 0) =>
  Array.from({ length: count }, (_, index) => hook(orgId, `${orgId}-${at + index}.example`))
const traffic = (underWay: readonly Way[] = [], health: Record<string, Health> = {}): Traffic => ({
  underWay,
  health: new Map(Object.entries(health)),
  now: 0,
})
const names = (ways: readonly Way[]) => ways.map(({ orgId, host }) => `${orgId} ${host}`)
const paused = (way: Way, until: number) => ({ [healthKey(way)]: { until, hangs: 1 } })
const answered = (way: Way) => ({ [healthKey(way)]: { until: 0, hangs: 0 } })

describe('what may go', () => {
  const [a, b] = [hook('a', 'x.example'), hook('b', 'x.example')]
  test.each<[string, Way, Traffic, boolean]>([
    ['nothing is under way', a, traffic(), true],
    ['one attempt at the host', a, traffic([a]), true],
    ['two attempts at the host', a, traffic([a, a]), false],
    ["two attempts at the host, others'", a, traffic([b, b]), false],
    ['two attempts at another host', a, traffic([hook('a', 'y.example'), hook('a', 'y.example')]), true],
    ['five attempts of the organization', a, traffic(hooks('a', 5)), true],
    ['six attempts of the organization', a, traffic(hooks('a', 6)), false],
    ['seven attempts, and the host answered last time', a, traffic(hooks('a', 7), answered(a)), true],
    ['seven attempts, and the host answered another', a, traffic(hooks('a', 7), answered(b)), false],
    ['eight attempts, and the host answered last time', a, traffic(hooks('a', 8), answered(a)), false],
    ['eight attempts of another', b, traffic(hooks('a', 8)), true],
    ['eight hooks of the organization, and this is a mail', mail('a'), traffic(hooks('a', 8)), true],
    ['three mails of the organization', mail('a'), traffic(Array(3).fill(mail('a'))), true],
    ['four mails of the organization', mail('a'), traffic(Array(4).fill(mail('a'))), false],
    ['four mails of another', mail('b'), traffic(Array(4).fill(mail('a'))), true],
    ['all places of mail', mail('b'), traffic(Array(8).fill(mail('a'))), false],
    ['the host is set aside', a, traffic([], paused(a, 1)), false],
    ['the host is set aside by another', b, traffic([], paused(a, 1)), true],
    ['the pause of the host has ended', a, traffic([], paused(a, 0)), true],
    ['the pause has ended, and the host is tried', a, traffic([a], paused(a, 0)), false],
    [
      'the pause has ended, and another that was set aside is tried',
      a,
      traffic([hook('a', 'y.example')], { ...paused(a, 0), ...paused(hook('a', 'y.example'), 0) }),
      false,
    ],
    [
      'the pause has ended, and one that was never set aside is under way',
      a,
      traffic([hook('a', 'y.example')], paused(a, 0)),
      true,
    ],
  ])('%s', (_name, way, now, may) => expect(mayGo(way, now)).toBe(may))
})

test('organizations take turns', () => {
  expect(names(choose([...hooks('a', 3), ...hooks('b', 1), ...hooks('c', 2)], traffic()))).toEqual([
    'a a-0.example',
    'b b-0.example',
    'c c-0.example',
    'a a-1.example',
    'c c-1.example',
    'a a-2.example',
  ])
})

test('a pause is a second, then twice as long each time, five minutes at most', () => {
  const pauses: Health[] = []
  for (let n = 0; n < 12; n++) pauses.push(healthAfter(pauses.at(-1), true, 100))
  const seconds = pauses.map(({ until }) => (until - 100) / SECOND_MS)
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  expect(healthAfter({ until: 0, hangs: 10_000 }, true, 0).until).toBe(5 * MINUTE_MS)
  expect(healthAfter(healthAfter(pauses.at(-1), false, 100), true, 100).until).toBe(100 + SECOND_MS)
})

const orgId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const way: fc.Arbitrary<Way> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ orgId, kind: fc.constant('http' as const), host: fc.stringMatching(/^[x-z][0-9]$/) }),
  },
  { weight: 1, arbitrary: orgId.map(mail) },
)
const health = fc
  .array(fc.tuple(way, fc.constantFrom(-1, 0, 1), fc.constantFrom(0, 1, 2)), { maxLength: 12 })
  .map((list) => new Map(list.map(([one, until, hangs]) => [healthKey(one), { until, hangs }])))

/** What is under way came about by choosing. */
const some = fc
  .record({ before: fc.array(way, { maxLength: 80 }), waiting: fc.array(way, { maxLength: 120 }), health })
  .map(({ before, waiting, health }) => {
    const underWay = choose(before, traffic())
    return { underWay, waiting, health, chosen: choose(waiting, { underWay, health, now: 0 }) }
  })

describe('whatever waits, is under way and hangs', () => {
  const most = (ways: readonly Way[], key: (way: Way) => string) =>
    Math.max(0, ...[...Map.groupBy(ways, key).values()].map(({ length }) => length))

  test('places are never exceeded', () => {
    fc.assert(
      fc.property(some, ({ underWay, chosen }) => {
        const all = [...underWay, ...chosen]
        for (const kind of ['http', 'mail'] as const) {
          const ways = all.filter((one) => one.kind === kind)
          expect(ways.length).toBeLessThanOrEqual(PLACES[kind].all)
          expect(most(ways, (one) => one.orgId)).toBeLessThanOrEqual(PLACES[kind].org)
          expect(most(ways, (one) => one.host)).toBeLessThanOrEqual(PLACES[kind].host)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('of the hosts that an organization has set aside none is tried in its pause, and one at a time afterwards', () => {
    fc.assert(
      fc.property(some, ({ underWay, health, chosen }) => {
        const isAside = (one: Way) => (health.get(healthKey(one))?.hangs ?? 0) > 0
        for (const one of chosen.filter(isAside)) expect(health.get(healthKey(one))?.until).toBeLessThanOrEqual(0)
        for (const [, own] of Map.groupBy(chosen.filter(isAside), (one) => `${one.orgId} ${one.kind}`)) {
          const before = underWay.filter(
            (one) => isAside(one) && one.orgId === own[0]?.orgId && one.kind === own[0].kind,
          )
          expect([before.length, own.length]).toEqual([0, 1])
        }
      }),
      { numRuns: 300 },
    )
  })

  test('nothing is left waiting that may go', () => {
    fc.assert(
      fc.property(some, ({ underWay, health, waiting, chosen }) => {
        const left = [...waiting]
        for (const one of chosen) left.splice(left.indexOf(one), 1)
        for (const one of left) {
          expect(mayGo(one, { underWay: [...underWay, ...chosen], health, now: 0 })).toBe(false)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('an organization with nothing under way finds a place beside ten that hold all they may', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 10 }), (counts) => {
        const hanging = counts.flatMap((count, index) => hooks(`hostile${index}`, count))
        const mails = counts.flatMap((count, index) => Array<Way>(count).fill(mail(`hostile${index}`)))
        let underWay: Way[] = []
        // Also when they come one after the other, each taking what it can get.
        for (const one of [...hanging, ...mails.slice(0, 300)])
          underWay = [...underWay, ...choose([one], traffic(underWay))]
        expect(mayGo(hook('good', 'good.example'), traffic(underWay))).toBe(true)
        if (counts.length <= 3) expect(mayGo(mail('good'), traffic(underWay))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
