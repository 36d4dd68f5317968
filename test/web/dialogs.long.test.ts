import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { dashboardPaths } from './dashboard-paths.ts'
import { layoutFaults } from './layout-faults.ts'
import { navigateTo, waitForPage } from './navigate.ts'
import { named, openScreen, type Screen } from './screen.ts'
import { sharedHostileServer } from './server-with-hostile-texts.ts'
import { openAs } from './test-server.ts'

/*
 * Opens every dialog, drawer and menu at phone width, on a server whose items have hostile names. Each must have an
 * accessible name, run no injected script and fit the window.
 */

const PHONE = { width: 360, height: 740 }
const SOURCES = join(import.meta.dir, '../../src/web')

interface Opener {
  /** The file in `src/web` that renders the dialog or menu. */
  of: string
  /** Path of the page, or a prefix of the path if it ends with `/` or `_`. */
  at: string
  /** Selector of an element that is clicked first. */
  first?: string
  /** Selector of the button that opens the dialog or menu. */
  press: string
  /** Selector of the menu item that opens the dialog, if the button opens a menu. */
  pick?: string
}

const button = (name: string) => named('button', name)
const startingWith = (name: string) => `main button[aria-label^="${name}"]`

const OPENERS: readonly Opener[] = [
  { of: 'shell/shell.tsx', at: '/', press: button('Menu') },
  { of: 'shell/header.tsx', at: '/', press: button('Account') },
  { of: 'shell/command-palette.tsx', at: '/', press: button('Search') },
  { of: 'components/export-menu.tsx', at: '/issues', press: button('Export') },
  { of: 'pages/alerts/alerts-page.tsx', at: '/alerts', press: button('Export') },
  { of: 'components/saved-views.tsx', at: '/issues', first: button('Filters'), press: button('Views') },
  {
    of: 'components/saved-views.tsx',
    at: '/explore/events',
    first: button('Filters'),
    press: button('Views'),
    pick: named('menuitem', 'Save these filters…'),
  },
  { of: 'pages/issues/mute-menu.tsx', at: '/issues/iss_', press: button('Mute') },
  {
    of: 'pages/issues/assign-menu.tsx',
    at: '/issues',
    first: 'main tbody input[type=checkbox]',
    press: button('Assign'),
  },
  {
    of: 'pages/issues/mute-dialog.tsx',
    at: '/issues/iss_',
    press: button('Mute'),
    pick: named('menuitem', 'Other time, reason or hosts…'),
  },
  { of: 'pages/alerts/import-dialog.tsx', at: '/alerts', press: button('Import') },
  { of: 'pages/alerts/editor/footer.tsx', at: '/alerts/alr_', press: button('Delete alert') },
  { of: 'pages/changes/changes-page.tsx', at: '/changes', press: button('Record a change') },
  {
    of: 'pages/explore/events/event-drawer.tsx',
    at: '/explore/events',
    press: 'main tbody tr[data-id] :is(a, button)',
  },
  { of: 'pages/explore/events/event-drawer.tsx', at: '/explore/sessions/', press: 'main ol button' },
  { of: 'pages/explore/event-labels-page.tsx', at: '/explore/labels', press: button('New label') },
  { of: 'pages/explore/event-labels-page.tsx', at: '/explore/labels', press: startingWith('Add event to') },
  { of: 'pages/explore/event-labels-page.tsx', at: '/explore/labels', press: startingWith('Delete') },
  { of: 'pages/tests/test-page.tsx', at: '/tests/tst_', press: button('Delete test') },
  { of: 'pages/tests/recording/step-row.tsx', at: '/tests/tst_', press: startingWith('Actions of step') },
  { of: 'pages/tests/run/steps.tsx', at: '/tests/runs/', press: startingWith('Open screenshot of') },
  { of: 'pages/tests/run/share-dialog.tsx', at: '/tests/runs/', press: button('Share run') },
  { of: 'pages/tests/run/share-dialog.tsx', at: '/audits/run_', press: button('Share audit') },
  { of: 'pages/integrations/integration-page.tsx', at: '/integrations/int_', press: button('Delete integration') },
  { of: 'pages/settings/members-page.tsx', at: '/settings/members', press: button('Invite a member') },
  { of: 'pages/settings/members-page.tsx', at: '/settings/members', press: startingWith('Remove') },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', press: button('New project') },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', press: startingWith('Edit') },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', press: startingWith('Delete') },
  { of: 'pages/settings/maintenance-page.tsx', at: '/settings/maintenance', press: button('Add window') },
  { of: 'pages/settings/calendars-page.tsx', at: '/settings/calendars', press: button('Add calendar') },
  { of: 'pages/settings/ownership-page.tsx', at: '/settings/ownership', press: button('New rule') },
  { of: 'pages/explore/order-capture-rules.tsx', at: '/explore/orders', press: button('New rule') },
  { of: 'pages/settings/api-keys-page.tsx', at: '/settings/keys', press: startingWith('Revoke') },
]

/**
 * Dialogs that no button opens here: a key opens them, they appear when a session ends, they are for wide windows, the
 * server must be quiet (`backups-page.test.ts`) or use ClickHouse (`collectors-page.test.ts`), or they need a second
 * factor (`second-factor.test.ts`).
 */
const WITHOUT_BUTTON = [
  'shell/auth-gate.tsx',
  'shell/shortcuts-dialog.tsx',
  'shell/quiet-banner.tsx',
  'components/columns-menu.tsx',
  'pages/settings/collectors-page.tsx',
  'pages/settings/second-factor-card.tsx',
]
/** A shared component, which is tested through the dialogs that use it. */
const SHARED = ['components/confirm-dialog.tsx']

const here = sharedHostileServer()

test('the list contains every file that renders a dialog', () => {
  const files = [...new Bun.Glob('**/*.tsx').scanSync(SOURCES)].filter((path) =>
    /<(?:Modal|Drawer|ConfirmDialog|Menu|Spotlight\.Root)\b/.test(readFileSync(join(SOURCES, path), 'utf8')),
  )
  const listed = [...OPENERS.map(({ of }) => of), ...WITHOUT_BUTTON, ...SHARED]
  expect(files.toSorted()).toEqual([...new Set(listed)].sort())
})

test('every dialog and menu has a name, runs no scripts and fits on a phone, even with hostile names', async () => {
  await using screen = await openScreen(here.server.url, here.browser.browser)
  const { page } = screen
  await page.setViewport(PHONE)
  await openAs(screen, here.server.app.owner.apiKey, '/')
  await waitForPage(page)
  const addresses = await dashboardPaths(async (path) => (await here.server.app.call('GET', path)).body)
  const found: Record<string, string[]> = {}
  const check = async (what: string) => {
    const faults = await faultsOfOpen(screen)
    if (faults.length > 0) found[what] = faults
  }
  // Waits for each dialog to close, because it could otherwise be mistaken for the next one.
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.waitForFunction(isClosed)
  }
  for (const { at, first, press, pick } of OPENERS) {
    const address = addresses.find((one) => (/[_/]$/.test(at) && at !== '/' ? one.startsWith(at) : one === at))
    if (address === undefined) throw new Error(`the server has no page ${at}`)
    await navigateTo(page, address)
    if (first !== undefined) await (await page.waitForSelector(first))?.click()
    const opener = await page.waitForSelector(press)
    await opener?.click()
    if (pick) {
      await page.locator(pick).click()
      await page.waitForFunction(() => document.querySelector('[role=menu]') === null)
    }
    await check(`${pick ?? press} at ${at}`)
    await close()
  }
  await navigateTo(page, '/issues')
  await page.keyboard.press('?')
  await check('the keys')
  await close()

  // Search results contain the hostile names.
  await screen.press('Search')
  await page.waitForSelector('[role=dialog]')
  await page.keyboard.type('WWW')
  await screen.reads('Results')
  await check('what the palette found')
  await close()

  here.server.refuse('GET /v1/', 401, 'the session has ended')
  await navigateTo(page, '/signals').catch(() => undefined)
  await check('the session has ended')
  expect(found).toEqual({})
})

const OPEN = '[role=dialog], [role=menu]'
const isClosed = () => document.querySelector('[role=dialog], [role=menu]') === null

/** Number of frames to wait. Animations start a few frames after the element is rendered. */
const STILL_FRAMES = 10

/** Resolves when the element has not moved for this number of frames and no animation is running. */
function untilStill(selector: string, frames: number): Promise<void> {
  return new Promise((done) => {
    let [left, still] = [Number.NaN, 0]
    const look = () => {
      const now = document.querySelector(selector)?.getBoundingClientRect().left ?? Number.NaN
      still = now === left && document.getAnimations().length === 0 ? still + 1 : 0
      left = now
      if (still >= frames) done()
      else requestAnimationFrame(look)
    }
    look()
  })
}

/** Returns layout defects, console errors and missing names in the dialog or menu that has opened. */
async function faultsOfOpen({ page, errors }: Screen): Promise<string[]> {
  await page.waitForSelector(OPEN, { visible: true })
  await page.evaluate(untilStill, OPEN, STILL_FRAMES)
  const isMenu = (await page.$('[role=menu]')) !== null
  // Menus overlap the page on purpose. The overlap check ignores dialogs, because their position is fixed.
  const layout = (await layoutFaults(page)).filter((fault) => !(isMenu && fault.includes('overlaps')))
  // The test causes the responses with status 401.
  const unexpected = errors.splice(0).filter((line) => !line.includes('status of 401'))
  return [...layout, ...(await ownFaults(page)), ...unexpected]
}

async function ownFaults(page: Page): Promise<string[]> {
  const opened = await page.$(OPEN)
  const { name = '' } = (opened && (await page.accessibility.snapshot({ root: opened, interestingOnly: false }))) ?? {}
  const faults = await page.evaluate((selector) => {
    const open = document.querySelector(selector)
    if (!open) return ['closed']
    const { left, right } = open.getBoundingClientRect()
    const isWide = left < -1 || right > innerWidth + 1 || open.scrollWidth > open.clientWidth + 1
    return isWide ? [`from ${left} to ${right}, ${open.scrollWidth} in ${open.clientWidth} px`] : []
  }, OPEN)
  return name.trim() === '' ? ['has no name', ...faults] : faults
}
