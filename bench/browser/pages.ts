import type { Browser } from 'puppeteer-core'
import { SECOND_MS } from '../../src/core/clock.ts'
import { startBrowser } from '../../test/browser/chromium.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { client, makeFolder, start, tagwarden } from '../tools/server.ts'
import { acceleratedHour } from './pages/accelerated-hour.ts'
import { idleRequests } from './pages/idle-requests.ts'
import { layoutShift } from './pages/layout-shift.ts'
import { clickLinks } from './pages/link-clicks.ts'
import { fillWithIssues } from './pages/many-issues.ts'
import { overviewLoad } from './pages/overview-load.ts'
import { scrollList } from './pages/scroll-list.ts'

const LONGEST_START_MS = 10 * SECOND_MS
/** Time after which the demo has opened its first issues. */
const UNTIL_FULL_MS = 20 * SECOND_MS
/** Raises the rate limits, because the benchmark sends more requests than a person would. */
const WITHOUT_LIMITS = { TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000', TAGWARDEN_LOG_LEVEL: 'error' }

/** Measures the dashboard pages in Chromium, both for the demo and for a server with 10,000 issues and no activity. */
export async function benchPages(): Promise<Budget[]> {
  await using chromium = await startBrowser()
  return [...(await onDemo(chromium.browser)), ...(await onManyIssues(chromium.browser))]
}

async function onDemo(browser: Browser): Promise<Budget[]> {
  const server = await start(tagwarden('demo', '--listen', '127.0.0.1:0'), WITHOUT_LIMITS, /#key=.*\n/)
  try {
    const { origin: url, hash } = new URL(server.url)
    const key = new URLSearchParams(hash.slice(1)).get('key') ?? ''
    await Bun.sleep(UNTIL_FULL_MS)
    const place = { url, key }
    return [
      budget('demo ready, ms', Math.round(server.readyMs), 'at most', LONGEST_START_MS),
      ...(await overviewLoad(browser, place)),
      ...(await clickLinks(browser, place)),
      ...(await layoutShift(browser, { ...place, call: client(url, key) })),
      ...(await acceleratedHour(browser, place)),
    ]
  } finally {
    await server.stop()
  }
}

async function onManyIssues(browser: Browser): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  fillWithIssues(folder)
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), WITHOUT_LIMITS)
  try {
    const place = { url: server.url, key }
    return [...(await scrollList(browser, place)), ...(await idleRequests(browser, place))]
  } finally {
    await server.stop()
    remove()
  }
}
