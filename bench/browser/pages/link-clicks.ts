import type { Browser, ElementHandle } from 'puppeteer-core'
import { type Budget, budget } from '../../tools/budget.ts'
import { median, openTab, settled, type Tab } from './open-tab.ts'

const ROUNDS = 3
/**
 * The page that a link leads to is preloaded once the pointer rests on the link and no request has been active for this
 * long.
 */
const QUIET_MS = 250

interface Pressed {
  path: string
  /** Time from the click until the first frame in which no part of the page is loading, in ms. */
  ms: number
  /** Paths requested during that time. */
  asked: readonly string[]
}

/**
 * Clicks every link in the navigation, one after another, starting on the Overview. The pointer first rests on each
 * link until the script and data of its page are preloaded.
 */
export async function clickLinks(browser: Browser, { url, key }: { url: string; key: string }): Promise<Budget[]> {
  const pressed: Pressed[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const tab = await openTab(browser, { key })
    await keepPaints(tab)
    await tab.page.goto(`${url}/`)
    await settled(tab)
    const links = await tab.page.$$('nav[aria-label=Main] a')
    // The Overview's link is last, because the Overview is already open.
    for (const link of [...links.slice(1), ...links.slice(0, 1)]) pressed.push(await pressOn(tab, link))
    await tab.close()
  }
  const paths = [...new Set(pressed.map(({ path }) => path))]
  const of = (path: string) => pressed.filter((one) => one.path === path)
  console.log(
    `  press to painted, ms: ${paths.map((path) => `${path} ${Math.round(median(of(path).map(({ ms }) => ms)))}`).join(', ')}`,
  )
  // Changes in the stream cause requests in some rounds only. Requests caused by the click occur in every round.
  const always = paths.map((path) => {
    const [first, ...others] = of(path).map(({ asked }) => asked)
    return { path, asked: (first ?? []).filter((one) => others.every((asked) => asked.includes(one))) }
  })
  for (const { path, asked } of always)
    if (asked.length > 0) console.log(`  ${path} sends after the press: ${asked.join(' ')}`)
  return [
    budget('press to painted page, median over all links, ms', median(pressed.map(({ ms }) => ms)), 'at most', 100),
    budget('requests after the press on a preloaded link', always.flatMap(({ asked }) => asked).length, 'is', 0),
  ]
}

/** Records the time at which the first complete frame of the new page was painted after the last click. */
async function keepPaints({ page }: Tab): Promise<void> {
  await page.evaluateOnNewDocument(() => {
    const whole = () => {
      const heading = document.querySelector('main h1')
      return document.querySelector('main [aria-busy=true]') === null ? heading?.textContent : null
    }
    addEventListener(
      'click',
      ({ timeStamp }) => {
        const before = document.querySelector('main h1')?.textContent
        Object.assign(window, { pressTook: undefined })
        const observer = new MutationObserver(() => {
          const heading = whole()
          if (!heading || heading === before) return
          observer.disconnect()
          requestAnimationFrame(() => {
            const { port1, port2 } = new MessageChannel()
            port1.onmessage = () => Object.assign(window, { pressTook: performance.now() - timeStamp })
            port2.postMessage(null)
          })
        })
        observer.observe(document, {
          childList: true,
          subtree: true,
          characterData: true,
          attributeFilter: ['aria-busy'],
        })
      },
      { capture: true },
    )
  })
}

async function pressOn(tab: Tab, link: ElementHandle<Element>): Promise<Pressed> {
  const { page, asked, quiet } = tab
  await quiet(QUIET_MS)
  await link.hover()
  await quiet(QUIET_MS)
  const before = asked.length
  await page.mouse.down()
  await page.mouse.up()
  const took = await page.waitForFunction('window.pressTook', { polling: 20 })
  const ms = (await took.jsonValue()) as number
  const after = asked.slice(before)
  const path = new URL(page.url()).pathname
  // Moves the pointer away from the navigation; otherwise the page behind the link under the pointer would be
  // preloaded.
  await page.mouse.move(700, 850)
  return { path, ms, asked: after }
}
