import { useEffect, useRef } from 'react'
import { preferences } from './preferences.ts'

/**
 * Handlers by key: `c`, `Escape`, `ArrowDown`, `Shift+j`, `Control+Enter` (or the Command key), or a sequence such as
 * `g i`. A handler that returns false passes the key on to the next binding, and finally to the browser.
 */
export type Bindings = Readonly<Record<string, (event: KeyboardEvent) => unknown>>

/** Time limit for the second key of a sequence. */
const SEQUENCE_MS = 1500

/** Active bindings; the most recently mounted component comes first. */
const stack: { current: Bindings }[] = []
let prefix: { key: string; at: number } | null = null

/** Binds keys while the component is mounted. Single letters are ignored in fields and menus. */
export function useKeyBindings(bindings: Bindings): void {
  const held = useRef(bindings)
  held.current = bindings
  useEffect(() => {
    stack.push(held)
    return () => void stack.splice(stack.indexOf(held), 1)
  }, [])
}

/** Installs the document's key listener. Called once. */
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
  // Letters get the prefix `Shift+`. Symbols such as `?` already imply Shift.
  const base = key.length === 1 && shiftKey && /[a-z]/i.test(key) ? `Shift+${key.toLowerCase()}` : key
  const shifted = key.length > 1 && shiftKey ? `Shift+${base}` : base
  return `${ctrlKey || metaKey ? 'Control+' : ''}${altKey ? 'Alt+' : ''}${shifted}`
}

/** Returns whether a binding handled the key. */
function run(name: string, event: KeyboardEvent): boolean {
  const bound = stack.toReversed().filter(({ current }) => Object.hasOwn(current, name))
  return bound.some(({ current }) => current[name]?.(event) !== false)
}

const isPrefix = (key: string) =>
  stack.some(({ current }) => Object.keys(current).some((name) => name.startsWith(`${key} `)))

/** Returns whether the target handles keys itself: fields, menus, listboxes, and any element while a dialog is open. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable) return true
  if (target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [role=menu], [role=listbox]'))
    return true
  return document.querySelector('[role=dialog][aria-modal=true]') !== null
}
