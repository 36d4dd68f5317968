import type { Browser, Page } from 'puppeteer-core'
import { systemClock } from '../core/clock.ts'
import type { VendorRequests } from './browsing.ts'
import type { Traffic } from './traffic.ts'

// In place of watch.ts and screenshot.ts until they are there.

export const screenshotOf = (page: Page, _secrets: readonly string[]): Promise<Uint8Array> => page.screenshot()

export async function watchTraffic(
  _browser: Browser,
  _options: { vendorRequests: VendorRequests; mask(text: string): string; faultOf(url: string): string | null },
): Promise<Traffic> {
  return {
    requests: [],
    events: [],
    errors: [],
    onEvent: () => () => undefined,
    forget: () => undefined,
    underWay: 0,
    activeAt: systemClock.now(),
    quiet: async (silenceMs: number) => {
      await Bun.sleep(silenceMs)
      return true
    },
  } as unknown as Traffic
}
