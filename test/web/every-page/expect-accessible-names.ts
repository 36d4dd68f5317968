import { expect } from 'bun:test'
import type { Browser, Page, SerializedAXNode } from 'puppeteer-core'
import { ask, until } from '../../run-program.ts'
import { dashboardPaths, MEMBERS_PATHS } from '../dashboard-paths.ts'
import type { Demo } from '../demo.ts'
import { EVERYWHERE, namesOn, ON_PHONES } from './expected-names.ts'
import { HEIGHT, PHONE, signedIn, TEST_MS, waitForPage } from './page-checks.ts'

const FIELDS = ['textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton', 'switch', 'checkbox', 'radiogroup']
const WAIT_MS = 60_000

/** Opens each path in a window of this width, in px. Fails with a list of the missing roles and names, by path. */
export async function expectAccessibleNames(browser: Browser, demo: Demo, width: number): Promise<void> {
  await using screen = await signedIn(browser, demo)
  await screen.page.setViewport({ width, height: HEIGHT })
  const everywhere = width < PHONE ? ON_PHONES : EVERYWHERE
  const shop = (await demo.get('/v1/domains?q=shop.example')).domains[0]
  using _visitors = simulateVisitors(demo, shop.token)
  const addresses = [`/domains/${shop.id}/live`, ...(await richestPages(demo)), ...(await dashboardPaths(demo.get))]
  const found: Record<string, string[]> = {}
  for (const path of MEMBERS_PATHS) {
    const pattern = new RegExp(`^${path.replace('$id', '(?!new$)[^/]+')}$`)
    await screen.open(addresses.find((one) => pattern.test(one)) ?? path)
    await waitForPage(screen.page)
    if (width < PHONE) await openFilters(screen.page)
    const missing = await missingOn(screen.page, [...everywhere, ...namesOn(path)])
    if (missing.length > 0) found[path] = missing
  }
  expect(found).toEqual({})
}

/** Opens the filters, which are behind a button on phones. */
async function openFilters(page: Page): Promise<void> {
  const button = await page.$('search button[aria-expanded=false][aria-controls]:not([aria-haspopup])')
  await button?.click()
}

async function missingOn(page: Page, wanted: readonly string[]): Promise<string[]> {
  let missing: string[] = []
  const hasAll = async () => {
    const there = namesIn(await page.accessibility.snapshot({ interestingOnly: false }))
    missing = wanted.filter((one) => !hasName(there, one))
    return missing.length === 0
  }
  await until('the names of a page', hasAll, WAIT_MS).catch(() => undefined)
  return missing
}

interface Named {
  role: string
  name: string
}

function namesIn(node: SerializedAXNode | null): Named[] {
  if (!node) return []
  return [{ role: node.role, name: node.name ?? '' }, ...(node.children ?? []).flatMap(namesIn)]
}

function hasName(there: readonly Named[], wanted: string): boolean {
  const [role = '', ...words] = wanted.split(' ')
  const name = words.join(' ').toLowerCase()
  return there.some((one) => {
    if (role === 'field' ? !FIELDS.includes(one.role) : one.role !== role) return false
    const own = one.name.toLowerCase()
    return name === '' || own === name || own.startsWith(`${name}, `)
  })
}

/** Sends an event every second for the live view, because at night the demo may send none for minutes. */
function simulateVisitors({ url }: Demo, token: string): Disposable {
  const body = { page: { url: 'https://shop.example/' }, events: [{ vendor: 'Shop', event: 'look' }] }
  const send = () => ask('POST', `${url}/api/v1/events`, token, body).catch(() => undefined)
  const timer = setInterval(send, 1000)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Returns the paths of the items that show the most details: an open issue, and a change that caused issues. */
async function richestPages({ get }: Demo): Promise<string[]> {
  const one = (path: string, noun: string, isWanted: (thing: Record<string, unknown>) => boolean = () => true) =>
    until(path, async () => (await get(path))?.[noun].find(isWanted) ?? null, TEST_MS)
  const issue = await one('/v1/issues?status=open&alertType=data_validation', 'issues')
  const change = await one('/v1/changes', 'changes', ({ status }) => status === 'regressed')
  await one('/v1/compliance/pii', 'findings')
  return [`/changes/${change.id}`, `/issues/${issue.id}`]
}
