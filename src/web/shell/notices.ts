import { useSyncExternalStore } from 'react'

/** A sentence about what was done, or refused. */
export interface Notice {
  id: number
  /** `refused` is announced at once and stays until it is dismissed. */
  kind: 'said' | 'refused'
  text: string
  /** Takes back what was done; null where that can't be. */
  undo: (() => void) | null
  /** Tries again what was refused; null where that can't help. */
  retry: (() => void) | null
}

/** An act that can be taken back, while it is under way. */
interface Begun {
  /** True when it is to be taken back as soon as it is done. */
  isUndone(): boolean
  /** Nothing is there to be taken back any more. */
  end(): void
}

/** How long what was done can be taken back. */
export const UNDO_MS = 10_000
const SHOWN_AT_MOST = 3

let shown: readonly Notice[] = []
let lastId = 0
/** The last act that can be taken back, also after its notice is gone. */
let lastUndo: { run(): void; until: number } | null = null
const listeners = new Set<() => void>()

function show(next: readonly Notice[]): void {
  shown = next
  for (const listener of listeners) listener()
}

export const notices = {
  /** Says what was done. `undo` takes it back, by the button or the key `z`, for ten seconds. */
  say(text: string, undo: (() => void) | null = null): void {
    const id = ++lastId
    const once = undo && onlyOnce(undo, () => notices.dismiss(id))
    if (once) lastUndo = { run: once, until: Date.now() + UNDO_MS }
    show([...shown, { id, kind: 'said' as const, text, undo: once, retry: null }].slice(-SHOWN_AT_MOST))
  },

  /** An act begins that can be taken back: from now on the key `z` means it, and is done when the server has answered. */
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

  /** Shows the server's sentence about what it refused. */
  refuse(sentence: string, retry: (() => void) | null = null): void {
    const id = ++lastId
    const again = retry && onlyOnce(retry, () => notices.dismiss(id))
    show([...shown, { id, kind: 'refused' as const, text: sentence, undo: null, retry: again }].slice(-SHOWN_AT_MOST))
  },

  dismiss(id: number): void {
    show(shown.filter((notice) => notice.id !== id))
  },

  /** Takes back the last act, if it still can be. */
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
