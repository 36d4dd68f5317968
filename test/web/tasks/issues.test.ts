import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../../run-program.ts'
import type { Screen } from '../screen.ts'
import { startEnvironment, type TestEnvironment } from './test-environment.ts'

const ALERTS = [
  { name: 'Alpha', event: 'add_to_cart', severity: 'critical' },
  { name: 'Beta', event: 'purchase', severity: 'high' },
  { name: 'Gamma', event: 'refund', severity: 'high' },
  { name: 'Delta', event: 'search', severity: 'low' },
] as const

let env: TestEnvironment
beforeAll(async () => {
  env = await startEnvironment()
  const shop = await env.createShop()
  for (const { name, event, severity } of ALERTS) await env.createAlert(name, event, { severity })
  for (const { event } of ALERTS) await shop.send(event, { order_id: '' })
  await until('the issues', async () => (await env.call('GET', '/v1/issues')).issues.length === ALERTS.length)
})
afterAll(() => env[Symbol.asyncDispose]())

/** Returns the alert names of the listed issues, in order. */
const listed = ({ page }: Screen) =>
  page.$$eval('tbody tr[data-id] [data-row-link]', (links) =>
    links.map(({ textContent }) => /^\w+/.exec(textContent ?? '')?.[0]),
  )

/** Waits until the list contains exactly these alerts, in any order. */
async function lists(screen: Screen, ...names: string[]): Promise<void> {
  await until(`the list ${names}`, async () => Bun.deepEquals((await listed(screen)).toSorted(), names))
}

const statuses = async () => {
  const { issues } = await env.call('GET', '/v1/issues?status=open,acknowledged&sort=severity')
  return issues.map(({ status }: { status: string }) => status).join(' ')
}

test('three issues can be acknowledged at once, restored with undo, and changed with the toolbar', async () => {
  await using person = await env.person('/')
  const { sees, reads, keys, press, page } = person
  await sees('heading', 'Overview')
  await keys('g', 'i')
  await sees('table', 'Issues')
  await lists(person, 'Alpha', 'Beta', 'Delta', 'Gamma')
  await keys('j', 'x', 'Shift+j', 'Shift+j')
  await sees('toolbar', 'Selected issues')
  await reads('3 selected')
  await keys('a')
  await reads('3 issues acknowledged.')
  expect(await statuses()).toBe('acknowledged acknowledged acknowledged open')
  await keys('z')
  await reads('Undone: 3 issues restored.')
  expect(await statuses()).toBe('open open open open')
  await press('Acknowledge')
  await reads('3 issues acknowledged.')
  await press('Reopen')
  await reads('3 issues reopened.')
  await press('Clear selection')
  await page.waitForFunction(() => !document.querySelector('[role=toolbar]'))
  expect(await statuses()).toBe('open open open open')
  expect(person.errors).toEqual([])
})

test('filters are preserved on reload, when going back and forward, and in another tab', async () => {
  await using person = await env.person('/issues', await env.session())
  const { sees, keys, reach, type, choose, pick, page } = person
  await sees('table', 'Issues')
  await pick('Severity', 'Critical')
  await lists(person, 'Alpha')
  await pick('Severity', 'High')
  await lists(person, 'Alpha', 'Beta', 'Gamma')
  await type('Search', 'a')
  await choose('Sort by', 'First seen')
  // Single-key shortcuts do not work while a text field is focused.
  await reach('button', 'Remove filter Severity')
  await keys('3')
  await page.waitForFunction(() => location.search.includes('range=7d'))
  const address = new URL(page.url())
  expect(Object.fromEntries(address.searchParams)).toEqual({
    severity: 'critical,high',
    q: 'a',
    sort: 'firstSeenAt',
    range: '7d',
  })
  await lists(person, 'Alpha', 'Beta', 'Gamma')
  const isAsBefore = async (screen: Screen) => {
    await screen.sees('table', 'Issues')
    await lists(screen, 'Alpha', 'Beta', 'Gamma')
    expect(new URL(screen.page.url()).search).toBe(address.search)
    await screen.sees('button', 'Remove filter Severity')
  }

  await page.reload()
  await isAsBefore(person)
  await keys('j', 'Enter')
  await sees('button', 'Resolve')
  await page.goBack()
  await isAsBefore(person)
  await page.goForward()
  await sees('button', 'Resolve')
  await page.goBack()
  await isAsBefore(person)
  await using other = await person.openTab(address.pathname + address.search)
  await isAsBefore(other)
  expect(person.errors).toEqual([])
})
