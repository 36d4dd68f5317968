import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import {
  chooseNext,
  type Health,
  hasRoom,
  healthAfter,
  healthKey,
  type Lane,
  MAX_CONCURRENT,
  mayStart,
  type Traffic,
} from './lane-scheduler.ts'

const hook = (orgId: string, host: string): Lane => ({ orgId, kind: 'http', origin: `https://${host}` })
const mail = (orgId: string): Lane => ({ orgId, kind: 'mail', origin: '' })
const hooks = (orgId: string, count: number, at = 0) =>
  Array.from({ length: count }, (_, index) => hook(orgId, `${orgId}-${at + index}.example`))
const traffic = (inFlight: readonly Lane[] = [], health: Record<string, Health> = {}): Traffic => ({
  inFlight,
  health: new Map(Object.entries(health)),
  now: 0,
})
const names = (lanes: readonly Lane[]) => lanes.map(({ orgId, origin }) => `${orgId} ${URL.parse(origin)?.host ?? ''}`)
const paused = (lane: Lane, until: number) => ({ [healthKey(lane)]: { until, hangs: 1 } })
const answered = (lane: Lane) => ({ [healthKey(lane)]: { until: 0, hangs: 0 } })
const times = (count: number, lane: Lane): Lane[] => Array(count).fill(lane)

describe('the start of an attempt', () => {
  const [a, b, y] = [hook('a', 'x.example'), hook('b', 'x.example'), hook('a', 'y.example')]
  const port = hook('a', 'x.example:8443')
  const plain: Lane = { ...a, origin: 'http://x.example' }
  const tenOrgs = Array.from({ length: 8 }, (_, index) => times(2, hook(`o${index}`, 'x.example'))).flat()
  test.each<[string, Lane, Traffic, boolean]>([
    ['nothing is in progress', a, traffic(), true],
    ['one attempt at an origin that has not responded yet', a, traffic([a]), false],
    ['one attempt at the origin, which has responded', a, traffic([a], answered(a)), true],
    ['two attempts at the origin, which has responded', a, traffic([a, a], answered(a)), false],
    ['two attempts at the origin by another organization', a, traffic([b, b]), true],
    ['14 attempts at the origin by other organizations', a, traffic(tenOrgs.slice(2)), true],
    ['16 attempts at the origin by other organizations', a, traffic(tenOrgs), false],
    ['one attempt at another port of the host', port, traffic([a]), true],
    ['one attempt at the host with another scheme', plain, traffic([a]), true],
    ['two attempts at another origin', a, traffic([y, y]), true],
    ['six attempts by the organization', a, traffic(hooks('a', 6)), true],
    ['six attempts at three origins that hang', a, traffic(hooks('a', 3).flatMap((one) => [one, one])), true],
    ['seven attempts by the organization', a, traffic(hooks('a', 7)), false],
    ['seven attempts, and the origin responded last time', a, traffic(hooks('a', 7), answered(a)), true],
    ['seven attempts, and the origin responded to another organization', a, traffic(hooks('a', 7), answered(b)), false],
    ['eight attempts, and the origin responded last time', a, traffic(hooks('a', 8), answered(a)), false],
    ['three attempts, one at the origin, which has responded', a, traffic([a, ...hooks('a', 2)], answered(a)), true],
    ['four attempts, one at the origin, which has responded', a, traffic([a, ...hooks('a', 3)], answered(a)), false],
    ['six attempts, and the origin was paused', a, traffic(hooks('a', 6), paused(a, 0)), false],
    ['eight attempts by another organization', b, traffic(hooks('a', 8)), true],
    ['eight webhook attempts by the organization, but this is an e-mail', mail('a'), traffic(hooks('a', 8)), true],
    ['three e-mails from the organization', mail('a'), traffic(times(3, mail('a'))), true],
    ['four e-mails from the organization', mail('a'), traffic(times(4, mail('a')), answered(mail('a'))), false],
    ['four e-mails from another organization', mail('b'), traffic(times(4, mail('a'))), true],
    ['all e-mail slots in use', mail('b'), traffic(times(8, mail('a'))), false],
    ['the origin is paused', a, traffic([], paused(a, 1)), false],
    ['the origin is paused for another organization', b, traffic([], paused(a, 1)), true],
    ['another port of the host is paused', port, traffic([], paused(a, 1)), true],
    ['the pause of the origin has ended', a, traffic([], paused(a, 0)), true],
    ['the pause has ended, and the origin is being tried', a, traffic([a], paused(a, 0)), false],
    [
      'the pause has ended, and another paused origin is being tried',
      a,
      traffic([y], { ...paused(a, 0), ...paused(y, 0) }),
      false,
    ],
    ['the pause has ended, and an origin that was never paused is being tried', a, traffic([y], paused(a, 0)), true],
  ])('is allowed or blocked as expected: %s', (_name, lane, now, may) => expect(mayStart(lane, now)).toBe(may))

  test.each<[string, Traffic, boolean]>([
    ['while the origin is paused', traffic([], paused(a, 1)), true],
    ['during one attempt at an origin that has not responded yet', traffic([a]), true],
    ['during two attempts at the origin', traffic([a, a], answered(a)), false],
    ['during seven other attempts', traffic(hooks('a', 7)), false],
  ])('has separate limits for a test or call by a user %s', (_name, now, has) => expect(hasRoom(a, now)).toBe(has))
})

test('organizations take turns', () => {
  expect(names(chooseNext([...hooks('a', 3), ...hooks('b', 1), ...hooks('c', 2)], traffic()))).toEqual([
    'a a-0.example',
    'b b-0.example',
    'c c-0.example',
    'a a-1.example',
    'c c-1.example',
    'a a-2.example',
  ])
})

test('a pause lasts one second, and doubles each time up to five minutes', () => {
  const pauses: Health[] = []
  for (let n = 0; n < 12; n++) pauses.push(healthAfter(pauses.at(-1), true, 100))
  const seconds = pauses.map(({ until }) => (until - 100) / SECOND_MS)
  expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  expect(healthAfter({ until: 0, hangs: 10_000 }, true, 0).until).toBe(5 * MINUTE_MS)
  expect(healthAfter(healthAfter(pauses.at(-1), false, 100), true, 100).until).toBe(100 + SECOND_MS)
})

const orgId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const lane: fc.Arbitrary<Lane> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ orgId, kind: fc.constant('http' as const), origin: fc.stringMatching(/^[x-z][0-9]$/) }),
  },
  { weight: 1, arbitrary: orgId.map(mail) },
)
const health = fc
  .array(fc.tuple(lane, fc.constantFrom(-1, 0, 1), fc.constantFrom(0, 1, 2)), { maxLength: 12 })
  .map((list) => new Map(list.map(([one, until, hangs]) => [healthKey(one), { until, hangs }])))

/** Attempts in flight that result from earlier decisions of the scheduler. */
const some = fc
  .record({ before: fc.array(lane, { maxLength: 80 }), waiting: fc.array(lane, { maxLength: 120 }), health })
  .map(({ before, waiting, health }) => {
    const inFlight = chooseNext(before, traffic())
    return { inFlight, waiting, health, chosen: chooseNext(waiting, { inFlight, health, now: 0 }) }
  })

describe('scheduling with any pending, running and hanging attempts', () => {
  const most = (lanes: readonly Lane[], key: (lane: Lane) => string) =>
    Math.max(0, ...[...Map.groupBy(lanes, key).values()].map(({ length }) => length))

  test('never exceeds the limits', () => {
    fc.assert(
      fc.property(some, ({ inFlight, chosen }) => {
        const all = [...inFlight, ...chosen]
        for (const kind of ['http', 'mail'] as const) {
          const lanes = all.filter((one) => one.kind === kind)
          expect(lanes.length).toBeLessThanOrEqual(MAX_CONCURRENT[kind].all)
          expect(most(lanes, (one) => one.orgId)).toBeLessThanOrEqual(MAX_CONCURRENT[kind].org)
          expect(most(lanes, (one) => one.origin)).toBeLessThanOrEqual(MAX_CONCURRENT[kind].origin)
          expect(most(lanes, (one) => `${one.orgId} ${one.origin}`)).toBeLessThanOrEqual(
            MAX_CONCURRENT[kind].orgAtOrigin,
          )
        }
      }),
      { numRuns: 300 },
    )
  })

  test('does not use paused origins during the pause, and tries one at a time afterwards', () => {
    fc.assert(
      fc.property(some, ({ inFlight, health, chosen }) => {
        const isPaused = (one: Lane) => (health.get(healthKey(one))?.hangs ?? 0) > 0
        for (const one of chosen.filter(isPaused)) expect(health.get(healthKey(one))?.until).toBeLessThanOrEqual(0)
        for (const [, own] of Map.groupBy(chosen.filter(isPaused), (one) => `${one.orgId} ${one.kind}`)) {
          const before = inFlight.filter(
            (one) => isPaused(one) && one.orgId === own[0]?.orgId && one.kind === own[0].kind,
          )
          expect([before.length, own.length]).toEqual([0, 1])
        }
      }),
      { numRuns: 300 },
    )
  })

  test('starts every attempt that may start', () => {
    fc.assert(
      fc.property(some, ({ inFlight, health, waiting, chosen }) => {
        const left = [...waiting]
        for (const one of chosen) left.splice(left.indexOf(one), 1)
        for (const one of left) {
          expect(mayStart(one, { inFlight: [...inFlight, ...chosen], health, now: 0 })).toBe(false)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('leaves a slot for the first attempt at a new origin while up to four other origins hang', () => {
    const hanging = fc.record({
      waiting: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
      // Some of these origins have responded before, and some were paused.
      hangs: fc.array(fc.constantFrom(0, 1, undefined), { minLength: 4, maxLength: 4 }),
    })
    fc.assert(
      fc.property(hanging, ({ waiting, hangs }) => {
        const others = hooks('a', 4)
        const known = others.flatMap((one, index) =>
          hangs[index] === undefined ? [] : [[healthKey(one), { hangs: hangs[index], until: 0 }] as const],
        )
        const lanes = waiting.flatMap((index) => others[index] ?? [])
        const health = new Map(known)
        const inFlight = chooseNext(lanes, { inFlight: [], health, now: 0 })
        expect(mayStart(hook('a', 'new.example'), { inFlight, health, now: 0 })).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('leaves a slot for an idle organization while ten other organizations use all of their slots', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 10 }), (counts) => {
        const hanging = counts.flatMap((count, index) => hooks(`hostile${index}`, count))
        const mails = counts.flatMap((count, index) => times(count, mail(`hostile${index}`)))
        let inFlight: Lane[] = []
        // Lanes are added one at a time, and each takes every slot it can get.
        for (const one of [...hanging, ...mails.slice(0, 300)])
          inFlight = [...inFlight, ...chooseNext([one], traffic(inFlight))]
        expect(mayStart(hook('good', 'good.example'), traffic(inFlight))).toBe(true)
        if (counts.length <= 3) expect(mayStart(mail('good'), traffic(inFlight))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  test('leaves a slot at an origin for an organization while eight other organizations use all of their slots', () => {
    const shared = (orgId: string) => hook(orgId, 'shared.example')
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 8 }), (answeredBefore) => {
        const hostile = answeredBefore.map((_, index) => shared(`hostile${index}`))
        const health = Object.assign({}, ...hostile.map((one, index) => (answeredBefore[index] ? answered(one) : {})))
        let inFlight: Lane[] = []
        for (const one of hostile.flatMap((lane) => times(3, lane)))
          inFlight = [...inFlight, ...chooseNext([one], traffic(inFlight, health))]
        expect(mayStart(shared('good'), traffic(inFlight, health))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
