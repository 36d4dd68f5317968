import { cutText } from '../core/text.ts'
import { type RecordedStep, type Selector, selectorText } from './recorder-export.ts'
import { isStepType, type StepType } from './recording-steps.ts'

const MAX_TITLE = 200
const MAX_NAME = 80

type Words = (step: RecordedStep) => string

/** Descriptions of each kind of step. Typed values are omitted because they may be personal data. */
const WORDS: Readonly<Record<StepType, Words>> = {
  setViewport: ({ width, height }) => `Set the window to ${width} × ${height}`,
  emulateNetworkConditions: () => 'Change the network speed',
  navigate: ({ url }) => `Open ${url}`,
  click: (step) => `${CLICKS[String(step.button)] ?? 'Click'} ${nameOf(step)}`,
  doubleClick: (step) => `Double-click ${nameOf(step)}`,
  hover: (step) => `Point at ${nameOf(step)}`,
  change: (step) => `Fill in ${nameOf(step)}`,
  keyDown: ({ key }) => `Press ${keyText(key)}`,
  keyUp: ({ key }) => `Release ${keyText(key)}`,
  scroll: (step) => (step.selectors ? `Scroll ${nameOf(step)}` : 'Scroll the page'),
  close: () => 'Close the tab',
  waitForElement: (step) => `Wait for ${nameOf(step)}${step.visible === false ? ' to disappear' : ''}`,
  waitForExpression: () => 'Wait for an expression to become true',
}

const CLICKS: Readonly<Record<string, string>> = { secondary: 'Right-click', auxiliary: 'Middle-click' }

/** Describes a step in at most 200 characters: `Click “Add to basket”`. `{{name}}` is not replaced. */
export function titleOf(step: RecordedStep): string {
  const words = isStepType(step.type) ? WORDS[step.type](step) : step.type
  return cutText(words.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE, '…')
}

const keyText = (key: unknown): string => (key === ' ' ? 'Space' : String(key))

/** Returns a description of the element: its name or, if unknown, its text or its first selector. */
function nameOf(step: RecordedStep): string {
  const selectors = (step.selectors ?? []) as Selector[]
  for (const prefix of ['aria/', 'text/']) {
    // The last part of a path selects the element. If the element has no name, a containing element may have one.
    for (const part of selectors.flatMap((selector) => [selector].flat().toReversed())) {
      const name = part.startsWith(prefix) ? readName(part.slice(prefix.length)) : ''
      if (name) return `“${cutText(name, MAX_NAME, '…')}”`
    }
  }
  const [first] = selectors
  return first === undefined ? 'an element' : cutText(selectorText(first), MAX_NAME, '…')
}

const ATTRIBUTE = /\[\s*(name|role)\s*=\s*(["'])(.*?)\2\s*\]/g

/** Extracts the name from an ARIA selector: `Pay[role="button"]` → `Pay`; `[role="searchbox"]` → `` */
function readName(aria: string): string {
  const named = [...aria.matchAll(ATTRIBUTE)].find(([, attribute]) => attribute === 'name')?.[3]
  return (named ?? aria.replaceAll(ATTRIBUTE, '')).trim()
}
