import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, until } from '../../run-program.ts'
import { dashboardPaths } from '../dashboard-paths.ts'
import { OWNER, type Person, startEnvironment, type TestEnvironment } from './environment.ts'

let env: TestEnvironment
let viewer: string
beforeAll(async () => {
  env = await startEnvironment({ env: { TAGWARDEN_CHROMIUM: '/bin/true' } })
  viewer = await furnish(env)
})
afterAll(() => env[Symbol.asyncDispose]())

/** Makes one of everything, and returns the session of a viewer. */
async function furnish({ call, createShop: makeShop, url }: TestEnvironment): Promise<string> {
  const { inviteUrl } = await call('POST', '/v1/org/members', { email: 'ben@example.com', role: 'viewer' })
  const invited = { token: new URL(inviteUrl).hash.replace('#invite=', ''), password: 'battery staple horse' }
  const { token } = await ask('POST', `${url}/v1/auth/invite`, '', invited)
  const shop = await makeShop()
  await call('POST', '/v1/projects', { name: 'Shops' })
  await call('POST', '/v1/alerts', {
    ...{
      name: 'No order id',
      alertType: 'data_validation',
      severity: 'critical',
      period: '1h',
      channels: [{ type: 'email', target: OWNER.email }],
    },
    conditions: { logic: 'any', items: [{ parameter: 'order_id', op: 'is_blank' }] },
  })
  await call('POST', '/v1/integrations', { provider: 'webhook', config: { url: 'https://hooks.example.com/a' } })
  await call('POST', '/v1/changes', { domainId: shop.id, source: 'release', ref: 'v2', title: 'Release 2' })
  await call('POST', '/v1/insights/labels/assign', {
    label: 'Checkout',
    members: [{ vendor: 'Shop', event: 'purchase' }],
  })
  const steps = [{ type: 'navigate', url: 'https://shop.example/' }]
  await call('POST', '/v1/flows/tests', { name: 'Buy', recording: { title: 'Buy', steps } })
  await call('POST', '/v1/audits', { name: 'Whole shop', startUrls: ['https://shop.example/'] })
  await shop.send('purchase', { order_id: 'first', mail: 'jane@example.com' })
  await shop.send('purchase', { order_id: '' })
  await until('the issue', async () => (await call('GET', '/v1/issues')).issues.length > 0)
  return token
}

/** Goes there as a link of the page does, and waits until all is there. */
async function goTo({ page }: Person, address: string): Promise<void> {
  await page.evaluate((address) => {
    document.querySelector('h1')?.setAttribute('data-before', '')
    history.pushState({}, '', address)
  }, address)
  const isThere = () =>
    document.querySelector('main h1:not([data-before])') !== null && !document.querySelector('[aria-busy=true]')
  await page.waitForFunction(isThere, { polling: 50 })
}

/** What can be pressed, switched or written on the page, by name; filters and explanations aside. */
const controlsOf = ({ page }: Person): Promise<string[]> =>
  page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      'main :is(button, input, select, textarea, [role=switch], [contenteditable], a[href$="/new"])',
    )
    const isMeant = (element: HTMLElement) =>
      !element.matches(':disabled, [readonly], [type=hidden], [aria-haspopup=dialog], :has(> time)') &&
      !element.closest('search')
    const nameOf = (element: HTMLElement) =>
      element.getAttribute('aria-label') ??
      (element as HTMLInputElement).labels?.[0]?.textContent ??
      element.textContent
    return [...new Set([...all].filter(isMeant).map((element) => nameOf(element) ?? ''))]
  })

/** Pages on which everybody changes what is their own. */
const OWN = /^\/settings\/(?:keys|digest|preferences)$/

/** Controls that change what one sees, and nothing else. */
const HARMLESS = [
  ...[
    'Copy link',
    'Copy as Markdown',
    'Show as table',
    'Fields',
    'JSON',
    'Export',
    'Print',
    'Pause',
    'Details',
    'New',
    'Missing',
  ],
  ...['7 d', '14 d', '30 d', 'Show 30 days', 'Search', 'Domain', 'Vendor', 'Event', 'Parameter', 'Shop', 'purchase'],
]

interface Seen {
  controls: readonly string[]
  /** True when the page says that one can look only. */
  isTold: boolean
}

/** What somebody finds on each page. */
async function seenOn(addresses: readonly string[], credential: string): Promise<Map<string, Seen>> {
  await using person = await env.person(addresses.at(-1) ?? '/', credential)
  const { page } = person
  await page.waitForSelector('main h1')
  const seen = new Map<string, Seen>()
  for (const address of addresses) {
    await goTo(person, address)
    const isTold = await page.evaluate(() => /You can look\./.test(document.querySelector('main')?.textContent ?? ''))
    seen.set(address, { controls: await controlsOf(person), isTold })
  }
  // Of things that are not there the page is told so by the server.
  expect(person.errors.filter((line) => !line.includes('404'))).toEqual([])
  return seen
}

test('a viewer finds nothing to change on any page, and is told who can', async () => {
  const addresses = await dashboardPaths((path) => env.call('GET', path), 'everything')
  const members = await seenOn(addresses, env.apiKey)
  const viewers = await seenOn(addresses, viewer)
  const toChange = ({ controls }: Seen) => controls.filter((name) => !HARMLESS.includes(name))
  const found: Record<string, unknown> = {}
  let changes = 0
  for (const [address, seen] of viewers) {
    if (OWN.test(address)) continue
    const [theirs, others] = [toChange(seen), toChange(members.get(address) as Seen)]
    if (others.length > 0) changes++
    if (theirs.length > 0) found[address] = theirs
    else if (others.length > 0 && !seen.isTold) found[address] = `not told who can: ${others}`
  }
  expect(found).toEqual({})
  // Else the test would not have seen what it looks for.
  expect(changes).toBeGreaterThan(20)
})
