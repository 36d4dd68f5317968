import { describe, expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import type { Outbound } from '../../src/transport/transport.ts'
import { type TestApp, testApp } from '../test-app.ts'

const validation = {
  name: 'Purchases have a value',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  channels: [{ type: 'webhook', target: 'https://hooks.example.com/a' }],
}
const BERLIN = 'Europe/Berlin'
const NEW_YORK = 'America/New_York'
const KOLKATA = 'Asia/Kolkata'
const LORD_HOWE = 'Australia/Lord_Howe'
const [SUNDAY, SATURDAY] = [0, 6]

const received = { kind: 'status', status: 200, headers: {}, body: '' } as const

/** Starts the program with this number of domains. Returns it with the messages that its webhook received. */
async function setUp(start: number, domainCount = 1) {
  const told: { type: string; data: { issue: { heldBack: number } } }[] = []
  const send = async (outbound: Outbound) => {
    if (outbound.kind === 'http') told.push(JSON.parse(outbound.body))
    return received
  }
  const world = await testApp({}, { transport: { send } })
  world.clock.set(start)
  const domains: { id: string; token: string }[] = []
  for (let n = 0; n < domainCount; n++) {
    domains.push((await world.call('POST', '/v1/domains', { body: { name: `Shop ${n}` } })).body)
  }
  const save = async (alert: object) => {
    const { status, body } = await world.call('POST', '/v1/alerts', { body: alert })
    expect([status, body.error]).toEqual([201, undefined])
  }
  const arrive = async (at: number, domain = 0, count = 1) => {
    world.clock.set(at)
    const events = Array.from({ length: count }, () => ({ vendor: 'Shop', event: 'purchase' }))
    const { body } = await world.collect(domains[domain]?.token ?? '', { events })
    expect(body.accepted).toBe(count)
  }
  return { world, told, domains, save, arrive }
}

const issuesOf = async (world: TestApp) => (await world.call('GET', '/v1/issues')).body.issues

describe("a violation opens an issue and sends notifications only within the alert's run windows in local time", () => {
  test.each<[string, object, string, string, boolean]>([
    ['within working hours', { hours: [9, 17] }, 'UTC', '2026-01-06T09:00Z', true],
    ['before working hours', { hours: [9, 17] }, 'UTC', '2026-01-06T08:45Z', false],
    ['at the end of working hours', { hours: [9, 17] }, 'UTC', '2026-01-06T17:00Z', false],
    ['within working hours in Kolkata, at UTC+5:30', { hours: [9, 17] }, KOLKATA, '2026-01-06T03:30Z', true],
    ['before working hours in Kolkata', { hours: [9, 17] }, KOLKATA, '2026-01-06T03:14Z', false],
    ['in the night that began on Saturday', { hours: [22, 6], days: [SATURDAY] }, 'UTC', '2026-01-11T05:45Z', true],
    ['in the night that began on Friday', { hours: [22, 6], days: [SATURDAY] }, 'UTC', '2026-01-10T05:45Z', false],
    ['in the night when clocks go forward', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-03-29T03:45Z', true],
    [
      'at the end of the night when clocks go forward',
      { hours: [22, 6], days: [SATURDAY] },
      BERLIN,
      '2026-03-29T04:00Z',
      false,
    ],
    ['in the night when clocks go back', { hours: [22, 6], days: [SATURDAY] }, BERLIN, '2026-10-25T04:45Z', true],
    [
      'at the end of the night when clocks go back',
      { hours: [22, 6], days: [SATURDAY] },
      BERLIN,
      '2026-10-25T05:00Z',
      false,
    ],
    [
      'in the hour that is repeated when clocks go back',
      { hours: [2, 3], days: [SUNDAY] },
      BERLIN,
      '2026-10-25T01:45Z',
      true,
    ],
    [
      'in the hour that is skipped when clocks go forward',
      { hours: [2, 3], days: [SUNDAY] },
      BERLIN,
      '2026-03-29T01:00Z',
      false,
    ],
    ['in New York on the morning when clocks go forward', { hours: [9, 17] }, NEW_YORK, '2026-03-08T13:00Z', true],
    ['in New York on the day before clocks go forward', { hours: [9, 17] }, NEW_YORK, '2026-03-07T13:00Z', false],
    ['in New York on the morning when clocks go back', { hours: [9, 17] }, NEW_YORK, '2026-11-01T13:45Z', false],
    ['on Lord Howe Island after the skipped half hour', { hours: [2, 3] }, LORD_HOWE, '2026-10-03T15:30Z', true],
    ['on Lord Howe Island before the skipped half hour', { hours: [2, 3] }, LORD_HOWE, '2026-10-03T15:15Z', false],
    ['on Lord Howe Island in the repeated half hour', { hours: [1, 2] }, LORD_HOWE, '2026-04-04T15:15Z', true],
  ])('%s', async (_, runWindows, timezone, at, isTold) => {
    // A 15-minute window starts now. The violation is reported only after its end.
    const start = Date.parse(at)
    const { world, told, save, arrive } = await setUp(start)
    await using _world = world
    await save({ ...validation, period: '15m', timezone, runWindows })
    await arrive(start + MINUTE_MS)
    await world.at(start + 15 * MINUTE_MS)
    expect((await issuesOf(world)).map(({ occurrences }: { occurrences: number }) => occurrences)).toEqual(
      isTold ? [1] : [],
    )
    expect(told.map(({ type }) => type)).toEqual(isTold ? ['issue.opened'] : [])
  })
})

describe("a day starts and ends at midnight in the alert's time zone", () => {
  test.each<[string, string, string, string, boolean]>([
    ['the long day in Berlin, first and last minute', BERLIN, '2026-10-24T22:00Z', '2026-10-25T22:59Z', true],
    ['the minute after the long day in Berlin', BERLIN, '2026-10-24T22:00Z', '2026-10-25T23:00Z', false],
    ['the short day in Berlin', BERLIN, '2026-03-28T23:00Z', '2026-03-29T21:59Z', true],
    ['the minute after the short day in Berlin', BERLIN, '2026-03-28T23:00Z', '2026-03-29T22:00Z', false],
    ['the long day in New York', NEW_YORK, '2026-11-01T04:00Z', '2026-11-02T04:59Z', true],
    ['the minute after the short day in New York', NEW_YORK, '2026-03-08T05:00Z', '2026-03-09T04:00Z', false],
    ['a day in Kolkata', KOLKATA, '2026-01-05T18:30Z', '2026-01-06T18:29Z', true],
    ['the minute after a day in Kolkata', KOLKATA, '2026-01-05T18:30Z', '2026-01-06T18:30Z', false],
    ['the long day on Lord Howe Island', LORD_HOWE, '2026-04-04T13:00Z', '2026-04-05T13:29Z', true],
    ['the minute after the short day on Lord Howe Island', LORD_HOWE, '2026-10-03T13:30Z', '2026-10-04T13:00Z', false],
  ])('%s', async (_, timezone, first, second, isOneDay) => {
    const start = Date.parse(first)
    const { world, save, arrive } = await setUp(start)
    await using _world = world
    const { conditions: _none, ...plain } = validation
    const volume = { op: 'gte', count: 2 }
    await save({ ...plain, alertType: 'volume_threshold', volume, period: 'daily', timezone })
    await arrive(start + SECOND_MS)
    await arrive(Date.parse(second))
    await world.at(Date.parse(second) + 48 * 60 * MINUTE_MS)
    expect(await issuesOf(world)).toHaveLength(isOneDay ? 1 : 0)
  })
})

describe('the throttle limits the number of messages', () => {
  /** Minutes after the start at which violations occur, each in a different domain. */
  const burst = [0, 1, 2, 3]
  test.each<[string, object, number[], number, number]>([
    ['no throttle', {}, burst, 4, 0],
    ['one per minute', { throttle: { count: 1, per: 1, unit: 'minutes' } }, burst, 4, 0],
    ['one per two minutes', { throttle: { count: 1, per: 2, unit: 'minutes' } }, burst, 2, 2],
    ['two per ten minutes', { throttle: { count: 2, per: 10, unit: 'minutes' } }, burst, 2, 2],
    [
      'two per ten minutes, with a later violation',
      { throttle: { count: 2, per: 10, unit: 'minutes' } },
      [0, 1, 2, 10],
      3,
      1,
    ],
    ['three per hour', { throttle: { count: 3, per: 1, unit: 'hours' } }, burst, 3, 1],
    [
      'one per hour, with a second violation within the hour',
      { throttle: { count: 1, per: 1, unit: 'hours' } },
      [0, 59],
      1,
      1,
    ],
    [
      'one per hour, with a second violation after the hour',
      { throttle: { count: 1, per: 1, unit: 'hours' } },
      [0, 60],
      2,
      0,
    ],
    ['a thousand per 10,080 hours', { throttle: { count: 1000, per: 10_080, unit: 'hours' } }, burst, 4, 0],
  ])('%s: %j', async (_, throttle, minutes, sent, capped) => {
    const start = Date.parse('2026-01-05T12:00Z')
    const { world, told, save, arrive } = await setUp(start, minutes.length)
    await using _world = world
    await save({ ...validation, period: '1h', ...throttle })
    for (const [domain, minute] of minutes.entries()) {
      await arrive(start + minute * MINUTE_MS, domain)
      world.clock.advance(1)
      await world.run('evaluate', 'deliver')
    }
    expect(told).toHaveLength(sent)
    const issues: { capReached: boolean; notificationsSent: number }[] = await issuesOf(world)
    expect(issues).toHaveLength(minutes.length)
    expect(issues.filter(({ capReached }) => capReached)).toHaveLength(capped)
    for (const { capReached, notificationsSent } of issues) if (capReached) expect(notificationsSent).toBe(0)
  })
})
