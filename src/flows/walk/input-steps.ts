import type { ElementHandle, KeyInput } from 'puppeteer-core'
import { messageOf } from '../../core/error.ts'
import type { StepContext, StepKind } from './step.ts'
import { StepFault } from './step-fault.ts'

/** Maximum length of text that is typed key by key. Longer text is inserted at once. */
const MAX_TYPED = 200

export const change: StepKind<'change'> = {
  causesTags: true,
  async do({ value }, doing) {
    const page = await doing.page()
    const { element, ready: kind } = await doing.element(async (found) => {
      const input = await found.evaluate(inputOf)
      return input === 'disabled' ? { fault: 'is disabled' } : { ready: input }
    })
    if (kind === 'file') throw new StepFault('a flow test cannot choose files')
    if (kind === 'select') return choose(element, value)
    if (kind === 'value') return element.evaluate(setValue, value)
    await element.focus()
    await element.evaluate(selectAll)
    if (value === '') return page.keyboard.press('Backspace')
    if (value.length > MAX_TYPED) return page.keyboard.sendCharacter(value)
    await element.type(value)
  },
}

async function choose(element: ElementHandle<Element>, value: string): Promise<void> {
  const chosen = await (element as ElementHandle<HTMLSelectElement>).select(value)
  if (!chosen.includes(value)) throw new StepFault(`the list has no option “${value}”`)
}

type Input = 'typed' | 'select' | 'value' | 'file' | 'disabled'

/** Returns how to enter a value into the element. Runs in the page. */
function inputOf(element: Element): Input {
  if (element.matches(':disabled,[readonly]')) return 'disabled'
  if (element instanceof HTMLSelectElement) return 'select'
  if (element instanceof HTMLTextAreaElement || (element as HTMLElement).isContentEditable) return 'typed'
  if (!(element instanceof HTMLInputElement)) return 'value'
  if (element.type === 'file') return 'file'
  return ['text', 'url', 'tel', 'search', 'password', 'number', 'email'].includes(element.type) ? 'typed' : 'value'
}

/** Selects the current text, so that typing replaces it. Runs in the page. */
function selectAll(element: Element): void {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) element.select()
  else getSelection()?.selectAllChildren(element)
}

/** Sets the value of a field that has a picker, such as a date or colour field. Runs in the page. */
function setValue(element: Element, value: string): void {
  // Frameworks override the setter on the element and ignore values that are set through it.
  const setter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value')?.set
  if (setter) setter.call(element, value)
  else (element as HTMLInputElement).value = value
  element.dispatchEvent(new Event('input', { bubbles: true }))
  element.dispatchEvent(new Event('change', { bubbles: true }))
}

export const keyDown: StepKind<'keyDown'> = {
  causesTags: true,
  do: ({ key }, doing) => strike(key, doing, 'down'),
}

export const keyUp: StepKind<'keyUp'> = {
  causesTags: true,
  do: ({ key }, doing) => strike(key, doing, 'up'),
}

async function strike(key: string, doing: StepContext, way: 'down' | 'up'): Promise<void> {
  const page = await doing.page()
  doing.requireSecretHost(page.url())
  const { keyboard } = page
  try {
    await keyboard[way](key as KeyInput)
  } catch (error) {
    if (!/unknown key/i.test(messageOf(error))) throw error
    // Handles characters that have no key on this keyboard, such as ß. Names of dead keys have no effect.
    if ([...key].length === 1 && way === 'down') await keyboard.sendCharacter(key)
  }
}
