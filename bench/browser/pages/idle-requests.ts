import type { Browser } from 'puppeteer-core'
import { MINUTE_MS } from '../../../src/core/clock.ts'
import { type Budget, budget } from '../../tools/budget.ts'
import { openTab, settled } from './open-tab.ts'

const PATHS = ['/', '/issues', '/alerts', '/domains']
const QUIET_MS = 1000

/** Counts the requests that open pages send in a minute in which nothing changes. */
export async function idleRequests(browser: Browser, { url, key }: { url: string; key: string }): Promise<Budget[]> {
  const asked = await Promise.all(
    PATHS.map(async (path) => {
      const tab = await openTab(browser, { key })
      await tab.page.goto(url + path)
      await settled(tab)
      await tab.quiet(QUIET_MS)
      const before = tab.asked.length
      await Bun.sleep(MINUTE_MS)
      const those = tab.asked.slice(before)
      await tab.close()
      if (those.length > 0) console.log(`  ${path} sent ${those.join(' ')}`)
      return those.length
    }),
  )
  return [
    budget(
      `requests from ${PATHS.length} idle pages in one minute`,
      asked.reduce((sum, n) => sum + n, 0),
      'is',
      0,
    ),
  ]
}
