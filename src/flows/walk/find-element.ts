import { setTimeout as sleep } from 'node:timers/promises'
import type { ElementHandle, Frame } from 'puppeteer-core'
import type { KnownElement } from '../known-element.ts'
import { type Selector, selectorText } from '../recorder-export.ts'
import { type Discretion, describe, findAlike, selectorFor, sift } from './describe-element.ts'
import { isGone, StepFault, secondsText } from './step-fault.ts'

/**
 * Time for which only selectors other than the first must match before their element is accepted. Pages are
 * built gradually, so the first selector may match later.
 */
const OTHER_SELECTOR_AFTER_MS = 1000
/** Time without a matching selector before the search for the known element starts. */
const KNOWN_AFTER_MS = 2500
/** Latest start of the search for the known element, as a fraction of the step's timeout. */
const KNOWN_AFTER_SHARE = 0.6
const LOOK_EVERY_MS = 100

/** A search for an element. */
export interface Wanted {
  selectors: readonly Selector[]
  /** Selectors in the form shown to people, with `{{name}}` in place of values. */
  texts: readonly string[]
  /** The element found in the last approved run; null when unknown. */
  known: KnownElement | null
  /** Rejected selectors as strings. They must not be used. */
  refused: readonly string[]
  /** Returns why the element's tab or frame is missing, or why it must not receive the step's secrets. */
  placeFault(): string
}

/**
 * The recorded frame, or null when it is missing. Also lists the other frames of the page that may contain the element.
 */
export interface SearchedFrames {
  recorded: Frame | null
  others: readonly Frame[]
}

export interface Found {
  element: ElementHandle<Element>
  healed: { before: string; after: string } | null
}

/** Result of one attempt to find the element: the element, or the reason why it was not found. */
type Look = { found: Found } | { fault: string }

/**
 * Repeated search for one element. The state is kept between attempts, because looser matches are accepted as time
 * passes.
 */
export class Search {
  private readonly startedAt = performance.now()
  private otherSince: number | null = null

  constructor(
    private readonly wanted: Wanted,
    private readonly limitMs: number,
    private readonly discreet: Discretion,
  ) {}

  /** Makes one attempt to find the element. */
  async look({ recorded, others }: SearchedFrames): Promise<Look> {
    const look = recorded ? await this.lookIn(recorded) : { fault: this.wanted.placeFault() }
    if ('found' in look || !this.isLate()) return look
    return (
      (await this.lookElsewhere(others)) ??
      (recorded && this.wanted.known ? await this.lookForKnown(recorded, this.wanted.known, look.fault) : look)
    )
  }

  private async lookIn(frame: Frame): Promise<Look> {
    let fault = `${this.before} was not found on the page`
    for (const [index, selector] of this.wanted.selectors.entries()) {
      const after = this.wanted.texts[index] ?? selectorText(selector)
      if (index > 0 && this.wanted.refused.includes(after)) continue
      const elements = await matching(frame, selector)
      const [element] = elements
      if (element && elements.length === 1) return this.accept(element, index, after)
      if (elements.length > 1 && index === 0) fault = `${after} matches ${elements.length} elements`
    }
    this.otherSince = null
    return { fault }
  }

  /** Returns the first recorded selector. */
  get before(): string {
    return this.wanted.texts[0] ?? ''
  }

  private accept(element: ElementHandle<Element>, index: number, after: string): Look {
    if (index === 0) return { found: { element, healed: null } }
    const now = performance.now()
    this.otherSince ??= now
    const patience = Math.min(OTHER_SELECTOR_AFTER_MS, this.limitMs / 2)
    if (now - this.otherSince < patience) return { fault: `${this.before} was not found on the page` }
    return { found: { element, healed: { before: this.before, after } } }
  }

  /** Returns whether the recorded selectors have been tried for long enough. */
  private isLate(): boolean {
    return performance.now() - this.startedAt >= Math.min(KNOWN_AFTER_MS, this.limitMs * KNOWN_AFTER_SHARE)
  }

  /** Searches other frames with the first selector. Returns the element when exactly one frame has a match. */
  private async lookElsewhere(frames: readonly Frame[]): Promise<Look | null> {
    const [selector] = this.wanted.selectors
    const met: ElementHandle<Element>[] = []
    for (const frame of selector ? frames : [])
      met.push(...(await matching(frame, selector as Selector).catch(noneWhenGone)))
    const [element] = met
    return element && met.length === 1 ? { found: { element, healed: null } } : null
  }

  private async lookForKnown(frame: Frame, known: KnownElement, fault: string): Promise<Look> {
    const alike = await findAlike(frame, known, this.discreet)
    const [element] = alike
    if (!element) return { fault }
    if (alike.length > 1) return { fault: `${fault}, and ${alike.length} other elements are equally similar` }
    const after = selectorText(await selectorFor(element, await describe(element, this.discreet)))
    if (this.wanted.refused.includes(after)) return { fault: `${fault}, and its replacement ${after} was rejected` }
    return { found: { element, healed: { before: this.before, after } } }
  }
}

/**
 * Returns the element once it is found and usable.
 * @param frames returns the frames to search
 * @param use returns the required property of the element, or the reason why the element can't be used yet
 * @throws {StepFault} after `limitMs`, with the most recent reason
 */
export async function findElement<T>(
  frames: () => SearchedFrames,
  search: Search,
  use: (element: ElementHandle<Element>) => Promise<{ ready: T } | { fault: string }>,
  { limitMs, stopping }: { limitMs: number; stopping: AbortSignal },
): Promise<Found & { ready: T }> {
  const end = performance.now() + limitMs
  let fault = ''
  for (;;) {
    stopping.throwIfAborted()
    try {
      const look = await search.look(frames())
      if ('found' in look) {
        const usable = await use(look.found.element)
        if ('ready' in usable) return { ...look.found, ready: usable.ready }
        fault = `${look.found.healed?.after ?? search.before} ${usable.fault}`
      } else fault = look.fault
    } catch (error) {
      if (!isGone(error)) throw error
    }
    if (performance.now() >= end) throw new StepFault(`${fault}; waited ${secondsText(limitMs)}`)
    await sleep(LOOK_EVERY_MS, null, { signal: stopping }).catch(() => {})
  }
}

/** Returns an empty list when the frame was removed during the query. */
function noneWhenGone(error: unknown): ElementHandle<Element>[] {
  if (isGone(error)) return []
  throw error
}

/** Returns the visible elements that match a selector. An invalid selector matches nothing. */
async function matching(frame: Frame, selector: Selector): Promise<ElementHandle<Element>[]> {
  try {
    return await sift(await allMatching(frame, selector))
  } catch (error) {
    if (/is not a valid (?:selector|XPath)|SyntaxError|Unknown aria attribute/i.test(String(error))) return []
    throw error
  }
}

/** Like `matching`, but includes invisible elements. */
export async function allMatching(frame: Frame, selector: Selector): Promise<ElementHandle<Element>[]> {
  const [first = '', ...others] = [selector].flat()
  let elements = (await frame.$$(first)) as ElementHandle<Element>[]
  for (const part of others) {
    const inner = await Promise.all(
      elements.map(async (element) => {
        const root = await element.evaluateHandle((host) => host.shadowRoot ?? host)
        return ((await root.asElement()?.$$(part)) ?? []) as ElementHandle<Element>[]
      }),
    )
    elements = inner.flat()
  }
  return elements
}
