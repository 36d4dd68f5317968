import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../core/clock.ts'
import { parseWeek, WEEK_MS, weekName, weekStart } from './weekly-report.ts'

const rule = (name: string, key: string, domainId: string, impactValue: number) => ({
  name,
  alertType: 'data_validation',
  severity: 'high',
  period: '1h',
  domainId,
  impactValue,
  conditions: { logic: 'any', items: [{ parameter: key, op: 'equals', values: ['bad'] }] },
  channels: [{ type: 'email', target: 'owners' }],
})
/** A Monday. Tests begin at noon. */
const MONDAY = Date.UTC(2026, 0, 5)
const times = (count: number, event: object) => Array.from({ length: count }, () => event)

/** Creates a shop and a magazine, each with a rule. The shop belongs to a project. */
async function start() {
  const world = await testApp()
  const make = async (path: string, body: object) => (await world.call('POST', path, { body })).body
  const shop = await make('/v1/domains', { name: 'Shop' })
  const blog = await make('/v1/domains', { name: 'Blog' })
  const project = await make('/v1/projects', { name: 'Sales', domainIds: [shop.id] })
  const empty = await make('/v1/projects', { name: 'Empty' })
  await make('/v1/alerts', rule('Orders', 'order', shop.id, 900))
  await make('/v1/alerts', rule('Articles', 'article', blog.id, 40))
  const report = async (query = '') => (await world.call('GET', `/v1/reports/weekly${query}`)).body
  const issueOf = async (name: string) => {
    const { issues } = (await world.call('GET', `/v1/issues?q=${name}`)).body
    return issues[0].id as string
  }
  const set = async (name: string, status: string) =>
    world.call('PATCH', `/v1/issues/${await issueOf(name)}`, { body: { status } })
  const send = async (at: number, { token }: { token: string }, events: object[]) => {
    world.clock.set(at)
    await world.collect(token, { events })
    await world.at(at + 10 * SECOND_MS)
  }
  return { world, shop, blog, project, empty, report, set, send }
}

const bad = (key: string) => ({ vendor: 'GA', event: 'buy', status: 'ok', params: { [key]: 'bad' } })
const good = { vendor: 'GA', event: 'buy', status: 'ok', params: { value: '1' } }

test('a week is compared with the previous week', async () => {
  const { world, shop, blog, project, empty, report, set, send } = await start()
  await using _ = world
  await send(MONDAY + 13 * HOUR_MS, shop, [bad('order'), ...times(9, good)])
  await send(MONDAY + 14 * HOUR_MS, blog, [bad('article'), ...times(4, good)])
  const change = { source: 'ci', ref: '1', title: 'Checkout', domainId: shop.id }
  await world.call('POST', '/v1/changes', { body: change })
  world.clock.set(MONDAY + 16 * HOUR_MS + 10 * SECOND_MS)
  await set('Orders', 'resolved')
  await send(MONDAY + WEEK_MS + 2 * HOUR_MS, shop, times(30, good))
  await set('Articles', 'resolved')
  world.clock.set(MONDAY + 2 * WEEK_MS + HOUR_MS)

  const first = await report('?week=2026-W02')
  expect(first).toMatchObject({
    week: '2026-W02',
    from: MONDAY,
    to: MONDAY + WEEK_MS,
    issues: { opened: 2, resolved: 1, open: 1, medianResolveMs: 3 * HOUR_MS },
    value: { resolved: 900, open: 40 },
    volume: { events: 15, before: null },
    worst: [{ title: expect.stringContaining('Orders') }, { title: expect.stringContaining('Articles') }],
    changes: [{ title: 'Checkout', domainId: shop.id }],
    scores: { before: null },
  })
  expect(first.scores.now.accuracy.score).toBeLessThan(95)
  const hours = first.volume.series as { start: number; observed: number }[]
  expect([hours.at(0)?.start, hours.at(-1)?.start]).toEqual([MONDAY + 12 * HOUR_MS, MONDAY + WEEK_MS - HOUR_MS])
  expect(hours.filter(({ observed }) => observed > 0)).toMatchObject([
    { start: MONDAY + 13 * HOUR_MS, observed: 10 },
    { start: MONDAY + 14 * HOUR_MS, observed: 5 },
  ])

  const last = await report()
  expect(last).toEqual(await report('?week=2026-W03'))
  expect(last).toMatchObject({
    week: '2026-W03',
    issues: { opened: 0, resolved: 1, open: 0, medianResolveMs: 6.5 * DAY_MS },
    value: { resolved: 40, open: 0 },
    volume: { events: 30, before: 15 },
    worst: [],
    changes: [],
  })
  expect(last.scores.before).toEqual(first.scores.now)
  expect(last.scores.now.accuracy.score).toBe(100)
  // No event from the magazine was received in the whole week.
  expect(last.scores.now.availability.detail).toContain('No event was received from Blog in the week')

  expect(await report(`?week=2026-W02&projectId=${project.id}`)).toMatchObject({
    issues: { opened: 1, resolved: 1, open: 0 },
    value: { resolved: 900, open: 0 },
    volume: { events: 10 },
    worst: [{ title: expect.stringContaining('Orders') }],
    changes: [{ title: 'Checkout' }],
  })
  expect(await report(`?week=2026-W02&projectId=${empty.id}`)).toMatchObject({
    scores: { now: null, before: null },
    issues: { opened: 0, resolved: 0, open: 0, medianResolveMs: null },
    volume: { events: 0, before: null, series: [] },
    worst: [],
    changes: [],
    signals: { watched: 0, silent: 0, learning: 0 },
  })
  // Monday's digest contains the same data.
  const preview = await world.call('POST', '/v1/notifications/digest/preview', { body: { context: '' } })
  expect(preview.body.html).toContain('/report?week=2026-W03')
  expect(preview.body.html).toContain('1 resolved, 0 open at the end of the week')
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const theirs = await world.call('GET', '/v1/reports/weekly?week=2026-W02', { headers: { 'x-org-id': other.id } })
  expect(theirs.body).toMatchObject({ issues: { opened: 0 }, volume: { events: 0 }, worst: [], changes: [] })
})

test('the current week is reported up to the present time', async () => {
  const { world, shop, report, send } = await start()
  await using _ = world
  await send(MONDAY + 13 * HOUR_MS, shop, times(5, good))
  const { volume, scores } = await report('?week=2026-W02')
  expect(volume).toMatchObject({ events: 5, before: null, series: [{ observed: 0 }, { observed: 5, partial: true }] })
  expect(scores.now.availability.score).toBe(100)
})

test.each([
  ['week=2026-W54', 400, 'query.week: is not a valid week'],
  ['week=2025-W53', 400, 'query.week: is not a valid week'],
  ['week=2026-W03', 400, 'query.week: must not be in the future'],
  ['week=2024-W40', 400, 'query.week: must be within the last 400 days, the retention period of counts'],
  ['week=last', 400, 'query.week: must have a format such as 2026-W47'],
  ['projectId=prj_none', 404, 'no such project'],
])('the query %s is rejected', async (query, status, error) => {
  await using world = await testApp()
  expect(await world.call('GET', `/v1/reports/weekly?${query}`)).toMatchObject({ status, body: { error } })
})

// From the table of ISO 8601 weeks at https://en.wikipedia.org/wiki/ISO_week_date.
test.each([
  ['2005-01-01', '2004-W53'],
  ['2005-01-02', '2004-W53'],
  ['2005-12-31', '2005-W52'],
  ['2006-01-02', '2006-W01'],
  ['2007-12-31', '2008-W01'],
  ['2008-12-28', '2008-W52'],
  ['2008-12-29', '2009-W01'],
  ['2009-12-31', '2009-W53'],
  ['2010-01-03', '2009-W53'],
  ['2026-11-16', '2026-W47'],
])('%s is in week %s', (day, week) => {
  const at = Date.parse(day)
  expect(weekName(at)).toBe(week)
  const start = parseWeek(week) ?? 0
  expect([start <= at && at < start + WEEK_MS, new Date(start).getUTCDay()]).toEqual([true, 1])
})

test.each(['2026-W00', '2025-W53', '2026-W54', '2026-47', '26-W47', '2026-W7', '2026-W470', '', 'W47', '0042-W01'])(
  '%j is not a valid week',
  (name) => expect(parseWeek(name)).toBeNull(),
)

test('the name of a week is the same for all seven days, and leads back to the week', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2400, 0) }), (at) => {
      const start = weekStart(at)
      expect(parseWeek(weekName(at))).toBe(start)
      for (const day of [0, 1, 6]) expect(weekName(start + day * DAY_MS)).toBe(weekName(at))
      expect(weekName(start - 1)).not.toBe(weekName(at))
    }),
  )
})
