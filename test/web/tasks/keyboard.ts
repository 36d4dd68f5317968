import type { ElementHandle, KeyInput } from 'puppeteer-core'
import { named, type Screen } from '../screen.ts'

/** Operates a page using only the keyboard. Elements are found by role and name and reached with Tab. */
export interface Keyboard {
  /** Presses keys in sequence: `'g', 'i'`, `'Shift+j'`, `'Control+Enter'`. */
  keys(...names: string[]): Promise<void>
  /** Presses Tab or Shift+Tab until the element is focused, and expects it to be visible. */
  reach(role: string, name: string): Promise<void>
  /** Moves the focus to a button, or an element with another role, and presses it. */
  press(name: string, role?: string): Promise<void>
  /** Types into the field with this name, replacing its value. */
  type(name: string, text: string): Promise<void>
  /** Selects the option with this name, using the arrow keys. */
  choose(name: string, option: string): Promise<void>
  /** Adds an option to a multi-select field. */
  pick(name: string, option: string): Promise<void>
}

/** Maximum number of key presses. It is higher than the number of tab stops on any page. */
const MAX_PRESSES = 400
/** Roles of elements that are activated with Space instead of Enter. */
const BY_SPACE = ['checkbox', 'switch', 'radio']

export function keyboardOf({ page, roleOfField }: Screen): Keyboard {
  const press = async (name: string) => {
    const parts = name.split('+') as KeyInput[]
    const last = parts.pop() as KeyInput
    for (const part of parts) await page.keyboard.down(part)
    await page.keyboard.press(last)
    for (const part of parts.toReversed()) await page.keyboard.up(part)
  }
  const reach = async (role: string, name: string) => {
    for (let presses = 0; presses < MAX_PRESSES; presses++) {
      const thing = await page.waitForSelector(named(role, name))
      const position = thing && (await positionOf(thing))
      if (position === 'here') return waitUntilVisible(thing as ElementHandle<Element>)
      await press(position === 'before' ? 'Shift+Tab' : 'Tab')
    }
    throw new Error(`the ${role} ${name} can't be reached by Tab`)
  }
  const reachField = async (name: string) => reach(await roleOfField(name), name)
  return {
    async keys(...names) {
      for (const name of names) await press(name)
    },
    reach,
    async press(name, role = 'button') {
      await reach(role, name)
      await press(BY_SPACE.includes(role) ? 'Space' : 'Enter')
    },
    async type(name, text) {
      await reachField(name)
      await press('Control+a')
      await page.keyboard.type(text)
    },
    async choose(name, option) {
      await reach('combobox', name)
      for (;;) {
        const distance = await page.evaluate(optionDistance, option)
        if (distance === 0) return
        await press(distance > 0 ? 'ArrowDown' : 'ArrowUp')
      }
    },
    async pick(name, option) {
      await reach('combobox', name)
      await press('Enter')
      await page.waitForSelector(named('option', option))
      const isNext = (option: string) =>
        document.querySelector('[role=option][data-combobox-selected]')?.textContent === option
      while (!(await page.evaluate(isNext, option))) await press('ArrowDown')
      await press('Enter')
      await press('Escape')
    },
  }
}

/**
 * Returns the number of options from the selected one to the one with this name, in the focused list; negative if the
 * latter is above the selected option.
 */
function optionDistance(name: string): number {
  const { options, selectedIndex } = document.activeElement as HTMLSelectElement
  const index = [...options].findIndex(({ text }) => text === name)
  if (index === -1) throw new Error(`no option is named ${name}: ${[...options].map(({ text }) => text)}`)
  return index - selectedIndex
}

/** Returns the position of the element relative to the focused one. */
const positionOf = (thing: ElementHandle<Element>): Promise<'here' | 'before' | 'behind'> =>
  thing.evaluate((element) => {
    const active = document.activeElement ?? document.body
    if (active === element) return 'here'
    const isBefore = active.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING
    return isBefore && active !== document.body && !active.contains(element) ? 'before' : 'behind'
  })

/** Waits until the focused element is inside the window and not covered. */
async function waitUntilVisible(thing: ElementHandle<Element>): Promise<void> {
  const isSeen = (element: Element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    const shown = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20))
    // The visible part of a control may be its label or an element that contains it.
    return shown !== null && (element.contains(shown) || shown.contains(element) || shown.closest('label') !== null)
  }
  await thing.frame.page().waitForFunction(isSeen, { polling: 50 }, thing)
}
