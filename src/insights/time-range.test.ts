import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TEST_START } from '../../test/fixtures.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'

/** Hours after the start in which events arrive; each event has its own session and page. */
const HOURS = [0, 0, 0, 5, 5, 30]
const at = (hour: number) => TEST_START + hour * HOUR_MS
const NOW = at(48)

let world: TestApp
let domain: { id: string; token: string }

beforeAll(async () => {
  world = await testApp()
  domain = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  for (const [index, hour] of HOURS.entries()) {
    world.clock.set(at(hour) + (index + 1) * MINUTE_MS)
    const { status } = await world.collect(domain.token, {
      sessionId: `s${index}`,
      page: { url: `https://shop.example/${index}` },
      events: [
        { vendor: 'Shop', event: 'buy', params: { colour: index % 2 === 0 ? 'red' : 'blue', size: String(index) } },
      ],
      pageStats: { vendors: [{ host: 'tags.example', requests: 1, durMs: [5], bytes: 10 }] },
    })
    expect(status).toBe(202)
    if (index === 3) await world.run('flush')
  }
  world.clock.set(NOW)
  // Timings of pages are readable once they are in files.
  await world.run('flush')
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = async (path: string, query: Record<string, string | number>) =>
  world.call('GET', `/v1${path}?${new URLSearchParams(query as Record<string, string>)}`)

/** How each route counts the events of a period. */
const COUNTS: Record<string, (body: ReturnType<typeof JSON.parse>) => number> = {
  '/events': ({ events }) => events.length,
  '/events/dictionary': ({ sampledEvents }) => sampledEvents,
  '/events/dictionary/flat': ({ sampledEvents }) => sampledEvents,
  '/stats/performance': ({ vendors }) => vendors[0]?.events ?? 0,
  '/performance/tags': ({ pagesSampled }) => pagesSampled,
  '/journeys/flows': ({ sessionsSampled }) => sessionsSampled,
  '/insights/volume': ({ series }) =>
    series.reduce((sum: number, { observed }: { observed: number }) => sum + observed, 0),
}

describe.each(Object.entries(COUNTS))('GET /v1%s', (path, count) => {
  test.each<[string, Record<string, number>, number]>([
    ['a period in the past', { from: at(4), to: at(6) }, 2],
    ['a period without events', { from: at(6), to: at(30) }, 0],
    ['a period up to now', { from: at(5) }, 3],
    ['the hours up to an end', { hours: 2, to: at(6) }, 2],
    ['the hours up to now', { hours: 20 }, 1],
    ['the whole time', { from: TEST_START, to: NOW }, 6],
  ])('counts %s', async (_, query, expected) => {
    // The search has no `hours`.
    if (path === '/events' && query.hours !== undefined) return
    const { status, body } = await ask(path, query)
    expect({ status, count: count(body) }).toEqual({ status: 200, count: expected })
  })

  test.each<[Record<string, string | number>, string]>([
    [{ from: at(6), to: at(4) }, 'query.from: must be before `to`'],
    [{ from: at(6), to: at(6) }, 'query.from: must be before `to`'],
    [{ from: 'yesterday' }, 'query.from'],
    [{ to: -1 }, 'query.to'],
  ])('rejects %j', async (query, message) => {
    const { status, body } = await ask(path, query)
    expect(status).toBe(400)
    expect(body.error).toContain(message)
  })
})

test.each([
  ['/events/dictionary', 168],
  ['/journeys/flows', 336],
  ['/performance/tags', 744],
  ['/stats/performance', 744],
  ['/insights/volume', 9600],
])('GET /v1%s accepts at most %i hours', async (path, hours) => {
  expect((await ask(path, { from: NOW - hours * HOUR_MS, to: NOW })).status).toBe(200)
  const { status, body } = await ask(path, { from: NOW - hours * HOUR_MS - 2, to: NOW })
  expect({ status, error: body.error }).toEqual({
    status: 400,
    error: `query.from: must be at most ${hours} hours before the end of the period`,
  })
})

test.each(['/insights/reconcile', '/insights/paired-events'])(
  'GET /v1%s covers the UTC days of a period',
  async (path) => {
    for (const query of [{ from: at(6), to: at(4) }, { from: NOW + HOUR_MS }, { from: 0 }]) {
      const { status, body } = await ask(path, { domainId: domain.id, ...query })
      expect(status).toBe(400)
      expect(body.error).toStartWith('query.from: must be')
    }
    expect((await ask(path, { domainId: domain.id, from: at(4), to: at(6) })).status).toBe(200)
  },
)

describe('the number of events over time', () => {
  test.each<Record<string, string>>([
    { param: 'colour=red' },
    { param: 'colour=green' },
    { param: '$path=/3' },
    { param: '*=4' },
    { q: 'shop.example/5' },
    { sessionId: 's2' },
    { label: 'no such label' },
    { param: 'colour=blue', vendor: 'Shop', event: 'buy', domainId: '' },
  ])('with the filters %j is that of the events found', async ({ domainId, ...filters }) => {
    const query = { ...filters, ...(domainId === undefined ? {} : { domainId: domain.id }) }
    for (const period of [
      { from: TEST_START, to: NOW },
      { from: at(4), to: at(31) },
    ]) {
      const { body: found } = await ask('/events', { ...query, ...period })
      const { body } = await ask('/insights/volume', { ...query, ...period })
      expect(COUNTS['/insights/volume']?.(body)).toBe(found.events.length)
      expect(body).toMatchObject({ state: null, learningUntil: null })
      expect(body.series.every(({ low, high }: { low: unknown; high: unknown }) => low === null && high === null)).toBe(
        true,
      )
    }
  })

  test('with an invalid filter is rejected', async () => {
    const { status, body } = await ask('/insights/volume', { param: '=red' })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'query.param: must be key=value or a key' })
  })

  test('has rows of the requested length, and ends with the period', async () => {
    const rows = async (query: Record<string, string | number>) => {
      const { body } = await ask('/insights/volume', query)
      return { grain: body.grain, first: body.series[0]?.start, last: body.series.at(-1)?.start }
    }
    expect(await rows({ from: at(5), to: at(6) })).toEqual({
      grain: 'minute',
      first: at(5),
      last: at(6) - MINUTE_MS,
    })
    expect(await rows({ from: at(5), to: at(29), grain: 'hour' })).toEqual({
      grain: 'hour',
      first: at(5),
      last: at(28),
    })
    expect((await rows({ from: at(40), to: NOW + 5 * HOUR_MS })).last).toBe(NOW)
    const { status, body } = await ask('/insights/volume', { hours: 48, grain: 'minute' })
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'query.grain: the period has too many rows; use `hour`',
    })
  })

  test('names the holidays and the maintenance windows of its domains', async () => {
    const ics = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z']
    const day = new Date(TEST_START).toISOString().slice(0, 10)
    ics.push(`DTSTART;VALUE=DATE:${day.replaceAll('-', '')}`, 'SUMMARY:Founding day', 'END:VEVENT', 'END:VCALENDAR')
    const made = await world.call('POST', '/v1/calendars', { body: { name: 'Ours', ics: ics.join('\r\n') } })
    expect(made.status).toBe(201)
    const window = { timezone: 'UTC', from: at(10), to: at(11) }
    const other = (await world.call('POST', '/v1/domains', { body: { name: 'Other' } })).body
    for (const body of [
      { ...window, name: 'Daily', rrule: 'FREQ=DAILY' },
      { ...window, name: 'Elsewhere', domainIds: [other.id] },
      { ...window, name: 'Of a vendor', vendors: ['Shop'] },
    ]) {
      expect((await world.call('POST', '/v1/maintenance', { body })).status).toBe(201)
    }
    const named = async (query: Record<string, string | number>) => {
      const { body } = await ask('/insights/volume', { domainId: domain.id, ...query })
      return body.specialPeriods.map(({ kind, name, from }: Record<string, unknown>) => [kind, name, from])
    }
    const midnight = Date.parse(day)
    expect(await named({ from: TEST_START, to: at(40) })).toEqual([
      ['holiday', 'Founding day', midnight],
      ['maintenance', 'Daily', at(10)],
      ['maintenance', 'Of a vendor', at(10)],
      ['maintenance', 'Daily', at(34)],
    ])
    expect(await named({ from: TEST_START, to: at(20), vendor: 'Google' })).toEqual([
      ['holiday', 'Founding day', midnight],
      ['maintenance', 'Daily', at(10)],
    ])
    expect(await named({ from: at(35), to: at(40) })).toEqual([])
  })
})
