import { useSyncExternalStore } from 'react'

/** Preferences of this browser. Never part of the URL. */
export interface Preferences {
  /** Whether single-letter shortcuts are enabled. WCAG 2.2, 2.1.4 requires a way to disable them. */
  singleKeys: boolean
  /** An IANA time zone; null for the browser's own. */
  timeZone: string | null
  /** `pseudo` shows modified texts in brackets, for translation tests. */
  language: 'en' | 'pseudo'
  /** Ids of the columns that are hidden, by table. */
  hiddenColumns: Readonly<Record<string, readonly string[]>>
}

const KEY = 'tagwarden-preferences'
const DEFAULTS: Preferences = { singleKeys: true, timeZone: null, language: 'en', hiddenColumns: {} }

let current = load()
const listeners = new Set<() => void>()

function load(): Preferences {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') }
  } catch {
    return DEFAULTS
  }
}

function notifySubscribers(): void {
  for (const listener of listeners) listener()
}

window.addEventListener('storage', ({ key }) => {
  if (key !== KEY) return
  current = load()
  notifySubscribers()
})

export const preferences = {
  read: (): Preferences => current,
  change(part: Partial<Preferences>): void {
    current = { ...current, ...part }
    localStorage.setItem(KEY, JSON.stringify(current))
    notifySubscribers()
  },
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

export const usePreferences = (): Preferences => useSyncExternalStore(preferences.subscribe, preferences.read)
