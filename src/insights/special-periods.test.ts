import { expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { weekName } from './weekly-report.ts'

test('backtests and weekly reports contain the holidays and the maintenance windows of their domains', async () => {
  await using world = await testApp()
  const { body: shop } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const { body: blog } = await world.call('POST', '/v1/domains', { body: { name: 'Blog' } })
  await world.collect(shop.token, { events: [{ vendor: 'Shop', event: 'view' }] })
  const start = Math.floor(world.clock.now() / DAY_MS) * DAY_MS + DAY_MS
  const day = new Date(start).toISOString().slice(0, 10).replaceAll('-', '')
  const ics = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z']
  ics.push(`DTSTART;VALUE=DATE:${day}`, 'SUMMARY:Founding day', 'END:VEVENT', 'END:VCALENDAR')
  await world.call('POST', '/v1/calendars', { body: { name: 'Ours', ics: ics.join('\r\n') } })
  const window = { timezone: 'UTC', from: start + 2 * HOUR_MS, to: start + 3 * HOUR_MS }
  await world.call('POST', '/v1/maintenance', { body: { ...window, name: 'Of the shop', domainIds: [shop.id] } })
  await world.call('POST', '/v1/maintenance', { body: { ...window, name: 'Of the blog', domainIds: [blog.id] } })
  world.clock.set(start + 2 * DAY_MS)
  const all = ['Founding day', 'Of the blog', 'Of the shop']
  const namesIn = (periods: { name: string }[]) => periods.map(({ name }) => name)

  const rule = {
    name: 'Rule',
    alertType: 'data_validation',
    conditions: { logic: 'any', items: [{ parameter: 'to', op: 'contains_email' }] },
    period: '1h',
    channels: [{ type: 'email', target: 'ann@example.com' }],
  }
  const backtestOf = async (scope: object) => {
    const { body } = await world.call('POST', '/v1/alerts/backtest', { body: { rule: { ...rule, ...scope }, days: 7 } })
    return namesIn(body.specialPeriods)
  }
  expect(await backtestOf({})).toEqual(all)
  expect(await backtestOf({ domainId: shop.id })).toEqual(['Founding day', 'Of the shop'])

  const { body: project } = await world.call('POST', '/v1/projects', { body: { name: 'Shops' } })
  await world.call('PATCH', `/v1/projects/${project.id}`, { body: { domainIds: [shop.id] } })
  const reportOf = async (query: string) => {
    const { body } = await world.call('GET', `/v1/reports/weekly?week=${weekName(start)}${query}`)
    return namesIn(body.volume.specialPeriods)
  }
  expect(await reportOf('')).toEqual(all)
  expect(await reportOf(`&projectId=${project.id}`)).toEqual(['Founding day', 'Of the shop'])
})
