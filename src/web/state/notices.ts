import { useSyncExternalStore } from 'react'

/** A message about a completed or failed action. */
export interface Notice {
  id: number
  /** `refused` notices are assertive and remain until dismissed. */
  kind: 'said' | 'refused'
  text: string
  /** Undoes the action; null if it can't be undone. */
  undo: (() => void) | null
  /** Retries the action; null if a retry can't help. */
  retry: (() => void) | null
}

/** A pending action that can be undone. */
interface Begun {
  /** True if the user undid the action before it completed. */
  isUndone(): boolean
  /** Ends the pending state. */
  end(): void
}

/** Time for which an action can be undone. */
export const UNDO_MS = 10_000
const SHOWN_AT_MOST = 3

let shown: readonly Notice[] = []
let lastId = 0
/** The most recent undoable action. It can be undone even after its notice has disappeared. */
let lastUndo: { run(): void; until: number } | null = null
const listeners = new Set<() => void>()

function show(next: readonly Notice[]): void {
  shown = next
  for (const listener of listeners) listener()
}

export const notices = {
  /** Shows that an action completed. For 10 s, the button and the `z` key call `undo`. */
  say(text: string, undo: (() => void) | null = null): void {
    const id = ++lastId
    const once = undo && onlyOnce(undo, () => notices.dismiss(id))
    if (once) lastUndo = { run: once, until: Date.now() + UNDO_MS }
    show([...shown, { id, kind: 'said' as const, text, undo: once, retry: null }].slice(-SHOWN_AT_MOST))
  },

  /**
   * Starts an undoable action. If `z` is pressed while the action is pending, the action is undone after the response.
   */
  begin(): Begun {
    let isWanted = false
    const before = lastUndo
    const run = () => {
      isWanted = true
    }
    const mine = { run, until: Number.POSITIVE_INFINITY }
    lastUndo = mine
    return {
      isUndone: () => isWanted,
      end() {
        if (lastUndo === mine) lastUndo = before
      },
    }
  },

  /** Shows an error message. */
  refuse(sentence: string, retry: (() => void) | null = null): void {
    const id = ++lastId
    const again = retry && onlyOnce(retry, () => notices.dismiss(id))
    show([...shown, { id, kind: 'refused' as const, text: sentence, undo: null, retry: again }].slice(-SHOWN_AT_MOST))
  },

  dismiss(id: number): void {
    show(shown.filter((notice) => notice.id !== id))
  },

  /** Undoes the most recent action, if still possible. */
  undoLast(): void {
    if (lastUndo && Date.now() < lastUndo.until) lastUndo.run()
    lastUndo = null
  },

  read: (): readonly Notice[] => shown,
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function onlyOnce(act: () => void, before: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    before()
    act()
  }
}

export const useNotices = (): readonly Notice[] => useSyncExternalStore(notices.subscribe, notices.read)
