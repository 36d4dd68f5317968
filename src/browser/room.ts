import type { Room } from '../base.ts'
import type { HistoryBase } from '../history-base.ts'
import { Browsers } from './browser-pool.ts'

export interface BrowserRoom extends Room {
  browsers: Browsers
}

/** Creates the browsers. `folder` contains the browsers' profiles. */
export function openBrowser({ config, quiet }: HistoryBase, { folder }: { folder: string }): BrowserRoom {
  const { chromium, flowConcurrency, outboundAllow, outboundProxy, outboundCa } = config
  return {
    browsers: new Browsers({
      chromium,
      folder,
      concurrency: flowConcurrency,
      outboundAllow,
      outboundProxy,
      outboundCa,
      isQuiet: () => quiet() !== null,
    }),
  }
}
