import type { ElementHandle, Frame } from 'puppeteer-core'
import { until } from '../../browser/time-limit.ts'
import { messageOf } from '../../core/error.ts'
import type { CheckedStep, Selector } from '../recorder-export.ts'
import { selectorText } from '../recorder-export.ts'
import { allMatching } from './find-element.ts'
import type { StepKind } from './step.ts'
import { isGone, StepFault, secondsText } from './step-fault.ts'

const LOOK_EVERY_MS = 100

const COMPARE: Readonly<Record<string, (seen: number, count: number) => boolean>> = {
  '>=': (seen, count) => seen >= count,
  '==': (seen, count) => seen === count,
  '<=': (seen, count) => seen <= count,
}

export const waitForElement: StepKind<'waitForElement'> = {
  causesTags: true,
  async do(step, { frameNow, limitMs, stopping }) {
    const { operator = '>=', count = 1, visible = true } = step
    let seen = 0
    const look = async () => {
      const elements = await fitting(frameNow(), step)
      seen = elements
      return (COMPARE[operator]?.(seen, count) ?? false) === visible ? true : null
    }
    if (await until(() => look().catch(goneIsNothing), limitMs, stopping, LOOK_EVERY_MS)) return
    const wish = visible ? `${operator} ${count}` : `not ${operator} ${count}`
    const name = selectorText(step.selectors[0] as Selector)
    throw new StepFault(`${seen} elements match ${name}, expected ${wish}; waited ${secondsText(limitMs)}`)
  },
}

/**
 * Returns the number of elements with the required attributes and properties. Only the first selector that matches
 * anything is used.
 */
async function fitting(frame: Frame | null, step: CheckedStep<'waitForElement'>): Promise<number> {
  if (!frame) return 0
  let elements: ElementHandle<Element>[] = []
  for (const selector of step.selectors) {
    elements = await allMatching(frame, selector)
    if (elements.length > 0) break
  }
  const [first, ...others] = elements
  if (!first || (!step.attributes && !step.properties)) return elements.length
  const wanted = { attributes: step.attributes ?? {}, properties: step.properties ?? {} }
  const areFit = await first.evaluate(haveAll, JSON.stringify(wanted), ...others)
  return areFit ? elements.length : 0
}

/** Returns whether all elements have the required properties. Runs in the page. */
function haveAll(first: Element, wanted: string, ...others: Element[]): boolean {
  const { attributes, properties } = JSON.parse(wanted) as Record<'attributes' | 'properties', Record<string, unknown>>
  const has = (value: unknown, part: unknown): boolean => {
    if (value === part) return true
    if (typeof part !== 'object' || part === null || value === null || value === undefined) return false
    return Object.entries(part).every(([key, inner]) => has((value as Record<string, unknown>)[key], inner))
  }
  return [first, ...others].every(
    (element) =>
      Object.entries(attributes).every(([name, value]) => element.getAttribute(name) === value) &&
      has(element, properties),
  )
}

export const waitForExpression: StepKind<'waitForExpression'> = {
  causesTags: true,
  async do({ expression }, { frameNow, placeFault, limitMs, stopping }) {
    let fault = ''
    const look = async () => {
      try {
        const frame = frameNow()
        fault = frame ? '' : `: ${placeFault()}`
        return (await frame?.evaluate(expression)) ? true : null
      } catch (error) {
        fault = `: ${messageOf(error)}`
        return null
      }
    }
    if (await until(look, limitMs, stopping, LOOK_EVERY_MS)) return
    throw new StepFault(`the expression did not become true within ${secondsText(limitMs)}${fault}`)
  },
}

function goneIsNothing(error: unknown): null {
  if (isGone(error)) return null
  throw error
}
