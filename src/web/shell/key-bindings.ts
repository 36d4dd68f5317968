import { useEffect, useRef } from 'react'
import { preferences } from './preferences.ts'

/**
 * What keys do: `c`, `Escape`, `ArrowDown`, `Shift+j`, `Control+Enter` (also the Command key), or a sequence, `g i`. What
 * returns false leaves the key to whoever wants it next, at last the browser.
 */
export type Bindings = Readonly<Record<string, (event: KeyboardEvent) => unknown>>

/** The second key of a sequence is waited for so long. */
const SEQUENCE_MS = 1500

/** Those of the page, the list, the dialog; the last to come is asked first. */
const stack: { current: Bindings }[] = []
let prefix: { key: string; at: number } | null = null

/** Makes keys work while the component is shown. Single letters rest while a field or a menu has the focus. */
export function useKeyBindings(bindings: Bindings): void {
  const held = useRef(bindings)
  held.current = bindings
  useEffect(() => {
    stack.push(held)
    return () => void stack.splice(stack.indexOf(held), 1)
  }, [])
}

/** Listens to the keys of the document. Called once. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    const name = nameOf(event)
    const isSingle = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
    if (isSingle && (isTyping(event.target) || !preferences.read().singleKeys)) return
    if (!isSingle && !name.startsWith('Control+') && name !== 'Escape' && isTyping(event.target)) return
    const before = prefix && event.timeStamp - prefix.at < SEQUENCE_MS ? `${prefix.key} ` : ''
    prefix = null
    if (run(before + name, event)) event.preventDefault()
    else if (isSingle && !before && isPrefix(name)) prefix = { key: name, at: event.timeStamp }
  })
}

function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  // A shifted letter is named by itself; `?` has its Shift already.
  const base = key.length === 1 && shiftKey && /[a-z]/i.test(key) ? `Shift+${key.toLowerCase()}` : key
  const shifted = key.length > 1 && shiftKey ? `Shift+${base}` : base
  return `${ctrlKey || metaKey ? 'Control+' : ''}${altKey ? 'Alt+' : ''}${shifted}`
}

/** True when something took the key. */
function run(name: string, event: KeyboardEvent): boolean {
  const bound = stack.toReversed().filter(({ current }) => Object.hasOwn(current, name))
  return bound.some(({ current }) => current[name]?.(event) !== false)
}

const isPrefix = (key: string) =>
  stack.some(({ current }) => Object.keys(current).some((name) => name.startsWith(`${key} `)))

/** True where letters are typed or chosen by: fields, menus, lists to choose from, and everything while a dialog is open. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable) return true
  if (target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [role=menu], [role=listbox]'))
    return true
  return document.querySelector('[role=dialog][aria-modal=true]') !== null
}
