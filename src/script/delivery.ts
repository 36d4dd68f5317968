import type { CaptureConfig } from '../capture/capture-config.ts'
import type { Item } from './batch.ts'
import type { BrowserFunctions } from './browser-functions.ts'
import { type Frames, type Page, pageAddress } from './page-frame.ts'
import { watchLifecycle } from './page-lifecycle.ts'
import type { StatsKeeper } from './page-stats.ts'
import { makeSendQueue } from './send-queue.ts'
import { makeSender } from './sender.ts'

export interface ScriptDeliveryDeps extends BrowserFunctions {
  config: CaptureConfig
  frames: Frames
  stats: StatsKeeper
  /** Called before batches are created. */
  closing(): void
  /** Called when the page may be about to end. */
  leaving(): void
}

export interface Delivery {
  add(item: Item): void
  /** Must be called after a queued call has changed. */
  check(): void
  /** Sends the measurements of a page view that has ended. */
  finish(page: Page): void
}

/** Connects queue, batches and sender to deliver captured items to the collector. */
export function makeDelivery(parts: ScriptDeliveryDeps): Delivery {
  const { window, config, guard, frames, stats, closing, leaving, now, date } = parts
  const sender = makeSender({ ...parts, url: config.collectUrl, token: config.token })
  const queue = makeSendQueue({
    ...parts,
    isSpent: () => guard.isSpent(),
    closing() {
      updateTitle(parts, frames.at(now()).page)
      closing()
    },
    send: (batches) => sender.send(batches),
  })
  const finish = (page: Page) => {
    const frame = frames.at(now())
    const taken = config.pageStats && frame.isSampled ? stats.take(page, date()) : null
    if (taken) queue.add({ list: 'pageStats', frame: frame.page === page ? frame : { ...frame, page }, content: taken })
  }
  const finishPage = () => {
    leaving()
    finish(frames.current().page)
  }
  const changed = watchLifecycle(window, { guard, queue, sender, finishPage })
  return {
    add(item) {
      queue.add(item)
      changed()
    },
    check() {
      queue.check()
      changed()
    },
    finish,
  }
}

/** Updates the title of the page view, because scripts often set it after changing the URL. */
function updateTitle({ window: { document }, location }: BrowserFunctions, page: Page): void {
  if (pageAddress(location.href) === page.url) page.title = document.title
}
