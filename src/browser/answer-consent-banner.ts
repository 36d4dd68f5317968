import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { Browsing } from './browsing.ts'
import type { Consent } from './consent-banner-options.ts'
import { BUTTON_WORDS, KNOWN_CONSENT_BANNERS } from './known-consent-banners.ts'
import { until } from './time-limit.ts'

/** Time to wait for a banner. Banners may appear after the page has loaded. */
const APPEARS_MS = 3000
/** Time to wait for an answered banner to disappear, and for the options of a banner to appear. */
const GOES_MS = 2000
const LOOK_EVERY_MS = 200

/**
 * Answers the consent banner of a page if one appears in time. The banner may be in a frame or a shadow tree.
 * @param waitMs time to wait for a banner; 0 to answer only a banner that is already visible
 * @returns whether a banner was answered; false with mode `none`
 * @throws when `stopping` is aborted; never because of the page
 */
export async function answerConsentBanner(
  _browsing: Browsing,
  page: Page,
  consent: Consent,
  stopping: AbortSignal,
  waitMs = APPEARS_MS,
): Promise<boolean> {
  if (consent.mode === 'none') return false
  if (consent.selectors.length > 0) return pressEach(page, consent.selectors, waitMs, stopping)
  const known = KNOWN_CONSENT_BANNERS.flatMap((banner) => banner[consent.mode as 'accept' | 'deny'])
  const direct: Buttons = { selectors: known, words: BUTTON_WORDS[consent.mode] }
  const options = KNOWN_CONSENT_BANNERS.flatMap((banner) => banner.options ?? [])
  const pressed = await press(
    page,
    consent.mode === 'accept' ? [direct] : [direct, { selectors: options, words: [] }],
    {
      waitMs,
      stopping,
    },
  )
  if (pressed !== 1) return pressed === 0
  return (await press(page, [direct], { waitMs: GOES_MS, stopping })) === 0
}

async function pressEach(
  page: Page,
  selectors: readonly string[],
  waitMs: number,
  stopping: AbortSignal,
): Promise<boolean> {
  for (const [index, selector] of selectors.entries()) {
    const limit = { waitMs: index === 0 ? waitMs : GOES_MS, stopping }
    if ((await press(page, [{ selectors: [selector], words: [] }], limit)) === null) return false
  }
  return true
}

interface Buttons {
  /** CSS selectors. The first one with a visible match is clicked. */
  selectors: readonly string[]
  /** Labels in lower case. If no selector matches, a banner button with exactly one of these labels is clicked. */
  words: readonly string[]
}

interface Limit {
  waitMs: number
  stopping: AbortSignal
}

/**
 * Clicks the first button that is found, and waits until it disappears. Returns that button; null when none appeared.
 */
async function press(page: Page, buttons: readonly Buttons[], { waitMs, stopping }: Limit): Promise<number | null> {
  const found = await until(() => findButton(page, buttons), waitMs, stopping, LOOK_EVERY_MS)
  if (!found) return null
  // The click is made with the element's own method instead of the mouse, because banners slide in and the mouse could
  // hit something else.
  const gone = async () => {
    const visible = await found.element.evaluate((element) => element.checkVisibility({ visibilityProperty: true }))
    return visible ? null : true
  }
  try {
    await until(
      () => found.element.evaluate((element) => (element as HTMLElement).click()).then(() => true),
      GOES_MS,
      stopping,
    )
    await until(gone, GOES_MS, stopping)
  } catch {
    // The page that contained the button has been closed.
    stopping.throwIfAborted()
  }
  return found.index
}

interface FoundButton {
  index: number
  element: ElementHandle<Element>
}

async function findButton(page: Page, buttons: readonly Buttons[]): Promise<FoundButton | null> {
  for (const [index, { selectors, words }] of buttons.entries()) {
    for (const frame of page.frames()) {
      const element = await findIn(frame, selectors, words)
      if (element) return { index, element }
    }
  }
  return null
}

async function findIn(
  frame: Frame,
  selectors: readonly string[],
  words: readonly string[],
): Promise<ElementHandle<Element> | null> {
  try {
    const handle = await frame.evaluateHandle(buttonIn, selectors, words)
    const element = handle.asElement() as ElementHandle<Element> | null
    if (!element) await handle.dispose()
    return element
  } catch {
    // The frame was removed during the search.
    return null
  }
}

/** Runs in the page, so it can't use anything else from this file. */
function buttonIn(selectors: readonly string[], words: readonly string[]): Element | null {
  const roots: (Document | ShadowRoot)[] = [document]
  const elements: Element[] = []
  for (const root of roots) {
    for (const element of root.querySelectorAll('*')) {
      elements.push(element)
      if (element.shadowRoot) roots.push(element.shadowRoot)
    }
  }
  const isVisible = (element: Element) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true })
  }
  for (const selector of selectors) {
    for (const root of roots) {
      // In a selector that crosses into a shadow tree, each part is matched in one tree. The last part matches the
      // button.
      const last = root === document ? selector : selector.replace(/^#usercentrics-cmp-ui /, '')
      const met = [...root.querySelectorAll(last)].find(isVisible)
      if (met) return met
    }
  }
  if (words.length === 0) return null
  const parentOf = (element: Element) => element.parentElement ?? (element.getRootNode() as ShadowRoot).host ?? null
  const isBanner = (element: Element | null): boolean => {
    for (let at = element; at && at !== document.body && at !== document.documentElement; at = parentOf(at)) {
      const named = `${at.id} ${at.getAttribute('class')} ${at.getAttribute('aria-label')}`
      if (/cookie|consent|gdpr|privacy|dsgvo|rgpd|\bcmp\b|didomi|usercentrics/i.test(named)) return true
      const over = ['fixed', 'sticky'].includes(getComputedStyle(at).position) || at.matches('dialog,[role="dialog"]')
      if (over && /cookie|consent|tracking|datenschutz|privacy|confidentialité|privacidad/i.test(at.textContent ?? ''))
        return true
    }
    // A banner in a separate frame fills the whole frame.
    return window !== window.top && /cookie|consent/i.test(`${document.body.textContent} ${location.href}`)
  }
  const wanted = new Set(words)
  const saying = (element: Element) =>
    (element instanceof HTMLInputElement ? element.value : (element.textContent ?? ''))
      .replaceAll(/[\s ]+/g, ' ')
      .replaceAll('’', "'")
      .trim()
      .toLowerCase()
  const pressable = 'button,a,[role="button"],input[type="button"],input[type="submit"]'
  return (
    elements.find(
      (element) => element.matches(pressable) && wanted.has(saying(element)) && isVisible(element) && isBanner(element),
    ) ?? null
  )
}
