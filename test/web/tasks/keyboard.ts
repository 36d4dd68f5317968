import type { ElementHandle, KeyInput } from 'puppeteer-core'
import { named, type Screen } from '../screen.ts'

/** Somebody at the keyboard: things are reached by Tab, by their role and name, and nothing is pressed that has no key. */
export interface Keyboard {
  /** Presses keys one after the other: `'g', 'i'`, `'Shift+j'`, `'Control+Enter'`. */
  keys(...names: string[]): Promise<void>
  /** Presses Tab, or Shift and Tab for what stands before, until this has the focus; it must then be in sight. */
  reach(role: string, name: string): Promise<void>
  /** Reaches a button, or a thing of another role, and presses it. */
  press(name: string, role?: string): Promise<void>
  /** Types into the field of this name, in the place of what was there. */
  type(name: string, text: string): Promise<void>
  /** Goes by the arrows to the option of this name. */
  choose(name: string, option: string): Promise<void>
  /** Opens a list of which several can be chosen, chooses this one too, and closes it. */
  pick(name: string, option: string): Promise<void>
}

/** More presses than any page has things to reach. */
const MOST_PRESSES = 400
/** What Space presses, and Enter does not. */
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
    for (let presses = 0; presses < MOST_PRESSES; presses++) {
      const thing = await page.waitForSelector(named(role, name))
      const way = thing && (await wayTo(thing))
      if (way === 'here') return inSight(thing as ElementHandle<Element>)
      await press(way === 'before' ? 'Shift+Tab' : 'Tab')
    }
    throw new Error(`the ${role} ${name} is not reached by Tab`)
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
        const way = await page.evaluate(optionAhead, option)
        if (way === 0) return
        await press(way > 0 ? 'ArrowDown' : 'ArrowUp')
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

/** How many options lie between the chosen one and that of this name, in the list that has the focus. */
function optionAhead(name: string): number {
  const { options, selectedIndex } = document.activeElement as HTMLSelectElement
  const index = [...options].findIndex(({ text }) => text === name)
  if (index === -1) throw new Error(`there is no ${name} among ${[...options].map(({ text }) => text)}`)
  return index - selectedIndex
}

/** Where the thing stands seen from the focus. */
const wayTo = (thing: ElementHandle<Element>): Promise<'here' | 'before' | 'behind'> =>
  thing.evaluate((element) => {
    const active = document.activeElement ?? document.body
    if (active === element) return 'here'
    const isBefore = active.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING
    return isBefore && active !== document.body && !active.contains(element) ? 'before' : 'behind'
  })

/** Waits until what has the focus is in the window and nothing covers it. */
async function inSight(thing: ElementHandle<Element>): Promise<void> {
  const isSeen = (element: Element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    const shown = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20))
    // What takes a press may be drawn by its label or by what is around it.
    return shown !== null && (element.contains(shown) || shown.contains(element) || shown.closest('label') !== null)
  }
  await thing.frame.page().waitForFunction(isSeen, { polling: 50 }, thing)
}
