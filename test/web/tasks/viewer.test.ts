import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, until } from '../../run-program.ts'
import { dashboardPaths } from '../dashboard-paths.ts'
import { OWNER, type Person, startEnvironment, type TestEnvironment } from './test-environment.ts'

let env: TestEnvironment
let viewer: string
beforeAll(async () => {
  env = await startEnvironment({ env: { TAGWARDEN_CHROMIUM: '/bin/true' } })
  viewer = await createItems(env)
})
afterAll(() => env[Symbol.asyncDispose]())

/** Creates one item of each kind and a viewer. Returns the token of a session for the viewer. */
async function createItems({ call, createShop: makeShop, url }: TestEnvironment): Promise<string> {
  const { inviteUrl } = await call('POST', '/v1/org/members', { email: 'ben@example.com', role: 'viewer' })
  const invited = { token: new URL(inviteUrl).hash.replace('#invite=', ''), password: 'battery staple horse' }
  const { token } = await ask('POST', `${url}/v1/auth/invite`, '', invited)
  const shop = await makeShop()
  await call('POST', '/v1/projects', { name: 'Shops' })
  await call('POST', '/v1/alerts', {
    name: 'No order id',
    alertType: 'data_validation',
    severity: 'critical',
    period: '1h',
    channels: [{ type: 'email', target: OWNER.email }],
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

/** Navigates to the path within the dashboard, as links do, and waits until the page has loaded. */
async function goTo({ page }: Person, address: string): Promise<void> {
  await page.evaluate((address) => {
    document.querySelector('h1')?.setAttribute('data-before', '')
    history.pushState({}, '', address)
  }, address)
  const isLoaded = () =>
    document.querySelector('main h1:not([data-before])') !== null && !document.querySelector('[aria-busy=true]')
  await page.waitForFunction(isLoaded, { polling: 50 })
}

/** Returns the names of the enabled controls on the page, other than filters and help. */
const controlsOf = ({ page }: Person): Promise<string[]> =>
  page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      'main :is(button, input, select, textarea, [role=switch], [contenteditable], a[href$="/new"])',
    )
    const isMeant = (element: HTMLElement) =>
      !element.matches(':disabled, [readonly], [type=hidden], [aria-haspopup=dialog], :has(> time)') &&
      !element.closest('search, thead')
    const nameOf = (element: HTMLElement) =>
      element.getAttribute('aria-label') ??
      (element as HTMLInputElement).labels?.[0]?.textContent ??
      element.textContent
    return [...new Set([...all].filter(isMeant).map((element) => nameOf(element) ?? ''))]
  })

/** Pages with personal settings, which every user is permitted to change. */
const OWN = /^\/settings\/(?:keys|digest|preferences)$/

/** Controls that only change the view. */
const HARMLESS = [
  'Compare periods instead',
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
  'Columns',
  'Show vendors with requests after acceptance only',
  '7 d',
  '14 d',
  '30 d',
  'Show 30 days',
  'Search',
  'Domain',
  'Vendor',
  'Event',
  'Parameter',
  'Shop',
  'purchase',
]

interface Seen {
  controls: readonly string[]
  /** True when the page shows that it is read-only. */
  saysReadOnly: boolean
}

/** Returns the controls that the user sees on each page. */
async function seenOn(addresses: readonly string[], credential: string): Promise<Map<string, Seen>> {
  await using person = await env.person(addresses.at(-1) ?? '/', credential)
  const { page } = person
  await page.waitForSelector('main h1')
  const seen = new Map<string, Seen>()
  for (const address of addresses) {
    await goTo(person, address)
    const saysReadOnly = await page.evaluate(() =>
      /Read-only\./.test(document.querySelector('main')?.textContent ?? ''),
    )
    seen.set(address, { controls: await controlsOf(person), saysReadOnly })
  }
  // Some paths contain the id of an item that does not exist.
  expect(person.errors.filter((line) => !line.includes('404'))).toEqual([])
  return seen
}

test("viewers can't change anything on any page, and see which role is required", async () => {
  const addresses = await dashboardPaths((path) => env.call('GET', path), 'all')
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
    else if (others.length > 0 && !seen.saysReadOnly) found[address] = `does not say which role can: ${others}`
  }
  expect(found).toEqual({})
  // Verifies that the check has found editing controls at all.
  expect(changes).toBeGreaterThan(20)
})
