import { setTimeout as sleep } from 'node:timers/promises'
import type { ElementHandle, Frame } from 'puppeteer-core'
import type { KnownElement } from '../element.ts'
import { type Selector, selectorText } from '../recording.ts'
import { isGone, StepFault, secondsText } from './fault.ts'
import { type Discretion, describe, findAlike, selectorFor, sift } from './known-element.ts'

/** A selector that is not the first has to be the only one to meet something for so long: a page builds itself part by part. */
const OTHER_SELECTOR_AFTER_MS = 1000
/** So long must no selector have met anything, before an element like the known one is looked for. */
const KNOWN_AFTER_MS = 2500
/** The share of the step's time after which it is looked for at the latest. */
const KNOWN_AFTER_SHARE = 0.6
const LOOK_EVERY_MS = 100

/** What is looked for. */
export interface Wanted {
  selectors: readonly Selector[]
  /** The same as people know them: with `{{name}}` where a value is filled in. */
  texts: readonly string[]
  /** As it was met in the last approved run; null: never. */
  known: KnownElement | null
  /** Selectors, as texts, by which it must not be found. */
  refused: readonly string[]
  /** Returns why it is not found when its tab or frame is not there, or may not get the step's secrets. */
  placeFault(): string
}

/** The frame that was recorded, null when it is not there, and the others of its page where it may be instead. */
export interface SearchedFrames {
  recorded: Frame | null
  others: readonly Frame[]
}

export interface Found {
  element: ElementHandle<Element>
  healed: { before: string; after: string } | null
}

/** One look at the page: what was found, or why nothing was. */
type Look = { found: Found } | { fault: string }

/** Looks for one element until it is found. Keeps what it saw, because what it may accept depends on the time. */
export class Search {
  private readonly startedAt = performance.now()
  private otherSince: number | null = null

  constructor(
    private readonly wanted: Wanted,
    private readonly limitMs: number,
    private readonly discreet: Discretion,
  ) {}

  /** Looks once. */
  async look({ recorded, others }: SearchedFrames): Promise<Look> {
    const look = recorded ? await this.lookIn(recorded) : { fault: this.wanted.placeFault() }
    if ('found' in look || !this.isLate()) return look
    return (
      (await this.lookElsewhere(others)) ??
      (recorded && this.wanted.known ? await this.lookForKnown(recorded, this.wanted.known, look.fault) : look)
    )
  }

  private async lookIn(frame: Frame): Promise<Look> {
    let fault = `${this.before} is not on the page`
    for (const [index, selector] of this.wanted.selectors.entries()) {
      const after = this.wanted.texts[index] ?? selectorText(selector)
      if (index > 0 && this.wanted.refused.includes(after)) continue
      const elements = await matching(frame, selector)
      const [element] = elements
      if (element && elements.length === 1) return this.accept(element, index, after)
      if (elements.length > 1 && index === 0) fault = `${after} fits ${elements.length} elements alike`
    }
    this.otherSince = null
    return { fault }
  }

  /** The selector by which it was recorded. */
  get before(): string {
    return this.wanted.texts[0] ?? ''
  }

  private accept(element: ElementHandle<Element>, index: number, after: string): Look {
    if (index === 0) return { found: { element, healed: null } }
    const now = performance.now()
    this.otherSince ??= now
    const patience = Math.min(OTHER_SELECTOR_AFTER_MS, this.limitMs / 2)
    if (now - this.otherSince < patience) return { fault: `${this.before} is not on the page` }
    return { found: { element, healed: { before: this.before, after } } }
  }

  /** Whether the recorded selectors were given their time. */
  private isLate(): boolean {
    return performance.now() - this.startedAt >= Math.min(KNOWN_AFTER_MS, this.limitMs * KNOWN_AFTER_SHARE)
  }

  /** Takes the first selector's element from another frame, when no third one has one too. */
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
    if (alike.length > 1) return { fault: `${fault}, and ${alike.length} others are alike what it was` }
    const after = selectorText(await selectorFor(element, await describe(element, this.discreet)))
    if (this.wanted.refused.includes(after)) return { fault: `${fault}, and ${after} was refused in its place` }
    return { found: { element, healed: { before: this.before, after } } }
  }
}

/**
 * Returns the element once it is found and can be used.
 * @param frames where it is looked for now
 * @param use what is needed of the element, or why it cannot be used yet
 * @throws {StepFault} after `limitMs`, with the last reason
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

/** A frame may go while it is asked. */
function noneWhenGone(error: unknown): ElementHandle<Element>[] {
  if (isGone(error)) return []
  throw error
}

/** Returns the elements that a selector meets and that can be seen. A selector that is none meets nothing. */
export async function matching(frame: Frame, selector: Selector): Promise<ElementHandle<Element>[]> {
  try {
    return await sift(await allMatching(frame, selector))
  } catch (error) {
    if (/is not a valid (?:selector|XPath)|SyntaxError|Unknown aria attribute/i.test(String(error))) return []
    throw error
  }
}

/** The same, whether they can be seen or not. */
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
