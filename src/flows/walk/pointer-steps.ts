import { setTimeout as sleep } from 'node:timers/promises'
import type { ElementHandle, Frame, MouseButton, Page } from 'puppeteer-core'
import type { CheckedStep } from '../recorder-export.ts'
import { pointOutside, spotOf } from './in-page-functions.ts'
import type { StepContext, StepKind } from './step.ts'

const BUTTONS: Readonly<Record<string, MouseButton>> = {
  primary: 'left',
  auxiliary: 'middle',
  secondary: 'right',
  back: 'back',
  forward: 'forward',
}

interface Point {
  x: number
  y: number
}

export const click: StepKind<'click'> = { causesTags: true, do: (step, doing) => press(step, doing, 1) }
export const doubleClick: StepKind<'doubleClick'> = { causesTags: true, do: (step, doing) => press(step, doing, 2) }

export const hover: StepKind<'hover'> = {
  causesTags: true,
  async do(_step, doing) {
    const { page, point } = await spot(doing, null)
    await page.mouse.move(point.x, point.y)
  },
}

async function press(step: CheckedStep<'click' | 'doubleClick'>, doing: StepContext, count: number): Promise<void> {
  const { offsetX, offsetY } = step
  const offset = offsetX === undefined || offsetY === undefined ? null : { x: offsetX, y: offsetY }
  const { page, point } = await spot(doing, offset)
  const button = BUTTONS[step.button ?? 'primary'] ?? 'left'
  // The Recorder writes the device type only in ambiguous cases. A phone has no mouse.
  if (doing.hasTouch && button === 'left' && step.deviceType !== 'mouse') {
    for (let tap = 0; tap < count; tap++) {
      const finger = await page.touchscreen.touchStart(point.x, point.y)
      await sleep(step.duration ?? 0, null, { signal: doing.stopping })
      await finger.end()
    }
    return
  }
  await page.mouse.click(point.x, point.y, { button, count, delay: step.duration ?? 0 })
}

/** Brings the tab to the front. Returns the tab and the point at which the step's element can be clicked. */
async function spot(doing: StepContext, offset: Point | null): Promise<{ page: Page; point: Point }> {
  const page = await doing.page()
  const { ready } = await doing.element(async (element) => {
    const inFrame = await element.evaluate(spotOf, offset?.x ?? null, offset?.y ?? null)
    if ('fault' in inFrame) return inFrame
    return { ready: await inPage(element, inFrame) }
  })
  return { page, point: ready }
}

/** Converts a point in the element's frame to a point in its tab. */
async function inPage(element: ElementHandle<Element>, point: Point): Promise<Point> {
  let shown = point
  for (let frame: Frame | null = element.frame; frame?.parentFrame(); frame = frame.parentFrame()) {
    const holder = await frame.frameElement()
    if (!holder) break
    shown = await holder.evaluate(pointOutside, shown.x, shown.y)
    await holder.dispose()
  }
  return shown
}

export const scroll: StepKind<'scroll'> = {
  causesTags: true,
  async do({ selectors, x = 0, y = 0 }, doing) {
    if (!selectors) {
      await (await doing.frame()).evaluate((left, top) => window.scrollTo(left, top), x, y)
    } else {
      const { element } = await doing.element(async () => ({ ready: null }))
      await element.evaluate((scrolled, left, top) => scrolled.scrollTo(left, top), x, y)
    }
    // Pages receive the scroll event with their next animation frame.
    await sleep(AFTER_SCROLL_MS, null, { signal: doing.stopping })
  },
}

const AFTER_SCROLL_MS = 50
