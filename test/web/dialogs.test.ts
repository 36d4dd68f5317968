import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { dashboardPaths } from './dashboard-paths.ts'
import { sharedHostileServer } from './hostile-server.ts'
import { layoutFaults } from './layout-faults.ts'
import { navigateTo, waitForPage } from './navigate.ts'
import { named, openScreen, type Screen } from './screen.ts'
import { openAs } from './test-server.ts'

/*
 * Every dialog, drawer and menu on a phone, over names that others wrote: each has a name, nothing of it runs, and it is no wider than
 * the window.
 */

const PHONE = { width: 360, height: 740 }
const SOURCES = join(import.meta.dir, '../../src/web')

interface Opener {
  /** The file below `src/web` that draws what opens. */
  of: string
  /** The beginning of an address. */
  at: string
  /** What is pressed. */
  press: string
}

const button = (name: string) => named('button', name)
const beginning = (name: string) => `main button[aria-label^="${name}"]`

const OPENERS: readonly Opener[] = [
  { of: 'shell/shell.tsx', at: '/', press: button('Menu') },
  { of: 'shell/header.tsx', at: '/', press: button('Account') },
  { of: 'shell/palette.tsx', at: '/', press: button('Search') },
  { of: 'pages/issues/mute-menu.tsx', at: '/issues/iss_', press: button('Mute') },
  { of: 'pages/alerts/import-dialog.tsx', at: '/alerts', press: button('Import') },
  { of: 'pages/alerts/editor/foot.tsx', at: '/alerts/alr_', press: button('Delete alert') },
  { of: 'pages/changes/changes-page.tsx', at: '/changes', press: button('Record a change') },
  { of: 'pages/explore/events/events-page.tsx', at: '/explore/events', press: 'main tbody tr[data-id] :is(a, button)' },
  { of: 'pages/explore/events/session-page.tsx', at: '/explore/sessions/', press: 'main ol button' },
  { of: 'pages/explore/labels-page.tsx', at: '/explore/labels', press: button('New label') },
  { of: 'pages/explore/labels-page.tsx', at: '/explore/labels', press: beginning('Add event to') },
  { of: 'pages/explore/labels-page.tsx', at: '/explore/labels', press: beginning('Delete') },
  { of: 'pages/tests/test-page.tsx', at: '/tests/tst_', press: button('Delete test') },
  { of: 'pages/tests/run/share-dialog.tsx', at: '/tests/runs/', press: button('Share run') },
  { of: 'pages/tests/run/share-dialog.tsx', at: '/audits/run_', press: button('Share audit') },
  { of: 'pages/integrations/integration-page.tsx', at: '/integrations/int_', press: button('Delete integration') },
  { of: 'pages/settings/members-page.tsx', at: '/settings/members', press: button('Invite a member') },
  { of: 'pages/settings/members-page.tsx', at: '/settings/members', press: beginning('Remove') },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', press: button('New project') },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', press: beginning('Edit') },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', press: beginning('Delete') },
  { of: 'pages/settings/keys-page.tsx', at: '/settings/keys', press: beginning('Revoke') },
]

/** What opens without a button: by a key, and when a session ends. */
const WITHOUT_BUTTON = ['shell/shortcuts.tsx', 'shell/gate.tsx']
/** It asks for others. */
const OF_OTHERS = ['parts/confirm.tsx']

const here = sharedHostileServer()

test('the list has every file that draws a dialog', () => {
  const files = [...new Bun.Glob('**/*.tsx').scanSync(SOURCES)].filter((path) =>
    /<(?:Modal|Drawer|Confirm|Menu|Spotlight\.Root)\b/.test(readFileSync(join(SOURCES, path), 'utf8')),
  )
  const listed = [...OPENERS.map(({ of }) => of), ...WITHOUT_BUTTON, ...OF_OTHERS]
  expect(files.toSorted()).toEqual([...new Set(listed)].sort())
})

test('every dialog and menu of a phone has a name, runs nothing and fits, whatever others wrote', async () => {
  await using screen = await openScreen(here.server.url, here.browser.browser)
  const { page } = screen
  await page.setViewport(PHONE)
  await openAs(screen, here.server.app.owner.apiKey, '/')
  await waitForPage(page)
  const addresses = await dashboardPaths(async (path) => (await here.server.app.call('GET', path)).body)
  const found: Record<string, string[]> = {}
  const look = async (what: string) => {
    const faults = await faultsOfOpen(screen)
    if (faults.length > 0) found[what] = faults
  }
  // What is still closing would be taken for the next.
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.waitForFunction(isClosed)
  }
  for (const { at, press } of OPENERS) {
    const address = addresses.find((one) => (/[_/]$/.test(at) && at !== '/' ? one.startsWith(at) : one === at))
    if (address === undefined) throw new Error(`nothing is at ${at}`)
    await navigateTo(page, address)
    const opener = await page.waitForSelector(press)
    await opener?.click()
    await look(`${press} at ${at}`)
    await close()
  }
  await navigateTo(page, '/issues')
  await page.keyboard.press('?')
  await look('the keys')
  await close()

  // Things by their names, which are in the palette's list then.
  await screen.press('Search')
  await page.waitForSelector('[role=dialog]')
  await page.keyboard.type('WWW')
  await screen.reads('Results')
  await look('what the palette found')
  await close()

  here.server.refuse('GET /v1/', 401, 'the session has ended')
  await navigateTo(page, '/signals').catch(() => undefined)
  await look('the session has ended')
  expect(found).toEqual({})
})

const OPEN = '[role=dialog], [role=menu]'
const isClosed = () => document.querySelector('[role=dialog], [role=menu]') === null

/** What slides in begins some frames after it is there. */
const STILL_FRAMES = 10

/** Ends when what is selected has stayed where it is for so many frames, and nothing on the page moves. */
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

/** What is wrong with the dialog or menu that opens: of the page's layout with it, its own width, and its name. */
async function faultsOfOpen({ page, errors }: Screen): Promise<string[]> {
  await page.waitForSelector(OPEN, { visible: true })
  await page.evaluate(untilStill, OPEN, STILL_FRAMES)
  const isMenu = (await page.$('[role=menu]')) !== null
  // A menu is above its page, and a dialog is fixed, which is known to be above.
  const layout = (await layoutFaults(page)).filter((fault) => !(isMenu && fault.includes('lies over')))
  // That a question was refused is what a test wants.
  const unexpected = errors.splice(0).filter((line) => !line.includes('status of 401'))
  return [...layout, ...(await ownFaults(page)), ...unexpected]
}

async function ownFaults(page: Page): Promise<string[]> {
  const opened = await page.$(OPEN)
  const { name = '' } = (opened && (await page.accessibility.snapshot({ root: opened, interestingOnly: false }))) ?? {}
  const faults = await page.evaluate((selector) => {
    const open = document.querySelector(selector)
    if (!open) return ['gone']
    const { left, right } = open.getBoundingClientRect()
    const isWide = left < -1 || right > innerWidth + 1 || open.scrollWidth > open.clientWidth + 1
    return isWide ? [`from ${left} to ${right}, ${open.scrollWidth} in ${open.clientWidth} px`] : []
  }, OPEN)
  return name.trim() === '' ? ['has no name', ...faults] : faults
}
